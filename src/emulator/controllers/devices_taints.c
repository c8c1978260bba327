/* Pods whose devices have a NoExecute taint that their claims do not tolerate are deleted. Source:
 * Kubernetes "Device taints and tolerations", the messages of its device taint eviction. */
#include "emulator/controllers/devices_internal.h"

#include <string.h>

#include "data/selector/selector.h"
#include "data/text/time.h"

/* The device of a result, in the newest generation of its pool; borrowed, NULL: none. */
static json_object *device_of(const struct sw_store_list *slices, json_object *result)
{
    json_object *found = NULL;
    int64_t newest = -1;
    for (size_t i = 0; i < slices->n; i++) {
        json_object *spec = sw_json_get(slices->items[i], "spec");
        const int64_t generation = sw_json_int(spec, 0, "pool", "generation", NULL);
        json_object *d = sw_json_find_by(sw_json_get(spec, "devices"), "name",
                                         sw_json_str(result, "", "device", NULL));
        if (!d || generation < newest ||
            !sw_streq(sw_json_str(spec, "", "driver", NULL),
                      sw_json_str(result, "?", "driver", NULL)) ||
            !sw_streq(sw_json_str(spec, "", "pool", "name", NULL),
                      sw_json_str(result, "?", "pool", NULL)))
            continue;
        found = d;
        newest = generation;
    }
    return found;
}

/* Whether the toleration is for the taint. */
static bool tolerates(json_object *toleration, json_object *taint)
{
    const char *op = sw_json_str(toleration, "Equal", "operator", NULL);
    return sw_toleration_tolerates(toleration, sw_json_str(taint, "", "key", NULL),
                                   sw_streq(op, "Exists") ? ""
                                                          : sw_json_str(taint, "", "value", NULL),
                                   sw_json_str(taint, "", "effect", NULL));
}

/* The time until the taint ends the use of a device with these tolerations; -1: it does not. */
static int64_t time_left(struct sw_ctl *ctl, json_object *taint, json_object *tolerations)
{
    SW_ERR(err);
    int64_t since_ms = 0, left_ms = 0;
    if (!sw_streq(sw_json_str(taint, "", "effect", NULL), "NoExecute"))
        return -1;
    if (sw_time_parse(sw_json_str(taint, "", "timeAdded", NULL), &since_ms, &err) < 0)
        since_ms = sw_ctl_now(ctl);
    for (size_t i = 0; i < sw_json_len(tolerations); i++) {
        json_object *t = sw_json_at(tolerations, i);
        if (!tolerates(t, taint))
            continue;
        if (!sw_json_get(t, "tolerationSeconds"))
            return -1;
        const int64_t end_ms = since_ms + 1000 * sw_json_int(t, 0, "tolerationSeconds", NULL);
        left_ms = end_ms > sw_ctl_now(ctl) ? end_ms - sw_ctl_now(ctl) : 0;
    }
    return left_ms;
}

static int mark(json_object *doc, void *arg)
{
    (void)sw_cond_set(sw_json_need_list(doc, "status", "conditions", NULL), "DisruptionTarget",
                      "True", "DeletionByDeviceTaintManager",
                      "Device Taint manager: deleting due to NoExecute taint", sw_ctl_now(arg));
    return 0;
}

static void evict(struct sw_ctl *ctl, json_object *claim)
{
    json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    for (size_t i = 0; i < sw_json_len(users); i++) {
        json_object *user = sw_json_at(users, i);
        json_object *pod = sw_store_get(ctl->store, ctl->kinds.pod, sw_obj_namespace(claim),
                                        sw_json_str(user, "", "name", NULL));
        SW_AUTO_JSON *held = json_object_get(pod);
        if (!pod || sw_doc_is_deleted(pod) || sw_doc_is_over(pod) ||
            !sw_streq(sw_obj_uid(pod), sw_json_str(user, "", "uid", NULL)))
            continue;
        sw_ctl_event(ctl, held, "Normal", "DeviceTaintManagerEviction", "Marking for deletion");
        (void)sw_ctl_modify(ctl, ctl->kinds.pod, held, "status", mark, ctl);
        (void)sw_ctl_delete(ctl, ctl->kinds.pod, held, false);
    }
}

void sw_devices_evict(struct sw_ctl *ctl)
{
    int64_t next_ms = -1;
    if (!ctl->kinds.claim)
        return;
    SW_STORE_LIST(slices);
    SW_STORE_LIST(claims);
    sw_store_list(ctl->store, ctl->kinds.slice, NULL, &slices);
    sw_store_list(ctl->store, ctl->kinds.claim, NULL, &claims);
    for (size_t i = 0; i < claims.n; i++) {
        json_object *results = sw_json_find(claims.items[i], "status", "allocation", "devices",
                                            "results", NULL);
        int64_t left_ms = -1;
        for (size_t k = 0; k < sw_json_len(results); k++) {
            json_object *r = sw_json_at(results, k);
            json_object *taints = sw_json_get(device_of(&slices, r), "taints");
            for (size_t t = 0; t < sw_json_len(taints); t++)
                left_ms = sw_ctl_sooner(
                    left_ms, time_left(ctl, sw_json_at(taints, t), sw_json_get(r, "tolerations")));
        }
        if (left_ms == 0)
            evict(ctl, claims.items[i]);
        else
            next_ms = sw_ctl_sooner(next_ms, left_ms);
    }
    if (next_ms > 0)
        sw_ctl_enqueue_in(ctl, SW_Q_DEVICE, NULL, "", next_ms);
}
