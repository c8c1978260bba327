#include "engine/stay.h"

#include "base/base.h"
#include "data/data.h"
#include "engine/roster.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

void sw_stay_value(const char *group, char out[17])
{
    (void)snprintf(out, 17, "%016llx", (unsigned long long)sw_fnv64a(group, strlen(group)));
}

bool sw_is_feature_label(const char *key)
{
    return sw_starts_with(key, "feature.node.kubernetes.io/");
}

static bool needs_stay(struct json_object *term)
{
    struct json_object *list = sw_json_get(term, "matchExpressions");
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_starts_with(sw_json_str(sw_json_at(list, i), "", "key", NULL), SW_STAY_LABEL))
            return true;
    return false;
}

bool sw_stay_remove(struct json_object *pod_spec)
{
    struct json_object *terms = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, "nodeSelectorTerms",
                                             NULL);
    bool any = false;
    for (size_t i = sw_json_len(terms); i-- > 0;)
        if (needs_stay(sw_json_at(terms, i))) {
            (void)json_object_array_del_idx(terms, i, 1);
            any = true;
        }
    return any;
}

bool sw_roster_keeps(const struct sw_roster *roster, uint32_t node, struct json_object *selector,
                     const char *key)
{
    if (sw_roster_matches(roster, node, selector))
        return true;
    if (!sw_roster_name(roster, node) || !sw_roster_label(roster, node, key))
        return false;
    json_object_object_foreach(selector, asked, value)
    {
        const char *found = sw_roster_label(roster, node, asked);
        if (found ? !sw_streq(found, json_object_get_string(value)) : !sw_is_feature_label(asked))
            return false;
    }
    return true;
}
