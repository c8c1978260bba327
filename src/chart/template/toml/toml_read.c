/* Reading TOML 1.0: tables, arrays and inline tables. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/toml/toml_read.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"
#include "data/text/utf8.h"

/* How a table was made; that decides where it may be extended. */
enum origin {
    IMPLIED, /* by the header of a table within: its own header may follow */
    HEADER,  /* [it] */
    DOTTED,  /* by a dotted key */
    INLINE,  /* {it}: complete */
    ELEMENT, /* [[it]] */
};

struct table {
    enum origin origin;
    struct sw_map *map;
    struct sw_map *tables; /* the tables within, by name: struct table, in as.s */
    struct sw_list *list;  /* of [[it]]; map is its last element */
    struct toml_key path;  /* for messages */
};

static int read_value(struct toml_reader *r, struct sw_value *out);

/* ---- tables ---- */

/* "a.b", with quotes where TOML requires them. */
static struct toml_key path_of(struct toml_reader *r, struct toml_key parent, struct toml_key k)
{
    struct toml_key path;
    size_t mark = r->text.len; /* it may hold the beginning of a string */
    sw_text_put(&r->text, parent.s, parent.len);
    if (parent.len)
        sw_text_char(&r->text, '.');
    if (sw_toml_is_bare(k.s, k.len))
        sw_text_put(&r->text, k.s, k.len);
    else
        sw_text_puts(&r->text, sw_quoted(r->arena, k.s, k.len));
    path.s = sw_text_take(&r->text, mark, r->arena, &path.len);
    return path;
}

static struct table *table_new(struct toml_reader *r, enum origin origin, struct toml_key path)
{
    struct table *t = sw_arena_alloc(r->arena, sizeof *t);
    *t = (struct table){
        .origin = origin, .map = sw_map_new(r->arena), .tables = sw_map_new(r->arena), .path = path
    };
    return t;
}

static struct table *find_table(const struct table *t, struct toml_key k)
{
    struct sw_value *v = sw_map_find(t->tables, k.s, k.len);
    return v ? (struct table *)v->as.s : NULL;
}

static void add_table(struct table *parent, struct toml_key k, struct table *t, struct sw_value v)
{
    sw_map_set(parent->tables, k.s, k.len, (struct sw_value){ .as.s = (const char *)t });
    sw_map_set(parent->map, k.s, k.len, v);
}

static int taken(struct toml_reader *r, const struct table *parent, struct toml_key k)
{
    struct toml_key path = path_of(r, parent->path, k);
    return sw_toml_fail_key(r, "Key '%.*s' has already been defined.", (int)path.len, path.s);
}

/* ---- keys ---- */

struct parts {
    struct toml_key *items;
    size_t n, cap;
};

/* A bare key may be empty here: the error is about what follows it. */
static int read_simple_key(struct toml_reader *r, struct parts *parts)
{
    struct toml_key k;
    if (sw_toml_at(r, "\"") || sw_toml_at(r, "'")) {
        int rc = sw_toml_line_string(r, &k);
        if (rc < 0)
            return rc;
    } else {
        const char *start = r->p;
        while (r->p < r->end && sw_toml_is_bare(r->p, 1))
            r->p++;
        k = (struct toml_key){ start, (size_t)(r->p - start) };
    }
    if (parts->n > SW_TOML_DEEPEST)
        return sw_toml_fail(r, "nested too deeply");
    SW_GROW(parts->items, parts->n, parts->cap);
    parts->items[parts->n++] = k;
    sw_toml_skip_blanks(r);
    return 0;
}

/* "a.b.c =" */
static int read_key(struct toml_reader *r, struct parts *parts)
{
    sw_toml_skip_blanks(r);
    r->key_at = r->p;
    if (r->p >= r->end || *r->p == '=')
        return sw_toml_fail(r, "unexpected '=': key name appears blank");
    if (*r->p == '.')
        return sw_toml_fail(r, "unexpected '.': keys cannot start with a '.'");
    for (;;) {
        int rc = read_simple_key(r, parts);
        if (rc < 0)
            return rc;
        if (sw_toml_take(r, "="))
            return 0;
        if (r->p >= r->end)
            return sw_toml_fail(r, "unexpected EOF; expected key separator '='");
        if (*r->p == '\n')
            return sw_toml_fail_newline(r, "expected '.' or '=', but got '\\n' instead");
        if (*r->p != '.')
            return sw_toml_fail_rune(r, "expected '.' or '=', but got ", " instead");
        r->p++;
        sw_toml_skip_blanks(r);
        if (r->p >= r->end || *r->p == '=' || *r->p == '.')
            return sw_toml_fail(r, "unexpected '%c'", r->p < r->end ? *r->p : '=');
    }
}

/* "a.b.c]" */
static int read_name(struct toml_reader *r, struct parts *parts)
{
    for (;;) {
        sw_toml_skip_blanks(r);
        if (parts->n == 0)
            r->key_at = r->p;
        if (r->p >= r->end || *r->p == ']')
            return sw_toml_fail(r, "unexpected end of table name (table names cannot be empty)");
        if (*r->p == '.')
            return sw_toml_fail(r, "unexpected table separator (table names cannot be empty)");
        int rc = read_simple_key(r, parts);
        if (rc < 0)
            return rc;
        if (sw_toml_take(r, "]"))
            return 0;
        if (!sw_toml_take(r, "."))
            return sw_toml_fail_rune(r, "expected '.' or ']' to end table name, but got ",
                                     " instead");
    }
}

/* Step from @t into the tables that all but the last element of a dotted key name. */
static int descend(struct toml_reader *r, struct table **t, const struct parts *parts,
                   enum origin origin)
{
    for (size_t i = 0; i + 1 < parts->n; i++) {
        struct toml_key k = parts->items[i], path = path_of(r, (*t)->path, k);
        struct table *next = find_table(*t, k);
        bool dotted = origin == DOTTED;
        if (!next && sw_map_find((*t)->map, k.s, k.len)) {
            if (dotted)
                r->context = path;
            if (dotted && i + 2 == parts->n)
                return taken(r, *t, k);
            return sw_toml_fail_key(r, "Key '%.*s' was already created as a hash.", (int)path.len,
                                    path.s);
        }
        if (next && (next->origin == INLINE || (dotted && next->origin != DOTTED)))
            return taken(r, *t, k);
        if (!next) {
            next = table_new(r, origin, path);
            add_table(*t, k, next, sw_value_map(next->map));
        }
        *t = next;
    }
    return 0;
}

/* "key = value" */
static int read_pair(struct toml_reader *r, struct table *t)
{
    struct parts parts = { 0 };
    struct toml_key context = r->context, k = { 0 };
    struct sw_value v = { 0 };
    int rc = read_key(r, &parts);
    if (rc == 0) {
        assert(parts.n > 0);
        r->key = k = parts.items[parts.n - 1];
        rc = descend(r, &t, &parts, DOTTED);
    }
    free(parts.items);
    if (rc < 0)
        return rc;
    const char *key_at = r->key_at;
    r->context = t->path;
    sw_toml_skip_blanks(r);
    rc = read_value(r, &v);
    r->key_at = key_at;
    if (rc == 0 && sw_map_find(t->map, k.s, k.len))
        rc = taken(r, t, k);
    if (rc < 0)
        return rc;
    sw_map_set(t->map, k.s, k.len, v);
    r->context = context;
    return 0; /* the key is the last one until the next has been read */
}

/* ---- headers ---- */

/* [it], or with @element [[it]]. */
static int add_header(struct toml_reader *r, struct table *parent, struct toml_key k, bool element)
{
    struct table *t = find_table(parent, k);
    struct toml_key path = path_of(r, parent->path, k);
    r->context = parent->path;
    if (!t && !sw_map_find(parent->map, k.s, k.len)) {
        t = table_new(r, element ? ELEMENT : HEADER, path);
        t->list = element ? sw_list_new(r->arena, 2) : NULL;
        add_table(parent, k, t, element ? sw_value_list(t->list) : sw_value_map(t->map));
    } else if (element && t && t->origin == ELEMENT) {
        t->map = sw_map_new(r->arena);
        t->tables = sw_map_new(r->arena);
    } else if (element) {
        return sw_toml_fail_key(r, "Key '%.*s' was already created and cannot be used as an array.",
                                (int)path.len, path.s);
    } else if (t && t->origin == IMPLIED) {
        t->origin = HEADER;
    } else {
        return taken(r, parent, k);
    }
    if (element)
        sw_list_add(t->list, sw_value_map(t->map));
    r->current = t;
    r->context = t->path;
    return 0;
}

static int read_header(struct toml_reader *r)
{
    bool element = sw_toml_take(r, "[[");
    struct table *t = r->root;
    struct parts parts = { 0 };
    struct toml_key k = { 0 };
    if (!element)
        r->p++;
    int rc = read_name(r, &parts);
    if (rc == 0 && element && !sw_toml_take(r, "]"))
        rc = sw_toml_fail_rune(r, "expected end of table array name delimiter ']', but got ",
                               " instead");
    if (rc == 0) {
        assert(parts.n > 0);
        k = parts.items[parts.n - 1];
        rc = descend(r, &t, &parts, IMPLIED);
    }
    free(parts.items);
    return rc < 0 ? rc : add_header(r, t, k, element);
}

/* ---- values ---- */

static int read_array(struct toml_reader *r, struct sw_value *out)
{
    struct sw_list *list = sw_list_new(r->arena, 4);
    r->p++;
    for (sw_toml_skip_space(r); !sw_toml_take(r, "]"); sw_toml_skip_space(r)) {
        struct sw_value v = { 0 };
        if (sw_toml_at(r, ","))
            return sw_toml_fail(r, "unexpected comma");
        int rc = read_value(r, &v);
        if (rc < 0)
            return rc;
        sw_list_add(list, v);
        sw_toml_skip_space(r);
        if (!sw_toml_take(r, ",") && !sw_toml_at(r, "]"))
            return sw_toml_fail_rune_or_end(
                r, "expected a comma (',') or array terminator (']'), but got ", "");
    }
    *out = sw_value_list(list);
    return 0;
}

/* Blanks and a comment within an inline table, which is on one line. */
static int skip_inline(struct toml_reader *r)
{
    sw_toml_skip_blanks(r);
    sw_toml_skip_comment(r);
    return sw_toml_at_newline(r)
               ? sw_toml_fail_newline(r, "newlines not allowed within inline tables")
               : 0;
}

static int read_inline_table(struct toml_reader *r, struct sw_value *out)
{
    struct toml_key context = r->context, key = r->key;
    struct table *t = table_new(r, INLINE, path_of(r, context, key));
    r->context = t->path;
    r->key = (struct toml_key){ 0 };
    r->p++;
    int rc = skip_inline(r);
    bool more = rc == 0 && !sw_toml_take(r, "}");
    while (rc == 0 && more) {
        rc = skip_inline(r);
        if (rc == 0 && sw_toml_at(r, ","))
            rc = sw_toml_fail(r, "unexpected comma");
        if (rc == 0)
            rc = read_pair(r, t);
        if (rc == 0)
            rc = skip_inline(r);
        if (rc < 0)
            return rc;
        more = sw_toml_take(r, ",");
        if (!more && !sw_toml_take(r, "}"))
            return sw_toml_fail_rune_or_end(
                r, "expected a comma or an inline table terminator '}', but got ", " instead");
        if (more)
            sw_toml_skip_blanks(r);
        if (more && sw_toml_at(r, "}"))
            return sw_toml_fail(r, "trailing comma not allowed in inline tables");
    }
    if (rc < 0)
        return rc;
    r->context = context;
    r->key = key;
    *out = sw_value_map(t->map);
    return 0;
}

static int read_value(struct toml_reader *r, struct sw_value *out)
{
    struct toml_key s;
    int rc;
    if (r->depth >= SW_TOML_DEEPEST || !sw_stack_has_room())
        return sw_toml_fail(r, "nested too deeply");
    r->depth++;
    if (sw_toml_at(r, "\"") || sw_toml_at(r, "'")) {
        rc = sw_toml_string(r, &s);
        if (rc == 0)
            *out = sw_value_text(s.s, s.len);
    } else if (sw_toml_at(r, "[")) {
        rc = read_array(r, out);
    } else if (sw_toml_at(r, "{")) {
        rc = read_inline_table(r, out);
    } else {
        rc = sw_toml_word(r, out);
    }
    r->depth--;
    return rc;
}

/* The first character that TOML does not allow, or @end. */
static const char *find_end(const char *p, const char *end)
{
    while (p < end) {
        uint32_t rune;
        bool valid;
        const char *next = sw_utf8_decode(p, end, &rune, &valid) + p;
        bool is_control = (rune < 0x20 && rune != '\t' && rune != '\n' && rune != '\r') ||
                          rune == 0x7F || (rune == '\r' && !(next < end && *next == '\n'));
        if (!valid || is_control)
            return p;
        p = next;
    }
    return end;
}

int sw_value_read_toml(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err)
{
    if (memchr(text, '\0', len < 6 ? len : 6))
        return sw_err_set(err, SW_INVALID,
                          "toml: line 1: files cannot contain NULL bytes; probably using UTF-16; "
                          "TOML files must be UTF-8");
    struct toml_reader r = {
        .p = text, .start = text, .full_end = text + len, .arena = arena, .err = err
    };
    r.end = find_end(text, r.full_end);
    if (sw_toml_at(&r, "\xEF\xBB\xBF"))
        r.p += 3;
    int rc = 0;
    r.text.limit = 4 * len + 64;
    r.root = r.current = table_new(&r, HEADER, (struct toml_key){ "", 0 });
    for (sw_toml_skip_space(&r); rc == 0 && r.p < r.end; sw_toml_skip_space(&r)) {
        if (sw_arena_is_over(arena)) {
            rc = sw_toml_fail(&r, "too large");
            break;
        }
        rc = sw_toml_at(&r, "[") ? read_header(&r) : read_pair(&r, r.current);
        if (rc < 0)
            break;
        r.key = (struct toml_key){ 0 };
        sw_toml_skip_blanks(&r);
        sw_toml_skip_comment(&r);
        if (r.p < r.end && !sw_toml_at_newline(&r))
            rc = sw_toml_fail_rune(
                &r, "expected a top-level item to end with a newline, comment, or EOF, but got ",
                " instead");
    }
    if (rc == 0 && r.end < r.full_end)
        rc = sw_toml_fail(&r, "cut");
    free(r.text.p);
    *out = sw_value_map(r.root->map);
    return rc;
}
