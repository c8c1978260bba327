#include "emulator/controllers/fit.h"
#include "emulator/controllers/workload.h"

#include "data/json/table.h"

#include <stdlib.h>
#include <string.h>

/* What was read from a DaemonSet's document; read again when the document changes. */
struct ds {
    json_object *doc; /* counted */
    struct sw_fit fit;
    char hash[11];
    struct on_node *nodes; /* by node number */
    size_t n_nodes;
};

/* What a DaemonSet knows of a node. */
struct on_node {
    bool known;             /* what comes next is of this template, and */
    unsigned n_changes;     /* of the node as it was after so many changes */
    bool should;            /* it should run there */
    bool runs;              /* it should when it was compared with its pods last */
    unsigned char n_failed; /* pods that failed there, one after another */
};

struct sw_daemonsets {
    struct lh_table *by_key; /* "ns/name" -> struct ds; owns both */
};

/* A DaemonSet's pod on one node. */
struct place {
    struct sw_pod *keep; /* the oldest active one */
    bool should;         /* the DaemonSet should run here */
    bool available;
};

static const char hash_label[] = "controller-revision-hash";
static const char generation_label[] = "pod-template-generation";

/* The template's tolerations, and those that the DaemonSet controller adds to each pod, so that the
 * taints of a node in trouble do not evict it. New. Source: Kubernetes "DaemonSet", taints and
 * tolerations. */
static json_object *daemon_tolerations(json_object *pod_spec)
{
    static const char *const rows[][2] = {
        { "node.kubernetes.io/not-ready", "NoExecute" },
        { "node.kubernetes.io/unreachable", "NoExecute" },
        { "node.kubernetes.io/disk-pressure", "NoSchedule" },
        { "node.kubernetes.io/memory-pressure", "NoSchedule" },
        { "node.kubernetes.io/pid-pressure", "NoSchedule" },
        { "node.kubernetes.io/unschedulable", "NoSchedule" },
        { "node.kubernetes.io/network-unavailable", "NoSchedule" }, /* hostNetwork only; last */
    };
    json_object *list = sw_json_copy(sw_json_get(pod_spec, "tolerations"));
    size_t n = SW_COUNT(rows) - !sw_json_bool(pod_spec, false, "hostNetwork", NULL);
    list = list ? list : json_object_new_array();
    for (size_t i = 0; i < n; i++)
        json_object_array_add(list,
                              sw_doc_new("key", sw_str(rows[i][0]), "operator", sw_str("Exists"),
                                         "effect", sw_str(rows[i][1]), NULL));
    return list;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static void free_entry(struct lh_entry *entry)
{
    struct ds *ds = lh_entry_v(entry);
    json_object_put(ds->doc);
    sw_fit_done(&ds->fit);
    free(ds->nodes);
    sw_table_free_key_and_value(entry);
}

/* The entry of the DaemonSet as @doc has it; NULL, and the entry is removed, where @doc is NULL. */
static struct ds *find_ds(struct sw_ctl *ctl, const char *ns, const char *name, json_object *doc)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns, name);
    struct lh_table *table = ctl->daemonsets->by_key;
    struct ds *ds = sw_table_find(table, key);
    if (!doc) {
        if (ds)
            (void)lh_table_delete(table, key);
        return NULL;
    }
    if (!ds) {
        ds = sw_zalloc(1, sizeof *ds);
        (void)lh_table_insert(table, SW_TAKE(key), ds);
    }
    if (ds->doc == doc)
        return ds;
    json_object *template = sw_json_find(doc, "spec", "template", NULL);
    json_object *pod_spec = sw_json_get(template, "spec");
    const bool same = ds->doc &&
                      sw_json_equal(template, sw_json_find(ds->doc, "spec", "template", NULL));
    json_object_get(doc);
    json_object_put(ds->doc);
    ds->doc = doc;
    if (same)
        return ds;
    for (size_t i = 0; i < ds->n_nodes; i++)
        ds->nodes[i].known = false;
    sw_fit_done(&ds->fit);
    sw_fit_init(&ds->fit, pod_spec);
    json_object_put(ds->fit.tolerations);
    ds->fit.tolerations = daemon_tolerations(pod_spec);
    sw_doc_hash(template, ds->hash);
    return ds;
}

static struct on_node *on_node_of(struct ds *ds, const struct sw_node *node)
{
    if (node->number >= ds->n_nodes) {
        const size_t n = node->number + 1 > 2 * ds->n_nodes ? node->number + 1 : 2 * ds->n_nodes;
        ds->nodes = sw_realloc(ds->nodes, n, sizeof *ds->nodes);
        memset(ds->nodes + ds->n_nodes, 0, (n - ds->n_nodes) * sizeof *ds->nodes);
        ds->n_nodes = n;
    }
    return &ds->nodes[node->number];
}

static bool should_run(struct ds *ds, const struct sw_node *node)
{
    struct on_node *on = on_node_of(ds, node);
    if (on->known && on->n_changes == node->n_changes)
        return on->should;
    on->known = true;
    on->n_changes = node->n_changes;
    on->should = sw_fit_affinity(&ds->fit, node->doc) &&
                 !sw_fit_taint(node->doc, ds->fit.tolerations, SW_NO_SCHEDULE | SW_NO_EXECUTE);
    return on->should;
}

/* A running pod is evicted only by taints with NoExecute. */
static bool may_keep(const struct ds *ds, const struct sw_node *node)
{
    return sw_fit_affinity(&ds->fit, node->doc) &&
           !sw_fit_taint(node->doc, ds->fit.tolerations, SW_NO_EXECUTE);
}

/* ---- pods and places ----------------------------------------------------------------------------
 */

/* A pod that failed is replaced after 1 s, the next one there after 2 s, and so on.
 * @return whether its time has not come */
static bool is_backing_off(struct sw_ctl *ctl, struct ds *ds, struct sw_pod *pod,
                           const struct sw_node *node)
{
    enum { FIRST_MS = 1000, MOST_TWICE = 9 };
    unsigned char *n = &on_node_of(ds, node)->n_failed;
    if (!sw_streq(sw_pod_phase(pod), "Failed")) {
        *n = sw_pod_is_ready(pod) ? 0 : *n;
        return false;
    }
    if (!pod->over_ms || !*n) {
        pod->over_ms = sw_ctl_now(ctl);
        *n += *n < MOST_TWICE;
    }
    int64_t left_ms = pod->over_ms + (FIRST_MS << (*n - 1)) - sw_ctl_now(ctl);
    if (left_ms > 0)
        sw_ctl_enqueue_in(ctl, SW_Q_DAEMONSET, sw_obj_namespace(ds->doc), sw_obj_name(ds->doc),
                          left_ms);
    return left_ms > 0;
}

/* Put @pod into its place, or among those to delete: pods that are over, that may not be there, and
 * of several on one node all but the oldest. */
static void sort_pod(struct sw_ctl *ctl, struct ds *ds, struct sw_pod *pod, struct place *places,
                     struct sw_doomed *d)
{
    struct sw_node *node = pod->node;
    if (!node) { /* not scheduled yet: its affinity names the node, see create_pod() */
        json_object *terms = sw_json_find(pod->doc, "spec", "affinity", "nodeAffinity",
                                          "requiredDuringSchedulingIgnoredDuringExecution",
                                          "nodeSelectorTerms", NULL);
        json_object *field = sw_json_at(sw_json_get(sw_json_at(terms, 0), "matchFields"), 0);
        json_object *name = sw_json_at(sw_json_get(field, "values"), 0);
        node = name ? sw_ctl_node(ctl, json_object_get_string(name)) : NULL;
    }
    if (!node || sw_doc_is_deleted(pod->doc))
        return;
    struct place *place = &places[node->number];
    bool waits = place->should && is_backing_off(ctl, ds, pod, node);
    if ((sw_pod_is_over(pod) && !waits) || (!place->should && !may_keep(ds, node))) {
        sw_doom(d, pod);
        return;
    }
    if (!place->keep) {
        place->keep = pod;
        return;
    }
    int by_age = strcmp(sw_json_str(pod->doc, "", "metadata", "creationTimestamp", NULL),
                        sw_json_str(place->keep->doc, "", "metadata", "creationTimestamp", NULL));
    bool older = by_age ? by_age < 0 : strcmp(sw_pod_name(pod), sw_pod_name(place->keep)) < 0;
    sw_doom(d, older ? place->keep : pod);
    place->keep = older ? pod : place->keep;
}

/* Create the pod for @node: its required node affinity selects the node by name.
 * @return whether it was created */
static bool create_pod(struct sw_ctl *ctl, const struct ds *ds, const struct sw_node *node)
{
    SW_AUTO_CHARS *prefix = sw_printf("%s-", sw_obj_name(ds->doc));
    json_object *pod = sw_workload_pod(ds->doc, prefix);
    const char *generation = sw_obj_annotation(ds->doc, "deprecated.daemonset.template.generation");
    sw_json_set_str(sw_workload_labels(pod), ds->hash, hash_label, NULL);
    sw_json_set_str(sw_workload_labels(pod), generation ? generation : "1", generation_label, NULL);
    sw_json_set(pod, json_object_get(ds->fit.tolerations), "spec", "tolerations", NULL);
    json_object *terms = sw_json_need_list(
        sw_json_need_map(pod, "spec", "affinity", "nodeAffinity",
                         "requiredDuringSchedulingIgnoredDuringExecution", NULL),
        "nodeSelectorTerms", NULL);
    if (!sw_json_len(terms))
        json_object_array_add(terms, json_object_new_object());
    for (size_t i = 0; i < sw_json_len(terms); i++) {
        json_object *field = sw_doc_new("key", sw_str("metadata.name"), "operator", sw_str("In"),
                                        "values", sw_doc_list(sw_str(sw_obj_name(node->doc)), NULL),
                                        NULL);
        json_object_object_add(sw_json_at(terms, i), "matchFields", sw_doc_list(field, NULL));
    }
    return sw_ctl_create(ctl, ctl->kinds.pod, pod, ds->doc) == 0;
}

/* ---- a round ------------------------------------------------------------------------------------
 */

/* One comparison of a DaemonSet with its pods on all nodes. */
struct round {
    struct sw_ctl *ctl;
    struct ds *ds;
    struct place *places; /* by node number */
    struct sw_node *const *nodes;
    size_t n_nodes;
    int64_t desired, available;
    int64_t wait_ms; /* until another pod becomes available by itself; -1: none */
};

static void write_status(struct round *r)
{
    int64_t min_s = sw_json_int(r->ds->doc, 0, "spec", "minReadySeconds", NULL);
    int64_t current = 0, misscheduled = 0, ready = 0, updated = 0, wait_ms;
    r->wait_ms = -1;
    for (size_t i = 0; i < r->n_nodes; i++) {
        struct place *place = &r->places[i];
        r->desired += place->should;
        misscheduled += !place->should && place->keep;
        if (!place->should || !place->keep)
            continue;
        place->available = sw_pod_is_available(r->ctl, place->keep, min_s, &wait_ms);
        current++;
        ready += sw_pod_is_ready(place->keep);
        r->available += place->available;
        updated += sw_pod_has_label(place->keep, hash_label, r->ds->hash);
        r->wait_ms = sw_ctl_sooner(r->wait_ms, wait_ms);
    }
    json_object *status = sw_workload_status(
        r->ds->doc, "desiredNumberScheduled", r->desired, "currentNumberScheduled", current,
        "numberMisscheduled", misscheduled, "numberReady", ready, "updatedNumberScheduled", updated,
        "numberAvailable", r->available, "numberUnavailable", r->desired - r->available, NULL);
    sw_status_omit_zeros(status, "numberAvailable", "numberUnavailable", "updatedNumberScheduled",
                         NULL);
    sw_ctl_put_status(r->ctl, r->ctl->kinds.daemonset, r->ds->doc, status);
}

/* Doom pods of old templates, as many as may be unavailable at once. maxSurge counts as
 * maxUnavailable: this controller does not run two pods of a DaemonSet on one node. */
static void replace_old(struct round *r, struct sw_doomed *d)
{
    json_object *strategy = sw_json_find(r->ds->doc, "spec", "updateStrategy", NULL);
    json_object *rolling = sw_json_get(strategy, "rollingUpdate");
    int64_t most = sw_doc_share(sw_json_get(rolling, "maxUnavailable"), r->desired, true, 1);
    int64_t surge = sw_doc_share(sw_json_get(rolling, "maxSurge"), r->desired, true, 0);
    int64_t left = (most > 0 ? most : surge) - (r->desired - r->available);
    if (sw_streq(sw_json_str(strategy, "", "type", NULL), "OnDelete"))
        return;
    for (size_t i = 0; i < r->n_nodes; i++) {
        struct place *place = &r->places[i];
        if (!place->should || !place->keep ||
            sw_pod_has_label(place->keep, hash_label, r->ds->hash))
            continue;
        if (place->available && left-- <= 0)
            continue;
        sw_doom(d, place->keep);
    }
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *doc = sw_store_get(ctl->store, ctl->kinds.daemonset, ns, name);
    struct ds *ds = find_ds(ctl, ns, name, doc);
    if (!ds || sw_doc_is_deleted(doc))
        return;
    struct round r = { .ctl = ctl, .ds = ds };
    struct sw_doomed d = { 0 };
    r.nodes = sw_ctl_nodes(ctl, &r.n_nodes);
    r.places = sw_zalloc(r.n_nodes + 1, sizeof *r.places);
    for (size_t i = 0; i < r.n_nodes; i++) {
        r.places[i].should = r.nodes[i] && should_run(ds, r.nodes[i]);
        if (r.nodes[i])
            on_node_of(ds, r.nodes[i])->runs = r.places[i].should;
    }
    for (struct sw_pod *p = sw_ctl_owned_pods(ctl, sw_obj_uid(doc)); p; p = p->owner_next)
        sort_pod(ctl, ds, p, r.places, &d);
    write_status(&r);
    replace_old(&r, &d);
    bool ok = sw_workload_revision(ctl, ds->doc, ds->hash) == 0;
    for (size_t i = 0; ok && i < r.n_nodes; i++)
        if (r.places[i].should && !r.places[i].keep)
            ok = create_pod(ctl, ds, r.nodes[i]);
    sw_doomed_delete(ctl, &d, false);
    free(r.places);
    if (!ok)
        sw_ctl_enqueue_in(ctl, SW_Q_DAEMONSET, ns, name, SW_CTL_RETRY_MS);
    else if (r.wait_ms >= 0)
        sw_ctl_enqueue_in(ctl, SW_Q_DAEMONSET, ns, name, r.wait_ms);
}

static bool has_pod_on(const struct ds *ds, const struct sw_node *node)
{
    for (struct sw_pod *p = node->pods; p; p = p->node_next)
        if (sw_streq(sw_json_str(sw_doc_controller(p->doc), "", "uid", NULL), sw_obj_uid(ds->doc)))
            return true;
    return false;
}

/* Enqueues only the DaemonSets that the node's change affects: nodes change often, and a round of a
 * DaemonSet visits all nodes. */
static void on_node(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after)
{
    (void)before;
    struct lh_entry *entry;
    lh_foreach(ctl->daemonsets->by_key, entry)
    {
        struct ds *ds = lh_entry_v(entry);
        bool did = on_node_of(ds, node)->runs;
        bool does = after && should_run(ds, node);
        bool leaves = after && !does && !may_keep(ds, node) && has_pod_on(ds, node);
        if (did != does || leaves)
            sw_ctl_enqueue(ctl, SW_Q_DAEMONSET, sw_obj_namespace(ds->doc), sw_obj_name(ds->doc));
    }
}

static void open_daemonsets(struct sw_ctl *ctl)
{
    ctl->daemonsets = sw_zalloc(1, sizeof *ctl->daemonsets);
    ctl->daemonsets->by_key = lh_kchar_table_new(32, free_entry);
}

static void close_daemonsets(struct sw_ctl *ctl)
{
    lh_table_free(ctl->daemonsets->by_key);
    free(SW_TAKE(ctl->daemonsets));
}

const struct sw_controller sw_daemonset_controller = {
    .group = "apps",
    .kind = "DaemonSet",
    .owns_pods = true,
    .work = work,
    .on_node = on_node,
    .open = open_daemonsets,
    .close = close_daemonsets,
};
