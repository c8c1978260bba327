#include "data/yaml/yaml_style.h"

#include <string.h>

#include "data/yaml/yaml_scalar.h"

size_t sw_yaml_break_len(const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p;
    if (*u == '\n' || *u == '\r')
        return 1;
    if (*u == 0xc2 && end - p > 1 && u[1] == 0x85)
        return 2;
    return *u == 0xe2 && end - p > 2 && u[1] == 0x80 && (u[2] == 0xa8 || u[2] == 0xa9) ? 3 : 0;
}

bool sw_yaml_is_printable(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    if (*u < 0x80)
        return *u == '\n' || (*u >= 0x20 && *u <= 0x7e);
    if (*u == 0xc2)
        return u[1] >= 0xa0;
    if (*u < 0xed || *u == 0xee)
        return true;
    if (*u == 0xed)
        return u[1] < 0xa0;
    return *u == 0xef && !(u[1] == 0xbb && u[2] == 0xbf) &&
           !(u[1] == 0xbf && (u[2] == 0xbe || u[2] == 0xbf));
}

/* The properties of a string that decide its style. */
struct traits {
    bool indicator;    /* without quotes it would be read as something else */
    bool special, tab; /* not printable; a tab, which is neither */
    bool line_break;
    bool outer_space, trailing_space, outer_break;
    bool break_space, space_break; /* "\n " and " \n" */
};

static bool is_blank(const char *p, const char *end)
{
    return p >= end || *p == ' ' || *p == '\t';
}

/* Characters that have a meaning where they stand: first, before a blank, or after one. */
static bool is_indicator(const char *p, const char *end, bool first, bool after_blank)
{
    switch (*p) {
    case '#':
        return first || after_blank;
    case ':':
        return is_blank(p + 1, end);
    case '?':
    case '-':
        return first && is_blank(p + 1, end);
    case ',':
    case '[':
    case ']':
    case '{':
    case '}':
    case '&':
    case '*':
    case '!':
    case '|':
    case '>':
    case '\'':
    case '"':
    case '%':
    case '@':
    case '`':
        return first;
    default:
        return false;
    }
}

static struct traits examine(const char *text, const char *end)
{
    struct traits t = { 0 };
    bool after_blank = true, after_space = false, after_break = false;
    t.indicator = end - text >= 3 && (memcmp(text, "---", 3) == 0 || memcmp(text, "...", 3) == 0);
    for (const char *p = text; p < end;) {
        unsigned char c = (unsigned char)*p;
        size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        size_t break_len = sw_yaml_break_len(p, end);
        bool first = p == text, last = p + n >= end;
        t.indicator = t.indicator || is_indicator(p, end, first, after_blank);
        t.tab = t.tab || *p == '\t';
        t.special = t.special || (*p != '\t' && !sw_yaml_is_printable(p));
        if (*p == ' ') {
            t.outer_space = t.outer_space || first || last;
            t.trailing_space = t.trailing_space || last;
            t.break_space = t.break_space || after_break;
        } else if (break_len) {
            t.line_break = true;
            t.outer_break = t.outer_break || first || last;
            t.space_break = t.space_break || after_space;
        }
        after_space = *p == ' ';
        after_break = break_len > 0;
        after_blank = *p == ' ' || *p == '\t' || *p == '\0' || break_len > 0;
        p += n;
    }
    return t;
}

/* Most strings: nothing in them but these, and a letter first. */
static bool is_simple(const char *text, const char *end)
{
    static const bool inner[256] = {
        ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['.'] = true,
        ['_'] = true,         ['-'] = true,         ['/'] = true,
    };
    if (text == end || !((*text | 32) >= 'a' && (*text | 32) <= 'z') || end - text > 64)
        return false;
    while (text < end && inner[(unsigned char)*text])
        text++;
    return text == end;
}

enum sw_yaml_style sw_yaml_choose_style(const char *text, size_t len_bytes, bool as_key,
                                        bool like_v3, bool *multiline)
{
    const char *end = text + len_bytes;
    bool quote = sw_yaml_needs_quotes(text, len_bytes);
    *multiline = false;
    if (!quote && is_simple(text, end))
        return SW_STYLE_PLAIN;

    struct traits t = examine(text, end);
    *multiline = t.line_break;
    bool plain_allowed = !(t.outer_space || t.outer_break || t.break_space || t.space_break ||
                           t.special || t.tab || t.line_break || t.indicator);
    bool single_allowed = !(t.break_space || t.space_break || t.special || t.tab);
    bool literal_allowed =
        !(t.trailing_space || t.space_break || t.special || (t.tab && !like_v3)) && len_bytes > 0;
    if (memchr(text, '\n', len_bytes))
        return literal_allowed && !as_key ? SW_STYLE_LITERAL : SW_STYLE_DOUBLE;
    if (quote || (as_key && t.line_break))
        return SW_STYLE_DOUBLE;
    if (plain_allowed)
        return SW_STYLE_PLAIN;
    return single_allowed ? SW_STYLE_SINGLE : SW_STYLE_DOUBLE;
}
