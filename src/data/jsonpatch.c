/* RFC 6902, JSON patch. */
#include <stdio.h>
#include <string.h>

#include <json-c/printbuf.h>

#include "data/json.h"
#include "data/merge.h"
#include "data/path.h"
#include "data/pointer.h"

/* ---- applying ----------------------------------------------------------------------------------
 */

/* One place in a document: a key of a map, an element of a list, or (no parent) all of it. */
struct spot {
    struct json_object *parent;
    const char *key; /* in a map; borrowed from the pointer */
    size_t index;    /* in a list; its length: behind the last element */
    bool exists;
    struct json_object *value; /* borrowed */
};

static struct json_object *child(struct json_object *doc, const char *token, bool *found)
{
    struct json_object *out = NULL;
    size_t i;
    if (json_object_is_type(doc, json_type_array)) {
        *found = sw_pointer_index(token, &i) && i < json_object_array_length(doc);
        return *found ? json_object_array_get_idx(doc, i) : NULL;
    }
    *found = json_object_is_type(doc, json_type_object) &&
             json_object_object_get_ex(doc, token, &out);
    return out;
}

static int missing(struct sw_err *err, const char *pointer)
{
    return sw_err_set(err, SW_NOTFOUND, "nothing is at '%s'", pointer);
}

/* Find the place that @p means; its last token need not exist, what is before it must. */
static int find_spot(struct json_object *root, const struct sw_pointer *p, const char *pointer,
                     struct spot *out, struct sw_err *err)
{
    *out = (struct spot){ .exists = true, .value = root };
    if (p->n == 0)
        return 0;
    struct json_object *at = root;
    bool found = true;
    for (size_t i = 0; i + 1 < p->n && found; i++)
        at = child(at, p->tokens[i], &found);
    if (!found)
        return missing(err, pointer);
    const char *last = p->tokens[p->n - 1];
    out->parent = at;
    out->value = child(at, last, &out->exists);
    if (json_object_is_type(at, json_type_object)) {
        out->key = last;
        return 0;
    }
    if (!json_object_is_type(at, json_type_array))
        return missing(err, pointer);
    size_t len = json_object_array_length(at);
    if (strcmp(last, "-") == 0)
        out->index = len;
    else if (!sw_pointer_index(last, &out->index) || out->index > len)
        return missing(err, pointer);
    return 0;
}

static void insert(struct json_object *list, size_t index, struct json_object *value)
{
    (void)json_object_array_add(list, NULL);
    for (size_t i = json_object_array_length(list) - 1; i > index; i--)
        (void)json_object_array_put_idx(list, i,
                                        json_object_get(json_object_array_get_idx(list, i - 1)));
    (void)json_object_array_put_idx(list, index, value);
}

/* @value is taken. */
static void put(struct json_object **root, const struct spot *spot, struct json_object *value,
                bool replace)
{
    if (!spot->parent) {
        json_object_put(*root);
        *root = value;
    } else if (spot->key) {
        (void)json_object_object_add(spot->parent, spot->key, value);
    } else if (replace) {
        (void)json_object_array_put_idx(spot->parent, spot->index, value);
    } else {
        insert(spot->parent, spot->index, value);
    }
}

static void cut(struct json_object **root, const struct spot *spot)
{
    if (!spot->parent) {
        json_object_put(*root);
        *root = NULL;
    } else if (spot->key) {
        json_object_object_del(spot->parent, spot->key);
    } else {
        (void)json_object_array_del_idx(spot->parent, spot->index, 1);
    }
}

/* The operation being applied. */
struct op {
    struct json_object **root;
    struct spot at;
    const char *path;
    struct json_object *value; /* "value", borrowed */
    bool has_value;
    const char *from;             /* "from", or NULL */
    struct json_object *from_doc; /* a copy of what is at @from, ours */
};

static int op_add(struct op *op, struct sw_err *err SW_UNUSED)
{
    put(op->root, &op->at, sw_json_copy(op->value), false);
    return 0;
}

static int op_remove(struct op *op, struct sw_err *err)
{
    if (!op->at.exists)
        return missing(err, op->path);
    cut(op->root, &op->at);
    return 0;
}

static int op_replace(struct op *op, struct sw_err *err)
{
    if (!op->at.exists)
        return missing(err, op->path);
    put(op->root, &op->at, sw_json_copy(op->value), true);
    return 0;
}

static int op_test(struct op *op, struct sw_err *err)
{
    if (!op->at.exists)
        return missing(err, op->path);
    return sw_json_equal(op->at.value, op->value)
               ? 0
               : sw_err_set(err, SW_CONFLICT, "it has another value");
}

static int op_copy(struct op *op, struct sw_err *err SW_UNUSED)
{
    put(op->root, &op->at, SW_TAKE(op->from_doc), false);
    return 0;
}

static const struct {
    const char *name;
    int (*apply)(struct op *op, struct sw_err *err);
    bool needs_value, needs_from, moves;
} ops[] = {
    { "add", op_add, true, false, false },         { "remove", op_remove, false, false, false },
    { "replace", op_replace, true, false, false }, { "test", op_test, true, false, false },
    { "copy", op_copy, false, true, false },       { "move", op_copy, false, true, true },
};

/* Take a copy of what "from" means; @moves: and cut it out. */
static int take_from(struct op *op, bool moves, struct sw_err *err)
{
    size_t len = strlen(op->from);
    if (moves && strncmp(op->path, op->from, len) == 0 && op->path[len] == '/')
        return sw_err_set(err, SW_INVALID, "'%s' cannot be moved into itself", op->from);
    struct sw_pointer p = { 0 };
    struct spot spot;
    int rc = sw_pointer_parse(op->from, &p, err);
    if (rc == 0)
        rc = find_spot(*op->root, &p, op->from, &spot, err);
    if (rc == 0 && !spot.exists)
        rc = missing(err, op->from);
    if (rc == 0) {
        op->from_doc = sw_json_copy(spot.value);
        if (moves)
            cut(op->root, &spot);
    }
    sw_pointer_done(&p);
    return rc;
}

static int apply_row(struct op *op, size_t row, struct sw_err *err)
{
    if (ops[row].needs_value && !op->has_value)
        return sw_err_set(err, SW_INVALID, "it has no value");
    if (ops[row].needs_from && !op->from)
        return sw_err_set(err, SW_INVALID, "it has no from");
    struct sw_pointer p = { 0 };
    int rc = sw_pointer_parse(op->path, &p, err);
    if (rc == 0 && op->from)
        rc = take_from(op, ops[row].moves, err);
    if (rc == 0)
        rc = find_spot(*op->root, &p, op->path, &op->at, err);
    if (rc == 0)
        rc = ops[row].apply(op, err);
    json_object_put(op->from_doc);
    sw_pointer_done(&p);
    return rc;
}

static int apply_op(struct json_object **root, struct json_object *doc, size_t i,
                    struct sw_err *err)
{
    const char *name = sw_json_str(doc, NULL, "op", NULL);
    struct op op = { .root = root, .path = sw_json_str(doc, NULL, "path", NULL) };
    if (!name || !op.path)
        return sw_err_set(err, SW_INVALID, "operation %zu: it needs an op and a path", i);
    op.has_value = json_object_object_get_ex(doc, "value", &op.value);
    for (size_t row = 0; row < SW_COUNT(ops); row++) {
        if (strcmp(ops[row].name, name) != 0)
            continue;
        if (ops[row].needs_from)
            op.from = sw_json_str(doc, NULL, "from", NULL);
        int rc = apply_row(&op, row, err);
        return rc < 0 ? sw_err_wrap(err, rc, "operation %zu: %s '%s'", i, name, op.path) : 0;
    }
    return sw_err_set(err, SW_INVALID, "operation %zu: '%s' is no operation", i, name);
}

int sw_jsonpatch_apply(struct json_object *target, struct json_object *patch,
                       struct json_object **out, struct sw_err *err)
{
    if (!json_object_is_type(patch, json_type_array))
        return sw_err_set(err, SW_INVALID, "a JSON patch is a list of operations");
    SW_AUTO_JSON *root = sw_json_copy(target);
    for (size_t i = 0; i < json_object_array_length(patch); i++) {
        int rc = apply_op(&root, json_object_array_get_idx(patch, i), i, err);
        if (rc < 0)
            return rc;
    }
    *out = SW_TAKE(root);
    return 0;
}

/* ---- creating ----------------------------------------------------------------------------------
 */

struct path {
    struct printbuf *text;
    struct json_object *ops;
};

static int enter(struct path *p, const char *token)
{
    int before = p->text->bpos;
    printbuf_memappend(p->text, "/", 1);
    for (; *token; token++) {
        if (*token == '~')
            printbuf_memappend(p->text, "~0", 2);
        else if (*token == '/')
            printbuf_memappend(p->text, "~1", 2);
        else
            printbuf_memappend(p->text, token, 1);
    }
    return before;
}

static int enter_index(struct path *p, size_t i)
{
    char token[24];
    (void)snprintf(token, sizeof token, "%zu", i);
    return enter(p, token);
}

static void leave(struct path *p, int before)
{
    p->text->bpos = before;
    p->text->buf[before] = '\0';
}

static void emit(struct path *p, const char *op, struct json_object *value, bool has_value)
{
    struct json_object *doc = json_object_new_object();
    json_object_object_add(doc, "op", json_object_new_string(op));
    json_object_object_add(doc, "path", json_object_new_string_len(p->text->buf, p->text->bpos));
    if (has_value)
        json_object_object_add(doc, "value", sw_json_copy(value));
    json_object_array_add(p->ops, doc);
}

static void diff(struct path *p, struct json_object *from, struct json_object *to);

static void diff_maps(struct path *p, struct json_object *from, struct json_object *to)
{
    struct json_object *other;
    json_object_object_foreach(from, gone, old)
    {
        (void)old;
        if (json_object_object_get_ex(to, gone, &other))
            continue;
        int before = enter(p, gone);
        emit(p, "remove", NULL, false);
        leave(p, before);
    }
    json_object_object_foreach(to, key, value)
    {
        int before = enter(p, key);
        if (json_object_object_get_ex(from, key, &other))
            diff(p, other, value);
        else
            emit(p, "add", value, true);
        leave(p, before);
    }
}

/* What is alike at both ends stays; between them elements are compared one by one, and what is too
 * many is removed (from the end, so that indexes hold) or what is missing added. */
static void diff_lists(struct path *p, struct json_object *from, struct json_object *to)
{
    size_t n = sw_json_len(from), m = sw_json_len(to), head = 0, tail = 0;
    while (head < n && head < m && sw_json_equal(sw_json_at(from, head), sw_json_at(to, head)))
        head++;
    while (head + tail < n && head + tail < m &&
           sw_json_equal(sw_json_at(from, n - 1 - tail), sw_json_at(to, m - 1 - tail)))
        tail++;
    size_t common = n < m ? n : m;
    for (size_t i = head; i + tail < common; i++) {
        int before = enter_index(p, i);
        diff(p, sw_json_at(from, i), sw_json_at(to, i));
        leave(p, before);
    }
    for (size_t i = n - tail; i > m - tail && i > head; i--) {
        int before = enter_index(p, i - 1);
        emit(p, "remove", NULL, false);
        leave(p, before);
    }
    for (size_t i = n - tail; i < m - tail; i++) {
        int before = enter_index(p, i);
        emit(p, "add", sw_json_at(to, i), true);
        leave(p, before);
    }
}

static void diff(struct path *p, struct json_object *from, struct json_object *to)
{
    if (sw_json_equal(from, to))
        return;
    enum json_type type = json_object_get_type(from);
    if (type != json_object_get_type(to))
        emit(p, "replace", to, true);
    else if (type == json_type_object)
        diff_maps(p, from, to);
    else if (type == json_type_array)
        diff_lists(p, from, to);
    else
        emit(p, "replace", to, true);
}

struct json_object *sw_jsonpatch_create(struct json_object *from, struct json_object *to)
{
    struct path p = { .text = printbuf_new(), .ops = json_object_new_array() };
    diff(&p, from, to);
    printbuf_free(p.text);
    return p.ops;
}
