#include "slicing/deviceplugin/claim_status.h"

#include "data/data.h"
#include "slicing/deviceplugin/claim_views.h"
#include "slicing/deviceplugin/dra_node.h"

enum { RETRIES = 3 };

static struct json_object *device_status(const struct sw_device_plugin *p, const struct dp_grant *g,
                                         const struct dp_device *d)
{
    const struct dp_slice *slice = d->slice == DP_NO_SLICE ? NULL : &g->slices[d->slice];
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *pool = sw_dra_pool(p->opts.node);
    sw_json_set_str(doc, SW_DRA_DRIVER, "driver", NULL);
    sw_json_set_str(doc, pool, "pool", NULL);
    sw_json_set_str(doc, d->name, "device", NULL);
    sw_condition_add(sw_json_need_list(doc, "conditions", NULL), NULL,
                     &(struct sw_condition){ .type = "Ready",
                                             .is = true,
                                             .reason = "Prepared",
                                             .message = slice ? "The slice is made"
                                                              : "The GPU is given out as it is",
                                             .at_ms = sw_loop_wall_ms(p->loop) });
    sw_json_set_str(doc, slice ? slice->uuid : d->gpu, "data", "uuid", NULL);
    if (!slice)
        return doc;
    sw_json_set_str(doc, d->gpu, "data", "parentUUID", NULL);
    sw_json_set_str(doc, slice->profile, "data", "profile", NULL);
    sw_json_set(doc, json_object_new_int(slice->place.start), "data", "placementStart", NULL);
    sw_json_set(doc, json_object_new_int(slice->place.size), "data", "placementSize", NULL);
    sw_json_set(doc, json_object_new_int64(slice->gi), "data", "gpuInstanceID", NULL);
    sw_json_set(doc, json_object_new_int64(slice->ci), "data", "computeInstanceID", NULL);
    return doc;
}

static bool is_named_before(const struct dp_grant *g, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sw_streq(g->devices[k].name, g->devices[i].name))
            return true;
    return false;
}

static void on_written(const struct sw_kube_answer *answer, void *arg)
{
    if (answer->code == 0)
        dp_views_show(((struct sw_device_plugin *)arg)->views, answer->object);
    else if (answer->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "status.devices of a ResourceClaim not written", "error",
               sw_err_text(answer->err), NULL);
}

void dp_claim_status_write(struct sw_device_plugin *p, const struct dp_grant *g)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, dp_kind_resource_claim.api_version, "apiVersion", NULL);
    sw_json_set_str(doc, dp_kind_resource_claim.kind, "kind", NULL);
    sw_json_set_str(doc, g->claim.name, "metadata", "name", NULL);
    sw_json_set_str(doc, g->claim.ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, g->claim.uid, "metadata", "uid", NULL); /* no other one of this name */
    struct json_object *devices = sw_json_need_list(doc, "status", "devices", NULL);
    for (size_t i = 0; i < g->n_devices; i++)
        if (!is_named_before(g, i))
            json_object_array_add(devices, device_status(p, g, &g->devices[i]));
    (void)sw_kube_apply(
        p->kube, &dp_kind_resource_claim, g->claim.ns, g->claim.name, doc,
        &(struct sw_request_opts){ .subresource = "status", .force = true, .retries = RETRIES },
        on_written, p);
}
