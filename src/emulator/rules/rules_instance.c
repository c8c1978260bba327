#include "emulator/rules/rules_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The instances that depend on a key. */
struct dep {
    struct instance **items;
    size_t n, cap;
};

char *sw_rules_kind_key(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    return sw_printf("%.*s/%s", slash ? (int)(slash - api_version) : 0, api_version, kind);
}

/* ---- instances ----------------------------------------------------------------------------------
 */

/* The place of @rule in the set. */
static size_t number_of(const struct sw_rules *rules, const struct rule *rule)
{
    return (size_t)(rule - rules->set.rules);
}

/* The rule's delay is over, or the time to try again has come. */
static void on_timer(void *arg)
{
    struct instance *i = arg;
    if (i->held)
        i->matured = true;
    sw_instance_dirty(i->rules, i);
}

struct instance *sw_instance_new(struct sw_rules *rules, const struct rule *rule)
{
    struct instance *i = sw_zalloc(1, sizeof *i), **head;
    i->rules = rules;
    i->rule = rule;
    head = &rules->instances[number_of(rules, rule)];
    i->next = *head;
    i->link = head;
    if (*head)
        (*head)->link = &i->next;
    *head = i;
    return i;
}

void sw_instance_wait(struct instance *i, int64_t in_ms)
{
    if (!i->timer)
        i->timer = sw_timer_new(i->rules->loop, on_timer, i);
    sw_timer_set(i->timer, in_ms);
}

static char *object_key(const struct sw_rules *rules, const struct rule *rule, const char *kind,
                        const char *ns, const char *name)
{
    return sw_printf("%zu#%s %s/%s", number_of(rules, rule), kind, ns, name);
}

struct instance *sw_instance_of(struct sw_rules *rules, const struct rule *rule, const char *kind,
                                const char *ns, const char *name, bool make)
{
    SW_AUTO_CHARS *key = object_key(rules, rule, kind, ns, name);
    struct instance *i = sw_table_find(rules->by_object, key);
    if (i || !make)
        return i;
    i = sw_instance_new(rules, rule);
    i->kind = sw_strdup(kind);
    i->ns = sw_strdup(ns);
    i->name = sw_strdup(name);
    (void)lh_table_insert(rules->by_object, SW_TAKE(key), i);
    return i;
}

static void drop_deps(struct sw_rules *rules, struct instance *i)
{
    for (size_t d = 0; d < i->n_deps; d++) {
        struct dep *dep = sw_table_find(rules->deps, i->deps[d]);
        size_t at = 0;
        while (dep && at < dep->n && dep->items[at] != i)
            at++;
        if (dep && at < dep->n)
            dep->items[at] = dep->items[--dep->n];
        if (dep && !dep->n)
            (void)lh_table_delete(rules->deps, i->deps[d]);
        free(i->deps[d]);
    }
    i->n_deps = 0;
}

void sw_instance_free(struct sw_rules *rules, struct instance *i)
{
    if (i->name) {
        SW_AUTO_CHARS *key = object_key(rules, i->rule, i->kind, i->ns, i->name);
        (void)lh_table_delete(rules->by_object, key);
    }
    for (size_t k = 0; i->dirty && k < rules->n_dirty; k++)
        if (rules->dirty[k] == i)
            rules->dirty[k] = NULL;
    drop_deps(rules, i);
    sw_timer_free(i->timer);
    sw_timer_free(i->rest);
    *i->link = i->next;
    if (i->next)
        i->next->link = i->link;
    free(i->deps);
    free(i->kind);
    free(i->ns);
    free(i->name);
    free(i->image);
    free(i);
}

static void on_rested(void *arg)
{
    struct instance *i = arg;
    sw_instance_dirty(i->rules, i);
}

void sw_instance_dirty(struct sw_rules *rules, struct instance *i)
{
    const int64_t left = i->rests_until_ms - sw_loop_now_ms(rules->loop);
    if (i->dirty)
        return;
    if (left > 0) {
        if (!i->rest)
            i->rest = sw_timer_new(rules->loop, on_rested, i);
        if (!sw_timer_is_set(i->rest))
            sw_timer_set(i->rest, left);
        return;
    }
    i->dirty = true;
    SW_GROW(rules->dirty, rules->n_dirty, rules->cap_dirty);
    rules->dirty[rules->n_dirty++] = i;
    if (!sw_timer_is_set(rules->turn))
        sw_timer_set(rules->turn, 0);
}

void sw_instance_log(const struct instance *i, const struct sw_err *err)
{
    const char *object = i->name ? i->name : i->image ? i->image : "";
    sw_log(SW_LOG_WARN, "emulator rule failed", "rule", i->rule->place, "name",
           i->rule->name ? i->rule->name : "", "object", object, "error", sw_err_text(err), NULL);
}

/* ---- dependencies -------------------------------------------------------------------------------
 */

void sw_depend_on(struct sw_rules *rules, const char *fmt, ...)
{
    struct dependencies *l = &rules->dependencies;
    va_list ap;
    va_start(ap, fmt);
    char *key = sw_vprintf(fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < l->n; i++) {
        if (sw_streq(l->keys[i], key)) {
            free(key);
            return;
        }
    }
    SW_GROW(l->keys, l->n, l->cap);
    l->keys[l->n++] = key;
}

void sw_depend_clear(struct sw_rules *rules)
{
    struct dependencies *l = &rules->dependencies;
    for (size_t i = 0; i < l->n; i++)
        free(l->keys[i]);
    l->n = 0;
}

void sw_instance_depend(struct sw_rules *rules, struct instance *i)
{
    struct dependencies *l = &rules->dependencies;
    bool same = i->n_deps == l->n;
    for (size_t k = 0; same && k < l->n; k++)
        same = sw_streq(i->deps[k], l->keys[k]);
    if (!same)
        drop_deps(rules, i);
    for (size_t k = 0; !same && k < l->n; k++) {
        struct dep *dep = sw_table_find(rules->deps, l->keys[k]);
        if (!dep) {
            dep = sw_zalloc(1, sizeof *dep);
            (void)lh_table_insert(rules->deps, sw_strdup(l->keys[k]), dep);
        }
        SW_GROW(dep->items, dep->n, dep->cap);
        dep->items[dep->n++] = i;
        SW_GROW(i->deps, i->n_deps, i->cap_deps);
        i->deps[i->n_deps++] = SW_TAKE(l->keys[k]);
    }
    sw_depend_clear(rules);
}

bool sw_clause_is_about(const struct clause *c, const char *kind)
{
    SW_AUTO_CHARS *own = c->kind ? sw_rules_kind_key(c->api_version, c->kind) : NULL;
    return sw_streq(own, kind);
}

static bool is_same(const struct sw_jsonpath *path, const struct rule_change *change)
{
    return sw_json_equal(sw_jsonpath_first(path, change->before),
                         sw_jsonpath_first(path, change->after));
}

/* Has the object changed in what the clause reads of it? */
static bool differs(const struct clause *c, const struct rule_change *change)
{
    bool same = c->n_fields > 0 && !c->labels;
    for (size_t i = 0; same && i < c->n_fields; i++)
        same = is_same(c->fields[i], change);
    for (size_t i = 0; same && i < c->n_wants; i++)
        same = is_same(c->wants[i].path, change);
    return !same;
}

/* Has a run of the rule another outcome after the change of an object that it has looked at? */
static bool is_concerned(const struct rule *rule, const struct rule_change *change)
{
    bool any = false, says = false;
    for (size_t i = 0; i < rule->n_when; i++) /* few do */
        says = says || rule->when[i].n_fields;
    if (!says || !change->before || !change->after ||
        sw_clause_is_about(&rule->each.clause, change->kind))
        return true;
    for (size_t i = 0; i < rule->n_on; i++)
        if (sw_clause_is_about(&rule->on[i], change->kind))
            return true;
    for (size_t i = 0; i < rule->n_when; i++) {
        const bool is_of_kind = sw_clause_is_about(&rule->when[i], change->kind);
        if (is_of_kind && differs(&rule->when[i], change))
            return true;
        any = any || is_of_kind;
    }
    return !any; /* what it writes to */
}

void sw_depend_wake(struct sw_rules *rules, const struct rule_change *change, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *key = sw_vprintf(fmt, ap);
    va_end(ap);
    const struct dep *dep = sw_table_find(rules->deps, key);
    for (size_t i = 0; dep && i < dep->n; i++)
        if (!change || is_concerned(dep->items[i]->rule, change))
            sw_instance_dirty(rules, dep->items[i]);
}

/* ---- open and close -----------------------------------------------------------------------------
 */

static void free_dep(struct lh_entry *entry)
{
    struct dep *dep = lh_entry_v(entry);
    free(dep->items);
    sw_table_free_key_and_value(entry);
}

void sw_instances_open(struct sw_rules *rules)
{
    rules->instances = sw_zalloc(rules->set.n + 1, sizeof(struct instance *));
    rules->by_object = lh_kchar_table_new(64, sw_table_free_key);
    rules->deps = lh_kchar_table_new(64, free_dep);
}

void sw_instances_close(struct sw_rules *rules)
{
    for (size_t i = 0; rules->instances && i < rules->set.n; i++)
        while (rules->instances[i])
            sw_instance_free(rules, SW_LINKED(rules->instances[i]));
    free(rules->instances);
    lh_table_free(rules->by_object);
    lh_table_free(rules->deps);
    free(rules->dirty);
    free(rules->dependencies.keys);
}
