#include "slicing/deviceplugin/nvidia_slices.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/dra_node.h"

#define NVIDIA_DRIVER "gpu.nvidia.com"

enum { AGAIN_MS = 5000 };

struct dp_nvidia_slices {
    struct sw_device_plugin *p;
    struct sw_kube_watch *watch;
    struct sw_kube_request *request;
    struct sw_timer *again;
    bool none; /* ResourceSlices are not served */
    bool synced;
    struct json_object *found; /* {ResourceSlice: [UUIDs and PCI addresses]} */
    uint64_t told;             /* hash: what was told last */
};

/* ---- what is there -----------------------------------------------------------------------------
 */

static void add(struct json_object *to, struct json_object *device, const char *attribute)
{
    const char *value = sw_json_str(device, "", "attributes", attribute, "string", NULL);
    if (*value)
        (void)json_object_array_add(to, json_object_new_string(value));
}

static void note(struct dp_nvidia_slices *n, struct json_object *slice)
{
    struct json_object *gpus = json_object_new_array();
    struct json_object *devices = sw_json_find(slice, "spec", "devices", NULL);
    for (size_t i = 0; i < sw_json_len(devices); i++) {
        struct json_object *device = sw_json_at(devices, i);
        add(gpus, device, "uuid");
        add(gpus, device, "parentUUID");
        add(gpus, device, "resource.kubernetes.io/pciBusID");
    }
    json_object_object_add(n->found, sw_obj_name(slice), gpus);
}

static bool has(const struct dp_nvidia_slices *n, const char *text)
{
    if (!text)
        return false;
    json_object_object_foreach(n->found, name, gpus)
    {
        (void)name;
        for (size_t i = 0; i < sw_json_len(gpus); i++)
            if (sw_streq(json_object_get_string(sw_json_at(gpus, i)), text))
                return true;
    }
    return false;
}

bool dp_nvidia_slices_have(const struct dp_nvidia_slices *n, const struct dp_gpu *gpu)
{
    return n && (has(n, gpu->uuid) || has(n, gpu->pci_bus_id));
}

bool dp_nvidia_slices_are_known(const struct dp_nvidia_slices *n)
{
    return n->synced || n->none;
}

/* Tell of GPUs that are left out, or not any more. */
static void tell(struct dp_nvidia_slices *n)
{
    const struct dp_driver *driver = n->p->driver;
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; driver && i < driver->n_gpus; i++)
        if (dp_nvidia_slices_have(n, &driver->gpus[i]))
            sw_append(&text, "%s%s", *text ? " " : "", driver->gpus[i].uuid);
    const uint64_t now = *text ? sw_fnv64a(text, strlen(text)) : 0;
    if (now == n->told)
        return;
    n->told = now;
    if (*text)
        sw_log(SW_LOG_WARN, "GPUs left to another driver, which publishes them", "driver",
               NVIDIA_DRIVER, "gpus", text, NULL);
    else
        sw_log(SW_LOG_INFO, "no other driver publishes the GPUs any more", "driver", NVIDIA_DRIVER,
               NULL);
}

static void on_slice(const struct sw_watch_event *e, void *arg)
{
    struct dp_nvidia_slices *n = arg;
    if (e->type == SW_WATCH_ADDED || e->type == SW_WATCH_MODIFIED)
        note(n, e->object);
    else if (e->type == SW_WATCH_DELETED)
        json_object_object_del(n->found, e->name);
    else if (e->type == SW_WATCH_SYNCED)
        n->synced = true;
    else
        sw_log(SW_LOG_WARN, "cannot watch", "kind", e->kind->kind, "error", sw_err_text(e->err),
               NULL);
    if (n->synced)
        n->p->changed(n->p);
}

/* ---- whether there can be any -------------------------------------------------------------------
 */

static void open_watch(struct dp_nvidia_slices *n)
{
    static const char *const fields[] = { "spec.devices", NULL };
    SW_AUTO_CHARS *theirs = sw_printf("spec.nodeName=%s,spec.driver=" NVIDIA_DRIVER,
                                      n->p->opts.node);
    n->watch = sw_kube_watch_open(
        n->p->kube, &dp_kind_resource_slice,
        &(struct sw_watch_opts){ .field_selector = theirs, .fields = fields }, on_slice, n);
}

static void on_kind(int code, const struct sw_kind *kind SW_UNUSED,
                    const struct sw_err *err SW_UNUSED, void *arg)
{
    struct dp_nvidia_slices *n = arg;
    n->request = NULL;
    n->none = code == SW_NOTFOUND || code == SW_FORBIDDEN;
    if (code == 0)
        open_watch(n);
    else if (!n->none)
        sw_timer_set(n->again, AGAIN_MS);
}

static void on_again(void *arg)
{
    dp_nvidia_slices_refresh(arg);
}

void dp_nvidia_slices_refresh(struct dp_nvidia_slices *n)
{
    if (!n || n->p->face == DP_FACE_UNKNOWN)
        return;
    tell(n);
    if (n->watch || n->request)
        return;
    if (n->p->face == DP_FACE_DRA)
        open_watch(n);
    else if (!n->none)
        n->request = sw_kube_kind(n->p->kube, dp_kind_resource_slice.api_version,
                                  dp_kind_resource_slice.kind, on_kind, n);
}

struct dp_nvidia_slices *dp_nvidia_slices_new(struct sw_device_plugin *p)
{
    struct dp_nvidia_slices *n = sw_zalloc(1, sizeof *n);
    n->p = p;
    n->again = sw_timer_new(p->loop, on_again, n);
    n->found = json_object_new_object();
    return n;
}

void dp_nvidia_slices_free(struct dp_nvidia_slices *n)
{
    if (!n)
        return;
    sw_kube_watch_close(n->watch);
    sw_kube_cancel(n->request);
    sw_timer_free(n->again);
    (void)json_object_put(n->found);
    free(n);
}
