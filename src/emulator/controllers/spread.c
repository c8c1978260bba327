#include "emulator/controllers/spread.h"

#include "data/selector/selector.h"

#include <json-c/linkhash.h>
#include <stdlib.h>

/* One term: the values of its topology key where a pod that it means already is. */
struct term {
    bool anti;
    bool alone_is_fine; /* affinity: no such pod anywhere, and the pod itself is one */
    const char *key;    /* in the pod's document */
    struct lh_table *values;
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

static bool is_in(json_object *namespaces, const char *own, const char *ns)
{
    if (!sw_json_len(namespaces))
        return sw_streq(own, ns);
    for (size_t i = 0; i < sw_json_len(namespaces); i++)
        if (sw_streq(json_object_get_string(sw_json_at(namespaces, i)), ns))
            return true;
    return false;
}

static void free_key(struct lh_entry *entry)
{
    free(lh_entry_k(entry));
}

static void add_term(struct sw_ctl *ctl, struct sw_spread *s, json_object *doc, bool anti)
{
    struct sw_selector selector = { 0 };
    struct term t = { .anti = anti, .key = sw_json_str(doc, "", "topologyKey", NULL) };
    json_object *namespaces = sw_json_get(doc, "namespaces");
    const char *own = sw_obj_namespace(s->doc);
    if (sw_selector_from_object(sw_json_get(doc, "labelSelector"), &selector, NULL) < 0)
        selector.nothing = true;
    t.values = lh_kchar_table_new(16, free_key);
    t.alone_is_fine = sw_selector_matches_object(&selector, s->doc);
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    for (size_t i = 0; i < n; i++) {
        const char *value = nodes[i] ? value_at(&t, nodes[i]) : NULL;
        for (struct sw_pod *p = value ? nodes[i]->pods : NULL; p; p = p->node_next) {
            if (sw_pod_is_over(p) || !is_in(namespaces, own, sw_pod_ns(p)) ||
                !sw_selector_matches_object(&selector, p->doc))
                continue;
            t.alone_is_fine = false;
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
        if (!t->anti && !there && !(value && t->alone_is_fine))
            return "node(s) didn't match pod affinity rules";
    }
    return NULL;
}
