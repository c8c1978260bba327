/* The pods of others that may say why an object is not ready: those of a workload that is observed,
 * and those of an operator whose object, or operand, does not get ready. They are watched once it
 * is late, so that a walk that goes well asks for nothing more, until it is ready. */
#include <string.h>

#include "data/json/path.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/engine/workers.h"

/* An operator's installation takes its time; all pods of its namespace are read then. */
enum { WORKLOAD_MS = 2000, OPERATOR_MS = 8000 };

static bool is_workload(const struct object *o)
{
    const struct sw_pod_maker *maker = sw_pod_maker_find(o->key.kind);
    return maker && maker->selects;
}

static bool is_subscription(const struct object *o)
{
    return sw_is_subscription(o->key.api_version, o->key.kind);
}

/* Is it of an operator's kind, for the whole cluster or for nodes? What others in a namespace wait
 * for has too many causes. */
static bool is_custom(const struct object *o)
{
    static const char theirs[] = ".k8s.io";
    const char *slash = strchr(o->key.api_version, '/');
    const size_t len = slash ? (size_t)(slash - o->key.api_version) : 0, end = strlen(theirs);
    return memchr(o->key.api_version, '.', len) &&
           !(len > end && !strncmp(slash - end, theirs, end)) &&
           (!o->key.ns || sw_gate_is_by_node(o->gate));
}

/* Is it not ready, or are nodes without what it brings, and is that up to others, who have pods? */
static bool concerns(const struct object *o)
{
    const enum phase phase = o->state->phase;
    if (!o->text || !o->awaited || o->members || o->unserved || phase < PH_APPLYING ||
        phase > PH_FAILED || (object_is_ready(o) && !object_lacks_nodes(o)) ||
        (o->workers && !workers_inform(o->workers)))
        return false;
    if (o->gate->observe)
        return is_workload(o) || o->rank == RANK_OTHER;
    return o->rank == RANK_OTHER && o->present &&
           (o->gate->hold || is_subscription(o) || is_custom(o));
}

/* Where @s, or its subcharts, have pods: an operator's chart brings its custom resource, too. NULL:
 * nowhere. */
static const char *workload_namespace(const struct state *s)
{
    const size_t len = strlen(s->name);
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && is_workload(s->objects[i]))
            return s->objects[i]->key.ns;
    for (size_t i = 0; i < s->n_needs; i++) {
        const char *name = s->needs[i]->name;
        const bool is_subchart = !strncmp(name, s->name, len) && name[len] == '.';
        const char *ns = is_subchart ? workload_namespace(s->needs[i]) : NULL;
        if (ns)
            return ns;
    }
    return NULL;
}

/* Where the operator that makes @o has its pods; NULL: not known. */
static const char *operator_namespace(const struct object *o)
{
    const char *ns = sw_json_str(o->live, "", "status", "namespace", NULL);
    if (*ns)
        return ns;
    for (size_t i = 0; i < o->state->n_objects; i++)
        if (is_subscription(o->state->objects[i]))
            return o->state->objects[i]->key.ns;
    ns = o->key.ns ? o->key.ns : workload_namespace(o->state);
    return ns && !sw_pods_are_of_many(ns) ? ns : NULL;
}

static struct workers *find_workers(const struct object *o)
{
    if (is_workload(o) && o->present)
        return o->live ? workers_new_informing(o->live, o->key.ns) : NULL;
    const char *ns = operator_namespace(o);
    return ns ? workers_new_informing(NULL, ns) : NULL;
}

void late_workers_watch(struct sw_engine *e, struct object *o)
{
    if (!concerns(o)) {
        o->late_ms = 0;
        if (workers_inform(o->workers))
            object_take_workers(e, o, NULL);
        return;
    }
    const bool own = is_workload(o) && o->present;
    if (o->workers && o->workers->any_pod == own) { /* it exists now, or no longer */
        object_take_workers(e, o, NULL);
        o->late_ms = 0;
    }
    if (o->workers)
        return;
    if (!o->late_ms)
        o->late_ms = e->now_ms + (own ? WORKLOAD_MS : OPERATOR_MS);
    if (o->late_ms > e->now_ms) {
        act_wake(e, o->late_ms);
        return;
    }
    struct workers *found = find_workers(o);
    if (!found)
        return;
    object_take_workers(e, o, found);
    object_watch(e, o);
}
