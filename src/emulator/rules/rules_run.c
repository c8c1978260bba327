#include "emulator/rules/rules_internal.h"

#include <stdlib.h>

/* A rule that writes to one object again and again is not level-triggered: it is paused. */
enum { MAX_WRITES = 200, WINDOW_MS = 1000, RETRY_MS = 1000 };

/* One that looks at many objects rests after it has run, the longer the more there are: in a large
 * cluster each of them changes, and each change would have all of them looked at again. */
enum { MANY = 200, CONSIDERED_A_MS = 10 };

/* ---- each ---------------------------------------------------------------------------------------
 */

/* Call @fn for element @i, which is taken. */
static int run_one(json_object *element, size_t i, struct scope *scope, sw_each_fn *fn, void *arg,
                   struct sw_err *err)
{
    json_object_put(scope->each);
    scope->each = element;
    scope->has_each = true;
    scope->index = i;
    sw_scope_touch(scope);
    return fn(scope, arg, err);
}

static int run_list(json_object *list, struct scope *scope, sw_each_fn *fn, void *arg,
                    struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < sw_json_len(list); i++)
        rc = run_one(json_object_get(sw_json_at(list, i)), i, scope, fn, arg, err);
    return rc;
}

/* The values at a path; a list that is the only one stands for its elements. */
static int run_path(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                    struct sw_err *err)
{
    struct sw_json_list found = { 0 };
    int rc = sw_jsonpath_find(each->path, scope->object, &found, err);
    if (rc == 0 && found.n_values == 1 && json_object_is_type(found.values[0], json_type_array))
        rc = run_list(found.values[0], scope, fn, arg, err);
    else
        for (size_t i = 0; rc >= 0 && i < found.n_values; i++)
            rc = run_one(json_object_get(found.values[i]), i, scope, fn, arg, err);
    sw_json_list_done(&found);
    return rc;
}

int sw_each_run(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_CHARS *text = NULL;
    int rc;
    long n;
    switch (each->type) {
    case EACH_IN:
        return run_path(each, scope, fn, arg, err);
    case EACH_ITEMS:
        return run_list(each->items, scope, fn, arg, err);
    case EACH_COUNT:
        rc = sw_text_render(scope, each->count, &text, err);
        n = rc == 0 ? strtol(text, NULL, 10) : 0;
        for (long i = 0; i < n && rc >= 0; i++)
            rc = run_one(sw_int(i), (size_t)i, scope, fn, arg, err);
        return rc;
    case EACH_OBJECTS:
        rc = sw_clause_find(&each->clause, scope, 0, &list, err);
        return rc < 0 ? rc : run_list(list, scope, fn, arg, err);
    default:
        return fn(scope, arg, err);
    }
}

/* ---- a run --------------------------------------------------------------------------------------
 */

/* The actions of one run. */
struct todo {
    struct instance *instance;
    const struct action *list;
    size_t n;
    bool is_pending; /* an action is to be tried again */
};

static int run_actions(struct scope *scope, void *arg, struct sw_err *err)
{
    struct todo *t = arg;
    for (size_t i = 0; i < t->n; i++) {
        int rc = sw_action_run(scope->rules, &t->list[i], scope, err);
        if (rc < 0 && rc != SW_PENDING)
            return rc;
        t->is_pending = t->is_pending || rc == SW_PENDING;
        t->instance->n_writes += rc > 0 ? rc : 0;
    }
    return 0;
}

/* Whether the instance has written too often; then it waits. */
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

/* @return 1: the conditions have held for the seconds that the rule's text says | 0: they have not,
 * or it says none | SW_INVALID */
static int is_over(struct instance *i, struct scope *scope, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    int rc = sw_text_render(scope, i->rule->timeout, &text, err);
    long seconds = rc == 0 ? strtol(text, NULL, 10) : 0;
    if (rc < 0 || seconds <= 0)
        return rc;
    int64_t now_ms = sw_loop_now_ms(scope->rules->loop);
    if (!i->held)
        i->held_ms = now_ms;
    i->held = true;
    int64_t left_ms = i->held_ms + seconds * 1000 - now_ms;
    if (left_ms > 0)
        sw_instance_wait(i, left_ms);
    return left_ms <= 0;
}

/* The conditions hold. @return 1: they have for the rule's delay | 0 | SW_INVALID */
static int is_time(struct sw_rules *rules, struct instance *i, struct scope *scope,
                   struct sw_err *err)
{
    if (i->rule->timeout)
        return is_over(i, scope, err);
    if (i->held)
        return i->matured || !i->timer || !sw_timer_is_set(i->timer);
    int64_t ms = i->rule->after_ms * rules->opts.delay_percent / 100;
    int64_t most = ms * rules->opts.jitter_percent / 100;
    rules->rng = rules->rng * 6364136223846793005ULL + 1442695040888963407ULL;
    if (most > 0)
        ms += (int64_t)((rules->rng >> 33) % (uint64_t)(most + 1));
    i->held = true;
    if (ms > 0)
        sw_instance_wait(i, ms);
    return ms <= 0;
}

static int run_conditions(struct sw_rules *rules, struct instance *i, struct scope *scope,
                          struct sw_err *err)
{
    const struct rule *rule = i->rule;
    int rc = sw_clauses_hold(rule->when, rule->n_when, scope, err);
    struct todo todo = { i, rule->actions, rule->n_actions, false };
    if (rc < 0)
        return rc;
    bool holds = rc;
    if (!holds) {
        if (i->held && i->timer)
            sw_timer_stop(i->timer);
        i->held = i->matured = false;
        todo.list = rule->otherwise;
        todo.n = rule->n_otherwise;
    } else if ((rc = is_time(rules, i, scope, err)) <= 0) {
        return rc;
    }
    rc = todo.n ? sw_each_run(&rule->each, scope, run_actions, &todo, err) : 0;
    return rc >= 0 && todo.is_pending ? SW_PENDING : rc;
}

/* Find the instance's object and compare it with the rule's `for` clauses. *@out is counted; NULL:
 * it does not exist. @return 1: one matches, 0, or an error */
static int find_object(struct sw_rules *rules, const struct instance *i, struct scope *scope,
                       json_object **out, struct sw_err *err)
{
    const struct rule *rule = i->rule;
    struct sw_rules_ref ref = { .ns = *i->ns ? i->ns : NULL, .name = i->name };
    json_object *doc = NULL;
    for (size_t k = 0; k < rule->n_on && !doc; k++) {
        ref.api_version = rule->on[k].api_version;
        ref.kind = rule->on[k].kind;
        if (sw_clause_is_about(&rule->on[k], i->kind))
            doc = rules->backend.find(rules->backend.self, &ref);
    }
    sw_scope_init(scope, rules, *out = json_object_get(doc));
    for (size_t k = 0; doc && k < rule->n_on; k++) {
        int rc = sw_clause_is_about(&rule->on[k], i->kind)
                     ? sw_clause_matches(&rule->on[k], scope, doc, err)
                     : 0;
        if (rc)
            return rc;
    }
    return 0;
}

static void run_rule(struct sw_rules *rules, struct instance *i)
{
    SW_ERR(err);
    struct scope scope;
    SW_AUTO_JSON *doc = NULL;
    rules->n_considered = 0;
    int rc = find_object(rules, i, &scope, &doc, &err);
    if (rc == 0) {
        sw_scope_done(&scope);
        sw_instance_free(rules, i);
        return;
    }
    if (rc == 1 && !is_spinning(rules, i))
        rc = run_conditions(rules, i, &scope, &err);
    if (rc < 0) {
        if (rc != SW_PENDING)
            sw_instance_log(i, &err);
        sw_instance_wait(i, RETRY_MS);
    }
    if (rules->n_considered > MANY)
        i->rests_until_ms = sw_loop_now_ms(rules->loop) +
                            (int64_t)(rules->n_considered / CONSIDERED_A_MS);
    sw_instance_depend(rules, i);
    sw_scope_done(&scope);
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
