#include "slicing/scheduler/extender.h"

#include <json-c/printbuf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/extender_internal.h"
#include "slicing/scheduler/placement.h"

enum { MAX_SCORE = 10 }; /* of the protocol */

#define CONTAINER(pod, list)                                                                       \
    pod ".spec." list ".name", pod ".spec." list ".resources.limits",                              \
        pod ".spec." list ".resources.requests"
#define PREFERRED(pod, kind)                                                                       \
    pod ".spec.affinity." kind ".preferredDuringSchedulingIgnoredDuringExecution"
#define POD(pod)                                                                                   \
    pod ".metadata.name", pod ".metadata.namespace", pod ".metadata.uid",                          \
        pod ".metadata.creationTimestamp", pod ".spec.priority", pod ".spec.preemptionPolicy",     \
        CONTAINER(pod, "containers"), CONTAINER(pod, "initContainers"),                            \
        CONTAINER(pod, "ephemeralContainers"), PREFERRED(pod, "nodeAffinity"),                     \
        PREFERRED(pod, "podAffinity"), PREFERRED(pod, "podAntiAffinity"),                          \
        pod ".spec.topologySpreadConstraints"

static const char *const fields[] = {
    POD("Pod"),
    POD("pod"),
    "NodeNames",
    "nodenames",
    "NodeNameToMetaVictims",
    "nodeNameToMetaVictims",
    "NodeNameToVictims",
    "PodName",
    "podName",
    "PodNamespace",
    "podNamespace",
    "PodUID",
    "podUID",
    "Node",
    "node",
};

struct extender *extender_new(struct cache *p, bool preempts, size_t nodes_to_score)
{
    struct extender *x = sw_zalloc(1, sizeof *x);
    x->cache = p;
    x->preempts = preempts;
    x->nodes_to_score = nodes_to_score;
    if (sw_projection_compile(fields, SW_COUNT(fields), &x->projection, NULL) < 0)
        abort(); /* the paths are constants */
    return x;
}

void extender_free(struct extender *x)
{
    if (!x)
        return;
    sw_projection_free(x->projection);
    extender_args_done(&x->args);
    free(x->node_fits);
    free(x);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

int extender_read_pod(struct extender *x, int64_t now_ms, struct pod **out, struct sw_err *err)
{
    struct json_object *obj = extender_args_get(x->args.doc, "Pod", "pod");
    if (!*sw_obj_uid(obj) || !*sw_obj_name(obj))
        return sw_err_set(err, SW_INVALID, "Pod.metadata: uid and name are expected");
    *out = cache_observe_pod(x->cache, obj, false, now_ms);
    if (!(*out)->asked_ms)
        (*out)->asked_ms = now_ms;
    return 0;
}

int extender_read_args(struct extender *x, const char *body, size_t len, int64_t now_ms,
                       struct extender_outcome *outcome, struct pod **pod, struct sw_err *err)
{
    int rc = extender_args_read(&x->args, x->projection, body, len, err);
    if (rc == 0)
        rc = extender_args_need_names(&x->args, err);
    if (rc == 0)
        rc = extender_read_pod(x, now_ms, pod, err);
    if (rc < 0)
        extender_args_clear(&x->args);
    else
        *outcome = (struct extender_outcome){ .pod = *pod, .n_asked = x->args.n_names };
    return rc;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

void extender_put(struct printbuf *out, const char *text)
{
    (void)printbuf_memappend(out, text, (int)strlen(text));
}

void extender_put_bytes(struct printbuf *out, const char *bytes, size_t len)
{
    printbuf_memappend_fast(out, bytes, (int)len);
}

void extender_put_string(struct printbuf *out, const char *text)
{
    bool plain = true;
    for (const unsigned char *c = (const unsigned char *)text; *c && plain; c++)
        plain = *c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\';
    if (plain) {
        extender_put_bytes(out, "\"", 1);
        extender_put(out, text);
        extender_put_bytes(out, "\"", 1);
        return;
    }
    SW_AUTO_JSON *string = json_object_new_string(text);
    SW_AUTO_CHARS *quoted = sw_json_text(string, SW_JSON_PLAIN, NULL);
    extender_put(out, quoted);
}

void extender_put_name(struct printbuf *out, const struct extender_args *q, size_t i)
{
    if (q->plain) /* with the quotes that it stands in */
        extender_put_bytes(out, q->names[i].text - 1, q->names[i].len + 2);
    else
        extender_put_string(out, q->names[i].text);
}

void extender_put_error(struct printbuf *out, const char *why)
{
    extender_put(out, "{\"Error\":");
    extender_put_string(out, why ? why : "");
    extender_put(out, "}");
}

/* ---- prioritize --------------------------------------------------------------------------------
 */

/* The best node of the request gets MAX_SCORE, the worst 0: over the whole scale of 0 to 100 most
 * nodes would get the same of ten steps. Scores of 0 are left out, which kube-scheduler takes for
 * 0. Source: kube-scheduler's prioritizeNodes() */
static void put_scores(struct printbuf *out, const struct extender_args *q, const unsigned *scores)
{
    unsigned least = UINT_MAX, most = 0;
    bool first = true;
    for (size_t i = 0; i < q->n_names; i++) {
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    extender_put(out, "[");
    for (size_t i = 0; i < q->n_names; i++) {
        const unsigned span = most - least;
        const unsigned score = span ? ((scores[i] - least) * MAX_SCORE + span / 2) / span : 0;
        if (!score)
            continue;
        extender_put(out, first ? "{\"Host\":" : ",{\"Host\":");
        first = false;
        extender_put_name(out, q, i);
        sprintbuf(out, ",\"Score\":%u}", score);
    }
    extender_put(out, "]");
}

int extender_prioritize(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                        struct printbuf *out, struct extender_outcome *outcome, struct sw_err *err)
{
    struct pod *pod = NULL;
    const int rc = extender_read_args(x, body, len_bytes, now_ms, outcome, &pod, err);
    if (rc < 0)
        return rc;
    unsigned *scores = sw_zalloc(outcome->n_asked + 1, sizeof *scores);
    struct decide_common common = { 0 };
    for (size_t i = 0; i < outcome->n_asked; i++)
        scores[i] = decide_score(
            x->cache, pod, cache_find_node_n(x->cache, x->args.names[i].text, x->args.names[i].len),
            &common);
    put_scores(out, &x->args, scores);
    free(scores);
    extender_args_clear(&x->args);
    return 0;
}

/* ---- bind --------------------------------------------------------------------------------------
 */

void extender_bind_done(struct extender_bind *bind)
{
    free(bind->ns);
    free(bind->pod);
    free(bind->uid);
    free(bind->node);
    *bind = (struct extender_bind){ 0 };
}

static char *text_of(struct json_object *doc, const char *name, const char *other)
{
    struct json_object *value = extender_args_get(doc, name, other);
    return sw_strdup(json_object_is_type(value, json_type_string) ? json_object_get_string(value)
                                                                  : "");
}

int extender_read_bind(struct extender *x, const char *body, size_t len_bytes,
                       struct extender_bind *out, struct sw_err *err)
{
    const int rc = extender_args_read(&x->args, x->projection, body, len_bytes, err);
    if (rc < 0)
        return rc;
    struct json_object *doc = x->args.doc;
    struct extender_bind b = { text_of(doc, "PodNamespace", "podNamespace"),
                               text_of(doc, "PodName", "podName"), text_of(doc, "PodUID", "podUID"),
                               text_of(doc, "Node", "node") };
    extender_args_clear(&x->args);
    if (!*b.ns || !*b.pod || !*b.uid || !*b.node) {
        extender_bind_done(&b);
        return sw_err_set(err, SW_INVALID, "PodNamespace, PodName, PodUID and Node are expected");
    }
    *out = b;
    return 0;
}
