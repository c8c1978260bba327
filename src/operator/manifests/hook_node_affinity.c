/* Pods of DaemonSets stay on their nodes while labels of features are missing
 * (operator/engine/nodes/grace_period.h). What nodeSelector and required node affinity ask of
 * features becomes terms of that affinity: all of it; or, where the node has slipway's label, all
 * but one feature, or none of them. */
#include "operator/manifests/hooks_internal.h"

#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/readiness/pod_maker.h"

#include <string.h>

/* ---- expressions -------------------------------------------------------------------------------
 */

static const char *key_of(struct json_object *expression)
{
    return sw_json_str(expression, "", "key", NULL);
}

/* Does it ask for a label to be there? */
static bool asks(struct json_object *expression)
{
    const char *op = sw_json_str(expression, "", "operator", NULL);
    return sw_streq(op, "In") || sw_streq(op, "Exists") || sw_streq(op, "Gt") || sw_streq(op, "Lt");
}

/* @value NULL: without values */
static struct json_object *expression(const char *key, const char *op, const char *value)
{
    struct json_object *e = json_object_new_object();
    sw_json_set_str(e, key, "key", NULL);
    sw_json_set_str(e, op, "operator", NULL);
    if (value)
        (void)json_object_array_add(sw_json_need_list(e, "values", NULL),
                                    json_object_new_string(value));
    return e;
}

/* ---- terms -------------------------------------------------------------------------------------
 */

/* What is made of the terms of one pod spec. */
struct grace_terms {
    const char *key;              /* of the label by which pods stay */
    struct json_object *selected; /* expressions, of the nodeSelector's features */
    struct json_object *terms;    /* those that come of it */
};

/* @term and what was selected, but for @missing (keys; NULL: none), which are not there. */
static void add_term(struct grace_terms *s, struct json_object *term, struct json_object *missing)
{
    struct json_object *const lists[] = { s->selected, sw_json_get(term, "matchExpressions") };
    struct json_object *made = json_object_new_object(), *all = json_object_new_array();
    for (size_t l = 0; l < SW_COUNT(lists); l++)
        for (size_t i = 0; i < sw_json_len(lists[l]); i++)
            if (!sw_json_has_text(missing, key_of(sw_json_at(lists[l], i))))
                (void)json_object_array_add(all, sw_json_copy(sw_json_at(lists[l], i)));
    for (size_t i = 0; i < sw_json_len(missing); i++)
        (void)json_object_array_add(
            all, expression(json_object_get_string(sw_json_at(missing, i)), "DoesNotExist", NULL));
    if (missing)
        (void)json_object_array_add(all, expression(s->key, "Exists", NULL));
    (void)json_object_object_add(made, "matchExpressions", all);
    struct json_object *fields = sw_json_get(term, "matchFields");
    if (fields)
        (void)json_object_object_add(made, "matchFields", sw_json_copy(fields));
    (void)json_object_array_add(s->terms, made);
}

/* Add the terms that are made of @term. One label of a feature goes when a device is removed or a
 * rule changed, all of them when NFD is removed. */
static void spread(struct grace_terms *s, struct json_object *term)
{
    struct json_object *const lists[] = { s->selected, sw_json_get(term, "matchExpressions") };
    SW_AUTO_JSON *features = json_object_new_array(); /* that may be missing, each once */
    for (size_t l = 0; l < SW_COUNT(lists); l++)
        for (size_t i = 0; i < sw_json_len(lists[l]); i++) {
            struct json_object *e = sw_json_at(lists[l], i);
            const char *key = key_of(e);
            if (sw_is_feature_label(key) && asks(e) && !sw_json_has_text(features, key))
                (void)json_object_array_add(features, json_object_new_string(key));
        }
    size_t n = sw_json_len(features);
    add_term(s, term, NULL);
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_JSON *one = json_object_new_array();
        (void)json_object_array_add(one, json_object_get(sw_json_at(features, i)));
        add_term(s, term, one);
    }
    if (n > 1)
        add_term(s, term, features);
}

static struct json_object *take_selected(struct json_object *pod_spec)
{
    struct json_object *selected = json_object_new_array();
    struct json_object *selector = sw_json_get(pod_spec, "nodeSelector");
    if (!json_object_is_type(selector, json_type_object))
        return selected;
    json_object_object_foreach(selector, key, value)
    {
        if (sw_is_feature_label(key))
            (void)json_object_array_add(selected,
                                        expression(key, "In", json_object_get_string(value)));
    }
    for (size_t i = 0; i < sw_json_len(selected); i++)
        json_object_object_del(selector, key_of(sw_json_at(selected, i)));
    if (sw_json_len(selector) == 0)
        json_object_object_del(pod_spec, "nodeSelector");
    return selected;
}

static bool asks_for_features(struct json_object *pod_spec)
{
    struct json_object *terms = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, "nodeSelectorTerms",
                                             NULL);
    struct json_object *selector = sw_json_get(pod_spec, "nodeSelector");
    bool any = false;
    if (json_object_is_type(selector, json_type_object)) {
        json_object_object_foreach(selector, key, value)
        {
            (void)value;
            any = any || sw_is_feature_label(key);
        }
    }
    for (size_t i = 0; i < sw_json_len(terms); i++) {
        struct json_object *list = sw_json_get(sw_json_at(terms, i), "matchExpressions");
        for (size_t k = 0; k < sw_json_len(list); k++)
            any = any ||
                  (sw_is_feature_label(key_of(sw_json_at(list, k))) && asks(sw_json_at(list, k)));
    }
    return any;
}

int hook_node_affinity(struct json_object *doc, const struct sw_hook_env *env,
                       struct sw_err *err SW_UNUSED)
{
    struct json_object *pod_spec = sw_json_get(sw_pod_template(doc), "spec");
    const char *resource = sw_obj_name(env->resource);
    bool labelled = sw_streq(sw_obj_kind(env->resource), "SpecialResource"); /* by its engine */
    if (!labelled || env->keep_selectors || !asks_for_features(pod_spec) ||
        sw_label_value_fault(resource))
        return 0;
    SW_AUTO_CHARS *key = sw_grace_period_key(resource, pod_spec);
    struct grace_terms s = { key, take_selected(pod_spec), json_object_new_array() };
    struct json_object *terms = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, "nodeSelectorTerms",
                                             NULL);
    for (size_t i = 0; i < sw_json_len(terms); i++)
        spread(&s, sw_json_at(terms, i));
    if (!terms)
        spread(&s, NULL);
    sw_json_set(pod_spec, s.terms, SW_REQUIRED_AFFINITY, "nodeSelectorTerms", NULL);
    (void)json_object_put(s.selected);
    return 0;
}
