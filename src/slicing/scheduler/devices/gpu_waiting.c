/* Pods that wait for slices: why, and what would have to move. Where kube-scheduler allocates them,
 * the answer is found as slipway-scheduler's evictor finds it; elsewhere the scheduler has said it
 * in the pod's condition. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/mig/mig.h"
#include "slicing/scheduler/devices/dra_victims.h"
#include "slicing/scheduler/devices/gpu_slices.h"

/* ---- what a pod asks for -----------------------------------------------------------------------
 */

static bool is_slice(const struct dra_view *v, const char *resource)
{
    return sw_starts_with(resource, SW_MIG_DAS_PREFIX) ||
           sw_starts_with(resource, SW_MIG_NVIDIA_PREFIX) ||
           dra_class_is_ours(dra_class_of(v, resource));
}

static void add_limits(const struct dra_view *v, struct json_object *container,
                       struct json_object *out)
{
    struct json_object *limits = sw_json_find(container, "resources", "limits", NULL);
    if (!json_object_is_type(limits, json_type_object))
        return;
    json_object_object_foreach(limits, name, amount)
    {
        if (!strchr(name, '/') || !is_slice(v, name))
            continue;
        SW_AUTO_CHARS *text = sw_printf("%s x %s", json_object_get_string(amount), name);
        json_object_array_add(out, json_object_new_string(text));
    }
}

/* "1 x nvidia.com/mig-1g.5gb", "ResourceClaim gpu"; empty: no slices. */
static struct json_object *asked_for(const struct dra_view *v, struct json_object *pod)
{
    static const char *const lists[] = { "initContainers", "containers" };
    struct json_object *out = json_object_new_array();
    struct json_object *claims = sw_json_find(pod, "spec", "resourceClaims", NULL);
    struct dra_needs needs;
    for (size_t k = 0; k < SW_COUNT(lists); k++) {
        struct json_object *list = sw_json_find(pod, "spec", lists[k], NULL);
        for (size_t i = 0; i < sw_json_len(list); i++)
            add_limits(v, sw_json_at(list, i), out);
    }
    dra_needs_read(v, pod, NULL, &needs);
    for (size_t i = 0; needs.ours && i < sw_json_len(claims); i++) {
        SW_AUTO_CHARS *text = sw_printf("ResourceClaim %s",
                                        sw_json_str(sw_json_at(claims, i), "", "name", NULL));
        json_object_array_add(out, json_object_new_string(text));
    }
    dra_needs_done(&needs);
    return out;
}

/* ---- what would have to move -------------------------------------------------------------------
 */

static char *name_of(const struct pod *pod)
{
    return sw_printf("%s/%s", pod->ns, pod->name);
}

static void put_moves(const struct dra_view *v, struct json_object *doc, const struct dra_choice *c)
{
    struct json_object *moves = sw_json_need_list(doc, "move", NULL);
    for (size_t i = 0; i < c->victims.n; i++) {
        struct json_object *move = json_object_new_object();
        const struct dra_pod *p = dra_find_pod(v, c->victims.list[i]->uid);
        SW_AUTO_CHARS *name = name_of(c->victims.list[i]), *to = dra_destination_text(c, i);
        sw_json_set_str(move, name, "pod", NULL);
        sw_json_set(move, json_object_new_boolean(p && p->movable), "mayMove", NULL);
        sw_json_set_str(move, to, "to", NULL);
        json_object_array_add(moves, move);
    }
}

static void put_evictions(struct json_object *doc, const struct dra_choice *c)
{
    struct json_object *list = sw_json_need_list(doc, "evict", NULL);
    for (size_t i = 0; i < c->victims.n; i++) {
        SW_AUTO_CHARS *name = name_of(c->victims.list[i]);
        json_object_array_add(list, json_object_new_string(name));
    }
}

static void put_why(struct json_object *doc, const struct dra_choice *c, const char *why)
{
    sw_json_set_str(doc, why, "why", NULL);
    if (c->node)
        sw_json_set_str(doc, c->node, "node", NULL);
}

/* Who is less important, and who could be elsewhere: both may be an answer. */
static void explain_dra(const struct dra_view *v, const struct dra_pod *p, struct json_object *doc)
{
    struct dra_choice less = { 0 }, move = { 0 };
    const char *node = p->pod->nominated_name;
    enum dra_outcome moved = dra_choose(v, p, node, DRA_MOVE, &move);
    if (moved == DRA_HOPELESS) {
        dra_choice_done(&move);
        moved = dra_choose(v, p, node, DRA_MOVE_ANY, &move);
    }
    const enum dra_outcome evicted = p->pod->never_preempts || moved == DRA_FITS
                                         ? DRA_HOPELESS
                                         : dra_choose(v, p, node, DRA_PREEMPT, &less);
    if (moved == DRA_FITS)
        put_why(doc, &move, "there is room for it now: it is kube-scheduler's turn");
    else if (moved == DRA_COMES)
        put_why(doc, &move, "there will be room once pods that end have gone");
    else if (moved == DRA_EVICT)
        put_why(doc, &move, "pods are in its way that could be elsewhere");
    else if (evicted == DRA_EVICT)
        put_why(doc, &less, "less important pods have the devices");
    else
        put_why(doc, &move, sw_text_or(move.why, "no node publishes such devices"));
    if (moved == DRA_EVICT)
        put_moves(v, doc, &move);
    if (evicted == DRA_EVICT)
        put_evictions(doc, &less);
    dra_choice_done(&less);
    dra_choice_done(&move);
}

/* A claim by which slipway-scheduler keeps the room. */
static struct json_object *room_of(const struct dra_view *v, const struct pod *pod)
{
    SW_AUTO_CHARS *name = dra_room_name(pod->uid);
    return dra_find(v, DRA_CLAIMS, pod->ns, name);
}

static bool is_for_claims(const struct dra_view *v, struct json_object *pod)
{
    struct dra_needs needs;
    dra_needs_read(v, pod, NULL, &needs);
    const bool ours = needs.ours;
    dra_needs_done(&needs);
    return ours;
}

void gpu_slices_explain(const struct dra_view *v, const struct dra_pod *p, struct json_object *doc)
{
    if (!p->doc)
        return;
    if (is_for_claims(v, p->doc))
        explain_dra(v, p, doc);
    if (room_of(v, p->pod))
        sw_json_set_str(doc, "slipway-scheduler keeps room for it", "why", NULL);
}

struct json_object *gpu_slices_waiting(const struct dra_view *v, const struct dra_pod *p)
{
    if (!p->doc || p->pod->leaving)
        return NULL;
    SW_AUTO_JSON *asks = asked_for(v, p->doc);
    if (!sw_json_len(asks))
        return NULL;
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *name = name_of(p->pod);
    sw_json_set_str(doc, name, "pod", NULL);
    sw_json_set_str(doc, sw_json_str(p->doc, "", "metadata", "creationTimestamp", NULL), "since",
                    NULL);
    sw_json_set(doc, SW_TAKE(asks), "asksFor", NULL);
    sw_json_set_str(doc,
                    sw_json_str(sw_obj_condition(p->doc, "PodScheduled"),
                                "no scheduler has answered yet", "message", NULL),
                    "message", NULL);
    return doc;
}
