/* Metrics under SRO's names, made of the statuses of now. */
#include "data/text/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "operator/controller/private.h"

static void put_state(struct sw_metrics *out, const char *resource, const char *state, bool ready)
{
    sw_metrics_add(out, "sro_states_completed_info", ready, "specialresource", resource, "state",
                   state, NULL);
}

/* Is the template a state of SRO, as templates/0000-build.yaml is? */
static bool is_numbered(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return strspn(base, "0123456789") == 4 && (base[4] == '-' || base[4] == '_');
}

/* States of SRO are numbered templates of the chart itself, named by their path in it; others are
 * named by the state's name. */
static void put_states(struct sw_metrics *out, const struct resource *r, struct json_object *status)
{
    struct json_object *states = sw_json_get(status, "states");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *s = sw_json_at(states, i);
        const char *name = sw_json_str(s, "", "name", NULL);
        bool ready = sw_streq(sw_json_str(s, "", "phase", NULL), "Ready");
        int at = r->plan ? sw_plan_view_find(r->plan, name) : -1;
        const struct sw_recipe_state *state = at < 0 ? NULL : &r->plan->states[at];
        bool numbered = state && !strchr(state->chart, '/') && state->n_templates &&
                        is_numbered(state->templates[0]);
        for (size_t k = 0; numbered && k < state->n_templates; k++)
            put_state(out, r->name, state->templates[k] + strlen(state->chart) + 1, ready);
        if (!numbered)
            put_state(out, r->name, name, ready);
    }
}

struct workload_out {
    struct sw_metrics *out, *counts;
    const struct resource *r;
};

enum { MOST_NODES = 100 }; /* that are named in a label */

static void put_workload(const struct sw_key *key, const char *nodes, void *arg)
{
    const struct workload_out *w = arg;
    const char *ns = key->ns ? key->ns : "";
    size_t n;
    SW_AUTO_CHARS *most = sw_metrics_names(nodes, MOST_NODES, &n);
    if (n)
        sw_metrics_add(w->out, "sro_used_nodes", 1, "cr", w->r->name, "kind", key->kind, "name",
                       key->name, "namespace", ns, "nodes", most, NULL);
    sw_metrics_add(w->counts, "slipway_used_nodes", n, "cr", w->r->name, "kind", key->kind, "name",
                   key->name, "namespace", ns, NULL);
}

/* The name in the recipe of an object that was made for a kernel: heap. */
static char *name_in_recipe(const struct sw_groups *groups, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < groups->n; i++) {
        size_t n = strlen(groups->items[i]->suffix);
        if (n && len > n + 1 && name[len - n - 1] == '-' &&
            sw_streq(name + len - n, groups->items[i]->suffix))
            return sw_strndup(name, len - n - 1);
    }
    return sw_strdup(name);
}

static bool is_ready_state(struct json_object *status, const char *name)
{
    struct json_object *state = sw_json_find_by(sw_json_get(status, "states"), "name", name);
    return !state || sw_streq(sw_json_str(state, "", "phase", NULL), "Ready");
}

static void put_object(struct sw_metrics *out, const char *resource, bool ready, const char *kind,
                       const char *name, const char *ns)
{
    sw_metrics_add(out, "sro_kind_completed_info", ready, "specialresource", resource, "kind", kind,
                   "name", name, "namespace", ns, NULL);
}

/* One series for each object of the recipe, under its name there: 1 if its state is Ready. The
 * resource's namespace is one of them, whoever made it. */
static void put_objects(struct sw_metrics *out, const struct resource *r,
                        struct json_object *status)
{
    struct json_object *list = sw_json_get(status, "inventory");
    SW_AUTO_JSON *seen = json_object_new_object();
    struct sw_groups groups;
    sw_facts_groups(r->c->facts, NULL, NULL, &groups);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *o = sw_json_at(list, i);
        const char *kind = sw_json_str(o, "", "kind", NULL);
        const char *ns = sw_json_str(o, "", "namespace", NULL);
        SW_AUTO_CHARS *name = name_in_recipe(&groups, sw_json_str(o, "", "name", NULL));
        SW_AUTO_CHARS *key = sw_printf("%s/%s/%s", kind, ns, name);
        if (json_object_object_get_ex(seen, key, NULL))
            continue; /* for another kernel */
        sw_json_set(seen, json_object_new_boolean(true), key, NULL);
        put_object(out, r->name, is_ready_state(status, sw_json_str(o, "", "state", NULL)), kind,
                   name, ns);
    }
    SW_AUTO_CHARS *key = sw_printf("Namespace//%s", resource_namespace(r));
    if (sw_json_len(list) && !json_object_object_get_ex(seen, key, NULL))
        put_object(out, r->name, true, "Namespace", resource_namespace(r), "");
    sw_groups_done(&groups);
}

/* One series for each condition. */
static void put_conditions(struct sw_metrics *out, const char *resource, struct json_object *status)
{
    static const char *const types[] = { "Ready", "Progressing", "Errored" };
    struct json_object *list = sw_json_get(status, "conditions");
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        struct json_object *found = sw_json_find_by(list, "type", types[i]);
        sw_metrics_add(out, "slipway_resource_condition",
                       sw_streq(sw_json_str(found, "", "status", NULL), "True"), "specialresource",
                       resource, "condition", types[i], NULL);
    }
}

static void put_renderers(struct sw_metrics *out, struct sw_renderers_stats stats)
{
    sw_metrics_one(out, "slipway_renderers", "gauge",
                   "Child processes that read and render recipes now", stats.n_children);
    sw_metrics_one(out, "slipway_renderers_waiting", "gauge",
                   "Loads, plans and renders that wait for a child process", stats.n_waiting);
    sw_metrics_one(out, "slipway_renderers_started_total", "counter", "Child processes started",
                   stats.n_started);
    sw_metrics_head(out, "slipway_renderers_ended_total", "counter",
                    "Child processes that ended in the middle of their work: limit (they took more "
                    "than their memory or time), lost (else)");
    sw_metrics_add(out, "slipway_renderers_ended_total", stats.n_killed, "why", "limit", NULL);
    sw_metrics_add(out, "slipway_renderers_ended_total", stats.n_lost, "why", "lost", NULL);
}

char *sw_controller_metrics(struct sw_controller *c)
{
    struct sw_metrics text = { .prefix = "" }, *out = &text;
    struct sw_metrics more = { .prefix = "" }, *objects = &more; /* what follows the states */
    size_t n_resources = 0;
    for (const struct resource *r = c->resources; r; r = r->next)
        n_resources++;
    sw_metrics_one(out, "sro_managed_resources_total", "gauge",
                   "SpecialResources that slipway manages", n_resources);
    sw_metrics_head(out, "sro_states_completed_info", "gauge",
                    "1 for a state that is Ready, 0 for others");
    sw_metrics_head(objects, "sro_kind_completed_info", "gauge",
                    "1 for an object of the recipe whose state is Ready");
    for (struct resource *r = c->resources; r; r = r->next) {
        SW_AUTO_JSON *status = sw_controller_status(c, r->name);
        put_states(out, r, status);
        put_objects(objects, r, status);
    }
    sw_metrics_head(objects, "sro_used_nodes", "gauge",
                    "Nodes that the pods of an applied workload are on, by their names (the first "
                    "100); always 1");
    struct sw_metrics nodes = { .prefix = "" }, *counts = &nodes;
    sw_metrics_head(counts, "slipway_used_nodes", "gauge",
                    "How many nodes the pods of an applied workload are on");
    for (struct resource *r = c->resources; r; r = r->next)
        sw_engine_each_workload(r->engine, put_workload,
                                &(struct workload_out){ objects, counts, r });
    size_t counts_len;
    SW_AUTO_CHARS *counted = sw_metrics_take(counts, &counts_len);
    sw_buffer_put(&objects->text, counted, counts_len);
    sw_metrics_head(
        objects, "sro_upgrade_alert", "gauge",
        "1 while the cluster is being updated and the resource has parts made for a kernel");
    for (struct resource *r = c->resources; r; r = r->next) {
        bool affine = false; /* an update of the cluster brings other kernels */
        for (size_t i = 0; r->plan && i < r->plan->n_states; i++)
            affine |= r->plan->states[i].kernel_affine;
        sw_metrics_add(objects, "sro_upgrade_alert", affine && sw_facts_is_updating(c->facts), "cr",
                       r->name, NULL);
    }
    sw_metrics_head(objects, "slipway_resource_condition", "gauge",
                    "1 where the resource's condition is True");
    for (struct resource *r = c->resources; r; r = r->next) {
        SW_AUTO_JSON *status = sw_controller_status(c, r->name);
        put_conditions(objects, r->name, status);
    }
    EACH_CAPABILITY(metrics, c, objects);
    size_t len;
    SW_AUTO_CHARS *rest = sw_metrics_take(objects, &len);
    sw_buffer_put(&out->text, rest, len);
    sw_metrics_one(out, "slipway_nodes", "gauge", "Nodes of the cluster",
                   sw_node_set_count(c->nodes));
    put_renderers(out, sw_renderers_stats(c->renderers));
    sw_metrics_head(out, "slipway_requests_total", "counter", "Requests sent to the API server");
    sw_kube_put_counts(c->kube, out, "slipway_requests_total");
    return sw_metrics_take(out, NULL);
}
