/* The pods of a workload and the builds of a BuildConfig: on which nodes they are ready, and why
 * they are not. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "data/json/path.h"
#include "data/json/table.h"
#include "operator/engine/readiness/pod.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/engine/workers.h"

/* What runs without being ready for so long is not taken for something that starts. */
enum { UNREADY_MS = 60000 };

#define LABEL_OWNED "specialresource.openshift.io/owned"

static struct workers *empty_new(void)
{
    struct workers *w = sw_zalloc(1, sizeof *w);
    w->by_name = lh_kchar_table_new(16, NULL);
    if (!w->by_name)
        abort();
    return w;
}

struct workers *workers_new(struct json_object *manifest)
{
    const char *kind = sw_obj_kind(manifest);
    const struct sw_pod_maker *maker = sw_pod_maker_find(kind);
    bool builds = sw_streq(kind, "BuildConfig");
    if (!builds && !(maker && maker->selects))
        return NULL;
    struct workers *w = empty_new();
    w->builds = builds;
    w->node_by_node = sw_streq(kind, "DaemonSet");
    struct json_object *template = sw_json_find(manifest, "spec", "template", NULL);
    struct json_object *selector = sw_json_find(manifest, "spec", "selector", NULL);
    if (w->builds)
        return w;
    /* A Job's selector is made by the server; the labels of its template serve as well. */
    int rc = selector ? sw_selector_from_object(selector, &w->selector, NULL)
                      : sw_selector_from_map(sw_json_find(template, "metadata", "labels", NULL),
                                             &w->selector, NULL);
    if (rc < 0 || w->selector.nothing || w->selector.n_reqs == 0) {
        workers_free(w); /* the server will refuse it with a message */
        return NULL;
    }
    bool owned = sw_streq(sw_obj_label(template, LABEL_OWNED), "true");
    w->selector_text = owned ? sw_strdup(LABEL_OWNED "=true") : sw_selector_text(&w->selector);
    return w;
}

struct workers *workers_new_informing(struct json_object *live, const char *ns)
{
    struct json_object *selector = sw_json_find(live, "spec", "selector", NULL);
    struct workers *w = empty_new();
    w->inform = true;
    w->any_pod = !live;
    w->ns = sw_strdup(ns);
    if (!live)
        return w;
    if (sw_selector_from_object(selector, &w->selector, NULL) < 0 || w->selector.nothing ||
        w->selector.n_reqs == 0) {
        workers_free(w);
        return NULL;
    }
    w->selector_text = sw_selector_text(&w->selector);
    return w;
}

static void worker_free(struct worker *worker)
{
    sw_readiness_done(&worker->readiness);
    free(worker->name);
    free(worker->build_pod);
    free(worker);
}

void workers_free(struct workers *w)
{
    if (!w)
        return;
    struct lh_entry *entry, *next;
    lh_foreach_safe(w->by_name, entry, next) worker_free((struct worker *)lh_entry_v(entry));
    lh_table_free(w->by_name);
    sw_selector_done(&w->selector);
    free(w->selector_text);
    free(w->ns);
    bitset_done(&w->has);
    bitset_done(&w->ready);
    free(w);
}

bool workers_same(const struct workers *a, const struct workers *b)
{
    if (!a || !b || a->builds != b->builds || a->inform != b->inform ||
        !sw_streq(a->selector_text, b->selector_text))
        return a == b;
    SW_AUTO_CHARS *text_a = sw_selector_text(&a->selector);
    SW_AUTO_CHARS *text_b = sw_selector_text(&b->selector);
    return sw_streq(text_a, text_b);
}

bool workers_are_node_by_node(const struct workers *w)
{
    return w && w->node_by_node;
}

bool workers_inform(const struct workers *w)
{
    return w && w->inform;
}

const char *workers_namespace(const struct object *o)
{
    return o->workers && o->workers->ns ? o->workers->ns : o->key.ns;
}

void workers_key(const struct object *o, struct sw_key *key, const char **selector)
{
    bool builds = o->workers->builds;
    *key = (struct sw_key){ builds ? "build.openshift.io/v1" : "v1", builds ? "Build" : "Pod",
                            workers_namespace(o), NULL };
    *selector = o->workers->selector_text;
}

bool workers_are_known(struct sw_engine *e, const struct object *o)
{
    if (!o->workers || o->workers->inform || o->unserved)
        return true;
    struct watch *watch = act_find_watch(e, o->workers_watch);
    return watch && watch->synced;
}

/* ---- one worker --------------------------------------------------------------------------------
 */

static struct json_object *owner_of(const struct object *o, struct json_object *live)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    return sw_json_find_by(owners, "kind", o->key.kind);
}

/* Is @live a worker of @o? */
static bool belongs(const struct object *o, struct json_object *live)
{
    if (o->workers->any_pod) /* those of the recipe's own workloads are told of there */
        return !sw_streq(sw_obj_label(live, LABEL_OWNED), "true");
    if (!o->workers->builds) {
        struct json_object *owner = owner_of(o, live);
        return (!owner || sw_streq(sw_json_str(owner, "", "name", NULL), o->key.name)) &&
               sw_selector_matches_object(&o->workers->selector, live);
    }
    const char *name = sw_json_str(live, "", "status", "config", "name", NULL);
    if (!*name)
        name = sw_obj_annotation(live, "openshift.io/build-config.name");
    if (!name)
        name = sw_obj_label(live, "openshift.io/build-config.name");
    if (name)
        return sw_streq(name, o->key.name);
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    return sw_json_find_by(owners, "name", o->key.name) != NULL;
}

/* Has it ended and starts again? What its object says of it may be older than what is known of it.
 */
static bool is_restarting(const struct worker *worker)
{
    return worker->counts_ms ||
           (worker->has_ended && !worker->ready && worker->readiness.kind == SW_READINESS_WAITING);
}

/* A pod that is ready does not count before it has run for a while since it ended last. */
static void read_restarts(const struct sw_engine *e, struct worker *worker,
                          struct json_object *live)
{
    struct json_object *list = sw_json_find(live, "status", "containerStatuses", NULL);
    int64_t until_ms, n = 0, kept_ms = worker->counts_ms;
    SW_READINESS(readiness);
    worker->has_ended = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        n += sw_json_int(c, 0, "restartCount", NULL);
        worker->has_ended = worker->has_ended || sw_json_find(c, "state", "terminated", NULL) ||
                            sw_json_find(c, "lastState", "terminated", NULL);
    }
    const bool is_same = kept_ms && n == worker->n_restarts;
    int64_t must_ms = n && worker->ready ? pod_must_run_ms(live, &until_ms, &readiness) : 0;
    worker->n_restarts = n;
    worker->counts_ms = 0;
    if (!must_ms)
        return;
    if (until_ms > e->now_ms + must_ms) /* the clocks differ */
        until_ms = is_same ? kept_ms : e->now_ms + must_ms;
    if (until_ms <= e->now_ms)
        return;
    worker->counts_ms = until_ms;
    worker->ready = false;
    sw_readiness_done(&worker->readiness);
    worker->readiness = readiness;
    readiness = (struct sw_readiness){ 0 };
}

/* @return whether anything that is read has changed. */
static bool read_worker(struct sw_engine *e, const struct object *o, struct worker *worker,
                        struct json_object *live)
{
    const struct workers *w = o->workers;
    const char *owner = sw_json_str(owner_of(o, live), "", "uid", NULL);
    const char *template = sw_obj_label(live, "pod-template-generation");
    struct worker old = *worker;
    const bool was_restarting = is_restarting(worker);
    uint64_t version = strtoull(sw_json_str(live, "0", "metadata", "resourceVersion", NULL), NULL,
                                10);
    if (version && version < worker->version)
        return false;
    worker->version = version;
    worker->owner = *owner ? sw_fnv64a(owner, strlen(owner)) : 0;
    worker->readiness = (struct sw_readiness){ 0 };
    worker->node = sw_node_set_find(e->nodes, sw_json_str(live, NULL, "spec", "nodeName", NULL));
    worker->ready = !w->builds && pod_is_ready(live);
    worker->terminating = sw_json_find(live, "metadata", "deletionTimestamp", NULL) != NULL;
    worker->template = template ? strtoll(template, NULL, 10) : -1;
    worker->number = w->builds ? sw_build_number(live) : 0;
    sw_kstatus(live, &worker->readiness);
    if (!w->builds)
        read_restarts(e, worker, live);
    o->workers->n_restarting += is_restarting(worker);
    o->workers->n_restarting -= was_restarting;
    worker->logged = worker->logged && worker->ready;
    if (!old.since_ms || !sw_streq(old.readiness.reason, worker->readiness.reason))
        worker->since_ms = e->now_ms;
    bool differs = old.node != worker->node || old.owner != worker->owner ||
                   old.ready != worker->ready || old.terminating != worker->terminating ||
                   old.template != worker->template ||
                   old.readiness.kind != worker->readiness.kind ||
                   !sw_streq(old.readiness.message, worker->readiness.message);
    sw_readiness_done(&old.readiness);
    return differs;
}

struct worker *workers_find(const struct workers *w, const char *name)
{
    return sw_table_find(w->by_name, name);
}

bool workers_observe(struct sw_engine *e, struct object *o, const struct sw_key *key,
                     struct json_object *live)
{
    struct workers *w = o->workers;
    if (!w || !sw_streq(key->kind, w->builds ? "Build" : "Pod") ||
        !sw_ns_equal(workers_namespace(o), key->ns))
        return false;
    struct worker *worker = workers_find(w, key->name);
    if (!live || !belongs(o, live)) {
        if (!worker)
            return false;
        (void)lh_table_delete(w->by_name, key->name); /* it was found just now */
        w->n_restarting -= is_restarting(worker);
        nodes_mark(e, worker->node);
        worker_free(worker);
        return true;
    }
    if (!worker) {
        worker = sw_zalloc(1, sizeof *worker);
        worker->name = sw_strdup(key->name);
        worker->build_pod = w->builds ? sw_printf("%s-build", key->name) : NULL;
        worker->node = SW_NO_NODE;
        worker->template = -1;
        if (lh_table_insert(w->by_name, worker->name, worker))
            abort();
    }
    uint32_t before = worker->node;
    if (!read_worker(e, o, worker, live))
        return false;
    o->container_logs.changed = true;
    nodes_mark(e, before);
    nodes_mark(e, worker->node);
    return true;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

struct worker *workers_next(const struct workers *w, struct lh_entry **at)
{
    *at = *at ? lh_entry_next(*at) : lh_table_head(w->by_name);
    return *at ? lh_entry_v(*at) : NULL;
}

/* The same, of an object that has pods; NULL: it has none. */
static const struct worker *next_pod(const struct object *o, struct lh_entry **at)
{
    return o->workers && !o->workers->builds ? workers_next(o->workers, at) : NULL;
}

/* Pods of an object that was here before under the same name carry its uid. */
static bool is_its_own(const struct object *o, const struct worker *worker)
{
    return !worker->owner || !o->uid || worker->owner == sw_fnv64a(o->uid, strlen(o->uid));
}

static bool is_current(const struct object *o, const struct worker *worker)
{
    if (!is_its_own(o, worker))
        return false;
    return o->template <0 || worker->template <0 || o->template == worker->template;
}

static bool is_finished(const struct object *o, const struct worker *worker)
{
    /* a pod that is upgraded node by node counts until its node's turn comes */
    bool counts = o->gate && o->gate->by_node ? is_its_own(o, worker) : is_current(o, worker);
    return worker->ready && counts && (!o->gate || !o->gate->log_pattern || worker->logged);
}

/* Update the nodes that have pods, and those where all pods are ready. */
static void update_nodes(struct object *o)
{
    struct workers *w = o->workers;
    struct lh_entry *at = NULL;
    struct bitset unready = { 0 };
    bitset_done(&w->has);
    bitset_done(&w->ready);
    for (const struct worker *worker; (worker = workers_next(w, &at));) {
        if (worker->node == SW_NO_NODE)
            continue;
        (void)bitset_put(&w->has, worker->node, true);
        (void)bitset_put(is_finished(o, worker) ? &w->ready : &unready, worker->node, true);
    }
    for (uint32_t n = bitset_next(&unready, 0); n != UINT32_MAX; n = bitset_next(&unready, n + 1))
        (void)bitset_put(&w->ready, n, false);
    bitset_done(&unready);
}

/* How much a worker says about why its object is not ready: 3 where it failed, 1 where it is only
 * starting, 0 where it is ready. */
static int severity(const struct worker *worker)
{
    static const char *const dull[] = { "ContainerCreating", "PodInitializing", "Pending",
                                        SW_POD_NOT_READY,    "Running",         "New" };
    if (worker->readiness.kind == SW_READINESS_FAILED)
        return 3;
    if (worker->readiness.kind == SW_READINESS_READY)
        return 0;
    for (size_t i = 0; i < SW_COUNT(dull); i++)
        if (sw_streq(worker->readiness.reason, dull[i]))
            return 1;
    return 2;
}

/* Does it run without being ready? */
static bool is_unready(const struct worker *worker)
{
    return sw_streq(worker->readiness.reason, SW_POD_NOT_READY);
}

/* Of pods that say as much those of the nodes that are waited for go first. */
static int rank_of(const struct object *o, const struct worker *worker)
{
    return 2 * severity(worker) + (object_lacks_nodes(o) && worker->node != SW_NO_NODE &&
                                   bitset_has(&o->state->lacking, worker->node));
}

static const struct worker *worst_pod(const struct object *o)
{
    const struct worker *worst = NULL;
    struct lh_entry *at = NULL;
    const bool any = o->workers && o->workers->any_pod; /* one that starts may have no part in it */
    for (const struct worker *worker; (o->present || any) && (worker = next_pod(o, &at));) {
        int worse = worst ? rank_of(o, worker) - rank_of(o, worst) : 1;
        if ((severity(worker) > (any ? 1 : 0) || is_unready(worker)) &&
            (worse > 0 || (worse == 0 && strcmp(worker->name, worst->name) < 0)))
            worst = worker;
    }
    return worst;
}

int64_t workers_runs_unready(const struct object *o)
{
    const struct worker *worker = worst_pod(o);
    return worker && is_unready(worker) ? worker->since_ms : 0;
}

bool workers_worst(const struct object *o, const char **pod, const struct sw_readiness **readiness)
{
    const struct worker *worker = worst_pod(o);
    if (!worker)
        return false;
    *pod = worker->name;
    *readiness = &worker->readiness;
    return true;
}

bool workers_succeeded(const struct object *o, const char **pod,
                       const struct sw_readiness **readiness)
{
    const struct worker *newest = NULL;
    struct lh_entry *at = NULL;
    for (const struct worker *worker; (worker = next_pod(o, &at));)
        if (worker->readiness.kind == SW_READINESS_READY && worker->readiness.container &&
            is_its_own(o, worker) && (!newest || worker->version > newest->version))
            newest = worker;
    if (!newest)
        return false;
    *pod = newest->name;
    *readiness = &newest->readiness;
    return true;
}

const char *workers_message(struct sw_engine *e, const struct object *o, const char **reason)
{
    const struct worker *worker = worst_pod(o);
    if (!worker)
        return NULL;
    const char *node = sw_node_set_name(e->nodes, worker->node), *ns = workers_namespace(o);
    const bool is_long = is_unready(worker) && worker->since_ms + UNREADY_MS <= e->now_ms;
    if (severity(worker) > 1 || is_long)
        *reason = worker->readiness.reason;
    if (!ns || sw_streq(ns, o->key.ns))
        ns = "";
    return sw_arena_printf(e->arena, "pod %s%s%s%s%s: %s", ns, *ns ? "/" : "", worker->name,
                           node ? " on node " : "", node ? node : "", worker->readiness.message);
}

static const struct worker *last_build(const struct object *o)
{
    const struct worker *last = NULL;
    struct lh_entry *at = NULL;
    for (const struct worker *worker; (worker = workers_next(o->workers, &at));)
        if (!last || worker->number > last->number)
            last = worker;
    return last;
}

const char *workers_failed_build(const struct object *o)
{
    const struct worker *last = o->workers && o->workers->builds ? last_build(o) : NULL;
    return last && last->readiness.kind == SW_READINESS_FAILED ? last->build_pod : NULL;
}

static void judge_builds(struct object *o)
{
    const struct worker *last = last_build(o);
    if (!last || !sw_streq(o->readiness.reason, "NoBuild"))
        return;
    if (last->readiness.kind == SW_READINESS_READY)
        sw_readiness_set(&o->readiness, SW_READINESS_READY, NULL, " ");
    else
        sw_readiness_set(&o->readiness, last->readiness.kind, last->readiness.reason,
                         "build %s: %s", last->name, last->readiness.message);
}

bool workers_wake(struct sw_engine *e, struct object *o)
{
    struct lh_entry *at = NULL;
    bool changed = false;
    if (!o->workers || !o->workers->n_restarting)
        return false;
    for (struct worker *worker; (worker = workers_next(o->workers, &at));) {
        if (!worker->counts_ms)
            continue;
        if (worker->counts_ms > e->now_ms) {
            act_wake(e, worker->counts_ms);
            continue;
        }
        worker->counts_ms = 0;
        worker->ready = changed = true;
        o->workers->n_restarting--;
        sw_readiness_set(&worker->readiness, SW_READINESS_READY, NULL, " ");
        nodes_mark(e, worker->node);
    }
    return changed;
}

/* How many of the pods that @o has now end and start again. */
static size_t count_restarting(const struct object *o)
{
    struct lh_entry *at = NULL;
    size_t n = 0;
    if (!o->workers->n_restarting)
        return 0;
    for (const struct worker *worker; (worker = workers_next(o->workers, &at));)
        n += is_restarting(worker) && !worker->terminating && is_current(o, worker);
    return n;
}

void workers_judge(struct object *o)
{
    const struct worker *unlogged = NULL, *worker;
    struct lh_entry *at = NULL;
    if (o->workers->builds) {
        judge_builds(o);
        return;
    }
    if (o->workers->inform)
        return;
    update_nodes(o);
    if (o->readiness.kind != SW_READINESS_READY)
        return;
    while (o->gate && o->gate->log_pattern && !unlogged && (worker = workers_next(o->workers, &at)))
        if (worker->ready && is_current(o, worker) && !worker->logged)
            unlogged = worker;
    const size_t n_restarting = count_restarting(o);
    if (n_restarting)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "Restarting",
                         "%zu of its pods end%s and start%s again", n_restarting,
                         n_restarting == 1 ? "s" : "", n_restarting == 1 ? "s" : "");
    else if (unlogged)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "WaitingForLogs",
                         "the log of pod %s does not match '%s' yet", unlogged->name,
                         o->gate->log_pattern);
    else if (o->workers->node_by_node && o->awaited &&
             (int64_t)o->workers->ready.count < o->n_desired)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "Progressing",
                         "%zu of %" PRId64 " pods are ready", o->workers->ready.count,
                         o->n_desired);
}

bool workers_has(const struct object *o, uint32_t node)
{
    return o->workers && bitset_has(&o->workers->has, node);
}

bool workers_ready_on(const struct object *o, uint32_t node)
{
    return o->workers && bitset_has(&o->workers->ready, node);
}

void workers_mark_drivers(const struct object *o, struct driver_marks *m)
{
    struct lh_entry *at = NULL;
    for (const struct worker *worker; (worker = next_pod(o, &at));) {
        if (worker->node == SW_NO_NODE)
            continue;
        bool current = is_current(o, worker);
        (void)bitset_put(&m->has, worker->node, true);
        if (!current)
            (void)bitset_put(&m->old, worker->node, true);
        if (!current || !is_finished(o, worker) || worker->terminating)
            (void)bitset_put(&m->not_ready, worker->node, true);
    }
}

void workers_each_old(const struct object *o, uint32_t node,
                      void (*each)(const char *ns, const char *name, void *arg), void *arg)
{
    struct lh_entry *at = NULL;
    for (const struct worker *worker; (worker = next_pod(o, &at));)
        if (worker->node == node && !worker->terminating && !is_current(o, worker))
            each(o->key.ns, worker->name, arg);
}

bool workers_lack_image(const struct object *o)
{
    struct lh_entry *at = NULL;
    for (const struct worker *worker; (worker = next_pod(o, &at));) {
        const char *reason = worker->readiness.reason;
        if (is_current(o, worker) &&
            (sw_streq(reason, "ErrImagePull") || sw_streq(reason, "ImagePullBackOff")))
            return true;
    }
    return false;
}

char *workers_nodes(const struct sw_engine *e, const struct object *o)
{
    if (!o->workers || o->workers->builds || o->workers->inform || !o->present)
        return NULL;
    const struct bitset *has = &o->workers->has;
    char *all = sw_strdup("");
    for (uint32_t n = bitset_next(has, 0); n != UINT32_MAX; n = bitset_next(has, n + 1)) {
        const char *name = sw_node_set_name(e->nodes, n);
        char *longer = sw_printf("%s%s%s", all, *all && name ? "," : "", name ? name : "");
        free(all);
        all = longer;
    }
    return all;
}

void workers_forget_node(struct object *o, uint32_t node)
{
    struct lh_entry *at = NULL;
    if (!workers_has(o, node))
        return;
    for (struct worker *worker; (worker = workers_next(o->workers, &at));)
        if (worker->node == node)
            worker->node = SW_NO_NODE; /* that its pod is gone will be observed */
    (void)bitset_put(&o->workers->has, node, false);
    (void)bitset_put(&o->workers->ready, node, false);
}

/* ---- workers that are observed before their object is rendered ---------------------------------
 */

void workers_keep_early(struct sw_engine *e, const struct sw_key *key, struct json_object *live)
{
    SW_GROW(e->early_workers, e->n_early_workers, e->cap_early_workers);
    e->early_workers[e->n_early_workers++] = (struct early_worker){ sw_key_copy(key),
                                                                    json_object_get(live) };
}

void workers_take_early(struct sw_engine *e, struct object *o)
{
    for (size_t i = 0; i < e->n_early_workers; i++)
        (void)workers_observe(e, o, &e->early_workers[i].key, e->early_workers[i].live);
}

void workers_drop_early(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_early_workers; i++) {
        sw_key_done(&e->early_workers[i].key);
        (void)json_object_put(e->early_workers[i].live);
    }
    free(SW_TAKE(e->early_workers));
    e->n_early_workers = e->cap_early_workers = 0;
}
