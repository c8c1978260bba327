/* The nodes on which drivers are upgraded one after another, for upgrade/upgrade.c to decide. */
#include "operator/engine/internal.h"

static const struct object *next_driver(const struct sw_engine *e, struct object_iter *it)
{
    const struct object *o;
    while ((o = object_next(e, it)) && !(o->text && o->gate->by_node && o->present && o->ours))
        ;
    return o;
}

bool sw_engine_knows_drivers(struct sw_engine *engine)
{
    const struct object *o;
    struct object_iter it = { 0 };
    for (size_t i = 0; i < engine->n_states; i++)
        if (engine->states[i]->listed && !state_is_rendered(engine->states[i]))
            return false;
    while ((o = next_driver(engine, &it)))
        if (!object_is_known(engine, o))
            return false;
    return true;
}

static void marks_done(struct driver_marks *m)
{
    bitset_done(&m->has);
    bitset_done(&m->old);
    bitset_done(&m->not_ready);
}

void sw_engine_each_driver_node(const struct sw_engine *engine,
                                void (*each)(const struct sw_driver_node *node, void *arg),
                                void *arg)
{
    const struct sw_node_set *nodes = engine->nodes;
    struct driver_marks all = { 0 }; /* @has: nodes that have a pod, or are to have one */
    const struct object *o;
    struct object_iter it = { 0 };
    while ((o = next_driver(engine, &it))) {
        struct driver_marks m = { 0 };
        workers_mark_drivers(o, &m);
        for (uint32_t n = 0; n < sw_node_set_end(nodes); n++) {
            bool has = bitset_has(&m.has, n);
            if (!sw_node_set_name(nodes, n) ||
                (!has && !sw_placement_takes(o->placement, nodes, n)))
                continue;
            const char *label = o->state->label;
            bool open = !label || sw_streq(sw_node_set_label(nodes, n, label), "Ready");
            (void)bitset_put(&all.has, n, true);
            if (bitset_has(&m.old, n))
                (void)bitset_put(&all.old, n, true);
            if (!has || bitset_has(&m.not_ready, n) || !open || !object_is_applied(o))
                (void)bitset_put(&all.not_ready, n, true);
        }
        marks_done(&m);
    }
    for (uint32_t n = bitset_next(&all.has, 0); n != UINT32_MAX; n = bitset_next(&all.has, n + 1))
        each(&(struct sw_driver_node){ .node = n,
                                       .outdated = bitset_has(&all.old, n),
                                       .finished = !bitset_has(&all.not_ready, n) },
             arg);
    marks_done(&all);
}

void sw_engine_each_old_pod(const struct sw_engine *engine, uint32_t node,
                            void (*each)(const char *ns, const char *name, void *arg), void *arg)
{
    const struct object *o;
    struct object_iter it = { 0 };
    while ((o = next_driver(engine, &it)))
        if (object_is_applied(o))
            workers_each_old(o, node, each, arg);
}
