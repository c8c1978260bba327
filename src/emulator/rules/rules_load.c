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
    if (a->verb != VERB_NONE)
        return sw_read_fail(r, err, "an action has one verb");
    a->verb = verb;
    if (verb == VERB_DELETE)
        return 0;
    if (!json_object_is_type(body, json_type_object) &&
        !json_object_is_type(body, json_type_string) &&
        !(list && json_object_is_type(body, json_type_array)))
        return sw_read_fail(r, err, "expected a mapping or a text");
    return sw_read_value(r, &a->body, body, err);
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

static const struct field action_fields[] = {
    { "patch", read_patch, 0 },
    { "status", read_status, 0 },
    { "apply", read_apply, 0 },
    { "create", read_create, 0 },
    { "delete", read_delete, 0 },
    { "target", read_target, 0 },
    { "owned", sw_read_bool, offsetof(struct action, owned) },
    { "if", sw_read_text, offsetof(struct action, condition) },
    { "now", sw_read_bool, offsetof(struct action, now) },
    { "evict", sw_read_bool, offsetof(struct action, evict) },
};

static int read_action(struct reader *r, struct action *a, json_object *value, struct sw_err *err)
{
    int rc = sw_read_fields(r, action_fields, SW_COUNT(action_fields), a, value, err);
    if (rc < 0)
        return rc;
    if (a->verb == VERB_NONE)
        return sw_read_fail(r, err, "expected one of patch, status, apply, create, delete");
    bool list = a->verb == VERB_APPLY || a->verb == VERB_CREATE;
    if (list && a->has_target)
        return sw_read_fail(r, err,
                            "target: not with apply or create, whose objects name themselves");
    if (!list && a->owned)
        return sw_read_fail(r, err, "owned: only with apply and create");
    if ((a->now || a->evict) && a->verb != VERB_DELETE)
        return sw_read_fail(r, err, "%s: only with delete", a->now ? "now" : "evict");
    if (a->now && a->evict)
        return sw_read_fail(r, err, "evict: not with now");
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

/* ---- images and pods ----------------------------------------------------------------------------
 */

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

static const struct field pod_fields[] = {
    { "name", sw_read_text, offsetof(struct rule, pod.name) },
    { "namespace", sw_read_text, offsetof(struct rule, pod.ns) },
    { "labels", sw_read_labels, offsetof(struct rule, pod) },
    { "where", sw_read_where, offsetof(struct rule, pod) },
    { "image", sw_read_regex, offsetof(struct rule, match) },
    { "exitCode", read_exit_code, 0 },
    { "runs", read_runs, 0 },
    { "ready", read_ready, 0 },
    { "log", sw_read_text, offsetof(struct rule, plan.log) },
    { "reason", sw_read_text, offsetof(struct rule, plan.reason) },
    { "message", sw_read_text, offsetof(struct rule, plan.message) },
};

static const struct field image_fields[] = {
    { "match", sw_read_regex, offsetof(struct rule, match) },
    { "exists", sw_read_bool, offsetof(struct rule, exists) },
    { "login", sw_read_text, offsetof(struct rule, login) },
    { "when", sw_read_when, 0 },
};

/* ---- documents ----------------------------------------------------------------------------------
 */

static int read_name(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    if (!json_object_is_type(value, json_type_string) || !json_object_get_string_len(value))
        return sw_read_fail(r, err, "expected a name");
    sw_text_set(&rule->name, json_object_get_string(value));
    return 0;
}

static int read_body(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_array) &&
        !json_object_is_type(value, json_type_string))
        return sw_read_fail(r, err, "expected a list of objects, or a text");
    return sw_read_value(r, into, value, err);
}

static const struct field rule_fields[] = {
    { "rule", read_name, 0 },
    { "for", sw_read_for, 0 },
    { "when", sw_read_when, 0 },
    { "each", sw_read_each, 0 },
    { "after", sw_read_delay, offsetof(struct rule, after_ms) },
    { "timeoutSeconds", sw_read_text, offsetof(struct rule, timeout) },
    { "do", read_do, 0 },
    { "otherwise", read_otherwise, 0 },
};

static const struct field objects_fields[] = {
    { "objects", read_body, offsetof(struct rule, body) },
    { "each", sw_read_each, 0 },
};

static const struct field scheduler_fields[] = {
    { "scheduler", read_name, 0 },
    { "when", sw_read_when, 0 },
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

static int load_rule(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_RULE);
    int rc = sw_read_fields(r, rule_fields, SW_COUNT(rule_fields), rule, doc, err);
    if (rc < 0)
        return rc;
    if (!rule->n_on)
        return sw_read_fail(r, err, "for is needed");
    if (!rule->n_actions && !rule->n_otherwise)
        return sw_read_fail(r, err, "do is needed");
    if (rule->n_otherwise && !rule->n_when)
        return sw_read_fail(r, err, "otherwise: without a when it never happens");
    return 0;
}

static int load_objects(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_OBJECTS);
    int rc = sw_read_fields(r, objects_fields, SW_COUNT(objects_fields), rule, doc, err);
    bool wrong = rule->each.type == EACH_IN || rule->each.type == EACH_OBJECTS;
    return rc == 0 && wrong ? sw_read_fail(r, err, "each: objects take items or count") : rc;
}

static int load_scheduler(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_SCHEDULER);
    return sw_read_fields(r, scheduler_fields, SW_COUNT(scheduler_fields), rule, doc, err);
}

/* The entries of `images` and `pods`: each is a rule of its own, in their order. */
static int load_entries(struct reader *r, const char *key, enum rule_type type,
                        const struct field *fields, size_t n_fields, json_object *doc,
                        struct sw_err *err)
{
    json_object *list = sw_json_get(doc, key);
    json_object_object_foreach(doc, other, unused)
    {
        (void)unused;
        if (!sw_streq(other, key))
            return sw_read_fail(r, err, "unknown key '%s'", other);
    }
    if (!json_object_is_type(list, json_type_array))
        return sw_read_fail(r, err, "%s: expected a list", key);
    size_t top = sw_read_enter(r, key, 0);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t up = sw_read_enter(r, NULL, i);
        struct rule *rule = add_rule(r, type);
        int rc = sw_read_fields(r, fields, n_fields, rule, sw_json_at(list, i), err);
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
    return load_entries(r, "images", RULE_IMAGE, image_fields, SW_COUNT(image_fields), doc, err);
}

static int load_pods(struct reader *r, json_object *doc, struct sw_err *err)
{
    return load_entries(r, "pods", RULE_POD, pod_fields, SW_COUNT(pod_fields), doc, err);
}

static const struct {
    const char *key;
    int (*load)(struct reader *r, json_object *doc, struct sw_err *err);
} documents[] = {
    { "rule", load_rule }, { "objects", load_objects },     { "images", load_images },
    { "pods", load_pods }, { "scheduler", load_scheduler },
};

static bool is_wanted(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        const size_t n = strcspn(at, ",");
        if (n == len && strncmp(at, name, len) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Whether a document with `trouble: NAME` is left out: it is not asked for; with `trouble:
 * "!NAME"`: it is. */
static bool is_untroubled(struct rule_set *set, const char *name)
{
    const bool without = *name == '!';
    name += without;
    if (!set->all_troubles)
        set->all_troubles = json_object_new_object();
    (void)json_object_object_add(set->all_troubles, name, json_object_new_boolean(true));
    return is_wanted(set->troubles, name) == without;
}

/* Read one document of a file. Its keys `platform`, `realCluster`, `trouble` and `description`,
 * which all kinds of documents may have, are removed. */
static int load_document(struct reader *r, json_object *doc, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_read_fail(r, err, "expected a mapping");
    bool left_out = false;
    json_object *real = NULL;
    if (json_object_object_get_ex(doc, "realCluster", &real)) {
        if (!json_object_is_type(real, json_type_boolean))
            return sw_read_fail(r, err, "realCluster: expected true or false");
        left_out = json_object_get_boolean(real) != r->set->real_cluster;
    }
    json_object *platform = sw_json_get(doc, "platform");
    if (platform) {
        const char *wanted = json_object_get_string(platform);
        if (!sw_streq(wanted, "openshift") && !sw_streq(wanted, "kubernetes"))
            return sw_read_fail(r, err, "platform: expected openshift or kubernetes");
        left_out |= r->set->platform && !sw_streq(wanted, r->set->platform);
    }
    json_object *cloud = sw_json_get(doc, "cloud");
    if (cloud && !json_object_is_type(cloud, json_type_string))
        return sw_read_fail(r, err, "cloud: expected a name");
    if (cloud)
        left_out |= r->set->cloud && !sw_streq(json_object_get_string(cloud), r->set->cloud);
    json_object *trouble = sw_json_get(doc, "trouble");
    if (trouble && !json_object_is_type(trouble, json_type_string))
        return sw_read_fail(r, err, "trouble: expected a name");
    if (trouble)
        left_out |= is_untroubled(r->set, json_object_get_string(trouble));
    json_object_object_del(doc, "trouble");
    json_object_object_del(doc, "realCluster");
    json_object_object_del(doc, "platform");
    json_object_object_del(doc, "cloud");
    json_object_object_del(doc, "description");
    size_t n = r->set->n;
    for (size_t i = 0; i < SW_COUNT(documents); i++) {
        if (!json_object_object_get_ex(doc, documents[i].key, NULL))
            continue;
        int rc = documents[i].load(r, doc, err);
        if (rc == 0 && left_out)
            sw_rule_set_cut(r->set, n);
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
