/* What the controller watches of the cluster: nodes, CRDs, SpecialResources. */
#include "operator/controller/private.h"
#include "operator/fetching/fetching.h"
#include "operator/manifests/node_choice.h"

#include <stdlib.h>
#include <string.h>

enum {
    RETRY_MIN_MS = 500,
    RETRY_MAX_MS = 30000,
    RESUMED_MS = 2000,   /* connections that broke off together cause one question */
    MAX_TREE = 12 << 20, /* of a resource with its status */
};

static const char *const crd_fields[] = {
    "spec.group",        "spec.names", "spec.versions[*].name", "spec.versions[*].served",
    "status.conditions", NULL
};

/* Of managedFields who has written is kept, and when; not which fields. */
static const char *const resource_fields[] = { "!metadata.managedFields.fieldsV1", NULL };

static void open_watches(struct sw_controller *c);

/* ---- changes for all resources -----------------------------------------------------------------
 */

static void each_api(const char *api, void *arg)
{
    struct sw_controller *c = arg;
    SW_GROW(c->apis, c->n_apis, c->own->apis_cap);
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

static void on_facts_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        resource_replan(r);
    }
    if (!c->own->paused)
        EACH_CAPABILITY(start, c);
}

/* ---- prerequisites ------------------------------------------------------------------------------
 */

static void on_recheck_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        if (r->started && !resource_is_deleting(r))
            resource_recheck(r);
    }
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static void put_node(struct sw_controller *c, const struct sw_watch_event *w)
{
    struct sw_node *node = sw_node_parse(w->object);
    if (!node)
        return;
    sw_fetch_queue_add_node(c->fetches, w->object);
    SW_AUTO_CHARS *group = sw_group_id(node);
    bool changed, groups_changed;
    uint64_t version = strtoull(w->resource_version ? w->resource_version : "0", NULL, 10);
    uint32_t number = sw_node_put(c->nodes, c->facts, node, group, version, &changed,
                                  &groups_changed);
    sw_node_free(node);
    if (groups_changed)
        facts_changed(c);
    if (changed)
        cluster_node_changed(c, number);
    const struct sw_group *observed = changed && *group ? sw_facts_find_group(c->facts, group)
                                                        : NULL;
    if (observed)
        EACH_CAPABILITY(node_observed, c, number, observed);
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
        uint32_t number = sw_node_set_remove(c->nodes, w->name);
        if (sw_facts_remove_node(c->facts, w->name))
            facts_changed(c);
        if (number != SW_NO_NODE)
            cluster_node_changed(c, number);
        break;
    }
    case SW_WATCH_SYNCED:
        c->own->nodes_synced = true;
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
    sw_timer_stop(c->own->kinds_news);
    read_kinds(c);
    kinds_recheck(c);
    informer_kinds_changed(c->informer);
    open_watches(c);
    facts_changed(c);
    plan_resume_all(c);
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
        break;
    case SW_WATCH_ERROR:
        controller_trouble(c, w->code, w->err ? sw_err_text(w->err) : "");
        break;
    }
}

/* ---- start -------------------------------------------------------------------------------------
 */

/* Open the watches that can be opened by now. That of SpecialResources is last: a render needs to
 * know the nodes and the groups that are served (is it OpenShift?). */
static void open_watches(struct sw_controller *c)
{
    const struct sw_kind *kind;
    kind = sw_kube_kind_find(c->kube, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
    if (!c->own->crd_watch && kind)
        c->own->crd_watch = sw_kube_watch_open(c->kube, kind,
                                               WATCH_OWN(FACTS, .fields = crd_fields), on_crd, c);
    kind = sw_kube_kind_find(c->kube, "v1", "Node");
    if (!c->own->node_watch && kind)
        c->own->node_watch = sw_kube_watch_open(
            c->kube, kind, WATCH_OWN(NODES, .fields = sw_node_fields), on_node, c);
    kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (!c->own->resource_watch && kind && c->own->nodes_synced && !c->own->paused &&
        sw_kube_groups_known(c->kube)) {
        read_kinds(c); /* there may be more than when the nodes were read */
        c->own->resource_watch = sw_kube_watch_open(c->kube, kind,
                                                    WATCH_OWN(KINDS, .name = c->only,
                                                              .fields = resource_fields,
                                                              .max_tree_bytes = MAX_TREE),
                                                    resource_on_watch, c);
    }
    if (!kind && c->own->nodes_synced)
        controller_trouble(c, SW_NOTFOUND,
                           "the cluster does not serve SpecialResource of " SW_GROUP_VERSION
                           ": its CustomResourceDefinition is not installed");
    else if (kind)
        controller_trouble(c, 0, NULL);
}

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    struct sw_controller *c = arg;
    c->own->discovery = NULL;
    if (code < 0) {
        controller_trouble(c, code, err ? sw_err_text(err) : "");
        int64_t twice_ms = c->own->retry_ms * 2;
        sw_timer_set(c->own->retry_timer, c->own->retry_ms);
        c->own->retry_ms = twice_ms > RETRY_MAX_MS ? RETRY_MAX_MS : twice_ms;
        return;
    }
    c->own->retry_ms = RETRY_MIN_MS;
    cluster_kinds_changed(c);
}

static void on_version(const struct sw_kube_answer *a, void *arg)
{
    struct sw_controller *c = arg;
    c->own->version = NULL;
    if (a->code == 0) {
        sw_text_set(&c->kube_version, sw_json_str(a->object, "", "gitVersion", NULL));
    }
    c->own->discovery = sw_kube_discover(c->kube, "*", on_discovered, c);
}

/* ---- upgrades of the cluster --------------------------------------------------------------------
 * An API server that is upgraded breaks watches off. So its version is asked for when they are
 * answered again, and never at rest.
 */

/* One that has just started does not list all that it will serve before it is ready. */
static void on_server_ready(const struct sw_kube_answer *a, void *arg)
{
    struct sw_controller *c = arg;
    c->own->version = NULL;
    if (a->code == SW_UNAVAILABLE || c->own->discovery) {
        sw_timer_set(c->own->resumed_timer, RESUMED_MS);
        return;
    }
    if (!c->own->paused)
        EACH_CAPABILITY(server_ready, c);
    if (!c->own->n_rediscover)
        return;
    c->own->n_rediscover--;
    c->own->discovery = sw_kube_discover(c->kube, "*", on_discovered, c);
}

static void on_version_again(const struct sw_kube_answer *a, void *arg)
{
    struct sw_controller *c = arg;
    const char *now = sw_json_str(a->object, "", "gitVersion", NULL);
    c->own->version = NULL;
    if (a->code == 0 && *now && !sw_streq(now, c->kube_version)) {
        sw_log(SW_LOG_INFO, "the cluster has another version", "before",
               sw_text_or(c->kube_version, ""), "now", now, NULL);
        sw_text_set(&c->kube_version, now);
        /* of several API servers one may be older still: again when that one breaks watches off */
        c->own->n_rediscover = 2;
    }
    c->own->version = sw_kube_raw(c->kube, "GET", "/readyz", REQUEST_OWN(DISCOVERY),
                                  on_server_ready, c);
}

static void on_resumed_timer(void *arg)
{
    struct sw_controller *c = arg;
    if (c->own->version || c->own->discovery)
        sw_timer_set(c->own->resumed_timer, RESUMED_MS);
    else
        c->own->version = sw_kube_version(c->kube, REQUEST_OWN(DISCOVERY, .retries = 4),
                                          on_version_again, c);
}

static void note_resumed(void *arg)
{
    struct sw_controller *c = arg;
    if (!sw_timer_is_set(c->own->resumed_timer))
        sw_timer_set(c->own->resumed_timer, RESUMED_MS);
}

/* ---- open and close ----------------------------------------------------------------------------
 */

/* The version first: a recipe may use it as soon as there is a resource. */
static void discover(void *arg)
{
    struct sw_controller *c = arg;
    c->own->version = sw_kube_version(c->kube, REQUEST_OWN(DISCOVERY, .retries = 4), on_version, c);
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
    c->own->retry_ms = RETRY_MIN_MS;
    c->own->retry_timer = sw_timer_new(c->loop, discover, c);
    c->own->facts_timer = sw_timer_new(c->loop, on_facts_timer, c);
    c->own->recheck_timer = sw_timer_new(c->loop, on_recheck_timer, c);
    c->own->resumed_timer = sw_timer_new(c->loop, on_resumed_timer, c);
    sw_kube_on_resumed(c->kube, note_resumed, c);
    kinds_open(c, cluster_kinds_changed);
    discover(c);
}

void cluster_close_resources(struct sw_controller *c)
{
    sw_kube_watch_close(SW_TAKE(c->own->resource_watch));
    documents_forget(c);
    c->resources_synced = false;
}

void cluster_close(struct sw_controller *c)
{
    sw_kube_cancel(c->own->discovery);
    sw_kube_cancel(c->own->version);
    sw_kube_on_resumed(c->kube, NULL, NULL);
    kinds_close(c);
    sw_kube_watch_close(c->own->resource_watch);
    sw_kube_watch_close(c->own->node_watch);
    sw_kube_watch_close(c->own->crd_watch);
    sw_timer_free(c->own->retry_timer);
    sw_timer_free(c->own->facts_timer);
    sw_timer_free(SW_TAKE(c->own->recheck_timer));
    sw_timer_free(c->own->resumed_timer);
    drop_apis(c);
    free(c->apis);
    free(c->kube_version);
}
