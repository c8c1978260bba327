/* Which pods run on a resource's nodes: taints on the nodes (the engine sets them), which only the
 * resource's own pods tolerate; and PriorityClasses, by which pods that need the nodes preempt
 * those that could run elsewhere. */
#include "operator/manifests/sharing.h"

#include <json-c/json.h>
#include <string.h>

#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/hooks_internal.h"

static bool is_effect(const char *effect, bool any)
{
    return sw_streq(effect, "NoSchedule") || sw_streq(effect, "PreferNoSchedule") ||
           sw_streq(effect, "NoExecute") || (any && !*effect);
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static int check_taint(struct json_object *list, size_t i, struct sw_err *err)
{
    struct json_object *taint = sw_json_at(list, i);
    const char *key = sw_json_str(taint, "", "key", NULL),
               *effect = sw_json_str(taint, "", "effect", NULL),
               *value = sw_json_str(taint, "", "value", NULL);
    const char *bad_key = *key ? sw_label_key_fault(key) : "it is empty",
               *bad_value = *value ? sw_label_value_fault(value) : NULL;
    if (bad_key)
        return sw_err_set(err, SW_INVALID, "spec.taints[%zu].key: '%s' is no taint's key: %s", i,
                          key, bad_key);
    if (sw_starts_with(key, "node.kubernetes.io/"))
        return sw_err_set(err, SW_INVALID, "spec.taints[%zu].key: '%s' is Kubernetes' own", i, key);
    if (bad_value)
        return sw_err_set(err, SW_INVALID, "spec.taints[%zu].value: '%s' is no taint's value: %s",
                          i, value, bad_value);
    if (!is_effect(effect, false))
        return sw_err_set(err, SW_INVALID,
                          "spec.taints[%zu].effect: '%s' is not one of NoSchedule, "
                          "PreferNoSchedule, NoExecute",
                          i, effect);
    for (size_t k = 0; k < i; k++)
        if (sw_streq(sw_json_str(sw_json_at(list, k), "", "key", NULL), key) &&
            sw_streq(sw_json_str(sw_json_at(list, k), "", "effect", NULL), effect))
            return sw_err_set(err, SW_INVALID, "spec.taints[%zu]: %s:%s is there twice", i, key,
                              effect);
    return 0;
}

/* @field: of the list */
static int check_toleration_of(const char *field, struct json_object *list, size_t i,
                               struct sw_err *err)
{
    struct json_object *t = sw_json_at(list, i);
    const char *key = sw_json_str(t, "", "key", NULL), *op = sw_json_str(t, "", "operator", NULL),
               *effect = sw_json_str(t, "", "effect", NULL);
    if (*op && !sw_streq(op, "Exists") && !sw_streq(op, "Equal"))
        return sw_err_set(err, SW_INVALID, "%s[%zu].operator: '%s' is neither Exists nor Equal",
                          field, i, op);
    if (!*key && !sw_streq(op, "Exists"))
        return sw_err_set(err, SW_INVALID, "%s[%zu]: without a key the operator must be Exists",
                          field, i);
    if (!is_effect(effect, true))
        return sw_err_set(err, SW_INVALID,
                          "%s[%zu].effect: '%s' is not one of NoSchedule, "
                          "PreferNoSchedule, NoExecute",
                          field, i, effect);
    return 0;
}

static int check_toleration(struct json_object *list, size_t i, struct sw_err *err)
{
    return check_toleration_of("spec.tolerations", list, i, err);
}

/* Above this are Kubernetes' own. */
#define MAX_PRIORITY 1000000000

static int check_priority_class(struct json_object *list, size_t i, struct sw_err *err)
{
    struct json_object *p = sw_json_at(list, i);
    const char *name = sw_json_str(p, "", "name", NULL),
               *policy = sw_json_str(p, "", "preemptionPolicy", NULL);
    const char *fault = *name ? sw_dns_subdomain_fault(name) : "it is empty";
    int64_t value = sw_json_int(p, 0, "value", NULL);
    if (fault || sw_starts_with(name, "system-"))
        return sw_err_set(err, SW_INVALID, "spec.priorityClasses[%zu].name: '%s': %s", i, name,
                          fault ? fault : "names with system- are Kubernetes' own");
    if (value > MAX_PRIORITY || value < INT32_MIN)
        return sw_err_set(err, SW_INVALID,
                          "spec.priorityClasses[%zu].value: %lld is not between %d and %d", i,
                          (long long)value, INT32_MIN, MAX_PRIORITY);
    if (*policy && !sw_streq(policy, "Never") && !sw_streq(policy, "PreemptLowerPriority"))
        return sw_err_set(err, SW_INVALID,
                          "spec.priorityClasses[%zu].preemptionPolicy: '%s' is neither Never nor "
                          "PreemptLowerPriority",
                          i, policy);
    return 0;
}

/* No node could ever have such a label. */
static int check_selector(struct json_object *resource, struct sw_err *err)
{
    struct json_object *map = sw_json_find(resource, "spec", "nodeSelector", NULL);
    if (!json_object_is_type(map, json_type_object))
        return 0;
    json_object_object_foreach(map, key, value)
    {
        const char *text = json_object_get_string(value);
        const char *bad_key = sw_label_key_fault(key),
                   *bad = sw_label_value_fault(text ? text : "");
        if (bad_key)
            return sw_err_set(err, SW_INVALID, "spec.nodeSelector: '%s' is no label: %s", key,
                              bad_key);
        if (bad)
            return sw_err_set(err, SW_INVALID, "spec.nodeSelector.%s: '%s' is no label's value: %s",
                              key, text ? text : "", bad);
    }
    return 0;
}

int sw_sharing_check(struct json_object *resource, struct sw_err *err)
{
    static const struct {
        const char *field;
        int (*check)(struct json_object *list, size_t i, struct sw_err *err);
    } rows[] = { { "taints", check_taint },
                 { "tolerations", check_toleration },
                 { "priorityClasses", check_priority_class } };
    int rc = check_selector(resource, err);
    for (size_t r = 0; rc == 0 && r < SW_COUNT(rows); r++) {
        struct json_object *list = sw_json_find(resource, "spec", rows[r].field, NULL);
        if (list && !json_object_is_type(list, json_type_array))
            return sw_err_set(err, SW_INVALID, "spec.%s: it is no list", rows[r].field);
        for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
            rc = rows[r].check(list, i, err);
    }
    return rc;
}

/* ---- tolerations -------------------------------------------------------------------------------
 */

struct json_object *sw_sharing_tolerations(struct json_object *resource)
{
    struct json_object *all = json_object_new_array();
    struct json_object *taints = sw_json_find(resource, "spec", "taints", NULL),
                       *others = sw_json_find(resource, "spec", "tolerations", NULL);
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        struct json_object *taint = sw_json_at(taints, i), *t = json_object_new_object();
        const char *value = sw_json_str(taint, "", "value", NULL);
        sw_json_set_str(t, sw_json_str(taint, "", "key", NULL), "key", NULL);
        sw_json_set_str(t, *value ? "Equal" : "Exists", "operator", NULL);
        if (*value)
            sw_json_set_str(t, value, "value", NULL);
        sw_json_set_str(t, sw_json_str(taint, "", "effect", NULL), "effect", NULL);
        (void)json_object_array_add(all, t);
    }
    for (size_t i = 0; i < sw_json_len(others); i++)
        (void)json_object_array_add(all, sw_json_copy(sw_json_at(others, i)));
    return all;
}

int sw_sharing_read_annotation(const char *text, struct json_object **list, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_yaml_parse(text, strlen(text), NULL, &doc, err);
    if (rc == 0 && !json_object_is_type(doc, json_type_array))
        rc = sw_err_set(err, SW_INVALID, "not a list of tolerations");
    for (size_t i = 0; rc == 0 && i < sw_json_len(doc); i++)
        rc = check_toleration_of("", doc, i, err);
    if (rc == 0)
        *list = SW_TAKE(doc);
    return rc < 0 ? SW_INVALID : 0;
}

struct json_object *sw_sharing_of_recipe(const struct json_object *metadata)
{
    struct json_object *list = NULL;
    SW_ERR(ignored);
    const char *text = sw_json_str((struct json_object *)metadata, NULL, "annotations",
                                   SW_ANN_TOLERATIONS, NULL);
    if (text)
        (void)sw_sharing_read_annotation(text, &list, &ignored);
    return list;
}

struct json_object *sw_sharing_node_tolerations(struct json_object *resource,
                                                struct json_object *of_recipe)
{
    struct json_object *all = sw_sharing_tolerations(resource);
    for (size_t i = 0; i < sw_json_len(of_recipe); i++)
        (void)json_object_array_add(all, json_object_get(sw_json_at(of_recipe, i)));
    return all;
}

/* Does @have tolerate all that @want does? */
static bool covers(struct json_object *have, struct json_object *want)
{
    const char *key = sw_json_str(have, "", "key", NULL),
               *effect = sw_json_str(have, "", "effect", NULL);
    bool exists = sw_streq(sw_json_str(have, "", "operator", NULL), "Exists");
    if (sw_json_get(have, "tolerationSeconds") && !sw_json_equal(have, want))
        return false;
    if (*effect && !sw_streq(effect, sw_json_str(want, "", "effect", NULL)))
        return false;
    if (!*key)
        return exists;
    if (!sw_streq(key, sw_json_str(want, "", "key", NULL)))
        return false;
    return exists ||
           (!sw_streq(sw_json_str(want, "", "operator", NULL), "Exists") &&
            sw_streq(sw_json_str(have, "", "value", NULL), sw_json_str(want, "", "value", NULL)));
}

int hook_tolerate(struct json_object *doc, const struct sw_hook_env *env,
                  struct sw_err *err SW_UNUSED)
{
    struct json_object *pod = sw_pod_template(doc);
    SW_AUTO_JSON *wanted = sw_sharing_tolerations(env->resource);
    if (!pod || !sw_json_len(wanted))
        return 0;
    struct json_object *list = sw_json_need_list(pod, "spec", "tolerations", NULL);
    for (size_t i = 0; i < sw_json_len(wanted); i++) {
        struct json_object *want = sw_json_at(wanted, i);
        size_t k = 0, n = sw_json_len(list);
        while (k < n && !covers(sw_json_at(list, k), want))
            k++;
        if (k == n)
            (void)json_object_array_add(list, sw_json_copy(want));
    }
    return 0;
}

/* ---- priorities --------------------------------------------------------------------------------
 */

struct json_object *sw_sharing_priority_class(struct json_object *resource, size_t i)
{
    static const char *const fields[] = { "value", "description", "globalDefault",
                                          "preemptionPolicy" };
    struct json_object *list = sw_json_find(resource, "spec", "priorityClasses", NULL);
    struct json_object *entry = i < sw_json_len(list) ? sw_json_at(list, i) : NULL;
    if (!entry)
        return NULL;
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "scheduling.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(doc, "PriorityClass", "kind", NULL);
    sw_json_set_str(doc, sw_json_str(entry, "", "name", NULL), "metadata", "name", NULL);
    /* neither value nor policy of a class can be changed */
    sw_json_set_str(doc, "true", "metadata", "annotations", "slipway.dev/replace", NULL);
    for (size_t f = 0; f < SW_COUNT(fields); f++) {
        struct json_object *value = sw_json_get(entry, fields[f]);
        if (value)
            (void)json_object_object_add(doc, fields[f], sw_json_copy(value));
    }
    return doc;
}

int hook_set_priority(struct json_object *doc, const struct sw_hook_env *env,
                      struct sw_err *err SW_UNUSED)
{
    const char *name = sw_json_str(env->resource, "", "spec", "priorityClassName", NULL);
    struct json_object *pod = *name ? sw_pod_template(doc) : NULL;
    if (pod && !*sw_json_str(pod, "", "spec", "priorityClassName", NULL))
        sw_json_set_str(pod, name, "spec", "priorityClassName", NULL);
    return 0;
}
