/* Nodes whose drivers are replaced one after another: what upgrade.c is told of them. */
#include "operator/engine/internal.h"

static bool is_driver(const struct object *o)
{
    return o->text && o->gate->by_node && o->present && o->ours;
}

static const struct object *next_driver(const struct sw_engine *e, size_t *state, size_t *at)
{
    for (; *state < e->n_states; (*state)++, *at = 0)
        while (*at < e->states[*state]->n_objects) {
            const struct object *o = e->states[*state]->objects[(*at)++];
            if (is_driver(o))
                return o;
        }
    return NULL;
}

bool sw_engine_has_drivers(const struct sw_engine *engine)
{
    size_t state = 0, at = 0;
    return next_driver(engine, &state, &at) != NULL;
}

bool sw_engine_knows_drivers(struct sw_engine *engine)
{
    const struct object *o;
    size_t state = 0, at = 0;
    for (size_t i = 0; i < engine->n_states; i++)
        if (engine->states[i]->listed && !state_is_rendered(engine->states[i]))
            return false;
    while ((o = next_driver(engine, &state, &at)))
        if (!object_is_known(engine, o))
            return false;
    return true;
}

/* What one DaemonSet says about all nodes is added to what the others have said. */
static void add_driver(const struct sw_engine *e, const struct object *o, struct bitset *members,
                       struct bitset *old, struct bitset *unfit)
{
    struct driver_marks m = { 0 };
    workers_mark_drivers(o, &m);
    for (uint32_t n = 0; n < sw_node_set_end(e->roster); n++) {
        if (!sw_node_set_name(e->roster, n))
            continue;
        bool has = bitset_has(&m.has, n);
        if (!has && !sw_node_affinity_takes_pod(e->roster, n, o->placement))
            continue;
        const char *label = o->state->label;
        bool open = !label || sw_streq(sw_node_set_label(e->roster, n, label), "Ready");
        (void)bitset_put(members, n, true);
        if (bitset_has(&m.old, n))
            (void)bitset_put(old, n, true);
        if (!has || bitset_has(&m.unfit, n) || !open || !object_is_applied(o))
            (void)bitset_put(unfit, n, true);
    }
    bitset_done(&m.has);
    bitset_done(&m.old);
    bitset_done(&m.unfit);
}

void sw_engine_each_driver_node(const struct sw_engine *engine,
                                void (*each)(const struct sw_driver_node *node, void *arg),
                                void *arg)
{
    struct bitset members = { 0 }, old = { 0 }, unfit = { 0 };
    const struct object *o;
    size_t state = 0, at = 0;
    while ((o = next_driver(engine, &state, &at)))
        add_driver(engine, o, &members, &old, &unfit);
    for (uint32_t n = bitset_next(&members, 0); n != UINT32_MAX; n = bitset_next(&members, n + 1))
        each(&(struct sw_driver_node){ .node = n,
                                       .outdated = bitset_has(&old, n),
                                       .finished = !bitset_has(&unfit, n) },
             arg);
    bitset_done(&members);
    bitset_done(&old);
    bitset_done(&unfit);
}

void sw_engine_each_old_pod(const struct sw_engine *engine, uint32_t node,
                            void (*each)(const char *ns, const char *name, void *arg), void *arg)
{
    const struct object *o;
    size_t state = 0, at = 0;
    while ((o = next_driver(engine, &state, &at)))
        if (object_is_applied(o))
            workers_each_old(o, node, each, arg);
}
