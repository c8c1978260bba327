/* Finding values by a JSONPath, and printing them. */
#include "data/jsonpath/jsonpath.h"

#include <string.h>

#include "data/json/json.h"
#include "data/jsonpath/jsonpath_ast.h"
#include "data/text/buffer.h"
#include "data/text/number.h"

/* ---- finding -----------------------------------------------------------------------------------
 */

static int find_parts(const struct jp_node *part, struct json_object *doc, uint64_t *work,
                      struct sw_json_list *out, struct sw_err *err)
{
    const struct jp_strictness lenient = { .work = work };
    int rc = 0;
    for (; part && rc == 0; part = part->next) {
        if (part->kind == JP_EXPRESSION)
            rc = jp_eval(&part->path, doc, lenient, out, err);
        if (part->kind != JP_RANGE)
            continue;
        struct sw_json_list each = { 0 };
        rc = jp_eval(&part->path, doc, lenient, &each, err);
        for (size_t i = 0; i < each.n_values && rc == 0; i++)
            rc = find_parts(part->body, each.values[i], work, out, err);
        sw_json_list_done(&each);
    }
    return rc;
}

int sw_jsonpath_find(const struct sw_jsonpath *path, struct json_object *doc,
                     struct sw_json_list *out, struct sw_err *err)
{
    struct sw_json_list found = { 0 };
    uint64_t work = 0;
    int rc = find_parts(path->parts, doc, &work, &found, err);
    if (rc < 0) {
        sw_json_list_done(&found);
        return rc;
    }
    sw_json_list_done(out);
    *out = found;
    return 0;
}

struct json_object *sw_jsonpath_first(const struct sw_jsonpath *path, struct json_object *doc)
{
    struct sw_json_list found = { 0 };
    struct json_object *first = NULL;
    if (sw_jsonpath_find(path, doc, &found, NULL) == 0 && found.n_values > 0)
        first = found.values[0];
    sw_json_list_done(&found);
    return first;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void put_value(struct sw_buffer *out, struct json_object *value)
{
    char number[SW_FLOAT_LEN];
    switch (json_object_get_type(value)) {
    case json_type_null:
        sw_buffer_put(out, "<nil>", 5); /* as Go prints it, and so kubectl */
        return;
    case json_type_object:
    case json_type_array: {
        size_t len;
        SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_SORTED | SW_JSON_HTML, &len);
        sw_buffer_put(out, text, len);
        return;
    }
    case json_type_double:
        sw_buffer_put(out, number, sw_float_go(json_object_get_double(value), 'g', 64, number));
        return;
    case json_type_string:
        sw_buffer_put(out, json_object_get_string(value),
                      (size_t)json_object_get_string_len(value));
        return;
    default: {
        const char *text = json_object_get_string(value);
        sw_buffer_put(out, text, strlen(text));
    }
    }
}

static int print_parts(const struct jp_node *part, struct json_object *doc,
                       struct jp_strictness strict, struct sw_buffer *out, struct sw_err *err)
{
    int rc = 0;
    for (; part && rc == 0; part = part->next) {
        if (part->kind == JP_TEXT) {
            sw_buffer_put(out, part->text, part->len);
            continue;
        }
        struct sw_json_list found = { 0 };
        rc = jp_eval(&part->path, doc, strict, &found, err);
        for (size_t i = 0; i < found.n_values && rc == 0; i++) {
            if (part->kind == JP_RANGE) {
                rc = print_parts(part->body, found.values[i], strict, out, err);
                continue;
            }
            if (i > 0)
                sw_buffer_char(out, ' ');
            put_value(out, found.values[i]);
        }
        sw_json_list_done(&found);
    }
    return rc;
}

int sw_jsonpath_print(const struct sw_jsonpath *path, struct json_object *doc, bool allow_missing,
                      char **out, struct sw_err *err)
{
    uint64_t work = 0;
    const struct jp_strictness strict = { .missing_keys = !allow_missing,
                                          .shapes = true,
                                          .work = &work };
    struct sw_buffer text = { 0 };
    int rc = print_parts(path->parts, doc, strict, &text, err);
    char *taken = sw_buffer_take(&text, NULL);
    if (rc < 0) {
        sw_chars_auto(&taken);
        return rc;
    }
    *out = taken;
    return 0;
}
