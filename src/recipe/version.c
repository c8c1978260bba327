#include "recipe/version.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Parts that are missing or written x, X or * are 0 and counted out of @n_parts. */
struct version {
    uint64_t part[3]; /* major, minor, patch */
    int n_parts;      /* that were given, from the left */
    const char *pre;  /* behind '-', borrowed */
    size_t pre_len;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

/* "a.b-c.1": @return its length, 0 where it is malformed */
static size_t word_list(const char *s)
{
    size_t n = 0;
    for (;;) {
        size_t start = n;
        while (is_word(s[n]))
            n++;
        if (n == start)
            return 0;
        if (s[n] != '.')
            return n;
        n++;
    }
}

static bool is_wild(char c)
{
    return c == 'x' || c == 'X' || c == '*';
}

/* One number, or a wildcard. @return behind it, or NULL */
static const char *read_part(const char *s, uint64_t *number, bool *wild)
{
    char *end;
    *wild = is_wild(*s);
    if (*wild)
        return s + 1;
    if (!isdigit((unsigned char)*s))
        return NULL;
    *number = strtoull(s, &end, 10);
    return end;
}

/* @range: wildcards are allowed. @return behind the version, or NULL */
static const char *read_version(const char *s, bool range, struct version *v)
{
    *v = (struct version){ 0 };
    s += *s == 'v';
    bool any = false;
    for (int i = 0; i < 3; i++) {
        bool wild;
        uint64_t number = 0;
        if (i > 0 && *s != '.')
            break;
        s = read_part(s + (i > 0), &number, &wild);
        if (!s || (wild && !range))
            return NULL;
        any |= wild;
        if (!any) {
            v->part[i] = number;
            v->n_parts = i + 1;
        }
    }
    if (*s == '-') {
        v->pre = s + 1;
        v->pre_len = word_list(s + 1);
        if (!v->pre_len)
            return NULL;
        s += 1 + v->pre_len;
    }
    if (*s == '+') {
        size_t len = word_list(s + 1);
        if (!len)
            return NULL;
        s += 1 + len;
    }
    return s;
}

bool sw_version_is_valid(const char *version)
{
    struct version v;
    const char *end = read_version(version, false, &v);
    return end && !*end;
}

static bool all_digits(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isdigit((unsigned char)s[i]))
            return false;
    return true;
}

/* One identifier of a pre-release against another: numbers by value and before words. */
static int compare_word(const char *a, size_t a_len, const char *b, size_t b_len)
{
    bool a_digits = all_digits(a, a_len), b_digits = all_digits(b, b_len);
    if (a_digits != b_digits)
        return a_digits ? -1 : 1;
    if (a_digits && a_len != b_len)
        return a_len < b_len ? -1 : 1;
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return c ? c : (a_len > b_len) - (a_len < b_len);
}

static size_t word_len(const char *s, const char *end)
{
    const char *dot = memchr(s, '.', (size_t)(end - s));
    return dot ? (size_t)(dot - s) : (size_t)(end - s);
}

static int compare_pre(const struct version *a, const struct version *b)
{
    if (!a->pre_len || !b->pre_len)
        return (b->pre_len > 0) - (a->pre_len > 0); /* a release comes after what came before it */
    const char *x = a->pre, *x_end = x + a->pre_len, *y = b->pre, *y_end = y + b->pre_len;
    while (x < x_end && y < y_end) {
        size_t x_len = word_len(x, x_end), y_len = word_len(y, y_end);
        int c = compare_word(x, x_len, y, y_len);
        if (c)
            return c;
        x += x_len + 1;
        y += y_len + 1;
    }
    return (x < x_end) - (y < y_end);
}

static int compare(const struct version *a, const struct version *b)
{
    for (int i = 0; i < 3; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return compare_pre(a, b);
}

/* Whether the first @n parts are the same. */
static bool same_parts(const struct version *a, const struct version *b, int n)
{
    return n <= 0 || memcmp(a->part, b->part, (size_t)n * sizeof *a->part) == 0;
}

static bool equal(const struct version *v, const struct version *want)
{
    return want->n_parts < 3 ? same_parts(v, want, want->n_parts) && compare(v, want) >= 0
                             : compare(v, want) == 0;
}

static bool not_equal(const struct version *v, const struct version *want)
{
    return want->n_parts < 3 ? !same_parts(v, want, want->n_parts) : compare(v, want) != 0;
}

/* "> 11" means 12 or later. */
static bool greater(const struct version *v, const struct version *want)
{
    return compare(v, want) > 0 && (want->n_parts == 3 || !same_parts(v, want, want->n_parts));
}

static bool greater_equal(const struct version *v, const struct version *want)
{
    return compare(v, want) >= 0;
}

static bool less(const struct version *v, const struct version *want)
{
    return compare(v, want) < 0;
}

/* "<= 11" means any 11. */
static bool less_equal(const struct version *v, const struct version *want)
{
    return compare(v, want) <= 0 || (want->n_parts < 3 && same_parts(v, want, want->n_parts));
}

/* "~1.2.3": the same major and minor; "~1": the same major; "~0.0.0": anything. */
static bool tilde(const struct version *v, const struct version *want)
{
    static const struct version zero;
    if (want->n_parts == 3 && same_parts(want, &zero, 3))
        return compare(v, want) >= 0;
    return compare(v, want) >= 0 && same_parts(v, want, want->n_parts < 2 ? want->n_parts : 2);
}

/* "^1.2.3": what keeps the first part that is not 0. */
static bool caret(const struct version *v, const struct version *want)
{
    int n = 0;
    while (n < want->n_parts - 1 && want->part[n] == 0)
        n++;
    return compare(v, want) >= 0 && same_parts(v, want, want->n_parts ? n + 1 : 0);
}

static const struct operator
{
    const char *text;
    bool (*holds)(const struct version *v, const struct version *want);
}
operators[] = {
    { "!=", not_equal },  { ">=", greater_equal }, { "=>", greater_equal }, { "<=", less_equal },
    { "=<", less_equal }, { "~>", tilde },         { "=", equal },          { ">", greater },
    { "<", less },        { "~", tilde },          { "^", caret },          { "", equal },
};

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* Who asks for no pre-release gets none. */
static bool holds(const struct operator* op, const struct version *v, const struct version *want)
{
    return (!v->pre_len || want->pre_len) && op->holds(v, want);
}

/* "1.2 - 3.4" with @low read already. @return behind it, or NULL where it is no such range. */
static const char *read_hyphen(const char *s, const struct version *low, const struct version *v,
                               bool *ok)
{
    struct version high;
    const char *at = skip_blanks(s);
    if (at == s || at[0] != '-' || (at[1] != ' ' && at[1] != '\t'))
        return NULL;
    at = read_version(skip_blanks(at + 1), true, &high);
    if (at)
        *ok &= (!v->pre_len || (low->pre_len && high.pre_len)) && greater_equal(v, low) &&
               less_equal(v, &high);
    return at;
}

/* Conditions up to "||" or the end, all of which must hold. @return where they end, or NULL */
static const char *check_all(const char *s, const struct version *v, bool *ok)
{
    bool any = false;
    *ok = true;
    for (s = skip_blanks(s); *s && strncmp(s, "||", 2) != 0; any = true) {
        size_t i = 0;
        while (strncmp(s, operators[i].text, strlen(operators[i].text)) != 0)
            i++;
        struct version want;
        bool plain = !*operators[i].text;
        s = read_version(skip_blanks(s + strlen(operators[i].text)), true, &want);
        if (!s)
            return NULL;
        const char *behind = plain ? read_hyphen(s, &want, v, ok) : NULL;
        if (!behind)
            *ok &= holds(&operators[i], v, &want);
        s = skip_blanks(behind ? behind : s);
        if (*s == ',')
            s = skip_blanks(s + 1);
    }
    return any ? s : NULL;
}

bool sw_version_in_range(const char *range, const char *version)
{
    struct version v;
    const char *end = read_version(version, false, &v);
    if (!end || *end)
        return false;
    bool found = false;
    for (const char *s = range;; s += 2) {
        bool ok;
        s = check_all(s, &v, &ok);
        if (!s)
            return false;
        found |= ok;
        if (!*s)
            return found;
    }
}
