/* The verb preempt: kube-scheduler would send pods away from some nodes; who has to go besides, so
 * that there are slices, too. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "scheduler/decide.h"
#include "scheduler/extender_in.h"

enum { MAX_VICTIMS = 512 };

static void put(struct printbuf *out, const char *text)
{
    (void)printbuf_memappend(out, text, (int)strlen(text));
}

static const char *victim_uid(struct json_object *victim)
{
    const char *uid = sw_json_str(victim, "", "UID", NULL);
    if (!*uid)
        uid = sw_json_str(victim, "", "uid", NULL);
    return *uid ? uid : sw_obj_uid(victim);
}

/* Whom the scheduler would send away. Those that have no slices are not in the picture: they go as
 * they were given. */
struct proposal {
    const struct pod *known[MAX_VICTIMS];
    const char *others[MAX_VICTIMS];
    size_t n_known, n_others;
};

static void read_proposal(const struct picture *p, struct json_object *victims, struct proposal *to)
{
    struct json_object *pods = question_get(victims, "Pods", "pods");
    to->n_known = to->n_others = 0;
    for (size_t i = 0; i < sw_json_len(pods) && i < MAX_VICTIMS; i++) {
        const char *uid = victim_uid(sw_json_at(pods, i));
        const struct pod *pod = picture_find_pod(p, uid);
        if (pod)
            to->known[to->n_known++] = pod;
        else if (*uid)
            to->others[to->n_others++] = uid;
    }
}

static void put_victims(struct printbuf *out, const char *node, const struct proposal *v,
                        int64_t n_violations)
{
    bool first = true;
    extender_put_string(out, node);
    put(out, ":{\"Pods\":[");
    for (size_t i = 0; i < v->n_known + v->n_others; i++) {
        put(out, first ? "{\"UID\":" : ",{\"UID\":");
        extender_put_string(out, i < v->n_known ? v->known[i]->uid : v->others[i - v->n_known]);
        put(out, "}");
        first = false;
    }
    sprintbuf(out, "],\"NumPDBViolations\":%lld}", (long long)n_violations);
}

static struct json_object *proposals(struct json_object *doc)
{
    struct json_object *meta = question_get(doc, "NodeNameToMetaVictims", "nodeNameToMetaVictims");
    return meta ? meta : sw_json_get(doc, "NodeNameToVictims");
}

static void put_nodes(struct extender *x, const struct pod *pod, struct json_object *nodes,
                      struct proposal *v, struct printbuf *out, struct extender_told *told)
{
    json_object_object_foreach(nodes, name, victims)
    {
        struct node *node = picture_find_node(x->picture, name);
        read_proposal(x->picture, victims, v);
        /* nobody of ours needs to go, but others do: their leaving is what was asked about */
        const bool ok = decide_victims(x->picture, pod, node, v->known, &v->n_known, MAX_VICTIMS) ||
                        (v->n_others && v->n_known == 0 &&
                         decide_fit(x->picture, pod, node, NULL, NULL) == 0);
        if (!ok)
            continue;
        put(out, told->n_fit++ ? "," : "");
        put_victims(out, name, v, sw_json_int(victims, 0, "NumPDBViolations", NULL));
    }
}

static int answer(struct extender *x, int64_t now_ms, struct printbuf *out,
                  struct extender_told *told, struct sw_err *err)
{
    struct pod *pod = NULL;
    const int rc = extender_read_pod(x, now_ms, &pod, err);
    struct json_object *nodes = proposals(x->question.doc);
    if (rc < 0)
        return rc;
    if (nodes && !json_object_is_type(nodes, json_type_object))
        return sw_err_set(err, SW_INVALID, "NodeNameToMetaVictims is no map");
    *told = (struct extender_told){ .pod = pod, .n_asked = sw_json_len(nodes) };
    struct proposal *v = sw_zalloc(1, sizeof *v);
    put(out, "{\"NodeNameToMetaVictims\":{");
    if (nodes)
        put_nodes(x, pod, nodes, v, out, told);
    put(out, "}}");
    free(v);
    return 0;
}

int extender_preempt(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                     struct printbuf *out, struct extender_told *told, struct sw_err *err)
{
    int rc = question_read(&x->question, x->projection, body, len_bytes, err);
    if (rc == 0)
        rc = answer(x, now_ms, out, told, err);
    question_clear(&x->question);
    return rc;
}
