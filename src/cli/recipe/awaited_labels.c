#include "cli/recipe/awaited_labels.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "operator/engine/nodes/node_set.h"
#include "operator/engine/readiness/gate.h"

static const char domain[] = "feature.node.kubernetes.io";

void sw_awaited_labels_done(struct sw_awaited_labels *awaited)
{
    json_object_put(SW_TAKE(awaited->states));
    json_object_put(SW_TAKE(awaited->from));
}

/* ---- labels ------------------------------------------------------------------------------------
 */

/* Is it one of Node Feature Discovery's, or of a vendor by it ("intel.feature.node...")? */
static bool is_feature(const char *key)
{
    SW_AUTO_CHARS *of = sw_strndup(key, strcspn(key, "/"));
    size_t len = strlen(of), own = strlen(domain);
    return strchr(key, '/') && len >= own && sw_streq(of + len - own, domain) &&
           (len == own || of[len - own - 1] == '.');
}

/* @value NULL: any. */
static bool is_on_a_node(const struct sw_node_set *set, const char *key, const char *value)
{
    for (uint32_t i = 0; i < sw_node_set_end(set); i++) {
        const char *has = sw_node_set_label(set, i, key);
        if (has && (!value || sw_streq(has, value)))
            return true;
    }
    return false;
}

static void add(struct json_object *labels, const char *key, const char *value)
{
    SW_AUTO_CHARS *text = value ? sw_printf("%s=%s", key, value) : sw_strdup(key);
    if (!sw_json_has_text(labels, text))
        (void)json_object_array_add(labels, json_object_new_string(text));
}

/* Where a manifest's labels are found: what is missing is added to @labels. */
struct search {
    const struct sw_node_set *set;
    struct json_object *labels;
};

static void check(const struct search *s, const char *key, const char *value)
{
    if (is_feature(key) && !is_on_a_node(s->set, key, value))
        add(s->labels, key, value);
}

static void check_map(const struct search *s, struct json_object *map)
{
    if (!json_object_is_type(map, json_type_object))
        return;
    json_object_object_foreach(map, key, value)
    {
        if (json_object_is_type(value, json_type_string))
            check(s, key, json_object_get_string(value));
    }
}

/* The labels that a term of a node affinity lacks; the caller's. */
static struct json_object *missing_of_term(const struct search *s, struct json_object *term)
{
    struct search own = { s->set, json_object_new_array() };
    struct json_object *expressions = sw_json_get(term, "matchExpressions");
    for (size_t i = 0; i < sw_json_len(expressions); i++) {
        struct json_object *e = sw_json_at(expressions, i), *values = sw_json_get(e, "values");
        const char *key = sw_json_str(e, "", "key", NULL),
                   *op = sw_json_str(e, "", "operator", NULL);
        bool any = !is_feature(key);
        for (size_t k = 0; sw_streq(op, "In") && k < sw_json_len(values); k++)
            any = any || is_on_a_node(s->set, key, sw_json_str(sw_json_at(values, k), "", NULL));
        if (sw_streq(op, "In") && !any)
            add(own.labels, key,
                sw_json_len(values) == 1 ? sw_json_str(sw_json_at(values, 0), "", NULL) : NULL);
        else if (sw_streq(op, "Exists") || sw_streq(op, "Gt") || sw_streq(op, "Lt"))
            check(&own, key, NULL);
    }
    return own.labels;
}

/* A node that one of the terms matches is enough. */
static void check_affinity(const struct search *s, struct json_object *pod)
{
    struct json_object *terms = sw_json_find(pod, "affinity", "nodeAffinity",
                                             "requiredDuringSchedulingIgnoredDuringExecution",
                                             "nodeSelectorTerms", NULL);
    SW_AUTO_JSON *all = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(terms); i++) {
        SW_AUTO_JSON *missing = missing_of_term(s, sw_json_at(terms, i));
        if (!sw_json_len(missing))
            return;
        for (size_t k = 0; k < sw_json_len(missing); k++)
            (void)json_object_array_add(all, json_object_get(sw_json_at(missing, k)));
    }
    for (size_t i = 0; i < sw_json_len(all); i++) {
        const char *text = sw_json_str(sw_json_at(all, i), "", NULL);
        if (!sw_json_has_text(s->labels, text))
            (void)json_object_array_add(s->labels, json_object_get(sw_json_at(all, i)));
    }
}

/* "a=b,c": what an annotation says of nodes. */
static void check_text(const struct search *s, const char *text)
{
    for (size_t len; text && *(text += strspn(text, ", ")); text += len) {
        len = strcspn(text, ", ");
        SW_AUTO_CHARS *key = sw_strndup(text, len);
        char *value = strchr(key, '=');
        if (value)
            *value++ = '\0';
        check(s, key, value);
    }
}

/* ---- manifests ---------------------------------------------------------------------------------
 */

static bool is_observed(struct json_object *doc)
{
    return sw_obj_annotation(doc, SW_ANN_OBSERVE) || sw_obj_annotation(doc, SW_ANN_DRY_RUN);
}

/* Does it bring Node Feature Discovery: its definition, or what OLM's operator of it is told? */
static bool brings_features(struct json_object *doc)
{
    bool is_definition = sw_streq(sw_obj_kind(doc), "CustomResourceDefinition") &&
                         sw_streq(sw_obj_name(doc), "nodefeatures.nfd.k8s-sigs.io");
    return !is_observed(doc) &&
           (is_definition || (sw_streq(sw_obj_kind(doc), "NodeFeatureDiscovery") &&
                              sw_starts_with(sw_obj_api_version(doc), "nfd.")));
}

void sw_awaited_labels_take(struct sw_awaited_labels *awaited, const struct sw_preview *preview,
                            const struct sw_manifest *m)
{
    const char *state = sw_plan_state(preview->opened.plan, m->state)->name;
    struct json_object *doc = m->doc, *spec = sw_json_get(doc, "spec"),
                       *pod = sw_json_find(spec, "template", "spec", NULL);
    struct search s = { preview->facts.node_set, json_object_new_array() };
    if (!awaited->states) {
        awaited->states = json_object_new_object();
        awaited->from = json_object_new_array();
    }
    if (brings_features(doc) && !sw_json_has_text(awaited->from, state))
        (void)json_object_array_add(awaited->from, json_object_new_string(state));
    check_map(&s, sw_json_get(pod ? pod : spec, "nodeSelector"));
    check_affinity(&s, pod ? pod : spec);
    if (!pod) /* of a custom resource */
        check_map(&s, sw_json_get(spec, "selector"));
    if (sw_streq(sw_obj_kind(doc), "DaemonSet") && !is_observed(doc))
        check_map(&s, sw_json_find(preview->resource, "spec", "nodeSelector", NULL));
    check_text(&s, sw_obj_annotation(doc, SW_ANN_NODES));
    struct json_object *labels = sw_json_get(awaited->states, state);
    if (!labels && sw_json_len(s.labels))
        json_object_object_add(awaited->states, state, labels = json_object_new_array());
    for (size_t i = 0; i < sw_json_len(s.labels); i++) {
        const char *text = sw_json_str(sw_json_at(s.labels, i), "", NULL);
        if (!sw_json_has_text(labels, text))
            (void)json_object_array_add(labels, json_object_new_string(text));
    }
    json_object_put(s.labels);
}

/* ---- what is told ------------------------------------------------------------------------------
 */

struct json_object *sw_awaited_labels_list(const struct sw_awaited_labels *awaited)
{
    struct json_object *list = json_object_new_array();
    if (!sw_json_len(awaited->from))
        return list;
    json_object_object_foreach(awaited->states, state, labels)
    {
        if (sw_json_has_text(awaited->from, state))
            continue;
        struct json_object *item = json_object_new_object();
        sw_json_set_str(item, state, "state", NULL);
        sw_json_set(item, json_object_get(labels), "labels", NULL);
        (void)json_object_array_add(list, item);
    }
    return list;
}

/* {label: "a, b", the states that wait for it}; the caller's. */
static struct json_object *by_label(struct json_object *list)
{
    struct json_object *map = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i), *labels = sw_json_get(item, "labels");
        for (size_t k = 0; k < sw_json_len(labels); k++) {
            const char *label = sw_json_str(sw_json_at(labels, k), "", NULL),
                       *before = sw_json_str(map, NULL, label, NULL);
            SW_AUTO_CHARS *states = sw_printf("%s%s%s", before ? before : "", before ? ", " : "",
                                              sw_json_str(item, "", "state", NULL));
            sw_json_set_str(map, states, label, NULL);
        }
    }
    return map;
}

char *sw_awaited_labels_text(const struct sw_awaited_labels *awaited)
{
    SW_AUTO_JSON *list = sw_awaited_labels_list(awaited);
    SW_AUTO_JSON *map = by_label(list);
    char *out = sw_strdup("");
    if (!sw_json_len(list))
        return out;
    sw_append(&out, "no node has these labels before state %s is ready: ",
              sw_json_str(sw_json_at(awaited->from, 0), "", NULL));
    const char *between = "";
    json_object_object_foreach(map, label, states)
    {
        sw_append(&out, "%s%s (%s)", between, label, json_object_get_string(states));
        between = "; ";
    }
    sw_append(&out, "\n");
    return out;
}
