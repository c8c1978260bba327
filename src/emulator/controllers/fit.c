#include "emulator/controllers/fit.h"

#include <stdlib.h>

/* A term that is not well-formed selects nothing: the API server would have refused it. */
static void read_term(struct sw_fit_term *term, json_object *doc)
{
    json_object *labels = sw_json_get(doc, "matchExpressions");
    json_object *fields = sw_json_get(doc, "matchFields");
    term->empty = sw_json_len(labels) + sw_json_len(fields) == 0;
    if (sw_selector_from_expressions(labels, &term->labels, NULL) < 0 ||
        sw_selector_from_expressions(fields, &term->fields, NULL) < 0)
        term->empty = true;
}

static void find_only_node(struct sw_fit *fit)
{
    if (fit->n_terms != 1 || fit->terms[0].fields.n_reqs != 1)
        return;
    const struct sw_requirement *r = &fit->terms[0].fields.reqs[0];
    bool one = (r->op == SW_SEL_IN || r->op == SW_SEL_EQUALS) && r->n_values == 1;
    if (one && sw_streq(r->key, "metadata.name"))
        fit->only_node = sw_strdup(r->values[0]);
}

void sw_fit_init(struct sw_fit *fit, json_object *pod_spec)
{
    *fit = (struct sw_fit){ 0 };
    if (sw_selector_from_map(sw_json_get(pod_spec, "nodeSelector"), &fit->node_selector, NULL) < 0)
        fit->node_selector.nothing = true;
    fit->tolerations = json_object_get(sw_json_get(pod_spec, "tolerations"));
    json_object *terms = sw_json_find(pod_spec, "affinity", "nodeAffinity",
                                      "requiredDuringSchedulingIgnoredDuringExecution",
                                      "nodeSelectorTerms", NULL);
    fit->has_terms = terms != NULL;
    fit->n_terms = sw_json_len(terms);
    fit->terms = sw_zalloc(fit->n_terms + 1, sizeof *fit->terms);
    for (size_t i = 0; i < fit->n_terms; i++)
        read_term(&fit->terms[i], sw_json_at(terms, i));
    find_only_node(fit);
}

void sw_fit_done(struct sw_fit *fit)
{
    sw_selector_done(&fit->node_selector);
    for (size_t i = 0; i < fit->n_terms; i++) {
        sw_selector_done(&fit->terms[i].labels);
        sw_selector_done(&fit->terms[i].fields);
    }
    free(fit->terms);
    free(fit->only_node);
    json_object_put(fit->tolerations);
    *fit = (struct sw_fit){ 0 };
}

static bool term_matches(const struct sw_fit_term *term, json_object *node, json_object *labels)
{
    return !term->empty && sw_selector_matches(&term->labels, labels) &&
           sw_field_selector_matches(&term->fields, node);
}

bool sw_fit_affinity(const struct sw_fit *fit, json_object *node)
{
    json_object *labels = sw_json_find(node, "metadata", "labels", NULL);
    if (!sw_selector_matches(&fit->node_selector, labels))
        return false;
    for (size_t i = 0; i < fit->n_terms; i++)
        if (term_matches(&fit->terms[i], node, labels))
            return true;
    return !fit->has_terms;
}

static bool toleration_fits(json_object *toleration, json_object *taint)
{
    const char *effect = sw_json_str(toleration, "", "effect", NULL);
    const char *key = sw_json_str(toleration, "", "key", NULL);
    if (*effect && !sw_streq(effect, sw_json_str(taint, "", "effect", NULL)))
        return false;
    if (*key && !sw_streq(key, sw_json_str(taint, "", "key", NULL)))
        return false;
    if (sw_streq(sw_json_str(toleration, "", "operator", NULL), "Exists"))
        return true;
    return *key && sw_streq(sw_json_str(toleration, "", "value", NULL),
                            sw_json_str(taint, "", "value", NULL));
}

bool sw_fit_tolerates(json_object *tolerations, json_object *taint)
{
    for (size_t i = 0; i < sw_json_len(tolerations); i++)
        if (toleration_fits(sw_json_at(tolerations, i), taint))
            return true;
    return false;
}

static unsigned effect_of(json_object *taint)
{
    const char *effect = sw_json_str(taint, "", "effect", NULL);
    return sw_streq(effect, "NoSchedule")         ? SW_NO_SCHEDULE
           : sw_streq(effect, "NoExecute")        ? SW_NO_EXECUTE
           : sw_streq(effect, "PreferNoSchedule") ? SW_PREFER_NO_SCHEDULE
                                                  : 0;
}

json_object *sw_fit_taint(json_object *node, json_object *tolerations, unsigned effects)
{
    json_object *taints = sw_json_find(node, "spec", "taints", NULL);
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        json_object *taint = sw_json_at(taints, i);
        if ((effect_of(taint) & effects) && !sw_fit_tolerates(tolerations, taint))
            return taint;
    }
    return NULL;
}
