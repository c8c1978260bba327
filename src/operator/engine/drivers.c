/* The nodes on which drivers are upgraded one after another: what upgrade/upgrade.c decides upon.
 */
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

/* Add what one DaemonSet says about all nodes to what the others say. */
static void add_driver(const struct sw_engine *e, const struct object *o, struct bitset *members,
                       struct bitset *old, struct bitset *not_ready)
{
    struct driver_marks m = { 0 };
    workers_mark_drivers(o, &m);
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes); n++) {
        if (!sw_node_set_name(e->nodes, n))
            continue;
        bool has = bitset_has(&m.has, n);
        if (!has && !sw_placement_takes(o->placement, e->nodes, n))
            continue;
        const char *label = o->state->label;
        bool open = !label || sw_streq(sw_node_set_label(e->nodes, n, label), "Ready");
        (void)bitset_put(members, n, true);
        if (bitset_has(&m.old, n))
            (void)bitset_put(old, n, true);
        if (!has || bitset_has(&m.not_ready, n) || !open || !object_is_applied(o))
            (void)bitset_put(not_ready, n, true);
    }
    bitset_done(&m.has);
    bitset_done(&m.old);
    bitset_done(&m.not_ready);
}

void sw_engine_each_driver_node(const struct sw_engine *engine,
                                void (*each)(const struct sw_driver_node *node, void *arg),
                                void *arg)
{
    struct bitset members = { 0 }, old = { 0 }, not_ready = { 0 };
    const struct object *o;
    struct object_iter it = { 0 };
    while ((o = next_driver(engine, &it)))
        add_driver(engine, o, &members, &old, &not_ready);
    for (uint32_t n = bitset_next(&members, 0); n != UINT32_MAX; n = bitset_next(&members, n + 1))
        each(&(struct sw_driver_node){ .node = n,
                                       .outdated = bitset_has(&old, n),
                                       .finished = !bitset_has(&not_ready, n) },
             arg);
    bitset_done(&members);
    bitset_done(&old);
    bitset_done(&not_ready);
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
