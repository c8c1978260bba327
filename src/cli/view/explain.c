#include "cli/view/explain.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/requests.h"
#include "cli/recipe/absent_charts.h"
#include "cli/view/explain_nodes.h"
#include "cli/view/report.h"
#include "cli/view/text.h"
#include "data/data.h"
#include "operator/engine/readiness/gate.h"
#include "operator/engine/readiness/pod.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/inventory/inventory.h"

enum {
    MOST_PODS = 5,   /* of one object */
    MOST_EVENTS = 3, /* of one object, the latest */
    LOG_LINES = 10,  /* of a container that has ended */
    RETRIES = 3,
};

#define UNAWAITED_HINT                                                                             \
    "with 'annotations: {slipway.dev/wait: all}' in Chart.yaml the state is Ready when they are"

/* ---- links of the chain ------------------------------------------------------------------------
 */

/* One link of the chain: @what, and what state it is in; the caller's. */
static struct json_object *link_new(const char *is, const char *what)
{
    struct json_object *link = json_object_new_object();
    sw_json_set_str(link, what, "what", NULL);
    sw_json_set_str(link, is, "is", NULL);
    return link;
}

static void set(struct json_object *link, const char *key, const char *value)
{
    if (value && *value)
        sw_json_set_str(link, value, key, NULL);
}

static void add(struct json_object *link, struct json_object *because)
{
    (void)json_object_array_add(sw_json_need_list(link, "because", NULL), because);
}

static void add_message(struct json_object *link, const char *is, const char *what, const char *why)
{
    struct json_object *leaf = link_new(is, what);
    set(leaf, "why", why);
    add(link, leaf);
}

static void explain_deletion(struct json_object *object, struct json_object *link)
{
    const char *since = sw_json_str(object, NULL, "metadata", "deletionTimestamp", NULL);
    if (!since)
        return;
    struct json_object *leaf = link_new("Waiting", "it is being deleted");
    SW_AUTO_CHARS *held_by = sw_deletion_held_by(object);
    set(leaf, "why", held_by);
    set(leaf, "since", since);
    add(link, leaf);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_kube_event_time(*x), sw_kube_event_time(*y));
}

/* The latest warnings about an object. */
static void explain_events(struct sw_connection *conn, struct json_object *object,
                           struct json_object *link)
{
    SW_ERR(err);
    SW_AUTO_JSON *events = NULL;
    const char *ns = sw_obj_namespace(object);
    SW_AUTO_CHARS *selector = sw_printf("type=Warning,involvedObject.uid=%s", sw_obj_uid(object));
    const struct sw_request_opts opts = { .field_selector = selector, .retries = RETRIES };
    if (sw_cluster_find(conn, "v1", "Event", *ns ? ns : "default", NULL, &opts, &events, &err) < 0)
        return; /* the account may not be allowed to read them */
    json_object_array_sort(events, by_time);
    size_t n = sw_json_len(events);
    for (size_t i = n > MOST_EVENTS ? n - MOST_EVENTS : 0; i < n; i++) {
        struct json_object *event = sw_json_at(events, i);
        int64_t count = sw_json_int(event, 1, "count", NULL);
        SW_AUTO_CHARS *what = sw_printf("Event %s", sw_json_str(event, "", "reason", NULL));
        if (count > 1)
            sw_append(&what, " (%lld times)", (long long)count);
        struct json_object *leaf = link_new("Waiting", what);
        set(leaf, "why", sw_json_str(event, "", "message", NULL));
        set(leaf, "since", sw_kube_event_time(event));
        add(link, leaf);
    }
}

/* ---- pods --------------------------------------------------------------------------------------
 */

/* The last lines of a container's log. */
static void add_log(struct sw_connection *conn, struct json_object *pod, const char *container,
                    bool previous, struct json_object *link)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    const struct sw_request_opts opts = { .container = container,
                                          .tail_lines = LOG_LINES,
                                          .previous = previous };
    size_t len;
    if (sw_cluster_logs(conn, sw_obj_namespace(pod), sw_obj_name(pod), &opts, &text, &len, &err) <
        0)
        return;
    len = strlen(text);
    while (len && strchr("\r\n \t", text[len - 1]))
        text[--len] = '\0';
    if (len)
        add_message(link, "Waiting", "the end of its log", text);
}

static void explain_container(struct sw_connection *conn, struct json_object *pod,
                              struct json_object *status, bool init, struct json_object *link)
{
    struct json_object *waiting = sw_json_find(status, "state", "waiting", NULL);
    struct json_object *ended = sw_json_find(status, "state", "terminated", NULL);
    struct json_object *before = sw_json_find(status, "lastState", "terminated", NULL);
    bool failed = ended && sw_json_int(ended, 0, "exitCode", NULL) != 0;
    if (sw_json_bool(status, false, "ready", NULL) || (ended && !failed))
        return;
    const char *name = sw_json_str(status, "", "name", NULL);
    SW_AUTO_CHARS *what = sw_printf("%scontainer %s", init ? "init " : "", name);
    struct json_object *end = failed ? ended : before;
    const char *end_message = pod_failure_cause(sw_json_str(end, "", "message", NULL));
    SW_AUTO_CHARS *exit = end ? sw_printf("exit code %lld (%s)%s%s",
                                          (long long)sw_json_int(end, 0, "exitCode", NULL),
                                          sw_json_str(end, "Error", "reason", NULL),
                                          *end_message ? ": " : "", end_message)
                              : NULL;
    int64_t n = sw_json_int(status, 0, "restartCount", NULL);
    SW_AUTO_CHARS *restarts = n ? sw_printf("%lld restarts", (long long)n) : NULL;
    const char *texts[] = {
        sw_json_str(waiting, waiting || ended ? "" : "running, not ready", "reason", NULL),
        pod_failure_cause(sw_json_str(waiting, "", "message", NULL)), exit, restarts
    };
    SW_AUTO_CHARS *why = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        if (texts[i] && *texts[i])
            sw_append(&why, "%s%s", *why ? "; " : "", texts[i]);
    struct json_object *leaf = link_new(failed ? "Failed" : "Waiting", what);
    set(leaf, "why", why);
    if (end || (!waiting && !ended))
        add_log(conn, pod, name, !failed && before && waiting, leaf);
    add(link, leaf);
}

bool sw_pod_is_well(struct json_object *pod)
{
    struct json_object *ready = sw_obj_condition(pod, "Ready");
    return sw_streq(sw_json_str(pod, "", "status", "phase", NULL), "Succeeded") ||
           sw_streq(sw_json_str(ready, "", "status", NULL), "True");
}

static void explain_pod(struct sw_connection *conn, struct json_object *pod,
                        struct json_object *link)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    struct json_object *scheduled = sw_obj_condition(pod, "PodScheduled");
    const char *phase = sw_json_str(pod, "Pending", "status", "phase", NULL);
    const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
    SW_AUTO_CHARS *what = sw_printf("Pod %s/%s%s%s", sw_obj_namespace(pod), sw_obj_name(pod),
                                    *node ? " on node " : "", node);
    struct json_object *leaf = link_new(sw_streq(phase, "Failed") ? "Failed" : "Waiting", what);
    if (sw_streq(sw_json_str(scheduled, "", "status", NULL), "False"))
        set(leaf, "why", sw_json_str(scheduled, "", "message", NULL));
    else
        set(leaf, "why", sw_json_str(pod, phase, "status", "message", NULL));
    set(leaf, "since", sw_json_str(pod, "", "metadata", "creationTimestamp", NULL));
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        struct json_object *list = sw_json_find(pod, "status", lists[l], NULL);
        for (size_t i = 0; i < sw_json_len(list); i++)
            explain_container(conn, pod, sw_json_at(list, i), l == 0, leaf);
    }
    explain_deletion(pod, leaf);
    explain_events(conn, pod, leaf);
    add(link, leaf);
}

static void explain_pods(struct sw_connection *conn, struct json_object *object,
                         struct json_object *link)
{
    SW_ERR(err);
    SW_AUTO_JSON *pods = NULL;
    size_t n = 0;
    if (sw_cluster_pods(conn, object, RETRIES, &pods, &err) < 0) {
        add_message(link, "Waiting", "its pods", sw_err_text(&err));
        return;
    }
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i);
        if (!sw_pod_is_well(pod) && n++ < MOST_PODS)
            explain_pod(conn, pod, link);
    }
    if (n > MOST_PODS) {
        SW_AUTO_CHARS *what = sw_printf("%zu more pods", n - MOST_PODS);
        add(link, link_new("Waiting", what));
    }
}

/* ---- objects -----------------------------------------------------------------------------------
 */

/* A workload that is not ready, with its pods. */
static void explain_workload(struct sw_connection *conn, struct json_object *one, const char *why,
                             struct json_object *link)
{
    SW_AUTO_CHARS *what = sw_printf("%s %s/%s", sw_obj_kind(one), sw_obj_namespace(one),
                                    sw_obj_name(one));
    struct json_object *leaf = link_new("Waiting", what);
    set(leaf, "why", why);
    add(link, leaf);
    explain_pods(conn, one, leaf);
    explain_events(conn, one, leaf);
}

/* What an operator runs for a custom resource, which may say no more than that it waits: workloads
 * that it owns and that are not ready, with their pods. Those that match no node, as the operands
 * for devices that no node has, are told where there is nothing else. */
static void explain_dependents(struct sw_connection *conn, struct json_object *object,
                               struct json_object *link)
{
    static const char *const kinds[] = { "DaemonSet", "Deployment", "StatefulSet" };
    const char *ns = sw_json_str(object, sw_obj_namespace(object), "status", "namespace", NULL);
    const struct sw_request_opts opts = { .retries = RETRIES };
    size_t n = 0;
    if (!strchr(sw_obj_api_version(object), '.')) /* a kind of Kubernetes' own */
        return;
    SW_AUTO_JSON *idle = json_object_new_array();
    for (size_t k = 0; k < SW_COUNT(kinds); k++) {
        SW_ERR(err);
        SW_AUTO_JSON *all = NULL;
        if (sw_cluster_find(conn, "apps/v1", kinds[k], *ns ? ns : NULL, NULL, &opts, &all, &err) <
            0)
            return; /* the account may not be allowed to read them */
        for (size_t i = 0; i < sw_json_len(all); i++) {
            struct json_object *one = sw_json_at(all, i);
            SW_READINESS(readiness);
            if (!sw_obj_has_owner(one, sw_obj_uid(object)))
                continue;
            sw_json_set_str(one, "apps/v1", "apiVersion", NULL); /* items of a list lack it */
            sw_json_set_str(one, kinds[k], "kind", NULL);
            sw_kstatus(one, &readiness);
            if (sw_streq(readiness.reason, "NoMatchingNodes"))
                (void)json_object_array_add(idle, json_object_get(one));
            else if (readiness.kind != SW_READINESS_READY && n++ < MOST_PODS)
                explain_workload(conn, one, readiness.message, link);
        }
    }
    for (size_t i = 0; !n && i < sw_json_len(idle) && i < MOST_PODS; i++)
        explain_workload(conn, sw_json_at(idle, i), "matches no node", link);
}

/* What its operator is at on which node. */
static void explain_nodes(struct sw_connection *conn, struct json_object *object,
                          struct json_object *link)
{
    SW_AUTO_JSON *nodes = sw_explain_nodes(conn, object);
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        add(link, json_object_get(sw_json_at(nodes, i)));
}

/* Who has written the object last besides slipway: where somebody changes it again and again. */
static void explain_contest(struct json_object *live, const char *what, struct json_object *link)
{
    struct json_object *entries = sw_json_find(live, "metadata", "managedFields", NULL);
    struct json_object *last = NULL;
    for (size_t i = 0; i < sw_json_len(entries); i++) {
        struct json_object *entry = sw_json_at(entries, i);
        if (!sw_starts_with(sw_json_str(entry, "", "manager", NULL), "slipway") &&
            !sw_streq(sw_json_str(entry, "", "subresource", NULL), "status") &&
            strcmp(sw_json_str(entry, "", "time", NULL), sw_json_str(last, "", "time", NULL)) >= 0)
            last = entry;
    }
    struct json_object *leaf = link_new("Waiting", what);
    SW_AUTO_CHARS *why =
        last ? sw_printf("field manager '%s' has changed it last (%s)",
                         sw_json_str(last, "", "manager", NULL),
                         sw_json_str(last, "", "operation", NULL))
             : sw_strdup("no field manager but slipway's is noted: it was changed as slipway, or "
                         "deleted");
    set(leaf, "why", why);
    set(leaf, "since", sw_json_str(last, "", "time", NULL));
    add(link, leaf);
}

/* Does the state say what became of the builds of @what, which does not say it itself? */
static bool build_is_told(struct json_object *state, const char *what)
{
    struct json_object *variants = sw_json_get(state, "variants");
    SW_AUTO_CHARS *start = sw_printf("%s build ", what);
    bool told = sw_starts_with(sw_json_str(state, "", "message", NULL), start);
    for (size_t i = 0; i < sw_json_len(variants); i++)
        told = told ||
               sw_starts_with(sw_json_str(sw_json_at(variants, i), "", "message", NULL), start);
    return told;
}

/* Does @state wait until nodes have what @gate asks of them, a label or a resource? */
static bool lacks_nodes(struct json_object *state, const struct sw_gate *gate)
{
    return gate && sw_gate_is_by_node(gate) &&
           sw_json_int(state, 0, "nodes", "labelled", NULL) <
               sw_json_int(state, 0, "nodes", "total", NULL);
}

/* An object that is ready itself, whose operator has not come to all nodes: what that runs, if
 * there is anything to tell of it. */
static void explain_operands(struct sw_connection *conn, struct json_object *live, const char *what,
                             struct json_object *link)
{
    SW_AUTO_JSON *leaf = link_new("Waiting", what);
    explain_dependents(conn, live, leaf);
    explain_nodes(conn, live, leaf);
    if (sw_json_len(sw_json_get(leaf, "because")))
        add(link, SW_TAKE(leaf));
}

/* Add the object unless it is ready, and nobody changes it. @item: of the inventory. @state: its
 * own. */
static void explain_object(struct sw_connection *conn, struct json_object *item,
                           struct json_object *state, struct json_object *link)
{
    SW_ERR(err);
    SW_READINESS(readiness);
    SW_AUTO_JSON *live = NULL;
    SW_AUTO(sw_gate) *gate = NULL;
    const struct sw_request_opts opts = { .retries = RETRIES };
    const char *kind = sw_json_str(item, "", "kind", NULL),
               *ns = sw_json_str(item, "", "namespace", NULL),
               *name = sw_json_str(item, "", "name", NULL),
               *message = sw_json_str(state, "", "message", NULL);
    SW_AUTO_CHARS *what = sw_printf("%s %s%s%s", kind, ns, *ns ? "/" : "", name);
    if (build_is_told(state, what))
        return;
    int rc = sw_cluster_find(conn, sw_json_str(item, "", "apiVersion", NULL), kind, ns, name, &opts,
                             &live, &err);
    if (rc < 0 && rc != SW_NOTFOUND) {
        add_message(link, "Waiting", what, sw_err_text(&err));
        return;
    }
    if (live && sw_starts_with(message, what) &&
        sw_starts_with(message + strlen(what), " is changed again and again")) {
        explain_contest(live, what, link);
        return;
    }
    if (live && sw_gate_new(live, true, &gate, &err) == 0)
        sw_gate_judge(gate, live, &readiness);
    else
        sw_kstatus(live, &readiness);
    if (sw_streq(readiness.reason, "NoBuild"))
        sw_cluster_judge(conn, live, RETRIES, &readiness);
    if (live && readiness.kind == SW_READINESS_READY && lacks_nodes(state, gate))
        explain_operands(conn, live, what, link);
    if (readiness.kind == SW_READINESS_READY)
        return;
    if (live && sw_streq(kind, "Pod")) {
        explain_pod(conn, live, link);
        return;
    }
    struct json_object *leaf = link_new(
        readiness.kind == SW_READINESS_FAILED ? "Failed" : "Waiting", what);
    set(leaf, "why", readiness.message);
    add(link, leaf);
    if (!live)
        return;
    explain_deletion(live, leaf);
    explain_pods(conn, live, leaf);
    explain_dependents(conn, live, leaf);
    explain_nodes(conn, live, leaf);
    explain_events(conn, live, leaf);
}

/* ---- states ------------------------------------------------------------------------------------
 */

/* The release of the state while it is installed or upgraded, and its steps. */
static void explain_release(struct json_object *state, struct json_object *link)
{
    struct json_object *release = sw_json_get(state, "release"),
                       *steps = sw_json_get(release, "steps");
    const char *from = sw_json_str(release, "", "from", NULL),
               *to = sw_json_str(release, "", "version", NULL);
    if (!sw_json_len(steps))
        return;
    bool goes = *from && !sw_streq(from, to);
    SW_AUTO_CHARS *what = sw_printf(
        "release %s of namespace %s, %s%s%s", sw_json_str(release, "", "name", NULL),
        sw_json_str(release, "", "namespace", NULL), goes ? from : "", goes ? " to " : "", to);
    struct json_object *leaf = link_new("Waiting", what);
    for (size_t i = 0; i < sw_json_len(steps); i++) {
        struct json_object *step = sw_json_at(steps, i);
        int64_t ready = sw_json_int(step, 0, "ready", NULL),
                total = sw_json_int(step, 0, "total", NULL);
        SW_AUTO_CHARS *name = sw_printf("step %zu, %s", i + 1, sw_json_str(step, "", "name", NULL));
        SW_AUTO_CHARS *why = sw_printf("%lld of %lld ready", (long long)ready, (long long)total);
        add_message(leaf, ready == total ? "Ready" : "Waiting", name, why);
    }
    add(link, leaf);
}

static void explain_state(struct sw_connection *conn, struct json_object *status,
                          struct json_object *state, struct json_object *chain)
{
    const char *name = sw_json_str(state, "", "name", NULL);
    SW_AUTO_CHARS *what = sw_printf("state %s", name);
    struct json_object *link = link_new(sw_json_str(state, "Ready", "class", NULL), what);
    SW_AUTO_CHARS *chart = sw_chart_note(status, state);
    set(link, "why", sw_json_str(state, chart ? chart : "", "message", NULL));
    set(link, "since", sw_json_str(state, "", "since", NULL));
    set(link, "hint", sw_json_str(state, "", "hint", NULL));
    const char *rolled_back = sw_json_str(state, "", "rolledBack", NULL);
    if (*rolled_back)
        add_message(link, "RolledBack", "what came last failed", rolled_back);
    const char *note = sw_json_str(state, "", "note", NULL);
    if (*note)
        add_message(link, "Ready", "what it has chosen", note);
    const char *observes = sw_json_str(state, "", "observes", NULL);
    if (*observes) {
        SW_AUTO_CHARS *text = sw_printf("%s is somebody else's: it is observed, also while it is "
                                        "not there, until the state's value mode says otherwise",
                                        observes);
        add_message(link, "Ready", "what it has found", text);
    }
    explain_release(state, link);
    struct json_object *needs = sw_json_get(state, "needs");
    for (size_t i = 0; i < sw_json_len(needs); i++) {
        const char *need = json_object_get_string(sw_json_at(needs, i));
        const char *phase = sw_json_str(
            sw_json_find_by(sw_json_get(status, "states"), "name", need), "unknown", "phase", NULL);
        SW_AUTO_CHARS *needs_text = sw_printf("it needs state %s", need);
        SW_AUTO_CHARS *why = sw_printf("which is %s", phase);
        if (!sw_streq(phase, "Ready"))
            add_message(link, "Waiting", needs_text, why);
    }
    const bool waits = sw_streq(sw_json_str(state, "", "reason", NULL), "Needs");
    struct json_object *variants = sw_json_get(state, "variants");
    for (size_t i = 0; !waits && i < sw_json_len(variants); i++) {
        struct json_object *v = sw_json_at(variants, i);
        const char *message = sw_json_str(v, "", "message", NULL);
        SW_AUTO_CHARS *kernel = sw_printf("kernel %s", sw_json_str(v, "", "name", NULL));
        if (*message)
            add_message(link, "Waiting", kernel, message);
    }
    struct json_object *inventory = sw_inventory_of(status);
    for (size_t i = 0; !waits && i < sw_json_len(inventory); i++) { /* else the cause is there */
        struct json_object *item = sw_json_at(inventory, i);
        if (sw_streq(sw_json_str(item, "", "state", NULL), name))
            explain_object(conn, item, state, link);
    }
    add(chain, link);
}

/* Why the workload @item of the inventory, which its state need not wait for, is not ready; heap.
 * NULL: it is ready, it is no workload, or it could not be read. */
static char *unawaited_why(struct sw_connection *conn, struct json_object *item)
{
    SW_ERR(ignored);
    SW_READINESS(readiness);
    SW_AUTO_JSON *live = NULL;
    const char *kind = sw_json_str(item, "", "kind", NULL);
    const struct sw_request_opts opts = { .retries = RETRIES };
    if (sw_json_bool(item, false, "done", NULL) || !sw_pod_maker_find(kind) ||
        sw_cluster_find(conn, sw_json_str(item, "", "apiVersion", NULL), kind,
                        sw_json_str(item, "", "namespace", NULL),
                        sw_json_str(item, "", "name", NULL), &opts, &live, &ignored) < 0)
        return NULL;
    sw_kstatus(live, &readiness);
    return readiness.kind == SW_READINESS_READY ? NULL
                                                : sw_strdup(sw_text_or(readiness.message, ""));
}

/* A state is Ready that does not wait for all of its workloads: those that are not ready now. */
static void explain_unawaited(struct sw_connection *conn, struct json_object *status,
                              struct json_object *state, struct json_object *chain)
{
    const char *name = sw_json_str(state, "", "name", NULL);
    SW_AUTO_CHARS *what = sw_printf("state %s", name);
    SW_AUTO_JSON *link = link_new("Ready", what);
    struct json_object *inventory = sw_inventory_of(status);
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        if (!sw_streq(sw_json_str(item, "", "state", NULL), name))
            continue;
        SW_AUTO_CHARS *why = unawaited_why(conn, item);
        if (why)
            explain_object(conn, item, state, link);
    }
    if (!sw_json_len(sw_json_get(link, "because")))
        return;
    set(link, "why", "these objects are applied, and not waited for");
    set(link, "hint", UNAWAITED_HINT);
    add(chain, SW_TAKE(link));
}

char *sw_explain_unawaited(struct sw_connection *conn, struct json_object *resource)
{
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status"));
    char *text = NULL;
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        SW_AUTO_CHARS *why = unawaited_why(conn, item);
        if (!why)
            continue;
        text = text ? text : sw_strdup("");
        sw_append(&text, "  %s %s/%s%s%.*s\n", sw_json_str(item, "", "kind", NULL),
                  sw_json_str(item, "", "namespace", NULL), sw_json_str(item, "", "name", NULL),
                  *why ? ": " : "", (int)strcspn(why, "\n"), why);
    }
    if (text)
        sw_append(&text, "  hint: %s\n", UNAWAITED_HINT);
    return text;
}

/* The nodes without the new driver, and what each waits for. */
static void explain_upgrade(struct json_object *status, struct json_object *chain)
{
    struct json_object *upgrade = sw_json_get(status, "upgrade");
    struct json_object *nodes = sw_json_get(upgrade, "nodes");
    if (!sw_json_len(nodes))
        return;
    bool failed = sw_json_int(upgrade, 0, "failed", NULL) > 0;
    struct json_object *link = link_new(failed ? "Retrying" : "Waiting", "upgrade of drivers");
    SW_AUTO_CHARS *why = sw_printf("%d of %d nodes have the new driver",
                                   (int)sw_json_int(upgrade, 0, "upToDate", NULL),
                                   (int)sw_json_int(upgrade, 0, "total", NULL));
    set(link, "why", why);
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        SW_AUTO_CHARS *what = sw_printf("node %s  %s", sw_json_str(node, "", "name", NULL),
                                        sw_json_str(node, "", "step", NULL));
        struct json_object *of = link_new("Waiting", what);
        set(of, "why", sw_json_str(node, "", "message", NULL));
        set(of, "since", sw_json_str(node, "", "since", NULL));
        add(link, of);
    }
    add(chain, link);
}

struct json_object *sw_explain(struct sw_connection *conn, struct json_object *resource,
                               const char *state)
{
    struct json_object *status = sw_json_get(resource, "status");
    struct json_object *states = sw_json_get(status, "states");
    (void)sw_inventory_of(status);
    const char *text = sw_json_str(status, "no controller has looked at it yet", "state", NULL);
    const struct sw_report report = sw_report_of(resource);
    const bool is_paused = report.is_paused && !report.is_deleting, is_going = report.uninstalling,
               is_behind = is_going || report.is_outdated;
    SW_AUTO_CHARS *behind = is_behind ? sw_report_trouble(&report) : NULL;
    const char *is = is_paused                         ? "Paused"
                     : is_going                        ? "Deleting"
                     : is_behind                       ? "Waiting"
                     : sw_starts_with(text, "Ready")   ? "Ready"
                     : sw_starts_with(text, "Errored") ? "Failed"
                                                       : "Waiting";
    SW_AUTO_CHARS *what = sw_printf("SpecialResource %s", sw_obj_name(resource));
    struct json_object *chain = link_new(is, what);
    struct json_object *ready = sw_obj_condition(resource, "Ready");
    set(chain, "why",
        behind                          ? behind
        : sw_starts_with(text, "Ready") ? sw_json_str(ready, "", "message", NULL)
                                        : text);
    if (is_paused) {
        SW_AUTO_CHARS *hint = sw_printf("slipway resume %s goes on with it", sw_obj_name(resource));
        set(chain, "hint", hint);
    }
    explain_deletion(resource, chain);
    struct json_object *overlap = sw_obj_condition(resource, "Overlapping");
    if (sw_streq(sw_json_str(overlap, "", "status", NULL), "True")) {
        struct json_object *leaf = link_new("Overlapping",
                                            sw_json_str(overlap, "", "message", NULL));
        set(leaf, "since", sw_json_str(overlap, "", "lastTransitionTime", NULL));
        add(chain, leaf);
    }
    explain_upgrade(status, chain);
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *s = sw_json_at(states, i);
        bool is_ready = sw_streq(sw_json_str(s, "", "phase", NULL), "Ready");
        const char *note = sw_json_str(s, "", "note", NULL);
        if (state ? sw_streq(sw_json_str(s, "", "name", NULL), state) : !is_ready) {
            explain_state(conn, status, s, chain);
        } else if (!state && *note) {
            SW_AUTO_CHARS *name = sw_printf("state %s", sw_json_str(s, "", "name", NULL));
            add_message(chain, "Ready", name, note);
        }
        if (!state && is_ready && sw_streq(is, "Ready"))
            explain_unawaited(conn, status, s, chain);
    }
    return chain;
}

/* ---- for people --------------------------------------------------------------------------------
 */

struct printer {
    struct sw_style style; /* without a width: texts are broken, never cut */
    int64_t now_ms;
    struct printbuf *out;
};

/* Whether what @link says is said below it anyway: the resource's sentence is that of its state. */
static bool is_said_below(struct json_object *link, const char *why)
{
    struct json_object *because = sw_json_get(link, "because");
    for (size_t i = 0; i < sw_json_len(because); i++) {
        const char *below = sw_json_str(sw_json_at(because, i), "", "why", NULL);
        if (*below && strstr(why, below))
            return true;
    }
    return false;
}

/* @text with "*" for what the server has made up at the ends of names: "ds-x2k4p" and "ds-*" are
 * alike. Heap. Source: k8s.io/apimachinery/pkg/util/rand. */
static char *but_for_names(const char *text)
{
    static const char made_up[] = "bcdfghjklmnpqrstvwxz2456789",
                      plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    enum { N_MADE_UP = 5 };
    char *out = sw_strdup("");
    while (*text) {
        size_t other = strcspn(text, plain), len = strspn(text + other, plain);
        const char *end = text + other + len, *suffix = end - N_MADE_UP;
        const bool is_made_up = len > N_MADE_UP + 1 && suffix[-1] == '-' &&
                                strspn(suffix, made_up) >= N_MADE_UP;
        sw_append(&out, "%.*s%s", (int)((is_made_up ? suffix : end) - text), text,
                  is_made_up ? "*" : "");
        text = end;
    }
    return out;
}

#define EVENT "Event "

static bool is_event(struct json_object *link)
{
    return sw_starts_with(sw_json_str(link, "", "what", NULL), EVENT);
}

/* Is the cause of @link in @said, but for names? */
static bool is_repeated(struct json_object *link, const char *said)
{
    /* a sandbox's name is another one each time */
    SW_AUTO_CHARS *cause = but_for_names(pod_failure_cause(sw_json_str(link, "", "why", NULL)));
    SW_AUTO_CHARS *before = but_for_names(said);
    return *cause && strstr(before, cause);
}

/* What @why goes on with where @said ends with "...", cut within the same text; heap. NULL: it is
 * another one. */
static char *rest_of(const char *why, const char *said)
{
    static const char cut[] = "...";
    enum { LEAST = 40 };
    SW_AUTO_CHARS *text = but_for_names(why);
    SW_AUTO_CHARS *before = but_for_names(said);
    size_t len = strlen(before);
    if (len < LEAST || strcmp(before + len - strlen(cut), cut) != 0)
        return NULL;
    len -= strlen(cut);
    for (size_t i = 0; i + LEAST <= len; i++)
        if (strncmp(before + i, text, len - i) == 0)
            return sw_printf("%s%s", cut, text + len - i);
    return NULL;
}

/* Is nothing in @link that is not @said? */
static bool is_said(struct json_object *link, const char *said)
{
    return !sw_json_len(sw_json_get(link, "because")) &&
           (is_event(link) ||
            sw_streq(sw_json_str(link, "", "what", NULL), "the end of its log")) &&
           is_repeated(link, said);
}

/* What tells one pod that is not well from another: its containers and their reasons. Heap. */
static char *trouble_of(struct json_object *pod)
{
    struct json_object *because = sw_json_get(pod, "because");
    const char *why = sw_json_str(pod, "", "why", NULL);
    char *text = sw_strndup(why, strcspn(why, ";"));
    for (size_t i = 0; i < sw_json_len(because); i++) {
        struct json_object *below = sw_json_at(because, i);
        const char *reason = sw_json_str(below, "", "why", NULL);
        if (!is_event(below))
            sw_append(&text, "; %s %.*s", sw_json_str(below, "", "what", NULL),
                      (int)strcspn(reason, ";"), reason);
    }
    return text;
}

static bool is_pod(struct json_object *link)
{
    return sw_starts_with(sw_json_str(link, "", "what", NULL), "Pod ");
}

/* Text of several lines, a log. */
static void print_text(struct sw_line *line, const char *text, int depth)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        sw_line_printf(line, SW_PLAIN, "%*s%.*s", depth * 2 + 2, "", (int)(end - text), text);
        sw_line_end(line);
    }
}

static void print_link(const struct printer *p, struct json_object *link, int depth,
                       const char *said);

/* By what a pod or an Event is like others; heap. NULL: it is told anyway. */
static char *likeness_of(struct json_object *link)
{
    if (is_pod(link))
        return trouble_of(link);
    if (!is_event(link))
        return NULL;
    const char *what = sw_json_str(link, "", "what", NULL);
    SW_AUTO_CHARS *why = but_for_names(sw_json_str(link, "", "why", NULL));
    what += strlen(EVENT); /* "Event REASON (3 times)" */
    return sw_printf("%.*s: %s", (int)strcspn(what, " "), what, why);
}

/* Print what a link is caused by; pods and Events that are alike once. @said: the sentence above.
 */
static void print_causes(const struct printer *p, struct json_object *because, int depth,
                         const char *said)
{
    SW_AUTO_CHARS *before = NULL;
    size_t n_alike = 0;
    for (size_t i = 0; i <= sw_json_len(because); i++) {
        struct json_object *link = sw_json_at(because, i);
        if (link && is_said(link, said))
            continue;
        SW_AUTO_CHARS *trouble = link ? likeness_of(link) : NULL;
        if (trouble && before && sw_streq(trouble, before)) {
            n_alike++;
            continue;
        }
        if (n_alike) {
            struct sw_line line = { .out = p->out, .style = &p->style };
            sw_line_printf(&line, SW_PLAIN, "%*sand %zu more like it", depth * 2, "", n_alike);
            sw_line_end(&line);
        }
        n_alike = 0;
        sw_text_set(&before, trouble);
        if (link)
            print_link(p, link, depth, said);
    }
}

/* Print a link of the chain and, indented, what it is caused by. @said: the sentence of its state,
 * which is not said again. */
static void print_link(const struct printer *p, struct json_object *link, int depth,
                       const char *said)
{
    enum { STATE = 1, OBJECT = 2 };
    struct sw_line line = { .out = p->out, .style = &p->style };
    const char *is = sw_json_str(link, "", "is", NULL), *why = sw_json_str(link, "", "why", NULL),
               *what = sw_json_str(link, "", "what", NULL),
               *hint = sw_json_str(link, "", "hint", NULL),
               *since = sw_json_str(link, "", "since", NULL);
    struct json_object *because = sw_json_get(link, "because");
    enum sw_colour colour = sw_streq(is, "Ready")    ? SW_GREEN
                            : sw_streq(is, "Failed") ? SW_RED
                                                     : SW_YELLOW;
    int64_t since_ms;
    char elapsed[16];
    SW_ERR(ignored);
    if (((depth == OBJECT || is_pod(link)) && is_repeated(link, said)) ||
        (depth < STATE && is_said_below(link, why)))
        why = "";
    SW_AUTO_CHARS *rest = is_event(link) ? rest_of(why, said) : NULL;
    why = rest ? rest : why;
    sw_line_printf(&line, SW_PLAIN, "%*s", depth * 2, "");
    sw_line_put(&line, depth ? SW_PLAIN : SW_BOLD, what);
    if (depth <= STATE)
        sw_line_printf(&line, colour, "  %s", is);
    if (*since && sw_time_parse(since, &since_ms, &ignored) == 0 && since_ms <= p->now_ms)
        sw_line_printf(&line, SW_DIM, "  %s", sw_report_duration(p->now_ms - since_ms, elapsed));
    const bool is_log = strchr(why, '\n') != NULL;
    if (*why && !is_log)
        sw_line_printf(&line, SW_PLAIN, ": %s", why);
    sw_line_end(&line);
    if (is_log)
        print_text(&line, why, depth);
    if (*hint) {
        sw_line_printf(&line, SW_BLUE, "%*shint: %s", depth * 2 + 2, "", hint);
        sw_line_end(&line);
    }
    print_causes(p, because, depth + 1, depth == STATE ? why : said);
}

char *sw_explain_text(struct json_object *chain, const struct sw_style *style, int64_t now_ms)
{
    struct printer p = { .style = *style, .now_ms = now_ms, .out = printbuf_new() };
    p.style.width = 0;
    print_link(&p, chain, 0, "");
    char *text = sw_text_break(p.out->buf, style->width);
    printbuf_free(p.out);
    return text;
}
