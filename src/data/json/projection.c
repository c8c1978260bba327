#include "data/json/projection.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/path.h"
#include "data/json/stream.h"
#include "data/text/buffer.h"

const struct sw_field_node sw_field_all = { .keep = true };

/* ---- compiling ---------------------------------------------------------------------------------
 */

static struct sw_field_node *find(const struct sw_field_node *node, const char *key, size_t len)
{
    for (size_t i = 0; i < node->n_children; i++) {
        struct sw_field_node *c = &node->children[i];
        if (c->key_len == len && memcmp(c->key, key, len) == 0)
            return c;
    }
    return NULL;
}

static struct sw_field_node *need(struct sw_field_node *node, const char *key, size_t len)
{
    struct sw_field_node *child = find(node, key, len);
    if (child)
        return child;
    SW_GROW(node->children, node->n_children, node->cap_children);
    child = &node->children[node->n_children++];
    *child = (struct sw_field_node){ .key = sw_strndup(key, len), .key_len = len };
    return child;
}

static void done(struct sw_field_node *node)
{
    for (size_t i = 0; i < node->n_children; i++)
        done(&node->children[i]);
    free(node->children);
    free(node->key);
}

/* Parse one key at @p: `name`, a quoted key in brackets, or [*] for all elements, which is the
 * default and has no effect. @return its end, or NULL: there is no key */
static const char *read_key(const char *p, struct sw_buffer *key)
{
    bool brackets = *p == '[';
    if (brackets && p[1] == '*' && p[2] == ']')
        return p + 3;
    char quote = brackets ? p[1] : '\0';
    if (brackets && quote != '\'' && quote != '"')
        return NULL;
    p += brackets ? 2 : 0;
    for (; *p && (brackets ? *p != quote : *p != '.' && *p != '['); p++) {
        if (*p == '\\' && p[1])
            p++;
        sw_buffer_char(key, *p);
    }
    if (key->len == 0 || (brackets && (*p != quote || p[1] != ']')))
        return NULL;
    return brackets ? p + 2 : p;
}

static int add_path(struct sw_field_node *root, const char *path, struct sw_err *err)
{
    bool drop = *path == '!';
    const char *p = path + drop;
    struct sw_field_node *node = root;
    p += *p == '.';
    do {
        struct sw_buffer key = { 0 };
        p = read_key(p, &key);
        if (p && key.len > 0)
            node = need(node, key.text, key.len);
        free(key.text);
        if (p && *p == '.' && p[1] != '\0')
            p++;
        else if (p && *p && *p != '[')
            p = NULL;
    } while (p && *p);
    if (!p || node == root)
        return sw_err_set(err, SW_INVALID, "'%s' is no path such as metadata.labels", path);
    node->keep = node->keep || !drop;
    node->drop = drop;
    return 0;
}

/* Keep the whole subtree: paths below it that keep are redundant. */
static void inherit(struct sw_field_node *node)
{
    for (size_t i = 0; i < node->n_children; i++) {
        struct sw_field_node *c = &node->children[i];
        c->keep = c->keep || (node->keep && !c->drop);
        inherit(c);
    }
}

int sw_projection_compile(const char *const *paths, size_t n_paths, struct sw_projection **out,
                          struct sw_err *err)
{
    SW_AUTO(sw_projection) *projection = sw_zalloc(1, sizeof *projection);
    bool keeps = false;
    for (size_t i = 0; i < n_paths; i++) {
        int rc = add_path(&projection->root, paths[i], err);
        if (rc < 0)
            return rc;
        keeps = keeps || paths[i][0] != '!';
    }
    projection->root.keep = !keeps;
    inherit(&projection->root);
    *out = SW_TAKE(projection);
    return 0;
}

void sw_projection_free(struct sw_projection *projection)
{
    if (!projection)
        return;
    done(&projection->root);
    free(projection);
}

const struct sw_field_node *sw_field_child(const struct sw_field_node *node, const char *key,
                                           size_t key_len)
{
    const struct sw_field_node *child = find(node, key, key_len);
    if (child)
        return child->drop ? NULL : child;
    return node->keep ? &sw_field_all : NULL;
}

/* ---- building ----------------------------------------------------------------------------------
 */

void sw_projector_done(struct sw_projector *p)
{
    (void)json_object_put(p->root);
    free(p->frames);
    free(p->key);
    *p = (struct sw_projector){ 0 };
}

void sw_projector_start(struct sw_projector *p, const struct sw_field_node *node)
{
    p->next = node;
    p->n_frames = 0;
    p->skipping = 0;
}

bool sw_projector_open(const struct sw_projector *p)
{
    return p->n_frames > 0 || p->skipping > 0;
}

struct json_object *sw_projector_take(struct sw_projector *p)
{
    return SW_TAKE(p->root);
}

static struct sw_projector_frame *top(const struct sw_projector *p)
{
    return p->n_frames ? &p->frames[p->n_frames - 1] : NULL;
}

/* The node for the next value: an element of a list has the node of the list. */
static const struct sw_field_node *wanted(const struct sw_projector *p)
{
    const struct sw_projector_frame *f = top(p);
    return f && json_object_is_type(f->value, json_type_array) ? f->node : p->next;
}

bool sw_projector_keeps_scalar(const struct sw_projector *p)
{
    const struct sw_field_node *node = p->skipping ? NULL : wanted(p);
    return node && node->keep;
}

void sw_projector_add(struct sw_projector *p, struct json_object *value)
{
    const struct sw_projector_frame *f = top(p);
    if (!f) {
        (void)json_object_put(p->root);
        p->root = value;
    } else if (json_object_is_type(f->value, json_type_array)) {
        (void)json_object_array_add(f->value, value);
    } else {
        (void)json_object_object_add(f->value, p->key, value);
    }
}

void sw_projector_begin(struct sw_projector *p, bool map)
{
    const struct sw_field_node *node = p->skipping ? NULL : wanted(p);
    if (!node) {
        p->skipping++;
        return;
    }
    struct json_object *value = map ? json_object_new_object() : json_object_new_array_ext(4);
    sw_projector_add(p, value);
    SW_GROW(p->frames, p->n_frames, p->cap_frames);
    p->frames[p->n_frames++] = (struct sw_projector_frame){ .value = value, .node = node };
}

int sw_projector_key(struct sw_projector *p, const char *key, size_t key_len, struct sw_err *err)
{
    if (p->skipping)
        return 0;
    p->next = sw_field_child(top(p)->node, key, key_len);
    if (!p->next)
        return 0;
    if (memchr(key, '\0', key_len))
        return sw_err_set(err, SW_INVALID, "a key holds a NUL");
    if (p->key_cap <= key_len) {
        p->key_cap = key_len * 2 + 64;
        p->key = sw_realloc(p->key, p->key_cap, 1);
    }
    memcpy(p->key, key, key_len);
    p->key[key_len] = '\0';
    return 0;
}

void sw_projector_end(struct sw_projector *p)
{
    if (p->skipping) {
        p->skipping--;
        return;
    }
    const struct sw_projector_frame closed = p->frames[--p->n_frames];
    const struct sw_projector_frame *f = top(p);
    if (closed.node->keep || !f || !json_object_is_type(f->value, json_type_object))
        return;
    struct lh_entry *last = json_object_get_object(f->value)->tail;
    if (sw_json_len(closed.value) == 0 && last && lh_entry_v(last) == closed.value)
        json_object_object_del(f->value, (const char *)lh_entry_k(last));
}

/* ---- projections of trees ----------------------------------------------------------------------
 */

static struct json_object *project(const struct sw_field_node *node, struct json_object *doc);

static struct json_object *project_map(const struct sw_field_node *node, struct json_object *map)
{
    struct json_object *out = json_object_new_object();
    json_object_object_foreach(map, key, value)
    {
        const struct sw_field_node *child = sw_field_child(node, key, strlen(key));
        bool container = json_object_is_type(value, json_type_object) ||
                         json_object_is_type(value, json_type_array);
        if (!child || (!child->keep && !container))
            continue;
        struct json_object *part = project(child, value);
        if (child->keep || sw_json_len(part) > 0)
            (void)json_object_object_add(out, key, part);
        else
            (void)json_object_put(part);
    }
    return out;
}

static struct json_object *project_list(const struct sw_field_node *node, struct json_object *list)
{
    struct json_object *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        bool container = json_object_is_type(item, json_type_object) ||
                         json_object_is_type(item, json_type_array);
        if (node->keep || container)
            (void)json_object_array_add(out, project(node, item));
    }
    return out;
}

static struct json_object *project(const struct sw_field_node *node, struct json_object *doc)
{
    if (node->keep && node->n_children == 0)
        return sw_json_copy(doc);
    if (json_object_is_type(doc, json_type_object))
        return project_map(node, doc);
    if (json_object_is_type(doc, json_type_array))
        return project_list(node, doc);
    return node->keep ? sw_json_copy(doc) : NULL;
}

struct json_object *sw_projection_of(const struct sw_projection *projection,
                                     struct json_object *doc)
{
    return project(&projection->root, doc);
}
