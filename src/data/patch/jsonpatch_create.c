/* RFC 6902, JSON patch: what turns one document into another. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/patch/merge.h"
#include "data/text/buffer.h"

struct diff {
    struct json_object *patch;
    struct sw_buffer path; /* of the values that are compared */
};

/* Append a token to the path. @return the length to go back to */
static size_t push(struct diff *d, const char *key)
{
    size_t before = d->path.len;
    sw_buffer_char(&d->path, '/');
    for (; *key; key++) {
        if (*key == '~')
            sw_buffer_put(&d->path, "~0", 2);
        else if (*key == '/')
            sw_buffer_put(&d->path, "~1", 2);
        else
            sw_buffer_char(&d->path, *key);
    }
    return before;
}

static size_t push_index(struct diff *d, size_t index)
{
    SW_AUTO_CHARS *text = sw_printf("%zu", index);
    return push(d, text);
}

/* @value: NULL for null; not used by remove */
static void emit(struct diff *d, const char *op, struct json_object *value)
{
    struct json_object *spec = json_object_new_object();
    (void)json_object_object_add(spec, "op", json_object_new_string(op));
    (void)json_object_object_add(spec, "path",
                                 json_object_new_string_len(d->path.text, (int)d->path.len));
    if (strcmp(op, "remove") != 0)
        (void)json_object_object_add(spec, "value", sw_json_copy(value));
    (void)json_object_array_add(d->patch, spec);
}

static void compare(struct diff *d, struct json_object *from, struct json_object *to);

static void compare_maps(struct diff *d, struct json_object *from, struct json_object *to)
{
    json_object_object_foreach(from, old_key, old)
    {
        struct json_object *now;
        size_t back = push(d, old_key);
        if (!json_object_object_get_ex(to, old_key, &now))
            emit(d, "remove", NULL);
        else
            compare(d, old, now);
        d->path.len = back;
    }
    json_object_object_foreach(to, key, value)
    {
        if (json_object_object_get_ex(from, key, NULL))
            continue;
        size_t back = push(d, key);
        emit(d, "add", value);
        d->path.len = back;
    }
}

/* What the lists have in common at their beginning and end is left alone; what is between is
 * compared pair by pair, then the rest removed from behind or added. */
static void compare_lists(struct diff *d, struct json_object *from, struct json_object *to)
{
    size_t n = sw_json_len(from), m = sw_json_len(to), least = n < m ? n : m, head = 0, tail = 0;
    while (head < least && sw_json_equal(sw_json_at(from, head), sw_json_at(to, head)))
        head++;
    while (tail < least - head &&
           sw_json_equal(sw_json_at(from, n - 1 - tail), sw_json_at(to, m - 1 - tail)))
        tail++;
    size_t common = least - tail;
    for (size_t i = head; i < common; i++) {
        size_t back = push_index(d, i);
        compare(d, sw_json_at(from, i), sw_json_at(to, i));
        d->path.len = back;
    }
    for (size_t i = n - tail; i > common; i--) {
        size_t back = push_index(d, i - 1);
        emit(d, "remove", NULL);
        d->path.len = back;
    }
    for (size_t i = common; i < m - tail; i++) {
        size_t back = push_index(d, i);
        emit(d, "add", sw_json_at(to, i));
        d->path.len = back;
    }
}

static void compare(struct diff *d, struct json_object *from, struct json_object *to)
{
    if (json_object_is_type(from, json_type_object) && json_object_is_type(to, json_type_object))
        compare_maps(d, from, to);
    else if (json_object_is_type(from, json_type_array) && json_object_is_type(to, json_type_array))
        compare_lists(d, from, to);
    else if (!sw_json_equal(from, to))
        emit(d, "replace", to);
}

struct json_object *sw_jsonpatch_create(struct json_object *from, struct json_object *to)
{
    struct diff d = { .patch = json_object_new_array() };
    sw_buffer_need(&d.path, 0);
    compare(&d, from, to);
    free(d.path.text);
    return d.patch;
}
