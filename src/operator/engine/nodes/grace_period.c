#include "operator/engine/nodes/grace_period.h"

#include "base/base.h"
#include "data/data.h"
#include "operator/engine/nodes/node_set.h"

#include <json-c/json.h>
#include <string.h>

char *sw_grace_period_key(const char *resource, struct json_object *pod_spec)
{
    SW_AUTO_JSON *asked = json_object_new_array();
    struct json_object *selector = sw_json_get(pod_spec, "nodeSelector");
    struct json_object *required = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, NULL);
    size_t len;
    (void)json_object_array_add(asked, json_object_new_string(resource));
    (void)json_object_array_add(asked, json_object_get(selector));
    (void)json_object_array_add(asked, json_object_get(required));
    SW_AUTO_CHARS *text = sw_json_text(asked, SW_JSON_SORTED, &len);
    return sw_printf(SW_GRACE_PERIOD_LABEL "%016llx", (unsigned long long)sw_fnv64a(text, len));
}

bool sw_is_feature_label(const char *key)
{
    return sw_starts_with(key, "feature.node.kubernetes.io/");
}

struct search {
    const char *resource;
    bool found;
};

static void find_grace_label(const char *key, const char *value, void *arg)
{
    struct search *s = arg;
    s->found = s->found ||
               (sw_starts_with(key, SW_GRACE_PERIOD_LABEL) && sw_streq(value, s->resource));
}

bool sw_node_set_keeps(const struct sw_node_set *set, uint32_t node, struct json_object *selector,
                       const char *resource)
{
    if (sw_node_set_matches(set, node, selector))
        return true;
    if (!sw_node_set_name(set, node))
        return false;
    json_object_object_foreach(selector, asked, value)
    {
        const char *found = sw_node_set_label(set, node, asked);
        if (found ? !sw_streq(found, json_object_get_string(value)) : !sw_is_feature_label(asked))
            return false;
    }
    struct search s = { .resource = resource };
    sw_node_set_each_label(set, node, find_grace_label, &s);
    return s.found;
}
