/* PodDisruptionBudgets, and the labels of pods that they select by. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

/* ---- labels ------------------------------------------------------------------------------------
 * The pods of a Deployment have the same ones: each set is kept once.
 */

struct labels {
    char *text;
    struct json_object *map;
    size_t n_pods;
};

void cache_set_labels(struct cache *p, struct pod *pod, struct json_object *map)
{
    struct labels *before = pod->labels;
    pod->labels = NULL;
    if (sw_json_len(map)) {
        SW_AUTO_CHARS *text = sw_json_text(map, SW_JSON_PLAIN, NULL);
        pod->labels = sw_table_find(p->labels, text);
        if (!pod->labels) {
            pod->labels = sw_zalloc(1, sizeof *pod->labels);
            pod->labels->text = SW_TAKE(text);
            pod->labels->map = json_object_get(map);
            cache_insert(p->labels, pod->labels->text, pod->labels);
        }
        pod->labels->n_pods++;
    }
    if (!before || --before->n_pods)
        return;
    (void)lh_table_delete(p->labels, before->text);
    (void)json_object_put(before->map);
    free(before->text);
    free(before);
}

/* ---- budgets -----------------------------------------------------------------------------------
 */

struct budget {
    char *name;
    struct sw_selector selector;
    int64_t allowed;
    int64_t left;                  /* of a count that is under way */
    struct json_object *disrupted; /* map of pods that are on their way already; or NULL */
    struct budget *next;
};

/* Those of a namespace. */
struct budgets {
    char *ns;
    struct budget *list;
};

static void drop_budget(struct cache *p, struct budgets *of, const char *name)
{
    struct budget **at = &of->list;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at) {
        struct budget *b = *at;
        *at = b->next;
        sw_selector_done(&b->selector);
        (void)json_object_put(b->disrupted);
        free(b->name);
        free(b);
    }
    if (of->list)
        return;
    (void)lh_table_delete(p->budgets, of->ns);
    free(of->ns);
    free(of);
}

void cache_observe_budget(struct cache *p, const char *ns, const char *name,
                          struct json_object *obj)
{
    struct budgets *of = sw_table_find(p->budgets, ns);
    if (of)
        drop_budget(p, of, name);
    struct sw_selector selector = { 0 };
    if (!obj ||
        sw_selector_from_object(sw_json_find(obj, "spec", "selector", NULL), &selector, NULL) < 0)
        return; /* gone, or a selector that selects nothing */
    struct budget *b = sw_zalloc(1, sizeof *b);
    *b = (struct budget){ .name = sw_strdup(name),
                          .selector = selector,
                          .allowed = sw_json_int(obj, 0, "status", "disruptionsAllowed", NULL),
                          .disrupted = json_object_get(
                              sw_json_find(obj, "status", "disruptedPods", NULL)) };
    of = sw_table_find(p->budgets, ns); /* dropped with its last budget */
    if (!of) {
        of = sw_zalloc(1, sizeof *of);
        of->ns = sw_strdup(ns);
        cache_insert(p->budgets, of->ns, of);
    }
    b->next = of->list;
    of->list = b;
}

void cache_begin_spending(const struct cache *p)
{
    for (struct lh_entry *e = lh_table_head(p->budgets); e; e = e->next)
        for (struct budget *b = ((struct budgets *)lh_entry_v(e))->list; b; b = b->next)
            b->left = b->allowed;
}

bool cache_spend(const struct cache *p, const struct pod *pod)
{
    const struct budgets *of = pod->labels ? sw_table_find(p->budgets, pod->ns) : NULL;
    bool over = false;
    for (struct budget *b = of ? of->list : NULL; b; b = b->next) {
        /* an empty selector selects nothing here, whatever the budget's version: so does
         * kube-scheduler */
        if (b->selector.n_reqs == 0 || !sw_selector_matches(&b->selector, pod->labels->map) ||
            sw_json_get(b->disrupted, pod->name))
            continue;
        over |= --b->left < 0;
    }
    return over;
}

void cache_free_budgets(struct cache *p)
{
    while (lh_table_head(p->budgets)) {
        struct budgets *of = lh_entry_v(lh_table_head(p->budgets));
        drop_budget(p, of, of->list->name);
    }
    lh_table_free(p->budgets);
    lh_table_free(p->labels);
}
