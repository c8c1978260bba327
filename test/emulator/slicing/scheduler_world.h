#pragma once
/* The scheduler on the emulator with a node "a" of one GPU, asked as kube-scheduler asks it. */
#include "emulator/operator/run_world.h"

#include "slicing/mig/mig.h"
#include "slicing/scheduler/scheduler.h"

#include <stdio.h>

#define NS "das-operator"
#define CLAIMS "inference.redhat.com/v1alpha1", "AllocationClaim"

struct sched_world {
    struct world w; /* first: handed around as a world */
    struct sw_scheduler *s;
    struct sw_kube_config *config; /* of the extender */
    struct sw_kube *ask;
    char *answer; /* of the extender; NULL: not yet */
    int status;
    /* what was written, and which write fails */
    uint64_t n_writes, fail_at;
    const char *fail_verb;                 /* and others do not; NULL: any */
    uint64_t fail_until;                   /* so does each after it up to this one; 0: it alone */
    uint64_t n_evictions, refuse_eviction; /* which one a budget does not allow; 0: none */
    enum sw_emu_fault_type fault;
    int fault_code;
    /* what else happens at a write, which takes a while then; NULL: nothing. @return whether */
    bool (*at_write)(struct sched_world *w, const struct sw_emu_request *req);
    const char *uid; /* of the pod that it is about */
    int late_ms;     /* so much later whoever watches claims from now on is told */
    char trail[4096];
};

static inline void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                              struct world *world)
{
    struct sched_world *w = (struct sched_world *)world;
    const bool ours = sw_starts_with(req->user_agent ? req->user_agent : "", "slipway-scheduler");
    if (sw_streq(req->verb, "watch") && sw_streq(req->resource, "allocationclaims"))
        fault->delay_ms = w->late_ms;
    if (!ours || sw_streq(req->verb, "get") || sw_streq(req->verb, "list") ||
        sw_streq(req->verb, "watch"))
        return;
    w->n_writes++;
    const size_t len = strlen(w->trail);
    (void)snprintf(w->trail + len, sizeof w->trail - len, "%s %s%s%s;", req->verb, req->resource,
                   req->subresource ? "/" : "", req->subresource ? req->subresource : "");
    if (w->at_write && w->at_write(w, req))
        *fault = (struct sw_emu_fault){ .delay_ms = 1000 };
    if (sw_streq(req->subresource ? req->subresource : "", "eviction") &&
        ++w->n_evictions == w->refuse_eviction)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 429 };
    if (w->fail_verb && !sw_streq(req->verb, w->fail_verb))
        return;
    if (w->n_writes == w->fail_at || (w->n_writes > w->fail_at && w->n_writes <= w->fail_until))
        *fault = (struct sw_emu_fault){ .type = w->fault, .code = w->fault_code };
}

static inline void apply_crd(struct world *w, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/states/scheduler/crds/%s.yaml", SW_SOURCE_DIR, name);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    assert_int_equal(sw_file_read(path, 1 << 20, &text, &len, &err), 0);
    if (sw_yaml_parse(text, len, NULL, &doc, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_int_equal(world_create(w, json_object_to_json_string(doc)), 0);
}

static inline void add_node(struct world *w, const char *name, int n_gpus)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    SW_AUTO_CHARS *node = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":"
        "{\"nvidia.com/mig.capable\":\"true\"}}}",
        name);
    SW_AUTO_CHARS *acc = sw_printf("{\"apiVersion\":\"inference.redhat.com/v1alpha1\",\"kind\":"
                                   "\"NodeAccelerator\",\"metadata\":{\"name\":\"%s\","
                                   "\"namespace\":\"" NS "\"},\"spec\":{\"acceleratorType\":"
                                   "\"nvidia-mig\"}}",
                                   name);
    SW_AUTO_JSON *status = json_object_new_object();
    sw_json_set(status, sw_mig_geometry_to_json(g), "status", "nodeResources", "migPlacement",
                NULL);
    struct json_object *gpus = sw_json_need_list(status, "status", "nodeResources", "nodeGpus",
                                                 NULL);
    for (int i = 0; i < n_gpus; i++) {
        struct json_object *gpu = json_object_new_object();
        SW_AUTO_CHARS *uuid = sw_printf("GPU-%s-%d", name, i);
        sw_json_set_str(gpu, uuid, "gpuUuid", NULL);
        json_object_array_add(gpus, gpu);
    }
    assert_int_equal(world_create(w, node), 0);
    assert_int_equal(world_create(w, acc), 0);
    assert_int_equal(world_patch(w, "inference.redhat.com/v1alpha1", "NodeAccelerator", NS, name,
                                 "status", json_object_to_json_string(status)),
                     0);
}

static inline bool is_synced(struct world *w, void *arg SW_UNUSED)
{
    return sw_scheduler_trouble(((struct sched_world *)w)->s) == NULL;
}

static inline void start(struct sched_world *w)
{
    SW_ERR(err);
    const struct sw_scheduler_opts opts = { .ns = NS,
                                            .scheduler_name = "das-scheduler",
                                            .node_label = "nvidia.com/mig.capable=true",
                                            .extender = { .address = "127.0.0.1" } };
    if (sw_scheduler_open(w->w.conn.loop, w->w.conn.config, &opts, &w->s, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_true(world_until(&w->w, is_synced, NULL, 60000));
    SW_AUTO_CHARS *url = sw_printf("http://127.0.0.1:%d", sw_scheduler_port(w->s));
    w->config = sw_kube_config_new(url);
    assert_int_equal(sw_kube_new(w->w.conn.loop, w->config, NULL, &w->ask, &err), 0);
}

/* As kill -9 would. */
static inline void kill_it(struct sched_world *w)
{
    sw_kube_free(SW_TAKE(w->ask));
    sw_kube_config_free(SW_TAKE(w->config));
    sw_scheduler_close(SW_TAKE(w->s));
}

static inline int setup(void **state)
{
    struct sched_world *w = sw_zalloc(1, sizeof *w);
    w->w.on_request = on_request;
    world_open_with(&w->w, &(struct sw_emulator_opts){ .no_controllers = true, .no_nodes = true });
    apply_crd(&w->w, "allocationclaims");
    apply_crd(&w->w, "nodeaccelerators");
    (void)world_create(&w->w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":"
                              "{\"name\":\"" NS "\"}}");
    add_node(&w->w, "a", 1);
    start(w);
    *state = w;
    return 0;
}

static inline int teardown(void **state)
{
    struct sched_world *w = *state;
    free(w->answer);
    kill_it(w);
    world_close(&w->w);
    free(w);
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static inline void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct sched_world *w = arg;
    w->status = a->http_status;
    w->answer = sw_strdup(a->text ? a->text : "");
}

static inline bool is_told(struct world *w, void *arg SW_UNUSED)
{
    return ((struct sched_world *)w)->answer != NULL;
}

static inline const char *ask(struct sched_world *w, const char *path, const char *body)
{
    free(SW_TAKE(w->answer));
    (void)sw_kube_raw(w->ask, "POST", path,
                      &(struct sw_request_opts){ .body = body, .timeout_ms = 60000 }, on_answer, w);
    assert_true(world_until(&w->w, is_told, NULL, 120000));
    return w->answer;
}

/* A pod that waits; @limits: "\"mig.das.com/1g.5gb\":1". @return its uid, the caller's */
static inline char *add_pod(struct sched_world *w, const char *name, const char *limits)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"default\"},\"spec\":{\"schedulerName\":\"das-scheduler\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"i\",\"resources\":{\"limits\":{%s}}}]}}",
        name, limits);
    if (world_create(&w->w, text) < 0)
        fail_msg("pod %s", name);
    return sw_strdup(sw_obj_uid(w->w.answer));
}

static inline const char *bind_pod(struct sched_world *w, const char *name, const char *uid,
                                   const char *node)
{
    SW_AUTO_CHARS *body = sw_printf("{\"PodName\":\"%s\",\"PodNamespace\":\"default\",\"PodUID\":"
                                    "\"%s\",\"Node\":\"%s\"}",
                                    name, uid, node);
    return ask(w, "/bind", body);
}

static inline bool fits(struct sched_world *w, const char *limits)
{
    SW_AUTO_CHARS *body = sw_printf(
        "{\"Pod\":{\"metadata\":{\"name\":\"probe\",\"uid\":\"probe-%d\"},\"spec\":{\"containers\":"
        "[{\"name\":\"c\",\"resources\":{\"limits\":{%s}}}]}},\"NodeNames\":[\"a\"]}",
        rand(), limits);
    return strstr(ask(w, "/filter", body), "\"NodeNames\":[\"a\"]") != NULL;
}

static inline size_t n_claims(struct sched_world *w)
{
    return sw_json_len(world_get(&w->w, CLAIMS, NS, NULL));
}

static inline const char *pod_node(struct sched_world *w, const char *name)
{
    return sw_json_str(world_get(&w->w, "v1", "Pod", "default", name), "", "spec", "nodeName",
                       NULL);
}

static inline bool has_n_claims(struct world *w, void *arg)
{
    return sw_json_len(world_get(w, CLAIMS, NS, NULL)) == *(size_t *)arg;
}

static inline bool has_no_claims(struct world *w, void *arg SW_UNUSED)
{
    return sw_json_len(world_get(w, CLAIMS, NS, NULL)) == 0;
}

static inline double metric(struct sched_world *w, const char *name)
{
    SW_AUTO_CHARS *text = sw_scheduler_metrics(w->s), *line = sw_printf("\n%s ", name);
    const char *at = strstr(text, line);
    assert_non_null(at);
    return strtod(at + strlen(line), NULL);
}

#define ONE "\"mig.das.com/1g.5gb\":1"
#define ALL "\"mig.das.com/7g.40gb\":1"

/* At once: there is no kubelet that would let it end. */
static inline void delete_pod(struct sched_world *w, const char *name)
{
    const struct sw_kind *k = world_kind(&w->w, "v1", "Pod");
    w->w.answer_code = SW_PENDING;
    (void)sw_kube_delete(w->w.conn.kube, k, "default", name,
                         &(struct sw_request_opts){ .grace_period_s = -1 }, world_on_answer, w);
    assert_true(world_until(&w->w, world_is_answered, NULL, 60000));
}
