/* A sink that builds a json-c tree. */
#include "data/json/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/number.h"

struct sw_json_builder {
    struct sw_sink sink;
    struct json_object *root;
    struct json_object **open; /* borrowed: each is in the one before it, the first is root */
    size_t n_open, cap_open;
    char *key; /* of the value to come */
    size_t key_cap;
};

static void attach(struct sw_json_builder *b, struct json_object *value)
{
    if (b->n_open == 0) {
        (void)json_object_put(b->root);
        b->root = value;
        return;
    }
    struct json_object *parent = b->open[b->n_open - 1];
    /* Out of memory is the only failure of both. */
    if (json_object_get_type(parent) == json_type_object)
        (void)json_object_object_add(parent, b->key, value);
    else
        (void)json_object_array_add(parent, value);
}

static int on_null(void *arg, SW_UNUSED struct sw_err *err)
{
    attach(arg, NULL);
    return 0;
}

static int on_boolean(void *arg, bool value, SW_UNUSED struct sw_err *err)
{
    attach(arg, json_object_new_boolean(value));
    return 0;
}

static int on_integer(void *arg, int64_t value, SW_UNUSED struct sw_err *err)
{
    attach(arg, json_object_new_int64(value));
    return 0;
}

static int on_natural(void *arg, uint64_t value, SW_UNUSED struct sw_err *err)
{
    attach(arg, json_object_new_uint64(value));
    return 0;
}

static int on_real(void *arg, double value, const char *text, size_t len_bytes,
                   SW_UNUSED struct sw_err *err)
{
    char shortest[SW_FLOAT_LEN];
    if (!text) {
        (void)sw_float_json(value, shortest);
        attach(arg, json_object_new_double_s(value, shortest));
        return 0;
    }
    SW_AUTO_CHARS *copy = sw_strndup(text, len_bytes);
    attach(arg, json_object_new_double_s(value, copy));
    return 0;
}

static int check_len(size_t len_bytes, struct sw_err *err)
{
    if (len_bytes < INT_MAX / 2) /* json-c counts in int */
        return 0;
    return sw_err_set(err, SW_INVALID, "a text of %zu bytes is too long", len_bytes);
}

static int on_string(void *arg, const char *text, size_t len_bytes, struct sw_err *err)
{
    int rc = check_len(len_bytes, err);
    if (rc == 0)
        attach(arg, json_object_new_string_len(text, (int)len_bytes));
    return rc;
}

static int on_key(void *arg, const char *text, size_t len_bytes, struct sw_err *err)
{
    struct sw_json_builder *b = arg;
    if (memchr(text, '\0', len_bytes)) /* json-c's keys end at a NUL */
        return sw_err_set(err, SW_INVALID, "a key holds a NUL");
    if (b->key_cap <= len_bytes) {
        b->key_cap = len_bytes * 2 + 64;
        b->key = sw_realloc(b->key, b->key_cap, 1);
    }
    memcpy(b->key, text, len_bytes);
    b->key[len_bytes] = '\0';
    return 0;
}

static void open_value(struct sw_json_builder *b, struct json_object *value)
{
    attach(b, value);
    SW_GROW(b->open, b->n_open, b->cap_open);
    b->open[b->n_open++] = value;
}

static int on_begin_map(void *arg, SW_UNUSED struct sw_err *err)
{
    open_value(arg, json_object_new_object());
    return 0;
}

static int on_begin_list(void *arg, SW_UNUSED struct sw_err *err)
{
    open_value(arg, json_object_new_array_ext(4));
    return 0;
}

static int on_end(void *arg, SW_UNUSED struct sw_err *err)
{
    struct sw_json_builder *b = arg;
    b->n_open--;
    return 0;
}

static const struct sw_sink_ops builder_ops = {
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

struct sw_json_builder *sw_json_builder_new(void)
{
    struct sw_json_builder *b = sw_zalloc(1, sizeof *b);
    b->sink = (struct sw_sink){ .ops = &builder_ops, .arg = b };
    return b;
}

void sw_json_builder_free(struct sw_json_builder *builder)
{
    if (!builder)
        return;
    (void)json_object_put(builder->root);
    free(builder->open);
    free(builder->key);
    free(builder);
}

const struct sw_sink *sw_json_builder_sink(struct sw_json_builder *builder)
{
    return &builder->sink;
}

struct json_object *sw_json_builder_take(struct sw_json_builder *builder)
{
    builder->n_open = 0;
    return SW_TAKE(builder->root);
}
