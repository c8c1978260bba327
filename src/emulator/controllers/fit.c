#include "emulator/controllers/fit.h"

#include <stdlib.h>

void sw_fit_init(struct sw_fit *fit, json_object *pod_spec)
{
    *fit = (struct sw_fit){ 0 };
    if (sw_selector_from_map(sw_json_get(pod_spec, "nodeSelector"), &fit->node_selector, NULL) < 0)
        fit->node_selector.nothing = true;
    fit->tolerations = json_object_get(sw_json_get(pod_spec, "tolerations"));
    sw_node_selector_init(&fit->affinity,
                          sw_json_find(pod_spec, "affinity", "nodeAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution", NULL));
    if (fit->affinity.n_terms != 1 || fit->affinity.terms[0].fields.n_reqs != 1)
        return;
    const struct sw_requirement *r = &fit->affinity.terms[0].fields.reqs[0];
    if (r->op == SW_SEL_IN && r->n_values == 1)
        fit->only_node = sw_strdup(r->values[0]);
}

void sw_fit_done(struct sw_fit *fit)
{
    sw_selector_done(&fit->node_selector);
    sw_node_selector_done(&fit->affinity);
    free(fit->only_node);
    json_object_put(fit->tolerations);
    *fit = (struct sw_fit){ 0 };
}

bool sw_fit_affinity(const struct sw_fit *fit, json_object *node)
{
    return sw_selector_matches_object(&fit->node_selector, node) &&
           sw_node_selector_matches(&fit->affinity, node);
}

bool sw_toleration_fits(json_object *toleration, json_object *taint)
{
    return sw_toleration_tolerates(toleration, sw_json_str(taint, "", "key", NULL),
                                   sw_json_str(taint, "", "value", NULL),
                                   sw_json_str(taint, "", "effect", NULL));
}

bool sw_fit_tolerates(json_object *tolerations, json_object *taint)
{
    for (size_t i = 0; i < sw_json_len(tolerations); i++)
        if (sw_toleration_fits(sw_json_at(tolerations, i), taint))
            return true;
    return false;
}

json_object *sw_fit_taint(json_object *node, json_object *tolerations, unsigned effects)
{
    json_object *taints = sw_json_find(node, "spec", "taints", NULL);
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        json_object *taint = sw_json_at(taints, i);
        const char *effect = sw_json_str(taint, "", "effect", NULL);
        bool concerned = ((effects & SW_NO_SCHEDULE) && sw_streq(effect, "NoSchedule")) ||
                         ((effects & SW_NO_EXECUTE) && sw_streq(effect, "NoExecute"));
        if (concerned && !sw_fit_tolerates(tolerations, taint))
            return taint;
    }
    return NULL;
}
