/* The verb preempt: kube-scheduler proposes nodes with pods to evict; the answer adds the pods that
 * must be evicted for their slices. */
#include "slicing/scheduler/extender.h"

#include <inttypes.h>
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/extender_internal.h"
#include "slicing/scheduler/placement.h"
#include "slicing/scheduler/victims.h"

enum { MAX_VICTIMS = 512 };

/* The pods that kube-scheduler would evict. Those without slices are not in the cache: they are
 * answered as they were given. */
struct proposal {
    const struct pod *known[MAX_VICTIMS];
    const char *others[MAX_VICTIMS];
    size_t n_known, n_others;
};

static void read_proposal(const struct cache *p, struct json_object *victims, struct proposal *to)
{
    struct json_object *pods = extender_args_get(victims, "Pods", "pods");
    to->n_known = to->n_others = 0;
    for (size_t i = 0; i < sw_json_len(pods) && i < MAX_VICTIMS; i++) {
        struct json_object *victim = sw_json_at(pods, i);
        const char *uid = sw_text_or(
            sw_json_str(victim, "", "UID", NULL),
            sw_text_or(sw_json_str(victim, "", "uid", NULL), sw_obj_uid(victim)));
        const struct pod *pod = cache_find_pod(p, uid);
        if (pod)
            to->known[to->n_known++] = pod;
        else if (*uid)
            to->others[to->n_others++] = uid;
    }
}

static void put_uid(struct printbuf *out, bool first, const char *uid)
{
    extender_put(out, first ? "{\"UID\":" : ",{\"UID\":");
    extender_put_string(out, uid);
    extender_put(out, "}");
}

/* Budgets that the scheduler's own victims violate are counted by it, those of the added ones here.
 */
static void put_node(struct extender *x, const struct pod *pod, const char *name,
                     struct json_object *proposed, struct proposal *of, struct printbuf *out,
                     struct extender_outcome *outcome)
{
    struct node *node = cache_find_node(x->cache, name);
    struct victims v = { 0 };
    read_proposal(x->cache, proposed, of);
    const bool ok = victims_find(x->cache, pod, node, of->known, of->n_known, &v);
    /* the proposed pods have no slices, and none with slices has to be evicted */
    if (!ok && !(of->n_others && !of->n_known && victims_none(x->cache, pod, node)))
        return;
    if (v.n > of->n_known && !x->preempts) {
        victims_done(&v);
        return;
    }
    extender_put(out, outcome->n_fit++ ? "," : "");
    extender_put_string(out, name);
    extender_put(out, ":{\"Pods\":[");
    for (size_t i = 0; i < v.n; i++)
        put_uid(out, i == 0, v.list[i]->uid);
    for (size_t i = 0; i < of->n_others; i++)
        put_uid(out, v.n + i == 0, of->others[i]);
    int64_t n_violations = sw_json_int(proposed, 0, "NumPDBViolations", NULL) + v.n_violations;
    sprintbuf(out, "],\"NumPDBViolations\":%" PRId64 "}", n_violations);
    victims_done(&v);
}

/* The node where room is made for the pod already. While the pod may get it there no pod on another
 * node is evicted, whoever began. Where the slices are free and kube-scheduler does not propose the
 * node, no eviction there gives what else is missing: it is given up. NULL: no node. */
static const struct node *begun_on(struct extender *x, struct pod *pod, struct json_object *nodes,
                                   int64_t now_ms)
{
    struct node *node = cache_nominated(x->cache, pod, now_ms);
    struct victims v = { 0 };
    if (!node)
        return NULL;
    const bool comes = victims_none(x->cache, pod, node) != 0;
    if (!comes && !victims_find(x->cache, pod, node, NULL, 0, &v))
        node = NULL;
    victims_done(&v);
    if (comes && !json_object_object_get_ex(nodes, node->name, NULL) &&
        decide_fit(x->cache, pod, node, NULL, NULL) == 0) {
        cache_nominate(x->cache, pod, NULL, 0, 0);
        node = NULL;
    }
    return node;
}

static int answer(struct extender *x, int64_t now_ms, struct printbuf *out,
                  struct extender_outcome *outcome, struct sw_err *err)
{
    struct pod *pod = NULL;
    const int rc = extender_read_pod(x, now_ms, &pod, err);
    struct json_object *doc = x->args.doc;
    struct json_object *nodes = extender_args_get(doc, "NodeNameToMetaVictims",
                                                  "nodeNameToMetaVictims");
    if (!nodes)
        nodes = sw_json_get(doc, "NodeNameToVictims");
    if (rc < 0)
        return rc;
    if (nodes && !json_object_is_type(nodes, json_type_object))
        return sw_err_set(err, SW_INVALID, "NodeNameToMetaVictims is no map");
    *outcome = (struct extender_outcome){ .pod = pod, .n_asked = sw_json_len(nodes) };
    struct proposal *v = sw_zalloc(1, sizeof *v);
    const struct node *only = begun_on(x, pod, nodes, now_ms);
    extender_put(out, "{\"NodeNameToMetaVictims\":{");
    if (nodes) {
        json_object_object_foreach(nodes, name, proposed)
        {
            if (!only || strcmp(only->name, name) == 0)
                put_node(x, pod, name, proposed, v, out, outcome);
        }
    }
    extender_put(out, "}}");
    if (outcome->n_fit)
        pod->offered_ms = now_ms;
    free(v);
    return 0;
}

int extender_preempt(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                     struct printbuf *out, struct extender_outcome *outcome, struct sw_err *err)
{
    int rc = extender_args_read(&x->args, x->projection, body, len_bytes, err);
    if (rc == 0)
        rc = answer(x, now_ms, out, outcome, err);
    extender_args_clear(&x->args);
    return rc;
}
