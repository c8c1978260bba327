#include "web/viewer.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "data/json/table.h"
#include "kube/kube.h"
#include "kube/review.h"
#include "slicing/claim/claim.h"

enum {
    FRESH_MS = 15 * 1000, /* how long an answer counts */
    QUESTION_MS = 5 * 1000,
    MAX_VIEWERS = 64,    /* that are kept while nobody holds them */
    MAX_QUESTIONS = 500, /* of a viewer: more namespaces are not shown */
};

#define NOT_SHOWN "(not shown)"

static const struct {
    const char *verb, *group, *resource, *subresource, *what;
    bool by_namespace;
    const char *kind; /* as the page calls what is hidden without it */
} rights[WEB_N_RIGHTS] = {
    [WEB_LIST_RESOURCES] = { "list", "sro.openshift.io", "specialresources", NULL,
                             "SpecialResources", false, "resource" },
    [WEB_LIST_NODES] = { "list", "", "nodes", NULL, "nodes", false, "node" },
    [WEB_LIST_ACCELERATORS] = { "list", SW_CLAIM_GROUP, "nodeaccelerators", NULL,
                                "NodeAccelerators", false, "accelerator" },
    [WEB_LIST_DEVICES] = { "list", "resource.k8s.io", "resourceslices", NULL, "ResourceSlices",
                           false, "gpu" },
    [WEB_LIST_EVENTS] = { "list", "", "events", NULL, "Events", true, "event" },
    [WEB_LIST_PODS] = { "list", "", "pods", NULL, "pods", true, "pod" },
    [WEB_GET_LOGS] = { "get", "", "pods", "log", "logs", true, "log" },
};

/* Whether a viewer has one right in one namespace. */
struct question {
    struct web_viewer *viewer;
    enum web_right right;
    char *ns;
    enum web_answer answer;
    int64_t until_ms; /* it counts */
    struct sw_kube_request *request;
};

struct web_viewer {
    struct web_viewers *all;
    struct json_object *user;
    char *id;
    unsigned n_holds;
    int64_t used_ms;
    struct lh_table *questions; /* by "RIGHT NAMESPACE" */
    size_t n_open;
    bool changed;
    struct web_viewer *next;
};

struct web_viewers {
    struct sw_loop *loop;
    struct sw_kube *kube;
    web_settled_fn *settled;
    void *arg;
    struct web_viewer *list;
};

/* ---- questions ---------------------------------------------------------------------------------
 */

static void free_question(struct lh_entry *e)
{
    struct question *q = lh_entry_v(e);
    sw_kube_cancel(q->request);
    free(q->ns);
    sw_table_free_key_and_value(e);
}

/* Without an answer what was known counts on: it is asked again. */
static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct question *q = arg;
    struct web_viewer *v = q->viewer;
    enum web_answer before = q->answer;
    q->request = NULL;
    if (a->code == 0)
        q->answer = sw_kube_access_is_allowed(a->object) ? WEB_YES : WEB_NO;
    q->until_ms = sw_loop_now_ms(v->all->loop) + FRESH_MS;
    v->changed |= q->answer != before;
    if (--v->n_open == 0) {
        bool changed = v->changed;
        v->changed = false;
        v->all->settled(v, changed, v->all->arg);
    }
}

static void ask(struct question *q)
{
    static const struct sw_request_opts opts = { .timeout_ms = QUESTION_MS,
                                                 .ahead = true,
                                                 .purpose = "reviews" };
    SW_AUTO_JSON *what = json_object_new_object();
    struct json_object *of = sw_json_need_map(what, "resourceAttributes", NULL);
    sw_json_set_str(of, rights[q->right].verb, "verb", NULL);
    sw_json_set_str(of, rights[q->right].group, "group", NULL);
    sw_json_set_str(of, rights[q->right].resource, "resource", NULL);
    if (rights[q->right].subresource)
        sw_json_set_str(of, rights[q->right].subresource, "subresource", NULL);
    if (*q->ns)
        sw_json_set_str(of, q->ns, "namespace", NULL);
    q->viewer->n_open++;
    q->request = sw_kube_access_review(q->viewer->all->kube, q->viewer->user, what, &opts,
                                       on_answer, q);
}

static void ask_if_old(struct question *q)
{
    if (!q->request && sw_loop_now_ms(q->viewer->all->loop) >= q->until_ms)
        ask(q);
}

enum web_answer web_viewer_may(struct web_viewer *v, enum web_right right, const char *ns)
{
    const char *where = rights[right].by_namespace ? ns : "";
    SW_AUTO_CHARS *key = sw_printf("%d %s", (int)right, where);
    struct question *q = sw_table_find(v->questions, key);
    if (!q && lh_table_length(v->questions) >= MAX_QUESTIONS)
        return WEB_NO;
    if (!q) {
        q = sw_zalloc(1, sizeof *q);
        q->viewer = v;
        q->right = right;
        q->ns = sw_strdup(where);
        if (lh_table_insert(v->questions, SW_TAKE(key), q) != 0)
            abort(); /* no memory */
    }
    ask_if_old(q);
    return q->answer;
}

bool web_viewer_is_settled(const struct web_viewer *v)
{
    return v->n_open == 0;
}

/* ---- viewers -----------------------------------------------------------------------------------
 */

static void viewer_free(struct web_viewer *v)
{
    lh_table_free(v->questions);
    json_object_put(v->user);
    free(v->id);
    free(v);
}

/* Forget who was not there for longest, of too many. */
static void make_room(struct web_viewers *all)
{
    struct web_viewer **oldest = NULL;
    size_t n = 0;
    for (struct web_viewer **at = &all->list; *at; at = &(*at)->next, n++)
        if (!(*at)->n_holds && (!oldest || (*at)->used_ms < (*oldest)->used_ms))
            oldest = at;
    if (n < MAX_VIEWERS || !oldest)
        return;
    struct web_viewer *gone = *oldest;
    *oldest = gone->next;
    viewer_free(gone);
}

struct web_viewer *web_viewer_hold(struct web_viewers *all, struct json_object *user)
{
    SW_AUTO_CHARS *id = sw_json_text(user, SW_JSON_PLAIN, NULL);
    struct web_viewer *v = all->list;
    while (v && !sw_streq(v->id, id))
        v = v->next;
    if (!v) {
        make_room(all);
        v = sw_zalloc(1, sizeof *v);
        v->all = all;
        v->user = sw_json_copy(user);
        v->id = SW_TAKE(id);
        v->questions = lh_kchar_table_new(16, free_question);
        v->next = all->list;
        all->list = v;
    }
    v->n_holds++;
    v->used_ms = sw_loop_now_ms(all->loop);
    return v;
}

void web_viewer_release(struct web_viewer *v)
{
    if (v)
        v->n_holds--;
}

void web_viewers_refresh(struct web_viewers *all)
{
    for (struct web_viewer *v = all->list; v; v = v->next) {
        if (!v->n_holds)
            continue;
        for (struct lh_entry *e = lh_table_head(v->questions); e; e = e->next)
            ask_if_old(lh_entry_v(e));
    }
}

struct web_viewers *web_viewers_new(struct sw_loop *loop, struct sw_kube *kube,
                                    web_settled_fn *settled, void *arg)
{
    struct web_viewers *all = sw_zalloc(1, sizeof *all);
    all->loop = loop;
    all->kube = kube;
    all->settled = settled;
    all->arg = arg;
    return all;
}

void web_viewers_free(struct web_viewers *all)
{
    if (!all)
        return;
    for (struct web_viewer *v = all->list, *next; v; v = next) {
        next = v->next;
        viewer_free(v);
    }
    free(all);
}

/* ---- what is shown -----------------------------------------------------------------------------
 */

/* The namespace of "NAMESPACE/NAME"; heap. */
static char *namespace_of(const char *key)
{
    return sw_strndup(key, strcspn(key, "/"));
}

static bool may_list_pod(struct web_viewer *v, const char *pod)
{
    SW_AUTO_CHARS *ns = namespace_of(pod);
    return web_viewer_may(v, WEB_LIST_PODS, ns) == WEB_YES;
}

/* The name at @key of @doc, "NAMESPACE/NAME" of a pod or of its claim, stays or becomes
 * "NAMESPACE/(not shown)". */
static void cover(struct web_viewer *v, struct json_object *doc, const char *key)
{
    const char *name = sw_json_str(doc, "", key, NULL);
    if (!*name || may_list_pod(v, name))
        return;
    SW_AUTO_CHARS *covered = sw_printf("%.*s/" NOT_SHOWN, (int)strcspn(name, "/"), name);
    sw_json_set_str(doc, covered, key, NULL);
}

/* The same of each text of a list. */
static void cover_list(struct web_viewer *v, struct json_object *doc, const char *key)
{
    struct json_object *names = sw_json_get(doc, key), *list;
    if (!sw_json_len(names))
        return;
    list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(names); i++) {
        SW_AUTO_JSON *one = json_object_new_object();
        sw_json_set(one, json_object_get(sw_json_at(names, i)), "pod", NULL);
        cover(v, one, "pod");
        (void)json_object_array_add(list, json_object_get(sw_json_get(one, "pod")));
    }
    sw_json_set(doc, list, key, NULL);
}

/* A GPU with its slices, or a pod that waits for one with those that would make room for it. */
static char *without_names(struct web_viewer *v, struct json_object *doc)
{
    struct json_object *slices = sw_json_get(doc, "slices"), *moves = sw_json_get(doc, "move");
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        struct json_object *slice = sw_json_at(slices, i);
        cover(v, slice, "claim");
        cover(v, slice, "keptFor");
        cover_list(v, slice, "pods");
    }
    for (size_t i = 0; i < sw_json_len(moves); i++)
        cover(v, sw_json_at(moves, i), "pod");
    cover_list(v, doc, "evict");
    return sw_json_text(doc, SW_JSON_PLAIN, NULL);
}

static bool may_list_gpu(struct web_viewer *v, struct json_object *gpu)
{
    bool by_claims = sw_streq(sw_json_str(gpu, "", "by", NULL), "ResourceClaims");
    return web_viewer_may(v, by_claims ? WEB_LIST_DEVICES : WEB_LIST_ACCELERATORS, "") == WEB_YES;
}

const char *web_viewer_see(struct web_viewer *v, const char *kind, const char *key,
                           const char *text, char **own)
{
    SW_AUTO_CHARS *ns = namespace_of(key);
    SW_AUTO_JSON *doc = NULL;
    for (int i = 0; i < WEB_N_RIGHTS; i++)
        if (i != WEB_LIST_DEVICES && sw_streq(kind, rights[i].kind))
            return web_viewer_may(v, (enum web_right)i, ns) == WEB_YES ? text : NULL;
    if (sw_streq(text, "null")) { /* it is gone */
        bool may_gpu = web_viewer_may(v, WEB_LIST_DEVICES, "") == WEB_YES ||
                       web_viewer_may(v, WEB_LIST_ACCELERATORS, "") == WEB_YES;
        return (sw_streq(kind, "gpu") ? may_gpu : may_list_pod(v, key)) ? text : NULL;
    }
    if (sw_json_parse(text, strlen(text), NULL, &doc, NULL) < 0)
        return NULL;
    if (sw_streq(kind, "gpu") ? !may_list_gpu(v, doc) : !may_list_pod(v, key))
        return NULL;
    *own = without_names(v, doc);
    return *own;
}

char *web_right_text(enum web_right right, const char *ns)
{
    SW_AUTO_CHARS *where = rights[right].by_namespace ? sw_printf(" in namespace %s", ns) : NULL;
    return sw_printf("you may not %s %s%s (needs: %s %s%s%s)",
                     sw_streq(rights[right].verb, "get") ? "read" : rights[right].verb,
                     rights[right].what, where ? where : "", rights[right].verb,
                     rights[right].resource, rights[right].subresource ? "/" : "",
                     rights[right].subresource ? rights[right].subresource : "");
}

struct json_object *web_viewer_hidden(const struct web_viewer *v)
{
    struct json_object *hidden = json_object_new_object();
    for (struct lh_entry *e = lh_table_head(v->questions); e; e = e->next) {
        const struct question *q = lh_entry_v(e);
        if (q->answer == WEB_YES || q->right == WEB_GET_LOGS)
            continue;
        SW_AUTO_CHARS *text = q->answer == WEB_NO
                                  ? web_right_text(q->right, q->ns)
                                  : sw_strdup("the API server was not able to say who may");
        sw_json_set_str(hidden, text, rights[q->right].kind, q->ns, NULL);
    }
    return hidden;
}
