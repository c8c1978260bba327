#include "slicing/scheduler/extender_args.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

enum { KEPT_NAMES = 16 * 1024 /* more are given back after the request */ };

/* ---- names in place ----------------------------------------------------------------------------
 * This scan finds where values end. It does not check them: the parser reads all of the text but
 * the list, and also the list where it is unusual.
 */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* @at: behind the opening quote. @return behind the closing one, or NULL */
static const char *skip_string(const char *at, const char *end)
{
    for (; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

/* @return behind the value, or NULL */
static const char *skip_value(const char *at, const char *end)
{
    int depth = 0;
    while (at && at < end) {
        const char c = *at;
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return at;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at = c == '"' ? skip_string(at + 1, end) : at + 1;
    }
    return NULL;
}

static void add_name(struct extender_args *q, const char *text, size_t len)
{
    SW_GROW(q->names, q->n_names, q->cap);
    q->names[q->n_names++] = (struct name){ text, len };
}

/* Read names of ASCII without escapes. @at: behind '['. @return behind ']', or NULL */
static const char *read_list(struct extender_args *q, const char *at, const char *end)
{
    at = skip_space(at, end);
    if (at < end && *at == ']')
        return at + 1;
    while (at < end && *at == '"') {
        const char *text = ++at;
        for (; at < end && *at != '"'; at++) {
            const unsigned char c = (unsigned char)*at;
            if (c < 0x20 || c >= 0x7f || c == '\\')
                return NULL;
        }
        if (at == end)
            return NULL;
        add_name(q, text, (size_t)(at - text));
        at = skip_space(at + 1, end);
        if (at < end && *at == ']')
            return at + 1;
        if (at == end || *at != ',')
            return NULL;
        at = skip_space(at + 1, end);
    }
    return NULL;
}

/* Find the one list of names. @return false: there is none that is plain */
static bool cut_names(struct extender_args *q, const char *body, size_t len, struct sw_piece *list)
{
    static const char name[] = "\"NodeNames\"", other[] = "\"nodenames\"";
    const char *end = body + len, *at = skip_space(body, end);
    *list = (struct sw_piece){ NULL, 0 };
    if (at == end || *at++ != '{')
        return false;
    for (;;) {
        const char *key = skip_space(at, end);
        if (key == end || *key != '"')
            return false;
        const char *behind = skip_string(key + 1, end);
        at = behind ? skip_space(behind, end) : end;
        if (at == end || *at != ':')
            return false;
        at = skip_space(at + 1, end);
        if ((size_t)(behind - key) == strlen(name) &&
            (memcmp(key, name, strlen(name)) == 0 || memcmp(key, other, strlen(name)) == 0)) {
            if (list->bytes || at == end || *at != '[')
                return false;
            list->bytes = at;
            at = read_list(q, at + 1, end);
            if (!at)
                return false;
            list->len_bytes = (size_t)(at - list->bytes);
        } else {
            at = skip_value(at, end);
        }
        at = at ? skip_space(at, end) : end;
        if (at == end || (*at != ',' && *at != '}'))
            return false;
        if (*at++ == '}')
            return list->bytes != NULL;
    }
}

/* ---- a request --------------------------------------------------------------------------------
 */

void extender_args_clear(struct extender_args *q)
{
    (void)json_object_put(q->doc);
    q->doc = NULL;
    q->n_names = 0;
    q->plain = false;
    if (q->cap <= KEPT_NAMES)
        return;
    free(q->names);
    q->names = NULL;
    q->cap = 0;
}

void extender_args_done(struct extender_args *q)
{
    extender_args_clear(q);
    free(q->names);
    *q = (struct extender_args){ 0 };
}

int extender_args_read(struct extender_args *q, const struct sw_projection *fields,
                       const char *body, size_t len_bytes, struct sw_err *err)
{
    struct sw_piece list;
    extender_args_clear(q);
    q->plain = cut_names(q, body, len_bytes, &list);
    if (q->plain) {
        const char *behind = list.bytes + list.len_bytes;
        const struct sw_piece pieces[] = { { body, (size_t)(list.bytes - body) },
                                           { "[]", 2 },
                                           { behind, (size_t)(body + len_bytes - behind) } };
        return sw_stream_read_object(fields, pieces, SW_COUNT(pieces), &q->doc, err);
    }
    q->n_names = 0;
    const struct sw_piece whole = { body, len_bytes };
    const int rc = sw_stream_read_object(fields, &whole, 1, &q->doc, err);
    if (rc < 0)
        return rc;
    /* with escapes, or not all of them strings */
    struct json_object *names = extender_args_get(q->doc, "NodeNames", "nodenames");
    const bool is_list = json_object_is_type(names, json_type_array);
    for (size_t i = 0; is_list && i < sw_json_len(names); i++) {
        struct json_object *name = json_object_array_get_idx(names, i);
        const bool text = json_object_is_type(name, json_type_string);
        add_name(q, text ? json_object_get_string(name) : "",
                 text ? (size_t)json_object_get_string_len(name) : 0);
    }
    return 0;
}

int extender_args_need_names(const struct extender_args *q, struct sw_err *err)
{
    if (!json_object_is_type(extender_args_get(q->doc, "NodeNames", "nodenames"), json_type_array))
        return sw_err_set(err, SW_INVALID,
                          "NodeNames is no list: the extender's configuration must say "
                          "nodeCacheCapable: true");
    return 0;
}

struct json_object *extender_args_get(struct json_object *doc, const char *name, const char *other)
{
    struct json_object *value = sw_json_get(doc, name);
    return value ? value : sw_json_get(doc, other);
}
