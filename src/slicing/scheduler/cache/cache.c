/* The tables of the picture, and its pods. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

void *picture_look_up(struct lh_table *table, const char *key)
{
    void *found = NULL;
    return lh_table_lookup_ex(table, key, &found) ? found : NULL;
}

void picture_insert(struct lh_table *table, const char *key, void *value)
{
    if (lh_table_insert(table, key, value) != 0)
        abort(); /* no memory */
}

static bool is_waiting(const struct pod *pod)
{
    return pod->known && pod->wants.n && !pod->node && !pod->ended;
}

struct pod *picture_find_pod(const struct picture *p, const char *uid)
{
    return picture_look_up(p->pods, uid);
}

struct pod *picture_need_pod(struct picture *p, const char *uid, const char *ns, const char *name)
{
    struct pod *pod = picture_find_pod(p, uid);
    if (pod)
        return pod;
    pod = sw_zalloc(1, sizeof *pod);
    pod->uid = sw_strdup(uid);
    pod->ns = sw_strdup(ns);
    pod->name = sw_strdup(name);
    picture_insert(p->pods, pod->uid, pod);
    return pod;
}

static void free_pod(struct picture *p, struct pod *pod)
{
    picture_nominate(p, pod, NULL, 0, 0);
    picture_set_labels(p, pod, NULL);
    wants_done(&pod->wants);
    free(pod->advice);
    free(pod->fault);
    free(pod->node);
    free(pod->uid);
    free(pod->ns);
    free(pod->name);
    free(pod);
}

void picture_maybe_forget_pod(struct picture *p, struct pod *pod)
{
    if (pod->known || pod->claims || pod->binding)
        return;
    (void)lh_table_delete(p->pods, pod->uid);
    free_pod(p, pod);
}

/* What is said about one that waits. */
static void waits_no_more(struct picture *p, struct pod *pod)
{
    picture_nominate(p, pod, NULL, 0, 0);
    pod->spared_ms = 0;
    free(SW_TAKE(pod->advice));
}

static void read_wants(struct pod *pod, struct json_object *obj)
{
    SW_ERR(err);
    wants_done(&pod->wants);
    free(pod->fault);
    pod->fault = NULL;
    if (!pod->node && wants_read(obj, &pod->wants, &err) < 0)
        pod->fault = sw_strdup(sw_err_text(&err));
}

static void see_bound(struct picture *p, struct pod *pod, const char *node, int64_t now_ms)
{
    if (pod->node || !*node)
        return;
    pod->node = sw_strdup(node);
    waits_no_more(p, pod);
    for (struct claim *c = pod->claims; c; c = c->pod_next)
        c->since_ms = now_ms; /* a new reason to look at them */
}

struct pod *picture_see_pod(struct picture *p, struct json_object *obj, bool watched,
                            int64_t now_ms)
{
    struct pod *pod = picture_need_pod(p, sw_obj_uid(obj), sw_obj_namespace(obj), sw_obj_name(obj));
    const char *phase = sw_json_str(obj, "", "status", "phase", NULL);
    const char *created = sw_json_str(obj, "", "metadata", "creationTimestamp", NULL);
    if (pod->known && !watched)
        return pod;
    p->n_waiting -= is_waiting(pod);
    pod->watched |= watched;
    pod->known = true;
    pod->gone = false;
    see_bound(p, pod, sw_json_str(obj, "", "spec", "nodeName", NULL), now_ms);
    pod->ended = sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
    pod->refused |= sw_streq(sw_json_str(sw_obj_condition(obj, "PodScheduled"), "", "status", NULL),
                             "False");
    pod->leaving = sw_json_find(obj, "metadata", "deletionTimestamp", NULL) != NULL;
    pod->meek = sw_streq(sw_json_str(obj, "", "spec", "preemptionPolicy", NULL), "Never");
    if (pod->ended || pod->leaving)
        waits_no_more(p, pod);
    if (watched)
        picture_set_labels(p, pod, sw_json_find(obj, "metadata", "labels", NULL));
    pod->priority = (int32_t)sw_json_int(obj, 0, "spec", "priority", NULL);
    if (!pod->created_ms && *created && sw_time_parse(created, &pod->created_ms, NULL) < 0)
        pod->created_ms = 0;
    read_wants(pod, obj);
    p->n_waiting += is_waiting(pod);
    return pod;
}

void picture_pod_gone(struct picture *p, const char *uid)
{
    struct pod *pod = picture_find_pod(p, uid);
    if (!pod)
        return;
    p->n_waiting -= is_waiting(pod);
    pod->known = pod->watched = false;
    pod->gone = true;
    waits_no_more(p, pod);
    picture_maybe_forget_pod(p, pod);
}

void picture_pod_bound(struct picture *p, struct pod *pod, const char *node)
{
    p->n_waiting -= is_waiting(pod);
    see_bound(p, pod, node, 0);
    wants_done(&pod->wants);
}

void picture_bind_ended(struct picture *p, struct pod *pod)
{
    pod->binding = false;
    picture_maybe_forget_pod(p, pod);
}

/* ---- a whole picture ---------------------------------------------------------------------------
 */

struct picture *picture_new(enum sw_mig_policy policy, bool any_node)
{
    struct picture *p = sw_zalloc(1, sizeof *p);
    p->policy = policy;
    p->any_node = any_node;
    p->nodes = lh_kchar_table_new(64, NULL);
    p->pods = lh_kchar_table_new(64, NULL);
    p->claims = lh_kchar_table_new(64, NULL);
    p->budgets = lh_kchar_table_new(16, NULL);
    p->labels = lh_kchar_table_new(16, NULL);
    return p;
}

void picture_free(struct picture *p)
{
    if (!p)
        return;
    for (struct lh_entry *e = lh_table_head(p->claims); e; e = e->next)
        picture_free_claim(lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next)
        free_pod(p, lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->nodes); e; e = e->next)
        picture_free_node(lh_entry_v(e));
    lh_table_free(p->claims);
    lh_table_free(p->pods);
    lh_table_free(p->nodes);
    picture_free_budgets(p);
    free(p);
}
