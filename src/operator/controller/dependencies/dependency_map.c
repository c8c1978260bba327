/* SRO's ConfigMap special-resource-dependencies in the operator's namespace (child: parent), for
 * people and for SRO. */
#include "operator/controller/dependencies/dependency.h"

#include <stdlib.h>

#define MAP_NAME "special-resource-dependencies"

struct mapping {
    char *child;
    bool may_replace;
    depend_map_done *done; /* NULL: nobody waits for it */
    void (*drop)(void *arg);
    void *arg;
};

static void mapping_free(void *more)
{
    struct mapping *m = more;
    if (m->drop)
        m->drop(m->arg);
    free(m->child);
    free(m);
}

static void end(struct op *op, int code, const char *message)
{
    struct mapping *m = op->more;
    depend_map_done *done = m->done;
    void *arg = m->arg;
    if (code < 0 && !done)
        sw_log(SW_LOG_WARN, "dependency is not in " MAP_NAME, "resource", op->r->name, "dependency",
               m->child, "error", message, NULL);
    m->drop = NULL;
    op_free(op);
    if (done)
        done(code, message, arg);
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    end(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static void create(struct op *op, const struct sw_kind *kind)
{
    const struct mapping *m = op->more;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "ConfigMap", "kind", NULL);
    sw_json_set_str(doc, MAP_NAME, "metadata", "name", NULL);
    sw_json_set_str(doc, op->key.ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, op->r->name, "data", m->child, NULL);
    op->req = sw_kube_create(op->r->c->kube, kind, op->key.ns, NULL, doc,
                             REQUEST_OWN(RECORDS, .retries = 4), on_written, op);
}

static void on_patched(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, "v1", "ConfigMap");
    op->req = NULL;
    if (a->code == SW_NOTFOUND && kind)
        create(op, kind);
    else
        on_written(a, op);
}

static void patch(struct op *op, const struct sw_kind *kind)
{
    const struct mapping *m = op->more;
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, op->r->name, "data", m->child, NULL);
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, MAP_NAME, SW_PATCH_MERGE, body,
                            REQUEST_OWN(RECORDS, .retries = 4), on_patched, op);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct mapping *m = op->more;
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, "v1", "ConfigMap");
    op->req = NULL;
    if (!kind || (a->code < 0 && a->code != SW_NOTFOUND))
        end(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
    else if (a->code < 0)
        create(op, kind);
    else if (!*sw_json_str(a->object, "", "data", m->child, NULL))
        patch(op, kind);
    else
        end(op, 0, NULL);
}

static void begin(struct op *op, const struct sw_kind *kind)
{
    const struct mapping *m = op->more;
    if (m->may_replace)
        patch(op, kind);
    else
        op->req = sw_kube_get(op->r->c->kube, kind, op->key.ns, MAP_NAME,
                              REQUEST_OWN(RECORDS, .retries = 4), on_read, op);
}

/* @entry is copied; its child is taken. */
static void start(struct resource *parent, const struct mapping *entry,
                  void (*begin_it)(struct op *op, const struct sw_kind *kind),
                  void (*failed)(struct op *op, int code, const char *message))
{
    struct op *op = op_new(parent, &(struct sw_key){ "v1", "ConfigMap", parent->c->ns, MAP_NAME },
                           0);
    struct mapping *m = op->more = sw_zalloc(1, sizeof *m);
    *m = *entry;
    op->release = mapping_free;
    op->begin = begin_it;
    op->failed = failed;
    op_with_kind(op);
}

static void write_entry(struct resource *parent, const struct mapping *entry)
{
    start(parent, entry, begin, end);
}

void depend_map_write(struct resource *parent, const char *child, depend_map_done *done,
                      void (*drop)(void *arg), void *arg)
{
    write_entry(parent, &(struct mapping){ sw_strdup(child), true, done, drop, arg });
}

void depend_map_complete(struct resource *parent, const char *child)
{
    struct dependencies *d = dependencies_of(parent);
    if (!d->mapped)
        d->mapped = json_object_new_object();
    if (json_object_object_get_ex(d->mapped, child, NULL))
        return;
    (void)json_object_object_add(d->mapped, child, NULL);
    write_entry(parent, &(struct mapping){ .child = sw_strdup(child) });
}

/* ---- entries that go ---------------------------------------------------------------------------
 */

static void forgotten(struct op *op, int code, const char *message)
{
    struct resource *r = op->r;
    const struct mapping *m = op->more;
    if (code < 0 && code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "dependency stays in " MAP_NAME, "resource", r->name, "dependency",
               m->child ? m->child : "all", "error", message, NULL);
    for (struct resource *other = r->c->resources; other && m->child; other = other->next)
        if (dependencies_of(other)->mapped)
            json_object_object_del(dependencies_of(other)->mapped, m->child);
    op_free(op);
    recheck_soon(r->c); /* another resource may be named now */
    depend_finalized(r);
}

static void on_forgotten(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    forgotten(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

/* The entries that name the resource, or the one of @m->child, by a merge patch. */
static void on_read_to_forget(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct mapping *m = op->more;
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, "v1", "ConfigMap");
    SW_AUTO_JSON *gone = json_object_new_object();
    op->req = NULL;
    if (a->code == 0 && sw_json_get(a->object, "data")) {
        json_object_object_foreach(sw_json_get(a->object, "data"), child, parent)
        {
            if (sw_streq(json_object_get_string(parent), op->r->name) &&
                (!m->child || sw_streq(child, m->child)))
                (void)json_object_object_add(gone, child, NULL);
        }
    }
    if (!kind || !json_object_object_length(gone)) {
        forgotten(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
        return;
    }
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set(body, json_object_get(gone), "data", NULL);
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, MAP_NAME, SW_PATCH_MERGE, body,
                            REQUEST_OWN(RECORDS, .retries = 4), on_forgotten, op);
}

static void begin_forgetting(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, op->key.ns, MAP_NAME,
                          REQUEST_OWN(RECORDS, .retries = 4), on_read_to_forget, op);
}

void depend_map_forget(struct resource *parent, const char *child)
{
    start(parent, &(struct mapping){ .child = sw_strdup(child) }, begin_forgetting, forgotten);
}

bool depend_map_is_forgetting(const struct resource *parent)
{
    return op_find(parent, begin_forgetting, NULL, NULL) != NULL;
}
