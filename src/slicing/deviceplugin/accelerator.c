/* The NodeAccelerator: what this node has, for the scheduler. It is read first, and written where
 * it differs. */
#include "slicing/deviceplugin/accelerator.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/claim/claim.h"
#include "slicing/deviceplugin/nvidia_slices.h"

enum { AGAIN_MS = 5000 };

/* As DAS's daemonset calls itself: it applies the status without force, and where another had
 * applied it before it would end with a conflict at each start. */
#define DAS_MANAGER "das-daemonset"

struct dp_accelerator {
    struct sw_device_plugin *p;
    struct sw_kube_request *request;
    struct sw_timer *again;
    bool dirty;                 /* it is to be read again once the request is over */
    char *node_uid;             /* who owns it; "" where that may not be read */
    struct json_object *status; /* to write */
    uint64_t kept;              /* hash: the GPUs that ResourceClaims keep, as published last */
};

/* ---- its content ------------------------------------------------------------------------------
 */

static void add_condition(const struct dp_accelerator *a, struct json_object *list,
                          struct json_object *old)
{
    const struct sw_device_plugin *p = a->p;
    SW_AUTO_CHARS *ill = NULL;
    for (size_t i = 0; p->driver && i < p->driver->n_gpus; i++)
        if (p->driver->gpus[i].xid && !ill)
            ill = sw_printf("GPU %s reported Xid %llu", p->driver->gpus[i].uuid,
                            (unsigned long long)p->driver->gpus[i].xid);
    SW_AUTO_CHARS *theirs = NULL;
    for (size_t i = 0; p->driver && i < p->driver->n_gpus; i++)
        if (dp_nvidia_slices_have(p->nvidia_slices, &p->driver->gpus[i]) && !theirs)
            theirs = sw_printf("GPU %s is left to NVIDIA's DRA driver, which publishes it",
                               p->driver->gpus[i].uuid);
    struct sw_condition c = { .type = "Ready",
                              .is = p->driver,
                              .reason = sw_text_or(p->no_gpu_reason, "NoGPU"),
                              .message = sw_text_or(p->no_gpu, ""),
                              .at_ms = sw_loop_wall_ms(p->loop) };
    if (p->driver) {
        c.reason = ill ? "GPUUnhealthy" : theirs ? "GPUOfOtherDriver" : "GPUsAccessible";
        c.message = ill ? ill : theirs ? theirs : "All discovered GPUs are accessible";
    }
    sw_condition_add(list, sw_json_find(old, "status", "conditions", NULL), &c);
    const bool dra = p->face == DP_FACE_DRA;
    sw_condition_add(list, sw_json_find(old, "status", "conditions", NULL),
                     &(struct sw_condition){ .type = SW_ACCELERATOR_DRA,
                                             .is = dra,
                                             .reason = dra ? "ResourceClaims" : "DevicePlugin",
                                             .message = sw_text_or(p->face_reason, ""),
                                             .at_ms = sw_loop_wall_ms(p->loop) });
}

/* ---- GPUs that ResourceClaims have slices of, where the scheduler's claims are served
 * ----------------------------------------------------------------------------
 */

struct keeping {
    const char *gpu;
    bool found;
};

static void find_keeper(struct dp_grant *g, void *arg)
{
    struct keeping *k = arg;
    for (size_t i = 0; i < g->n_devices; i++)
        k->found |= sw_streq(g->devices[i].gpu, k->gpu);
}

/* @gpu: a UUID */
static bool is_kept(const struct sw_device_plugin *p, const char *gpu)
{
    struct keeping k = { .gpu = gpu };
    const struct dp_gpu *found = p->driver ? dp_driver_gpu(p->driver, gpu) : NULL;
    k.found = found && dp_nvidia_slices_have(p->nvidia_slices, found);
    if (p->face == DP_FACE_DEVICE_PLUGIN)
        dp_broker_each(p->broker, find_keeper, &k);
    return k.found;
}

/* The scheduler does not know where those slices lie: it is to place nothing new beside them, nor
 * on a GPU that NVIDIA's driver gives out. */
static void mark_kept(const struct dp_accelerator *a, struct json_object *resources)
{
    struct json_object *gpus = sw_json_get(resources, "nodeGpus");
    for (size_t i = 0; i < sw_json_len(gpus); i++) {
        struct json_object *gpu = sw_json_at(gpus, i);
        if (is_kept(a->p, sw_json_str(gpu, "", "gpuUuid", NULL)))
            sw_json_set(gpu, json_object_new_boolean(false), "healthy", NULL);
    }
}

void dp_accelerator_refresh(struct dp_accelerator *a)
{
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; a && a->p->driver && i < a->p->driver->n_gpus; i++)
        if (is_kept(a->p, a->p->driver->gpus[i].uuid))
            sw_append(&text, "%s ", a->p->driver->gpus[i].uuid);
    const uint64_t kept = *text ? sw_fnv64a(text, strlen(text)) : 0;
    if (!a || kept == a->kept)
        return;
    a->kept = kept;
    dp_accelerator_publish(a);
}

static struct json_object *make_object(const struct dp_accelerator *a, struct json_object *status)
{
    struct json_object *o = json_object_new_object();
    sw_json_set_str(o, sw_kind_accelerator.api_version, "apiVersion", NULL);
    sw_json_set_str(o, sw_kind_accelerator.kind, "kind", NULL);
    sw_json_set_str(o, a->p->opts.node, "metadata", "name", NULL);
    sw_json_set_str(o, a->p->opts.ns, "metadata", "namespace", NULL);
    if (status) {
        sw_json_set(o, json_object_get(status), "status", NULL);
        return o;
    }
    sw_json_set_str(o, "nvidia-mig", "spec", "acceleratorType", NULL);
    if (a->node_uid && *a->node_uid) { /* deleted with its node */
        struct json_object *owner = json_object_new_object();
        sw_json_set_str(owner, "v1", "apiVersion", NULL);
        sw_json_set_str(owner, "Node", "kind", NULL);
        sw_json_set_str(owner, a->p->opts.node, "name", NULL);
        sw_json_set_str(owner, a->node_uid, "uid", NULL);
        json_object_array_add(sw_json_need_list(o, "metadata", "ownerReferences", NULL), owner);
    }
    return o;
}

/* ---- read, compare, write ----------------------------------------------------------------------
 */

static void over(struct dp_accelerator *a, const struct sw_kube_answer *answer)
{
    a->request = NULL;
    if (answer && answer->code < 0) {
        sw_log(SW_LOG_WARN, "NodeAccelerator not written; trying again", "error",
               sw_err_text(answer->err), NULL);
        sw_timer_set(a->again, AGAIN_MS);
    } else if (a->dirty) {
        sw_timer_set(a->again, 0);
    }
}

static void on_status_written(const struct sw_kube_answer *answer, void *arg)
{
    over(arg, answer);
}

static void on_object_written(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_accelerator *a = arg;
    if (answer->code < 0) {
        over(a, answer);
        return;
    }
    SW_AUTO_JSON *body = make_object(a, a->status);
    a->request = sw_kube_apply(
        a->p->kube, &sw_kind_accelerator, a->p->opts.ns, a->p->opts.node, body,
        &(struct sw_request_opts){
            .subresource = "status", .field_manager = DAS_MANAGER, .force = true },
        on_status_written, a);
}

static void on_read(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_accelerator *a = arg;
    if (answer->code < 0 && answer->code != SW_NOTFOUND) {
        over(a, answer);
        return;
    }
    a->dirty = false;
    struct json_object *old = answer->code == 0 ? answer->object : NULL;
    (void)json_object_put(a->status);
    const struct dp_driver none = { 0 };
    a->status = json_object_new_object();
    sw_json_set(a->status, dp_inventory_document(a->p->driver ? a->p->driver : &none),
                "nodeResources", NULL);
    mark_kept(a, sw_json_get(a->status, "nodeResources"));
    add_condition(a, sw_json_need_list(a->status, "conditions", NULL), old);
    if (old && sw_json_equal(sw_json_get(old, "status"), a->status) &&
        sw_streq(sw_json_str(old, "", "spec", "acceleratorType", NULL), "nvidia-mig")) {
        over(a, NULL);
        return;
    }
    SW_AUTO_JSON *body = make_object(a, NULL);
    a->request = sw_kube_apply(
        a->p->kube, &sw_kind_accelerator, a->p->opts.ns, a->p->opts.node, body,
        &(struct sw_request_opts){ .field_manager = "slipway-device-plugin", .force = true },
        on_object_written, a);
}

static void read_object(struct dp_accelerator *a)
{
    a->request = sw_kube_get(a->p->kube, &sw_kind_accelerator, a->p->opts.ns, a->p->opts.node, NULL,
                             on_read, a);
}

static void on_node(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_accelerator *a = arg;
    if (answer->code == SW_UNAVAILABLE) {
        over(a, answer);
        return;
    }
    if (answer->code < 0)
        sw_log(SW_LOG_WARN, "the NodeAccelerator has no owner", "error", sw_err_text(answer->err),
               NULL);
    a->node_uid = sw_strdup(answer->code == 0 ? sw_obj_uid(answer->object) : "");
    read_object(a);
}

static void on_again(void *arg)
{
    static const char *const fields[] = { "metadata.uid", NULL };
    struct dp_accelerator *a = arg;
    if (a->request)
        return;
    if (a->node_uid)
        read_object(a);
    else
        a->request = sw_kube_get(a->p->kube, &sw_kind_node, NULL, a->p->opts.node,
                                 &(struct sw_request_opts){ .fields = fields }, on_node, a);
}

void dp_accelerator_publish(struct dp_accelerator *a)
{
    if (!a || (!a->p->driver && !a->p->no_gpu)) /* the GPUs have not been looked for yet */
        return;
    if (a->p->face == DP_FACE_UNKNOWN)
        return;
    a->dirty = true;
    if (!a->request)
        sw_timer_set(a->again, 0);
}

struct dp_accelerator *dp_accelerator_new(struct sw_device_plugin *p)
{
    struct dp_accelerator *a = sw_zalloc(1, sizeof *a);
    a->p = p;
    a->again = sw_timer_new(p->loop, on_again, a);
    return a;
}

void dp_accelerator_free(struct dp_accelerator *a)
{
    if (!a)
        return;
    sw_kube_cancel(a->request);
    sw_timer_free(a->again);
    (void)json_object_put(a->status);
    free(a->node_uid);
    free(a);
}
