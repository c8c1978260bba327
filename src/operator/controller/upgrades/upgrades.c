/* Drivers are replaced node by node: the decisions of operator/engine/upgrade/upgrade.h are carried
 * out and reported. All that must survive a restart is in labels of the nodes. */
#include "operator/controller/core.h"
#include "operator/controller/upgrades/drain.h"
#include "operator/engine/upgrade/upgrade.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/metrics.h"
#include "operator/engine/nodes/bitset.h"
#include "operator/engine/nodes/grace_period.h"

#define IT_FAILED "it failed: "

enum { SOON_MS = 50, AGAIN_MS = 1000, MAX_WAITING = 50 };

struct node_drain {
    struct upgrade *u;
    struct node_drain *next;
    char *node;
    struct drain *drain;
};

struct upgrade {
    struct resource *r;
    struct sw_timer *timer;
    struct node_drain *drains;
    char *step_label, *since_label, *cordon_label;
    struct json_object *status;  /* status.upgrade as the engine has it */
    struct json_object *reasons; /* node -> why it failed last, since the controller started */
    size_t n_writing;            /* patches of nodes under way */
    bool is_waiting;             /* until other resources' upgrades are done with their nodes */
    bool finalizing;             /* finalize_done() is due when no node is under way any more */
};

static struct upgrade *upgrade_of(const struct resource *r)
{
    return r->state[CAPABILITY_upgrades];
}

/* ---- the nodes ---------------------------------------------------------------------------------
 */

/* What other resources' upgrades do with a node, by its labels. */
struct others {
    const struct upgrade *u;
    bool cordoned, at_work;
};

static void check_label(const char *key, const char *value, void *arg)
{
    struct others *others = arg;
    const struct upgrade *u = others->u;
    if (sw_streq(key, u->cordon_label) || sw_streq(key, u->step_label))
        return;
    if (sw_starts_with(key, SW_UPGRADE_CORDON_LABEL))
        others->cordoned = others->at_work = true;
    else if (sw_starts_with(key, SW_UPGRADE_LABEL))
        others->at_work |= sw_upgrade_step_find(value) != SW_UP_DRAIN_FAILED;
}

static void begin_patch(struct op *op, const struct sw_kind *kind);

static bool is_busy(const struct resource *r, const char *node)
{
    return op_find(r, begin_patch, NULL, node);
}

/* An upgrade that another resource is beginning is in no label yet. */
static struct others others_on(const struct upgrade *u, uint32_t node)
{
    const struct sw_node_set *set = u->r->c->nodes;
    struct others others = { .u = u };
    sw_node_set_each_label(set, node, check_label, &others);
    for (struct resource *r = u->r->c->resources; r && !others.at_work; r = r->next)
        others.at_work = r != u->r && upgrade_of(r) && upgrade_of(r)->n_writing &&
                         is_busy(r, sw_node_set_name(set, node));
    return others;
}

static struct node_drain *find_drain(const struct upgrade *u, const char *node)
{
    for (struct node_drain *d = u->drains; d; d = d->next)
        if (sw_streq(d->node, node))
            return d;
    return NULL;
}

/* The nodes that the upgrade is about. */
struct gathered {
    const struct upgrade *u;
    struct sw_upgrade_node *nodes;
    uint32_t *numbers;
    size_t n, cap, numbers_cap;
};

static void add_node(struct gathered *g, uint32_t number, bool outdated, bool finished)
{
    SW_GROW(g->nodes, g->n, g->cap);
    if (g->numbers_cap < g->cap) {
        g->numbers_cap = g->cap;
        g->numbers = sw_realloc(g->numbers, g->numbers_cap, sizeof *g->numbers);
    }
    const struct upgrade *u = g->u;
    const struct sw_node_set *set = u->r->c->nodes;
    const char *name = sw_node_set_name(set, number),
               *since = sw_node_set_label(set, number, u->since_label);
    struct node_drain *d = find_drain(u, name);
    struct others others = others_on(u, number);
    struct json_object *selector = sw_json_find(u->r->doc, "spec", "nodeSelector", NULL);
    g->nodes[g->n] = (struct sw_upgrade_node){
        .name = name,
        .ready = sw_node_set_is_ready(set, number),
        .unschedulable = sw_node_set_is_unschedulable(set, number),
        .skipped = sw_streq(sw_node_set_label(set, number, SW_UPGRADE_SKIP_LABEL), "true"),
        .step = sw_upgrade_step_find(sw_node_set_label(set, number, u->step_label)),
        .since_ms = since ? strtoll(since, NULL, 10) * 1000 : 0,
        .cordoned = sw_node_set_label(set, number, u->cordon_label) != NULL,
        .shared = others.cordoned,
        .at_work = others.at_work,
        .forbidden = !sw_node_policy_allows(u->r->c->opts.node_policy, set, number) ||
                     !sw_node_set_keeps(set, number, selector, u->r->name),
        .drained = d && drain_is_done(d->drain),
        .refused = d && drain_is_refused(d->drain),
        .outdated = outdated,
        .finished = finished,
    };
    g->numbers[g->n++] = number;
}

static void on_driver_node(const struct sw_driver_node *n, void *arg)
{
    add_node(arg, n->node, n->outdated, n->finished);
}

/* Nodes that were begun and have no driver any more: they are finished. */
static void add_left_behind(struct gathered *g)
{
    const struct sw_node_set *set = g->u->r->c->nodes;
    for (uint32_t i = 0; i < sw_node_set_end(set); i++) {
        if (!sw_node_set_name(set, i) || !sw_node_set_label(set, i, g->u->step_label))
            continue;
        bool has = false;
        for (size_t k = 0; k < g->n; k++)
            has |= g->numbers[k] == i;
        if (!has)
            add_node(g, i, false, true);
    }
}

static void gathered_done(struct gathered *g)
{
    free(g->nodes);
    free(g->numbers);
}

/* ---- writing to nodes --------------------------------------------------------------------------
 */

/* The Event that is reported when the node was written; none without a reason. */
struct node_event {
    bool warning;
    const char *reason;
    char *message;
    struct upgrade *u; /* that is writing */
};

static void node_event_free(void *arg)
{
    struct node_event *event = arg;
    if (event->u)
        event->u->n_writing--;
    free(event->message);
    free(event);
}

static void upgrade_soon(struct resource *r);

static void again_later(struct resource *r)
{
    if (upgrade_of(r) && !sw_timer_is_set(upgrade_of(r)->timer))
        sw_timer_set(upgrade_of(r)->timer, AGAIN_MS);
}

/* A node may be free for another resource now, which the node is none of. */
static void wake_waiting(struct sw_controller *c)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (upgrade_of(r) && upgrade_of(r)->is_waiting)
            upgrade_soon(r);
}

static void on_patched(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct resource *r = op->r;
    const struct node_event *event = op->more;
    op->req = NULL;
    if (a->code < 0) { /* a conflict: the watch brings the change */
        sw_log(SW_LOG_DEBUG, "node not written", "node", op->key.name, "error", sw_err_text(a->err),
               NULL);
        op_free(op);
        again_later(r);
        return;
    }
    (void)cluster_put_node(r->c, op->node, a->object);
    if (event->reason)
        event_report(r, &(struct sw_action){ .reason = event->reason,
                                             .message = event->message,
                                             .warning = event->warning });
    op_free(op);
    upgrade_soon(r);
    wake_waiting(r->c);
}

static void begin_patch(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, op->key.name, SW_PATCH_MERGE, op->doc,
                            REQUEST_OWN(NODES, .retries = 2), on_patched, op);
}

static void patch_failed(struct op *op, int code SW_UNUSED, const char *message SW_UNUSED)
{
    struct resource *r = op->r;
    op_free(op);
    again_later(r);
}

/* With the resourceVersion, so that a cordon that was set meanwhile is a conflict. */
static struct json_object *node_patch(const struct upgrade *u, uint32_t number,
                                      const struct sw_upgrade_decision *d, bool cordoned)
{
    struct json_object *body = json_object_new_object();
    char now[24], version[24];
    bool gone = d->next == SW_UP_NONE;
    (void)snprintf(now, sizeof now, "%" PRId64, sw_loop_wall_ms(u->r->c->loop) / 1000);
    (void)snprintf(version, sizeof version, "%" PRIu64,
                   sw_node_set_version(u->r->c->nodes, number));
    sw_json_set_str(body, version, "metadata", "resourceVersion", NULL);
    sw_json_set(body, gone ? NULL : json_object_new_string(sw_upgrade_step_name(d->next)),
                "metadata", "labels", u->step_label, NULL);
    sw_json_set(body, gone ? NULL : json_object_new_string(now), "metadata", "labels",
                u->since_label, NULL);
    if (d->cordon)
        sw_json_set_str(body, "slipway", "metadata", "labels", u->cordon_label, NULL);
    else if (cordoned && (d->uncordon || gone))
        sw_json_set(body, NULL, "metadata", "labels", u->cordon_label, NULL);
    if (d->cordon)
        sw_json_set(body, json_object_new_boolean(true), "spec", "unschedulable", NULL);
    else if (d->uncordon)
        sw_json_set(body, NULL, "spec", "unschedulable", NULL);
    return body;
}

/* @message is taken. */
static struct node_event *node_event_new(bool warning, const char *reason, char *message)
{
    struct node_event *event = sw_zalloc(1, sizeof *event);
    *event = (struct node_event){ .warning = warning, .reason = reason, .message = message };
    return event;
}

static void write_node(struct upgrade *u, uint32_t number, const struct sw_upgrade_node *node,
                       const struct sw_upgrade_decision *d, struct node_event *event)
{
    struct op *op = op_new(u->r, &(struct sw_key){ "v1", "Node", NULL, node->name }, 0);
    op->node = number;
    op->doc = node_patch(u, number, d, node->cordoned);
    op->begin = begin_patch;
    op->failed = patch_failed;
    event = event ? event : node_event_new(false, NULL, NULL);
    event->u = u;
    u->n_writing++;
    op->more = event;
    op->release = node_event_free;
    op_with_kind(op);
}

/* ---- what is done on a node --------------------------------------------------------------------
 */

static void close_drain(struct upgrade *u, const char *node)
{
    for (struct node_drain **at = &u->drains; *at; at = &(*at)->next) {
        struct node_drain *d = *at;
        if (!sw_streq(d->node, node))
            continue;
        *at = d->next;
        drain_close(d->drain);
        free(d->node);
        free(d);
        return;
    }
}

static void on_drain(void *arg)
{
    upgrade_soon(((struct node_drain *)arg)->u->r);
}

static void on_pod_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct resource *r = op->r;
    const char *node = sw_node_set_name(r->c->nodes, op->node);
    op->req = NULL;
    if (a->code == SW_FORBIDDEN && node)
        sw_json_set_str(upgrade_of(r)->reasons, sw_err_text(a->err), node, NULL);
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "driver pod not deleted", "pod", op->key.name, "error",
               sw_err_text(a->err), NULL);
    op_free(op);
    again_later(r);
}

static void begin_delete(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_delete(op->r->c->kube, kind, op->key.ns, op->key.name,
                             REQUEST_AS(op->r, .retries = 2), on_pod_deleted, op);
}

/* The node whose old driver goes. */
struct old_driver {
    struct upgrade *u;
    uint32_t node;
};

static void delete_pod(const char *ns, const char *name, void *arg)
{
    const struct old_driver *old = arg;
    struct upgrade *u = old->u;
    if (op_find(u->r, begin_delete, ns, name))
        return;
    struct op *op = op_new(u->r, &(struct sw_key){ "v1", "Pod", ns, name }, 0);
    op->node = old->node;
    op->begin = begin_delete;
    op->failed = patch_failed;
    op_with_kind(op);
}

/* The nodes that other resources work on, and that are not among those of @g. */
static int64_t count_elsewhere(const struct gathered *g)
{
    const struct sw_node_set *set = g->u->r->c->nodes;
    struct bitset own = { 0 };
    int64_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        (void)bitset_put(&own, g->numbers[i], true);
    for (uint32_t i = 0; i < sw_node_set_end(set); i++)
        n += sw_node_set_name(set, i) && !bitset_has(&own, i) && others_on(g->u, i).at_work;
    bitset_done(&own);
    return n;
}

static const char *node_message(const struct upgrade *u, const struct sw_upgrade_node *node,
                                const struct sw_upgrade_decision *d)
{
    struct node_drain *drain = find_drain(u, node->name);
    const char *message = drain ? drain_message(drain->drain) : "";
    if (!drain && node->step == SW_UP_RESTARTING) /* its old driver may not be deleted */
        message = sw_json_str(u->reasons, "", node->name, NULL);
    return *message ? message : sw_upgrade_why_text(d->why);
}

static struct node_event *event_of(const struct upgrade *u, const struct sw_upgrade_node *node,
                                   const struct sw_upgrade_decision *d)
{
    switch (d->what) {
    case SW_UPDO_BEGIN:
        return node_event_new(false, "NodeUpgradeStarted",
                              sw_printf("node %s: its driver is replaced%s%s", node->name,
                                        d->cordon             ? "; cordoned"
                                        : node->unschedulable ? "; cordoned by others"
                                                              : "",
                                        d->next == SW_UP_DRAINING ? "; draining" : ""));
    case SW_UPDO_FINISH:
        if (d->why == SW_UPWHY_FORBIDDEN)
            return node_event_new(true, "NodeUpgradeFailed",
                                  sw_printf("node %s: %s%s", node->name,
                                            sw_upgrade_why_text(d->why),
                                            d->uncordon ? "; uncordoned" : ""));
        return node_event_new(false, "NodeUpgraded",
                              sw_printf("node %s: the new driver is ready%s", node->name,
                                        d->uncordon ? "; uncordoned" : ""));
    case SW_UPDO_FAIL:
        return node_event_new(true, "NodeUpgradeFailed",
                              sw_printf("node %s: %s: %s%s", node->name,
                                        sw_upgrade_step_name(d->next), node_message(u, node, d),
                                        d->uncordon ? "; uncordoned" : ""));
    default:
        return NULL;
    }
}

static void perform(struct upgrade *u, const struct sw_upgrade_policy *policy, uint32_t number,
                    const struct sw_upgrade_node *node, const struct sw_upgrade_decision *d)
{
    bool written = false;
    switch (d->what) {
    case SW_UPDO_FAIL:
        sw_json_set_str(u->reasons, node_message(u, node, d), node->name, NULL);
        written = true;
        break;
    case SW_UPDO_BEGIN:
    case SW_UPDO_FINISH:
        (void)sw_json_del(u->reasons, node->name, NULL);
        written = true;
        break;
    case SW_UPDO_DRAIN:
        if (!find_drain(u, node->name)) {
            struct node_drain *drain = sw_zalloc(1, sizeof *drain);
            *drain = (struct node_drain){ u, u->drains, sw_strdup(node->name), NULL };
            u->drains = drain;
            drain->drain = drain_open(u->r, node->name, policy, on_drain, drain);
        }
        return;
    case SW_UPDO_RESTART:
        written = node->step != d->next;
        if (!written)
            sw_engine_each_old_pod(u->r->engine, number, delete_pod,
                                   &(struct old_driver){ u, number });
        break;
    default:
        break;
    }
    if (written && !is_busy(u->r, node->name))
        write_node(u, number, node, d, event_of(u, node, d));
    if (d->next != SW_UP_DRAINING)
        close_drain(u, node->name);
}

/* ---- the status --------------------------------------------------------------------------------
 */

/* Why a node failed is in no label: after a restart it is taken from the status. */
static struct json_object *node_doc(const struct upgrade *u, const struct sw_upgrade_node *node,
                                    const struct sw_upgrade_decision *d)
{
    struct json_object *doc = json_object_new_object();
    struct json_object *before = sw_json_find_by(sw_json_get(u->status, "nodes"), "name",
                                                 node->name);
    const char *reason = sw_json_str(u->reasons, "", node->name, NULL),
               *last = sw_json_str(before, "", "message", NULL),
               *message = node_message(u, node, d);
    char since[21];
    SW_AUTO_CHARS *failed = sw_printf(IT_FAILED "%s; it is tried again later", reason);
    if (d->why == SW_UPWHY_RETRY && *reason)
        message = failed;
    else if (d->why == SW_UPWHY_RETRY && sw_starts_with(last, IT_FAILED))
        message = last;
    sw_json_set_str(doc, node->name, "name", NULL);
    sw_json_set_str(doc, node->step ? sw_upgrade_step_name(node->step) : "waiting", "step", NULL);
    if (node->since_ms)
        sw_json_set_str(doc, sw_time_rfc3339(node->since_ms, since), "since", NULL);
    if (*message)
        sw_json_set_str(doc, message, "message", NULL);
    return doc;
}

/* Lists nodes that are under way or have failed, and the first that wait. */
static struct json_object *status_of(const struct upgrade *u, const struct gathered *g,
                                     const struct sw_upgrade_decision *d)
{
    struct json_object *doc = json_object_new_object(), *list = json_object_new_array();
    size_t up_to_date = 0, in_progress = 0, waiting = 0, failed = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct sw_upgrade_node *node = &g->nodes[i];
        const bool idle = node->step == SW_UP_NONE;
        if (node->step == SW_UP_DRAINING || node->step == SW_UP_RESTARTING)
            in_progress++;
        else if (!idle)
            failed++;
        else if (node->outdated)
            waiting++;
        else
            up_to_date++;
        if (d[i].what != SW_UPDO_NOTHING &&
            sw_json_len(list) < (idle ? MAX_WAITING : 10 * MAX_WAITING))
            (void)json_object_array_add(list, node_doc(u, node, &d[i]));
    }
    const struct {
        const char *key;
        size_t n;
    } rows[] = { { "total", g->n },
                 { "upToDate", up_to_date },
                 { "inProgress", in_progress },
                 { "waiting", waiting },
                 { "failed", failed } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        sw_json_set(doc, json_object_new_int64((int64_t)rows[i].n), rows[i].key, NULL);
    sw_json_set(doc, list, "nodes", NULL);
    return doc;
}

/* Pass status.upgrade to the engine. @doc is taken. */
static void tell_engine(struct upgrade *u, struct json_object *doc)
{
    if (!sw_json_equal(doc, u->status)) {
        json_object_put(u->status);
        u->status = json_object_get(doc);
        resource_step(u->r, &(struct sw_event){ .kind = SW_EV_UPGRADE, .object = doc });
    }
    json_object_put(doc);
}

/* ---- the upgrade as a whole --------------------------------------------------------------------
 */

static struct json_object *policy_doc(const struct resource *r)
{
    struct json_object *doc = sw_json_find(r->doc, "spec", "upgradePolicy", NULL);
    return json_object_is_type(doc, json_type_object) ? doc : NULL;
}

/* No upgrade is wanted any more: end it on all nodes where it has begun. */
static void finish_all(struct upgrade *u)
{
    struct gathered g = { .u = u };
    add_left_behind(&g);
    for (size_t i = 0; i < g.n; i++) {
        struct sw_upgrade_decision d = { .what = SW_UPDO_FINISH,
                                         .uncordon = g.nodes[i].cordoned && !g.nodes[i].shared };
        if (!is_busy(u->r, g.nodes[i].name))
            write_node(u, g.numbers[i], &g.nodes[i], &d, NULL);
    }
    while (u->drains)
        close_drain(u, u->drains->node);
    if (g.n == 0 && u->finalizing) {
        u->finalizing = false;
        finalize_done(u->r, CAPABILITY_upgrades);
    }
    gathered_done(&g);
}

/* What the cluster's admins allow is less than what the author may ask for. */
static void bound(const struct gathered *g, struct sw_upgrade_policy *policy)
{
    const struct sw_controller *c = g->u->r->c;
    const struct sw_node_policy *admins = c->opts.node_policy;
    policy->at_work = sw_node_policy_at_work(admins, sw_node_set_count(c->nodes));
    policy->at_work_elsewhere = count_elsewhere(g);
    policy->force_forbidden = !admins->force;
}

static void check_nodes(struct upgrade *u, struct sw_upgrade_policy *policy)
{
    struct gathered g = { .u = u };
    struct resource *r = u->r;
    int64_t at_ms = 0, now_ms = sw_loop_wall_ms(r->c->loop);
    sw_engine_each_driver_node(r->engine, on_driver_node, &g);
    add_left_behind(&g);
    bound(&g, policy);
    struct sw_upgrade_decision *d = sw_zalloc(g.n + 1, sizeof *d);
    sw_upgrade_decide(policy, g.nodes, g.n, now_ms, d);
    u->is_waiting = false;
    for (size_t i = 0; i < g.n; i++) {
        u->is_waiting = u->is_waiting || d[i].why == SW_UPWHY_AT_WORK;
        perform(u, policy, g.numbers[i], &g.nodes[i], &d[i]);
        if (d[i].at_ms && (!at_ms || d[i].at_ms < at_ms))
            at_ms = d[i].at_ms;
    }
    struct json_object *doc = g.n ? status_of(u, &g, d) : NULL;
    if (at_ms && !sw_timer_is_set(u->timer))
        sw_timer_set(u->timer, at_ms > now_ms ? at_ms - now_ms + 1 : 1);
    free(d);
    gathered_done(&g);
    tell_engine(u, doc);
}

static void check_upgrade(void *arg)
{
    struct upgrade *u = arg;
    struct resource *r = u->r;
    struct sw_upgrade_policy policy;
    SW_ERR(err);
    bool is_going = resource_is_deleting(r) || resource_is_removed(r);
    if (resource_is_unmanaged(r) && !is_going)
        return;
    if (is_going || !policy_doc(r)) {
        finish_all(u);
        if (!is_going)
            tell_engine(u, NULL);
    } else if (!r->fault && sw_engine_knows_drivers(r->engine) &&
               sw_upgrade_policy_read(policy_doc(r), &policy, &err) == 0) {
        check_nodes(u, &policy);
    }
}

static void upgrade_soon(struct resource *r)
{
    struct upgrade *u = upgrade_of(r);
    if (!r->started || r->c->opts.one_shot ||
        !(u || policy_doc(r) || sw_json_get(r->status, "upgrade")))
        return;
    if (!u) {
        u = r->state[CAPABILITY_upgrades] = sw_zalloc(1, sizeof *u);
        *u = (struct upgrade){ .r = r,
                               .reasons = json_object_new_object(),
                               .step_label = sw_printf("%s%s", SW_UPGRADE_LABEL, r->name),
                               .since_label = sw_printf("%s%s", SW_UPGRADE_SINCE_LABEL, r->name),
                               .cordon_label = sw_printf("%s%s", SW_UPGRADE_CORDON_LABEL, r->name),
                               .status = json_object_get(sw_json_get(r->status, "upgrade")) };
        u->timer = sw_timer_new(r->c->loop, check_upgrade, u);
    }
    sw_timer_set(u->timer, SOON_MS);
}

static bool finalize(struct resource *r)
{
    struct upgrade *u = upgrade_of(r);
    if (!u)
        return true;
    u->finalizing = true;
    sw_timer_set(u->timer, 0);
    return false;
}

static void node_changed(struct sw_controller *c, uint32_t node SW_UNUSED)
{
    wake_waiting(c);
}

static void metrics(struct sw_controller *c, struct sw_metrics *out)
{
    static const char *const steps[] = { "upToDate", "inProgress", "waiting", "failed" };
    sw_metrics_head(out, "slipway_upgrade_nodes", "gauge",
                    "Nodes by how far the replacement of their driver is");
    for (struct resource *r = c->resources; r; r = r->next) {
        SW_AUTO_JSON *status = sw_controller_status(c, r->name);
        struct json_object *upgrade = sw_json_get(status, "upgrade");
        for (size_t i = 0; upgrade && i < SW_COUNT(steps); i++)
            sw_metrics_add(out, "slipway_upgrade_nodes",
                           (uint64_t)sw_json_int(upgrade, 0, steps[i], NULL), "specialresource",
                           r->name, "step", steps[i], NULL);
    }
}

static void resource_close(struct resource *r)
{
    struct upgrade *u = SW_TAKE(r->state[CAPABILITY_upgrades]);
    if (!u)
        return;
    while (u->drains)
        close_drain(u, u->drains->node);
    sw_timer_free(u->timer);
    json_object_put(u->reasons);
    json_object_put(u->status);
    free(u->step_label);
    free(u->since_label);
    free(u->cordon_label);
    free(u);
}

const struct capability capability_upgrades = {
    .name = "upgrades",
    .summary = "spec.upgradePolicy: drivers are replaced node by node; without it pods of drivers "
               "that are out of date stay",
    .stepped = upgrade_soon,
    .finalize = finalize,
    .node_changed = node_changed,
    .metrics = metrics,
    .resource_close = resource_close,
};
