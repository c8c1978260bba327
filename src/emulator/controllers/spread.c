#include "emulator/controllers/spread.h"

#include "data/json/table.h"
#include "data/selector/selector.h"

#include <stdlib.h>

/* A term of required pod affinity or anti-affinity. */
struct term {
    bool anti;
    bool first;      /* no pod matches yet, but the pod itself does: affinity allows any value */
    const char *key; /* the topology key, in the pod's document */
    struct lh_table *values; /* the key's values on nodes with a matching pod */
};

struct sw_spread {
    json_object *doc;
    struct term *terms;
    size_t n_terms, cap;
};

static const char *value_at(const struct term *term, const struct sw_node *node)
{
    return sw_obj_label(node->doc, term->key);
}

static void add_term(struct sw_ctl *ctl, struct sw_spread *s, json_object *doc, bool anti)
{
    struct sw_selector selector = { 0 };
    struct term t = { .anti = anti, .key = sw_json_str(doc, "", "topologyKey", NULL) };
    json_object *namespaces = sw_json_get(doc, "namespaces");
    const char *own = sw_obj_namespace(s->doc);
    if (sw_selector_from_object(sw_json_get(doc, "labelSelector"), &selector, NULL) < 0)
        selector.nothing = true;
    t.values = lh_kchar_table_new(16, sw_table_free_key);
    t.first = sw_selector_matches_object(&selector, s->doc);
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    for (size_t i = 0; i < n; i++) {
        const char *value = nodes[i] ? value_at(&t, nodes[i]) : NULL;
        for (struct sw_pod *p = value ? nodes[i]->pods : NULL; p; p = p->node_next) {
            bool in_namespace = sw_json_len(namespaces) ? sw_json_has_text(namespaces, sw_pod_ns(p))
                                                        : sw_streq(own, sw_pod_ns(p));
            if (!in_namespace || sw_pod_is_over(p) ||
                !sw_selector_matches_object(&selector, p->doc))
                continue;
            t.first = false;
            if (!lh_table_lookup_entry(t.values, value))
                (void)lh_table_insert(t.values, sw_strdup(value), NULL);
        }
    }
    sw_selector_done(&selector);
    SW_GROW(s->terms, s->n_terms, s->cap);
    s->terms[s->n_terms++] = t;
}

static void add_terms(struct sw_ctl *ctl, struct sw_spread *s, const char *kind, bool anti)
{
    json_object *list = sw_json_find(s->doc, "spec", "affinity", kind,
                                     "requiredDuringSchedulingIgnoredDuringExecution", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        add_term(ctl, s, sw_json_at(list, i), anti);
}

struct sw_spread *sw_spread_new(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    if (!sw_json_find(pod->doc, "spec", "affinity", "podAffinity", NULL) &&
        !sw_json_find(pod->doc, "spec", "affinity", "podAntiAffinity", NULL))
        return NULL;
    struct sw_spread *s = sw_zalloc(1, sizeof *s);
    s->doc = json_object_get(pod->doc);
    add_terms(ctl, s, "podAffinity", false);
    add_terms(ctl, s, "podAntiAffinity", true);
    return s;
}

void sw_spread_free(struct sw_spread *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_terms; i++)
        lh_table_free(s->terms[i].values);
    free(s->terms);
    json_object_put(s->doc);
    free(s);
}

const char *sw_spread_check(const struct sw_spread *s, const struct sw_node *node)
{
    for (size_t i = 0; s && i < s->n_terms; i++) {
        const struct term *t = &s->terms[i];
        const char *value = value_at(t, node);
        bool there = value && lh_table_lookup_entry(t->values, value);
        if (t->anti && there)
            return "node(s) didn't match pod anti-affinity rules";
        if (!t->anti && !there && !(value && t->first))
            return "node(s) didn't match pod affinity rules";
    }
    return NULL;
}
