#pragma once
/* What all chapters of engine_walk_test use. */
#include "engine_sim.h"
#include "ranges.h"

#define STATES(...)                                                                                \
    {                                                                                              \
        .states = { __VA_ARGS__ }, .n_states = 0                                                   \
    }

/* Counts what the initialisers left: fewer numbers to get wrong. */
static struct sim *new_sim(const struct sim_recipe *recipe)
{
    struct sim *sim = sim_new(recipe, 1);
    struct sim_recipe *r = &sim->recipe;
    while (r->n_states < SW_COUNT(r->states) && r->states[r->n_states].name) {
        struct sim_state *s = &r->states[r->n_states++];
        while (s->n_objects < SW_COUNT(s->objects) && s->objects[s->n_objects].kind)
            s->n_objects++;
    }
    sim_node(sim, "n0", "{'kernel':'k1'}");
    sim_node(sim, "n1", "{'kernel':'k1'}");
    return sim;
}

static struct sim *walked(const struct sim_recipe *recipe)
{
    struct sim *sim = new_sim(recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    return sim;
}

static void edit(struct sim *sim, size_t state, size_t object)
{
    sim->recipe.states[state].objects[object].content++;
    sim->generation++;
    sim->revision = sw_arena_printf(sim->arena, "%lld", (long long)sim->generation);
    sim_spec(sim);
}

static void expect_phase(struct sim *sim, const char *state, const char *phase)
{
    if (strcmp(sim_phase(sim, state), phase) != 0)
        fail_msg("%s is %s (%s), not %s\n%s", state, sim_phase(sim, state), sim_message(sim, state),
                 phase, sim->log ? sim->log : "");
}

static void expect_message(struct sim *sim, const char *state, const char *part)
{
    if (!strstr(sim_message(sim, state), part))
        fail_msg("%s says '%s', not '%s'", state, sim_message(sim, state), part);
}

static size_t place_in_log(struct sim *sim, const char *what)
{
    const char *at = sim->log ? strstr(sim->log, what) : NULL;
    if (!at)
        fail_msg("there is no '%s' in\n%s", what, sim->log ? sim->log : "");
    return (size_t)(at - sim->log);
}

static void expect_order(struct sim *sim, const char *first, const char *second)
{
    if (place_in_log(sim, first) >= place_in_log(sim, second))
        fail_msg("'%s' does not come before '%s' in\n%s", first, second, sim->log);
}

static void expect_never(struct sim *sim, const char *what)
{
    if (sim->log && strstr(sim->log, what))
        fail_msg("there is a '%s' in\n%s", what, sim->log);
}

static const char *condition(struct sim *sim, const char *type, const char *field)
{
    struct json_object *all = sw_json_get(sim->status, "conditions");
    return sw_json_str(sw_json_find_by(all, "type", type), "", field, NULL);
}

/* Refuse what @arg names: "apply ConfigMap" and so on, with @code. */
struct refusal {
    enum sw_action_kind kind;
    const char *object;
    int code;
    size_t n;
};

static int refuse(struct sim *sim, const struct sw_action *a)
{
    struct refusal *r = sim->arg;
    const char *name = a->kind == SW_ACT_RENDER ? a->state : a->key.name;
    if (!r->code || a->kind != r->kind || (r->object && !sw_streq(r->object, name)))
        return 0;
    r->n++;
    return r->code;
}

static void set_status(struct sim *sim, const char *kind, const char *name, const char *status)
{
    (void)sim_set_status(sim, sim_find(sim, kind, name), sim_json(status));
}

/* Somebody else's object: not made by slipway. */
static void foreign(struct sim *sim, const char *kind, const char *name, const char *rest)
{
    struct json_object *doc = sim_json(rest);
    sw_json_set_str(doc, sim_api_version(kind), "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (strcmp(kind, "Namespace") != 0)
        sw_json_set_str(doc, SIM_NS, "metadata", "namespace", NULL);
    (void)sim_put(sim, doc);
}

#define NEEDS(...) .needs = { __VA_ARGS__ }, .n_needs = SW_COUNT(((size_t[]){ __VA_ARGS__ }))

static const struct sim_recipe chain = STATES(
    { .name = "a",
      .objects = { { .kind = "ConfigMap", .name = "a1" },
                   { .kind = "Deployment", .name = "a2", .awaited = true } } },
    { .name = "b",
      NEEDS(0),
      .objects = { { .kind = "DaemonSet", .name = "b1", .awaited = true } } },
    { .name = "c", NEEDS(1), .objects = { { .kind = "Pod", .name = "c1", .awaited = true } } }, );
