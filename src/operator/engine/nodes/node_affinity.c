/* Which nodes are meant, and which take a pod: Kubernetes' rules over the roster's labels. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/base.h"
#include "operator/engine/nodes/node_set.h"

static struct json_object *member(struct json_object *map, const char *key)
{
    struct json_object *value = NULL;
    if (json_object_is_type(map, json_type_object))
        (void)json_object_object_get_ex(map, key, &value);
    return value;
}

static const char *text(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static size_t length(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

bool sw_node_set_matches(const struct sw_node_set *roster, uint32_t node,
                         struct json_object *selector)
{
    if (!sw_node_set_name(roster, node))
        return false;
    if (!json_object_is_type(selector, json_type_object))
        return true;
    json_object_object_foreach(
        selector, key,
        value) if (!sw_streq(sw_node_set_label(roster, node, key), text(value))) return false;
    return true;
}

/* ---- taints ------------------------------------------------------------------------------------
 */

static bool tolerates(struct json_object *toleration, const struct sw_node_set_taint *taint)
{
    const char *effect = text(member(toleration, "effect"));
    const char *key = text(member(toleration, "key"));
    bool exists = sw_streq(text(member(toleration, "operator")), "Exists");
    if (*effect && !sw_streq(effect, taint->effect))
        return false;
    if (!*key)
        return exists; /* no key: everything, and only with Exists */
    if (!sw_streq(key, taint->key))
        return false;
    return exists || sw_streq(text(member(toleration, "value")), taint->value);
}

static bool tolerated(struct json_object *tolerations, const struct sw_node_set_taint *taint)
{
    for (size_t i = 0; i < length(tolerations); i++)
        if (tolerates(json_object_array_get_idx(tolerations, i), taint))
            return true;
    return false;
}

bool sw_node_set_is_tainted(const struct sw_node_set *roster, uint32_t node,
                            struct json_object *tolerations)
{
    for (size_t i = 0; i < sw_node_set_n_taints(roster, node); i++) {
        struct sw_node_set_taint t = sw_node_set_taint(roster, node, i);
        if (sw_streq(t.effect, "PreferNoSchedule") || sw_starts_with(t.key, "node.kubernetes.io/"))
            continue;
        if (!tolerated(tolerations, &t))
            return true;
    }
    return false;
}

/* ---- node affinity -----------------------------------------------------------------------------
 */

static bool contains(struct json_object *values, const char *found)
{
    for (size_t i = 0; i < length(values); i++)
        if (sw_streq(text(json_object_array_get_idx(values, i)), found))
            return true;
    return false;
}

/* Gt and Lt compare integers; a label or a value that is none matches nothing. */
static bool compares(struct json_object *values, const char *found, bool greater)
{
    char *end_found, *end_limit;
    const char *limit = text(json_object_array_get_idx(values, 0));
    long long a = strtoll(found, &end_found, 10), b = strtoll(limit, &end_limit, 10);
    if (end_found == found || *end_found || end_limit == limit || *end_limit)
        return false;
    return greater ? a > b : a < b;
}

static bool expression_matches(struct json_object *expression, const char *found)
{
    const char *op = text(member(expression, "operator"));
    struct json_object *values = member(expression, "values");
    if (sw_streq(op, "In"))
        return found && contains(values, found);
    if (sw_streq(op, "NotIn"))
        return !found || !contains(values, found);
    if (sw_streq(op, "Exists"))
        return found != NULL;
    if (sw_streq(op, "DoesNotExist"))
        return found == NULL;
    if (sw_streq(op, "Gt") || sw_streq(op, "Lt"))
        return found && length(values) == 1 && compares(values, found, *op == 'G');
    return false;
}

static bool term_matches(const struct sw_node_set *roster, uint32_t node, struct json_object *term)
{
    struct json_object *labels = member(term, "matchExpressions");
    struct json_object *fields = member(term, "matchFields");
    if (length(labels) + length(fields) == 0)
        return false; /* an empty term matches no node */
    for (size_t i = 0; i < length(labels); i++) {
        struct json_object *e = json_object_array_get_idx(labels, i);
        if (!expression_matches(e, sw_node_set_label(roster, node, text(member(e, "key")))))
            return false;
    }
    for (size_t i = 0; i < length(fields); i++) {
        struct json_object *e = json_object_array_get_idx(fields, i);
        bool is_name = sw_streq(text(member(e, "key")), "metadata.name");
        if (!is_name || !expression_matches(e, sw_node_set_name(roster, node)))
            return false;
    }
    return true;
}

static bool affinity_matches(const struct sw_node_set *roster, uint32_t node,
                             struct json_object *pod_spec)
{
    struct json_object *required = member(member(member(pod_spec, "affinity"), "nodeAffinity"),
                                          "requiredDuringSchedulingIgnoredDuringExecution");
    if (!required)
        return true;
    struct json_object *terms = member(required, "nodeSelectorTerms");
    for (size_t i = 0; i < length(terms); i++)
        if (term_matches(roster, node, json_object_array_get_idx(terms, i)))
            return true;
    return false;
}

bool sw_node_affinity_takes_pod(const struct sw_node_set *roster, uint32_t node,
                                struct json_object *pod_spec)
{
    return sw_node_set_matches(roster, node, member(pod_spec, "nodeSelector")) &&
           affinity_matches(roster, node, pod_spec) &&
           !sw_node_set_is_tainted(roster, node, member(pod_spec, "tolerations"));
}
