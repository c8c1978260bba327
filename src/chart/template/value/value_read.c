/* JSON and YAML text to values: a sink that builds them, numbers as float64. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/value/value_text.h"
#include "data/data.h"

struct level {
    struct sw_map *map; /* one of the two */
    struct sw_list *list;
    const char *key; /* of a map: that of the next value */
    size_t key_len;
};

struct builder {
    struct sw_arena *arena;
    struct level *levels;
    size_t n, cap;
    struct sw_value done;
};

static int check_room(const struct builder *b, struct sw_err *err)
{
    if (!sw_arena_is_over(b->arena))
        return 0;
    return sw_err_set(err, SW_INVALID, "the values take more memory than they may");
}

static int put(struct builder *b, struct sw_value v, struct sw_err *err)
{
    struct level *top = b->n ? &b->levels[b->n - 1] : NULL;
    if (!top)
        b->done = v;
    else if (top->map)
        sw_map_set_borrowed(top->map, top->key, top->key_len, v);
    else
        sw_list_add(top->list, v);
    return check_room(b, err);
}

static int on_null(void *arg, struct sw_err *err)
{
    return put(arg, sw_value_nil(), err);
}

static int on_boolean(void *arg, bool value, struct sw_err *err)
{
    return put(arg, sw_value_bool(value), err);
}

static int on_integer(void *arg, int64_t value, struct sw_err *err)
{
    return put(arg, sw_value_float((double)value), err);
}

static int on_natural(void *arg, uint64_t value, struct sw_err *err)
{
    return put(arg, sw_value_float((double)value), err);
}

static int on_real(void *arg, double value, SW_UNUSED const char *text, SW_UNUSED size_t len,
                   struct sw_err *err)
{
    return put(arg, sw_value_float(value), err);
}

static int on_string(void *arg, const char *text, size_t len, struct sw_err *err)
{
    struct builder *b = arg;
    return put(b, sw_value_str(b->arena, text, len), err);
}

static int on_begin_map(void *arg, SW_UNUSED struct sw_err *err)
{
    struct builder *b = arg;
    SW_GROW(b->levels, b->n, b->cap);
    b->levels[b->n++] = (struct level){ .map = sw_map_new(b->arena) };
    return 0;
}

static int on_key(void *arg, const char *text, size_t len, struct sw_err *err)
{
    struct builder *b = arg;
    struct level *top = &b->levels[b->n - 1];
    struct sw_value copy = sw_value_str(b->arena, text, len);
    top->key = copy.as.s;
    top->key_len = copy.len;
    return check_room(b, err);
}

static int on_begin_list(void *arg, SW_UNUSED struct sw_err *err)
{
    struct builder *b = arg;
    SW_GROW(b->levels, b->n, b->cap);
    b->levels[b->n++] = (struct level){ .list = sw_list_new(b->arena, 0) };
    return 0;
}

/* Of a map or a list. */
static int on_end(void *arg, struct sw_err *err)
{
    struct builder *b = arg;
    struct level done = b->levels[--b->n];
    return put(b, done.map ? sw_value_map(done.map) : sw_value_list(done.list), err);
}

static const struct sw_sink_ops ops = {
    .null = on_null,
    .boolean = on_boolean,
    .integer = on_integer,
    .natural = on_natural,
    .real = on_real,
    .string = on_string,
    .begin_map = on_begin_map,
    .key = on_key,
    .end_map = on_end,
    .begin_list = on_begin_list,
    .end_list = on_end,
};

int sw_value_read_yaml(struct sw_arena *arena, const char *text, size_t len,
                       const struct sw_yaml_opts *opts, struct sw_value *out, struct sw_err *err)
{
    struct builder b = { .arena = arena, .done = sw_value_nil() };
    int rc = sw_yaml_read(text, len, opts, &(struct sw_sink){ &ops, &b }, err);
    free(b.levels);
    if (rc == 0)
        *out = b.done;
    return rc;
}

int sw_value_from_json_text(struct sw_arena *arena, const char *name, const char *text, size_t len,
                            struct sw_value *out, struct sw_err *err)
{
    struct builder b = { .arena = arena, .done = sw_value_nil() };
    const struct sw_json_opts opts = { .file = name };
    const int rc = sw_json_read(text, len, &opts, &(struct sw_sink){ &ops, &b }, err);
    free(b.levels);
    if (rc == 0)
        *out = b.done;
    return rc;
}

int sw_value_read_json(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err)
{
    const int rc = sw_value_from_json_text(arena, NULL, text, len, out, err);
    if (rc == 0)
        return 0;
    struct text message = { .limit = 1 << 12 };
    if (sw_json_go_error(text, len, &message))
        sw_err_set(err, rc, "%.*s", (int)message.len, message.p);
    free(message.p);
    return rc;
}

int sw_value_from_yaml(struct sw_arena *arena, const char *name, const char *text, size_t len,
                       struct sw_value *out, struct sw_err *err)
{
    const struct sw_yaml_opts opts = { .file = name, .max_bytes = 64 << 20 };
    size_t most = sw_arena_used(arena) + SW_VALUES_BYTES;
    size_t old = sw_arena_limit(arena, most);
    if (old < most)
        sw_arena_limit(arena, old);
    int rc = sw_value_read_yaml(arena, text, len, &opts, out, err);
    sw_arena_limit(arena, old);
    return rc;
}
