/* Which nodes a selector matches, and which take a pod: data/selector's rules, for the labels of a
 * node set. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/selector/selector.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/nodes/node_set.h"

bool sw_node_set_matches(const struct sw_node_set *set, uint32_t node, struct json_object *selector)
{
    if (!sw_node_set_name(set, node))
        return false;
    if (!json_object_is_type(selector, json_type_object))
        return true;
    json_object_object_foreach(selector, key, value)
    {
        bool is_text = json_object_is_type(value, json_type_string);
        if (!sw_streq(sw_node_set_label(set, node, key),
                      is_text ? json_object_get_string(value) : ""))
            return false;
    }
    return true;
}

bool sw_node_set_is_tainted(const struct sw_node_set *set, uint32_t node,
                            struct json_object *tolerations)
{
    for (size_t i = 0; i < sw_node_set_n_taints(set, node); i++) {
        struct sw_taint t = sw_node_set_taint(set, node, i);
        size_t k = 0, n = sw_json_len(tolerations);
        if (sw_streq(t.effect, "PreferNoSchedule") || sw_starts_with(t.key, "node.kubernetes.io/"))
            continue;
        while (k < n &&
               !sw_toleration_tolerates(sw_json_at(tolerations, k), t.key, t.value, t.effect))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* ---- placements --------------------------------------------------------------------------------
 */

struct sw_placement {
    struct json_object *node_selector, *tolerations; /* owned; NULL: none */
    struct sw_node_selector affinity;                /* the required one */
};

struct sw_placement *sw_placement_new(struct json_object *pod_spec)
{
    struct sw_placement *p = sw_zalloc(1, sizeof *p);
    p->node_selector = sw_json_copy(sw_json_get(pod_spec, "nodeSelector"));
    p->tolerations = sw_json_copy(sw_json_get(pod_spec, "tolerations"));
    sw_node_selector_init(&p->affinity, sw_json_find(pod_spec, SW_REQUIRED_AFFINITY, NULL));
    return p;
}

void sw_placement_free(struct sw_placement *placement)
{
    if (!placement)
        return;
    (void)json_object_put(placement->node_selector);
    (void)json_object_put(placement->tolerations);
    sw_node_selector_done(&placement->affinity);
    free(placement);
}

char *sw_placement_remove_grace(struct sw_placement *placement)
{
    struct sw_node_selector *s = &placement->affinity;
    char *found = NULL;
    for (size_t i = s->n_terms; i-- > 0;) {
        const struct sw_selector *labels = &s->terms[i].labels;
        size_t k = 0;
        while (k < labels->n_reqs && !sw_starts_with(labels->reqs[k].key, SW_GRACE_PERIOD_LABEL))
            k++;
        if (k == labels->n_reqs)
            continue;
        found = found ? found : sw_strdup(labels->reqs[k].key);
        sw_selector_done(&s->terms[i].labels);
        sw_selector_done(&s->terms[i].fields);
        s->n_terms--;
        memmove(&s->terms[i], &s->terms[i + 1], (s->n_terms - i) * sizeof *s->terms);
    }
    return found;
}

bool sw_placement_needs_label(const struct sw_placement *placement, const char *key)
{
    const struct sw_node_selector *s = &placement->affinity;
    if (sw_json_get(placement->node_selector, key))
        return true;
    for (size_t i = 0; i < s->n_terms; i++) {
        const struct sw_selector *labels = &s->terms[i].labels;
        bool needs = false;
        for (size_t k = 0; k < labels->n_reqs; k++)
            needs = needs ||
                    (sw_streq(labels->reqs[k].key, key) &&
                     (labels->reqs[k].op == SW_SEL_IN || labels->reqs[k].op == SW_SEL_EXISTS));
        if (!needs)
            return false;
    }
    return s->n_terms > 0;
}

struct node_labels {
    const struct sw_node_set *set;
    uint32_t node;
};

static const char *label_of(const char *key, void *arg)
{
    const struct node_labels *labels = arg;
    return sw_node_set_label(labels->set, labels->node, key);
}

bool sw_placement_takes(const struct sw_placement *placement, const struct sw_node_set *set,
                        uint32_t node)
{
    struct node_labels labels = { set, node };
    const char *name = sw_node_set_name(set, node);
    return name && sw_node_selector_selects(&placement->affinity, name, label_of, &labels) &&
           sw_node_set_matches(set, node, placement->node_selector) &&
           !sw_node_set_is_tainted(set, node, placement->tolerations);
}

/* Which of the labels no node has; or that none has all of them. Heap. */
static char *missing_labels(const struct sw_placement *p, const struct sw_node_set *set)
{
    SW_AUTO_CHARS *missing = sw_strdup("");
    SW_AUTO_CHARS *all = sw_strdup("");
    json_object_object_foreach(p->node_selector, key, value)
    {
        const char *text = json_object_is_type(value, json_type_string)
                               ? json_object_get_string(value)
                               : "";
        bool is_there = false;
        for (uint32_t n = 0; !is_there && n < sw_node_set_end(set); n++)
            is_there = sw_node_set_name(set, n) && sw_streq(sw_node_set_label(set, n, key), text);
        sw_append(&all, "%s%s=%s", *all ? ", " : "", key, text);
        if (!is_there)
            sw_append(&missing, "%s%s=%s", *missing ? ", none " : "", key, text);
    }
    return *missing ? sw_printf("no node has %s", missing)
                    : sw_printf("no node has all of %s", all);
}

/* The terms of the affinity, any of which would do. Heap. */
static char *affinity_text(const struct sw_placement *p)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < p->affinity.n_terms; i++) {
        SW_AUTO_CHARS *labels = sw_selector_text(&p->affinity.terms[i].labels);
        SW_AUTO_CHARS *fields = sw_selector_text(&p->affinity.terms[i].fields);
        sw_append(&text, "%s%s%s%s", *text ? ", or " : "", labels, *labels && *fields ? "," : "",
                  fields);
    }
    return text;
}

/* A taint of @node that is not tolerated. @return false: there is none */
static bool find_taint(const struct sw_placement *p, const struct sw_node_set *set, uint32_t node,
                       struct sw_taint *out)
{
    for (size_t i = 0; i < sw_node_set_n_taints(set, node); i++) {
        const struct sw_taint t = sw_node_set_taint(set, node, i);
        size_t k = 0;
        while (k < sw_json_len(p->tolerations) &&
               !sw_toleration_tolerates(sw_json_at(p->tolerations, k), t.key, t.value, t.effect))
            k++;
        if (k < sw_json_len(p->tolerations) || sw_streq(t.effect, "PreferNoSchedule"))
            continue;
        *out = t;
        return true;
    }
    return false;
}

/* The same as text, heap; NULL: there is none. */
static char *taint_text(const struct sw_placement *p, const struct sw_node_set *set, uint32_t node)
{
    struct sw_taint t;
    return find_taint(p, set, node, &t)
               ? sw_printf("%s%s%s:%s", t.key, *t.value ? "=" : "", t.value, t.effect)
               : NULL;
}

char *sw_placement_taints(const struct sw_placement *placement, const struct sw_node_set *set)
{
    enum { MOST = 3 };
    size_t n_taints = 0;
    char *text = NULL;
    for (uint32_t n = 0; n < sw_node_set_end(set) && n_taints < MOST; n++) {
        struct node_labels labels = { set, n };
        struct sw_taint t;
        if (!sw_node_set_matches(set, n, placement->node_selector) ||
            !sw_node_selector_selects(&placement->affinity, sw_node_set_name(set, n), label_of,
                                      &labels) ||
            !find_taint(placement, set, n, &t))
            continue;
        SW_AUTO_CHARS *one = sw_printf("{%s: %s}", t.key, t.value);
        if (text && strstr(text, one))
            continue;
        sw_append(&text, "%s%s", text ? ", " : "", one);
        n_taints++;
    }
    return text;
}

char *sw_placement_why_unmatched(const struct sw_placement *placement,
                                 const struct sw_node_set *set)
{
    size_t n_selected = 0;
    for (uint32_t n = 0; n < sw_node_set_end(set); n++) {
        struct node_labels labels = { set, n };
        if (!sw_node_set_matches(set, n, placement->node_selector))
            continue;
        n_selected++;
        if (sw_node_selector_selects(&placement->affinity, sw_node_set_name(set, n), label_of,
                                     &labels))
            return NULL;
    }
    if (!sw_node_set_count(set))
        return sw_strdup("there is no node");
    if (!n_selected)
        return missing_labels(placement, set);
    SW_AUTO_CHARS *terms = affinity_text(placement);
    return sw_printf("none of %zu nodes fits the node affinity %s", n_selected, terms);
}

char *sw_placement_why_none(const struct sw_placement *placement, const struct sw_node_set *set)
{
    size_t n_fitting = 0;
    uint32_t last = SW_NO_NODE;
    char *why = sw_placement_why_unmatched(placement, set);
    if (why)
        return why;
    for (uint32_t n = 0; n < sw_node_set_end(set); n++) {
        struct node_labels labels = { set, n };
        if (!sw_node_set_matches(set, n, placement->node_selector) ||
            !sw_node_selector_selects(&placement->affinity, sw_node_set_name(set, n), label_of,
                                      &labels))
            continue;
        n_fitting++;
        last = n;
        if (!sw_node_set_is_tainted(set, n, placement->tolerations))
            return NULL;
    }
    SW_AUTO_CHARS *taint = taint_text(placement, set, last);
    return sw_printf("the taint %s of %s is not tolerated%s", taint ? taint : "",
                     sw_node_set_name(set, last), n_fitting > 1 ? ", nor those of the others" : "");
}

bool sw_node_affinity_takes_pod(const struct sw_node_set *set, uint32_t node,
                                struct json_object *pod_spec)
{
    SW_AUTO(sw_placement) *placement = sw_placement_new(pod_spec);
    return sw_placement_takes(placement, set, node);
}
