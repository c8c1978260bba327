#include "web/snapshot.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "slicing/claim/claim.h"
#include "slicing/dra/dra.h"
#include "web/project.h"
#include "web/slices.h"

enum {
    BATCH_MS = 50,
    BATCH_OBJECTS = 500,  /* of one message */
    MAX_NAMESPACES = 100, /* whose pods are watched */
};

#define CRD_VERSION "apiextensions.k8s.io/v1"

/* What is watched. */
struct row {
    const char *id; /* as the page calls it */
    const char *api_version, *kind;
    const char *crd; /* NULL: every cluster has it */
    const char *field_selector;
    const char *const *fields;
    web_project_fn *project; /* NULL: it is not shown itself */
    int slices;              /* what web_slices_observe() calls it; 0: it is not told */
};

static const char *const resource_fields[] = { "metadata.creationTimestamp",
                                               "metadata.deletionTimestamp",
                                               "spec.chart.name",
                                               "spec.chart.version",
                                               "status",
                                               NULL };
static const char *const node_fields[] = {
    "metadata.labels",         "spec.unschedulable",
    "status.conditions",       "status.nodeInfo.kernelVersion",
    "status.nodeInfo.osImage", NULL
};
static const char *const event_fields[] = { "involvedObject", "reason",        "message",   "type",
                                            "count",          "lastTimestamp", "eventTime", NULL };
static const char *const pod_fields[] = { "metadata.ownerReferences", "spec.nodeName", "status",
                                          NULL };
static const char *const accelerator_fields[] = { "status", NULL };
static const char *const claim_fields[] = { "metadata.labels", "spec", "status", NULL };
static const char *const whole[] = { "!metadata.managedFields", NULL };
static const char *const crd_fields[] = { "metadata.name", "status.conditions", NULL };

#define DRA "resource.k8s.io/v1"
#define SLICES(which) (1 + (which))

enum { ROW_RESOURCE, ROW_WAITING = 3, ROW_DEVICES = 6, ROW_POD = 7, ROW_CRD = 8, ROW_DEPENDENT };
static const struct row rows[] = {
    { "resource", "sro.openshift.io/v1beta1", "SpecialResource",
      "specialresources.sro.openshift.io", NULL, resource_fields, web_project_resource, 0 },
    { "node", "v1", "Node", NULL, NULL, node_fields, web_project_node, 0 },
    { "event", "v1", "Event", NULL, "involvedObject.kind=SpecialResource", event_fields,
      web_project_event, 0 },
    [ROW_WAITING] = { "waiting", "v1", "Pod", NULL, "spec.nodeName=,status.phase=Pending",
                      dra_pod_fields, NULL, SLICES(WEB_SLICES_PODS) },
    { "accelerator", SW_CLAIM_API, "NodeAccelerator", "nodeaccelerators.inference.redhat.com", NULL,
      accelerator_fields, web_project_accelerator, SLICES(WEB_SLICES_ACCELERATORS) },
    { "claim", SW_CLAIM_API, "AllocationClaim", "allocationclaims.inference.redhat.com", NULL,
      claim_fields, NULL, SLICES(WEB_SLICES_ALLOCATIONS) },
    [ROW_DEVICES] = { "ResourceSlice", DRA, "ResourceSlice", NULL, "spec.driver=" SW_DRA_DRIVER,
                      whole, NULL, SLICES(DRA_SLICES) },
    /* once for each namespace in which resources have objects */
    [ROW_POD] = { "pod", "v1", "Pod", NULL, NULL, pod_fields, web_project_pod, 0 },
    /* which of the kinds above are served */
    [ROW_CRD] = { "crd", CRD_VERSION, "CustomResourceDefinition", NULL, NULL, crd_fields, NULL, 0 },
    /* where nodes publish slices, what kube-scheduler goes by; all pods, not those alone that wait
     */
    [ROW_DEPENDENT] = { "Node", "v1", "Node", NULL, NULL, dra_node_fields, NULL,
                        SLICES(DRA_NODES) },
    { "DeviceClass", DRA, "DeviceClass", NULL, NULL, whole, NULL, SLICES(DRA_CLASSES) },
    { "ResourceClaim", DRA, "ResourceClaim", NULL, NULL, whole, NULL, SLICES(DRA_CLAIMS) },
    { "PodDisruptionBudget", "policy/v1", "PodDisruptionBudget", NULL, NULL, dra_budget_fields,
      NULL, SLICES(WEB_SLICES_BUDGETS) },
    { "Pod", "v1", "Pod", NULL, NULL, dra_pod_fields, NULL, SLICES(WEB_SLICES_PODS) },
};

/* A watch, or what is on its way to become one. */
struct source {
    struct web_snapshot *s;
    const struct row *row;
    char *ns; /* of a pod's row; else NULL */
    struct sw_kube_request *find;
    struct sw_kube_watch *watch;
    bool failed;  /* the watch reports an error, and tries again */
    bool stopped; /* for good */
    struct source *next;
};

struct web_snapshot {
    struct sw_loop *loop;
    struct sw_kube *kube;
    web_change_fn *change;
    void *arg;
    struct source *sources;
    struct web_slices *slices;
    bool devices; /* nodes publish slices: the dependent rows are watched */
    size_t n_namespaces;
    struct json_object *objects; /* {kind: {"ns/name": text of JSON}} */
    struct json_object *pending; /* {kind: {"ns/name": null}}: changed, and not told yet */
    struct json_object *trouble; /* {kind: message} of what cannot be read */
    char *down;                  /* why the server does not answer; NULL: it does */
    bool told;                   /* @trouble and @down are as they were told last */
    struct sw_timer *timer;
};

/* ---- messages ----------------------------------------------------------------------------------
 */

static void put_text(struct sw_buffer *out, const char *text)
{
    sw_buffer_put(out, text, strlen(text));
}

static void put_string(struct sw_buffer *out, const char *text)
{
    SW_AUTO_JSON *value = json_object_new_string(text);
    SW_AUTO_CHARS *json = sw_json_text(value, SW_JSON_PLAIN, NULL);
    put_text(out, json);
}

/* Lists of objects as they are written. */
struct list {
    const struct web_snapshot *s;
    const struct web_filter *filter; /* NULL: all is seen */
    struct sw_buffer *out;
    const char *first;   /* before the first object */
    const char *between; /* each BATCH_OBJECTS; NULL: a comma */
    bool tells_of_gone;  /* what is not there is null */
    size_t n;
};

/* One element of a list: [kind, key, object]. */
static void put_object(struct list *list, const char *kind, const char *key)
{
    const char *text = sw_json_str(list->s->objects, NULL, kind, key, NULL);
    SW_AUTO_CHARS *own = NULL;
    if (!text && list->tells_of_gone)
        text = "null";
    if (text && list->filter)
        text = list->filter->see(kind, key, text, &own, list->filter->arg);
    if (!text)
        return;
    if (list->n == 0)
        put_text(list->out, list->first);
    else
        put_text(list->out, list->between && list->n % BATCH_OBJECTS == 0 ? list->between : ",");
    put_text(list->out, "[");
    put_string(list->out, kind);
    put_text(list->out, ",");
    put_string(list->out, key);
    put_text(list->out, ",");
    put_text(list->out, text);
    put_text(list->out, "]");
    list->n++;
}

/* The objects that @which names, by kind and key. */
static void put_objects(struct list *list, struct json_object *which)
{
    json_object_object_foreach(which, kind, keys)
    {
        json_object_object_foreach(keys, key, value)
        {
            (void)value;
            put_object(list, kind, key);
        }
    }
}

/* What is to be said about the server: {"now", "server", "version", "down", "trouble", "hidden"}.
 */
static void put_server(const struct web_snapshot *s, const char *version,
                       const struct web_filter *filter, struct sw_buffer *out)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int64(sw_loop_wall_ms(s->loop)), "now", NULL);
    sw_json_set_str(doc, sw_kube_server(s->kube), "server", NULL);
    if (version)
        sw_json_set_str(doc, version, "version", NULL);
    if (s->down)
        sw_json_set_str(doc, s->down, "down", NULL);
    sw_json_set(doc, json_object_get(s->trouble), "trouble", NULL);
    if (filter && filter->hidden)
        sw_json_set(doc, json_object_get(filter->hidden), "hidden", NULL);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    put_text(out, text);
}

#define PUT "event: put\ndata: ["

void web_snapshot_put(const struct web_snapshot *s, const char *version,
                      const struct web_filter *filter, struct sw_buffer *out)
{
    struct list list = { s, filter, out, "\n\n" PUT, "]\n\n" PUT, false, 0 };
    put_text(out, "event: reset\ndata: ");
    put_server(s, version, filter, out);
    put_objects(&list, s->objects);
    put_text(out, list.n ? "]\n\n" : "\n\n");
    put_text(out, "event: synced\ndata: {}\n\n");
}

void web_snapshot_document(const struct web_snapshot *s, const char *version,
                           const struct web_filter *filter, struct sw_buffer *out)
{
    struct list list = { s, filter, out, "", NULL, false, 0 };
    put_text(out, "{\"about\":");
    put_server(s, version, filter, out);
    put_text(out, ",\"objects\":[");
    put_objects(&list, s->objects);
    put_text(out, "]}\n");
}

void web_snapshot_put_changes(const struct web_snapshot *s, const struct web_filter *filter,
                              struct sw_buffer *out)
{
    struct list list = { s, filter, out, PUT, "]\n\n" PUT, true, 0 };
    if (!s->told) {
        put_text(out, "event: server\ndata: ");
        put_server(s, NULL, filter, out);
        put_text(out, "\n\n");
    }
    put_objects(&list, s->pending);
    if (list.n)
        put_text(out, "]\n\n");
}

/* Tell what has changed since it was told last. */
static void on_batch(void *arg)
{
    struct web_snapshot *s = arg;
    if (s->told && !sw_json_len(s->pending))
        return;
    s->change(s->arg);
    s->told = true;
    (void)json_object_put(s->pending);
    s->pending = json_object_new_object();
}

static void tell_soon(struct web_snapshot *s)
{
    if (!sw_timer_is_set(s->timer))
        sw_timer_set(s->timer, BATCH_MS);
}

/* ---- what was observed -------------------------------------------------------------------------
 */

static void set_trouble(struct web_snapshot *s, const char *kind, const char *message)
{
    if (sw_streq(sw_json_str(s->trouble, NULL, kind, NULL), message))
        return;
    if (message)
        sw_json_set_str(s->trouble, message, kind, NULL);
    else
        (void)sw_json_del(s->trouble, kind, NULL);
    s->told = false;
    tell_soon(s);
}

/* Store what is shown of an object; @doc NULL: nothing is. */
static void store(struct web_snapshot *s, const char *kind, const char *key,
                  struct json_object *doc)
{
    SW_AUTO_CHARS *text = doc ? sw_json_text(doc, SW_JSON_PLAIN, NULL) : NULL;
    if (sw_streq(sw_json_str(s->objects, NULL, kind, key, NULL), text))
        return;
    if (text)
        sw_json_set_str(s->objects, text, kind, key, NULL);
    else
        (void)sw_json_del(s->objects, kind, key, NULL);
    sw_json_set(s->pending, NULL, kind, key, NULL);
    tell_soon(s);
}

static void start(struct source *source);

static void stop(struct source *source)
{
    sw_kube_cancel(SW_TAKE(source->find));
    sw_kube_watch_close(SW_TAKE(source->watch));
    source->stopped = true;
}

static struct source *source_add(struct web_snapshot *s, const struct row *row, const char *ns)
{
    struct source *source = sw_zalloc(1, sizeof *source);
    source->s = s;
    source->row = row;
    source->ns = sw_strdup(ns);
    source->next = s->sources;
    s->sources = source;
    start(source);
    return source;
}

/* Watch the pods in the namespaces of the inventory of @resource, too. */
static void add_namespaces(struct web_snapshot *s, struct json_object *resource)
{
    struct json_object *inventory = sw_json_get(resource, "inventory");
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        const char *ns = sw_json_str(sw_json_at(inventory, i), "", "namespace", NULL);
        struct source *at = s->sources;
        while (at && !sw_streq(at->ns, ns))
            at = at->next;
        if (*ns && !at && s->n_namespaces++ < MAX_NAMESPACES)
            (void)source_add(s, &rows[ROW_POD], ns);
    }
}

/* Moves are told of when everything that they depend on was. */
static void check_complete(struct web_snapshot *s)
{
    bool complete = true;
    for (struct source *at = s->sources; at; at = at->next)
        if (at->row >= &rows[ROW_DEPENDENT] || at->row == &rows[ROW_DEVICES])
            complete &= !at->find && (at->watch ? !at->failed && sw_kube_watch_is_synced(at->watch)
                                                : at->row == &rows[ROW_DEVICES]);
    web_slices_set_complete(s->slices, complete);
}

/* Nodes publish slices: what they are given out by is needed, too. */
static void watch_dependent(struct web_snapshot *s)
{
    if (s->devices)
        return;
    s->devices = true;
    for (struct source *at = s->sources; at; at = at->next)
        if (at->row == &rows[ROW_WAITING])
            stop(at);
    web_slices_forget_pods(s->slices);
    for (size_t i = ROW_DEPENDENT; i < SW_COUNT(rows); i++)
        (void)source_add(s, &rows[i], NULL);
    check_complete(s);
}

static void show(const char *kind, const char *key, struct json_object *doc, void *arg)
{
    store(arg, kind, key, doc);
}

/* A definition is there, or is served now: of a kind that is looked for? */
static void on_definition(struct web_snapshot *s, const struct sw_watch_event *e)
{
    for (struct source *at = s->sources; e->name && at; at = at->next)
        if (sw_streq(at->row->crd, e->name) && e->type != SW_WATCH_DELETED)
            start(at);
}

static void on_watch(const struct sw_watch_event *e, void *arg)
{
    struct source *source = arg;
    struct web_snapshot *s = source->s;
    const char *kind = source->row->id;
    if (e->type == SW_WATCH_ERROR || e->type == SW_WATCH_SYNCED)
        source->failed = e->type == SW_WATCH_ERROR;
    if (e->type == SW_WATCH_ERROR || e->type == SW_WATCH_SYNCED) {
        set_trouble(s, kind, source->failed ? sw_err_text(e->err) : NULL);
        check_complete(s);
        return;
    }
    if (source->row == &rows[ROW_CRD])
        on_definition(s, e);
    if (source->row->slices)
        web_slices_observe(s->slices, source->row->slices - 1, e);
    if (source->row == &rows[ROW_DEVICES] && e->type != SW_WATCH_DELETED)
        watch_dependent(s);
    if (!source->row->project)
        return;
    SW_AUTO_CHARS *key = sw_printf("%s/%s", e->ns ? e->ns : "", e->name);
    SW_AUTO_JSON *doc = e->type == SW_WATCH_DELETED ? NULL : source->row->project(e->object);
    store(s, kind, key, doc);
    if (source->row == &rows[ROW_RESOURCE])
        add_namespaces(s, doc);
}

/* ---- watches -----------------------------------------------------------------------------------
 */

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct source *source = arg;
    source->find = NULL;
    if (code < 0) { /* without a definition there is nothing to be shown */
        set_trouble(source->s, source->row->id, code == SW_NOTFOUND ? NULL : sw_err_text(err));
        check_complete(source->s);
        return;
    }
    source->watch = sw_kube_watch_open(
        source->s->kube, kind,
        &(struct sw_watch_opts){ .ns = source->ns,
                                 .field_selector = source->row->field_selector,
                                 .fields = source->row->fields },
        on_watch, source);
}

static void start(struct source *source)
{
    if (!source->find && !source->watch && !source->stopped)
        source->find = sw_kube_kind(source->s->kube, source->row->api_version, source->row->kind,
                                    on_kind, source);
}

void web_snapshot_try_again(struct web_snapshot *s)
{
    for (struct source *at = s->sources; at; at = at->next)
        start(at);
}

void web_snapshot_server(struct web_snapshot *s, const char *why)
{
    sw_text_set(&s->down, why);
    s->told = false;
    tell_soon(s);
    if (!why)
        web_snapshot_try_again(s);
}

bool web_snapshot_is_synced(const struct web_snapshot *s)
{
    for (struct source *at = s->sources; at; at = at->next)
        if (at->find || (at->watch && !at->failed && !sw_kube_watch_is_synced(at->watch)))
            return false;
    return web_slices_is_done(s->slices);
}

bool web_snapshot_has_pod(const struct web_snapshot *s, const char *ns, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns, name);
    return sw_json_find(s->objects, "pod", key, NULL) != NULL;
}

struct web_snapshot *web_snapshot_new(struct sw_loop *loop, struct sw_kube *kube,
                                      web_change_fn *change, void *arg)
{
    struct web_snapshot *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->kube = kube;
    s->change = change;
    s->arg = arg;
    s->objects = json_object_new_object();
    s->pending = json_object_new_object();
    s->trouble = json_object_new_object();
    s->told = true;
    s->timer = sw_timer_new(loop, on_batch, s);
    s->slices = web_slices_new(loop, show, s);
    for (size_t i = 0; i < ROW_DEPENDENT; i++)
        if (i != ROW_POD)
            (void)source_add(s, &rows[i], NULL);
    return s;
}

void web_snapshot_free(struct web_snapshot *s)
{
    if (!s)
        return;
    for (struct source *at = s->sources, *next; at; at = next) {
        next = at->next;
        stop(at);
        free(at->ns);
        free(at);
    }
    web_slices_free(s->slices);
    sw_timer_free(s->timer);
    (void)json_object_put(s->objects);
    (void)json_object_put(s->pending);
    (void)json_object_put(s->trouble);
    free(s->down);
    free(s);
}
