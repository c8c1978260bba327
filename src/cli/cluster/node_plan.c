#include "cli/cluster/node_plan.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "operator/facts/facts.h"
#include "operator/manifests/node_choice.h"
#include "operator/manifests/sharing.h"

/* ---- pods and nodes -----------------------------------------------------------------------------
 */

/* The uid of the pod's first owner, or "". */
static const char *owner_uid(struct json_object *pod)
{
    struct json_object *owners = sw_json_find(pod, "metadata", "ownerReferences", NULL);
    return sw_json_str(sw_json_at(owners, 0), "", "uid", NULL);
}

static bool is_chosen(const struct sw_node_plan *p, uint32_t node)
{
    struct sw_node_choice choice = { p->node_set, p->resource, p->tolerations };
    return sw_node_is_chosen(sw_node_set_name(p->node_set, node), &choice);
}

/* Whether the state includes the node, as the engine's is_node_of(): a state that waits for
 * DaemonSets includes the nodes that they run on. */
static bool is_member(const struct sw_node_plan *p, const struct sw_node_plan_state *s,
                      uint32_t node)
{
    if (!s->by_node || !sw_json_len(s->sets))
        return is_chosen(p, node);
    for (size_t i = 0; i < sw_json_len(s->sets); i++) {
        struct json_object *set = sw_json_at(s->sets, i);
        SW_AUTO_CHARS *key = sw_printf("%s %s", sw_node_set_name(p->node_set, node),
                                       sw_obj_uid(set));
        if ((*sw_obj_uid(set) && sw_json_get(p->placed, key)) ||
            sw_node_affinity_takes_pod(p->node_set, node,
                                       sw_json_find(set, "spec", "template", "spec", NULL)))
            return true;
    }
    return false;
}

/* ---- actions ------------------------------------------------------------------------------------
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

/* @value NULL: the label is removed. */
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

/* The DaemonSet of a driver that owns the pod, or NULL; @*state: the state of the DaemonSet. */
static struct json_object *driver_of(const struct sw_node_plan *p, struct json_object *pod,
                                     const struct sw_node_plan_state **state)
{
    const char *uid = owner_uid(pod);
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

/* Whether a node has cordon labels of other resources. */
struct cordon_check {
    const char *own;
    bool others;
};

static void on_label(const char *key, const char *value SW_UNUSED, void *arg)
{
    struct cordon_check *check = arg;
    if (sw_starts_with(key, SW_UPGRADE_CORDON_LABEL) && !sw_streq(key, check->own))
        check->others = true;
}

static const char *label_of(const struct sw_node_plan *p, uint32_t node, const char *prefix)
{
    SW_AUTO_CHARS *key = sw_printf("%s%s", prefix, p->name);
    return sw_node_set_label(p->node_set, node, key);
}

/* Add what the node's driver pods say. @return whether it has any */
static bool check_pods(const struct sw_node_plan *p, struct sw_upgrade_node *node)
{
    struct json_object *pods = sw_json_get(p->by_node, node->name);
    bool any = false;
    node->finished = true;
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i), *set = driver_of(p, pod, NULL);
        if (!set)
            continue;
        const char *now = sw_obj_annotation(set, "deprecated.daemonset.template.generation");
        bool old = p->all || !sw_streq(now, sw_obj_label(pod, "pod-template-generation"));
        struct json_object *ready = sw_obj_condition(pod, "Ready");
        any = true;
        node->outdated = node->outdated || old;
        node->finished = node->finished && !old &&
                         sw_streq(sw_json_str(ready, "", "status", NULL), "True");
    }
    return any;
}

/* The nodes with drivers, for sw_upgrade_plan(); heap. */
static struct sw_upgrade_node *find_drivers(const struct sw_node_plan *p, size_t *n)
{
    struct sw_upgrade_node *nodes = sw_zalloc(sw_node_set_end(p->node_set) + 1, sizeof *nodes);
    SW_AUTO_CHARS *cordon = sw_printf("%s%s", SW_UPGRADE_CORDON_LABEL, p->name);
    for (uint32_t i = 0; i < sw_node_set_end(p->node_set); i++) {
        if (!sw_node_set_name(p->node_set, i))
            continue;
        const char *since = label_of(p, i, SW_UPGRADE_SINCE_LABEL);
        struct cordon_check check = { cordon, false };
        sw_node_set_each_label(p->node_set, i, on_label, &check);
        struct sw_upgrade_node f = {
            .name = sw_node_set_name(p->node_set, i),
            .ready = sw_node_set_is_ready(p->node_set, i),
            .unschedulable = sw_node_set_is_unschedulable(p->node_set, i),
            .skipped = sw_streq(sw_node_set_label(p->node_set, i, SW_UPGRADE_SKIP_LABEL), "true"),
            .step = sw_upgrade_step_find(label_of(p, i, SW_UPGRADE_LABEL)),
            .since_ms = since ? strtoll(since, NULL, 10) * 1000 : 0,
            .cordoned = sw_node_set_label(p->node_set, i, cordon) != NULL,
            .shared = check.others,
        };
        bool has_driver = check_pods(p, &f);
        if (has_driver || f.step != SW_UP_NONE)
            nodes[(*n)++] = f;
    }
    return nodes;
}

static void replace_label(const struct sw_node_plan *p, uint32_t node, const char *key,
                          const char *value, struct json_object *removed, struct json_object *set)
{
    if (sw_node_set_label(p->node_set, node, key))
        json_object_object_add(removed, key, NULL);
    json_object_object_add(set, key, json_object_new_string(value));
}

/* Which version of a module of Kernel Module Management is ready on the node, or was; heap. NULL:
 * it has none. *@version: that it has then, borrowed; NULL: none */
static char *version_label(const struct sw_node_plan *p, const struct sw_node_plan_state *s,
                           uint32_t node, bool ready, const char **version)
{
    SW_AUTO_CHARS *chosen = NULL, *key = sw_ready_version_label(s->ready_label, &chosen);
    *version = key && ready ? sw_node_set_label(p->node_set, node, chosen) : NULL;
    return key && (*version || sw_node_set_label(p->node_set, node, key)) ? SW_TAKE(key) : NULL;
}

/* The driver's pods are deleted, and with them the labels of their states, which are set again with
 * the new driver. */
static void replace_driver(struct sw_node_plan *p, size_t round, const char *name)
{
    struct json_object *pods = sw_json_get(p->by_node, name);
    uint32_t node = sw_node_set_find(p->node_set, name);
    struct json_object *replaced = json_object_new_array();
    SW_AUTO_JSON *removed = json_object_new_object();
    SW_AUTO_JSON *set = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        const struct sw_node_plan_state *state = NULL;
        struct json_object *pod = sw_json_at(pods, i);
        if (!driver_of(p, pod, &state))
            continue;
        add_pod(replaced, pod, NULL);
        if (!state->label || sw_json_get(set, state->label))
            continue;
        replace_label(p, node, state->label, "Ready", removed, set);
        if (state->ready_label)
            replace_label(p, node, state->ready_label, "", removed, set);
        const char *version;
        SW_AUTO_CHARS *key = version_label(p, state, node, true, &version);
        if (version)
            replace_label(p, node, key, version, removed, set);
    }
    sw_json_set(action(p, round, name, "replace driver"), replaced, "pods", NULL);
    if (sw_json_len(removed))
        sw_json_set(action(p, round, name, "label"), json_object_get(removed), "labels", NULL);
    if (sw_json_len(set))
        sw_json_set(action(p, round, name, "label"), json_object_get(set), "labels", NULL);
}

static void on_step(size_t round, const struct sw_upgrade_node *node,
                    const struct sw_upgrade_decision *d, void *arg)
{
    struct sw_node_plan *p = arg;
    struct json_object *doc, *pods = sw_json_get(p->by_node, node->name), *list;
    const char *next = d->next == SW_UP_NONE ? NULL : sw_upgrade_step_name(d->next);
    SW_AUTO_CHARS *label = sw_printf("%s%s", SW_UPGRADE_LABEL, p->name); /* the node's step */
    round += p->round;
    switch (d->what) {
    case SW_UPDO_BEGIN:
        note_label(action(p, round, node->name, d->cordon ? "cordon" : "begin"), label, next);
        break;
    case SW_UPDO_DRAIN:
        list = sw_json_need_list(action(p, round, node->name, "drain"), "pods", NULL);
        for (size_t i = 0; i < sw_json_len(pods); i++) {
            struct json_object *pod = sw_json_at(pods, i);
            const char *why = sw_upgrade_eviction(pod, &p->policy, NULL, NULL);
            if (why)
                add_pod(list, pod, why);
        }
        break;
    case SW_UPDO_RESTART:
        replace_driver(p, round, node->name);
        break;
    case SW_UPDO_FINISH:
        note_label(action(p, round, node->name, d->uncordon ? "uncordon" : "end"), label, NULL);
        break;
    case SW_UPDO_FAIL:
        note_label(action(p, round, node->name, sw_upgrade_step_name(d->next)), label, next);
        break;
    default:
        doc = json_object_new_object();
        sw_json_set_str(doc, node->name, "node", NULL);
        sw_json_set_str(doc, sw_upgrade_why_text(d->why), "why", NULL);
        (void)json_object_array_add(p->waiting, doc);
        break;
    }
}

/* The actions that follow belong to the round of the last one. */
static void continue_round(struct sw_node_plan *p)
{
    size_t n = sw_json_len(p->actions);
    p->round = n ? (size_t)sw_json_int(sw_json_at(p->actions, n - 1), 0, "round", NULL) : 0;
}

/* ---- labels of states ---------------------------------------------------------------------------
 */

/* @arg: the labels. */
static void on_copy(const char *key, const char *value, void *arg)
{
    json_object_object_add(arg, key, json_object_new_string(value));
}

/* Plan the change, and change the node: later states select nodes by labels. */
static void change_label(struct sw_node_plan *p, uint32_t node, const char *key, const char *value)
{
    SW_AUTO_JSON *labels = json_object_new_object();
    note_label(action(p, p->round, sw_node_set_name(p->node_set, node), "label"), key, value);
    sw_node_set_each_label(p->node_set, node, on_copy, labels);
    if (value)
        json_object_object_add(labels, key, json_object_new_string(value));
    else
        json_object_object_del(labels, key);
    (void)sw_node_set_put_labels(p->node_set, node, labels, 0);
}

/* Where Node Feature Discovery has not run, the controller labels nodes with their kernel before it
 * applies what selects them by it. */
static void plan_kernels(struct sw_node_plan *p)
{
    continue_round(p);
    for (uint32_t node = 0; p->facts && node < sw_node_set_end(p->node_set); node++) {
        const char *id = sw_node_set_name(p->node_set, node) ? sw_node_set_group(p->node_set, node)
                                                             : NULL;
        const struct sw_group *group = id ? sw_facts_find_group(p->facts, id) : NULL;
        if (group && is_chosen(p, node) && !sw_label_value_fault(group->kernel_label) &&
            !sw_streq(sw_node_set_label(p->node_set, node, SW_KERNEL_LABEL), group->kernel_label))
            change_label(p, node, SW_KERNEL_LABEL, group->kernel_label);
    }
}

static bool shares_label(const struct sw_node_plan *p, const char *label, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (sw_streq(p->states[i].label, label) || sw_streq(p->states[i].ready_label, label))
            return true;
    return false;
}

static void plan_state(struct sw_node_plan *p, size_t state, bool going)
{
    const struct sw_node_plan_state *s = &p->states[state];
    if (!s->label || shares_label(p, s->label, state))
        return;
    continue_round(p);
    for (uint32_t node = 0; node < sw_node_set_end(p->node_set); node++) {
        if (!sw_node_set_name(p->node_set, node))
            continue;
        bool wanted = !going && is_member(p, s, node);
        const char *now = sw_node_set_label(p->node_set, node, s->label);
        if (wanted ? !sw_streq(now, "Ready") : now != NULL)
            change_label(p, node, s->label, wanted ? "Ready" : NULL);
        if (s->ready_label &&
            wanted != (sw_node_set_label(p->node_set, node, s->ready_label) != NULL))
            change_label(p, node, s->ready_label, wanted ? "" : NULL);
        const char *version;
        SW_AUTO_CHARS *key = version_label(p, s, node, wanted, &version);
        if (key && !sw_streq(sw_node_set_label(p->node_set, node, key), version))
            change_label(p, node, key, version);
    }
}

/* Of a state that is gone. */
static void lose_label(struct sw_node_plan *p, const char *key)
{
    for (uint32_t node = 0; *key && node < sw_node_set_end(p->node_set); node++)
        if (sw_node_set_name(p->node_set, node) && sw_node_set_label(p->node_set, node, key))
            change_label(p, node, key, NULL);
}

/* Remove the labels of states that are no longer in the recipe. */
static void plan_lost_states(struct sw_node_plan *p)
{
    struct json_object *before = sw_json_find(p->resource, "status", "states", NULL);
    continue_round(p);
    for (size_t i = 0; i < sw_json_len(before); i++) {
        struct json_object *state = sw_json_at(before, i);
        const char *label = sw_json_str(state, "", "label", NULL);
        const char *ready = sw_json_str(state, "", "readyLabel", NULL);
        if (!shares_label(p, label, p->n_states))
            lose_label(p, label);
        if (shares_label(p, ready, p->n_states))
            continue;
        SW_AUTO_CHARS *chosen = NULL, *version = sw_ready_version_label(ready, &chosen);
        lose_label(p, ready);
        if (version)
            lose_label(p, version);
    }
}

/* ---- taints -------------------------------------------------------------------------------------
 */

static char *taint_text(const char *key, const char *value, const char *effect)
{
    return sw_printf("%s=%s:%s", key, value, effect);
}

static bool has_taint(const struct sw_node_plan *p, uint32_t node, const char *text)
{
    for (size_t i = 0; i < sw_node_set_n_taints(p->node_set, node); i++) {
        struct sw_taint t = sw_node_set_taint(p->node_set, node, i);
        SW_AUTO_CHARS *have = taint_text(t.key, t.value ? t.value : "", t.effect);
        if (sw_streq(have, text))
            return true;
    }
    return false;
}

static void taint(struct sw_node_plan *p, uint32_t node, const char *text, bool on)
{
    struct json_object *doc = action(p, p->round, sw_node_set_name(p->node_set, node),
                                     on ? "taint" : "untaint");
    sw_json_set_str(doc, text, "taint", NULL);
}

/* @going: the resource is removed, and its taints with it. */
static void plan_taints(struct sw_node_plan *p, bool going)
{
    struct json_object *list = sw_json_find(p->resource, "spec", "taints", NULL);
    continue_round(p);
    for (uint32_t node = 0; node < sw_node_set_end(p->node_set); node++) {
        if (!sw_node_set_name(p->node_set, node))
            continue;
        SW_AUTO_JSON *wanted = json_object_new_object();
        SW_AUTO_JSON *recorded = NULL; /* {"<resource>": ["key=value:effect"]}: set by slipway */
        const char *record = sw_node_set_taint_record(p->node_set, node);
        SW_ERR(ignored);
        for (size_t i = 0; !going && is_chosen(p, node) && i < sw_json_len(list); i++) {
            struct json_object *t = sw_json_at(list, i);
            SW_AUTO_CHARS *text = taint_text(sw_json_str(t, "", "key", NULL),
                                             sw_json_str(t, "", "value", NULL),
                                             sw_json_str(t, "", "effect", NULL));
            json_object_object_add(wanted, text, json_object_new_boolean(true));
            if (!has_taint(p, node, text))
                taint(p, node, text, true);
        }
        if (*record && sw_json_parse(record, strlen(record), NULL, &recorded, &ignored) < 0)
            continue;
        struct json_object *mine = sw_json_get(recorded, p->name);
        for (size_t i = 0; i < sw_json_len(mine); i++) {
            const char *text = json_object_get_string(sw_json_at(mine, i));
            if (text && !sw_json_get(wanted, text) && has_taint(p, node, text))
                taint(p, node, text, false);
        }
    }
}

/* ---- the plan -----------------------------------------------------------------------------------
 */

int sw_node_plan_make(struct sw_node_plan *plan, struct sw_err *err)
{
    struct json_object *resource = plan->resource,
                       *policy = sw_json_find(resource, "spec", "upgradePolicy", NULL);
    const char *management = sw_json_str(resource, "", "spec", "managementState", NULL);
    bool orphan = sw_streq(sw_json_str(resource, "", "spec", "deletionPolicy", NULL), "orphan");
    bool deleted = sw_json_find(resource, "metadata", "deletionTimestamp", NULL);
    bool going = deleted ? !orphan : sw_streq(management, "Removed");
    bool walked = !deleted && !going && !sw_streq(management, "Unmanaged");
    int rc = sw_upgrade_policy_read(policy, &plan->policy, err);
    if (rc < 0)
        return rc;
    plan->has_policy = policy != NULL;
    plan->was_paused = plan->policy.paused;
    plan->policy.paused = false; /* a plan helps to decide whether to begin */
    plan->actions = json_object_new_array();
    plan->waiting = json_object_new_array();
    SW_AUTO_JSON *of_recipe = sw_sharing_of_recipe(plan->metadata);
    plan->tolerations = sw_sharing_node_tolerations(resource, of_recipe);
    plan->by_node = json_object_new_object();
    plan->placed = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(plan->pods); i++) {
        struct json_object *pod = sw_json_at(plan->pods, i);
        const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
        if (!*node)
            continue;
        (void)json_object_array_add(sw_json_need_list(plan->by_node, node, NULL),
                                    json_object_get(pod));
        SW_AUTO_CHARS *key = sw_printf("%s %s", node, owner_uid(pod));
        json_object_object_add(plan->placed, key, json_object_new_boolean(true));
    }
    if (walked)
        plan_taints(plan, false);
    bool upgraded = !walked;
    for (size_t i = 0; i < plan->n_states; i++) {
        struct json_object *sets = plan->states[i].sets;
        for (size_t k = 0; !upgraded && k < sw_json_len(sets); k++) {
            if (!is_driver(sw_json_at(sets, k)))
                continue;
            struct sw_upgrade_node *nodes = find_drivers(plan, &plan->n_drivers);
            continue_round(plan);
            if (plan->has_policy)
                sw_upgrade_plan(&plan->policy, nodes, plan->n_drivers, sw_now_ms(), on_step, plan);
            free(nodes);
            upgraded = true;
        }
        if (walked && plan->states[i].kernel_affine)
            plan_kernels(plan);
        if (walked || going)
            plan_state(plan, i, going);
    }
    if (walked || going)
        plan_lost_states(plan);
    if (going)
        plan_taints(plan, true);
    return 0;
}

void sw_node_plan_done(struct sw_node_plan *plan)
{
    for (size_t i = 0; i < plan->n_states; i++) {
        free(plan->states[i].label);
        free(plan->states[i].ready_label);
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
