#include "emulator/rules/rules_read.h"

#include "data/yaml/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ACTIONS = 64 };

/* ---- actions ------------------------------------------------------------------------------------
 */

static int set_verb(struct reader *r, struct action *a, enum verb verb, json_object *body,
                    struct sw_err *err)
{
    bool list = verb == VERB_APPLY || verb == VERB_CREATE;
    bool fits = json_object_is_type(body, json_type_object) ||
                json_object_is_type(body, json_type_string) ||
                (list && json_object_is_type(body, json_type_array));
    if (a->body || a->verb == VERB_DELETE)
        return sw_read_fail(r, err, "an action has one verb");
    if (verb != VERB_DELETE && !fits)
        return sw_read_fail(r, err, "expected a mapping or a text");
    a->verb = verb;
    if (verb != VERB_DELETE)
        sw_read_keep(&a->body, body);
    return sw_read_templates(r, body, err);
}

#define ACTION_VERB(name, verb)                                                                    \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        return set_verb(r, into, verb, value, err);                                                \
    }
ACTION_VERB(read_patch, VERB_PATCH)
ACTION_VERB(read_status, VERB_STATUS)
ACTION_VERB(read_apply, VERB_APPLY)
ACTION_VERB(read_create, VERB_CREATE)

static int read_delete(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_boolean) || !json_object_get_boolean(value))
        return sw_read_fail(r, err, "expected true");
    return set_verb(r, into, VERB_DELETE, value, err);
}

static int read_target(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct action *a = into;
    a->has_target = true;
    return sw_read_target(r, &a->target, value, err);
}

static int read_owned(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_bool(r, &((struct action *)into)->owned, value, err);
}

static int read_if(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_text(r, &((struct action *)into)->condition, value, err);
}

static int read_now(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_bool(r, &((struct action *)into)->now, value, err);
}

static const struct field action_fields[] = {
    { "patch", read_patch },   { "status", read_status },
    { "apply", read_apply },   { "create", read_create },
    { "delete", read_delete }, { "target", read_target },
    { "owned", read_owned },   { "if", read_if },
    { "now", read_now },       { 0 },
};

enum { NO_VERB = -1 };

static int read_action(struct reader *r, struct action *a, json_object *value, struct sw_err *err)
{
    a->verb = (enum verb)NO_VERB;
    int rc = sw_read_fields(r, action_fields, a, value, err);
    if (rc < 0)
        return rc;
    if (a->verb == (enum verb)NO_VERB)
        return sw_read_fail(r, err, "expected one of patch, status, apply, create, delete");
    bool list = a->verb == VERB_APPLY || a->verb == VERB_CREATE;
    if (list && a->has_target)
        return sw_read_fail(r, err,
                            "target: not with apply or create, whose objects name themselves");
    if (!list && a->owned)
        return sw_read_fail(r, err, "owned: only with apply and create");
    if (a->now && a->verb != VERB_DELETE)
        return sw_read_fail(r, err, "now: only with delete");
    return 0;
}

static int read_actions(struct reader *r, struct action **list, size_t *n_list, json_object *value,
                        struct sw_err *err)
{
    size_t n = sw_json_len(value);
    if (!json_object_is_type(value, json_type_array) || !n || n > MAX_ACTIONS)
        return sw_read_fail(r, err, "expected a list of 1 to %d actions", MAX_ACTIONS);
    *list = sw_zalloc(n, sizeof **list);
    for (size_t i = 0; i < n; i++) {
        size_t up = sw_read_enter(r, NULL, i);
        int rc = read_action(r, &(*list)[(*n_list)++], sw_json_at(value, i), err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_do(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_actions(r, &rule->actions, &rule->n_actions, value, err);
}

static int read_otherwise(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_actions(r, &rule->otherwise, &rule->n_otherwise, value, err);
}

static int read_after(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_delay(r, &((struct rule *)into)->after_ms, value, err);
}

/* ---- images and pods ----------------------------------------------------------------------------
 */

static int read_match(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_regex(r, &((struct rule *)into)->match, value, err);
}

static int read_image_exists(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_bool(r, &((struct rule *)into)->exists, value, err);
}

static int read_exit_code(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct sw_pod_plan *plan = &((struct rule *)into)->plan;
    int64_t n = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
    if (n < 0 || n > 255)
        return sw_read_fail(r, err, "expected a number from 0 to 255");
    plan->has_exit_code = true;
    plan->exit_code = (int)n;
    return 0;
}

static int read_runs(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct sw_pod_plan *plan = &((struct rule *)into)->plan;
    plan->has_run = true;
    plan->run_ms = -1;
    if (sw_streq(json_object_get_string(value), "forever"))
        return 0;
    return sw_read_delay(r, &plan->run_ms, value, err);
}

static int read_ready(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    bool ready = true;
    int rc = sw_read_bool(r, &ready, value, err);
    ((struct rule *)into)->plan.never_ready = !ready;
    return rc;
}

static int read_log(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_text(r, &((struct rule *)into)->plan.log, value, err);
}

#define POD_CLAUSE(name, reader_of)                                                                \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        return reader_of(r, ((struct rule *)into)->on, value, err);                                \
    }
POD_CLAUSE(read_pod_name, sw_read_clause_name)
POD_CLAUSE(read_pod_namespace, sw_read_clause_namespace)
POD_CLAUSE(read_pod_labels, sw_read_clause_labels)
POD_CLAUSE(read_pod_where, sw_read_clause_where)

static const struct field pod_fields[] = {
    { "name", read_pod_name },     { "namespace", read_pod_namespace },
    { "labels", read_pod_labels }, { "where", read_pod_where },
    { "image", read_match },       { "exitCode", read_exit_code },
    { "runs", read_runs },         { "ready", read_ready },
    { "log", read_log },           { 0 },
};

static const struct field image_fields[] = {
    { "match", read_match },
    { "exists", read_image_exists },
    { "when", sw_read_when },
    { 0 },
};

/* ---- documents ----------------------------------------------------------------------------------
 */

static int read_ignored(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    (void)r, (void)into, (void)value, (void)err;
    return 0;
}

static int read_label(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    if (!json_object_is_type(value, json_type_string) || !json_object_get_string_len(value))
        return sw_read_fail(r, err, "expected a name");
    free(rule->name);
    rule->name = sw_strdup(json_object_get_string(value));
    return 0;
}

static int read_body(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_array) &&
        !json_object_is_type(value, json_type_string))
        return sw_read_fail(r, err, "expected a list of objects, or a text");
    sw_read_keep(&((struct rule *)into)->body, value);
    return sw_read_templates(r, value, err);
}

static const struct field rule_fields[] = {
    { "rule", read_label },
    { "for", sw_read_for },
    { "when", sw_read_when },
    { "each", sw_read_each },
    { "after", read_after },
    { "do", read_do },
    { "otherwise", read_otherwise },
    { "platform", read_ignored },
    { "realCluster", read_ignored },
    { "description", read_ignored },
    { 0 },
};

static const struct field objects_fields[] = {
    { "objects", read_body },        { "each", sw_read_each },        { "platform", read_ignored },
    { "realCluster", read_ignored }, { "description", read_ignored }, { 0 },
};

static const struct field scheduler_fields[] = {
    { "scheduler", read_label },     { "when", sw_read_when },        { "platform", read_ignored },
    { "realCluster", read_ignored }, { "description", read_ignored }, { 0 },
};

static struct rule *add_rule(struct reader *r, enum rule_type type)
{
    struct rule_set *set = r->set;
    SW_GROW(set->rules, set->n, set->cap);
    struct rule *rule = &set->rules[set->n++];
    *rule = (struct rule){ .type = type, .exists = true };
    rule->place = sw_printf("%s:%d", r->file, r->line);
    return rule;
}

static int check_rule(struct reader *r, const struct rule *rule, struct sw_err *err)
{
    if (!rule->n_on)
        return sw_read_fail(r, err, "for is needed");
    if (!rule->n_actions && !rule->n_otherwise)
        return sw_read_fail(r, err, "do is needed");
    if (rule->n_otherwise && !rule->n_when)
        return sw_read_fail(r, err, "otherwise: without a when it never happens");
    return 0;
}

static int load_rule(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_RULE);
    int rc = sw_read_fields(r, rule_fields, rule, doc, err);
    return rc < 0 ? rc : check_rule(r, rule, err);
}

static int load_objects(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_OBJECTS);
    int rc = sw_read_fields(r, objects_fields, rule, doc, err);
    bool wrong = rule->each.type == EACH_IN || rule->each.type == EACH_OBJECTS;
    return rc == 0 && wrong ? sw_read_fail(r, err, "each: objects take items or count") : rc;
}

static int load_scheduler(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_SCHEDULER);
    return sw_read_fields(r, scheduler_fields, rule, doc, err);
}

/* The rows of `images` and `pods`: each is a rule of its own, in their order. */
static int load_rows(struct reader *r, const char *key, enum rule_type type,
                     const struct field *fields, json_object *doc, struct sw_err *err)
{
    json_object *list = sw_json_get(doc, key);
    json_object_object_foreach(doc, other, unused)
    {
        (void)unused;
        if (!sw_streq(other, key) && !sw_streq(other, "platform") &&
            !sw_streq(other, "realCluster") && !sw_streq(other, "description"))
            return sw_read_fail(r, err, "unknown key '%s'", other);
    }
    if (!json_object_is_type(list, json_type_array))
        return sw_read_fail(r, err, "%s: expected a list", key);
    size_t top = sw_read_enter(r, key, 0);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t up = sw_read_enter(r, NULL, i);
        struct rule *rule = add_rule(r, type);
        if (type == RULE_POD) {
            rule->on = sw_zalloc(1, sizeof *rule->on);
            rule->n_on = 1;
            rule->on->api_version = sw_strdup("v1");
            rule->on->kind = sw_strdup("Pod");
        }
        int rc = sw_read_fields(r, fields, rule, sw_json_at(list, i), err);
        if (rc == 0 && type == RULE_IMAGE && !rule->match)
            rc = sw_read_fail(r, err, "match is needed");
        if (rc < 0)
            return rc;
        sw_read_leave(r, up);
    }
    sw_read_leave(r, top);
    return 0;
}

static int load_images(struct reader *r, json_object *doc, struct sw_err *err)
{
    return load_rows(r, "images", RULE_IMAGE, image_fields, doc, err);
}

static int load_pods(struct reader *r, json_object *doc, struct sw_err *err)
{
    return load_rows(r, "pods", RULE_POD, pod_fields, doc, err);
}

static const struct {
    const char *key;
    int (*load)(struct reader *r, json_object *doc, struct sw_err *err);
} documents[] = {
    { "rule", load_rule }, { "objects", load_objects },     { "images", load_images },
    { "pods", load_pods }, { "scheduler", load_scheduler },
};

/* Some of it a real cluster does itself, some of it only a real one needs. */
static int is_for_cluster(struct reader *r, json_object *doc, bool *out, struct sw_err *err)
{
    json_object *wanted = NULL;
    *out = true;
    if (!json_object_object_get_ex(doc, "realCluster", &wanted))
        return 0;
    if (!json_object_is_type(wanted, json_type_boolean))
        return sw_read_fail(r, err, "realCluster: expected true or false");
    *out = json_object_get_boolean(wanted) == r->set->real_cluster;
    return 0;
}

static int load_document(struct reader *r, json_object *doc, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_read_fail(r, err, "expected a mapping");
    bool here;
    int rc = is_for_cluster(r, doc, &here, err);
    if (rc < 0)
        return rc;
    json_object *platform = sw_json_get(doc, "platform");
    const char *wanted = json_object_get_string(platform);
    if (platform && !sw_streq(wanted, "openshift") && !sw_streq(wanted, "kubernetes"))
        return sw_read_fail(r, err, "platform: expected openshift or kubernetes");
    size_t had = r->set->n;
    for (size_t i = 0; i < SW_COUNT(documents); i++) {
        if (!json_object_object_get_ex(doc, documents[i].key, NULL))
            continue;
        rc = documents[i].load(r, doc, err);
        bool elsewhere = platform && r->set->platform && !sw_streq(wanted, r->set->platform);
        if (rc == 0 && (elsewhere || !here))
            sw_rule_set_cut(r->set, had);
        return rc;
    }
    return sw_read_fail(r, err, "expected one of rule, objects, images, pods, scheduler");
}

int sw_rule_set_load(struct rule_set *set, const char *file, const char *text, size_t len_bytes,
                     struct sw_err *err)
{
    struct sw_yaml_docs docs = { 0 };
    struct reader r = { .set = set, .file = file };
    int rc = sw_yaml_parse_all(text, len_bytes, &(struct sw_yaml_opts){ .file = file }, &docs, err);
    for (size_t i = 0; rc == 0 && i < docs.n_docs; i++) {
        r.line = docs.docs[i].line;
        r.path[0] = '\0';
        rc = load_document(&r, docs.docs[i].object, err);
    }
    sw_yaml_docs_done(&docs);
    return rc;
}
