#include "emulator/rules/rules_internal.h"

#include "data/text/time.h"

#include <stdlib.h>
#include <string.h>

/* Of the annotations on pods. */
static const char prefix[] = "emulator.slipway.dev/";

/* ---- images -------------------------------------------------------------------------------------
 */

enum { MAX_GROUPS = 10 };

/* The regular expression's groups in @text, the whole first; NULL: no match. New. */
static json_object *groups_of(const regex_t *re, const char *text)
{
    regmatch_t at[MAX_GROUPS];
    if (regexec(re, text, MAX_GROUPS, at, 0) != 0)
        return NULL;
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < MAX_GROUPS && i <= re->re_nsub; i++) {
        bool there = at[i].rm_so >= 0;
        json_object_array_add(
            list,
            there ? json_object_new_string_len(text + at[i].rm_so, (int)(at[i].rm_eo - at[i].rm_so))
                  : sw_str(""));
    }
    return list;
}

/* Evaluate the conditions of an image or a scheduler. */
static bool evaluate(struct sw_rules *rules, struct instance *i)
{
    SW_ERR(err);
    struct scope scope;
    const struct rule *rule = i->rule;
    sw_scope_init(&scope, rules, NULL);
    scope.match = i->image ? groups_of(rule->match, i->image) : NULL;
    int rc = sw_clauses_hold(rule->when, rule->n_when, &scope, &err);
    sw_instance_depend(rules, i);
    sw_scope_done(&scope);
    if (rc < 0)
        sw_instance_log(i, &err);
    return rc == 1 && rule->exists;
}

void sw_image_run(struct sw_rules *rules, struct instance *i)
{
    bool old = i->result;
    i->result = evaluate(rules, i);
    if (i->result != old && rules->opts.on_image)
        rules->opts.on_image(rules->opts.arg, i->image);
}

/* The first rule that is about the image; NULL: there is none. */
static const struct rule *image_rule(const struct sw_rules *rules, const char *image)
{
    for (size_t i = 0; i < rules->set.n; i++) {
        const struct rule *rule = &rules->set.rules[i];
        if (rule->type == RULE_IMAGE && regexec(rule->match, image, 0, NULL, 0) == 0)
            return rule;
    }
    return NULL;
}

const char *sw_rules_image_login(struct sw_rules *rules, const char *image)
{
    const struct rule *rule = image_rule(rules, image);
    return rule ? rule->login : NULL;
}

bool sw_rules_image(struct sw_rules *rules, const char *image)
{
    struct lh_entry *entry = lh_table_lookup_entry(rules->images, image);
    if (entry) {
        const struct instance *known = lh_entry_v(entry);
        return !known || known->result;
    }
    const struct rule *rule = image_rule(rules, image);
    struct instance *i = rule ? sw_instance_new(rules, rule) : NULL;
    if (i) {
        i->image = sw_strdup(image);
        i->result = evaluate(rules, i);
    }
    (void)lh_table_insert(rules->images, sw_strdup(image), i); /* NULL: no rule is for it */
    return !i || i->result;
}

/* ---- schedulers ---------------------------------------------------------------------------------
 */

void sw_scheduler_run(struct sw_rules *rules, struct instance *i)
{
    bool old = i->result;
    i->result = evaluate(rules, i);
    if (i->result && !old && rules->opts.on_scheduler)
        rules->opts.on_scheduler(rules->opts.arg);
}

bool sw_rules_serve_scheduler(struct sw_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->set.n; i++) {
        const struct rule *rule = &rules->set.rules[i];
        const struct instance *one = rules->instances[i];
        if (rule->type == RULE_SCHEDULER && sw_streq(rule->name, name) && one && one->result)
            return true;
    }
    return false;
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

static bool has_image(json_object *pod, const regex_t *re)
{
    json_object *list = sw_json_find(pod, "spec", "containers", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (regexec(re, sw_json_str(sw_json_at(list, i), "", "image", NULL), 0, NULL, 0) == 0)
            return true;
    return false;
}

/* The annotation for this container, else the pod's; borrowed. */
static const char *annotation(json_object *pod, const char *what, const char *container,
                              bool *is_own)
{
    SW_AUTO_CHARS *own = sw_printf("%s%s.%s", prefix, what, container);
    SW_AUTO_CHARS *common = sw_printf("%s%s", prefix, what);
    const char *value = sw_obj_annotation(pod, own);
    *is_own = value != NULL;
    return value ? value : sw_obj_annotation(pod, common);
}

void sw_rules_plan_pod(struct sw_rules *rules, json_object *pod, const char *container,
                       struct sw_pod_plan *out)
{
    struct scope scope;
    sw_scope_init(&scope, rules, pod);
    const struct rule *rule = NULL; /* the first that matches */
    for (size_t i = 0; !rule && i < rules->set.n; i++) {
        const struct rule *one = &rules->set.rules[i];
        if (one->type == RULE_POD && (!one->match || has_image(pod, one->match)) &&
            sw_clause_matches(&one->pod, &scope, pod, NULL) == 1)
            rule = one;
    }
    *out = rule ? rule->plan : (struct sw_pod_plan){ 0 };
    out->log = NULL;
    if (rule && rule->plan.log) {
        SW_ERR(err);
        if (sw_text_render(&scope, rule->plan.log, &out->log, &err) < 0)
            out->log = sw_printf("%s: %s\n", rule->place, sw_err_text(&err));
    }
    bool own;
    const char *text = annotation(pod, "exit-code", container, &own);
    if (text) {
        out->has_exit_code = true;
        out->exit_code = (int)(strtol(text, NULL, 10) & 255);
        out->names_container = own;
    }
    text = annotation(pod, "run", container, &own);
    if (text) {
        out->has_run = true;
        if (sw_span_parse(text, &out->run_ms, NULL) < 0)
            out->run_ms = -1; /* forever */
    }
    text = annotation(pod, "ready", container, &own);
    if (text)
        out->never_ready = sw_streq(text, "false");
    text = annotation(pod, "reason", container, &own);
    if (text)
        out->reason = (char *)text;
    text = annotation(pod, "message", container, &own);
    if (text)
        out->message = (char *)text;
    text = annotation(pod, "log", container, &own);
    if (text) {
        free(out->log);
        out->log = sw_printf("%s\n", text);
    }
    sw_scope_done(&scope);
}
