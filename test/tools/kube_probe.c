/* kube_probe: the client against any API server ($KUBECONFIG), step by step, reporting as TAP. The
 * same steps pass on a real kube-apiserver and on the emulator. --no-rbac leaves out what only a
 * server with RBAC can answer. It works in a namespace of its own and removes it. */
#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "kube/lease.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The world, and the last answer. */
static struct {
    struct sw_loop *loop;
    struct sw_kube_config *config;
    struct sw_kube *k;
    const struct sw_kind *namespaces, *configmaps, *deployments;
    char *ns;
    bool no_rbac;
    int n, n_failed;
    /* the last answer */
    int n_answers, code, http_status;
    char *reason, *words;
    struct json_object *object, *status;
    size_t n_items;
    const struct sw_kind *kind;
} p;

static void step(bool ok, const char *what)
{
    (void)printf("%sok %d - %s\n", ok ? "" : "not ", ++p.n, what);
    if (!ok) {
        p.n_failed++;
        (void)printf("# code %s, HTTP %d, reason '%s': %s\n", sw_code_name(p.code), p.http_status,
                     p.reason, p.words);
    }
    (void)fflush(stdout);
}

static void keep(char **at, const char *text)
{
    free(*at);
    *at = sw_strdup(text ? text : "");
}

static void on_answer(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    p.code = a->code;
    p.http_status = a->http_status;
    keep(&p.reason, a->reason);
    keep(&p.words, a->code < 0 ? sw_err_text(a->err) : "");
    (void)json_object_put(p.object);
    (void)json_object_put(p.status);
    p.object = json_object_get(a->object);
    p.status = json_object_get(a->status);
    p.n_items += sw_json_len(a->items);
    p.n_answers++;
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err,
                    void *arg SW_UNUSED)
{
    p.code = code;
    p.kind = kind;
    keep(&p.words, code < 0 ? sw_err_text(err) : "");
    p.n_answers++;
}

static void on_done(int code, const struct sw_err *err, void *arg SW_UNUSED)
{
    on_kind(code, NULL, err, NULL);
}

/** Until @*n is @at_least. @return whether that came within 20 s */
static bool wait_for(const int *n, int at_least)
{
    int64_t end_ms = sw_monotonic_ms() + 20000;
    while (*n < at_least && sw_monotonic_ms() < end_ms)
        sw_loop_step(p.loop, 100);
    return *n >= at_least;
}

/** The answer of a request that was just started. @return its code */
static int answered(struct sw_kube_request *req)
{
    int before = p.n_answers;
    if (!wait_for(&p.n_answers, before + 1)) {
        sw_kube_cancel(req);
        p.code = SW_PENDING;
    }
    return p.code;
}

static struct json_object *doc(const char *text)
{
    struct json_object *object = NULL;
    SW_ERR(err);
    if (sw_yaml_parse(text, strlen(text), NULL, &object, &err) < 0) {
        (void)fprintf(stderr, "kube_probe: %s\n", sw_err_text(&err));
        exit(2);
    }
    return object;
}

static struct json_object *configmap(const char *name, const char *value)
{
    struct json_object *object = doc("{apiVersion: v1, kind: ConfigMap}");
    sw_json_set_str(object, name, "metadata", "name", NULL);
    sw_json_set_str(object, value, "data", "key", NULL);
    return object;
}

static int apply(const char *name, const char *value, const struct sw_request_opts *o)
{
    SW_AUTO_JSON *body = configmap(name, value);
    return answered(sw_kube_apply(p.k, p.configmaps, p.ns, name, body, o, on_answer, NULL));
}

/* ---- steps --------------------------------------------------------------------------------------
 */

static const struct sw_kind *find_kind(const char *api_version, const char *kind)
{
    p.kind = NULL;
    (void)answered(sw_kube_kind(p.k, api_version, kind, on_kind, NULL));
    return p.kind;
}

static void count_api(const char *api, void *arg)
{
    *(int *)arg += sw_streq(api, "v1/Node") || sw_streq(api, "apps/v1");
}

static void discovery(void)
{
    step(answered(sw_kube_version(p.k, NULL, on_answer, NULL)) == 0 &&
             sw_json_str(p.object, "", "gitVersion", NULL)[0],
         "the server says its version");
    p.namespaces = find_kind("v1", "Namespace");
    p.configmaps = find_kind("v1", "ConfigMap");
    p.deployments = find_kind("apps/v1", "Deployment");
    step(p.namespaces && !p.namespaces->namespaced && p.configmaps && p.configmaps->namespaced &&
             p.deployments && p.deployments->has_status,
         "kinds are found, with their scope and subresources");
    if (!p.namespaces || !p.configmaps || !p.deployments)
        return;
    int n = 0;
    bool all = answered(sw_kube_discover(p.k, "*", on_done, NULL)) == 0;
    sw_kube_each_api(p.k, count_api, &n);
    step(all && n == 2, "everything that is served is discovered");
    (void)find_kind("nowhere.example.com/v1", "Thing");
    step(p.code == SW_NOTFOUND && strstr(p.words, "'nowhere.example.com' is not served"),
         "a group that is not served is named");
}

static void make_namespace(void)
{
    SW_AUTO_JSON *body = doc("{metadata: {generateName: kube-probe-}}");
    bool ok = answered(
                  sw_kube_create(p.k, p.namespaces, NULL, NULL, body, NULL, on_answer, NULL)) == 0;
    keep(&p.ns, sw_obj_name(p.object));
    step(ok && sw_starts_with(p.ns, "kube-probe-"), "a namespace is made, with a generated name");
}

static void applying(void)
{
    step(apply("dry", "1", &(struct sw_request_opts){ .dry_run = true }) == 0 &&
             answered(sw_kube_get(p.k, p.configmaps, p.ns, "dry", NULL, on_answer, NULL)) ==
                 SW_NOTFOUND &&
             sw_streq(p.reason, "NotFound"),
         "a dry run leaves nothing");
    step(apply("a", "1", NULL) == 0 && p.http_status == 201, "apply makes what is not there");
    SW_AUTO_CHARS *version = sw_strdup(
        sw_json_str(p.object, "", "metadata", "resourceVersion", NULL));
    step(apply("a", "1", NULL) == 0 && p.http_status == 200 &&
             sw_streq(version, sw_json_str(p.object, "", "metadata", "resourceVersion", NULL)),
         "applied again, nothing changes");
    step(apply("a", "2", &(struct sw_request_opts){ .field_manager = "other" }) == SW_CONFLICT,
         "another manager's field is not taken over");
    step(apply("a", "2", &(struct sw_request_opts){ .field_manager = "other", .force = true }) == 0,
         "unless forced");
}

static void writing(void)
{
    SW_AUTO_JSON *body = configmap("a", "3");
    step(answered(sw_kube_create(p.k, p.configmaps, p.ns, NULL, body, NULL, on_answer, NULL)) ==
                 SW_CONFLICT &&
             sw_streq(p.reason, "AlreadyExists"),
         "what exists is not created again");
    sw_json_set_str(body, "1", "metadata", "resourceVersion", NULL);
    step(answered(sw_kube_update(p.k, p.configmaps, p.ns, "a", body, NULL, on_answer, NULL)) ==
                 SW_CONFLICT &&
             sw_streq(p.reason, "Conflict"),
         "an update of an old version is a conflict");
    SW_AUTO_JSON *merge = doc("{data: {x: text}}");
    step(answered(sw_kube_patch(p.k, p.configmaps, p.ns, "a", SW_PATCH_MERGE, merge, NULL,
                                on_answer, NULL)) == 0 &&
             sw_streq(sw_json_str(p.object, "", "data", "x", NULL), "text"),
         "a merge patch is applied");
    SW_AUTO_JSON *json = doc("[{op: remove, path: /data/x}]");
    step(answered(sw_kube_patch(p.k, p.configmaps, p.ns, "a", SW_PATCH_JSON, json, NULL, on_answer,
                                NULL)) == 0 &&
             !sw_json_find(p.object, "data", "x", NULL),
         "a JSON patch is applied");
    SW_AUTO_JSON *bad = doc(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: bad}, spec: {}}");
    step(answered(sw_kube_create(p.k, p.deployments, p.ns, NULL, bad, NULL, on_answer, NULL)) ==
                 SW_INVALID &&
             p.http_status == 422 && sw_json_len(sw_json_find(p.status, "details", "causes", NULL)),
         "an invalid object is refused, with the fields to blame");
}

static void deleting(void)
{
    step(answered(sw_kube_delete(p.k, p.configmaps, p.ns, "a",
                                 &(struct sw_request_opts){ .uid = "not-its-uid" }, on_answer,
                                 NULL)) == SW_CONFLICT,
         "another object of that name is not deleted");
    step(answered(sw_kube_delete(p.k, p.configmaps, p.ns, "a", NULL, on_answer, NULL)) == 0,
         "an object is deleted");
    step(answered(sw_kube_delete(p.k, p.configmaps, p.ns, "a", NULL, on_answer, NULL)) ==
             SW_NOTFOUND,
         "and not once more");
}

static void listing(void)
{
    (void)apply("l1", "1", NULL);
    (void)apply("l2", "1", NULL);
    (void)apply("l3", "1", NULL);
    p.n_items = 0;
    int before = p.n_answers;
    (void)sw_kube_list(
        p.k, p.configmaps, p.ns,
        &(struct sw_request_opts){ .page_size = 2,
                                   .field_selector = "metadata.name!="
                                                     "kube-root-ca.crt,metadata.name!="
                                                     "openshift-service-ca.crt" },
        on_answer, NULL);
    step(wait_for(&p.n_answers, before + 2) && p.code == 0 && p.n_items == 3,
         "a list comes in two pages");
}

/* A watch, told in one line: "+l1 =", "~l1", "-l1". */
static char *told;
static int n_told;

static void on_event(const struct sw_watch_event *e, void *arg SW_UNUSED)
{
    static const char marks[] = "+~-=!";
    SW_AUTO_CHARS *old = told;
    told = sw_printf("%s%c%s ", old ? old : "", marks[e->type], e->name ? e->name : "");
    n_told++;
    if (e->type == SW_WATCH_ERROR)
        keep(&p.words, sw_err_text(e->err));
}

static void watching(void)
{
    static const char *const fields[] = { "data", NULL };
    struct sw_kube_watch *w = sw_kube_watch_open(
        p.k, p.configmaps, &(struct sw_watch_opts){ .ns = p.ns, .name = "l1", .fields = fields },
        on_event, NULL);
    bool ok = wait_for(&n_told, 2);
    step(ok && sw_streq(told, "+l1 = "), "a watch tells what is there");
    (void)apply("l1", "2", NULL);
    ok = wait_for(&n_told, 3);
    (void)answered(sw_kube_delete(p.k, p.configmaps, p.ns, "l1", NULL, on_answer, NULL));
    ok = ok && wait_for(&n_told, 4);
    (void)apply("l1", "3", NULL);
    ok = ok && wait_for(&n_told, 5);
    step(ok && sw_streq(told, "+l1 = ~l1 -l1 +l1 "), "and every change");
    sw_kube_watch_close(w);
}

static void rights(void)
{
    struct sw_request_opts o = { .as_user = "nobody-in-particular" };
    step(answered(sw_kube_list(p.k, p.configmaps, p.ns, &o, on_answer, NULL)) == SW_FORBIDDEN &&
             strstr(p.words, "list configmaps in namespace") && strstr(p.words, "cannot list"),
         "who may not is told which verb on what");
    if (!sw_starts_with(p.config->server, "https"))
        return;
    struct sw_kube_config *c = sw_kube_config_copy(p.config);
    struct sw_kube *k;
    SW_ERR(err);
    free(c->ca_data);
    free(c->ca_file);
    c->ca_data = c->ca_file = NULL;
    if (sw_kube_new(p.loop, c, NULL, &k, &err) == 0) {
        step(answered(sw_kube_version(k, NULL, on_answer, NULL)) == SW_INVALID &&
                 strstr(p.words, "certificate is not trusted"),
             "a server whose CA is not known is not trusted");
        sw_kube_free(k);
    }
    sw_kube_config_free(c);
}

static void on_started(void *arg)
{
    (*(int *)arg)++;
}

static void on_released(void *arg)
{
    (*(int *)arg)++;
}

static struct sw_lease *join(const char *identity, int *n_started)
{
    struct sw_lease *lease = NULL;
    struct sw_lease_opts o = { .ns = p.ns,
                               .name = "probe",
                               .identity = identity,
                               .lease_ms = 6000,
                               .renew_ms = 3000,
                               .retry_ms = 300,
                               .on_started = on_started,
                               .arg = n_started };
    SW_ERR(err);
    (void)sw_lease_open(p.loop, p.config, &o, &lease, &err);
    return lease;
}

static void leading(void)
{
    int a_started = 0, b_started = 0, released = 0;
    struct sw_lease *a = join("a", &a_started);
    bool ok = wait_for(&a_started, 1);
    struct sw_lease *b = join("b", &b_started);
    for (int i = 0; i < 15; i++)
        sw_loop_step(p.loop, 100);
    step(ok && !b_started && sw_streq(sw_lease_holder(b), "a"), "one of two leads");
    sw_lease_release(a, on_released, &released);
    step(wait_for(&released, 1) && wait_for(&b_started, 1), "and the other when it steps down");
    sw_lease_close(a);
    sw_lease_close(b);
}

static void run_steps(void)
{
    discovery();
    if (p.namespaces && p.configmaps && p.deployments) {
        make_namespace();
        applying();
        writing();
        deleting();
        listing();
        watching();
        leading();
        if (!p.no_rbac)
            rights();
        step(answered(sw_kube_delete(p.k, p.namespaces, NULL, p.ns, NULL, on_answer, NULL)) == 0,
             "the namespace is removed");
    }
    (void)printf("1..%d\n", p.n);
}

static int connect_to_server(struct sw_err *err)
{
    p.loop = sw_loop_new(NULL);
    int rc = sw_kubeconfig_load(NULL, &p.config, err);
    return rc < 0 ? rc : sw_kube_new(p.loop, p.config, NULL, &p.k, err);
}

static void disconnect(void)
{
    sw_kube_free(p.k);
    sw_loop_free(p.loop);
    sw_kube_config_free(p.config);
    (void)json_object_put(p.object);
    (void)json_object_put(p.status);
    free(p.ns);
    free(p.reason);
    free(p.words);
    free(told);
}

int main(int argc, char **argv)
{
    SW_ERR(err);
    keep(&p.reason, "");
    keep(&p.words, "");
    p.no_rbac = argc > 1 && sw_streq(argv[1], "--no-rbac");
    int rc = connect_to_server(&err);
    if (rc < 0)
        (void)fprintf(stderr, "kube_probe: %s\n", sw_err_text(&err));
    else
        run_steps();
    disconnect();
    return rc < 0 ? 2 : p.n_failed ? 1 : 0;
}
