#include "emulator/rules/rules_internal.h"

#include <stdlib.h>

/* Free *@re, which may be NULL. */
static void free_regex(regex_t **re)
{
    if (*re)
        regfree(*re);
    free(SW_TAKE(*re));
}

void sw_clause_done(struct clause *c)
{
    free(c->api_version);
    free(c->kind);
    free(c->name);
    free(c->ns);
    free(c->node);
    free(c->as);
    free(c->as_list);
    json_object_put(c->labels);
    sw_selector_done(&c->selector);
    for (size_t i = 0; i < c->n_wants; i++) {
        struct want *w = &c->wants[i];
        sw_jsonpath_free(w->path);
        json_object_put(w->is);
        json_object_put(w->is_not);
        json_object_put(w->at_least);
        json_object_put(w->at_most);
        free_regex(&w->re);
    }
    free(c->wants);
    for (size_t i = 0; i < c->n_fields; i++)
        sw_jsonpath_free(c->fields[i]);
    free(c->fields);
    *c = (struct clause){ 0 };
}

static void clauses_free(struct clause *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sw_clause_done(&list[i]);
    free(list);
}

static void actions_free(struct action *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_object_put(list[i].body);
        sw_clause_done(&list[i].target);
        free(list[i].condition);
    }
    free(list);
}

void sw_rule_set_cut(struct rule_set *set, size_t n)
{
    while (set->n > n) {
        struct rule *rule = &set->rules[--set->n];
        free(rule->name);
        free(rule->place);
        free(rule->timeout);
        clauses_free(rule->on, rule->n_on);
        clauses_free(rule->when, rule->n_when);
        sw_jsonpath_free(rule->each.path);
        json_object_put(rule->each.items);
        free(rule->each.count);
        sw_clause_done(&rule->each.clause);
        actions_free(rule->actions, rule->n_actions);
        actions_free(rule->otherwise, rule->n_otherwise);
        json_object_put(rule->body);
        free_regex(&rule->match);
        sw_clause_done(&rule->pod);
        free(rule->plan.log);
        free(rule->plan.reason);
        free(rule->plan.message);
        free(rule->login);
    }
}

void sw_rule_set_init(struct rule_set *set, const char *platform, const char *cloud)
{
    *set = (struct rule_set){ 0 };
    set->platform = sw_strdup(platform);
    set->cloud = sw_strdup(cloud);
    set->templates = sw_template_set_new();
    set->names = lh_kchar_table_new(64, sw_table_free_key_and_value);
}

void sw_rule_set_done(struct rule_set *set)
{
    if (!set->names)
        return;
    sw_rule_set_cut(set, 0);
    free(set->rules);
    free(set->platform);
    free(set->cloud);
    json_object_put(set->all_troubles);
    sw_template_set_free(set->templates);
    lh_table_free(set->names);
    *set = (struct rule_set){ 0 };
}
