/* Numbers, booleans and times of TOML. The first characters decide which of them it is, and that
 * decides where it ends. Source: BurntSushi/toml 1.5, lex.go and parse.go. */
#include <string.h>

#include "chart/template/lang/time_object.h"
#include "chart/template/toml/toml_read.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

static const char decimal[] = "0123456789";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char at(const struct toml_reader *r, size_t i)
{
    return (size_t)(r->end - r->p) > i ? r->p[i] : '\0';
}

static size_t span(const struct toml_reader *r, size_t from, const char *set)
{
    size_t n = from;
    while (at(r, n) && strchr(set, at(r, n)))
        n++;
    return n;
}

/* ---- what a number's text may be ----------------------------------------------------------------
 */

/* Each underscore follows a digit, and the last character is a digit. */
static bool underscores_ok(const char *s, size_t len)
{
    bool accept = false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '_' && !accept)
            return false;
        accept = sw_hex_digit(s[i]) >= 0;
    }
    return accept;
}

static bool leading_zero(const char *s, size_t len)
{
    if (len > 1 && s[0] == '0' && !strchr("box", s[1]))
        return true;
    return len > 2 && (s[0] == '-' || s[0] == '+') && s[1] == '0';
}

static char *without_underscores(struct toml_reader *r, size_t len)
{
    char *s = sw_arena_strndup(r->arena, r->p, len), *to = s;
    for (const char *p = s; *p; p++)
        if (*p != '_')
            *to++ = *p;
    *to = '\0';
    return s;
}

static int invalid(struct toml_reader *r, const char *what, size_t len, const char *why)
{
    return sw_toml_fail(r, "Invalid %s %s: %s", what, sw_quoted(r->arena, r->p, len), why);
}

static const char surrounded[] = "underscores must be surrounded by digits",
                  zeroes[] = "cannot have leading zeroes";

static int read_integer(struct toml_reader *r, size_t len, struct sw_value *out)
{
    int64_t i;
    int base = 10;
    if (!underscores_ok(r->p, len))
        return invalid(r, "integer", len, surrounded);
    if (leading_zero(r->p, len))
        return invalid(r, "integer", len, zeroes);
    char *s = without_underscores(r, len), *digits = s;
    if (s[0] == '0' && s[1]) {
        base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 2;
        digits += 2;
    }
    if (sw_parse_int(digits, strlen(digits), base, &i) != SW_PARSE_OK)
        return sw_toml_fail(r, "%.*s is out of range for int64", (int)len, r->p);
    *out = sw_value_int64(i);
    r->p += len;
    return 0;
}

static int read_float(struct toml_reader *r, size_t len, struct sw_value *out)
{
    const char *s = r->p;
    for (size_t from = 0; from < len;) {
        size_t n = 0;
        while (from + n < len && !strchr(".eE", s[from + n]))
            n++;
        if (n > 0 && !underscores_ok(s + from, n))
            return invalid(r, "float", len, surrounded);
        from += n + 1;
    }
    size_t whole = 0;
    while (whole < len && !strchr(".eE", s[whole]))
        whole++;
    if (leading_zero(s, whole))
        return invalid(r, "float", len, zeroes);
    for (size_t i = 0; i < len; i++)
        if (s[i] == '.' && !(i + 1 < len && is_digit(s[i + 1])))
            return invalid(r, "float", len, "'.' must be followed by one or more digits");
    s = without_underscores(r, len);
    *out = sw_value_float(0);
    enum sw_parse_error error = sw_parse_float(s, strlen(s), &out->as.f);
    if (error == SW_PARSE_RANGE)
        return sw_toml_fail(r, "%.*s is out of range for float64", (int)len, r->p);
    if (error != SW_PARSE_OK)
        return sw_toml_fail(r, "Invalid float value: %s", sw_quoted(r->arena, r->p, len));
    r->p += len;
    return 0;
}

static int read_special(struct toml_reader *r, size_t len, struct sw_value *out)
{
    double f = r->p[len - 1] == 'f' ? __builtin_inf() : __builtin_nan("");
    *out = sw_value_float(*r->p == '-' ? -f : f);
    r->p += len;
    return 0;
}

/* ---- times --------------------------------------------------------------------------------------
 */

static int read_time(struct toml_reader *r, struct sw_value *out)
{
    size_t len = span(r, 0, "0123456789-:Tt .Zz+");
    const char *behind = r->p + len;
    while (len > 0 && r->p[len - 1] == ' ')
        len--;
    r->text.len = 0;
    for (size_t i = 0; i < len; i++) {
        char c = r->p[i];
        sw_text_char(&r->text, c == 't' || c == ' ' ? 'T' : c == 'z' ? 'Z' : c);
    }
    for (const struct sw_toml_time *form = sw_toml_times; form->layout; form++) {
        const struct sw_zone *zone = NULL;
        struct sw_gotime t;
        if (form->zone)
            zone = sw_zone_fixed(r->arena, form->zone, strlen(form->zone), 0);
        if (sw_gotime_parse(r->arena, form->layout, strlen(form->layout), r->text.p, r->text.len,
                            zone, &t, NULL) == 0) {
            *out = sw_gotime_value(r->arena, t);
            r->p = behind;
            return 0;
        }
    }
    return sw_toml_fail(r, "invalid datetime: %s", sw_quoted(r->arena, r->text.p, r->text.len));
}

/* ---- literals
 * --------------------------------------------------------------------------------------
 */

/* An integer or float whose first @from characters are digits or a sign. */
static int read_decimal(struct toml_reader *r, size_t from, struct sw_value *out)
{
    size_t n = span(r, from, "0123456789_");
    if (at(r, n) && strchr(".eE", at(r, n)))
        return read_float(r, span(r, n, "0123456789_.-+eE"), out);
    return read_integer(r, n, out);
}

static int read_based(struct toml_reader *r, struct sw_value *out)
{
    static const struct {
        char letter;
        const char *digits, *what;
    } bases[] = { { 'b', "01_", "a binary" },
                  { 'o', "01234567_", "an octal" },
                  { 'x', "0123456789abcdefABCDEF_", "a hexadecimal" } };
    for (size_t i = 0; i < SW_COUNT(bases); i++) {
        if (at(r, 1) != bases[i].letter)
            continue;
        if (!at(r, 2) || at(r, 2) == '_' || !strchr(bases[i].digits, at(r, 2)))
            return sw_toml_fail(r, "not %s number: '0%c%.*s'", bases[i].what, bases[i].letter,
                                at(r, 2) ? 1 : 0, r->p + 2);
        return read_integer(r, span(r, 2, bases[i].digits), out);
    }
    return read_integer(r, 1, out);
}

static int read_signed(struct toml_reader *r, struct sw_value *out)
{
    char c = at(r, 1);
    if (c == 'i' || c == 'n') {
        const char *word = c == 'i' ? "inf" : "nan";
        size_t n = 1;
        while (n < 4 && at(r, n) == word[n - 1])
            n++;
        return n == 4 ? read_special(r, 4, out)
                      : sw_toml_fail(r, "invalid float: '%.*s'", (int)n, r->p);
    }
    if (c == '0' && at(r, 2) && strchr("box", at(r, 2)))
        return sw_toml_fail(r, "cannot use sign with non-decimal numbers: '%.3s'", r->p);
    if (c == '.')
        return sw_toml_fail(r, "floats must start with a digit, not '.'");
    if (!is_digit(c)) {
        r->p++;
        return sw_toml_fail_rune(r, "expected a digit but got ", "");
    }
    return read_decimal(r, 1, out);
}

static size_t letters(const struct toml_reader *r, const char *from)
{
    size_t len = 0;
    while (from + len < r->end) {
        uint32_t rune;
        size_t n = sw_rune_decode(from + len, (size_t)(r->end - from) - len, &rune);
        if (!sw_rune_is_letter(rune))
            break;
        len += n;
    }
    return len;
}

static int read_letters(struct toml_reader *r, struct sw_value *out)
{
    if (sw_toml_at(r, "inf") || sw_toml_at(r, "nan"))
        return read_special(r, 3, out);
    const char *from = r->p + (sw_toml_at(r, "in") || sw_toml_at(r, "na"));
    size_t len = letters(r, from);
    bool yes = len == 4 && memcmp(from, "true", 4) == 0;
    if (from == r->p && (yes || (len == 5 && memcmp(from, "false", 5) == 0))) {
        *out = sw_value_bool(yes);
        r->p += len;
        return 0;
    }
    return sw_toml_fail(r, "expected value but found %s instead", sw_quoted(r->arena, from, len));
}

int sw_toml_word(struct toml_reader *r, struct sw_value *out)
{
    if (r->p >= r->end)
        return sw_toml_fail(r, "unexpected EOF; expected value");
    size_t digits = span(r, 0, decimal);
    char after = at(r, digits);
    bool zero = *r->p == '0' && digits == 1;
    int rc;
    if (zero && after && strchr("box", after))
        rc = read_based(r, out);
    else if (digits > 0 && !zero && (after == '-' || after == ':'))
        rc = read_time(r, out);
    else if (digits > 0)
        rc = read_decimal(r, digits, out);
    else if (*r->p == '+' || *r->p == '-')
        rc = read_signed(r, out);
    else if (letters(r, r->p) > 0)
        rc = read_letters(r, out);
    else if (*r->p == '.')
        rc = sw_toml_fail(r, "floats must start with a digit, not '.'");
    else if (*r->p == '\n')
        rc = sw_toml_fail_newline(r, "expected value but found '\\n' instead");
    else
        rc = sw_toml_fail_rune(r, "expected value but found ", " instead");
    if (rc == 0 && r->p >= r->end && r->end < r->full_end)
        return sw_toml_fail(r, "cut"); /* one character ahead is read */
    return rc;
}
