#include "recipe/schema_tree.h"

#include <string.h>

#include "data/json.h"

enum { MAX_DEPTH = 256 };

/* A map or list being read. */
struct level {
    struct sw_value value;
    const char *key; /* of what comes next; NULL in a list */
    size_t key_len;
    bool skip; /* what comes next is for people only */
};

struct builder {
    struct sw_arena *arena;
    struct sw_value root;
    struct level levels[MAX_DEPTH + 1];
    size_t depth;    /* levels that are open */
    size_t skipping; /* containers open in what is left out */
};

static bool for_people(const char *key, size_t len)
{
    static const char *const words[] = { "description", "title", "$comment", "examples",
                                         "markdownDescription" };
    for (size_t i = 0; i < SW_COUNT(words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], key, len) == 0)
            return true;
    return false;
}

/* @return whether it is left out */
static bool is_skipped(const struct builder *b)
{
    return b->skipping > 0 || (b->depth > 0 && b->levels[b->depth - 1].skip);
}

static int put(struct builder *b, struct sw_value v)
{
    struct level *top = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (is_skipped(b))
        return 0;
    if (!top)
        b->root = v;
    else if (top->key)
        sw_map_set_borrowed(top->value.as.map, top->key, top->key_len, v);
    else
        sw_list_add(top->value.as.list, v);
    return 0;
}

static int open_level(struct builder *b, bool is_map)
{
    if (is_skipped(b)) {
        b->skipping++;
        return 0;
    }
    struct sw_value v = is_map ? sw_value_map(sw_map_new(b->arena))
                               : sw_value_list(sw_list_new(b->arena, 0));
    (void)put(b, v); /* it is not skipped: that was asked above */
    b->levels[b->depth++] = (struct level){ .value = v };
    return 0;
}

static int close_level(struct builder *b)
{
    if (b->skipping)
        b->skipping--;
    else
        b->depth--;
    return 0;
}

static int on_null(void *arg, SW_UNUSED struct sw_err *err)
{
    return put(arg, sw_value_nil());
}

static int on_boolean(void *arg, bool value, SW_UNUSED struct sw_err *err)
{
    return put(arg, sw_value_bool(value));
}

static int on_integer(void *arg, int64_t value, SW_UNUSED struct sw_err *err)
{
    return put(arg, sw_value_float((double)value));
}

static int on_natural(void *arg, uint64_t value, SW_UNUSED struct sw_err *err)
{
    return put(arg, sw_value_float((double)value));
}

static int on_real(void *arg, double value, SW_UNUSED const char *text, SW_UNUSED size_t len,
                   SW_UNUSED struct sw_err *err)
{
    return put(arg, sw_value_float(value));
}

static int on_string(void *arg, const char *text, size_t len, SW_UNUSED struct sw_err *err)
{
    struct builder *b = arg;
    return is_skipped(b) ? 0 : put(b, sw_value_str(b->arena, text, len));
}

static int on_begin_map(void *arg, SW_UNUSED struct sw_err *err)
{
    return open_level(arg, true);
}

static int on_begin_list(void *arg, SW_UNUSED struct sw_err *err)
{
    return open_level(arg, false);
}

static int on_end(void *arg, SW_UNUSED struct sw_err *err)
{
    return close_level(arg);
}

/* "properties": { "title": {...} } is not for people: only a schema's own keywords are. */
static bool names_properties(const struct builder *b)
{
    static const char *const words[] = { "properties", "patternProperties", "definitions",
                                         "$defs",      "dependencies",      "dependentRequired" };
    const struct level *up = b->depth > 1 ? &b->levels[b->depth - 2] : NULL;
    for (size_t i = 0; up && up->key && i < SW_COUNT(words); i++)
        if (strlen(words[i]) == up->key_len && memcmp(words[i], up->key, up->key_len) == 0)
            return true;
    return false;
}

static int on_key(void *arg, const char *text, size_t len, SW_UNUSED struct sw_err *err)
{
    struct builder *b = arg;
    if (b->skipping)
        return 0;
    struct level *top = &b->levels[b->depth - 1];
    top->skip = for_people(text, len) && !names_properties(b);
    top->key = top->skip ? "" : sw_arena_strndup(b->arena, text, len);
    top->key_len = len;
    return 0;
}

int sw_schema_tree(struct sw_arena *arena, const char *name, const char *text, size_t len,
                   struct sw_value *out, struct sw_err *err)
{
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
    struct builder *b = sw_arena_alloc(arena, sizeof *b);
    b->arena = arena;
    struct sw_json_opts opts = { .file = name, .max_depth = MAX_DEPTH };
    int rc = sw_json_read(text, len, &opts, &(struct sw_sink){ &ops, b }, err);
    if (rc == 0)
        *out = b->root;
    return rc;
}
