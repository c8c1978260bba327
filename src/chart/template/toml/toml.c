#include "chart/template/toml/toml.h"

#include <assert.h>
#include <math.h>

#include "chart/template/value/object.h"
#include "data/go/gotime.h"
#include "data/text/number.h"

/* Writing. A map's plain values come first, its tables after them, each sorted; tables are indented
 * by their depth; a list of nothing but maps is an array of tables. */

enum { DEEPEST = 200 };

struct key {
    const struct key *parent;
    const char *name;
    size_t len;
    int depth; /* 1 at the top */
};

struct writer {
    struct text *out;
    size_t start; /* of this document in the buffer */
    struct sw_err *err;
};

static int write_element(struct writer *w, struct sw_value v, int depth);
static int write_node(struct writer *w, const struct key *key, struct sw_value v);

static int fail(struct writer *w, const char *what)
{
    return sw_err_set(w->err, SW_INVALID, "toml: %s", what);
}

static void newline(struct writer *w)
{
    if (w->out->len > w->start)
        sw_text_char(w->out, '\n');
}

bool sw_toml_is_bare(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
            s[i] != '_' && s[i] != '-')
            return false;
    }
    return len > 0;
}

static void put_quoted(struct text *out, const char *s, size_t len)
{
    static const char plain[] = "\"\\\b\t\n\f\r", names[] = "\"\\btnfr";
    sw_text_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        const char *p = c ? strchr(plain, c) : NULL;
        if (p)
            sw_text_printf(out, "\\%c", names[p - plain]);
        else if (c < 0x20 || c == 0x7F)
            sw_text_printf(out, "\\u%04x", c);
        else
            sw_text_char(out, (char)c);
    }
    sw_text_char(out, '"');
}

static void put_key(struct writer *w, const struct key *k)
{
    if (sw_toml_is_bare(k->name, k->len))
        sw_text_put(w->out, k->name, k->len);
    else
        put_quoted(w->out, k->name, k->len);
}

static void put_path(struct writer *w, const struct key *k)
{
    if (k->parent) {
        put_path(w, k->parent);
        sw_text_char(w->out, '.');
    }
    put_key(w, k);
}

static void put_indent(struct writer *w, const struct key *k)
{
    sw_text_fill(w->out, ' ', (size_t)(k->depth - 1) * 2);
}

/* "[a.b]", on a line of its own. */
static void put_header(struct writer *w, const struct key *k, const char *open, const char *close)
{
    put_indent(w, k);
    sw_text_puts(w->out, open);
    put_path(w, k);
    sw_text_puts(w->out, close);
    newline(w);
}

/* A value that is a table of its own: a map, or a struct that has no text of its own. */
static bool is_table(struct sw_value v)
{
    if (v.type == SW_T_OBJECT)
        return !v.as.object->type->json ||
               (v.as.object->type->n_fields > 0 && sw_field_is_exported(v.as.object->type->fields));
    return sw_kind(v) == SW_K_MAP && v.as.map;
}

/* @*tables: all elements are tables. TOML has no form for nil elements. */
static int check_list(struct writer *w, struct sw_value v, bool *tables, int depth)
{
    size_t n = sw_value_len(v);
    *tables = n > 0;
    if (depth > DEEPEST || !sw_stack_has_room())
        return fail(w, "nested too deeply");
    for (size_t i = 0; i < n; i++) {
        struct sw_value elem = sw_value_at(v, i);
        bool ignored;
        if (sw_value_is_any_nil(elem))
            return fail(w, "cannot encode array with nil element");
        if (sw_kind(elem) == SW_K_SLICE) {
            int rc = check_list(w, elem, &ignored, depth + 1);
            if (rc < 0)
                return rc;
        }
        *tables = *tables && is_table(elem);
    }
    return 0;
}

/* The entries of a table that are (@tables) or are not tables, in order. */
struct entries {
    struct sw_value table;
    size_t i;
    bool tables;
};

static bool is_written_as_table(struct sw_value v)
{
    if (sw_kind(v) != SW_K_SLICE || v.type == SW_T_BYTES)
        return is_table(v);
    for (size_t i = 0; i < sw_value_len(v); i++) {
        if (!is_table(sw_value_at(v, i)))
            return false;
    }
    return sw_value_len(v) > 0;
}

static bool next_entry(struct entries *e, struct key *key, struct sw_value *v)
{
    for (;; e->i++) {
        if (e->table.type == SW_T_OBJECT) {
            const struct sw_object *o = e->table.as.object;
            if (e->i >= o->type->n_fields)
                return false;
            key->name = o->type->fields[e->i].name;
            key->len = strlen(key->name);
            *v = o->fields[e->i];
        } else {
            if (e->i >= sw_value_len(e->table))
                return false;
            const struct sw_entry *entry = &sw_map_sorted(e->table.as.map)[e->i];
            key->name = entry->key;
            key->len = entry->key_len;
            *v = entry->value;
        }
        if (is_written_as_table(*v) == e->tables) {
            e->i++;
            return true;
        }
    }
}

static size_t count_entries(struct sw_value table, bool tables)
{
    struct entries e = { .table = table, .tables = tables };
    struct key key;
    struct sw_value v;
    size_t n = 0;
    while (next_entry(&e, &key, &v))
        n++;
    return n;
}

/* "{a = 1, b = 2}"; the comma of a nil entry is written, as by BurntSushi/toml. */
static int write_inline(struct writer *w, struct sw_value table, int depth)
{
    size_t n[2] = { count_entries(table, false), count_entries(table, true) };
    sw_text_char(w->out, '{');
    for (int pass = 0; pass < 2; pass++) {
        struct entries e = { .table = table, .tables = pass };
        struct key key = { .depth = 1 };
        struct sw_value v;
        for (size_t i = 0; next_entry(&e, &key, &v); i++) {
            if (sw_value_is_any_nil(v))
                continue;
            put_key(w, &key);
            sw_text_puts(w->out, " = ");
            int rc = write_element(w, v, depth + 1);
            if (rc < 0)
                return rc;
            if (i + 1 < n[pass] || (pass == 0 && n[1] > 0))
                sw_text_puts(w->out, ", ");
        }
    }
    sw_text_char(w->out, '}');
    return 0;
}

const struct sw_toml_time sw_toml_times[] = {
    { "2006-01-02T15:04:05.999999999Z07:00", NULL },
    { "2006-01-02T15:04:05.999999999", "datetime-local" },
    { "2006-01-02", "date-local" },
    { "15:04:05.999999999", "time-local" },
    { NULL, NULL },
};

/* A struct that is no table: a time, or what has a text in JSON. */
static void write_struct_text(struct writer *w, const struct sw_object *o)
{
    SW_AUTO(sw_arena) *arena = NULL;
    if (strcmp(o->type->name, "time.Time") == 0) {
        const struct sw_gotime *t = o->data;
        const struct sw_toml_time *form = sw_toml_times;
        const char *zone;
        (void)sw_zone_offset(t->zone, t->sec, &zone);
        while (form->layout && (!form->zone || strcmp(form->zone, zone) != 0))
            form++;
        const char *layout = form->layout ? form->layout : sw_toml_times->layout;
        assert(layout); /* the first row has one */
        sw_gotime_format(w->out, *t, layout, strlen(layout));
        return;
    }
    arena = sw_arena_new();
    struct sw_value json = o->type->json(o, arena);
    put_quoted(w->out, json.as.s, json.len);
}

static int write_element(struct writer *w, struct sw_value v, int depth)
{
    if (depth > DEEPEST || w->out->over || !sw_stack_has_room()) {
        w->out->over = true;
        return fail(w, "nested too deeply or too large");
    }
    char buf[SW_FLOAT_LEN];
    size_t n;
    switch (sw_kind(v)) {
    case SW_K_STRING:
        put_quoted(w->out, v.as.s, v.len);
        return 0;
    case SW_K_BOOL:
        sw_text_puts(w->out, v.as.b ? "true" : "false");
        return 0;
    case SW_K_INT:
        sw_text_printf(w->out, "%lld", (long long)v.as.i);
        return 0;
    case SW_K_UINT:
        sw_text_printf(w->out, "%llu", (unsigned long long)v.as.u);
        return 0;
    case SW_K_FLOAT:
        n = sw_float_go(v.as.f, 'g', 64, buf);
        if (!isfinite(v.as.f))
            sw_text_printf(w->out, "%s%s", signbit(v.as.f) ? "-" : "",
                           isnan(v.as.f) ? "nan" : "inf");
        else
            sw_text_printf(w->out, "%s%s", buf,
                           memchr(buf, '.', n) || memchr(buf, 'e', n) ? "" : ".0");
        return 0;
    case SW_K_SLICE:
        sw_text_char(w->out, '[');
        for (size_t i = 0; i < sw_value_len(v); i++) {
            if (i > 0)
                sw_text_puts(w->out, ", ");
            int rc = write_element(w, sw_value_at(v, i), depth + 1);
            if (rc < 0)
                return rc;
        }
        sw_text_char(w->out, ']');
        return 0;
    case SW_K_MAP:
        return write_inline(w, v, depth);
    case SW_K_STRUCT:
        if (v.type != SW_T_OBJECT)
            break;
        if (is_table(v))
            return write_inline(w, v, depth);
        write_struct_text(w, v.as.object);
        return 0;
    default:
        break;
    }
    return sw_err_set(w->err, SW_INVALID, "unexpected type: %s", sw_value_type_name(v));
}

static int write_entries(struct writer *w, const struct key *parent, struct sw_value table)
{
    for (int pass = 0; pass < 2; pass++) {
        struct entries e = { .table = table, .tables = pass };
        struct key key = { .parent = parent, .depth = parent ? parent->depth + 1 : 1 };
        struct sw_value v;
        while (next_entry(&e, &key, &v)) {
            int rc = sw_value_is_any_nil(v) ? 0 : write_node(w, &key, v);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static int write_node(struct writer *w, const struct key *key, struct sw_value v)
{
    bool tables = false;
    if ((key && key->depth > DEEPEST) || w->out->over || !sw_stack_has_room()) {
        w->out->over = true;
        return fail(w, "nested too deeply or too large");
    }
    if (is_table(v)) {
        if (key && key->depth == 1)
            newline(w);
        if (key)
            put_header(w, key, "[", "]");
        return write_entries(w, key, v);
    }
    int rc = sw_kind(v) == SW_K_SLICE ? check_list(w, v, &tables, 0) : 0;
    if (rc < 0)
        return rc;
    if (!key)
        return tables ? fail(w, "top-level values must be Go maps or structs")
                      : write_element(w, v, 0);
    for (size_t i = 0; tables && i < sw_value_len(v) && rc == 0; i++) {
        newline(w);
        put_header(w, key, "[[", "]]");
        rc = write_entries(w, key, sw_value_at(v, i));
    }
    if (tables)
        return rc;
    put_indent(w, key);
    put_key(w, key);
    sw_text_puts(w->out, " = ");
    rc = write_element(w, v, key->depth);
    newline(w);
    return rc;
}

int sw_value_write_toml(struct text *out, struct sw_value v, struct sw_err *err)
{
    struct writer w = { out, out->len, err };
    if (sw_kind(v) == SW_K_MAP && !v.as.map)
        return 0;
    return write_node(&w, NULL, v);
}
