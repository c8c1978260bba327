/* Reading TOML 1.0: tables, and values that have parts. */
#include <stdlib.h>
#include <string.h>

#include "data/utf8.h"
#include "template/toml_read.h"
#include "template/unicode.h"

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

static int read_value(struct toml_reader *r, struct sw_value *out);

/* ---- tables ---- */

static struct table *table_new(struct toml_reader *r, enum origin origin)
{
    struct table *t = sw_arena_alloc(r->arena, sizeof *t);
    *t = (struct table){ .origin = origin,
                         .map = sw_map_new(r->arena),
                         .tables = sw_map_new(r->arena) };
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

static int taken(struct toml_reader *r, struct toml_key k)
{
    return sw_toml_fail(r, "Key '%.*s' has already been defined.", (int)k.len, k.s);
}

static int read_key_part(struct toml_reader *r, struct toml_key *out)
{
    if (sw_toml_at(r, "\"\"\"") || sw_toml_at(r, "'''"))
        return sw_toml_unexpected(r, "a key on one line");
    if (sw_toml_at(r, "\"") || sw_toml_at(r, "'"))
        return sw_toml_string(r, out);
    const char *start = r->p;
    for (; r->p < r->end; r->p++) {
        char c = *r->p;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '_' || c == '-'))
            break;
    }
    *out = (struct toml_key){ start, (size_t)(r->p - start) };
    return out->len > 0 ? 0 : sw_toml_unexpected(r, "a key");
}

/* The table within @t that a key's part leads to on the way to its last. */
static int descend(struct toml_reader *r, struct table **t, struct toml_key k, enum origin origin)
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
static int read_key(struct toml_reader *r, struct table **t, struct toml_key *last,
                    enum origin origin)
{
    for (int depth = 0;; depth++) {
        sw_toml_skip_blanks(r);
        int rc = read_key_part(r, last);
        sw_toml_skip_blanks(r);
        if (rc < 0 || !sw_toml_take(r, "."))
            return rc;
        if (depth > SW_TOML_DEEPEST)
            return sw_toml_fail(r, "nested too deeply");
        rc = descend(r, t, *last, origin);
        if (rc < 0)
            return rc;
    }
}

/* "key = value" */
static int read_pair(struct toml_reader *r, struct table *t)
{
    struct toml_key k;
    struct sw_value v;
    int rc = read_key(r, &t, &k, DOTTED);
    if (rc < 0)
        return rc;
    if (!sw_toml_take(r, "="))
        return sw_toml_unexpected(r, "'=' after a key");
    if (sw_map_find(t->map, k.s, k.len))
        return taken(r, k);
    sw_toml_skip_blanks(r);
    rc = read_value(r, &v);
    if (rc == 0)
        sw_map_set(t->map, k.s, k.len, v);
    return rc;
}

static int add_header(struct toml_reader *r, struct table *parent, struct toml_key k)
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

static int add_element(struct toml_reader *r, struct table *parent, struct toml_key k)
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

static int read_header(struct toml_reader *r)
{
    bool element = sw_toml_take(r, "[[");
    struct table *t = r->root;
    struct toml_key k;
    if (!element)
        r->p++;
    int rc = read_key(r, &t, &k, IMPLIED);
    if (rc < 0)
        return rc;
    if (!sw_toml_take(r, element ? "]]" : "]"))
        return sw_toml_unexpected(r, element ? "']]' at the end of a table's name"
                                             : "']' at the end of a table's name");
    return element ? add_element(r, t, k) : add_header(r, t, k);
}

/* ---- values ---- */

static int read_array(struct toml_reader *r, struct sw_value *out)
{
    struct sw_list *list = sw_list_new(r->arena, 4);
    int rc;
    for (r->p++; (rc = sw_toml_skip_space(r)) == 0 && !sw_toml_take(r, "]");) {
        struct sw_value v;
        rc = read_value(r, &v);
        if (rc == 0)
            rc = sw_toml_skip_space(r);
        if (rc < 0)
            return rc;
        sw_list_add(list, v);
        if (!sw_toml_take(r, ",") && !sw_toml_at(r, "]"))
            return sw_toml_unexpected(r, "a comma or ']' after an array's value");
    }
    *out = sw_value_list(list);
    return rc;
}

static int read_inline_table(struct toml_reader *r, struct sw_value *out)
{
    struct table *t = table_new(r, INLINE);
    r->p++;
    sw_toml_skip_blanks(r);
    for (bool more = !sw_toml_take(r, "}"); more;) {
        int rc = read_pair(r, t);
        if (rc < 0)
            return rc;
        sw_toml_skip_blanks(r);
        more = sw_toml_take(r, ",");
        if (!more && !sw_toml_take(r, "}"))
            return sw_toml_unexpected(r, "a comma or '}' after an inline table's value");
    }
    *out = sw_value_map(t->map);
    return 0;
}

static int read_value(struct toml_reader *r, struct sw_value *out)
{
    struct toml_key s;
    int rc;
    if (r->depth >= SW_TOML_DEEPEST)
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

static int read_line(struct toml_reader *r)
{
    int rc = sw_toml_at(r, "[") ? read_header(r) : read_pair(r, r->current);
    if (rc < 0)
        return rc;
    sw_toml_skip_blanks(r);
    rc = sw_toml_skip_comment(r);
    if (rc == 0 && r->p < r->end && !sw_toml_at_newline(r))
        return sw_toml_unexpected(r, "the end of the line");
    return rc;
}

int sw_value_read_toml(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err)
{
    struct toml_reader r = {
        .p = text, .end = text + len, .start = text, .arena = arena, .err = err
    };
    int rc;
    if (!sw_utf8_valid(text, len))
        return sw_err_set(err, SW_INVALID, "toml: invalid UTF-8");
    r.text.limit = len + 1;
    r.root = r.current = table_new(&r, HEADER);
    while ((rc = sw_toml_skip_space(&r)) == 0 && r.p < r.end) {
        rc = read_line(&r);
        if (rc < 0)
            break;
    }
    free(r.text.p);
    *out = sw_value_map(r.root->map);
    return rc;
}
