#include "emulator/admission/quota_scopes.h"

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/defaults.h"

/* An affinity of pods to those of other namespaces. */
static bool is_cross_namespace(json_object *term)
{
    return sw_json_len(sw_json_get(term, "namespaces")) > 0 ||
           sw_json_get(term, "namespaceSelector");
}

static bool has_cross_namespace_affinity(json_object *spec)
{
    static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };
    bool found = false;
    for (size_t k = 0; k < SW_COUNT(kinds); k++) {
        json_object *affinity = sw_json_find(spec, "affinity", kinds[k], NULL);
        json_object *hard = sw_json_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
        json_object *soft = sw_json_get(affinity,
                                        "preferredDuringSchedulingIgnoredDuringExecution");
        for (size_t i = 0; i < sw_json_len(hard); i++)
            found = found || is_cross_namespace(sw_json_at(hard, i));
        for (size_t i = 0; i < sw_json_len(soft); i++)
            found = found ||
                    is_cross_namespace(sw_json_get(sw_json_at(soft, i), "podAffinityTerm"));
    }
    return found;
}

static bool is_terminating(json_object *spec)
{
    return sw_json_get(spec, "activeDeadlineSeconds") != NULL;
}

static bool is_not_terminating(json_object *spec)
{
    return !is_terminating(spec);
}

static bool is_best_effort(json_object *spec)
{
    return sw_streq(sw_pod_qos_class(spec), "BestEffort");
}

static bool is_not_best_effort(json_object *spec)
{
    return !is_best_effort(spec);
}

static bool has_priority_class(json_object *spec)
{
    return *sw_json_str(spec, "", "priorityClassName", NULL) != '\0';
}

static const struct {
    const char *scope;
    bool (*matches)(json_object *spec);
} scopes[] = { { "Terminating", is_terminating },
               { "NotTerminating", is_not_terminating },
               { "BestEffort", is_best_effort },
               { "NotBestEffort", is_not_best_effort },
               { "PriorityClass", has_priority_class },
               { "CrossNamespacePodAffinity", has_cross_namespace_affinity } };

static bool matches_scope(const char *scope, json_object *spec)
{
    for (size_t i = 0; i < SW_COUNT(scopes); i++)
        if (sw_streq(scopes[i].scope, scope))
            return scopes[i].matches(spec);
    return false;
}

/* One expression of a scopeSelector: of the priority class by its name, of all others that the
 * scope matches, which is the only operator that they may have. */
static bool matches_expression(json_object *e, json_object *spec)
{
    const char *scope = sw_json_str(e, "", "scopeName", NULL);
    const char *op = sw_json_str(e, "", "operator", NULL);
    const char *class = sw_json_str(spec, "", "priorityClassName", NULL);
    if (!sw_streq(scope, "PriorityClass"))
        return matches_scope(scope, spec);
    return sw_streq(op, "In")      ? *class && sw_json_has_text(sw_json_get(e, "values"), class)
           : sw_streq(op, "NotIn") ? !*class || !sw_json_has_text(sw_json_get(e, "values"), class)
                                   : (*class != '\0') == sw_streq(op, "Exists");
}

bool sw_quota_counts(json_object *quota, const struct sw_emu_kind *kind, json_object *doc)
{
    json_object *names = sw_json_find(quota, "spec", "scopes", NULL);
    json_object *list = sw_json_find(quota, "spec", "scopeSelector", "matchExpressions", NULL);
    json_object *spec = sw_json_get(doc, "spec");
    bool all = (sw_json_len(names) + sw_json_len(list) == 0) ||
               (sw_streq(kind->kind, "Pod") && !*kind->group);
    for (size_t i = 0; i < sw_json_len(names) && all; i++)
        all = matches_scope(json_object_get_string(sw_json_at(names, i)), spec);
    for (size_t i = 0; i < sw_json_len(list) && all; i++)
        all = matches_expression(sw_json_at(list, i), spec);
    return all;
}
