/* Which pods of a node are evicted before its driver is replaced. */
#include <json-c/json.h>

#include "data/data.h"
#include "data/selector/selector.h"
#include "operator/engine/upgrade/upgrade.h"

const char *sw_upgrade_eviction(struct json_object *pod, const struct sw_upgrade_policy *policy,
                                const char *self_ns, const char *self)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    struct json_object *owner = sw_obj_controller(pod),
                       *volumes = sw_json_find(pod, "spec", "volumes", NULL);
    struct sw_selector selector = { 0 };
    bool selected = !*policy->pod_selector ||
                    (sw_selector_parse(policy->pod_selector, &selector, NULL) == 0 &&
                     sw_selector_matches_object(&selector, pod));
    sw_selector_done(&selector);
    bool ended = sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
    bool is_self = self && sw_streq(sw_obj_name(pod), self) &&
                   sw_streq(sw_obj_namespace(pod), self_ns);
    if (ended || is_self || sw_obj_annotation(pod, "kubernetes.io/config.mirror") ||
        sw_streq(sw_json_str(owner, "", "kind", NULL), "DaemonSet") || !selected)
        return NULL;
    if (!owner && policy->force && policy->force_forbidden)
        return "no controller would make it again, and the cluster's admins allow no force "
               "(--nodes-force)";
    if (!owner && !policy->force)
        return "no controller would make it again (drain.force)";
    for (size_t i = 0; !policy->empty_dir && i < sw_json_len(volumes); i++)
        if (sw_json_get(sw_json_at(volumes, i), "emptyDir"))
            return "what is in its emptyDir would be lost (drain.deleteEmptyDir)";
    return "";
}
