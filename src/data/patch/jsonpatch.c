/* RFC 6902, JSON patch: applying. */
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/json/pointer.h"
#include "data/patch/merge.h"

/* One operation on the way through the document. */
struct operation {
    struct json_object **root; /* the document; ours */
    struct json_object *value; /* of add, replace and test: borrowed */
    struct sw_pointer path, from;
    struct sw_err *err;
};

/* The map or list that holds the value of a path, and the value's place in it. */
struct place {
    struct json_object *parent; /* NULL: the path is the whole document */
    const char *key;            /* in a map */
    size_t index;               /* in a list; its length: behind the last */
};

static bool is_list(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_array);
}

static int missing(const struct operation *op, const char *token)
{
    return sw_err_set(op->err, SW_NOTFOUND, "nothing is at '%s'", token);
}

static int list_index(const struct operation *op, struct json_object *list, const char *token,
                      bool behind, size_t *index)
{
    size_t n = json_object_array_length(list);
    if (behind && strcmp(token, "-") == 0) {
        *index = n;
        return 0;
    }
    if (!sw_pointer_index(token, index))
        return sw_err_set(op->err, SW_INVALID, "'%s' is no index of a list", token);
    return *index < n + behind ? 0 : missing(op, token);
}

/* @adding: the last token need not be there yet. */
static int find_place(const struct operation *op, const struct sw_pointer *path, bool adding,
                      struct place *out)
{
    *out = (struct place){ 0 };
    if (path->n == 0)
        return 0;
    struct json_object *doc = *op->root;
    for (size_t i = 0; i + 1 < path->n; i++) {
        const char *token = path->tokens[i];
        if (is_list(doc)) {
            size_t index;
            int rc = list_index(op, doc, token, false, &index);
            if (rc < 0)
                return rc;
            doc = json_object_array_get_idx(doc, index);
        } else if (!json_object_is_type(doc, json_type_object) ||
                   !json_object_object_get_ex(doc, token, &doc)) {
            return missing(op, token);
        }
    }
    const char *last = path->tokens[path->n - 1];
    out->parent = doc;
    if (is_list(doc))
        return list_index(op, doc, last, adding, &out->index);
    out->key = last;
    bool there = json_object_is_type(doc, json_type_object) &&
                 (adding || json_object_object_get_ex(doc, last, NULL));
    return there ? 0 : missing(op, last);
}

/* Borrowed. */
static struct json_object *value_at(const struct operation *op, const struct place *p)
{
    if (!p->parent)
        return *op->root;
    return p->key ? sw_json_get(p->parent, p->key) : sw_json_at(p->parent, p->index);
}

/* @value is taken. */
static void set_root(const struct operation *op, struct json_object *value)
{
    (void)json_object_put(*op->root);
    *op->root = value;
}

/* json-c can insert from 0.17 on. @value is taken. */
static void insert(struct json_object *list, size_t index, struct json_object *value)
{
    size_t n = json_object_array_length(list);
    (void)json_object_array_add(list, value);
    if (index == n)
        return;
    (void)json_object_get(value); /* put_idx() below drops the reference of its end */
    for (size_t i = n; i > index; i--)
        (void)json_object_array_put_idx(list, i,
                                        json_object_get(json_object_array_get_idx(list, i - 1)));
    (void)json_object_array_put_idx(list, index, value);
}

static int add_at(const struct operation *op, const struct sw_pointer *path,
                  struct json_object *value)
{
    struct place p;
    int rc = find_place(op, path, true, &p);
    if (rc < 0) {
        (void)json_object_put(value);
        return rc;
    }
    if (!p.parent)
        set_root(op, value);
    else if (p.key)
        (void)json_object_object_add(p.parent, p.key, value);
    else
        insert(p.parent, p.index, value);
    return 0;
}

static int remove_at(const struct operation *op, const struct sw_pointer *path)
{
    struct place p;
    int rc = find_place(op, path, false, &p);
    if (rc < 0)
        return rc;
    if (!p.parent)
        set_root(op, NULL);
    else if (p.key)
        json_object_object_del(p.parent, p.key);
    else
        (void)json_object_array_del_idx(p.parent, p.index, 1);
    return 0;
}

static int do_add(struct operation *op)
{
    return add_at(op, &op->path, sw_json_copy(op->value));
}

static int do_remove(struct operation *op)
{
    return remove_at(op, &op->path);
}

static int do_replace(struct operation *op)
{
    struct place p;
    int rc = find_place(op, &op->path, false, &p);
    if (rc < 0)
        return rc;
    struct json_object *value = sw_json_copy(op->value);
    if (!p.parent)
        set_root(op, value);
    else if (p.key)
        (void)json_object_object_add(p.parent, p.key, value);
    else
        (void)json_object_array_put_idx(p.parent, p.index, value);
    return 0;
}

static int do_copy(struct operation *op)
{
    struct place p;
    int rc = find_place(op, &op->from, false, &p);
    return rc < 0 ? rc : add_at(op, &op->path, sw_json_copy(value_at(op, &p)));
}

static bool is_inside(const struct sw_pointer *inner, const struct sw_pointer *outer)
{
    if (inner->n <= outer->n)
        return false;
    for (size_t i = 0; i < outer->n; i++)
        if (strcmp(inner->tokens[i], outer->tokens[i]) != 0)
            return false;
    return true;
}

static int do_move(struct operation *op)
{
    struct place p;
    if (is_inside(&op->path, &op->from))
        return sw_err_set(op->err, SW_INVALID, "a value cannot be moved into itself");
    int rc = find_place(op, &op->from, false, &p);
    if (rc < 0)
        return rc;
    struct json_object *value = json_object_get(value_at(op, &p));
    rc = remove_at(op, &op->from);
    if (rc == 0)
        return add_at(op, &op->path, value);
    (void)json_object_put(value);
    return rc;
}

static int do_test(struct operation *op)
{
    struct place p;
    int rc = find_place(op, &op->path, false, &p);
    if (rc < 0)
        return rc;
    if (sw_json_equal(value_at(op, &p), op->value))
        return 0;
    return sw_err_set(op->err, SW_CONFLICT, "the value is another one");
}

static const struct verb {
    const char *name;
    int (*perform)(struct operation *op);
    bool value, from; /* what it needs besides a path */
} verbs[] = {
    { "add", do_add, true, false },         { "remove", do_remove, false, false },
    { "replace", do_replace, true, false }, { "move", do_move, false, true },
    { "copy", do_copy, false, true },       { "test", do_test, true, false },
};

static int read_pointer(struct json_object *spec, const char *key, struct sw_pointer *out,
                        struct sw_err *err)
{
    struct json_object *text = sw_json_get(spec, key);
    if (!json_object_is_type(text, json_type_string))
        return sw_err_set(err, SW_INVALID, "'%s' is missing or not a string", key);
    return sw_pointer_parse(json_object_get_string(text), out, err);
}

static int perform(const struct verb *verb, struct json_object *spec, struct json_object **doc,
                   struct sw_err *err)
{
    struct operation op = { .root = doc, .value = sw_json_get(spec, "value"), .err = err };
    int rc = read_pointer(spec, "path", &op.path, err);
    if (rc == 0 && verb->from)
        rc = read_pointer(spec, "from", &op.from, err);
    if (rc == 0 && verb->value && !json_object_object_get_ex(spec, "value", NULL))
        rc = sw_err_set(err, SW_INVALID, "'value' is missing");
    if (rc == 0)
        rc = verb->perform(&op);
    sw_pointer_done(&op.path);
    sw_pointer_done(&op.from);
    return rc;
}

static int apply_one(struct json_object *spec, size_t i, struct json_object **doc,
                     struct sw_err *err)
{
    const char *name = sw_json_str(spec, "", "op", NULL);
    for (size_t k = 0; k < SW_COUNT(verbs); k++) {
        if (strcmp(verbs[k].name, name) != 0)
            continue;
        int rc = perform(&verbs[k], spec, doc, err);
        if (rc < 0)
            sw_err_wrap(err, rc, "operation %zu (%s %s)", i, name,
                        sw_json_str(spec, "?", "path", NULL));
        return rc;
    }
    return sw_err_set(err, SW_INVALID,
                      "operation %zu: '%s' is none of add, remove, replace, move, copy, test", i,
                      name);
}

int sw_jsonpatch_apply(struct json_object *target, struct json_object *patch,
                       struct json_object **out, struct sw_err *err)
{
    if (!is_list(patch))
        return sw_err_set(err, SW_INVALID, "a JSON patch must be a list of operations");
    SW_AUTO_JSON *doc = sw_json_copy(target);
    for (size_t i = 0; i < json_object_array_length(patch); i++) {
        int rc = apply_one(json_object_array_get_idx(patch, i), i, &doc, err);
        if (rc < 0)
            return rc;
    }
    *out = SW_TAKE(doc);
    return 0;
}
