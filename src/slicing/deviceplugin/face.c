#include "slicing/deviceplugin/face.h"

#include <stdlib.h>

#include "data/data.h"
#include "slicing/deviceplugin/dra_node.h"

enum { ASK_AGAIN_MS = 5000, CHOOSE_AGAIN_MS = 5 * 60 * 1000 };

struct dp_face_choice {
    struct sw_device_plugin *p;
    struct sw_kube_request *request;
    struct sw_timer *again;
    char *trouble; /* logged last */
};

static void set(struct dp_face_choice *c, enum dp_face face, const char *reason)
{
    struct sw_device_plugin *p = c->p;
    const bool other = p->face != face;
    if (other || !sw_streq(p->face_reason, reason))
        sw_log(SW_LOG_INFO, "interface", "api", face == DP_FACE_DRA ? "dra" : "deviceplugin",
               "reason", reason, NULL);
    sw_text_set(&p->face_reason, reason);
    p->face = face;
    if (p->opts.api == SW_DEVICE_API_AUTO)
        sw_timer_set(c->again, CHOOSE_AGAIN_MS);
    if (other)
        p->changed(p);
}

/* The API server has not said: what is chosen stays. */
static void wait(struct dp_face_choice *c, const char *why)
{
    if (!sw_streq(c->trouble, why))
        sw_log(SW_LOG_WARN, "the API server does not say what it serves", "error", why, NULL);
    sw_text_set(&c->trouble, why);
    sw_timer_set(c->again, ASK_AGAIN_MS);
}

/* Whether the server would keep the field that @key of spec is. @return false: answered */
static bool keeps(struct dp_face_choice *c, const struct sw_kube_answer *answer, const char *key,
                  const char *otherwise)
{
    c->request = NULL;
    if (answer->code == SW_UNAVAILABLE) {
        wait(c, sw_err_text(answer->err));
        return false;
    }
    if (answer->code == 0 && sw_json_find(answer->object, "spec", key, NULL))
        return true;
    set(c, DP_FACE_DEVICE_PLUGIN, answer->code < 0 ? sw_err_text(answer->err) : otherwise);
    return false;
}

static void on_class(const struct sw_kube_answer *answer, void *arg)
{
    if (keeps(arg, answer, "extendedResourceName",
              "DeviceClasses have no extendedResourceName (Kubernetes 1.36 and newer have)"))
        set(arg, DP_FACE_DRA,
            "resource.k8s.io/v1 has sharedCounters in ResourceSlices and extendedResourceName in "
            "DeviceClasses");
}

static void on_slice(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_face_choice *c = arg;
    if (!keeps(c, answer, "sharedCounters",
               "ResourceSlices have no sharedCounters (Kubernetes 1.36 and newer have)"))
        return;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, dp_kind_device_class.api_version, "apiVersion", NULL);
    sw_json_set_str(doc, dp_kind_device_class.kind, "kind", NULL);
    sw_json_set_str(doc, "api-check." SW_DRA_CLASS_MIG, "metadata", "name", NULL);
    sw_json_set_str(doc, SW_MIG_NVIDIA_PREFIX "1g.5gb", "spec", "extendedResourceName", NULL);
    c->request = sw_kube_create(c->p->kube, &dp_kind_device_class, NULL, NULL, doc,
                                &(struct sw_request_opts){ .dry_run = true }, on_class, c);
}

static void on_kind(int code, const struct sw_kind *kind SW_UNUSED, const struct sw_err *err,
                    void *arg)
{
    struct dp_face_choice *c = arg;
    c->request = NULL;
    if (code == SW_NOTFOUND) {
        set(c, DP_FACE_DEVICE_PLUGIN, "resource.k8s.io/v1 is not served");
        return;
    }
    if (code < 0) {
        wait(c, sw_err_text(err));
        return;
    }
    SW_AUTO_CHARS *pool = sw_dra_pool(c->p->opts.node);
    SW_AUTO_JSON *doc = json_object_new_object(), *counters = json_object_new_object();
    sw_json_set_str(doc, dp_kind_resource_slice.api_version, "apiVersion", NULL);
    sw_json_set_str(doc, dp_kind_resource_slice.kind, "kind", NULL);
    sw_json_set_str(doc, "api-check." SW_DRA_DRIVER, "metadata", "name", NULL);
    sw_json_set_str(doc, SW_DRA_DRIVER, "spec", "driver", NULL);
    sw_json_set_str(doc, c->p->opts.node, "spec", "nodeName", NULL);
    sw_json_set_str(doc, pool, "spec", "pool", "name", NULL);
    sw_json_set(doc, json_object_new_int(1), "spec", "pool", "generation", NULL);
    sw_json_set(doc, json_object_new_int(1), "spec", "pool", "resourceSliceCount", NULL);
    sw_json_set_str(counters, "gpu-0", "name", NULL);
    sw_json_set_str(counters, "1", "counters", "memory-0", "value", NULL);
    json_object_array_add(sw_json_need_list(doc, "spec", "sharedCounters", NULL),
                          json_object_get(counters));
    c->request = sw_kube_create(c->p->kube, &dp_kind_resource_slice, NULL, NULL, doc,
                                &(struct sw_request_opts){ .dry_run = true }, on_slice, c);
}

static void on_again(void *arg)
{
    struct dp_face_choice *c = arg;
    if (c->request)
        return;
    if (c->p->opts.api == SW_DEVICE_API_AUTO)
        c->request = sw_kube_kind(c->p->kube, dp_kind_resource_slice.api_version,
                                  dp_kind_resource_slice.kind, on_kind, c);
    else
        set(c, c->p->opts.api == SW_DEVICE_API_DRA ? DP_FACE_DRA : DP_FACE_DEVICE_PLUGIN, "--api");
}

struct dp_face_choice *dp_face_choice_new(struct sw_device_plugin *p)
{
    struct dp_face_choice *c = sw_zalloc(1, sizeof *c);
    c->p = p;
    c->again = sw_timer_new(p->loop, on_again, c);
    sw_timer_set(c->again, 0);
    return c;
}

void dp_face_choice_free(struct dp_face_choice *c)
{
    if (!c)
        return;
    sw_kube_cancel(c->request);
    sw_timer_free(c->again);
    free(c->trouble);
    free(c);
}
