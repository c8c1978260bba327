/* TOML's lower half: places, messages, strings, numbers, times. */
#include <string.h>

#include "template/gotime.h"
#include "template/strconv.h"
#include "template/toml_read.h"
#include "template/unicode.h"

/* ---- small things ---- */

int sw_toml_fail(struct toml_reader *r, const char *fmt, ...)
{
    size_t line = 1;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    for (const char *p = r->start; p < r->p && p < r->end; p++)
        line += *p == '\n';
    return sw_err_set(r->err, SW_INVALID, "toml: line %zu: %s", line, what);
}

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

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7F;
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

int sw_toml_skip_comment(struct toml_reader *r)
{
    if (!sw_toml_at(r, "#"))
        return 0;
    for (; r->p < r->end && !sw_toml_at_newline(r); r->p++) {
        if (is_control(*r->p))
            return sw_toml_fail(r, "control characters are not allowed in comments");
    }
    return 0;
}

/* Blanks, comments and line ends. */
int sw_toml_skip_space(struct toml_reader *r)
{
    for (;;) {
        sw_toml_skip_blanks(r);
        int rc = sw_toml_skip_comment(r);
        if (rc < 0)
            return rc;
        if (!sw_toml_take(r, "\n") && !sw_toml_take(r, "\r\n"))
            return 0;
    }
}

/* What stands at the reading place, for errors. */
int sw_toml_unexpected(struct toml_reader *r, const char *wanted)
{
    if (r->p >= r->end)
        return sw_toml_fail(r, "unexpected end of text; expected %s", wanted);
    uint32_t rune;
    size_t n = sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
    if (is_control(*r->p))
        return sw_toml_fail(r, "expected %s but found the character 0x%02x", wanted, *r->p);
    return sw_toml_fail(r, "expected %s but found '%.*s'", wanted, (int)n, r->p);
}

/* ---- strings ---- */

static bool hex_digits(struct toml_reader *r, int n, uint32_t *rune)
{
    *rune = 0;
    for (int i = 0; i < n; i++, r->p++) {
        if (r->p >= r->end || !strchr("0123456789abcdefABCDEF", *r->p) || *r->p == '\0')
            return false;
        int c = *r->p | 0x20;
        *rune = *rune << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return *rune <= SW_RUNE_MAX && !(*rune >= 0xD800 && *rune <= 0xDFFF);
}

static int read_escape(struct toml_reader *r)
{
    static const char names[] = "btnfre\"\\", means[] = "\b\t\n\f\r\033\"\\";
    char c = r->p < r->end ? *r->p : '\0';
    const char *named = c ? strchr(names, c) : NULL;
    uint32_t rune;
    if (named) {
        sw_text_char(&r->text, means[named - names]);
        r->p++;
        return 0;
    }
    if (c != 'u' && c != 'U' && c != 'x')
        return sw_toml_unexpected(r, "an escape character after '\\'");
    r->p++;
    if (!hex_digits(r, c == 'u' ? 4 : c == 'U' ? 8 : 2, &rune))
        return sw_toml_fail(r, "not a Unicode scalar value after \\%c", c);
    sw_text_rune(&r->text, rune);
    return 0;
}

/* A backslash at the end of a line: the next text goes on in its place. */
static bool skip_line_end(struct toml_reader *r)
{
    const char *start = r->p;
    sw_toml_skip_blanks(r);
    if (!sw_toml_at_newline(r)) {
        r->p = start;
        return false;
    }
    while (sw_toml_take(r, "\n") || sw_toml_take(r, "\r\n"))
        sw_toml_skip_blanks(r);
    return true;
}

static void take_text(struct toml_reader *r, struct toml_key *out)
{
    out->s = sw_text_take(&r->text, 0, r->arena, &out->len);
}

/* @quote: '"' with escapes or '\''. */
static int read_line_string(struct toml_reader *r, char quote, struct toml_key *out)
{
    for (r->p++;;) {
        if (r->p >= r->end || sw_toml_at_newline(r))
            return sw_toml_fail(r, "strings cannot contain newlines");
        char c = *r->p;
        if (is_control(c))
            return sw_toml_fail(r, "control characters are not allowed inside strings: '0x%02x'",
                                c);
        r->p++;
        if (c == quote)
            break;
        int rc = 0;
        if (c == '\\' && quote == '"')
            rc = read_escape(r);
        else
            sw_text_char(&r->text, c);
        if (rc < 0)
            return rc;
    }
    take_text(r, out);
    return 0;
}

/* One or two quotes may stand right before the three that close. */
static int read_block_string(struct toml_reader *r, const char *quotes, struct toml_key *out)
{
    r->p += 3;
    if (!sw_toml_take(r, "\n"))
        (void)sw_toml_take(r, "\r\n");
    while (!sw_toml_at(r, quotes)) {
        int rc = 0;
        if (r->p >= r->end)
            return sw_toml_fail(r, "unexpected EOF; expected %s", quotes);
        char c = *r->p;
        if (is_control(c) && !sw_toml_at_newline(r))
            return sw_toml_fail(r, "control characters are not allowed inside strings: '0x%02x'",
                                c);
        r->p++;
        if (c == '\\' && quotes[0] == '"')
            rc = skip_line_end(r) ? 0 : read_escape(r);
        else
            sw_text_char(&r->text, c);
        if (rc < 0)
            return rc;
    }
    r->p += 3;
    for (int i = 0; i < 2 && r->p < r->end && *r->p == quotes[0]; i++)
        sw_text_char(&r->text, *r->p++);
    take_text(r, out);
    return 0;
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

/* ---- numbers and dates ---- */

static size_t word_len(const struct toml_reader *r)
{
    size_t n = 0;
    const char *more = "+-_.:";
    for (; r->p + n < r->end; n++) {
        char c = r->p[n];
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!word && (c == '\0' || !strchr(more, c)))
            break;
    }
    return n;
}

/* Underscores stand between digits only. */
static bool strip_underscores(char *s)
{
    char *to = s;
    for (char *p = s; *p; p++) {
        if (*p != '_') {
            *to++ = *p;
            continue;
        }
        char before = p > s ? p[-1] : '\0';
        if (!before || !strchr("0123456789abcdefABCDEF", before) || !p[1] ||
            !strchr("0123456789abcdefABCDEF", p[1]))
            return false;
    }
    *to = '\0';
    return true;
}

static bool parse_number(char *s, struct sw_value *out)
{
    const char *digits = s + (*s == '+' || *s == '-');
    int base = 10;
    int64_t i;
    double f;
    if (strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0) {
        f = digits[0] == 'i' ? __builtin_inf() : __builtin_nan("");
        *out = sw_value_float(*s == '-' ? -f : f);
        return true;
    }
    if (!strip_underscores(s))
        return false;
    if (digits[0] == '0' && digits[1] && strchr("xob", digits[1])) {
        if (digits != s)
            return false;
        base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : 2;
        if (!digits[2] || digits[2] == '-' || digits[2] == '+' ||
            sw_parse_int(digits + 2, strlen(digits + 2), base, &i) != SW_PARSE_OK)
            return false;
        *out = sw_value_int64(i);
        return true;
    }
    if (digits[0] < '0' || digits[0] > '9' ||
        (digits[0] == '0' && strspn(digits, "0123456789") > 1))
        return false;
    if (!digits[strspn(digits, "0123456789")]) {
        *out = sw_value_int64(0);
        return sw_parse_int(s, strlen(s), base, &out->as.i) == SW_PARSE_OK;
    }
    const char *dot = strchr(digits, '.');
    if (strspn(digits, "0123456789.eE+-") != strlen(digits) ||
        (dot && (dot[1] < '0' || dot[1] > '9')))
        return false;
    *out = sw_value_float(0);
    return sw_parse_float(s, strlen(s), &out->as.f) == SW_PARSE_OK;
}

/* Four digits and a dash, or two and a colon: a date, a time, or both. */
static bool looks_like_time(const char *s)
{
    size_t n = strspn(s, "0123456789");
    return (n == 4 && s[4] == '-') || (n == 2 && s[2] == ':');
}

static void read_time(struct toml_reader *r, size_t len)
{
    r->text.len = 0;
    sw_text_put(&r->text, r->p, len);
    const char *p = r->p + len; /* a blank may stand for the T */
    if (len == 10 && r->end - p >= 3 && p[0] == ' ' && p[1] >= '0' && p[1] <= '9') {
        r->p = p + 1;
        size_t more = word_len(r);
        sw_text_char(&r->text, 'T');
        sw_text_put(&r->text, r->p, more);
        r->p += more;
    } else {
        r->p = p;
    }
    for (size_t i = 0; i < r->text.len; i++) {
        if (r->text.p[i] == 't' || r->text.p[i] == 'z')
            r->text.p[i] = (char)(r->text.p[i] - 0x20);
    }
}

static bool parse_time(struct toml_reader *r, struct sw_value *out)
{
    struct sw_gotime t;
    for (const struct sw_toml_time *form = sw_toml_times; form->layout; form++) {
        const struct sw_zone *zone = NULL;
        if (form->zone)
            zone = sw_zone_fixed(r->arena, form->zone, strlen(form->zone), 0);
        if (sw_gotime_parse(r->arena, form->layout, strlen(form->layout), r->text.p, r->text.len,
                            zone, &t, NULL) == 0) {
            *out = sw_gotime_value(r->arena, t);
            return true;
        }
    }
    return false;
}

int sw_toml_word(struct toml_reader *r, struct sw_value *out)
{
    size_t len = word_len(r);
    if (len == 0)
        return sw_toml_unexpected(r, "value");
    const char *start = r->p;
    char *word = sw_arena_strndup(r->arena, r->p, len);
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        *out = sw_value_bool(word[0] == 't');
        r->p += len;
        return 0;
    }
    if (looks_like_time(word)) {
        read_time(r, len);
        if (parse_time(r, out))
            return 0;
        return sw_toml_fail(r, "invalid datetime: \"%.*s\"", (int)(r->p - start), start);
    }
    if (!parse_number(word, out))
        return sw_toml_fail(r, "invalid value: \"%.*s\"", (int)len, start);
    r->p += len;
    return 0;
}
