#include "cli/cluster/requests.h"

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/nearest.h"
#include "kube/feature_gates/feature_gates.h"
#include "kube/review.h"
#include "operator/engine/readiness/readiness.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/aicr_source.h"

#include <json-c/json.h>
#include <string.h>

/* One request and its answer. */
struct wait {
    struct sw_connection *conn;
    bool answered;
    int code;
    const struct sw_kind *kind;
    struct json_object *object; /* owned */
    struct json_object *items;  /* owned; NULL: not a list */
    char *text;                 /* owned */
    size_t len;
    struct sw_err err;
};

static void answer(struct wait *w, int code, const struct sw_err *err)
{
    w->answered = true;
    w->code = code;
    if (code < 0)
        sw_err_set(&w->err, code, "%s", err ? sw_err_text(err) : sw_code_name(code));
}

static void on_done(int code, const struct sw_err *err, void *arg)
{
    answer(arg, code, err);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct wait *w = arg;
    w->kind = kind;
    answer(w, code, err);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct wait *w = arg;
    if (a->code == 0 && w->items)
        for (size_t i = 0; i < sw_json_len(a->items); i++)
            (void)json_object_array_add(w->items, json_object_get(sw_json_at(a->items, i)));
    if (a->more && a->code == 0)
        return;
    if (a->code == 0 && a->object)
        w->object = json_object_get(a->object);
    if (a->code == 0 && a->text) {
        w->text = sw_strndup(a->text, a->len_bytes);
        w->len = a->len_bytes;
    }
    answer(w, a->code, a->err);
}

/* How long the loop may run until the next look at the deadline. */
static int64_t left_ms(const struct sw_connection *conn)
{
    const int64_t until_ms = !conn->end_ms || (conn->until_ms && conn->until_ms < conn->end_ms)
                                 ? conn->until_ms
                                 : conn->end_ms;
    return until_ms ? until_ms - sw_loop_now_ms(conn->loop) : 60000;
}

/* Run the loop until @req is answered; on success the answer stays in @w. */
static int finish(struct wait *w, struct sw_kube_request *req, struct sw_err *err)
{
    struct sw_connection *conn = w->conn;
    while (!w->answered && !conn->signal && left_ms(conn) > 0)
        sw_loop_step(conn->loop, left_ms(conn));
    int rc = w->code;
    if (!w->answered) {
        sw_kube_cancel(req);
        rc = sw_err_set(err, SW_UNAVAILABLE,
                        conn->signal ? "interrupted" : "the API server did not answer in time");
    } else if (rc < 0) {
        rc = sw_err_move(err, &w->err);
    }
    sw_err_done(&w->err);
    return rc;
}

enum { MAX_CONFLICTS = 10 }; /* of a change: how often the object is read again */

/* Where callers leave it open. */
static const struct sw_request_opts retried = { .retries = 3 };

static const struct sw_request_opts *or_retried(const struct sw_request_opts *opts)
{
    return opts ? opts : &retried;
}

/* Is a discovery to be sent again, @n tries having ended with @rc? The client itself does not,
 * since what an aggregated API server does not answer may last. */
static bool discover_again(struct sw_connection *conn, int rc, int n, struct sw_err *err)
{
    enum { TRIES = 4, PAUSE_MS = 200 };
    if (rc != SW_UNAVAILABLE || n >= TRIES || !sw_kube_has_answered(conn->kube))
        return false;
    const int64_t until_ms = sw_loop_now_ms(conn->loop) + PAUSE_MS;
    for (int64_t ms = PAUSE_MS; ms > 0; ms = until_ms - sw_loop_now_ms(conn->loop)) {
        if (conn->signal || left_ms(conn) <= ms)
            return false;
        sw_loop_step(conn->loop, ms);
    }
    sw_err_done(err);
    return true;
}

int sw_cluster_kinds(struct sw_connection *conn, struct sw_err *err)
{
    int rc, n = 0;
    do {
        struct wait w = { .conn = conn };
        rc = finish(&w, sw_kube_discover(conn->kube, "*", on_done, &w), err);
    } while (discover_again(conn, rc, ++n, err));
    return rc;
}

static void on_gates(int code, const struct sw_gates_answer *gates, const struct sw_err *err,
                     void *arg)
{
    struct wait *w = arg;
    w->object = json_object_new_object();
    for (size_t i = 0; code == 0 && i < SW_N_FEATURE_GATES; i++)
        if (gates->gates[i] != SW_GATE_UNKNOWN)
            sw_json_set(w->object, json_object_new_boolean(gates->gates[i] == SW_GATE_ON),
                        sw_feature_gate_names[i], NULL);
    answer(w, code, err);
}

int sw_cluster_feature_gates(struct sw_connection *conn, struct json_object **gates,
                             struct sw_err *err)
{
    struct wait w = { .conn = conn };
    struct sw_gates_question *question = sw_gates_ask(conn->kube, &(struct sw_gates_ask){ 0 },
                                                      on_gates, &w);
    int rc = finish(&w, NULL, err);
    if (!w.answered)
        sw_gates_cancel(question);
    *gates = w.object;
    return rc;
}

static void add_removable(const struct sw_kind *kind, void *arg)
{
    struct sw_kind_list *list = arg;
    if (!kind->served || !(kind->verbs & SW_CAN_LIST) || !(kind->verbs & SW_CAN_DELETE))
        return;
    for (size_t i = 0; i < list->n; i++) /* the server names the version that it prefers first */
        if (sw_streq(list->items[i]->group, kind->group) &&
            sw_streq(list->items[i]->plural, kind->plural))
            return;
    SW_GROW(list->items, list->n, list->cap);
    list->items[list->n++] = kind;
}

struct sw_kind_list sw_cluster_removable(const struct sw_connection *conn)
{
    struct sw_kind_list list = { 0 };
    sw_kube_each_kind(conn->kube, add_removable, &list);
    return list;
}

int sw_cluster_kind(struct sw_connection *conn, const char *api_version, const char *kind,
                    const struct sw_kind **out, struct sw_err *err)
{
    int rc, n = 0;
    do {
        struct wait w = { .conn = conn };
        rc = finish(&w, sw_kube_kind(conn->kube, api_version, kind, on_kind, &w), err);
        *out = w.kind;
    } while (discover_again(conn, rc, ++n, err));
    return rc;
}

int sw_cluster_list(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                    const struct sw_request_opts *opts, struct json_object **items,
                    struct sw_err *err)
{
    struct wait w = { .conn = conn, .items = json_object_new_array() };
    int rc = finish(&w, sw_kube_list(conn->kube, kind, ns, or_retried(opts), on_answer, &w), err);
    json_object_put(w.object);
    if (rc < 0)
        json_object_put(w.items);
    else
        *items = w.items;
    return rc;
}

int sw_cluster_get(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                   const char *name, const struct sw_request_opts *opts,
                   struct json_object **object, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(&w, sw_kube_get(conn->kube, kind, ns, name, or_retried(opts), on_answer, &w),
                    err);
    *object = w.object;
    return rc;
}

int sw_cluster_find(struct sw_connection *conn, const char *api_version, const char *kind,
                    const char *ns, const char *name, const struct sw_request_opts *opts,
                    struct json_object **out, struct sw_err *err)
{
    const struct sw_kind *k = sw_kube_kind_find(conn->kube, api_version, kind);
    int rc = k ? 0 : sw_cluster_kind(conn, api_version, kind, &k, err);
    if (rc < 0)
        return rc;
    const char *in = k->namespaced && ns && *ns ? ns : NULL;
    return name ? sw_cluster_get(conn, k, in, name, opts, out, err)
                : sw_cluster_list(conn, k, in, opts, out, err);
}

#define RESOURCE_VERSION "sro.openshift.io/v1beta1"
#define RESOURCE_KIND "SpecialResource"

int sw_cluster_wrong_server(const struct sw_connection *conn, struct sw_err *err)
{
    return sw_err_set(
        err, SW_NOTFOUND,
        "%s answers, but not as the API server of a Kubernetes cluster does: see that "
        "the address is right",
        sw_kube_server(conn->kube));
}

int sw_cluster_resource_kind(struct sw_connection *conn, const struct sw_kind **out,
                             struct sw_err *err)
{
    const int rc = sw_cluster_kind(conn, RESOURCE_VERSION, RESOURCE_KIND, out, err);
    const struct sw_kind *namespace;
    SW_ERR(ignored);
    if (rc == SW_NOTFOUND && sw_cluster_kind(conn, "v1", "Namespace", &namespace, &ignored) == rc)
        return sw_cluster_wrong_server(conn, err);
    if (rc == SW_NOTFOUND)
        return sw_err_set(err, rc,
                          "slipway is not installed in this cluster: it serves no SpecialResource "
                          "('make deploy' or 'helm install slipway charts/slipway' installs it)");
    return rc;
}

const char *sw_cluster_nearest(struct json_object *items, const char *typed)
{
    const char **names = sw_zalloc(sw_json_len(items) + 1, sizeof *names);
    for (size_t i = 0; i < sw_json_len(items); i++)
        names[i] = sw_obj_name(sw_json_at(items, i));
    const char *nearest = sw_text_nearest(typed, names);
    free(names);
    return nearest;
}

char *sw_cluster_nearest_resource(struct sw_connection *conn, const char *typed)
{
    SW_AUTO_JSON *items = NULL;
    SW_ERR(ignored);
    if (sw_cluster_find(conn, RESOURCE_VERSION, RESOURCE_KIND, NULL, NULL,
                        &(struct sw_request_opts){ .retries = 1 }, &items, &ignored) < 0)
        return NULL;
    return sw_strdup(sw_cluster_nearest(items, typed));
}

/* A resource, or a list of them: what is packed of its states, too. */
static void unpack(struct json_object *doc)
{
    if (!json_object_is_type(doc, json_type_array)) {
        (void)sw_inventory_of(sw_json_get(doc, "status"));
        sw_aicr_source_expand(doc);
    }
    for (size_t i = 0; i < sw_json_len(doc); i++)
        unpack(sw_json_at(doc, i));
}

int sw_cluster_resource(struct sw_connection *conn, const char *name, int retries,
                        struct json_object **out, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = retries };
    const struct sw_kind *kind;
    int rc = sw_cluster_resource_kind(conn, &kind, err);
    if (rc < 0)
        return rc;
    rc = sw_cluster_find(conn, RESOURCE_VERSION, RESOURCE_KIND, NULL, name, &opts, out, err);
    if (rc == 0)
        unpack(*out);
    if (rc != SW_NOTFOUND)
        return rc;
    SW_AUTO_CHARS *meant = sw_cluster_nearest_resource(conn, name);
    return sw_err_set(err, rc, "SpecialResource '%s' not found%s%s%s", name,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

int sw_cluster_delete(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      const char *name, const struct sw_request_opts *opts, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(&w, sw_kube_delete(conn->kube, kind, ns, name, or_retried(opts), on_answer, &w),
                    err);
    json_object_put(w.object);
    return rc;
}

int sw_cluster_apply(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *doc, const struct sw_request_opts *opts,
                     struct json_object **out, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(
        &w, sw_kube_apply(conn->kube, kind, ns, name, doc, or_retried(opts), on_answer, &w), err);
    *out = w.object;
    return rc;
}

int sw_cluster_update(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      const char *name, struct json_object *doc, const struct sw_request_opts *opts,
                      struct json_object **out, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(&w, sw_kube_update(conn->kube, kind, ns, name, doc, opts, on_answer, &w), err);
    *out = w.object;
    return rc;
}

int sw_cluster_patch(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *patch, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(
        &w,
        sw_kube_patch(conn->kube, kind, ns, name, SW_PATCH_MERGE, patch, &retried, on_answer, &w),
        err);
    json_object_put(w.object);
    return rc;
}

int sw_cluster_change(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      struct json_object *live, sw_cluster_change_fn *make, const void *arg,
                      struct sw_err *err)
{
    SW_AUTO_JSON *now = json_object_get(live);
    for (int n = 0;; n++) {
        SW_AUTO_JSON *patch = make(now, arg);
        int rc = patch ? sw_cluster_patch(conn, kind, ns, sw_obj_name(now), patch, err) : 0;
        if (rc != SW_CONFLICT || n >= MAX_CONFLICTS)
            return rc;
        sw_err_done(err);
        json_object_put(SW_TAKE(now));
        rc = sw_cluster_get(conn, kind, ns, sw_obj_name(live), &retried, &now, err);
        if (rc < 0)
            return rc;
    }
}

static int take_text(struct wait *w, int rc, char **text, size_t *len)
{
    json_object_put(w->object);
    if (rc < 0)
        return rc;
    *text = w->text ? w->text : sw_strdup("");
    *len = w->len;
    return 0;
}

char *sw_cluster_pod_selector(struct json_object *object)
{
    struct json_object *labels = sw_json_find(object, "spec", "selector", "matchLabels", NULL);
    char *selector = NULL;
    if (!json_object_is_type(labels, json_type_object))
        return NULL;
    json_object_object_foreach(labels, key, value)
    {
        sw_append(&selector, "%s%s=%s", selector ? "," : "", key, json_object_get_string(value));
    }
    return selector;
}

int sw_cluster_pods(struct sw_connection *conn, struct json_object *object, int retries,
                    struct json_object **pods, struct sw_err *err)
{
    SW_AUTO_CHARS *selector = sw_cluster_pod_selector(object);
    if (!selector) {
        *pods = json_object_new_array();
        return 0;
    }
    const struct sw_request_opts opts = { .label_selector = selector, .retries = retries };
    return sw_cluster_find(conn, "v1", "Pod", sw_obj_namespace(object), NULL, &opts, pods, err);
}

int sw_cluster_builds(struct sw_connection *conn, struct json_object *config, int retries,
                      struct json_object **builds, struct sw_err *err)
{
    SW_AUTO_CHARS *selector = sw_printf("openshift.io/build-config.name=%s", sw_obj_name(config));
    const struct sw_request_opts opts = { .label_selector = selector, .retries = retries };
    return sw_cluster_find(conn, sw_obj_api_version(config), "Build", sw_obj_namespace(config),
                           NULL, &opts, builds, err);
}

void sw_cluster_judge(struct sw_connection *conn, struct json_object *live, int retries,
                      struct sw_readiness *out)
{
    SW_AUTO_JSON *builds = NULL;
    struct json_object *last = NULL;
    SW_READINESS(of_build);
    SW_ERR(ignored); /* who may not read builds gets what the object says */
    sw_kstatus(live, out);
    if (!sw_streq(out->reason, "NoBuild") ||
        sw_cluster_builds(conn, live, retries, &builds, &ignored) < 0)
        return;
    for (size_t i = 0; i < sw_json_len(builds); i++)
        if (!last || sw_build_number(sw_json_at(builds, i)) > sw_build_number(last))
            last = sw_json_at(builds, i);
    if (!last)
        return;
    sw_json_set_str(last, sw_obj_api_version(live), "apiVersion",
                    NULL); /* items of a list lack it */
    sw_json_set_str(last, "Build", "kind", NULL);
    sw_kstatus(last, &of_build);
    sw_readiness_set(out, of_build.kind, of_build.reason, "build %s: %s", sw_obj_name(last),
                     of_build.message ? of_build.message : "");
}

int sw_cluster_logs(struct sw_connection *conn, const char *ns, const char *pod,
                    const struct sw_request_opts *opts, char **text, size_t *len,
                    struct sw_err *err)
{
    struct wait w = { .conn = conn };
    return take_text(&w, finish(&w, sw_kube_logs(conn->kube, ns, pod, opts, on_answer, &w), err),
                     text, len);
}

int sw_cluster_access(struct sw_connection *conn, struct json_object *user,
                      struct json_object *what, bool *allowed, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    int rc = finish(&w, sw_kube_access_review(conn->kube, user, what, NULL, on_answer, &w), err);
    if (rc == 0)
        *allowed = sw_kube_access_is_allowed(w.object);
    json_object_put(w.object);
    return rc;
}

int sw_cluster_post(struct sw_connection *conn, const char *path, const char *body, char **text,
                    size_t *len, struct sw_err *err)
{
    struct wait w = { .conn = conn };
    const struct sw_request_opts opts = { .body = body };
    return take_text(&w,
                     finish(&w, sw_kube_raw(conn->kube, "POST", path, &opts, on_answer, &w), err),
                     text, len);
}

int sw_cluster_path(struct sw_connection *conn, const char *path,
                    const struct sw_request_opts *opts, char **text, size_t *len,
                    struct sw_err *err)
{
    struct wait w = { .conn = conn };
    return take_text(&w, finish(&w, sw_kube_raw(conn->kube, "GET", path, opts, on_answer, &w), err),
                     text, len);
}

int sw_cluster_lookup(void *conn, const char *api_version, const char *kind, const char *ns,
                      const char *name, struct json_object **out, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = 1 };
    SW_AUTO_JSON *found = NULL;
    int rc = sw_cluster_find(conn, api_version, kind, ns, *name ? name : NULL, &opts, &found, err);
    if (rc == SW_NOTFOUND)
        return 0;
    if (rc < 0)
        return sw_err_wrap(err, rc, "lookup of %s '%s'", kind, name);
    if (!*name) {
        SW_AUTO_CHARS *list = sw_printf("%sList", kind);
        struct json_object *object = json_object_new_object();
        sw_json_set_str(object, api_version, "apiVersion", NULL);
        sw_json_set_str(object, list, "kind", NULL);
        (void)json_object_object_add(object, "items", SW_TAKE(found));
        found = object;
    }
    *out = SW_TAKE(found);
    return 0;
}
