#pragma once
/* A world for scenarios: cluster, client and controller in one process on one clock that jumps, so
 * that an hour of waiting is no time at all. The scenario asks the cluster's store what it holds.
 */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/recipe/resource.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "operator/account/account.h"
#include "operator/controller/controller.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
    struct sw_connection conn;
    struct sw_kube *kube; /* the controller's; conn.kube is the scenario's */
    struct sw_controller *controller;
    char *rights_fault; /* the first request that is neither an account's nor the operator's own */
    struct json_object *resource; /* that was applied last */
    const char *name;
    uint64_t n_requests, n_writes; /* since world_count() */
    uint64_t n_events;             /* what a controller logs */
    uint64_t kill_at;              /* this request is the controller's last; 0: none */
    bool killed, one_shot, installed;
    enum sw_releases releases;
    enum sw_rights rights; /* other than accounts': nothing is said of the controller's requests */
    bool keep_selectors;   /* --keep-node-selectors */
    const char *only;      /* the one resource that the controller looks after */
    bool real_clock;       /* other processes take part */
    const struct sw_registries_opts *registries; /* as the controller's */
    const char *helper, *allowed_sources;        /* as the controller's */
    const char *graph_url;
    struct sw_node_policy nodes; /* what resources may do to nodes */
    void (*on_request)(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                       struct world *w);
    int trouble;
    struct json_object *answer; /* of world_ask() */
    int answer_code;
};

/* ---- whose the controller's requests are -------------------------------------------------------
 */

static inline bool world_lists(const char *list, const char *word)
{
    for (size_t len = strlen(word); *list; list += strspn(list, " ")) {
        size_t n = strcspn(list, " ");
        if ((n == len && strncmp(list, word, n) == 0) || (n == 1 && *list == '*'))
            return true;
        list += n;
    }
    return false;
}

/* "pods/eviction" of the path of a request, or of "pods.GROUP", as watches are traced; heap. "":
 * that of no resource. */
static inline char *world_resource_of(const char *path)
{
    char *part[16] = { NULL }, *rest = sw_strndup(path, strcspn(path, "?")), *whole = rest;
    size_t n = 0, i;
    for (char *p; n < SW_COUNT(part) && (p = strsep(&rest, "/"));)
        if (*p)
            part[n++] = p;
    if (*path != '/')
        part[0][strcspn(part[0], ".")] = '\0';
    i = *path != '/'                        ? 0
        : n && strcmp(part[0], "api") == 0  ? 2
        : n && strcmp(part[0], "apis") == 0 ? 3
                                            : n;
    if (i + 2 < n && strcmp(part[i], "namespaces") == 0)
        i += 2;
    char *resource = sw_printf("%s%s%s", i < n ? part[i] : "", i + 2 < n ? "/" : "",
                               i + 2 < n ? part[i + 2] : "");
    free(whole);
    return resource;
}

/* What is wrong with a request of the controller; heap. NULL: it is made as an account, or for a
 * purpose whose row has its verb and resource. SW_OWN_WALK is none here: in a world resources have
 * accounts. */
static inline char *world_rights_fault(const struct sw_kube_traced *t)
{
    SW_AUTO_CHARS *resource = world_resource_of(t->path);
    const struct sw_purpose_row *row = NULL;
    for (size_t i = 0; i < SW_N_PURPOSES; i++)
        if (i != SW_OWN_WALK && sw_streq(sw_purposes[i].name, t->purpose))
            row = &sw_purposes[i];
    if (t->as_user ? *t->as_user && !t->purpose
                   : row && world_lists(row->verbs, t->verb) &&
                         (!*resource || world_lists(row->resources, resource)))
        return NULL;
    return sw_printf("%s %s (%s) as %s for %s", t->verb, t->path, resource,
                     t->as_user ? t->as_user : "itself", t->purpose ? t->purpose : "nothing");
}

static inline void world_on_traced(const struct sw_kube_traced *t, void *arg)
{
    struct world *w = arg;
    if (!w->rights_fault)
        w->rights_fault = world_rights_fault(t);
}

static inline void world_check_rights(const struct world *w)
{
    if (w->rights_fault && w->rights == SW_RIGHTS_ACCOUNT)
        fail_msg("whose request is that: %s", w->rights_fault);
}

static inline void world_on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                                    void *arg)
{
    struct world *w = arg;
    w->n_requests++;
    w->n_writes += !sw_streq(req->verb, "get") && !sw_streq(req->verb, "list") &&
                   !sw_streq(req->verb, "watch");
    if (w->on_request)
        w->on_request(req, fault, w);
}

static inline void world_open_with(struct world *w, const struct sw_emulator_opts *opts)
{
    struct sw_emulator_opts emu = *opts;
    SW_ERR(err);
    emu.on_request = world_on_request;
    emu.arg = w;
    emu.seed = emu.seed ? emu.seed : 1;
    sw_log_set_level(SW_LOG_ERROR);
    w->conn.command = "test";
    w->conn.loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = !w->real_clock });
    if (sw_emulator_open(w->conn.loop, &emu, &w->conn.emulator, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    w->conn.config = sw_kube_config_new(sw_emulator_url(w->conn.emulator));
    if (sw_kube_new(w->conn.loop, w->conn.config, &(struct sw_kube_opts){ .seed = 1 },
                    &w->conn.kube, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static inline void world_open(struct world *w)
{
    world_open_with(w, &(struct sw_emulator_opts){ .delays = sw_emu_delays_human });
}

static inline void world_close(struct world *w)
{
    world_check_rights(w);
    sw_controller_close(w->controller);
    sw_kube_free(w->kube);
    free(w->rights_fault);
    json_object_put(w->resource);
    json_object_put(w->answer);
    sw_connection_done(&w->conn);
    *w = (struct world){ 0 };
}

static inline int64_t world_now(const struct world *w)
{
    return sw_loop_now_ms(w->conn.loop);
}

/* Turn the world until @cond holds, @for_ms of its time at most. @return whether it holds. */
static inline bool world_until(struct world *w, bool (*cond)(struct world *w, void *arg), void *arg,
                               int64_t for_ms)
{
    int64_t end_ms = world_now(w) + for_ms;
    bool holds;
    while (!(holds = cond(w, arg)) && world_now(w) < end_ms)
        sw_loop_step(w->conn.loop, end_ms - world_now(w));
    world_check_rights(w);
    return holds;
}

static inline bool world_never(struct world *w SW_UNUSED, void *arg SW_UNUSED)
{
    return false;
}

static inline void world_wait(struct world *w, int64_t for_ms)
{
    (void)world_until(w, world_never, NULL, for_ms);
}

/* ---- the controller ----------------------------------------------------------------------------
 */

static inline void world_on_trouble(int code, const char *why SW_UNUSED, void *arg)
{
    ((struct world *)arg)->trouble = code;
}

static inline void world_on_event(const struct sw_controller_event *e SW_UNUSED, void *arg)
{
    ((struct world *)arg)->n_events++;
}

static inline void world_start(struct world *w)
{
    SW_ERR(err);
    if (!w->kube &&
        sw_kube_new(w->conn.loop, w->conn.config,
                    &(struct sw_kube_opts){ .seed = 1, .on_traced = world_on_traced, .arg = w },
                    &w->kube, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    w->controller = sw_controller_open(
        w->conn.loop, w->kube,
        &(struct sw_controller_opts){ .rights = w->rights,
                                      .one_shot = w->one_shot,
                                      .keep_selectors = w->keep_selectors,
                                      .stand_ins = sw_stand_ins,
                                      .registries = w->registries,
                                      .helper = w->helper,
                                      .allowed_sources = w->allowed_sources,
                                      .graph_url = w->graph_url,
                                      .only = w->only,
                                      .node_policy = &w->nodes,
                                      .releases = w->releases,
                                      .on_event = world_on_event,
                                      .on_trouble = world_on_trouble,
                                      .arg = w });
}

/* As kill -9 would: nothing is said to anybody. The client's connections go with it. */
static inline void world_kill(struct world *w)
{
    sw_controller_close(SW_TAKE(w->controller));
    sw_kube_free(SW_TAKE(w->kube));
}

static inline void world_on_installed(int code, const struct sw_err *err, void *arg)
{
    struct world *w = arg;
    if (code < 0)
        fail_msg("not installed: %s", sw_err_text(err));
    w->installed = true;
}

static inline bool world_is_installed(struct world *w, void *arg SW_UNUSED)
{
    return w->installed;
}

/* As `run RECIPE --set ...` begins. */
static inline void world_apply(struct world *w, const struct sw_resource_opts *opts)
{
    SW_ERR(err);
    json_object_put(w->resource);
    w->resource = NULL;
    if (sw_resource_make(opts, &w->resource, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    w->name = sw_obj_name(w->resource);
    w->installed = false;
    (void)sw_install_start(&w->conn, w->resource, world_on_installed, w);
    assert_true(world_until(w, world_is_installed, NULL, 60000));
}

static inline void world_run(struct world *w, const char *recipe)
{
    static const struct sw_source_flags source = { .stand_ins = true };
    SW_AUTO_CHARS *path = sw_printf("%s/%s", SW_SOURCE_DIR, recipe);
    world_apply(w, &(struct sw_resource_opts){ .recipe = path, .source = &source });
    if (!w->controller)
        world_start(w);
}

static inline bool world_is_ready(struct world *w, void *arg SW_UNUSED)
{
    return w->controller && sw_controller_phase(w->controller, w->name) == SW_PHASE_READY &&
           sw_controller_is_idle(w->controller, w->name);
}

static inline bool world_is_errored(struct world *w, void *arg SW_UNUSED)
{
    return w->controller && sw_controller_phase(w->controller, w->name) == SW_PHASE_ERRORED &&
           sw_controller_is_idle(w->controller, w->name);
}

static inline void world_must_be_ready(struct world *w)
{
    if (world_until(w, world_is_ready, NULL, 10 * 60000))
        return;
    SW_AUTO_JSON *status = w->controller ? sw_controller_status(w->controller, w->name) : NULL;
    fail_msg("not ready: %s", json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY));
}

static inline void world_count(struct world *w)
{
    w->n_requests = w->n_writes = 0;
}

/* ---- asking the cluster ------------------------------------------------------------------------
 */

static inline void world_on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct world *w = arg;
    w->answer_code = a->code;
    json_object_put(w->answer);
    w->answer = json_object_get(a->object ? a->object : a->items);
}

static inline bool world_is_answered(struct world *w, void *arg SW_UNUSED)
{
    return w->answer_code != SW_PENDING;
}

static inline void world_on_kind(int code, const struct sw_kind *kind SW_UNUSED,
                                 const struct sw_err *err SW_UNUSED, void *arg)
{
    ((struct world *)arg)->answer_code = code;
}

static inline const struct sw_kind *world_kind(struct world *w, const char *api_version,
                                               const char *kind)
{
    w->answer_code = SW_PENDING;
    (void)sw_kube_kind(w->conn.kube, api_version, kind, world_on_kind, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    return w->answer_code < 0 ? NULL : sw_kube_kind_find(w->conn.kube, api_version, kind);
}

/* One object (or with no name the array of all); borrowed until the next question. NULL: none. */
static inline struct json_object *world_get(struct world *w, const char *api_version,
                                            const char *kind, const char *ns, const char *name)
{
    const struct sw_kind *k = world_kind(w, api_version, kind);
    if (!k)
        return NULL;
    w->answer_code = SW_PENDING;
    json_object_put(SW_TAKE(w->answer));
    if (name)
        (void)sw_kube_get(w->conn.kube, k, ns, name, NULL, world_on_answer, w);
    else
        (void)sw_kube_list(w->conn.kube, k, ns, &(struct sw_request_opts){ .page_size = 5000 },
                           world_on_answer, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    return w->answer_code < 0 ? NULL : w->answer;
}

static inline int world_patch(struct world *w, const char *api_version, const char *kind,
                              const char *ns, const char *name, const char *subresource,
                              const char *json)
{
    const struct sw_kind *k = world_kind(w, api_version, kind);
    struct json_object *body = json_tokener_parse(json);
    assert_non_null(k);
    assert_non_null(body);
    w->answer_code = SW_PENDING;
    (void)sw_kube_patch(
        w->conn.kube, k, ns, name, SW_PATCH_MERGE, body,
        &(struct sw_request_opts){ .subresource = subresource, .field_manager = "somebody" },
        world_on_answer, w);
    json_object_put(body);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    return w->answer_code;
}

static inline int world_create(struct world *w, const char *json)
{
    struct json_object *body = json_tokener_parse(json);
    assert_non_null(body);
    const struct sw_kind *k = world_kind(w, sw_obj_api_version(body), sw_obj_kind(body));
    assert_non_null(k);
    w->answer_code = SW_PENDING;
    const char *ns = sw_obj_namespace(body);
    (void)sw_kube_create(w->conn.kube, k, *ns ? ns : NULL, NULL, body,
                         &(struct sw_request_opts){ .field_manager = "somebody" }, world_on_answer,
                         w);
    json_object_put(body);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    return w->answer_code;
}

static inline int world_delete(struct world *w, const char *api_version, const char *kind,
                               const char *ns, const char *name)
{
    const struct sw_kind *k = world_kind(w, api_version, kind);
    assert_non_null(k);
    w->answer_code = SW_PENDING;
    (void)sw_kube_delete(w->conn.kube, k, ns, name, NULL, world_on_answer, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    return w->answer_code;
}
