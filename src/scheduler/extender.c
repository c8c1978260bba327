#include "scheduler/extender.h"

#include <json-c/arraylist.h>
#include <json-c/printbuf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "scheduler/decide.h"

/* Few enough that each may be named in the pod's message; of more only the kinds are told, or the
 * message of one pod would have the size of the cluster. */
enum { FEW_NODES = 8, MAX_VICTIMS = 512, MAX_SCORE = 10 /* of the protocol */ };

#define CONTAINER(pod, list)                                                                       \
    pod ".spec." list ".name", pod ".spec." list ".resources.limits",                              \
        pod ".spec." list ".resources.requests"
#define POD(pod)                                                                                   \
    pod ".metadata.name", pod ".metadata.namespace", pod ".metadata.uid",                          \
        pod ".metadata.creationTimestamp", pod ".spec.priority", CONTAINER(pod, "containers"),     \
        CONTAINER(pod, "initContainers"), CONTAINER(pod, "ephemeralContainers")

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

struct extender {
    struct picture *picture;
    struct sw_projection *projection;
};

struct extender *extender_new(struct picture *p)
{
    struct extender *x = sw_zalloc(1, sizeof *x);
    x->picture = p;
    if (sw_projection_compile(fields, SW_COUNT(fields), &x->projection, NULL) < 0)
        abort(); /* the paths are constants */
    return x;
}

void extender_free(struct extender *x)
{
    if (!x)
        return;
    sw_projection_free(x->projection);
    free(x);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static int keep_object(void *arg, const char *type SW_UNUSED, struct json_object *object,
                       struct sw_err *err SW_UNUSED)
{
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

static int parse(const struct extender *x, const char *body, size_t len, struct json_object **out,
                 struct sw_err *err)
{
    const struct sw_stream_opts opts = { .kind = SW_STREAM_OBJECT,
                                         .projection = x->projection,
                                         .max_depth = 100 };
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO(sw_stream) *stream = sw_stream_new(&opts, keep_object, &doc);
    int rc = sw_stream_feed(stream, body, len, err);
    if (rc == 0)
        rc = sw_stream_end(stream, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "the body is no JSON object");
    if (!doc)
        return sw_err_set(err, SW_INVALID, "the body asks nothing");
    *out = SW_TAKE(doc);
    return 0;
}

/* By its Go name, or as Go would take it too. */
static struct json_object *either(struct json_object *doc, const char *name, const char *other)
{
    struct json_object *value = sw_json_get(doc, name);
    return value ? value : sw_json_get(doc, other);
}

static int read_pod(struct extender *x, struct json_object *doc, int64_t now_ms, struct pod **out,
                    struct sw_err *err)
{
    struct json_object *obj = either(doc, "Pod", "pod");
    if (!*sw_obj_uid(obj) || !*sw_obj_name(obj))
        return sw_err_set(err, SW_INVALID, "Pod.metadata: uid and name are expected");
    *out = picture_see_pod(x->picture, obj, false, now_ms);
    if (!(*out)->asked_ms)
        (*out)->asked_ms = now_ms;
    return 0;
}

static int read_names(struct json_object *doc, struct json_object **out, struct sw_err *err)
{
    struct json_object *names = either(doc, "NodeNames", "nodenames");
    if (!json_object_is_type(names, json_type_array))
        return sw_err_set(err, SW_INVALID,
                          "NodeNames is no list: the extender's configuration must say "
                          "nodeCacheCapable: true");
    *out = names;
    return 0;
}

static const char *name_at(struct json_object *names, size_t i)
{
    struct json_object *name = json_object_array_get_idx(names, i);
    return json_object_is_type(name, json_type_string) ? json_object_get_string(name) : "";
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void put(struct printbuf *out, const char *text)
{
    (void)printbuf_memappend(out, text, (int)strlen(text));
}

static void put_string(struct printbuf *out, const char *text)
{
    bool plain = true;
    for (const unsigned char *c = (const unsigned char *)text; *c && plain; c++)
        plain = *c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\';
    if (plain) {
        (void)printbuf_memappend(out, "\"", 1);
        put(out, text);
        (void)printbuf_memappend(out, "\"", 1);
        return;
    }
    SW_AUTO_JSON *string = json_object_new_string(text);
    SW_AUTO_CHARS *quoted = sw_json_text(string, SW_JSON_PLAIN, NULL);
    put(out, quoted);
}

void extender_put_error(struct printbuf *out, const char *why)
{
    put(out, "{\"Error\":");
    put_string(out, why ? why : "");
    put(out, "}");
}

/* ---- filter ------------------------------------------------------------------------------------
 */

struct verdict {
    int code;
    const char *why; /* of the answer's texts */
};

enum { N_CODES = -SW_CANCELED + 1 };

/* The reasons in an answer: most nodes say the same, and thousands of copies take their time. */
struct reasons {
    struct array_list *texts; /* owned */
    const char *of_code[N_CODES];
};

static const char *reason(struct reasons *r, const struct extender *x, const struct pod *pod,
                          const char *node, int code)
{
    const bool common = pod->wants.n <= 1 && !pod->claims && code != SW_UNAVAILABLE;
    if (common && r->of_code[-code])
        return r->of_code[-code];
    struct sw_err err = { 0 };
    const int again = decide_fit(x->picture, pod, node, &err);
    (void)again; /* the same, with words */
    (void)array_list_add(r->texts, err.text);
    return r->of_code[-code] = err.text;
}

static void judge(const struct extender *x, const struct pod *pod, struct json_object *names,
                  struct verdict *verdicts, struct reasons *r, struct extender_told *told)
{
    for (size_t i = 0; i < told->n_asked; i++) {
        struct verdict *v = &verdicts[i];
        v->code = decide_fit(x->picture, pod, name_at(names, i), NULL);
        told->n_fit += v->code == 0;
        if (v->code)
            v->why = reason(r, x, pod, name_at(names, i), v->code);
        if (v->code && !told->why[0])
            (void)snprintf(told->why, sizeof told->why, "%s", v->why);
    }
}

static void put_fitting(struct printbuf *out, struct json_object *names,
                        const struct verdict *verdicts, size_t n)
{
    bool first = true;
    put(out, "{\"NodeNames\":[");
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i].code)
            continue;
        put(out, first ? "" : ",");
        put_string(out, name_at(names, i));
        first = false;
    }
    put(out, "]");
}

/* @never: only those that no pod's leaving helps. Older schedulers do not know that list, newer
 * ones prefer it: so what is in it is in the other one, too. */
static void put_failed(struct printbuf *out, struct json_object *names,
                       const struct verdict *verdicts, size_t n, bool named, bool never)
{
    bool first = true;
    put(out, never ? ",\"FailedAndUnresolvableNodes\":{" : ",\"FailedNodes\":{");
    for (size_t i = 0; i < n; i++) {
        if (!verdicts[i].code || (never && verdicts[i].code == SW_PENDING))
            continue;
        put(out, first ? "" : ",");
        put_string(out, name_at(names, i));
        put(out, ":");
        if (named) {
            SW_AUTO_CHARS *why = sw_printf("%s: %s", name_at(names, i), verdicts[i].why);
            put_string(out, why);
        } else {
            put_string(out, verdicts[i].why);
        }
        first = false;
    }
    put(out, "}");
}

int extender_filter(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                    struct printbuf *out, struct extender_told *told, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct json_object *names = NULL;
    struct pod *pod = NULL;
    int rc = parse(x, body, len_bytes, &doc, err);
    if (rc == 0)
        rc = read_names(doc, &names, err);
    if (rc == 0)
        rc = read_pod(x, doc, now_ms, &pod, err);
    if (rc < 0)
        return rc;
    const size_t n = sw_json_len(names);
    *told = (struct extender_told){ .pod = pod, .n_asked = n };
    struct verdict *verdicts = sw_zalloc(n + 1, sizeof *verdicts);
    struct reasons reasons = { .texts = array_list_new2(free, 8) };
    judge(x, pod, names, verdicts, &reasons, told);
    pod->refused = told->n_fit == 0 && n > 0;
    const bool named = n - told->n_fit <= FEW_NODES;
    put_fitting(out, names, verdicts, n);
    put_failed(out, names, verdicts, n, named, false);
    put_failed(out, names, verdicts, n, named, true);
    put(out, ",\"Error\":\"\"}");
    array_list_free(reasons.texts);
    free(verdicts);
    return 0;
}

/* ---- prioritize --------------------------------------------------------------------------------
 */

/* The best of those asked about gets all, the worst nothing: ten steps over the whole scale would
 * call most of them equal. */
static unsigned scale(unsigned score, unsigned least, unsigned most)
{
    return most == least ? MAX_SCORE
                         : ((score - least) * MAX_SCORE + (most - least) / 2) / (most - least);
}

static void put_scores(struct printbuf *out, struct json_object *names, const unsigned *scores,
                       size_t n)
{
    unsigned least = UINT_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    put(out, "[");
    for (size_t i = 0; i < n; i++) {
        put(out, i ? ",{\"Host\":" : "{\"Host\":");
        put_string(out, name_at(names, i));
        sprintbuf(out, ",\"Score\":%u}", scale(scores[i], least, most));
    }
    put(out, "]");
}

int extender_prioritize(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                        struct printbuf *out, struct extender_told *told, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct json_object *names = NULL;
    struct pod *pod = NULL;
    int rc = parse(x, body, len_bytes, &doc, err);
    if (rc == 0)
        rc = read_names(doc, &names, err);
    if (rc == 0)
        rc = read_pod(x, doc, now_ms, &pod, err);
    if (rc < 0)
        return rc;
    *told = (struct extender_told){ .pod = pod, .n_asked = sw_json_len(names) };
    unsigned *scores = sw_zalloc(told->n_asked + 1, sizeof *scores);
    for (size_t i = 0; i < told->n_asked; i++)
        scores[i] = decide_score(x->picture, pod, name_at(names, i));
    put_scores(out, names, scores, told->n_asked);
    free(scores);
    return 0;
}

/* ---- preempt -----------------------------------------------------------------------------------
 */

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
    struct json_object *pods = either(victims, "Pods", "pods");
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
    put_string(out, node);
    put(out, ":{\"Pods\":[");
    for (size_t i = 0; i < v->n_known + v->n_others; i++) {
        put(out, first ? "{\"UID\":" : ",{\"UID\":");
        put_string(out, i < v->n_known ? v->known[i]->uid : v->others[i - v->n_known]);
        put(out, "}");
        first = false;
    }
    sprintbuf(out, "],\"NumPDBViolations\":%lld}", (long long)n_violations);
}

static struct json_object *proposals(struct json_object *doc)
{
    struct json_object *meta = either(doc, "NodeNameToMetaVictims", "nodeNameToMetaVictims");
    return meta ? meta : sw_json_get(doc, "NodeNameToVictims");
}

int extender_preempt(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                     struct printbuf *out, struct extender_told *told, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct pod *pod = NULL;
    int rc = parse(x, body, len_bytes, &doc, err);
    if (rc == 0)
        rc = read_pod(x, doc, now_ms, &pod, err);
    if (rc < 0)
        return rc;
    struct json_object *nodes = proposals(doc);
    if (nodes && !json_object_is_type(nodes, json_type_object))
        return sw_err_set(err, SW_INVALID, "NodeNameToMetaVictims is no map");
    *told = (struct extender_told){ .pod = pod, .n_asked = sw_json_len(nodes) };
    struct proposal *v = sw_zalloc(1, sizeof *v);
    put(out, "{\"NodeNameToMetaVictims\":{");
    if (nodes) {
        json_object_object_foreach(nodes, node, victims)
        {
            read_proposal(x->picture, victims, v);
            /* nobody of ours needs to go, but others do: their leaving is what was asked about */
            const bool ok =
                decide_victims(x->picture, pod, node, v->known, &v->n_known, MAX_VICTIMS) ||
                (v->n_others && v->n_known == 0 && decide_fit(x->picture, pod, node, NULL) == 0);
            if (!ok)
                continue;
            put(out, told->n_fit++ ? "," : "");
            put_victims(out, node, v, sw_json_int(victims, 0, "NumPDBViolations", NULL));
        }
    }
    put(out, "}}");
    free(v);
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
    struct json_object *value = either(doc, name, other);
    return sw_strdup(json_object_is_type(value, json_type_string) ? json_object_get_string(value)
                                                                  : "");
}

int extender_read_bind(const struct extender *x, const char *body, size_t len_bytes,
                       struct extender_bind *out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const int rc = parse(x, body, len_bytes, &doc, err);
    if (rc < 0)
        return rc;
    struct extender_bind b = { text_of(doc, "PodNamespace", "podNamespace"),
                               text_of(doc, "PodName", "podName"), text_of(doc, "PodUID", "podUID"),
                               text_of(doc, "Node", "node") };
    if (!*b.ns || !*b.pod || !*b.uid || !*b.node) {
        extender_bind_done(&b);
        return sw_err_set(err, SW_INVALID, "PodNamespace, PodName, PodUID and Node are expected");
    }
    *out = b;
    return 0;
}
