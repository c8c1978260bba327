#include "emulator/apply/fieldset.h"

#include <json-c/printbuf.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

#define DOT "."

bool sw_fields_is_member(json_object *node)
{
    return node &&
           (json_object_object_length(node) == 0 || json_object_object_get_ex(node, DOT, NULL));
}

static bool is_leaf(json_object *node)
{
    size_t n = node ? (size_t)json_object_object_length(node) : 1;
    return n == 0 || (n == 1 && json_object_object_get_ex(node, DOT, NULL));
}

/* All leaves of all sets are one object: most of a set are leaves, and sets are never changed. */
static json_object *leaf(void)
{
    static json_object *shared;
    if (!shared)
        shared = json_object_new_object();
    return json_object_get(shared);
}

/* A node; takes @children, a map. NULL: it is empty. */
static json_object *node(bool member, json_object *children)
{
    if (json_object_object_length(children) == 0) {
        json_object_put(children);
        return member ? leaf() : NULL;
    }
    if (member)
        json_object_object_add(children, DOT, leaf());
    return children;
}

static void add(json_object *children, const char *key, json_object *child)
{
    if (child)
        json_object_object_add(children, key, child);
}

/* ---- the sets of a document ---------------------------------------------------------------------
 */

char *sw_fields_item(const struct sw_list_type_info *info, json_object *item)
{
    if (info->type == SW_LIST_TYPE_SET_LIST) {
        SW_AUTO_CHARS *value = sw_json_text(item, SW_JSON_PLAIN, NULL);
        return sw_printf("v:%s", value);
    }
    json_object *keys = json_object_new_object();
    for (size_t i = 0; i < SW_LIST_TYPE_KEYS && info->keys[i]; i++) {
        json_object *value = sw_list_type_key(item, info->keys[i]);
        if (value)
            json_object_object_add(keys, info->keys[i], json_object_get(value));
    }
    SW_AUTO_CHARS *text = sw_json_text(keys, SW_JSON_PLAIN, NULL);
    json_object_put(keys);
    return sw_printf("k:%s", text);
}

/* Whether the place is a Go struct. It always exists, so only its fields can be owned. */
static bool is_struct(const struct sw_cursor *at)
{
    static const char *const names[] = {
        "metadata", "spec",           "status",      "template",
        "strategy", "updateStrategy", "jobTemplate", "containers"
    };
    if (!at->name)
        return true;
    for (size_t i = 0; i < SW_COUNT(names); i++)
        if (strcmp(at->name, names[i]) == 0)
            return true;
    return false;
}

static json_object *fields_of_map(json_object *value, const struct sw_cursor *at, bool dots)
{
    json_object *children = json_object_new_object();
    json_object_object_foreach(value, key, child)
    {
        struct sw_cursor next = sw_cursor_field(at, key);
        SW_AUTO_CHARS *element = sw_printf("f:%s", key);
        json_object_object_add(children, element, sw_fields_of(child, &next, dots));
    }
    return node(json_object_object_length(value) == 0 || (dots && !is_struct(at)), children);
}

json_object *sw_fields_of(json_object *value, const struct sw_cursor *at, bool dots)
{
    struct sw_list_type_info info = sw_cursor_list_type(at, value);
    if (info.type == SW_LIST_TYPE_GRANULAR)
        return fields_of_map(value, at, dots);
    if (info.type == SW_LIST_TYPE_ATOMIC)
        return leaf();
    json_object *children = json_object_new_object();
    struct sw_cursor item_at = sw_cursor_item(at);
    for (size_t i = 0; i < sw_json_len(value); i++) {
        json_object *item = sw_json_at(value, i);
        SW_AUTO_CHARS *element = sw_fields_item(&info, item);
        json_object *child = info.type == SW_LIST_TYPE_SET_LIST
                                 ? leaf()
                                 : fields_of_map(item, &item_at, dots);
        if (!sw_fields_is_member(child))
            json_object_object_add(child, DOT, leaf());
        json_object_object_add(children, element, child);
    }
    return node(sw_json_len(value) == 0 || dots, children);
}

/* ---- algebra ------------------------------------------------------------------------------------
 */

/* The children of a node of @a: @combine of each child with that of @b (which may be NULL). */
static json_object *children_of(json_object *a, json_object *b,
                                json_object *(*combine)(json_object *a, json_object *b))
{
    json_object *children = json_object_new_object();
    json_object_object_foreach(a, key, child)
    {
        if (strcmp(key, DOT) != 0)
            add(children, key, combine(child, sw_json_get(b, key)));
    }
    return children;
}

json_object *sw_fields_union(json_object *a, json_object *b)
{
    if (!a || !b)
        return json_object_get(a ? a : b);
    json_object *children = children_of(a, b, sw_fields_union);
    json_object_object_foreach(b, other, right)
    {
        if (strcmp(other, DOT) != 0 && !sw_json_get(a, other))
            add(children, other, json_object_get(right));
    }
    return node(sw_fields_is_member(a) || sw_fields_is_member(b), children);
}

json_object *sw_fields_minus(json_object *a, json_object *b)
{
    if (!a || !b)
        return json_object_get(a);
    return node(sw_fields_is_member(a) && !sw_fields_is_member(b),
                children_of(a, b, sw_fields_minus));
}

json_object *sw_fields_touched(json_object *a, json_object *b)
{
    if (!a || !b)
        return NULL;
    if (is_leaf(b))
        return json_object_get(a);
    return node(sw_fields_is_member(a) && sw_fields_is_member(b),
                children_of(a, b, sw_fields_touched));
}

json_object *sw_fields_drop(json_object *a, json_object *b)
{
    if (!a || !b)
        return json_object_get(a);
    if (is_leaf(b))
        return NULL;
    return node(sw_fields_is_member(a) && !sw_fields_is_member(b),
                children_of(a, b, sw_fields_drop));
}

/* ---- differences --------------------------------------------------------------------------------
 */

struct diff {
    json_object *added, *touched; /* maps of children under construction */
};

static void diff_child(struct diff *d, const char *element, json_object *from, json_object *to,
                       const struct sw_cursor *at)
{
    json_object *added = NULL, *touched = NULL;
    sw_fields_diff(from, to, at, &added, &touched);
    add(d->added, element, added);
    add(d->touched, element, touched);
}

static void diff_maps(json_object *from, json_object *to, const struct sw_cursor *at,
                      struct diff *d)
{
    json_object_object_foreach(to, key, is)
    {
        struct sw_cursor next = sw_cursor_field(at, key);
        json_object *was = sw_json_get(from, key);
        if (was == is)
            continue; /* shared, so the same */
        SW_AUTO_CHARS *element = sw_printf("f:%s", key);
        diff_child(d, element, was, is, &next);
    }
    json_object_object_foreach(from, old_key, gone)
    {
        struct sw_cursor next = sw_cursor_field(at, old_key);
        SW_AUTO_CHARS *element = sw_printf("f:%s", old_key);
        if (gone && !json_object_object_get_ex(to, old_key, NULL))
            diff_child(d, element, gone, NULL, &next);
    }
}

json_object *sw_fields_find_item(json_object *list, const struct sw_list_type_info *info,
                                 const char *element)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *own = sw_fields_item(info, sw_json_at(list, i));
        if (strcmp(own, element) == 0)
            return sw_json_at(list, i);
    }
    return NULL;
}

static void diff_item(const struct sw_list_type_info *info, const char *element, json_object *from,
                      json_object *to, const struct sw_cursor *at, struct diff *d)
{
    if (from && to) {
        if (info->type == SW_LIST_TYPE_MAP_LIST) /* the elements of a set are equal */
            diff_child(d, element, from, to, at);
        return;
    }
    add(d->touched, element, leaf());
    if (to && info->type == SW_LIST_TYPE_SET_LIST)
        add(d->added, element, leaf());
    else if (to)
        add(d->added, element, node(true, fields_of_map(to, at, true)));
}

static void diff_lists(json_object *from, json_object *to, const struct sw_list_type_info *info,
                       const struct sw_cursor *at, struct diff *d)
{
    struct sw_cursor item_at = sw_cursor_item(at);
    for (size_t i = 0; i < sw_json_len(to); i++) {
        json_object *item = sw_json_at(to, i);
        SW_AUTO_CHARS *element = sw_fields_item(info, item);
        diff_item(info, element, sw_fields_find_item(from, info, element), item, &item_at, d);
    }
    for (size_t i = 0; i < sw_json_len(from); i++) {
        json_object *item = sw_json_at(from, i);
        SW_AUTO_CHARS *element = sw_fields_item(info, item);
        if (!sw_fields_find_item(to, info, element))
            diff_item(info, element, item, NULL, &item_at, d);
    }
}

void sw_fields_diff(json_object *from, json_object *to, const struct sw_cursor *at,
                    json_object **added, json_object **touched)
{
    struct sw_list_type_info info = sw_cursor_list_type(at, to);
    struct sw_list_type_info before = sw_cursor_list_type(at, from);
    *added = *touched = NULL;
    if (sw_json_equal(from, to))
        return;
    if (!from || !to || info.type == SW_LIST_TYPE_ATOMIC || before.type != info.type) {
        *touched = leaf();
        *added = to ? sw_fields_of(to, at, true) : NULL;
        return;
    }
    struct diff d = { json_object_new_object(), json_object_new_object() };
    if (info.type == SW_LIST_TYPE_GRANULAR)
        diff_maps(from, to, at, &d);
    else
        diff_lists(from, to, &info, at, &d);
    *added = node(false, d.added);
    *touched = node(false, d.touched);
}

/* ---- paths in messages --------------------------------------------------------------------------
 */

/* "k:{"name":"a","port":1}" as [name="a",port=1]. */
static void print_keys(struct printbuf *out, const char *json)
{
    SW_AUTO_JSON *keys = NULL;
    if (sw_json_parse(json, strlen(json), NULL, &keys, NULL) < 0 ||
        !json_object_is_type(keys, json_type_object)) {
        sprintbuf(out, "[%s]", json);
        return;
    }
    const char *open = "[";
    json_object_object_foreach(keys, key, value)
    {
        SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_PLAIN, NULL);
        sprintbuf(out, "%s%s=%s", open, key, text);
        open = ",";
    }
    printbuf_memappend_fast(out, "]", 1);
}

static void print_element(struct printbuf *out, const char *element)
{
    switch (element[0]) {
    case 'f':
        sprintbuf(out, ".%s", element + 2);
        break;
    case 'k':
        print_keys(out, element + 2);
        break;
    case 'v':
        sprintbuf(out, "[=%s]", element + 2);
        break;
    default:
        sprintbuf(out, "[%s]", element[0] ? element + 2 : "");
    }
}

static void each(json_object *set, struct printbuf *path, void (*cb)(const char *path, void *arg),
                 void *arg)
{
    int len = path->bpos;
    if (sw_fields_is_member(set) && len > 0)
        cb(path->buf, arg);
    json_object_object_foreach(set, element, child)
    {
        if (strcmp(element, DOT) == 0)
            continue;
        print_element(path, element);
        each(child, path, cb, arg);
        path->bpos = len;
        path->buf[len] = '\0';
    }
}

void sw_fields_each(json_object *set, void (*cb)(const char *path, void *arg), void *arg)
{
    if (!set)
        return;
    struct printbuf *path = printbuf_new();
    each(set, path, cb, arg);
    printbuf_free(path);
}
