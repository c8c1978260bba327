/* Values to JSON and YAML text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/value/object.h"
#include "chart/template/value/value_text.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/unicode.h"

void sw_text_base64(struct text *out, const char *s, size_t len)
{
    size_t n = sw_base64_len(len);
    if (out->cap - out->len <= n && !sw_text_grow(out, n))
        return;
    sw_base64_write(out->p + out->len, s, len);
    out->len += n;
}

/* The deepest nesting that is written. */
enum { DEEPEST = 1000 };

/* ---- structs ---- */

static void add_fields(struct sw_arena *arena, struct sw_map *map, const struct sw_object *o)
{
    for (size_t i = 0; i < o->type->n_fields; i++) {
        const struct sw_field *f = &o->type->fields[i];
        if (f->embedded)
            add_fields(arena, map, o->fields[i].as.object);
        else if (f->json && !(f->omit_empty && sw_value_is_empty(o->fields[i])))
            sw_map_set_borrowed(map, f->json, strlen(f->json), o->fields[i]);
    }
}

struct sw_value sw_value_jsonable(struct sw_arena *arena, struct sw_value v)
{
    if (v.type == SW_T_BYTES && v.as.s) {
        struct text t = { .limit = SIZE_MAX / 4 };
        sw_text_base64(&t, v.as.s, v.len);
        return sw_value_cstr(sw_text_end(&t, arena));
    }
    if (v.type == SW_T_ERROR)
        return sw_value_map(sw_map_new(arena));
    if (v.type != SW_T_OBJECT)
        return v;
    const struct sw_object *o = v.as.object;
    if (o->type->json)
        return o->type->json(o, arena);
    struct sw_map *map = sw_map_new(arena);
    add_fields(arena, map, o);
    return sw_value_map(map);
}

/* ---- JSON ---- */

static int write_json(struct text *out, struct sw_value v, unsigned style, int depth,
                      struct sw_err *err);

static void write_json_string(struct text *out, const char *s, size_t len, unsigned style)
{
    static const char letters[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
    bool html = style & SW_VALUE_JSON_HTML;
    sw_text_char(out, '"');
    for (size_t i = 0, w; i < len; i += w) {
        size_t plain = i;
        for (; plain < len; plain++) { /* most strings need no escape */
            unsigned char c = (unsigned char)s[plain];
            if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\' ||
                (html && (c == '<' || c == '>' || c == '&')))
                break;
        }
        sw_text_put(out, s + i, plain - i);
        i = plain;
        uint32_t r;
        w = sw_rune_decode(s + i, len - i, &r);
        if (w == 0)
            break;
        const char *letter = r && r < 0x80 ? strchr(letters, (int)r) : NULL;
        if (letter)
            sw_text_printf(out, "\\%c", names[letter - letters]);
        else if (r < 0x20 || (html && (r == '<' || r == '>' || r == '&')) || r == 0x2028 ||
                 r == 0x2029)
            sw_text_printf(out, "\\u%04x", r);
        else if (r == SW_RUNE_ERROR && w == 1)
            sw_text_puts(out, "\\ufffd");
        else
            sw_text_put(out, s + i, w);
    }
    sw_text_char(out, '"');
}

static void json_newline(struct text *out, unsigned style, int depth)
{
    if (style & SW_VALUE_JSON_PRETTY) {
        sw_text_char(out, '\n');
        sw_text_fill(out, ' ', (size_t)depth * 2);
    }
}

/* One entry of a map, or with @key NULL one element of a list. */
static int write_json_item(struct text *out, const char *key, size_t len, struct sw_value v,
                           bool first, unsigned style, int depth, struct sw_err *err)
{
    if (!first)
        sw_text_char(out, ',');
    json_newline(out, style, depth + 1);
    if (key) {
        write_json_string(out, key, len, style);
        sw_text_puts(out, style & SW_VALUE_JSON_PRETTY ? ": " : ":");
    }
    return write_json(out, v, style, depth + 1, err);
}

/* A list or a map. */
static int write_json_items(struct text *out, struct sw_value v, unsigned style, int depth,
                            struct sw_err *err)
{
    size_t n = sw_value_len(v);
    bool is_map = sw_value_is_map(v);
    const struct sw_entry *e = is_map ? sw_map_sorted(v.as.map) : NULL;
    int rc = 0;
    if (sw_value_is_nil_ref(v)) {
        sw_text_puts(out, "null");
        return 0;
    }
    sw_text_char(out, is_map ? '{' : '[');
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = write_json_item(out, e ? e[i].key : NULL, e ? e[i].key_len : 0,
                             e ? e[i].value : sw_value_at(v, i), i == 0, style, depth, err);
    if (n > 0)
        json_newline(out, style, depth);
    sw_text_char(out, is_map ? '}' : ']');
    return rc;
}

/* The fields in their order. @n: the number of fields written so far */
static int write_json_fields(struct text *out, const struct sw_object *o, size_t *n, unsigned style,
                             int depth, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < o->type->n_fields && rc == 0; i++) {
        const struct sw_field *f = &o->type->fields[i];
        if (f->embedded)
            rc = write_json_fields(out, o->fields[i].as.object, n, style, depth, err);
        else if (f->json && !(f->omit_empty && sw_value_is_empty(o->fields[i])))
            rc = write_json_item(out, f->json, strlen(f->json), o->fields[i], (*n)++ == 0, style,
                                 depth, err);
    }
    return rc;
}

static int write_json(struct text *out, struct sw_value v, unsigned style, int depth,
                      struct sw_err *err)
{
    char buf[SW_FLOAT_LEN];
    size_t n = 0;
    int rc = 0;
    if (depth > DEEPEST || out->over || !sw_stack_has_room()) {
        out->over = true;
        return sw_err_set(err, SW_INVALID, "json: nested too deeply or too large");
    }
    switch (sw_kind(v)) {
    case SW_K_INVALID:
        sw_text_puts(out, "null");
        return 0;
    case SW_K_BOOL:
        sw_text_puts(out, v.as.b ? "true" : "false");
        return 0;
    case SW_K_INT:
        sw_text_printf(out, "%lld", (long long)v.as.i);
        return 0;
    case SW_K_UINT:
        sw_text_printf(out, "%llu", (unsigned long long)v.as.u);
        return 0;
    case SW_K_FLOAT:
        if (!isfinite(v.as.f)) {
            (void)sw_float_go(v.as.f, 'g', 64, buf);
            return sw_err_set(err, SW_INVALID, "json: unsupported value: %s", buf);
        }
        sw_text_put(out, buf, sw_float_json(v.as.f, buf));
        return 0;
    case SW_K_COMPLEX:
        return sw_err_set(err, SW_INVALID, "json: unsupported type: complex128");
    case SW_K_STRING:
        write_json_string(out, v.as.s, v.len, style);
        return 0;
    case SW_K_SLICE:
        if (v.type != SW_T_BYTES || !v.as.s)
            return write_json_items(out, v, style, depth, err);
        sw_text_char(out, '"');
        sw_text_base64(out, v.as.s, v.len);
        sw_text_char(out, '"');
        return 0;
    case SW_K_MAP:
        return write_json_items(out, v, style, depth, err);
    case SW_K_STRUCT:
        if (v.type == SW_T_OBJECT && v.as.object->type->json) {
            SW_AUTO(sw_arena) *arena = sw_arena_new();
            return write_json(out, v.as.object->type->json(v.as.object, arena), style, depth, err);
        }
        sw_text_char(out, '{');
        if (v.type == SW_T_OBJECT)
            rc = write_json_fields(out, v.as.object, &n, style, depth, err);
        if (n > 0)
            json_newline(out, style, depth);
        sw_text_char(out, '}');
        return rc;
    }
    return 0;
}

int sw_value_write_json(struct text *out, struct sw_value v, unsigned style, struct sw_err *err)
{
    return write_json(out, v, style, 0, err);
}

/* ---- YAML ---- */

struct yaml_walk {
    const struct sw_sink *sink;
    size_t left; /* bytes that may still be written, roughly */
    struct sw_arena *arena;
    struct sw_err *err;
};

static int walk_yaml(struct yaml_walk *w, struct sw_value v, int depth);

static int by_yaml_key(const void *a, const void *b)
{
    const struct sw_entry *x = *(const struct sw_entry *const *)a;
    const struct sw_entry *y = *(const struct sw_entry *const *)b;
    return sw_yaml_key_cmp(x->key, x->key_len, y->key, y->key_len);
}

/* yaml.v2's order is close to the order of bytes: few entries move. */
static const struct sw_entry **yaml_order(const struct yaml_walk *w, struct sw_map *map)
{
    enum { FEW = 64 };
    size_t n = sw_map_count(map);
    const struct sw_entry *e = sw_map_sorted(map);
    const struct sw_entry **order = sw_arena_alloc(w->arena, n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = &e[i];
    if (n > FEW) {
        qsort(order, n, sizeof *order, by_yaml_key);
        return order;
    }
    for (size_t i = 1; i < n; i++) {
        const struct sw_entry *moving = order[i];
        size_t to = i;
        for (; to > 0 && by_yaml_key(&moving, &order[to - 1]) < 0; to--)
            order[to] = order[to - 1];
        order[to] = moving;
    }
    return order;
}

/* encoding/json makes each invalid byte U+FFFD on the way. */
static int walk_yaml_string(struct yaml_walk *w, const char *s, size_t len,
                            int (*event)(void *, const char *, size_t, struct sw_err *))
{
    if (len > w->left)
        return sw_err_set(w->err, SW_INVALID, "too large");
    w->left -= len;
    if (sw_utf8_valid(s, len))
        return event(w->sink->arg, s, len, w->err);
    size_t n;
    SW_AUTO_CHARS *mended = sw_utf8_mend(s, len, &n);
    return event(w->sink->arg, mended, n, w->err);
}

static int walk_yaml(struct yaml_walk *w, struct sw_value v, int depth)
{
    const struct sw_sink_ops *ops = w->sink->ops;
    void *arg = w->sink->arg;
    const struct sw_entry **order;
    int rc;
    if (depth > DEEPEST || w->left == 0 || !sw_stack_has_room()) {
        w->left = 0;
        return sw_err_set(w->err, SW_INVALID, "nested too deeply or too large");
    }
    w->left--;
    if (v.type == SW_T_BYTES || sw_kind(v) == SW_K_STRUCT)
        v = sw_value_jsonable(w->arena, v);
    if (sw_value_is_nil_ref(v))
        return ops->null(arg, w->err);
    switch (sw_kind(v)) {
    case SW_K_INVALID:
        return ops->null(arg, w->err);
    case SW_K_BOOL:
        return ops->boolean(arg, v.as.b, w->err);
    case SW_K_INT:
        return ops->integer(arg, v.as.i, w->err);
    case SW_K_UINT:
        if (v.as.u > INT64_MAX)
            return ops->natural(arg, v.as.u, w->err);
        return ops->integer(arg, v.as.i, w->err);
    case SW_K_FLOAT:
        if (!isfinite(v.as.f))
            return sw_err_set(w->err, SW_INVALID, "json: unsupported value");
        return ops->real(arg, v.as.f, NULL, 0, w->err);
    case SW_K_STRING:
        return walk_yaml_string(w, v.as.s, v.len, ops->string);
    case SW_K_SLICE:
        rc = ops->begin_list(arg, w->err);
        for (size_t i = 0; i < sw_value_len(v) && rc == 0; i++)
            rc = walk_yaml(w, sw_value_at(v, i), depth + 1);
        return rc < 0 ? rc : ops->end_list(arg, w->err);
    case SW_K_MAP:
        order = yaml_order(w, v.as.map);
        rc = ops->begin_map(arg, w->err);
        for (size_t i = 0; i < sw_map_count(v.as.map) && rc == 0; i++) {
            rc = walk_yaml_string(w, order[i]->key, order[i]->key_len, ops->key);
            if (rc == 0)
                rc = walk_yaml(w, order[i]->value, depth + 1);
        }
        return rc < 0 ? rc : ops->end_map(arg, w->err);
    default:
        return sw_err_set(w->err, SW_INVALID, "json: unsupported type: %s", sw_value_type_name(v));
    }
}

int sw_value_write_yaml(struct text *out, struct sw_value v, bool pretty, struct sw_arena *arena,
                        struct sw_err *err)
{
    size_t room = out->limit - out->len;
    const struct sw_yaml_writer_opts opts = { .as_marshal = !pretty,
                                              .pretty = pretty,
                                              .max_bytes = room };
    SW_AUTO(sw_yaml_writer) *writer = sw_yaml_writer_new(&opts);
    struct yaml_walk w = { sw_yaml_writer_sink(writer), room, arena, err };
    size_t len;
    int rc = walk_yaml(&w, v, 0);
    out->over = out->over || w.left == 0;
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *s = sw_yaml_writer_take(writer, &len);
    sw_text_put(out, s, len);
    return 0;
}
