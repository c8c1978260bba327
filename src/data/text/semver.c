#include "data/text/semver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- versions ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_identifier_char(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-';
}

/* Where a number ends; @overflow: it is larger than 64 bits. */
static const char *read_number(const char *p, const char *end, uint64_t *out, bool *overflow)
{
    *out = 0;
    for (; p < end && is_digit(*p); p++) {
        *overflow = __builtin_mul_overflow(*out, 10, out) || *overflow;
        *overflow = __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out) || *overflow;
    }
    return p;
}

/* Where dotted identifiers end, or NULL where there is an empty one. */
static const char *read_identifiers(const char *p, const char *end)
{
    for (;;) {
        const char *start = p;
        while (p < end && is_identifier_char(*p))
            p++;
        if (p == start)
            return NULL;
        if (p == end || *p != '.')
            return p;
        p++;
    }
}

/* An identifier of digits alone has no leading zero. */
static bool has_leading_zero(const char *p, const char *end)
{
    while (p < end) {
        const char *dot = memchr(p, '.', (size_t)(end - p)), *to = dot ? dot : end, *q = p;
        while (q < to && is_digit(*q))
            q++;
        if (q == to && to - p > 1 && *p == '0')
            return true;
        p = to + 1;
    }
    return false;
}

static int invalid(struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "invalid semantic version");
}

/* "-rc.1+b5": both parts may be missing. */
static int read_tail(const char *p, const char *end, struct sw_semver *v, struct sw_err *err)
{
    if (p < end && *p == '-') {
        v->pre = ++p;
        p = read_identifiers(p, end);
        if (!p)
            return invalid(err);
        v->pre_len = (size_t)(p - v->pre);
    }
    if (p < end && *p == '+') {
        v->meta = ++p;
        p = read_identifiers(p, end);
        if (!p)
            return invalid(err);
        v->meta_len = (size_t)(p - v->meta);
    }
    return p == end ? 0 : invalid(err);
}

int sw_semver_parse(const char *text, size_t len_bytes, struct sw_semver *out, struct sw_err *err)
{
    struct sw_semver v = { .pre = "", .meta = "" };
    uint64_t *parts[] = { &v.major, &v.minor, &v.patch };
    const char *p = text, *end = text + len_bytes;
    const char *large = NULL; /* the first number that is too large */
    int large_len = 0;
    if (p < end && *p == 'v')
        p++;
    for (size_t i = 0; i < SW_COUNT(parts); i++) {
        if (i > 0 && (p == end || *p != '.'))
            break;
        p += i > 0;
        const char *start = p;
        bool overflow = false;
        p = read_number(p, end, parts[i], &overflow);
        if (p == start)
            return invalid(err);
        if (overflow && !large) {
            large = start;
            large_len = (int)(p - start);
        }
    }
    int rc = read_tail(p, end, &v, err);
    if (rc < 0)
        return rc;
    if (large)
        return sw_err_set(err, SW_INVALID,
                          "error parsing version segment: strconv.ParseUint: parsing \"%.*s\": "
                          "value out of range",
                          large_len, large);
    if (has_leading_zero(v.pre, v.pre + v.pre_len))
        return sw_err_set(err, SW_INVALID, "version segment starts with 0");
    *out = v;
    return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static bool whole_number(const char *s, size_t len, uint64_t *out)
{
    bool overflow = false;
    return len > 0 && read_number(s, s + len, out, &overflow) == s + len && !overflow;
}

/* Numbers by value, before texts, which go by their bytes. */
static int compare_identifiers(const char *a, size_t a_len, const char *b, size_t b_len)
{
    uint64_t na, nb;
    if (a_len == 0 || b_len == 0)
        return compare_numbers(a_len, b_len);
    bool a_is = whole_number(a, a_len, &na), b_is = whole_number(b, b_len, &nb);
    if (a_is && b_is)
        return compare_numbers(na, nb);
    if (a_is || b_is)
        return a_is ? -1 : 1;
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : compare_numbers(a_len, b_len);
}

static size_t identifier_len(const char *s, size_t len)
{
    const char *dot = memchr(s, '.', len);
    return dot ? (size_t)(dot - s) : len;
}

static int compare_pre(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len == 0 || b_len == 0) /* a release comes after its prereleases */
        return compare_numbers(b_len, a_len) ? (a_len == 0 ? 1 : -1) : 0;
    while (a_len > 0 || b_len > 0) {
        size_t na = identifier_len(a, a_len), nb = identifier_len(b, b_len);
        int order = compare_identifiers(a, na, b, nb);
        if (order)
            return order;
        na += na < a_len;
        nb += nb < b_len;
        a += na, a_len -= na;
        b += nb, b_len -= nb;
    }
    return 0;
}

int sw_semver_compare(const struct sw_semver *a, const struct sw_semver *b)
{
    int order = compare_numbers(a->major, b->major);
    if (order == 0)
        order = compare_numbers(a->minor, b->minor);
    if (order == 0)
        order = compare_numbers(a->patch, b->patch);
    return order ? order : compare_pre(a->pre, a->pre_len, b->pre, b->pre_len);
}

char *sw_semver_text(const struct sw_semver *v)
{
    return sw_printf("%" PRIu64 ".%" PRIu64 ".%" PRIu64 "%s%.*s%s%.*s", v->major, v->minor,
                     v->patch, v->pre_len ? "-" : "", (int)v->pre_len, v->pre,
                     v->meta_len ? "+" : "", (int)v->meta_len, v->meta);
}

/* ---- constraints ---- */

struct constraint {
    bool (*check)(const struct constraint *c, const struct sw_semver *v);
    struct sw_semver version;
    char *text;       /* what version borrows from */
    bool dirty;       /* a part is missing or an x */
    bool minor_dirty; /* from the minor number on */
    bool patch_dirty; /* only the patch number */
    bool begins_or;   /* the first of an alternative */
};

struct sw_semver_range {
    struct constraint *constraints;
    size_t n, cap;
};

static bool equal(const struct constraint *c, const struct sw_semver *v)
{
    return sw_semver_compare(v, &c->version) == 0;
}

static bool check_not_equal(const struct constraint *c, const struct sw_semver *v)
{
    const struct sw_semver *con = &c->version;
    if (!c->dirty)
        return !equal(c, v);
    if (con->major != v->major || (con->minor != v->minor && !c->minor_dirty))
        return true;
    if (c->minor_dirty)
        return false;
    if (c->patch_dirty)
        return compare_pre(v->pre, v->pre_len, con->pre, con->pre_len) != 0;
    return con->patch != v->patch || !equal(c, v);
}

static bool check_greater(const struct constraint *c, const struct sw_semver *v)
{
    const struct sw_semver *con = &c->version;
    if (c->dirty && v->major != con->major)
        return v->major > con->major;
    if (c->dirty && c->minor_dirty) /* >11 begins with 12 */
        return false;
    if (c->dirty && c->patch_dirty) /* >11.1 begins with 11.2 */
        return v->minor > con->minor;
    return sw_semver_compare(v, con) > 0;
}

static bool check_less(const struct constraint *c, const struct sw_semver *v)
{
    return sw_semver_compare(v, &c->version) < 0;
}

static bool check_greater_equal(const struct constraint *c, const struct sw_semver *v)
{
    return sw_semver_compare(v, &c->version) >= 0;
}

static bool check_less_equal(const struct constraint *c, const struct sw_semver *v)
{
    const struct sw_semver *con = &c->version;
    if (!c->dirty)
        return sw_semver_compare(v, con) <= 0;
    return v->major <= con->major &&
           !(v->major == con->major && v->minor > con->minor && !c->minor_dirty);
}

/* ~1.2.3: >=1.2.3, <1.3; ~1: >=1, <2 */
static bool check_tilde(const struct constraint *c, const struct sw_semver *v)
{
    const struct sw_semver *con = &c->version;
    if (sw_semver_compare(v, con) < 0)
        return false;
    if (con->major == 0 && con->minor == 0 && con->patch == 0 && !c->minor_dirty && !c->patch_dirty)
        return true;
    return v->major == con->major && (v->minor == con->minor || c->minor_dirty);
}

static bool check_equal(const struct constraint *c, const struct sw_semver *v)
{
    return c->dirty ? check_tilde(c, v) : equal(c, v);
}

/* ^1.2.3: >=1.2.3, <2; ^0.2.3: >=0.2.3, <0.3; ^0.0.3: 0.0.3 alone */
static bool check_caret(const struct constraint *c, const struct sw_semver *v)
{
    const struct sw_semver *con = &c->version;
    if (sw_semver_compare(v, con) < 0)
        return false;
    if (con->major > 0 || c->minor_dirty)
        return v->major == con->major;
    if (v->major > 0)
        return false;
    if (con->minor > 0 || c->patch_dirty)
        return v->minor == con->minor;
    return v->minor == 0 && con->patch == v->patch;
}

static const struct {
    const char *op;
    bool (*check)(const struct constraint *c, const struct sw_semver *v);
} operators[] = {
    /* the longer ones first */
    { "!=", check_not_equal },  { ">=", check_greater_equal }, { "=>", check_greater_equal },
    { "<=", check_less_equal }, { "=<", check_less_equal },    { "~>", check_tilde },
    { "=", check_equal },       { ">", check_greater },        { "<", check_less },
    { "~", check_tilde },       { "^", check_caret },          { "", check_equal },
};

bool sw_semver_range_has(const struct sw_semver_range *range, const struct sw_semver *v)
{
    for (size_t i = 0; i < range->n;) {
        bool all = true, names_pre = false;
        do {
            const struct constraint *c = &range->constraints[i];
            names_pre |= c->version.pre_len > 0;
            all = all && c->check(c, v);
        } while (++i < range->n && !range->constraints[i].begins_or);
        if (all && (!v->pre_len || names_pre)) /* one that names a prerelease admits them to all */
            return true;
    }
    return false;
}

/* ---- reading constraints ---- */

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r' && *p != '\v')))
        p++;
    return p;
}

/* A constraint's version: numbers, x and * in its parts; spans in the text, of no length where
 * missing. */
struct wild_version {
    const char *parts[3];
    size_t lens[3];
    const char *pre; /* with its '-' */
    size_t pre_len;
    const char *start, *end;
};

/* @return where it ends, or NULL where there is none */
static const char *read_wild(const char *p, const char *end, struct wild_version *w)
{
    *w = (struct wild_version){ .start = p, .pre = "" };
    if (p < end && *p == 'v')
        p++;
    for (size_t i = 0; i < SW_COUNT(w->parts); i++) {
        const char *start = p + (i > 0), *q = start;
        if (i > 0 && (p == end || *p != '.'))
            break;
        while (q < end && (is_digit(*q) || memchr("xX*|", *q, 4)))
            q++;
        if (q == start) {
            if (i == 0)
                return NULL;
            break;
        }
        w->parts[i] = start;
        w->lens[i] = (size_t)(q - start);
        p = q;
    }
    for (int i = 0; i < 2; i++) {
        if (p == end || *p != "-+"[i])
            continue;
        const char *q = p + 1;
        /* as much of it as is well-formed; the rest is then no constraint */
        while (q < end && (is_identifier_char(*q) ||
                           (*q == '.' && q > p + 1 && q + 1 < end && is_identifier_char(q[1]))))
            q++;
        if (q == p + 1)
            break;
        if (i == 0) {
            w->pre = p;
            w->pre_len = (size_t)(q - p);
        }
        p = q;
    }
    w->end = p;
    return p;
}

static bool is_missing(const struct wild_version *w, int part)
{
    return w->lens[part] == 0 || (w->lens[part] == 1 && strchr("xX*", w->parts[part][0]));
}

static char *full_text(const struct wild_version *w, struct constraint *c)
{
    int pre = (int)w->pre_len;
    c->dirty = true;
    if (is_missing(w, 0))
        return sw_printf("0.0.0%.*s", pre, w->pre);
    if (is_missing(w, 1)) {
        c->minor_dirty = true;
        return sw_printf("%.*s.0.0%.*s", (int)w->lens[0], w->parts[0], pre, w->pre);
    }
    if (is_missing(w, 2)) {
        c->patch_dirty = true;
        return sw_printf("%.*s.%.*s.0%.*s", (int)w->lens[0], w->parts[0], (int)w->lens[1],
                         w->parts[1], pre, w->pre);
    }
    c->dirty = false;
    return sw_strndup(w->start, (size_t)(w->end - w->start));
}

static int add_constraint(struct sw_semver_range *range, size_t op, const struct wild_version *w,
                          bool begins_or, struct sw_err *err)
{
    struct constraint c = { .check = operators[op].check, .begins_or = begins_or };
    c.text = full_text(w, &c);
    if (sw_semver_parse(c.text, strlen(c.text), &c.version, NULL) < 0) {
        free(c.text);
        return sw_err_set(err, SW_INVALID, "constraint parser error");
    }
    SW_GROW(range->constraints, range->n, range->cap);
    range->constraints[range->n++] = c;
    return 0;
}

/* The constraints of one side of "||", with spaces or a comma between them. */
static int read_alternative(struct sw_semver_range *range, const char *start, const char *end,
                            struct sw_err *err)
{
    const char *p = start, *next = skip_space(start, end);
    bool first = true;
    do {
        struct wild_version w;
        p = next;
        size_t op = 0, n; /* the last row's operator is empty */
        while ((n = strlen(operators[op].op)) > (size_t)(end - p) ||
               memcmp(p, operators[op].op, n) != 0)
            op++;
        p = read_wild(skip_space(p + n, end), end, &w);
        next = p ? skip_space(p, end) : NULL;
        bool is_last = next == end, is_comma = p && !is_last && *next == ',';
        if (!p || (next == p && !is_last && !is_comma))
            return sw_err_set(err, SW_INVALID, "improper constraint: \"%.*s\"", (int)(end - start),
                              start);
        int rc = add_constraint(range, op, &w, first, err);
        if (rc < 0)
            return rc;
        first = false;
        if (is_last)
            return 0;
        if (is_comma)
            next = skip_space(next + 1, end);
    } while (true);
}

/* Read "1.2 - 2.0" at @p with the spaces around it. @return its end, or NULL: there is none */
static const char *read_hyphen(const char *p, const char *end, struct wild_version w[2])
{
    p = read_wild(skip_space(p, end), end, &w[0]);
    const char *q = p ? skip_space(p, end) : NULL;
    if (!q || q == p || q == end || *q != '-')
        return NULL;
    p = q + 1;
    q = skip_space(p, end);
    p = q == p ? NULL : read_wild(q, end, &w[1]);
    return p ? skip_space(p, end) : NULL;
}

/* "1.2 - 2.0" becomes ">= 1.2, <= 2.0". */
static char *rewrite_hyphens(const char *text, size_t len)
{
    const char *p = text, *end = text + len, *copied = text;
    char *out = sw_strdup("");
    while (p < end) {
        struct wild_version w[2];
        const char *after = read_hyphen(p, end, w);
        if (!after) {
            p++;
            continue;
        }
        SW_AUTO_CHARS *before = out;
        out = sw_printf("%s%.*s>= %.*s, <= %.*s ", before, (int)(p - copied), copied,
                        (int)(w[0].end - w[0].start), w[0].start, (int)(w[1].end - w[1].start),
                        w[1].start);
        p = copied = after;
    }
    SW_AUTO_CHARS *before = out;
    return sw_printf("%s%.*s", before, (int)(end - copied), copied);
}

int sw_semver_range_parse(const char *text, size_t len_bytes, struct sw_semver_range **out,
                          struct sw_err *err)
{
    enum { LONGEST = 4096 };
    if (len_bytes > LONGEST)
        return sw_err_set(err, SW_INVALID, "improper constraint: longer than %d bytes", LONGEST);
    SW_AUTO(sw_semver_range) *range = sw_zalloc(1, sizeof *range);
    SW_AUTO_CHARS *rewritten = rewrite_hyphens(text, len_bytes);
    for (const char *p = rewritten; p;) {
        const char *bars = strstr(p, "||"), *end = bars ? bars : p + strlen(p);
        int rc = read_alternative(range, p, end, err);
        if (rc < 0)
            return rc;
        p = bars ? bars + 2 : NULL;
    }
    *out = SW_TAKE(range);
    return 0;
}

void sw_semver_range_free(struct sw_semver_range *range)
{
    if (!range)
        return;
    for (size_t i = 0; i < range->n; i++)
        free(range->constraints[i].text);
    free(range->constraints);
    free(range);
}
