#include "cli/cluster/node_plan.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "operator/manifests/node_choice.h"
#include "operator/manifests/sharing.h"

/* ---- what is where ------------------------------------------------------------------------------
 */

static void index_pods(struct sw_node_plan *p)
{
    p->by_node = json_object_new_object();
    p->placed = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(p->pods); i++) {
        struct json_object *pod = sw_json_at(p->pods, i), *list;
        const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
        if (!*node)
            continue;
        list = sw_json_get(p->by_node, node);
        if (!list)
            json_object_object_add(p->by_node, node, list = json_object_new_array());
        (void)json_object_array_add(list, json_object_get(pod));
        struct json_object *owners = sw_json_find(pod, "metadata", "ownerReferences", NULL);
        SW_AUTO_CHARS *key = sw_printf("%s %s", node,
                                       sw_json_str(sw_json_at(owners, 0), "", "uid", NULL));
        json_object_object_add(p->placed, key, json_object_new_boolean(true));
    }
}

static bool has_pod_of(const struct sw_node_plan *p, const char *node, struct json_object *set)
{
    SW_AUTO_CHARS *key = sw_printf("%s %s", node, sw_obj_uid(set));
    return *sw_obj_uid(set) && sw_json_get(p->placed, key);
}

static bool is_chosen(const struct sw_node_plan *p, uint32_t node)
{
    struct sw_node_choice choice = { p->node_set, p->resource, p->tolerations };
    return sw_node_is_chosen(sw_node_set_name(p->node_set, node), &choice);
}

/* As the engine's is_node_of(): a state that waits for DaemonSets is a matter of the nodes that
 * they run on. */
static bool is_member(const struct sw_node_plan *p, const struct sw_node_plan_state *s,
                      uint32_t node)
{
    if (!s->by_node || !sw_json_len(s->sets))
        return is_chosen(p, node);
    for (size_t i = 0; i < sw_json_len(s->sets); i++) {
        struct json_object *set = sw_json_at(s->sets, i);
        if (has_pod_of(p, sw_node_set_name(p->node_set, node), set) ||
            sw_node_affinity_takes_pod(p->node_set, node,
                                       sw_json_find(set, "spec", "template", "spec", NULL)))
            return true;
    }
    return false;
}

/* ---- writing it down ----------------------------------------------------------------------------
 */

static struct json_object *action(const struct sw_node_plan *p, size_t round, const char *node,
                                  const char *what)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int64((int64_t)round + 1), "round", NULL);
    sw_json_set_str(doc, node, "node", NULL);
    sw_json_set_str(doc, what, "action", NULL);
    (void)json_object_array_add(p->actions, doc);
    return doc;
}

/* @value NULL: it is taken off. */
static void note_label(struct json_object *doc, const char *key, const char *value)
{
    struct json_object *labels = sw_json_need_map(doc, "labels", NULL);
    json_object_object_add(labels, key, value ? json_object_new_string(value) : NULL);
}

static void add_pod(struct json_object *list, struct json_object *pod, const char *why)
{
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, sw_obj_namespace(pod), "namespace", NULL);
    sw_json_set_str(entry, sw_obj_name(pod), "name", NULL);
    if (why && *why)
        sw_json_set_str(entry, why, "refused", NULL);
    (void)json_object_array_add(list, entry);
}

/* ---- drivers ------------------------------------------------------------------------------------
 */

static bool is_driver(struct json_object *set)
{
    return sw_streq(sw_obj_annotation(set, "slipway.dev/upgrade"), "by-node");
}

/* The driver's DaemonSet that the pod is of, or NULL; @*state: whose it is. */
static struct json_object *driver_of(const struct sw_node_plan *p, struct json_object *pod,
                                     const struct sw_node_plan_state **state)
{
    struct json_object *owners = sw_json_find(pod, "metadata", "ownerReferences", NULL);
    const char *uid = sw_json_str(sw_json_at(owners, 0), "", "uid", NULL);
    for (size_t s = 0; *uid && s < p->n_states; s++) {
        for (size_t i = 0; i < sw_json_len(p->states[s].sets); i++) {
            struct json_object *set = sw_json_at(p->states[s].sets, i);
            if (!is_driver(set) || !sw_streq(sw_obj_uid(set), uid))
                continue;
            if (state)
                *state = &p->states[s];
            return set;
        }
    }
    return NULL;
}

static void check_pods(const struct sw_node_plan *p, struct sw_upgrade_node *node, bool *any)
{
    struct json_object *pods = sw_json_get(p->by_node, node->name);
    node->finished = true;
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i), *set = driver_of(p, pod, NULL);
        if (!set)
            continue;
        const char *now = sw_obj_annotation(set, "deprecated.daemonset.template.generation");
        bool old = p->all || !sw_streq(now, sw_obj_label(pod, "pod-template-generation"));
        struct json_object *ready = sw_obj_condition(pod, "Ready");
        *any = true;
        node->outdated = node->outdated || old;
        node->finished = node->finished && !old &&
                         sw_streq(sw_json_str(ready, "", "status", NULL), "True");
    }
}

struct cordon_check {
    const char *own;
    bool others;
};

static void on_label(const char *key, const char *value SW_UNUSED, void *arg)
{
    struct cordon_check *look = arg;
    if (sw_starts_with(key, SW_UPGRADE_CORDON_LABEL) && !sw_streq(key, look->own))
        look->others = true;
}

static const char *label_of(const struct sw_node_plan *p, uint32_t node, const char *prefix)
{
    SW_AUTO_CHARS *key = sw_printf("%s%s", prefix, p->name);
    return sw_node_set_label(p->node_set, node, key);
}

static struct sw_upgrade_node *find_drivers(const struct sw_node_plan *p, size_t *n)
{
    struct sw_upgrade_node *nodes = sw_zalloc(sw_node_set_end(p->node_set) + 1, sizeof *nodes);
    SW_AUTO_CHARS *cordon = sw_printf("%s%s", SW_UPGRADE_CORDON_LABEL, p->name);
    for (uint32_t i = 0; i < sw_node_set_end(p->node_set); i++) {
        if (!sw_node_set_name(p->node_set, i))
            continue;
        const char *since = label_of(p, i, SW_UPGRADE_SINCE_LABEL);
        struct cordon_check look = { cordon, false };
        sw_node_set_each_label(p->node_set, i, on_label, &look);
        struct sw_upgrade_node f = {
            .name = sw_node_set_name(p->node_set, i),
            .ready = sw_node_set_is_ready(p->node_set, i),
            .unschedulable = sw_node_set_is_unschedulable(p->node_set, i),
            .skipped = sw_streq(sw_node_set_label(p->node_set, i, SW_UPGRADE_SKIP_LABEL), "true"),
            .step = sw_upgrade_step_find(label_of(p, i, SW_UPGRADE_LABEL)),
            .since_ms = since ? strtoll(since, NULL, 10) * 1000 : 0,
            .cordoned = sw_node_set_label(p->node_set, i, cordon) != NULL,
            .shared = look.others,
        };
        bool any = f.step != SW_UP_NONE;
        check_pods(p, &f, &any);
        if (any)
            nodes[(*n)++] = f;
    }
    return nodes;
}

/* Those that a drain evicts. */
static struct json_object *evicted(const struct sw_node_plan *p, const char *node)
{
    struct json_object *list = json_object_new_array(), *pods = sw_json_get(p->by_node, node);
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i);
        const char *why = sw_upgrade_eviction(pod, &p->policy, NULL, NULL);
        if (why)
            add_pod(list, pod, why);
    }
    return list;
}

/* The old driver goes, and with it the label of its state, which comes again with the new one. */
static void replace_driver(struct sw_node_plan *p, size_t round, const char *name)
{
    struct json_object *pods = sw_json_get(p->by_node, name), *list = json_object_new_array();
    uint32_t node = sw_node_set_find(p->node_set, name);
    SW_AUTO_JSON *off = json_object_new_object();
    SW_AUTO_JSON *on = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        const struct sw_node_plan_state *state = NULL;
        struct json_object *pod = sw_json_at(pods, i);
        if (!driver_of(p, pod, &state))
            continue;
        add_pod(list, pod, NULL);
        if (!state->label || sw_json_get(on, state->label))
            continue;
        if (sw_node_set_label(p->node_set, node, state->label))
            json_object_object_add(off, state->label, NULL);
        json_object_object_add(on, state->label, json_object_new_string("Ready"));
    }
    sw_json_set(action(p, round, name, "replace driver"), list, "pods", NULL);
    if (json_object_object_length(off))
        sw_json_set(action(p, round, name, "label"), json_object_get(off), "labels", NULL);
    if (json_object_object_length(on))
        sw_json_set(action(p, round, name, "label"), json_object_get(on), "labels", NULL);
}

/* What the controller writes down on the node beside the step; @next NULL: it is taken off. */
static void note_step(const struct sw_node_plan *p, struct json_object *doc, const char *next)
{
    SW_AUTO_CHARS *key = sw_printf("%s%s", SW_UPGRADE_LABEL, p->name);
    note_label(doc, key, next);
}

static void on_step(size_t round, const struct sw_upgrade_node *node,
                    const struct sw_upgrade_decision *d, void *arg)
{
    struct sw_node_plan *p = arg;
    struct json_object *doc;
    const char *next = d->next == SW_UP_NONE ? NULL : sw_upgrade_step_name(d->next);
    round += p->round;
    switch (d->what) {
    case SW_UPDO_BEGIN:
        note_step(p, action(p, round, node->name, d->cordon ? "cordon" : "begin"), next);
        break;
    case SW_UPDO_DRAIN:
        doc = action(p, round, node->name, "drain");
        sw_json_set(doc, evicted(p, node->name), "pods", NULL);
        break;
    case SW_UPDO_RESTART:
        replace_driver(p, round, node->name);
        break;
    case SW_UPDO_FINISH:
        note_step(p, action(p, round, node->name, d->uncordon ? "uncordon" : "end"), NULL);
        break;
    case SW_UPDO_FAIL:
        note_step(p, action(p, round, node->name, sw_upgrade_step_name(d->next)), next);
        break;
    default:
        doc = json_object_new_object();
        sw_json_set_str(doc, node->name, "node", NULL);
        sw_json_set_str(doc, sw_upgrade_why_text(d->why), "why", NULL);
        (void)json_object_array_add(p->waiting, doc);
        break;
    }
}

static int64_t last_round(const struct sw_node_plan *p)
{
    size_t n = sw_json_len(p->actions);
    return n ? sw_json_int(sw_json_at(p->actions, n - 1), 0, "round", NULL) : 0;
}

static void plan_drivers(struct sw_node_plan *p)
{
    size_t n = 0;
    struct sw_upgrade_node *nodes = find_drivers(p, &n);
    p->n_drivers = n;
    p->round = (size_t)last_round(p);
    if (p->has_policy)
        sw_upgrade_plan(&p->policy, nodes, n, sw_now_ms(), on_step, p);
    free(nodes);
}

/* ---- labels of states ---------------------------------------------------------------------------
 */

struct copy {
    struct json_object *labels;
};

static void on_copy(const char *key, const char *value, void *arg)
{
    struct copy *copy = arg;
    json_object_object_add(copy->labels, key, json_object_new_string(value));
}

/* What later states select nodes by. */
static void put_label(struct sw_node_plan *p, uint32_t node, const char *key, const char *value)
{
    SW_AUTO_JSON *labels = json_object_new_object();
    struct copy copy = { labels };
    sw_node_set_each_label(p->node_set, node, on_copy, &copy);
    if (value)
        json_object_object_add(labels, key, json_object_new_string(value));
    else
        json_object_object_del(labels, key);
    (void)sw_node_set_put_labels(p->node_set, node, labels, 0);
}

static void change_label(struct sw_node_plan *p, uint32_t node, const char *key, const char *value)
{
    note_label(action(p, p->round, sw_node_set_name(p->node_set, node), "label"), key, value);
    put_label(p, node, key, value);
}

/* Labels stay while somebody looks on only; all of them go when the resource does. */
enum mode { WALKED, LEFT_ALONE, GOING };

static enum mode mode_of(struct json_object *resource)
{
    const char *managed = sw_json_str(resource, "", "spec", "managementState", NULL);
    const char *orphan = sw_json_str(resource, "", "spec", "deletionPolicy", NULL);
    if (sw_json_find(resource, "metadata", "deletionTimestamp", NULL))
        return sw_streq(orphan, "orphan") ? LEFT_ALONE : GOING;
    if (sw_streq(managed, "Removed"))
        return GOING;
    return sw_streq(managed, "Unmanaged") ? LEFT_ALONE : WALKED;
}

static bool shares_label(const struct sw_node_plan *p, const char *label, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (sw_streq(p->states[i].label, label))
            return true;
    return false;
}

static void plan_state(struct sw_node_plan *p, size_t state, bool going)
{
    const struct sw_node_plan_state *s = &p->states[state];
    if (!s->label || shares_label(p, s->label, state))
        return;
    p->round = (size_t)last_round(p);
    for (uint32_t node = 0; node < sw_node_set_end(p->node_set); node++) {
        if (!sw_node_set_name(p->node_set, node))
            continue;
        bool wanted = !going && is_member(p, s, node);
        const char *now = sw_node_set_label(p->node_set, node, s->label);
        if (wanted ? !sw_streq(now, "Ready") : now != NULL)
            change_label(p, node, s->label, wanted ? "Ready" : NULL);
    }
}

/* Of states that the recipe had, and has no more. */
static void plan_lost_states(struct sw_node_plan *p)
{
    struct json_object *before = sw_json_find(p->resource, "status", "states", NULL);
    p->round = (size_t)last_round(p);
    for (size_t i = 0; i < sw_json_len(before); i++) {
        const char *label = sw_json_str(sw_json_at(before, i), "", "label", NULL);
        if (!*label || shares_label(p, label, p->n_states))
            continue;
        for (uint32_t node = 0; node < sw_node_set_end(p->node_set); node++)
            if (sw_node_set_name(p->node_set, node) && sw_node_set_label(p->node_set, node, label))
                change_label(p, node, label, NULL);
    }
}

/* ---- taints -------------------------------------------------------------------------------------
 */

static char *taint_text(const char *key, const char *value, const char *effect)
{
    return sw_printf("%s=%s:%s", key, value, effect);
}

static bool has_taint(const struct sw_node_plan *p, uint32_t node, const char *words)
{
    for (size_t i = 0; i < sw_node_set_n_taints(p->node_set, node); i++) {
        struct sw_taint t = sw_node_set_taint(p->node_set, node, i);
        SW_AUTO_CHARS *have = taint_text(t.key, t.value ? t.value : "", t.effect);
        if (sw_streq(have, words))
            return true;
    }
    return false;
}

static void taint(struct sw_node_plan *p, uint32_t node, const char *words, bool on)
{
    struct json_object *doc = action(p, p->round, sw_node_set_name(p->node_set, node),
                                     on ? "taint" : "untaint");
    sw_json_set_str(doc, words, "taint", NULL);
}

/* @recorded: {"<resource>": ["key=value:effect", ...]}: those that slipway has set. */
static void untaint(struct sw_node_plan *p, uint32_t node, struct json_object *recorded,
                    struct json_object *wanted)
{
    struct json_object *mine = sw_json_get(recorded, p->name);
    for (size_t i = 0; i < sw_json_len(mine); i++) {
        const char *words = json_object_get_string(sw_json_at(mine, i));
        if (words && !sw_json_get(wanted, words) && has_taint(p, node, words))
            taint(p, node, words, false);
    }
}

static void plan_taints_of(struct sw_node_plan *p, uint32_t node, bool going)
{
    struct json_object *list = sw_json_find(p->resource, "spec", "taints", NULL);
    SW_AUTO_JSON *wanted = json_object_new_object();
    SW_AUTO_JSON *recorded = NULL;
    const char *record = sw_node_set_taint_record(p->node_set, node);
    SW_ERR(ignored);
    if (*record && sw_json_parse(record, strlen(record), NULL, &recorded, &ignored) < 0)
        recorded = NULL;
    for (size_t i = 0; !going && is_chosen(p, node) && i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        SW_AUTO_CHARS *words = taint_text(sw_json_str(t, "", "key", NULL),
                                          sw_json_str(t, "", "value", NULL),
                                          sw_json_str(t, "", "effect", NULL));
        json_object_object_add(wanted, words, json_object_new_boolean(true));
        if (!has_taint(p, node, words))
            taint(p, node, words, true);
    }
    untaint(p, node, recorded, wanted);
}

static void plan_taints(struct sw_node_plan *p, bool going)
{
    p->round = (size_t)last_round(p);
    for (uint32_t node = 0; node < sw_node_set_end(p->node_set); node++)
        if (sw_node_set_name(p->node_set, node))
            plan_taints_of(p, node, going);
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

static bool has_drivers(const struct sw_node_plan_state *s)
{
    for (size_t i = 0; i < sw_json_len(s->sets); i++)
        if (is_driver(sw_json_at(s->sets, i)))
            return true;
    return false;
}

int sw_node_plan_make(struct sw_node_plan *plan, struct sw_err *err)
{
    struct json_object *policy = sw_json_find(plan->resource, "spec", "upgradePolicy", NULL);
    int rc = sw_upgrade_policy_read(policy, &plan->policy, err);
    if (rc < 0)
        return rc;
    enum mode mode = mode_of(plan->resource);
    plan->has_policy = policy != NULL;
    plan->was_paused = plan->policy.paused;
    plan->policy.paused = false; /* a plan is for deciding whether to begin */
    plan->actions = json_object_new_array();
    plan->waiting = json_object_new_array();
    plan->tolerations = sw_sharing_tolerations(plan->resource);
    index_pods(plan);
    if (mode == WALKED)
        plan_taints(plan, false);
    bool upgraded = mode != WALKED;
    for (size_t i = 0; i < plan->n_states; i++) {
        if (!upgraded && has_drivers(&plan->states[i])) {
            plan_drivers(plan);
            upgraded = true;
        }
        if (mode != LEFT_ALONE)
            plan_state(plan, i, mode == GOING);
    }
    if (mode != LEFT_ALONE)
        plan_lost_states(plan);
    if (mode == GOING)
        plan_taints(plan, true);
    return 0;
}

void sw_node_plan_done(struct sw_node_plan *plan)
{
    for (size_t i = 0; i < plan->n_states; i++) {
        free(plan->states[i].label);
        json_object_put(plan->states[i].sets);
    }
    free(plan->states);
    json_object_put(plan->pods);
    json_object_put(plan->actions);
    json_object_put(plan->waiting);
    json_object_put(plan->by_node);
    json_object_put(plan->placed);
    json_object_put(plan->tolerations);
    *plan = (struct sw_node_plan){ 0 };
}
