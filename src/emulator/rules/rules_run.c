#include "emulator/rules/rules_internal.h"

#include <stdlib.h>

/* A rule that keeps writing to one object does not describe a level: it is stopped for a while. */
enum { MAX_WRITES = 200, WINDOW_MS = 1000, RETRY_MS = 1000 };

static void complain(const struct instance *i, const struct sw_err *err)
{
    const char *object = i->name ? i->name : i->image ? i->image : "";
    sw_log(SW_LOG_WARN, "emulator rule failed", "rule", i->rule->place, "name",
           i->rule->name ? i->rule->name : "", "object", object, "error", sw_err_text(err), NULL);
}

/* ---- each ---------------------------------------------------------------------------------------
 */

static int run_list(json_object *const *items, size_t n, struct scope *scope, sw_each_fn *fn,
                    void *arg, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        json_object_put(scope->each);
        scope->each = json_object_get(items[i]);
        scope->has_each = true;
        scope->index = i;
        sw_scope_touch(scope);
        rc = fn(scope, arg, err);
    }
    return rc;
}

static int run_array(json_object *list, struct scope *scope, sw_each_fn *fn, void *arg,
                     struct sw_err *err)
{
    size_t n = sw_json_len(list);
    json_object **items = sw_zalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = sw_json_at(list, i);
    int rc = run_list(items, n, scope, fn, arg, err);
    free(items);
    return rc;
}

static int run_count(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    int rc = sw_text_render(scope, each->count, &text, err);
    long n = rc == 0 ? strtol(text, NULL, 10) : 0;
    for (long i = 0; i < n && rc >= 0; i++) {
        json_object_put(scope->each);
        scope->each = sw_int(i);
        scope->has_each = true;
        scope->index = (size_t)i;
        sw_scope_touch(scope);
        rc = fn(scope, arg, err);
    }
    return rc;
}

static int run_path(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                    struct sw_err *err)
{
    struct sw_json_list found = { 0 };
    int rc = sw_jsonpath_find(each->path, scope->object, &found, err);
    bool one = found.n_values == 1 && json_object_is_type(found.values[0], json_type_array);
    if (rc == 0)
        rc = one ? run_array(found.values[0], scope, fn, arg, err)
                 : run_list(found.values, found.n_values, scope, fn, arg, err);
    sw_json_list_done(&found);
    return rc;
}

int sw_each_run(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                struct sw_err *err)
{
    json_object *list = NULL;
    int rc;
    switch (each->type) {
    case EACH_IN:
        return run_path(each, scope, fn, arg, err);
    case EACH_ITEMS:
        return run_array(each->items, scope, fn, arg, err);
    case EACH_COUNT:
        return run_count(each, scope, fn, arg, err);
    case EACH_OBJECTS:
        rc = sw_clause_find(&each->clause, scope, 0, &list, err);
        rc = rc < 0 ? rc : run_array(list, scope, fn, arg, err);
        json_object_put(list);
        return rc;
    default:
        return fn(scope, arg, err);
    }
}

/* ---- a round ------------------------------------------------------------------------------------
 */

struct todo {
    struct sw_rules *rules;
    struct instance *instance;
    const struct action *list;
    size_t n;
};

static int run_actions(struct scope *scope, void *arg, struct sw_err *err)
{
    struct todo *t = arg;
    for (size_t i = 0; i < t->n; i++) {
        int rc = sw_action_run(t->rules, &t->list[i], scope, err);
        if (rc < 0)
            return rc;
        t->instance->n_writes += rc;
    }
    return 0;
}

static bool is_spinning(struct sw_rules *rules, struct instance *i)
{
    int64_t now = sw_loop_now_ms(rules->loop);
    if (now - i->window_ms >= WINDOW_MS) {
        i->window_ms = now;
        i->n_writes = 0;
    }
    if (i->n_writes <= MAX_WRITES)
        return false;
    sw_log(SW_LOG_WARN, "emulator rule does not settle", "rule", i->rule->place, "object", i->name,
           NULL);
    sw_instance_wait(i, WINDOW_MS);
    return true;
}

static int64_t delay_of(struct sw_rules *rules, const struct rule *rule)
{
    int64_t ms = rule->after_ms * rules->opts.delay_percent / 100;
    int64_t most = ms * rules->opts.jitter_percent / 100;
    rules->rng = rules->rng * 6364136223846793005ULL + 1442695040888963407ULL;
    return ms + (most > 0 ? (int64_t)((rules->rng >> 33) % (uint64_t)(most + 1)) : 0);
}

/* The conditions hold: now, or after they have held for the delay. @return whether it is time. */
static bool is_time(struct sw_rules *rules, struct instance *i)
{
    int64_t delay_ms = i->held ? 0 : delay_of(rules, i->rule);
    bool waits = i->held && !i->matured && i->timer && sw_timer_is_set(i->timer);
    if (!i->held && delay_ms > 0) {
        i->held = true;
        sw_instance_wait(i, delay_ms);
        return false;
    }
    i->held = true;
    return !waits;
}

static int run_conditions(struct sw_rules *rules, struct instance *i, struct scope *scope,
                          struct sw_err *err)
{
    const struct rule *rule = i->rule;
    int rc = sw_clauses_hold(rule->when, rule->n_when, scope, err);
    struct todo todo = { rules, i, rule->actions, rule->n_actions };
    if (rc < 0)
        return rc;
    if (rc == 0) {
        if (i->held && i->timer)
            sw_timer_stop(i->timer);
        i->held = i->matured = false;
        todo.list = rule->otherwise;
        todo.n = rule->n_otherwise;
    } else if (!is_time(rules, i)) {
        return 0;
    }
    return todo.n ? sw_each_run(&rule->each, scope, run_actions, &todo, err) : 0;
}

/* @return 1 where one of the rule's `for` clauses matches, 0, or an error */
static int is_on(struct sw_rules *rules, struct instance *i, struct scope *scope, json_object *doc,
                 struct sw_err *err)
{
    const struct rule *rule = i->rule;
    SW_AUTO_CHARS *mine = sw_rules_kind_key(sw_obj_api_version(doc), sw_obj_kind(doc));
    (void)rules;
    for (size_t k = 0; k < rule->n_on; k++) {
        SW_AUTO_CHARS *kind = sw_rules_kind_key(rule->on[k].api_version, rule->on[k].kind);
        int rc = sw_streq(kind, mine) ? sw_clause_matches(&rule->on[k], scope, doc, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

static json_object *object_of(struct sw_rules *rules, const struct instance *i)
{
    struct sw_rules_ref ref = { .ns = *i->ns ? i->ns : NULL, .name = i->name };
    json_object *doc = NULL;
    for (size_t k = 0; k < i->rule->n_on && !doc; k++) {
        ref.api_version = i->rule->on[k].api_version;
        ref.kind = i->rule->on[k].kind;
        doc = rules->backend.find(rules->backend.self, &ref);
    }
    return json_object_get(doc);
}

static void run_rule(struct sw_rules *rules, struct instance *i)
{
    SW_ERR(err);
    struct scope scope;
    json_object *doc = object_of(rules, i);
    sw_scope_init(&scope, rules, doc);
    int rc = doc ? is_on(rules, i, &scope, doc, &err) : 0;
    if (rc == 0) {
        sw_scope_done(&scope);
        json_object_put(doc);
        sw_instance_free(rules, i);
        return;
    }
    if (rc == 1 && !is_spinning(rules, i))
        rc = run_conditions(rules, i, &scope, &err);
    if (rc < 0) {
        if (rc != SW_PENDING)
            complain(i, &err);
        sw_instance_wait(i, RETRY_MS);
    }
    sw_instance_depend(rules, i);
    sw_scope_done(&scope);
    json_object_put(doc);
}

void sw_instance_run(struct sw_rules *rules, struct instance *i)
{
    switch (i->rule->type) {
    case RULE_IMAGE:
        sw_image_run(rules, i);
        return;
    case RULE_SCHEDULER:
        sw_scheduler_run(rules, i);
        return;
    default:
        run_rule(rules, i);
    }
}
