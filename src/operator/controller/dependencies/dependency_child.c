/* Creating a child: the chart of an entry of spec.dependencies is read, the parent is recorded, the
 * child is applied. */
#include "operator/controller/dependencies/dependency.h"

#include <stdlib.h>

#define MANAGER "slipway-dependencies"

enum { RETRY_MS = 10000 };

/* A child that is being created. */
struct creation {
    struct resource *parent;
    char *name, *digest;
    struct json_object *entry; /* of spec.dependencies */
    struct json_object *doc;   /* spec.chart of it */
    struct source *source;
    struct sw_render_wait *wait;
    struct sw_renderer *recipe; /* the child's; or NULL */
    struct json_object *child;
};

/* ---- applying the child ------------------------------------------------------------------------
 */

static void creation_free(struct creation *m)
{
    if (!m)
        return;
    sw_render_wait_free(m->wait);
    sw_renderer_free(m->recipe);
    source_free(m->source);
    json_object_put(m->doc);
    json_object_put(m->entry);
    json_object_put(m->child);
    free(m->name);
    free(m->digest);
    free(m);
}

static void creation_release(void *more)
{
    struct creation *m = more;
    if (dependencies_of(m->parent)->creation == m)
        dependencies_of(m->parent)->creation = NULL;
    creation_free(m);
}

static void creation_failed(struct creation *m, int code, const char *reason, const char *message)
{
    struct resource *r = m->parent;
    prerequisite_done(&dependencies_of(r)->creation_fault);
    dependencies_of(r)->creation_fault = (struct prerequisite){
        .code = code,
        .reason = reason,
        .message = sw_printf("dependency %s: %s", m->name, message),
    };
    dependencies_of(r)->creation_due_ms = sw_loop_now_ms(r->c->loop) + RETRY_MS;
    recheck_soon(r->c);
}

/* The end of a creation: the child comes through its watch. */
static void creation_end(struct op *op, int code, const char *message)
{
    struct resource *r = op->r;
    if (code < 0)
        creation_failed(op->more, code, "FailedToCreateDependencySR", message);
    else
        prerequisite_done(&dependencies_of(r)->creation_fault);
    op_free(op);
    recheck_soon(r->c);
}

/* Where @has holds what @asked does not: its path, heap; NULL: nowhere. */
static char *find_addition(struct json_object *has, struct json_object *asked, const char *path)
{
    char *found = NULL;
    if (json_object_is_type(has, json_type_object) &&
        json_object_is_type(asked, json_type_object)) {
        json_object_object_foreach(has, key, value)
        {
            SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, *path ? "." : "", key);
            if (!found)
                found = find_addition(value, sw_json_get(asked, key), at);
        }
        return found;
    }
    if (json_object_is_type(has, json_type_array) && json_object_is_type(asked, json_type_array) &&
        sw_json_len(has) == sw_json_len(asked)) {
        for (size_t i = 0; !found && i < sw_json_len(has); i++) {
            SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
            found = find_addition(sw_json_at(has, i), sw_json_at(asked, i), at);
        }
        return found;
    }
    return sw_json_equal(has, asked) ? NULL : sw_strdup(path);
}

static void on_confirmed(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    creation_end(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

/* Let @child, as the server has it, act as the account that it asks for: status.actsAs. */
static void confirm(struct op *op, struct json_object *child)
{
    struct creation *m = op->more;
    SW_AUTO_JSON *has = resource_asked(child), *asked = resource_asked(m->child);
    SW_AUTO_JSON *body = json_object_new_object();
    SW_AUTO_CHARS *addition = find_addition(has, asked, "");
    char digest[SW_SHA256_HEX];
    if (addition) {
        SW_AUTO_CHARS *message = sw_printf(
            "another client has set its %s: remove that, or delete it "
            "(it acts as the account of %s)",
            addition, m->parent->name);
        creation_end(op, SW_INVALID, message);
        return;
    }
    sw_json_set_str(body, sw_obj_annotation(m->child, RESOURCE_ACTS_AS), "status", "actsAs",
                    "account", NULL);
    sw_json_set_str(body, sw_json_sha256(has, digest), "status", "actsAs", "digest", NULL);
    op->req = sw_kube_patch(
        op->r->c->kube, sw_kube_kind_find(op->r->c->kube, SW_GROUP_VERSION, "SpecialResource"),
        NULL, m->name, SW_PATCH_MERGE, body,
        REQUEST_OWN(KINDS, .subresource = "status", .retries = 4), on_confirmed, op);
}

static void on_child(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct creation *m = op->more;
    op->req = NULL;
    if (a->code == 0 && sw_obj_annotation(m->child, RESOURCE_ACTS_AS))
        confirm(op, a->object);
    else
        creation_end(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static void begin_child(struct op *op, const struct sw_kind *kind)
{
    struct creation *m = op->more;
    op->req = sw_kube_apply(
        op->r->c->kube, kind, NULL, m->name, m->child,
        REQUEST_OWN(KINDS, .field_manager = MANAGER, .force = true, .retries = 4), on_child, op);
}

static void child_failed(struct op *op, int code, const char *message)
{
    creation_failed(op->more, code, "FailedToCreateDependencySR", message);
    op_free(op);
}

static void apply_child(struct creation *m)
{
    struct op *op = op_new(
        m->parent, &(struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, m->name }, 0);
    op->more = m;
    op->release = creation_release;
    op->begin = begin_child;
    op->failed = child_failed;
    op_with_kind(op);
}

/* ---- recording the parent ----------------------------------------------------------------------
 */

static void on_parent(int code, const char *message, void *arg)
{
    struct creation *m = arg;
    if (code == 0) {
        apply_child(m);
        return;
    }
    creation_failed(m, code, "FailedToStoreDependencyInfo", message);
    creation_release(m);
}

/* ---- the child's document ----------------------------------------------------------------------
 */

/* Complete m->child by the entry. */
static void compose(struct creation *m)
{
    struct json_object *doc = m->child, *set = sw_json_get(m->entry, "set");
    SW_AUTO_CHARS *account = resource_account(m->parent);
    SW_AUTO_JSON *chart = sw_json_copy(sw_dependency_chart(m->entry));
    json_object_object_del(chart, "set"); /* of an entry without "chart" */
    (void)sw_json_del(doc, "status", NULL);
    sw_json_set_str(doc, SW_GROUP_VERSION, "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    sw_json_set_str(doc, m->name, "metadata", "name", NULL);
    sw_json_set_str(doc, m->parent->name, "metadata", "annotations", SW_DEPENDENCY_OF, NULL);
    sw_json_set_str(doc, m->digest, "metadata", "annotations", ANN_DIGEST, NULL);
    if (account) /* whatever account the chart's own resource names */
        sw_json_set_str(doc, account, "metadata", "annotations", RESOURCE_ACTS_AS, NULL);
    else
        (void)sw_json_del(doc, "metadata", "annotations", RESOURCE_ACTS_AS, NULL);
    sw_json_set(doc, json_object_get(chart), "spec", "chart", NULL);
    if (!*sw_json_str(doc, "", "spec", "namespace", NULL))
        sw_json_set_str(doc, m->name, "spec", "namespace", NULL);
    if (set)
        sw_json_set(doc, sw_json_copy(set), "spec", "set", NULL);
}

static void on_loaded(void *arg)
{
    struct creation *m = arg;
    struct resource *r = m->parent;
    const struct sw_recipe_view *view;
    SW_AUTO_CHARS *file = sw_printf("%s.yaml", m->name);
    SW_ERR(err);
    int rc = sw_renderer_load(m->recipe, m->wait, file, &view, &err);
    if (rc == SW_PENDING)
        return;
    if (rc < 0) {
        creation_failed(m, rc, "DependencyChartFailure", sw_err_text(&err));
        dependencies_of(r)->creation = NULL;
        creation_free(m);
        return;
    }
    m->child = view->base ? sw_json_copy(view->base) : json_object_new_object();
    compose(m);
    sw_renderer_free(SW_TAKE(m->recipe));
    source_free(SW_TAKE(m->source));
    depend_map_write(m->parent, m->name, on_parent, creation_release, m);
}

static void on_chart(int code, struct sw_renderer *recipe, const char *message, void *arg)
{
    struct creation *m = arg;
    m->recipe = recipe;
    if (code < 0) {
        struct resource *r = m->parent;
        creation_failed(m, code, "DependencyChartFailure", message ? message : sw_code_name(code));
        dependencies_of(r)->creation = NULL;
        creation_free(m);
        return;
    }
    m->wait = sw_render_wait_new(on_loaded, m);
    on_loaded(m);
}

void depend_create_child(struct resource *r, struct json_object *entry, const char *digest)
{
    if (dependencies_of(r)->creation ||
        dependencies_of(r)->creation_due_ms > sw_loop_now_ms(r->c->loop))
        return;
    struct creation *m = dependencies_of(r)->creation = sw_zalloc(1, sizeof *m);
    *m = (struct creation){
        .parent = r,
        .name = sw_strdup(sw_dependency_name(entry)),
        .digest = sw_strdup(digest),
        .entry = json_object_get(entry),
        .doc = json_object_new_object(),
    };
    sw_json_set(m->doc, json_object_get(sw_dependency_chart(entry)), "spec", "chart", NULL);
    source_load(r->c->sources, m->doc, resource_account_now(r), &m->source, on_chart, m);
}

void depend_stop_creating(struct resource *r)
{
    struct creation *m = dependencies_of(r)->creation;
    if (m && m->source) { /* else a request owns it */
        dependencies_of(r)->creation = NULL;
        creation_free(m);
    }
}
