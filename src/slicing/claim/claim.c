#include "slicing/claim/claim.h"

#include <string.h>

#include "data/data.h"

#define KIND(name, names)                                                                          \
    {                                                                                              \
        .group = SW_CLAIM_GROUP, .version = "v1alpha1", .api_version = SW_CLAIM_API, .kind = name, \
        .plural = names, .namespaced = true, .has_status = true                                    \
    }
const struct sw_kind sw_kind_claim = KIND("AllocationClaim", "allocationclaims");
const struct sw_kind sw_kind_accelerator = KIND("NodeAccelerator", "nodeaccelerators");

static const char *const states[] = { "staged", "created", "processing", "inUse", "orphaned" };
_Static_assert(SW_COUNT(states) == SW_CLAIM_N_STATES, "a text each");

const char *sw_claim_state_text(enum sw_claim_state state)
{
    return states[state];
}

int sw_claim_read(struct json_object *doc, struct sw_claim *out, struct sw_err *err)
{
    struct json_object *spec = sw_json_get(doc, "spec");
    const char *profile = sw_json_str(spec, "", "profile", NULL);
    const char *state = sw_json_str(doc, "", "status", "state", NULL);
    const int64_t start = sw_json_int(spec, -1, "migPlacement", "start", NULL);
    const int64_t size = sw_json_int(spec, -1, "migPlacement", "size", NULL);
    if (sw_obj_label(doc, SW_CLAIM_VIEW))
        return sw_err_set(err, SW_NOTFOUND, "it only shows what a ResourceClaim has");
    struct sw_claim c = {
        .pod_ns = sw_json_str(spec, "", "podRef", "namespace", NULL),
        .pod_name = sw_json_str(spec, "", "podRef", "name", NULL),
        .pod_uid = sw_json_str(spec, "", "podRef", "uid", NULL),
        .node = sw_json_str(spec, "", "nodename", NULL),
        .gpu = sw_json_str(spec, "", "gpuUUID", NULL),
        .place = { (uint8_t)start, (uint8_t)size },
    };
    for (size_t i = 0; i < SW_COUNT(states); i++)
        if (sw_streq(state, states[i]))
            c.state = (enum sw_claim_state)i;
    if (!*c.pod_uid || !*c.node || !*c.gpu)
        return sw_err_set(err, SW_INVALID, "spec.%s is missing",
                          !*c.pod_uid ? "podRef.uid"
                          : !*c.node  ? "nodename"
                                      : "gpuUUID");
    if (start < 0 || size <= 0 || size > SW_MIG_MAX_SLICES || start > SW_MIG_MAX_SLICES - size)
        return sw_err_set(err, SW_INVALID,
                          "spec.migPlacement: start %lld, size %lld: expected slices 0 to %d",
                          (long long)start, (long long)size, SW_MIG_MAX_SLICES - 1);
    if (sw_mig_profile_parse(profile, strlen(profile), &c.profile, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "spec.profile");
    *out = c;
    return 0;
}

struct json_object *sw_claim_status(enum sw_claim_state state, const char *message, int64_t wall_ms)
{
    struct json_object *doc = json_object_new_object();
    const struct sw_condition condition = {
        .type = "State", .is = true, .reason = states[state], .message = message, .at_ms = wall_ms
    };
    sw_json_set_str(doc, states[state], "status", "state", NULL);
    sw_condition_add(sw_json_need_list(doc, "status", "conditions", NULL), NULL, &condition);
    return doc;
}
