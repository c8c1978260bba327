/* TOML's lower half: places and strings. */
#include <string.h>

#include "chart/template/toml/toml_read.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

/* ---- small things ---- */

bool sw_toml_at(const struct toml_reader *r, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(r->end - r->p) >= n && memcmp(r->p, s, n) == 0;
}

bool sw_toml_take(struct toml_reader *r, const char *s)
{
    if (!sw_toml_at(r, s))
        return false;
    r->p += strlen(s);
    return true;
}

void sw_toml_skip_blanks(struct toml_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

bool sw_toml_at_newline(const struct toml_reader *r)
{
    return sw_toml_at(r, "\n") || sw_toml_at(r, "\r\n");
}

void sw_toml_skip_comment(struct toml_reader *r)
{
    if (sw_toml_at(r, "#"))
        while (r->p < r->end && !sw_toml_at_newline(r))
            r->p++;
}

/* Blanks, comments and line ends. */
void sw_toml_skip_space(struct toml_reader *r)
{
    do {
        sw_toml_skip_blanks(r);
        sw_toml_skip_comment(r);
    } while (sw_toml_take(r, "\n") || sw_toml_take(r, "\r\n"));
}

/* ---- strings ---- */

/* A string being read. */
struct string {
    const char *from; /* where its text begins */
    const char *bad;  /* the first escape that is no character, reported after the whole string */
    size_t bad_len;
    bool bad_blank;
};

static int read_escape(struct toml_reader *r, struct string *s)
{
    static const char names[] = "btnfre\"\\", means[] = "\b\t\n\f\r\033\"\\";
    char c = r->p < r->end ? *r->p : '\0';
    const char *named = c ? strchr(names, c) : NULL;
    uint32_t rune;
    size_t n;
    if (named || c == ' ' || c == '\t') {
        if (!named && !s->bad) {
            s->bad = r->p;
            s->bad_blank = true;
        }
        sw_text_char(&r->text, named ? means[named - names] : c);
        r->p++;
        return 0;
    }
    if (c == '\n')
        return sw_toml_fail_rune(r, "invalid escape in string '\\", "'");
    if (c != 'u' && c != 'U' && c != 'x') {
        n = sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
        return sw_toml_fail(r, "invalid escape in string '\\%.*s'", (int)n, r->p);
    }
    const char *digits = ++r->p;
    uint32_t value = 0;
    for (int i = 0, most = c == 'u' ? 4 : c == 'U' ? 8 : 2; i < most; i++, r->p++) {
        int digit = r->p < r->end ? sw_hex_digit(*r->p) : -1;
        if (digit < 0) {
            n = sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
            return sw_toml_fail(r,
                                "expected %s hexadecimal digits after '\\%c', but got %s instead",
                                c == 'u'   ? "four"
                                : c == 'U' ? "eight"
                                           : "two",
                                c, sw_quoted(r->arena, s->from, (size_t)(r->p - s->from) + n));
        }
        value = value << 4 | (uint32_t)digit;
    }
    if ((value > SW_RUNE_MAX || (value >= 0xD800 && value <= 0xDFFF)) && !s->bad) {
        s->bad = digits;
        s->bad_len = (size_t)(r->p - digits);
    }
    sw_text_rune(&r->text, value);
    return 0;
}

static int take_text(struct toml_reader *r, const struct string *s, struct toml_key *out)
{
    out->s = sw_text_take(&r->text, 0, r->arena, &out->len);
    if (!s->bad)
        return 0;
    if (s->bad_blank)
        return sw_toml_fail(r, "invalid escape: '\\%c'", *s->bad);
    return sw_toml_fail(r, "Escaped character '\\u%.*s' is not valid UTF-8.", (int)s->bad_len,
                        s->bad);
}

/* @quote: '"' with escapes or '\''. */
static int read_line_string(struct toml_reader *r, char quote, struct toml_key *out)
{
    struct string s = { .from = ++r->p };
    while (!(r->p < r->end && *r->p == quote)) {
        int rc = 0;
        if (r->p >= r->end)
            return sw_toml_fail(r, "unexpected EOF; expected %s", quote == '"' ? "'\"'" : "\"'\"");
        if (sw_toml_at_newline(r))
            return sw_toml_fail_newline(r, "strings cannot contain newlines");
        char c = *r->p++;
        if (c == '\\' && quote == '"')
            rc = read_escape(r, &s);
        else
            sw_text_char(&r->text, c);
        if (rc < 0)
            return rc;
    }
    r->p++;
    return take_text(r, &s, out);
}

/* One or two quotes may come right before the three that close. */
static int read_block_string(struct toml_reader *r, const char *quotes, struct toml_key *out)
{
    const char *around = quotes[0] == '"' ? "'" : "\"";
    r->p += 3;
    struct string s = { .from = r->p };
    if (!sw_toml_take(r, "\n"))
        (void)sw_toml_take(r, "\r\n");
    while (!sw_toml_at(r, quotes)) {
        if (r->p >= r->end)
            return sw_toml_fail(r, "unexpected EOF; expected %s%s%s", around, quotes, around);
        char c = *r->p++;
        if (c != '\\' || quotes[0] != '"') {
            sw_text_char(&r->text, c);
            continue;
        }
        const char *escape = r->p;
        sw_toml_skip_blanks(r);
        if (sw_toml_at_newline(r)) { /* the text goes on after the line ends */
            while (sw_toml_take(r, "\n") || sw_toml_take(r, "\r\n"))
                sw_toml_skip_blanks(r);
            continue;
        }
        r->p = escape;
        int rc = read_escape(r, &s);
        if (rc < 0)
            return rc;
    }
    r->p += 3;
    for (int i = 0; i < 2 && r->p < r->end && *r->p == quotes[0]; i++)
        sw_text_char(&r->text, *r->p++);
    if (r->p < r->end && *r->p == quotes[0])
        return sw_toml_fail(r, "unexpected %s%s%s%s", around, quotes, quotes, around);
    return take_text(r, &s, out);
}

int sw_toml_line_string(struct toml_reader *r, struct toml_key *out)
{
    r->text.len = 0;
    return read_line_string(r, *r->p, out);
}

int sw_toml_string(struct toml_reader *r, struct toml_key *out)
{
    r->text.len = 0;
    if (sw_toml_at(r, "\"\"\""))
        return read_block_string(r, "\"\"\"", out);
    if (sw_toml_at(r, "'''"))
        return read_block_string(r, "'''", out);
    return read_line_string(r, *r->p, out);
}
