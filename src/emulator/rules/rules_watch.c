#include "emulator/rules/rules_internal.h"

#include <stdlib.h>
#include <string.h>

/* The rules whose `for` is a kind. */
struct kind_rules {
    const struct rule **rules;
    size_t n, cap;
};

/* ---- changes ------------------------------------------------------------------------------------
 */

/* Whether a `for` clause of the rule matches @doc, or fails: the run of the instance reports that.
 */
static bool may_be_on(struct sw_rules *rules, const struct rule *rule, json_object *doc)
{
    struct scope scope;
    bool any = false;
    sw_scope_init(&scope, rules, doc);
    for (size_t i = 0; i < rule->n_on && !any; i++)
        any = sw_clause_matches(&rule->on[i], &scope, doc, NULL) != 0;
    sw_scope_done(&scope);
    return any;
}

/* More kinds may be served now: try to create the objects that wait for theirs. */
static void retry_pending(struct sw_rules *rules)
{
    if (rules->pending && !sw_timer_is_set(rules->later))
        sw_timer_set(rules->later, 0);
}

void sw_rules_changed(struct sw_rules *rules, json_object *before, json_object *after)
{
    json_object *doc = after ? after : before;
    SW_AUTO_CHARS *kind = sw_rules_kind_key(sw_obj_api_version(doc), sw_obj_kind(doc));
    const char *ns = sw_obj_namespace(doc);
    if (rules->closing)
        return;
    if (sw_streq(kind, "apiextensions.k8s.io/CustomResourceDefinition"))
        retry_pending(rules);
    const struct kind_rules *on = sw_table_find(rules->kinds, kind);
    for (size_t i = 0; on && i < on->n; i++) {
        bool make = after && may_be_on(rules, on->rules[i], doc);
        struct instance *instance = sw_instance_of(rules, on->rules[i], kind, ns, sw_obj_name(doc),
                                                   make);
        if (instance)
            sw_instance_dirty(rules, instance);
    }
    const struct rule_change change = { kind, before, after };
    sw_depend_wake(rules, &change, "%s/%s/%s", kind, ns, sw_obj_name(doc));
    sw_depend_wake(rules, &change, "%s*", kind);
    if (*ns)
        sw_depend_wake(rules, &change, "%s*%s", kind, ns);
    const char *was_on = sw_json_str(before, "", "spec", "nodeName", NULL);
    const char *is_on = sw_json_str(after, "", "spec", "nodeName", NULL);
    if (*is_on)
        sw_depend_wake(rules, &change, "%s@%s", kind, is_on);
    if (*was_on && !sw_streq(was_on, is_on))
        sw_depend_wake(rules, &change, "%s@%s", kind, was_on);
}

void sw_rules_served(struct sw_rules *rules)
{
    if (rules->closing)
        return;
    sw_depend_wake(rules, NULL, "apiextensions.k8s.io/CustomResourceDefinition*");
    retry_pending(rules);
}

/* ---- open and close -----------------------------------------------------------------------------
 */

static void free_kind(struct lh_entry *entry)
{
    struct kind_rules *on = lh_entry_v(entry);
    free(on->rules);
    sw_table_free_key_and_value(entry);
}

/* Add a rule to those of the kind of its clause @c. */
static void add_on(struct sw_rules *rules, const struct rule *rule, const struct clause *c)
{
    SW_AUTO_CHARS *key = sw_rules_kind_key(c->api_version, c->kind);
    struct kind_rules *on = sw_table_find(rules->kinds, key);
    if (!on) {
        on = sw_zalloc(1, sizeof *on);
        (void)lh_table_insert(rules->kinds, SW_TAKE(key), on);
    }
    for (size_t i = 0; i < on->n; i++)
        if (on->rules[i] == rule)
            return;
    SW_GROW(on->rules, on->n, on->cap);
    on->rules[on->n++] = rule;
}

static void on_turn(void *arg)
{
    struct sw_rules *rules = arg;
    size_t n = rules->n_dirty; /* instances that get dirty now run in the next turn */
    for (size_t i = 0; i < n; i++) {
        struct instance *instance = rules->dirty[i];
        if (!instance)
            continue;
        rules->dirty[i] = NULL;
        instance->dirty = false;
        sw_instance_run(rules, instance);
    }
    rules->n_dirty -= n;
    memmove(rules->dirty, rules->dirty + n, rules->n_dirty * sizeof *rules->dirty);
    if (rules->n_dirty)
        sw_timer_set(rules->turn, 0);
}

void sw_watch_open(struct sw_rules *rules)
{
    sw_instances_open(rules);
    rules->kinds = lh_kchar_table_new(32, free_kind);
    rules->turn = sw_timer_new(rules->loop, on_turn, rules);
    for (size_t i = 0; i < rules->set.n; i++) {
        const struct rule *rule = &rules->set.rules[i];
        for (size_t k = 0; rule->type == RULE_RULE && k < rule->n_on; k++)
            add_on(rules, rule, &rule->on[k]);
    }
}

/* Watch the kinds of the clauses that are not in @watched, and add them to it. */
static void watch_clauses(struct sw_rules *rules, struct lh_table *watched,
                          const struct clause *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!list[i].kind)
            continue;
        SW_AUTO_CHARS *key = sw_rules_kind_key(list[i].api_version, list[i].kind);
        if (lh_table_lookup_entry(watched, key))
            continue;
        (void)lh_table_insert(watched, SW_TAKE(key), NULL);
        rules->backend.watch(rules->backend.self, list[i].api_version, list[i].kind);
    }
}

static void watch_actions(struct sw_rules *rules, struct lh_table *watched,
                          const struct action *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].has_target)
            watch_clauses(rules, watched, &list[i].target, 1);
}

void sw_rules_start(struct sw_rules *rules)
{
    struct lh_table *watched = lh_kchar_table_new(32, sw_table_free_key);
    struct clause crds = { .api_version = "apiextensions.k8s.io/v1",
                           .kind = "CustomResourceDefinition" };
    watch_clauses(rules, watched, &crds, 1); /* objects may wait for their kinds */
    for (size_t i = 0; i < rules->set.n; i++) {
        const struct rule *rule = &rules->set.rules[i];
        if (rule->type == RULE_POD || rule->type == RULE_OBJECTS)
            continue;
        watch_clauses(rules, watched, rule->on, rule->n_on);
        watch_clauses(rules, watched, rule->when, rule->n_when);
        watch_clauses(rules, watched, &rule->each.clause, 1);
        watch_actions(rules, watched, rule->actions, rule->n_actions);
        watch_actions(rules, watched, rule->otherwise, rule->n_otherwise);
        if (rule->type == RULE_SCHEDULER)
            sw_instance_dirty(rules, sw_instance_new(rules, rule));
    }
    lh_table_free(watched);
    retry_pending(rules);
}

void sw_watch_close(struct sw_rules *rules)
{
    sw_instances_close(rules);
    lh_table_free(rules->kinds);
    sw_timer_free(rules->turn);
}
