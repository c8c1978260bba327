/* Reading TOML 1.0. */
#include <stdlib.h>
#include <string.h>

#include "data/utf8.h"
#include "template/gotime.h"
#include "template/strconv.h"
#include "template/toml.h"
#include "template/unicode.h"

enum { DEEPEST = 200 };

/* How a table came to be decides who may add to it. */
enum origin {
    IMPLIED, /* named on the way to another's header: its own header may follow */
    HEADER,  /* [it] */
    DOTTED,  /* by a dotted key */
    INLINE,  /* {it}: complete */
    ELEMENT, /* [[it]] */
};

struct table {
    enum origin origin;
    struct sw_map *map;
    struct sw_map *tables; /* those within, by name: struct table, in as.s */
    struct sw_list *list;  /* of [[it]]; map is its last element */
};

struct reader {
    const char *p, *end, *start;
    struct sw_arena *arena;
    struct sw_err *err;
    struct text text; /* scratch */
    struct table *root;
    struct table *current; /* of the last header */
    int depth;
};

struct key {
    const char *s;
    size_t len;
};

static int read_value(struct reader *r, struct sw_value *out);

/* ---- small things ---- */

static int fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct reader *r, const char *fmt, ...)
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

static bool at(const struct reader *r, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(r->end - r->p) >= n && memcmp(r->p, s, n) == 0;
}

static bool take(struct reader *r, const char *s)
{
    if (!at(r, s))
        return false;
    r->p += strlen(s);
    return true;
}

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7F;
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

static bool at_newline(const struct reader *r)
{
    return at(r, "\n") || at(r, "\r\n");
}

static int skip_comment(struct reader *r)
{
    if (!at(r, "#"))
        return 0;
    for (; r->p < r->end && !at_newline(r); r->p++) {
        if (is_control(*r->p))
            return fail(r, "control characters are not allowed in comments");
    }
    return 0;
}

/* Blanks, comments and line ends. */
static int skip_space(struct reader *r)
{
    for (;;) {
        skip_blanks(r);
        int rc = skip_comment(r);
        if (rc < 0)
            return rc;
        if (!take(r, "\n") && !take(r, "\r\n"))
            return 0;
    }
}

/* What stands at the reading place, for errors. */
static int unexpected(struct reader *r, const char *wanted)
{
    if (r->p >= r->end)
        return fail(r, "unexpected end of text; expected %s", wanted);
    uint32_t rune;
    size_t n = sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
    if (is_control(*r->p))
        return fail(r, "expected %s but found the character 0x%02x", wanted, *r->p);
    return fail(r, "expected %s but found '%.*s'", wanted, (int)n, r->p);
}

/* ---- strings ---- */

static bool hex_digits(struct reader *r, int n, uint32_t *rune)
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

static int read_escape(struct reader *r)
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
        return unexpected(r, "an escape character after '\\'");
    r->p++;
    if (!hex_digits(r, c == 'u' ? 4 : c == 'U' ? 8 : 2, &rune))
        return fail(r, "not a Unicode scalar value after \\%c", c);
    sw_text_rune(&r->text, rune);
    return 0;
}

/* A backslash at the end of a line: the next text goes on in its place. */
static bool skip_line_end(struct reader *r)
{
    const char *start = r->p;
    skip_blanks(r);
    if (!at_newline(r)) {
        r->p = start;
        return false;
    }
    while (take(r, "\n") || take(r, "\r\n"))
        skip_blanks(r);
    return true;
}

static void take_text(struct reader *r, struct key *out)
{
    out->s = sw_text_take(&r->text, 0, r->arena, &out->len);
}

/* @quote: '"' with escapes or '\''. */
static int read_line_string(struct reader *r, char quote, struct key *out)
{
    for (r->p++;;) {
        if (r->p >= r->end || at_newline(r))
            return fail(r, "strings cannot contain newlines");
        char c = *r->p;
        if (is_control(c))
            return fail(r, "control characters are not allowed inside strings: '0x%02x'", c);
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
static int read_block_string(struct reader *r, const char *quotes, struct key *out)
{
    r->p += 3;
    if (!take(r, "\n"))
        (void)take(r, "\r\n");
    while (!at(r, quotes)) {
        int rc = 0;
        if (r->p >= r->end)
            return fail(r, "unexpected EOF; expected %s", quotes);
        char c = *r->p;
        if (is_control(c) && !at_newline(r))
            return fail(r, "control characters are not allowed inside strings: '0x%02x'", c);
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

static int read_string(struct reader *r, struct key *out)
{
    r->text.len = 0;
    if (at(r, "\"\"\""))
        return read_block_string(r, "\"\"\"", out);
    if (at(r, "'''"))
        return read_block_string(r, "'''", out);
    return read_line_string(r, *r->p, out);
}

/* ---- numbers and dates ---- */

static size_t word_len(const struct reader *r)
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

static void read_time(struct reader *r, size_t len)
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

static bool parse_time(struct reader *r, struct sw_value *out)
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

static int read_word(struct reader *r, struct sw_value *out)
{
    size_t len = word_len(r);
    if (len == 0)
        return unexpected(r, "value");
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
        return fail(r, "invalid datetime: \"%.*s\"", (int)(r->p - start), start);
    }
    if (!parse_number(word, out))
        return fail(r, "invalid value: \"%.*s\"", (int)len, start);
    r->p += len;
    return 0;
}

/* ---- tables ---- */

static struct table *table_new(struct reader *r, enum origin origin)
{
    struct table *t = sw_arena_alloc(r->arena, sizeof *t);
    *t = (struct table){ .origin = origin,
                         .map = sw_map_new(r->arena),
                         .tables = sw_map_new(r->arena) };
    return t;
}

static struct table *find_table(const struct table *t, struct key k)
{
    struct sw_value *v = sw_map_find(t->tables, k.s, k.len);
    return v ? (struct table *)v->as.s : NULL;
}

static void add_table(struct table *parent, struct key k, struct table *t, struct sw_value v)
{
    sw_map_set(parent->tables, k.s, k.len, (struct sw_value){ .as.s = (const char *)t });
    sw_map_set(parent->map, k.s, k.len, v);
}

static int taken(struct reader *r, struct key k)
{
    return fail(r, "Key '%.*s' has already been defined.", (int)k.len, k.s);
}

static int read_key_part(struct reader *r, struct key *out)
{
    if (at(r, "\"\"\"") || at(r, "'''"))
        return unexpected(r, "a key on one line");
    if (at(r, "\"") || at(r, "'"))
        return read_string(r, out);
    const char *start = r->p;
    for (; r->p < r->end; r->p++) {
        char c = *r->p;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '_' || c == '-'))
            break;
    }
    *out = (struct key){ start, (size_t)(r->p - start) };
    return out->len > 0 ? 0 : unexpected(r, "a key");
}

/* The table within @t that a key's part leads to on the way to its last. */
static int descend(struct reader *r, struct table **t, struct key k, enum origin origin)
{
    struct table *next = find_table(*t, k);
    if (!next) {
        if (sw_map_find((*t)->map, k.s, k.len))
            return taken(r, k);
        next = table_new(r, origin);
        add_table(*t, k, next, sw_value_map(next->map));
    } else if (next->origin == INLINE || (origin == DOTTED && next->origin != DOTTED)) {
        return taken(r, k);
    }
    *t = next;
    return 0;
}

/* "a.b.c": descends to what holds the last part. */
static int read_key(struct reader *r, struct table **t, struct key *last, enum origin origin)
{
    for (int depth = 0;; depth++) {
        skip_blanks(r);
        int rc = read_key_part(r, last);
        skip_blanks(r);
        if (rc < 0 || !take(r, "."))
            return rc;
        if (depth > DEEPEST)
            return fail(r, "nested too deeply");
        rc = descend(r, t, *last, origin);
        if (rc < 0)
            return rc;
    }
}

/* "key = value" */
static int read_pair(struct reader *r, struct table *t)
{
    struct key k;
    struct sw_value v;
    int rc = read_key(r, &t, &k, DOTTED);
    if (rc < 0)
        return rc;
    if (!take(r, "="))
        return unexpected(r, "'=' after a key");
    if (sw_map_find(t->map, k.s, k.len))
        return taken(r, k);
    skip_blanks(r);
    rc = read_value(r, &v);
    if (rc == 0)
        sw_map_set(t->map, k.s, k.len, v);
    return rc;
}

static int add_header(struct reader *r, struct table *parent, struct key k)
{
    struct table *t = find_table(parent, k);
    if (t && t->origin == IMPLIED) {
        t->origin = HEADER;
    } else if (sw_map_find(parent->map, k.s, k.len)) {
        return taken(r, k);
    } else {
        t = table_new(r, HEADER);
        add_table(parent, k, t, sw_value_map(t->map));
    }
    r->current = t;
    return 0;
}

static int add_element(struct reader *r, struct table *parent, struct key k)
{
    struct table *t = find_table(parent, k);
    if (!t && !sw_map_find(parent->map, k.s, k.len)) {
        t = table_new(r, ELEMENT);
        t->list = sw_list_new(r->arena, 2);
        add_table(parent, k, t, sw_value_list(t->list));
    } else if (t && t->origin == ELEMENT) {
        t->map = sw_map_new(r->arena);
        t->tables = sw_map_new(r->arena);
    } else {
        return taken(r, k);
    }
    sw_list_add(t->list, sw_value_map(t->map));
    r->current = t;
    return 0;
}

static int read_header(struct reader *r)
{
    bool element = take(r, "[[");
    struct table *t = r->root;
    struct key k;
    if (!element)
        r->p++;
    int rc = read_key(r, &t, &k, IMPLIED);
    if (rc < 0)
        return rc;
    if (!take(r, element ? "]]" : "]"))
        return unexpected(r, element ? "']]' at the end of a table's name"
                                     : "']' at the end of a table's name");
    return element ? add_element(r, t, k) : add_header(r, t, k);
}

/* ---- values ---- */

static int read_array(struct reader *r, struct sw_value *out)
{
    struct sw_list *list = sw_list_new(r->arena, 4);
    int rc;
    for (r->p++; (rc = skip_space(r)) == 0 && !take(r, "]");) {
        struct sw_value v;
        rc = read_value(r, &v);
        if (rc == 0)
            rc = skip_space(r);
        if (rc < 0)
            return rc;
        sw_list_add(list, v);
        if (!take(r, ",") && !at(r, "]"))
            return unexpected(r, "a comma or ']' after an array's value");
    }
    *out = sw_value_list(list);
    return rc;
}

static int read_inline_table(struct reader *r, struct sw_value *out)
{
    struct table *t = table_new(r, INLINE);
    r->p++;
    skip_blanks(r);
    for (bool more = !take(r, "}"); more;) {
        int rc = read_pair(r, t);
        if (rc < 0)
            return rc;
        skip_blanks(r);
        more = take(r, ",");
        if (!more && !take(r, "}"))
            return unexpected(r, "a comma or '}' after an inline table's value");
    }
    *out = sw_value_map(t->map);
    return 0;
}

static int read_value(struct reader *r, struct sw_value *out)
{
    struct key s;
    int rc;
    if (r->depth >= DEEPEST)
        return fail(r, "nested too deeply");
    r->depth++;
    if (at(r, "\"") || at(r, "'")) {
        rc = read_string(r, &s);
        if (rc == 0)
            *out = sw_value_text(s.s, s.len);
    } else if (at(r, "[")) {
        rc = read_array(r, out);
    } else if (at(r, "{")) {
        rc = read_inline_table(r, out);
    } else {
        rc = read_word(r, out);
    }
    r->depth--;
    return rc;
}

static int read_line(struct reader *r)
{
    int rc = at(r, "[") ? read_header(r) : read_pair(r, r->current);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    rc = skip_comment(r);
    if (rc == 0 && r->p < r->end && !at_newline(r))
        return unexpected(r, "the end of the line");
    return rc;
}

int sw_value_read_toml(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err)
{
    struct reader r = { .p = text, .end = text + len, .start = text, .arena = arena, .err = err };
    int rc;
    if (!sw_utf8_valid(text, len))
        return sw_err_set(err, SW_INVALID, "toml: invalid UTF-8");
    r.text.limit = len + 1;
    r.root = r.current = table_new(&r, HEADER);
    while ((rc = skip_space(&r)) == 0 && r.p < r.end) {
        rc = read_line(&r);
        if (rc < 0)
            break;
    }
    free(r.text.p);
    *out = sw_value_map(r.root->map);
    return rc;
}
