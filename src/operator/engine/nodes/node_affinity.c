/* Which nodes a selector matches, and which take a pod: Kubernetes' rules over the set's labels.
 * data/selector has the same rules for documents; here no node has one. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/path.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/nodes/node_set.h"

static const char *text(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

bool sw_node_set_matches(const struct sw_node_set *set, uint32_t node, struct json_object *selector)
{
    if (!sw_node_set_name(set, node))
        return false;
    if (!json_object_is_type(selector, json_type_object))
        return true;
    json_object_object_foreach(
        selector, key,
        value) if (!sw_streq(sw_node_set_label(set, node, key), text(value))) return false;
    return true;
}

/* ---- taints ------------------------------------------------------------------------------------
 */

static bool tolerates(struct json_object *toleration, const struct sw_taint *taint)
{
    const char *effect = text(sw_json_get(toleration, "effect"));
    const char *key = text(sw_json_get(toleration, "key"));
    bool exists = sw_streq(text(sw_json_get(toleration, "operator")), "Exists");
    if (*effect && !sw_streq(effect, taint->effect))
        return false;
    if (!*key)
        return exists; /* without key: all taints, and only with Exists */
    if (!sw_streq(key, taint->key))
        return false;
    return exists || sw_streq(text(sw_json_get(toleration, "value")), taint->value);
}

bool sw_node_set_is_tainted(const struct sw_node_set *set, uint32_t node,
                            struct json_object *tolerations)
{
    for (size_t i = 0; i < sw_node_set_n_taints(set, node); i++) {
        struct sw_taint t = sw_node_set_taint(set, node, i);
        if (sw_streq(t.effect, "PreferNoSchedule") || sw_starts_with(t.key, "node.kubernetes.io/"))
            continue;
        size_t k = 0;
        while (k < sw_json_len(tolerations) && !tolerates(sw_json_at(tolerations, k), &t))
            k++;
        if (k == sw_json_len(tolerations))
            return true;
    }
    return false;
}

/* ---- node affinity -----------------------------------------------------------------------------
 */

/* Gt and Lt compare integers; a label or a value that is no integer matches nothing. */
static bool compares(struct json_object *values, const char *found, bool greater)
{
    char *end_found, *end_limit;
    const char *limit = text(sw_json_at(values, 0));
    long long a = strtoll(found, &end_found, 10), b = strtoll(limit, &end_limit, 10);
    if (end_found == found || *end_found || end_limit == limit || *end_limit)
        return false;
    return greater ? a > b : a < b;
}

static bool expression_matches(struct json_object *expression, const char *found)
{
    const char *op = text(sw_json_get(expression, "operator"));
    struct json_object *values = sw_json_get(expression, "values");
    if (sw_streq(op, "In"))
        return found && sw_json_has_text(values, found);
    if (sw_streq(op, "NotIn"))
        return !found || !sw_json_has_text(values, found);
    if (sw_streq(op, "Exists"))
        return found != NULL;
    if (sw_streq(op, "DoesNotExist"))
        return found == NULL;
    if (sw_streq(op, "Gt") || sw_streq(op, "Lt"))
        return found && sw_json_len(values) == 1 && compares(values, found, *op == 'G');
    return false;
}

static bool term_matches(const struct sw_node_set *set, uint32_t node, struct json_object *term)
{
    struct json_object *labels = sw_json_get(term, "matchExpressions");
    struct json_object *fields = sw_json_get(term, "matchFields");
    if (sw_json_len(labels) + sw_json_len(fields) == 0)
        return false; /* an empty term matches no node */
    for (size_t i = 0; i < sw_json_len(labels); i++) {
        struct json_object *e = sw_json_at(labels, i);
        if (!expression_matches(e, sw_node_set_label(set, node, text(sw_json_get(e, "key")))))
            return false;
    }
    for (size_t i = 0; i < sw_json_len(fields); i++) {
        struct json_object *e = sw_json_at(fields, i);
        bool is_name = sw_streq(text(sw_json_get(e, "key")), "metadata.name");
        if (!is_name || !expression_matches(e, sw_node_set_name(set, node)))
            return false;
    }
    return true;
}

bool sw_node_affinity_takes_pod(const struct sw_node_set *set, uint32_t node,
                                struct json_object *pod_spec)
{
    struct json_object *required = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, NULL);
    struct json_object *terms = sw_json_get(required, "nodeSelectorTerms");
    bool matches = !required;
    for (size_t i = 0; !matches && i < sw_json_len(terms); i++)
        matches = term_matches(set, node, sw_json_at(terms, i));
    return matches && sw_node_set_matches(set, node, sw_json_get(pod_spec, "nodeSelector")) &&
           !sw_node_set_is_tainted(set, node, sw_json_get(pod_spec, "tolerations"));
}
