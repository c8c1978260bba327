/* The DASOperator named cluster, in namespace das-operator (without one where the definition is of
 * slipway 0.x, which made it cluster-scoped), by which users of the Dynamic Accelerator Slicer turn
 * slicing on. Its spec becomes the SpecialResource nvidia-mig, whose state is reported in the
 * conditions of the DASOperator. Each reconciliation compares with what is in the cluster now. */
#include "operator/controller/core.h"

#include <stdlib.h>

#include "operator/manifests/das_resource.h"

#define DAS_GROUP_VERSION "inference.redhat.com/v1alpha1"
#define RESOURCE_NAME "nvidia-mig"
#define HASH_ANNOTATION "slipway.dev/das-operator"

enum {
    SETTLE_MS = 100,
    AGAIN_MS = 5000,
    N_PARTS = 5,
    PART_DAEMONSET = 0,
    PART_OPERATOR = N_PARTS - 1
};

/* What the status reports on. The recipe applies all but the last, and the status has their
 * generations; conditions are about those that have pods. The last one is the operator itself, if
 * it was deployed in the place of DAS. */
static const struct {
    const char *api_version, *kind, *name, *ns;
    const char *wanted, *ready; /* fields of status: numbers of pods; NULL: it has none */
    const char *group, *plural;
} parts[N_PARTS] = {
    { "apps/v1", "DaemonSet", "das-daemonset", DAS_NAMESPACE, "desiredNumberScheduled",
      "numberAvailable", "apps", "daemonsets" },
    { "apps/v1", "Deployment", "das-scheduler", DAS_NAMESPACE, "replicas", "availableReplicas",
      "apps", "deployments" },
    { "apps/v1", "Deployment", "das-operator-webhook", DAS_NAMESPACE, "replicas",
      "availableReplicas", "apps", "deployments" },
    { "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
      "das-mutating-webhook-configuration", "", NULL, NULL, "admissionregistration.k8s.io",
      "mutatingwebhookconfigurations" },
    { "apps/v1", "Deployment", DAS_OPERATOR, DAS_NAMESPACE, NULL, NULL, NULL, NULL },
};

struct das {
    struct sw_controller *c;
    struct sw_kube_watch *watch, *resource_watch;
    struct json_object *doc, *resource; /* as last seen; NULL: not there */
    struct json_object *parts[N_PARTS];
    struct sw_kube_request *write, *status_write;
    struct sw_timer *timer;
    bool creates;       /* the resource that is being written was not there */
    char *trouble;      /* why the resource could not be written */
    char *status_fault; /* why the status could not be written, as it was told */
    bool cleaned;       /* there is no resource of a DASOperator that is gone */
};

static void reconcile_soon(struct das *d)
{
    if (!sw_timer_is_set(d->timer))
        sw_timer_set(d->timer, SETTLE_MS);
}

static const char *management(const struct das *d)
{
    const char *state = sw_json_str(d->doc, "", "spec", "managementState", NULL);
    return *state ? state : "Managed";
}

/* ---- the resource ------------------------------------------------------------------------------
 */

static void on_written(const struct sw_kube_answer *a, void *arg);

/* Somebody made a resource of that name at the same moment: what he wrote into it is not walked
 * with the rights that this one has. */
static bool drop_planted(struct das *d, const struct sw_kube_answer *a)
{
    const struct sw_kind *kind = sw_kube_kind_find(d->c->kube, SW_GROUP_VERSION, "SpecialResource");
    bool is_planted = d->creates && a->code == 0 && a->http_status == 200 && kind;
    d->creates = false;
    if (is_planted)
        d->write = sw_kube_delete(d->c->kube, kind, NULL, RESOURCE_NAME,
                                  REQUEST_OWN(KINDS, .uid = sw_obj_uid(a->object), .retries = 4),
                                  on_written, d);
    return is_planted;
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct das *d = arg;
    d->write = NULL;
    if (drop_planted(d, a))
        return;
    free(SW_TAKE(d->trouble));
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT) {
        d->trouble = sw_strdup(sw_err_text(a->err));
        sw_log(SW_LOG_WARN, "DASOperator not carried out", "error", d->trouble, NULL);
        sw_timer_set(d->timer, AGAIN_MS);
    }
    reconcile_soon(d);
}

static bool is_deleting(struct json_object *doc)
{
    return sw_json_find(doc, "metadata", "deletionTimestamp", NULL);
}

static const struct sw_kind *das_kind(const struct das *d)
{
    return sw_kube_kind_find(d->c->kube, DAS_GROUP_VERSION, "DASOperator");
}

/* Its namespace; NULL: it has none. */
static const char *das_namespace(const struct das *d)
{
    const struct sw_kind *kind = das_kind(d);
    return kind && kind->namespaced ? DAS_NAMESPACE : NULL;
}

static void on_orphan_read(const struct sw_kube_answer *a, void *arg)
{
    struct das *d = arg;
    const struct sw_kind *kind = sw_kube_kind_find(d->c->kube, SW_GROUP_VERSION, "SpecialResource");
    d->write = NULL;
    d->cleaned = a->code == SW_NOTFOUND ||
                 (a->code == 0 &&
                  (is_deleting(a->object) || !sw_obj_annotation(a->object, DAS_OWNER_ANNOTATION)));
    if (a->code == 0 && !d->cleaned && kind && !d->doc)
        d->write = sw_kube_delete(d->c->kube, kind, NULL, RESOURCE_NAME,
                                  REQUEST_OWN(KINDS, .uid = sw_obj_uid(a->object), .retries = 4),
                                  on_written, d);
    else if (!d->cleaned)
        sw_timer_set(d->timer, AGAIN_MS);
}

/* The DASOperator is gone, perhaps while no controller ran: its resource goes, too. */
static void drop_resource(struct das *d)
{
    const struct sw_kind *kind = sw_kube_kind_find(d->c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (d->cleaned || d->write || !kind || !das_namespace(d) || !d->watch ||
        !sw_kube_watch_is_synced(d->watch))
        return;
    d->write = sw_kube_get(d->c->kube, kind, NULL, RESOURCE_NAME, REQUEST_OWN(KINDS, .retries = 4),
                           on_orphan_read, d);
}

/* Who may use the account of a resource is asked when somebody writes it, and not when the operator
 * does: one that is walked as another account stays as it is. @return what is said; NULL: nothing
 */
static char *account_fault(const struct das *d)
{
    const char *ns = sw_json_str(d->resource, "", "spec", "namespace", NULL);
    SW_AUTO_CHARS *now = account_of(d->c, d->resource, *ns ? ns : RESOURCE_NAME, RESOURCE_NAME);
    SW_AUTO_CHARS *then = account_of(d->c, d->resource, DAS_NAMESPACE, RESOURCE_NAME);
    const char *acts_as = sw_obj_annotation(d->resource, RESOURCE_ACTS_AS);
    if (sw_streq(now, then) && !acts_as)
        return NULL;
    return sw_printf("SpecialResource " RESOURCE_NAME " is there, and is walked as %s, not as %s: "
                     "delete it",
                     acts_as ? acts_as : now, then);
}

/* Apply the resource if it differs, or delete it if the DASOperator is Removed. */
static void keep_resource(struct das *d)
{
    const struct sw_kind *kind = sw_kube_kind_find(d->c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (d->write || !kind || !sw_kube_watch_is_synced(d->resource_watch) || is_deleting(d->doc) ||
        is_deleting(d->resource) || sw_streq(management(d), "Unmanaged"))
        return;
    const char *hash = d->resource ? sw_obj_annotation(d->resource, HASH_ANNOTATION) : NULL;
    if (sw_streq(management(d), "Removed")) {
        if (hash) /* else it was not created here */
            d->write = sw_kube_delete(d->c->kube, kind, NULL, RESOURCE_NAME,
                                      REQUEST_OWN(KINDS, .retries = 4), on_written, d);
        return;
    }
    SW_AUTO_JSON *body = sw_das_resource(d->doc);
    if (sw_streq(hash, sw_obj_annotation(body, HASH_ANNOTATION)))
        return;
    SW_AUTO_CHARS *fault = d->resource ? account_fault(d) : NULL;
    if (fault) {
        if (fault_is_news(&d->trouble, fault))
            sw_log(SW_LOG_WARN, "DASOperator not carried out", "error", fault, NULL);
        return;
    }
    d->creates = !d->resource;
    if (d->resource) /* what others write at the same moment is looked at first */
        sw_json_set_str(body, sw_json_str(d->resource, "", "metadata", "resourceVersion", NULL),
                        "metadata", "resourceVersion", NULL);
    d->write = sw_kube_apply(
        d->c->kube, kind, NULL, RESOURCE_NAME, body,
        REQUEST_OWN(KINDS, .force = true, .retries = 4, .field_manager = "slipway-das"), on_written,
        d);
}

/* ---- the status --------------------------------------------------------------------------------
 */

static void on_status_written(const struct sw_kube_answer *a, void *arg)
{
    struct das *d = arg;
    d->status_write = NULL;
    bool failed = a->code < 0 && a->code != SW_NOTFOUND;
    if (fault_is_news(&d->status_fault, failed ? sw_err_text(a->err) : NULL))
        sw_log(SW_LOG_WARN, "DASOperator's status not written", "error", d->status_fault, NULL);
    if (!failed)
        return;
    sw_timer_set(d->timer, AGAIN_MS);
}

static void add_generations(const struct das *d, struct json_object *list)
{
    for (size_t i = 0; i < N_PARTS; i++) {
        if (!d->parts[i] || !parts[i].group)
            continue;
        const int64_t generation = sw_json_int(d->parts[i], 0, "metadata", "generation", NULL);
        struct json_object *g = json_object_new_object();
        sw_json_set_str(g, parts[i].group, "group", NULL);
        sw_json_set_str(g, parts[i].plural, "resource", NULL);
        sw_json_set_str(g, parts[i].ns, "namespace", NULL);
        sw_json_set_str(g, parts[i].name, "name", NULL);
        sw_json_set_str(g, "", "hash", NULL); /* as DAS leaves it */
        sw_json_set(g, json_object_new_int64(generation), "lastGeneration", NULL);
        (void)json_object_array_add(list, g);
    }
}

/* Does kube-scheduler place the slices? The recipe has no scheduler and no webhook then. */
static bool is_by_claims(const struct das *d)
{
    return sw_streq(sw_obj_label(d->parts[PART_DAEMONSET], "slipway.dev/api"), "dra");
}

/* What the components lack, for people: heap; NULL: nothing. @ready: how many replicas of the
 * operator are, as with DAS; else, where it has another name, how many pods of the components. */
static char *shortage(const struct das *d, int64_t *ready)
{
    char *message = NULL;
    *ready = 0;
    for (size_t i = 0; i < N_PARTS; i++) {
        struct json_object *part = d->parts[i];
        if (!parts[i].wanted || (!part && i != PART_DAEMONSET && is_by_claims(d)))
            continue;
        const int64_t want = sw_json_int(part, 0, "status", parts[i].wanted, NULL);
        const int64_t have = sw_json_int(part, 0, "status", parts[i].ready, NULL);
        *ready += have;
        if (part && have >= want && want > 0)
            continue;
        sw_append(&message, "%s%s", message ? ", " : "", parts[i].name);
        if (!part)
            sw_append(&message, " is not there");
        else if (want == 0)
            sw_append(&message, " has no node");
        else
            sw_append(&message, " %lld of %lld", (long long)have, (long long)want);
    }
    if (d->parts[PART_OPERATOR])
        *ready = sw_json_int(d->parts[PART_OPERATOR], 0, "status", "readyReplicas", NULL);
    return message;
}

static void add_condition(struct das *d, struct json_object *list, const char *type, bool is,
                          const char *reason, const char *message)
{
    sw_condition_add(
        list, sw_json_find(d->doc, "status", "conditions", NULL),
        &(struct sw_condition){ type, is, reason, message, .at_ms = sw_loop_wall_ms(d->c->loop) });
}

static struct json_object *resource_condition(const struct das *d, const char *type)
{
    return sw_json_find_by(sw_json_find(d->resource, "status", "conditions", NULL), "type", type);
}

/* Available, Progressing, Degraded with the reasons that DAS gives. */
static void add_conditions(struct das *d, struct json_object *list, const char *lacks)
{
    struct json_object *errored = resource_condition(d, "Errored");
    const bool ready = sw_streq(sw_json_str(resource_condition(d, "Ready"), "", "status", NULL),
                                "True");
    const bool failed = sw_streq(sw_json_str(errored, "", "status", NULL), "True");
    const char *why = d->trouble ? d->trouble
                      : failed   ? sw_json_str(errored, "", "message", NULL)
                      : lacks    ? lacks
                                 : "";
    add_condition(d, list, "Available", !lacks,
                  lacks ? "ComponentsNotAvailable" : "AllRequiredComponentsAvailable",
                  lacks             ? lacks
                  : is_by_claims(d) ? "the device plugin serves, kube-scheduler places its slices"
                                    : "the device plugin, the scheduler and the webhook serve");
    add_condition(
        d, list, "Progressing", !ready, ready ? "AllComponentsAtDesiredState" : "Reconciling",
        ready ? "the recipe nvidia-mig is Ready" : "the recipe nvidia-mig is being walked");
    const bool bad = d->trouble || failed || (lacks && ready);
    add_condition(d, list, "Degraded", bad,
                  bad ? "ComponentReplicaMismatch" : "AllComponentsHealthy",
                  bad ? why : "no component lacks what it should have");
}

static void write_status(struct das *d)
{
    const struct sw_kind *kind = das_kind(d);
    if (d->status_write || !kind)
        return;
    int64_t ready;
    SW_AUTO_JSON *status = json_object_new_object();
    SW_AUTO_CHARS *lacks = shortage(d, &ready);
    add_generations(d, sw_json_need_list(status, "generations", NULL));
    sw_json_set(status,
                json_object_new_int64(sw_json_int(d->doc, 0, "metadata", "generation", NULL)),
                "observedGeneration", NULL);
    sw_json_set(status, json_object_new_int64(ready), "readyReplicas", NULL);
    if (!sw_streq(management(d), "Removed"))
        add_conditions(d, sw_json_need_list(status, "conditions", NULL), lacks);
    else
        add_condition(d, sw_json_need_list(status, "conditions", NULL), "Available", false,
                      "Removed", "managementState is Removed");
    SW_AUTO_JSON *before = sw_json_copy(sw_json_get(d->doc, "status"));
    SW_AUTO_JSON *after = before ? sw_json_copy(before) : json_object_new_object();
    json_object_object_foreach(status, key, value)
    {
        sw_json_set(after, json_object_get(value), key, NULL);
    }
    if (sw_json_equal(before, after))
        return;
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(patch, json_object_get(status), "status", NULL);
    d->status_write = sw_kube_patch(
        d->c->kube, kind, das_namespace(d), DAS_NAME, SW_PATCH_MERGE, patch,
        REQUEST_OWN(KINDS, .subresource = "status", .retries = 4), on_status_written, d);
}

/* ---- the watches -------------------------------------------------------------------------------
 */

/* Keep @now in place of what was seen before. */
static void set(struct json_object **field, struct json_object *now)
{
    json_object_put(*field);
    *field = json_object_get(now);
}

static void on_component(const struct informer_event *event, void *arg, uint64_t number)
{
    struct das *d = arg;
    set(&d->parts[number], event->object);
    reconcile_soon(d);
}

static void on_resource(const struct sw_watch_event *w, void *arg)
{
    struct das *d = arg;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED)
        set(&d->resource, w->object);
    else if (w->type == SW_WATCH_DELETED)
        set(&d->resource, NULL);
    reconcile_soon(d);
}

/* The resource and its workloads are watched only where there is a DASOperator. */
static void open_watches(struct das *d)
{
    const struct sw_kind *kind = sw_kube_kind_find(d->c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (d->resource_watch || !kind)
        return;
    d->resource_watch = sw_kube_watch_open(d->c->kube, kind,
                                           WATCH_OWN(KINDS, .name = RESOURCE_NAME), on_resource, d);
    for (size_t i = 0; i < N_PARTS; i++)
        informer_subscribe(d->c->informer,
                           &(struct sw_action){ .watch = i,
                                                .key = { .api_version = parts[i].api_version,
                                                         .kind = parts[i].kind,
                                                         .ns = parts[i].ns,
                                                         .name = parts[i].name } },
                           on_component, d);
}

static void close_watches(struct das *d)
{
    informer_unsubscribe_all(d->c->informer, d);
    sw_kube_watch_close(SW_TAKE(d->resource_watch));
    sw_kube_cancel(SW_TAKE(d->write));
    sw_kube_cancel(SW_TAKE(d->status_write));
    for (size_t i = 0; i < N_PARTS; i++)
        set(&d->parts[i], NULL);
    set(&d->resource, NULL);
}

static void reconcile(void *arg)
{
    struct das *d = arg;
    if (!d->doc) {
        if (d->resource_watch)
            close_watches(d);
        drop_resource(d);
        return;
    }
    d->cleaned = false;
    open_watches(d);
    keep_resource(d);
    if (d->resource_watch && sw_kube_watch_is_synced(d->resource_watch))
        write_status(d);
}

static void on_das(const struct sw_watch_event *w, void *arg)
{
    struct das *d = arg;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED) {
        set(&d->doc, w->object);
        sw_das_log_level(d->doc);
    } else if (w->type == SW_WATCH_DELETED) {
        set(&d->doc, NULL);
    }
    reconcile_soon(d);
}

static void start(struct sw_controller *c)
{
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, DAS_GROUP_VERSION, "DASOperator");
    struct das *d = c->state[CAPABILITY_das];
    if (c->only || !kind)
        return;
    if (!d) {
        d = c->state[CAPABILITY_das] = sw_zalloc(1, sizeof *d);
        d->c = c;
        d->timer = sw_timer_new(c->loop, reconcile, d);
    }
    if (!d->watch)
        d->watch = sw_kube_watch_open(
            c->kube, kind, WATCH_OWN(KINDS, .ns = das_namespace(d), .name = DAS_NAME), on_das, d);
    if (d->doc)
        reconcile_soon(d);
}

static void stop(struct sw_controller *c)
{
    struct das *d = SW_TAKE(c->state[CAPABILITY_das]);
    if (!d)
        return;
    close_watches(d);
    sw_kube_watch_close(d->watch);
    sw_timer_free(d->timer);
    json_object_put(d->doc);
    free(d->trouble);
    free(d->status_fault);
    free(d);
}

const struct capability capability_das = {
    .name = "das",
    .summary = "the DASOperator of the Dynamic Accelerator Slicer is carried out",
    .start = start,
    .stop = stop,
};
