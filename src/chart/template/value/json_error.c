/* The errors of Go's encoding/json for a text that is not JSON; templates get them under the key
 * Error. The errors of data/json name a place, Go's name what was expected. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/value/value_text.h"
#include "data/go/strconv.h"

struct scan {
    const char *at, *end;
    struct text *out; /* for the error */
    char *open;       /* '{' or '[' for each level */
    size_t n, cap;
};

/* "invalid character 'x' <context>"; bytes are taken for runes, as Go does. @return false */
static bool complain(struct scan *s, const char *context)
{
    /* within a token Go reads one blank after the end of the text */
    if (s->at == s->end && !sw_starts_with(context, "in ") &&
        !sw_starts_with(context, "after decimal")) {
        sw_text_puts(s->out, "unexpected end of JSON input");
        return false;
    }
    char c = s->at < s->end ? *s->at : ' ';
    sw_text_puts(s->out, "invalid character ");
    if (c == '"')
        sw_text_puts(s->out, "'\"'");
    else
        sw_quote_rune(s->out, (unsigned char)c, 0);
    sw_text_printf(s->out, " %s", context);
    return false;
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && memchr(" \t\r\n", *s->at, 4))
        s->at++;
}

static bool is_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static void skip_digits(struct scan *s)
{
    while (is_digit(s))
        s->at++;
}

static bool scan_number(struct scan *s)
{
    if (*s->at == '-')
        s->at++;
    if (!is_digit(s))
        return complain(s, "in numeric literal");
    if (*s->at == '0')
        s->at++;
    else
        skip_digits(s);
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!is_digit(s))
            return complain(s, "after decimal point in numeric literal");
        skip_digits(s);
    }
    if (s->at < s->end && (*s->at | 0x20) == 'e') {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (!is_digit(s))
            return complain(s, "in exponent of numeric literal");
        skip_digits(s);
    }
    return true;
}

static bool scan_string(struct scan *s)
{
    for (s->at++; s->at < s->end && *s->at != '"';) {
        if ((unsigned char)*s->at < 0x20)
            return complain(s, "in string literal");
        if (*s->at++ != '\\')
            continue;
        if (s->at == s->end || !*s->at || !strchr("\"\\/bfnrtu", *s->at))
            return complain(s, "in string escape code");
        for (int digits = *s->at++ == 'u' ? 4 : 0; digits > 0; digits--, s->at++) {
            if (s->at == s->end || sw_hex_digit(*s->at) < 0)
                return complain(s, "in \\u hexadecimal character escape");
        }
    }
    if (s->at == s->end)
        return complain(s, "");
    s->at++;
    return true;
}

static bool scan_key(struct scan *s)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != '"')
        return complain(s, "looking for beginning of object key string");
    if (!scan_string(s))
        return false;
    skip_blanks(s);
    if (s->at == s->end || *s->at != ':')
        return complain(s, "after object key");
    s->at++;
    return true;
}

/* A value, or with @*whole false the beginning of a map or list. */
static bool scan_value(struct scan *s, bool *whole)
{
    *whole = true;
    skip_blanks(s);
    char c = s->at < s->end ? *s->at : '\0';
    if (c == '"')
        return scan_string(s);
    if (c == '-' || is_digit(s))
        return scan_number(s);
    if (c == 't' || c == 'f' || c == 'n') {
        const char *word = c == 't' ? "true" : c == 'f' ? "false" : "null", *w = word;
        for (; *w && s->at < s->end && *s->at == *w; w++)
            s->at++;
        SW_AUTO_CHARS *context = sw_printf("in literal %s (expecting '%c')", word, *w);
        return !*w || complain(s, context);
    }
    if (c != '{' && c != '[')
        return complain(s, "looking for beginning of value");
    SW_GROW(s->open, s->n, s->cap);
    s->open[s->n++] = *s->at++;
    skip_blanks(s);
    if (s->at < s->end && *s->at == (c == '{' ? '}' : ']')) {
        s->at++;
        s->n--;
        return true;
    }
    *whole = false;
    return c == '[' || scan_key(s);
}

/* What follows a value: ends of maps and lists, and a comma. @*more: another value comes. */
static bool scan_after(struct scan *s, bool *more)
{
    for (*more = false; s->n > 0;) {
        bool map = s->open[s->n - 1] == '{';
        skip_blanks(s);
        if (s->at < s->end && *s->at == ',') {
            s->at++;
            *more = true;
            return !map || scan_key(s);
        }
        if (s->at == s->end || *s->at != (map ? '}' : ']'))
            return complain(s, map ? "after object key:value pair" : "after array element");
        s->at++;
        s->n--;
    }
    skip_blanks(s);
    return s->at == s->end || complain(s, "after top-level value");
}

bool sw_json_go_error(const char *text, size_t len, struct text *out)
{
    struct scan s = { .at = text, .end = text + len, .out = out };
    bool ok = true, whole, more = true;
    while (ok && more) {
        ok = scan_value(&s, &whole);
        if (ok && whole)
            ok = scan_after(&s, &more);
    }
    free(s.open);
    return !ok;
}
