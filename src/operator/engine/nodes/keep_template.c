/* The template that pods run with is kept where the grace period is all that a new one would add:
 * a DaemonSet whose template changes has all its pods replaced, or, with updateStrategy OnDelete,
 * waits for ever for a person who deletes them. */
#include "operator/engine/nodes/grace_period.h"

#include "base/base.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_AFFINE "specialresource.openshift.io/kernel-affine"
#define ARCH_LABEL "kubernetes.io/arch"
#define KERNEL_LABEL "feature.node.kubernetes.io/kernel-version.full"

/* ---- which nodes a pod spec asks for -----------------------------------------------------------
 */

static int by_text(const void *a, const void *b)
{
    return strcmp(json_object_get_string(*(struct json_object *const *)a),
                  json_object_get_string(*(struct json_object *const *)b));
}

/* Add @value as text to the list of texts, unless it is there. */
static void add_text(struct json_object *list, struct json_object *value)
{
    SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_SORTED, NULL);
    if (!sw_json_has_text(list, text))
        (void)json_object_array_add(list, json_object_new_string(text));
}

static bool is_of_grace(struct json_object *expression)
{
    return sw_starts_with(sw_json_str(expression, "", "key", NULL), SW_GRACE_PERIOD_LABEL);
}

static void add_expressions(struct json_object *texts, struct json_object *expressions)
{
    for (size_t i = 0; i < sw_json_len(expressions); i++) {
        SW_AUTO_JSON *one = sw_json_copy(sw_json_at(expressions, i));
        struct json_object *values = sw_json_get(one, "values");
        if (json_object_is_type(values, json_type_array))
            json_object_array_sort(values, by_text);
        add_text(texts, one);
    }
}

/* As the expressions of a term: {key: [value]}. */
static void add_selected(struct json_object *texts, struct json_object *node_selector)
{
    if (!json_object_is_type(node_selector, json_type_object))
        return;
    json_object_object_foreach(node_selector, key, value)
    {
        SW_AUTO_JSON *one = json_object_new_object();
        sw_json_set_str(one, key, "key", NULL);
        sw_json_set_str(one, "In", "operator", NULL);
        (void)json_object_array_add(sw_json_need_list(one, "values", NULL), json_object_get(value));
        add_text(texts, one);
    }
}

/* What a node must have, in one order: a list with a list of texts for each term, without the terms
 * of the grace period. @graced: whether there are such. The caller's. */
static struct json_object *asked_nodes(struct json_object *pod_spec, bool *graced)
{
    struct json_object *selected = sw_json_get(pod_spec, "nodeSelector");
    struct json_object *terms = sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, "nodeSelectorTerms",
                                             NULL);
    struct json_object *asked = json_object_new_array();
    *graced = false;
    for (size_t i = 0; i == 0 || i < sw_json_len(terms); i++) {
        struct json_object *expressions = sw_json_find(sw_json_at(terms, i), "matchExpressions",
                                                       NULL);
        bool of_grace = false;
        for (size_t k = 0; k < sw_json_len(expressions); k++)
            of_grace = of_grace || is_of_grace(sw_json_at(expressions, k));
        *graced = *graced || of_grace;
        if (of_grace)
            continue;
        SW_AUTO_JSON *texts = json_object_new_array();
        add_selected(texts, selected);
        add_expressions(texts, expressions);
        add_expressions(texts, sw_json_get(sw_json_at(terms, i), "matchFields"));
        json_object_array_sort(texts, by_text);
        add_text(asked, texts);
    }
    json_object_array_sort(asked, by_text);
    return asked;
}

/* ---- whether a template is as it would be ------------------------------------------------------
 */

/* Nothing, or what a server leaves out when it stores it. */
static bool is_empty(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return true;
    case json_type_boolean:
        return !json_object_get_boolean(value);
    case json_type_int:
    case json_type_double:
        return json_object_get_double(value) == 0;
    case json_type_string:
        return json_object_get_string_len(value) == 0;
    case json_type_array:
        return sw_json_len(value) == 0;
    default:
        break;
    }
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        if (!is_empty(member))
            return false;
    }
    return true;
}

static bool is_same_scalar(struct json_object *a, struct json_object *b)
{
    struct sw_quantity x, y;
    SW_ERR(err);
    if (sw_streq(json_object_get_string(a), json_object_get_string(b)))
        return true;
    return sw_quantity_from_json(a, &x, &err) == 0 && sw_quantity_from_json(b, &y, &err) == 0 &&
           sw_quantity_cmp(&x, &y) == 0;
}

bool sw_live_says(struct json_object *ours, struct json_object *live)
{
    if (is_empty(ours) && is_empty(live))
        return true;
    if (json_object_is_type(ours, json_type_object) &&
        json_object_is_type(live, json_type_object)) {
        json_object_object_foreach(ours, key, value)
        {
            if (!sw_live_says(value, sw_json_get(live, key)))
                return false;
        }
        return true;
    }
    if (json_object_is_type(ours, json_type_array) && json_object_is_type(live, json_type_array)) {
        size_t n = sw_json_len(ours);
        bool same = n == sw_json_len(live);
        for (size_t i = 0; same && i < n; i++)
            same = sw_live_says(sw_json_at(ours, i), sw_json_at(live, i));
        return same;
    }
    bool nested = json_object_is_type(ours, json_type_object) ||
                  json_object_is_type(ours, json_type_array);
    return ours && live && !nested && is_same_scalar(ours, live);
}

/* ---- both --------------------------------------------------------------------------------------
 */

static void set_or_delete(struct json_object *pod_spec, const char *key, struct json_object *value)
{
    if (value)
        sw_json_set(pod_spec, sw_json_copy(value), key, NULL);
    else
        (void)sw_json_del(pod_spec, key, NULL);
}

/* Does a node of another machine than @arch run @kernel? */
static bool runs_elsewhere(const struct sw_node_set *nodes, const char *kernel, const char *arch)
{
    for (uint32_t i = 0; i < sw_node_set_end(nodes); i++)
        if (sw_streq(sw_node_set_label(nodes, i, KERNEL_LABEL), kernel) &&
            !sw_streq(sw_node_set_label(nodes, i, ARCH_LABEL), arch))
            return true;
    return false;
}

/* Is it slipway alone that asks for the machine's architecture: for a driver of one kernel whose
 * name does not tell (facts/group.c), which SRO selected by that kernel alone, and which no other
 * machine runs? */
static bool asks_for_arch(struct json_object *doc, struct json_object *live_spec,
                          const struct sw_node_set *nodes)
{
    const char *arch = sw_json_str(doc, NULL, "spec", "template", "spec", "nodeSelector",
                                   ARCH_LABEL, NULL);
    const char *kernel = sw_json_str(live_spec, NULL, "nodeSelector", KERNEL_LABEL, NULL);
    return arch && kernel && sw_streq(sw_obj_annotation(doc, KERNEL_AFFINE), "true") &&
           !sw_json_find(live_spec, "nodeSelector", ARCH_LABEL, NULL) &&
           !runs_elsewhere(nodes, kernel, arch);
}

/* A copy of @doc that does not; the caller's. */
static struct json_object *without_arch(struct json_object *doc)
{
    struct json_object *copy = sw_json_copy(doc);
    struct json_object *spec = sw_json_find(copy, "spec", "template", "spec", NULL);
    (void)sw_json_del(spec, "nodeSelector", ARCH_LABEL, NULL);
    if (sw_json_len(sw_json_get(spec, "nodeSelector")) == 0)
        (void)sw_json_del(spec, "nodeSelector", NULL);
    return copy;
}

/* Give @pod_spec the nodeSelector and the required node affinity of @live. */
static void take_asked_nodes(struct json_object *pod_spec, struct json_object *live)
{
    struct json_object *required = sw_json_find(live, SW_REQUIRED_AFFINITY, NULL);
    struct json_object *node_affinity = sw_json_find(pod_spec, "affinity", "nodeAffinity", NULL);
    set_or_delete(pod_spec, "nodeSelector", sw_json_get(live, "nodeSelector"));
    if (required) {
        sw_json_set(pod_spec, sw_json_copy(required), SW_REQUIRED_AFFINITY, NULL);
        return;
    }
    (void)sw_json_del(pod_spec, SW_REQUIRED_AFFINITY, NULL);
    if (sw_json_len(node_affinity) == 0)
        (void)sw_json_del(pod_spec, "affinity", "nodeAffinity", NULL);
    if (sw_json_len(sw_json_get(pod_spec, "affinity")) == 0)
        (void)sw_json_del(pod_spec, "affinity", NULL);
}

struct json_object *sw_grace_period_keep(struct json_object *manifest, struct json_object *live,
                                         const struct sw_node_set *nodes)
{
    struct json_object *running = sw_json_find(live, "spec", "template", NULL);
    struct json_object *live_spec = sw_json_get(running, "spec");
    bool graced, live_graced;
    SW_AUTO_JSON *kept = asks_for_arch(manifest, live_spec, nodes) ? without_arch(manifest) : NULL;
    SW_AUTO_JSON *wanted = asked_nodes(
        sw_json_find(kept ? kept : manifest, "spec", "template", "spec", NULL), &graced);
    SW_AUTO_JSON *has = asked_nodes(live_spec, &live_graced);
    if ((graced == live_graced && !kept) || !live_spec || !json_object_equal(wanted, has))
        return NULL;
    if (!kept)
        kept = sw_json_copy(manifest);
    struct json_object *template = sw_json_find(kept, "spec", "template", NULL);
    take_asked_nodes(sw_json_get(template, "spec"), live_spec);
    return sw_live_says(template, running) ? SW_TAKE(kept) : NULL;
}

/* ---- Jobs --------------------------------------------------------------------------------------
 */

#define OWNED_LABEL "specialresource.openshift.io/owned"

static struct json_object *template_labels(struct json_object *doc)
{
    return sw_json_find(doc, "spec", "template", "metadata", "labels", NULL);
}

struct json_object *sw_job_keep(struct json_object *manifest, struct json_object *live)
{
    if (!sw_json_get(template_labels(manifest), OWNED_LABEL) ||
        sw_json_get(template_labels(live), OWNED_LABEL))
        return NULL;
    struct json_object *kept = sw_json_copy(manifest);
    json_object_object_del(template_labels(kept), OWNED_LABEL);
    return kept;
}

/* ---- of any kind -------------------------------------------------------------------------------
 */

struct json_object *sw_template_keep(struct json_object *manifest, struct json_object *live,
                                     const struct sw_node_set *nodes)
{
    if (!live)
        return NULL;
    return sw_streq(sw_obj_kind(manifest), "Job") ? sw_job_keep(manifest, live)
                                                  : sw_grace_period_keep(manifest, live, nodes);
}
