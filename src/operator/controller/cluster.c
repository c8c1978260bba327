/* The cluster as a whole: its nodes, the kinds it serves, the objects that facts come from. What
 * changes here goes to every resource. */
#include "operator/controller/internal.h"
#include "operator/manifests/node_choice.h"

#include <stdlib.h>
#include <string.h>

enum { RETRY_MIN_MS = 500, RETRY_MAX_MS = 30000, SETTLE_MS = 20 };

static const char *const crd_fields[] = {
    "spec.group",        "spec.names", "spec.versions[*].name", "spec.versions[*].served",
    "status.conditions", NULL
};

static void open_watches(struct sw_controller *c);

/* ---- values ------------------------------------------------------------------------------------
 */

bool cluster_selects(struct sw_controller *c, struct resource *r, const char *node)
{
    SW_AUTO_JSON *tolerations = sw_sharing_tolerations(r->doc);
    struct sw_node_choice choice = { c->roster, r->doc, tolerations };
    return sw_node_is_chosen(node, &choice);
}

bool cluster_selects_any(struct sw_controller *c, struct resource *r)
{
    SW_AUTO_JSON *tolerations = sw_sharing_tolerations(r->doc);
    struct sw_node_choice choice = { c->roster, r->doc, tolerations };
    const char *name = sw_node_set_name(c->roster, r->some_node);
    if (name && sw_node_is_chosen(name, &choice))
        return true;
    for (uint32_t i = 0; i < sw_node_set_end(c->roster); i++) {
        name = sw_node_set_name(c->roster, i);
        if (!name || !sw_node_is_chosen(name, &choice))
            continue;
        r->some_node = i;
        return true;
    }
    return false;
}

void cluster_groups(struct sw_controller *c, struct resource *r, struct sw_groups *out)
{
    SW_AUTO_JSON *tolerations = sw_sharing_tolerations(r->doc);
    struct sw_node_choice choice = { c->roster, r->doc, tolerations };
    sw_facts_groups(c->facts, sw_node_is_chosen, &choice, out);
}

/* The resource without what changes as it is walked: what templates see must not depend on that. */
static struct json_object *resource_value(struct resource *r)
{
    struct json_object *doc = json_object_new_object(), *meta = json_object_new_object();
    static const char *const kept[] = { "name", "uid", "labels", "annotations",
                                        "creationTimestamp" };
    for (size_t i = 0; i < SW_COUNT(kept); i++) {
        struct json_object *value = sw_json_find(r->doc, "metadata", kept[i], NULL);
        if (value)
            (void)json_object_object_add(meta, kept[i], json_object_get(value));
    }
    sw_json_set_str(doc, sw_obj_api_version(r->doc), "apiVersion", NULL);
    sw_json_set_str(doc, sw_obj_kind(r->doc), "kind", NULL);
    (void)json_object_object_add(doc, "metadata", meta);
    (void)json_object_object_add(doc, "spec", json_object_get(sw_json_get(r->doc, "spec")));
    sw_json_set_str(doc, resource_namespace(r), "spec", "namespace", NULL);
    return doc;
}

struct json_object *cluster_values(struct sw_controller *c, struct resource *r,
                                   const struct sw_group *group)
{
    struct sw_groups groups;
    cluster_groups(c, r, &groups);
    SW_AUTO_JSON *resource = resource_value(r);
    struct json_object *values = sw_facts_values(
        c->facts, &(struct sw_facts_ask){ .groups = &groups,
                                          .group = group,
                                          .resource = resource,
                                          .push_secret = r->push_secret });
    sw_groups_done(&groups);
    if (c->related)
        sw_json_set(values, json_object_get(c->related), "global", "relatedImages", NULL);
    return values;
}

/* ---- something changed -------------------------------------------------------------------------
 */

static void each_api(const char *api, void *arg)
{
    struct sw_controller *c = arg;
    SW_GROW(c->apis, c->n_apis, c->apis_cap);
    c->apis[c->n_apis++] = sw_strdup(api);
}

static void drop_apis(struct sw_controller *c)
{
    for (size_t i = 0; i < c->n_apis; i++)
        free((char *)c->apis[i]);
    c->n_apis = 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_kinds(struct sw_controller *c)
{
    drop_apis(c);
    sw_kube_each_api(c->kube, each_api, c);
    if (c->n_apis)
        qsort(c->apis, c->n_apis, sizeof *c->apis, by_text);
    sw_facts_set_openshift(c->facts, sw_kube_serves(c->kube, "config.openshift.io"));
}

/* Changes come in crowds (an operator's ten CRDs, a rack of nodes): answer the crowd. */
void cluster_facts_changed(struct sw_controller *c)
{
    if (!sw_timer_is_set(c->facts_timer))
        sw_timer_set(c->facts_timer, SETTLE_MS);
}

static void on_facts_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        resource_facts_changed(r);
    }
    if (c->paused)
        return;
    preflights_open(c);
    modules_open(c);
    das_open(c);
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

void cluster_node_changed(struct sw_controller *c, uint32_t node)
{
    depend_soon(c); /* a selector may match now, or not any more */
    overlap_node(c, node);
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        if (r->started && sw_engine_minds_node(r->engine, node))
            resource_step(r, &(struct sw_event){ .kind = SW_EV_NODE, .node = node });
    }
}

static void put_node(struct sw_controller *c, const struct sw_watch_event *w)
{
    struct sw_node *node = sw_node_parse(w->object);
    if (!node)
        return;
    SW_AUTO_CHARS *group = sw_group_id(node);
    bool changed, groups_changed;
    uint64_t version = strtoull(w->resource_version ? w->resource_version : "0", NULL, 10);
    uint32_t number = sw_node_put(c->roster, c->facts, node, group, version, &changed,
                                  &groups_changed);
    sw_node_free(node);
    if (groups_changed)
        cluster_facts_changed(c);
    if (changed)
        cluster_node_changed(c, number);
    for (struct resource *r = c->resources; changed && *group && r; r = r->next)
        kernels_label_node(r, sw_facts_find_group(c->facts, group), number);
}

static void on_node(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        put_node(c, w);
        break;
    case SW_WATCH_DELETED: {
        uint32_t number = sw_node_set_remove(c->roster, w->name);
        if (sw_facts_remove_node(c->facts, w->name))
            cluster_facts_changed(c);
        if (number != SW_NO_NODE)
            cluster_node_changed(c, number);
        break;
    }
    case SW_WATCH_SYNCED:
        c->nodes_synced = true;
        open_watches(c);
        break;
    case SW_WATCH_ERROR:
        controller_trouble(c, w->code, w->err ? sw_err_text(w->err) : "");
        break;
    }
}

/* ---- kinds -------------------------------------------------------------------------------------
 */

void cluster_kinds_changed(struct sw_controller *c)
{
    sw_timer_stop(c->kinds_news);
    read_kinds(c);
    kinds_look(c);
    informer_kinds_changed(c->informer);
    open_watches(c);
    cluster_facts_changed(c);
    wants_resume(c);
}

static void on_crd(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
    case SW_WATCH_DELETED:
        kinds_crd_changed(c, w->object, w->type == SW_WATCH_DELETED);
        break;
    case SW_WATCH_SYNCED:
        c->crds_synced = true;
        break;
    case SW_WATCH_ERROR:
        controller_trouble(c, w->code, w->err ? sw_err_text(w->err) : "");
        break;
    }
}

/* ---- start -------------------------------------------------------------------------------------
 */

/* What can be watched by now, in order: resources, of which something is rendered, only when it is
 * known which nodes and which groups (whether it is OpenShift) there are. */
static void open_watches(struct sw_controller *c)
{
    const struct sw_kind *kind;
    kind = sw_kube_kind_find(c->kube, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
    if (!c->crd_watch && kind)
        c->crd_watch = sw_kube_watch_open(
            c->kube, kind, &(struct sw_watch_opts){ .fields = crd_fields }, on_crd, c);
    kind = sw_kube_kind_find(c->kube, "v1", "Node");
    if (!c->node_watch && kind)
        c->node_watch = sw_kube_watch_open(
            c->kube, kind, &(struct sw_watch_opts){ .fields = sw_node_fields }, on_node, c);
    kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (!c->resource_watch && kind && c->nodes_synced && !c->paused &&
        sw_kube_groups_known(c->kube)) {
        read_kinds(c); /* some may have come while the nodes did */
        c->resource_watch = sw_kube_watch_open(
            c->kube, kind, &(struct sw_watch_opts){ .name = c->only }, resource_on_watch, c);
    }
    if (!kind && c->nodes_synced)
        controller_trouble(c, SW_NOTFOUND,
                           "the cluster does not serve SpecialResource of " SW_GROUP_VERSION
                           ": its CustomResourceDefinition is not installed");
    else if (kind)
        controller_trouble(c, 0, NULL);
}

static void try_again_later(struct sw_controller *c)
{
    sw_timer_set(c->retry_timer, c->retry_ms);
    c->retry_ms = c->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : c->retry_ms * 2;
}

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    struct sw_controller *c = arg;
    c->discovery = NULL;
    if (code < 0) {
        controller_trouble(c, code, err ? sw_err_text(err) : "");
        try_again_later(c);
        return;
    }
    c->retry_ms = RETRY_MIN_MS;
    cluster_kinds_changed(c);
}

static void on_version(const struct sw_kube_answer *a, void *arg)
{
    struct sw_controller *c = arg;
    c->version = NULL;
    if (a->code == 0) {
        free(c->kube_version);
        c->kube_version = sw_strdup(sw_json_str(a->object, "", "gitVersion", NULL));
    }
    c->discovery = sw_kube_discover(c->kube, "*", on_discovered, c);
}

/* The version first: a recipe may ask for it as soon as there is a resource. */
static void discover(void *arg)
{
    struct sw_controller *c = arg;
    c->version = sw_kube_version(c->kube, &(struct sw_request_opts){ .retries = 4 }, on_version, c);
}

void controller_trouble(struct sw_controller *c, int code, const char *why)
{
    if (c->trouble == code || code == SW_UNAVAILABLE)
        return; /* that the server is down, the client tells */
    c->trouble = code;
    if (c->opts.on_trouble)
        c->opts.on_trouble(code, why, c->opts.arg);
}

/* The variable in either spelling. */
static const char *setting(const char *upper, const char *lower)
{
    const char *value = getenv(upper);
    return value && *value ? value : getenv(lower);
}

void cluster_open(struct sw_controller *c)
{
    sw_facts_set_proxy(c->facts, setting("HTTP_PROXY", "http_proxy"),
                       setting("HTTPS_PROXY", "https_proxy"), setting("NO_PROXY", "no_proxy"));
    c->related = related_images();
    c->retry_ms = RETRY_MIN_MS;
    c->retry_timer = sw_timer_new(c->loop, discover, c);
    c->facts_timer = sw_timer_new(c->loop, on_facts_timer, c);
    kinds_open(c);
    discover(c);
}

void cluster_close_resources(struct sw_controller *c)
{
    sw_kube_watch_close(SW_TAKE(c->resource_watch));
    c->resources_synced = false;
}

void cluster_close(struct sw_controller *c)
{
    sw_kube_cancel(c->discovery);
    sw_kube_cancel(c->version);
    kinds_close(c);
    sw_kube_watch_close(c->resource_watch);
    sw_kube_watch_close(c->node_watch);
    sw_kube_watch_close(c->crd_watch);
    das_close(c);
    json_object_put(c->related);
    sw_timer_free(c->retry_timer);
    sw_timer_free(c->facts_timer);
    drop_apis(c);
    free(c->apis);
    free(c->kube_version);
}
