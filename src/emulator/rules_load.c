#include "emulator/rules_impl.h"

#include "data/quantity.h"
#include "data/yaml.h"

#include <json-c/linkhash.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where we are while reading, for messages: "file:line: do[1].status: ...". */
struct reader {
    struct rule_set *set;
    const char *file;
    int line;
    char path[256];
};

enum { MAX_CLAUSES = 64, MAX_ACTIONS = 64 };

/* A key of a mapping and what reads its value into the structure at hand. */
struct field {
    const char *key;
    int (*read)(struct reader *r, void *into, json_object *value, struct sw_err *err);
};

static int fail(const struct reader *r, struct sw_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(const struct reader *r, struct sw_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)sw_err_vset(err, SW_INVALID, fmt, ap);
    va_end(ap);
    return sw_err_wrap(err, SW_INVALID, "%s:%d%s%s", r->file, r->line, *r->path ? ": " : "",
                       r->path);
}

/* Go down to a key or index of the path; @return what comes back up. */
static size_t enter(struct reader *r, const char *key, long index)
{
    size_t len = strlen(r->path), room = sizeof r->path - len;
    if (index >= 0)
        (void)snprintf(r->path + len, room, "[%ld]", index);
    else
        (void)snprintf(r->path + len, room, "%s%s", len ? "." : "", key);
    return len;
}

static void leave(struct reader *r, size_t len)
{
    r->path[len] = '\0';
}

static int read_fields(struct reader *r, const struct field *fields, void *into, json_object *map,
                       struct sw_err *err)
{
    if (!json_object_is_type(map, json_type_object))
        return fail(r, err, "expected a mapping, found %s",
                    json_type_to_name(json_object_get_type(map)));
    json_object_object_foreach(map, key, value)
    {
        const struct field *f = fields;
        while (f->key && !sw_streq(f->key, key))
            f++;
        if (!f->key)
            return fail(r, err, "unknown key '%s'", key);
        size_t up = enter(r, key, -1);
        int rc = f->read(r, into, value, err);
        leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- texts --------------------------------------------------------------------------------------
 */

/* Templates are parsed once, here; equal texts are one. */
static int add_template(struct reader *r, const char *text, struct sw_err *err)
{
    struct rule_set *set = r->set;
    if (!sw_text_is_template(text) || lh_table_lookup_entry(set->names, text))
        return 0;
    SW_AUTO_CHARS *name = sw_printf("%s:%d:%s:%d", r->file, r->line, r->path,
                                    lh_table_length(set->names));
    SW_ERR(inner);
    if (sw_template_add(set->templates, name, text, strlen(text), &inner) < 0)
        return fail(r, err, "%s", sw_err_text(&inner));
    (void)lh_table_insert(set->names, sw_strdup(text), SW_TAKE(name));
    return 0;
}

/* All templates in a tree, keys too. */
static int add_templates(struct reader *r, json_object *tree, struct sw_err *err)
{
    int rc = 0;
    if (json_object_is_type(tree, json_type_string))
        return add_template(r, json_object_get_string(tree), err);
    for (size_t i = 0;
         rc == 0 && json_object_is_type(tree, json_type_array) && i < sw_json_len(tree); i++) {
        size_t up = enter(r, NULL, (long)i);
        rc = add_templates(r, sw_json_at(tree, i), err);
        leave(r, up);
    }
    if (rc < 0 || !json_object_is_type(tree, json_type_object))
        return rc;
    json_object_object_foreach(tree, key, value)
    {
        size_t up = enter(r, key, -1);
        rc = add_template(r, key, err);
        rc = rc < 0 ? rc : add_templates(r, value, err);
        leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_text(struct reader *r, char **into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_string))
        return fail(r, err, "expected a string, found %s",
                    json_type_to_name(json_object_get_type(value)));
    free(*into);
    *into = sw_strdup(json_object_get_string(value));
    return add_template(r, *into, err);
}

static int read_bool(struct reader *r, bool *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_boolean))
        return fail(r, err, "expected true or false");
    *into = json_object_get_boolean(value);
    return 0;
}

static int read_delay(struct reader *r, int64_t *into, json_object *value, struct sw_err *err)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value)
                                                                    : "";
    char *end;
    long n = strtol(text, &end, 10);
    for (size_t i = 0; end != text && n >= 0 && n < 1000000 && i < SW_COUNT(units); i++) {
        if (sw_streq(end, units[i].unit)) {
            *into = n * units[i].ms;
            return 0;
        }
    }
    return fail(r, err, "expected a time such as 200ms, 2s or 1m");
}

static int read_regex(struct reader *r, regex_t **into, json_object *value, struct sw_err *err)
{
    char why[128];
    if (!json_object_is_type(value, json_type_string))
        return fail(r, err, "expected a regular expression");
    regex_t *re = sw_zalloc(1, sizeof *re);
    int rc = regcomp(re, json_object_get_string(value), REG_EXTENDED);
    if (rc) {
        (void)regerror(rc, re, why, sizeof why);
        free(re);
        return fail(r, err, "'%s': %s", json_object_get_string(value), why);
    }
    if (*into) {
        regfree(*into);
        free(*into);
    }
    *into = re;
    return 0;
}

static int read_ignored(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    (void)r, (void)into, (void)value, (void)err;
    return 0;
}

static void keep(json_object **into, json_object *value)
{
    json_object_put(*into);
    *into = json_object_get(value);
}

/* ---- clauses ------------------------------------------------------------------------------------
 */

#define WANT_VALUE(name, member)                                                                   \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        keep(&((struct want *)into)->member, value);                                               \
        return add_templates(r, value, err);                                                       \
    }
WANT_VALUE(read_is, is)
WANT_VALUE(read_not, is_not)

static int read_bound(struct reader *r, json_object **into, json_object *value, struct sw_err *err)
{
    struct sw_quantity q;
    keep(into, value);
    return sw_quantity_from_json(value, &q, NULL) < 0
               ? fail(r, err, "expected a number or a quantity")
               : 0;
}

static int read_at_least(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bound(r, &((struct want *)into)->at_least, value, err);
}

static int read_at_most(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bound(r, &((struct want *)into)->at_most, value, err);
}

static int read_exists(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    bool yes = false;
    int rc = read_bool(r, &yes, value, err);
    ((struct want *)into)->exists = yes;
    return rc;
}

static int read_matches(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_regex(r, &((struct want *)into)->re, value, err);
}

static const struct field want_fields[] = {
    { "is", read_is },
    { "not", read_not },
    { "exists", read_exists },
    { "atLeast", read_at_least },
    { "atMost", read_at_most },
    { "matches", read_matches },
    { 0 },
};

static int read_want(struct reader *r, struct want *want, const char *path, json_object *value,
                     struct sw_err *err)
{
    SW_ERR(inner);
    want->exists = -1;
    want->path_text = sw_strdup(path);
    if (*path != '.' || sw_jsonpath_compile(path, &want->path, &inner) < 0)
        return fail(r, err, "no path: %s",
                    *path != '.' ? "it begins with a dot" : sw_err_text(&inner));
    if (json_object_is_type(value, json_type_object))
        return read_fields(r, want_fields, want, value, err);
    return read_is(r, want, value, err);
}

static int read_where(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_object))
        return fail(r, err, "expected a mapping from paths to what is wanted there");
    c->wants = sw_realloc(c->wants, c->n_wants + sw_json_len(value) + 1, sizeof *c->wants);
    json_object_object_foreach(value, path, wanted)
    {
        size_t up = enter(r, path, -1);
        c->wants[c->n_wants] = (struct want){ 0 };
        int rc = read_want(r, &c->wants[c->n_wants++], path, wanted, err);
        leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static bool has_template(json_object *tree)
{
    bool any = json_object_is_type(tree, json_type_string) &&
               sw_text_is_template(json_object_get_string(tree));
    if (json_object_is_type(tree, json_type_object)) {
        json_object_object_foreach(tree, key, value)
        {
            any |= sw_text_is_template(key) || has_template(value);
        }
    }
    return any;
}

static int read_labels(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    SW_ERR(inner);
    int rc = SW_INVALID;
    keep(&c->labels, value);
    c->labels_vary = has_template(value);
    if (c->labels_vary)
        return add_templates(r, value, err);
    if (json_object_is_type(value, json_type_string))
        rc = sw_selector_parse(json_object_get_string(value), &c->selector, &inner);
    else if (json_object_is_type(value, json_type_object))
        rc = sw_selector_from_map(value, &c->selector, &inner);
    return rc < 0 ? fail(r, err, "no selector: %s", sw_err_text(&inner)) : 0;
}

static int read_count(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_object) ||
        (!sw_json_get(value, "min") && !sw_json_get(value, "max")))
        return fail(r, err, "expected {min: N, max: N}");
    c->min = sw_json_int(value, 0, "min", NULL);
    c->max = sw_json_int(value, INT64_MAX, "max", NULL);
    return 0;
}

static int read_none(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    bool none = false;
    int rc = read_bool(r, &none, value, err);
    if (none) {
        c->min = 0;
        c->max = 0;
    }
    return rc;
}

#define CLAUSE_TEXT(name, member)                                                                  \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        return read_text(r, &((struct clause *)into)->member, value, err);                         \
    }
CLAUSE_TEXT(read_api_version, api_version)
CLAUSE_TEXT(read_kind, kind)
CLAUSE_TEXT(read_name, name)
CLAUSE_TEXT(read_namespace, ns)
CLAUSE_TEXT(read_node, node)
CLAUSE_TEXT(read_as, as)
CLAUSE_TEXT(read_as_list, as_list)

static const struct field on_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", read_name },
    { "namespace", read_namespace },
    { "labels", read_labels },
    { "where", read_where },
    { 0 },
};

static const struct field when_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", read_name },
    { "namespace", read_namespace },
    { "labels", read_labels },
    { "where", read_where },
    { "node", read_node },
    { "as", read_as },
    { "asList", read_as_list },
    { "count", read_count },
    { "none", read_none },
    { 0 },
};

static const struct field target_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", read_name },
    { "namespace", read_namespace },
    { 0 },
};

static int read_clause(struct reader *r, const struct field *fields, struct clause *c,
                       json_object *value, struct sw_err *err)
{
    c->min = 1;
    c->max = INT64_MAX;
    int rc = read_fields(r, fields, c, value, err);
    if (rc < 0)
        return rc;
    if (!c->kind || !c->api_version)
        return fail(r, err, "apiVersion and kind are needed");
    if (c->node && !sw_streq(c->kind, "Pod"))
        return fail(r, err, "node: only for Pods");
    return 0;
}

/* One clause or a list of them. */
static int read_clauses(struct reader *r, const struct field *fields, struct clause **list,
                        size_t *n_list, json_object *value, struct sw_err *err)
{
    bool many = json_object_is_type(value, json_type_array);
    size_t n = many ? sw_json_len(value) : 1;
    if (n > MAX_CLAUSES || *n_list)
        return fail(r, err, n > MAX_CLAUSES ? "too many clauses" : "given twice");
    *list = sw_zalloc(n + 1, sizeof **list);
    for (size_t i = 0; i < n; i++) {
        size_t up = many ? enter(r, NULL, (long)i) : strlen(r->path);
        int rc = read_clause(r, fields, &(*list)[(*n_list)++], many ? sw_json_at(value, i) : value,
                             err);
        leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_on(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, on_fields, &rule->on, &rule->n_on, value, err);
}

static int read_when(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, when_fields, &rule->when, &rule->n_when, value, err);
}

/* ---- each ---------------------------------------------------------------------------------------
 */

static int read_each(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct each *each = &((struct rule *)into)->each;
    json_object *in = sw_json_get(value, "in"), *items = sw_json_get(value, "items");
    json_object *count = sw_json_get(value, "count");
    SW_ERR(inner);
    if (sw_json_get(value, "kind")) {
        each->type = EACH_OBJECTS;
        return read_clause(r, when_fields, &each->clause, value, err);
    }
    if (sw_json_len(value) != 1 || !(in || items || count))
        return fail(r, err, "expected one of in, items, count, or a kind");
    if (items) {
        if (!json_object_is_type(items, json_type_array))
            return fail(r, err, "items: expected a list");
        each->type = EACH_ITEMS;
        keep(&each->items, items);
        return add_templates(r, items, err);
    }
    if (count) {
        each->type = EACH_COUNT;
        return read_text(r, &each->count, count, err);
    }
    each->type = EACH_IN;
    if (sw_jsonpath_compile(json_object_get_string(in), &each->path, &inner) < 0)
        return fail(r, err, "in: %s", sw_err_text(&inner));
    return 0;
}

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
        return fail(r, err, "an action has one verb");
    if (verb != VERB_DELETE && !fits)
        return fail(r, err, "expected a mapping or a text");
    a->verb = verb;
    if (verb != VERB_DELETE)
        keep(&a->body, body);
    return add_templates(r, body, err);
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
        return fail(r, err, "expected true");
    return set_verb(r, into, VERB_DELETE, value, err);
}

static int read_target(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct action *a = into;
    a->has_target = true;
    int rc = read_clause(r, target_fields, &a->target, value, err);
    return rc == 0 && !a->target.name ? fail(r, err, "name is needed") : rc;
}

static int read_owned(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bool(r, &((struct action *)into)->owned, value, err);
}

static int read_if(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_text(r, &((struct action *)into)->condition, value, err);
}

static const struct field action_fields[] = {
    { "patch", read_patch },   { "status", read_status }, { "apply", read_apply },
    { "create", read_create }, { "delete", read_delete }, { "target", read_target },
    { "owned", read_owned },   { "if", read_if },         { 0 },
};

enum { NO_VERB = -1 };

static int read_action(struct reader *r, struct action *a, json_object *value, struct sw_err *err)
{
    a->verb = (enum verb)NO_VERB;
    int rc = read_fields(r, action_fields, a, value, err);
    if (rc < 0)
        return rc;
    if (a->verb == (enum verb)NO_VERB)
        return fail(r, err, "expected one of patch, status, apply, create, delete");
    bool list = a->verb == VERB_APPLY || a->verb == VERB_CREATE;
    if (list && a->has_target)
        return fail(r, err, "target: not with apply or create, whose objects name themselves");
    if (!list && a->owned)
        return fail(r, err, "owned: only with apply and create");
    return 0;
}

static int read_actions(struct reader *r, struct action **list, size_t *n_list, json_object *value,
                        struct sw_err *err)
{
    size_t n = sw_json_len(value);
    if (!json_object_is_type(value, json_type_array) || !n || n > MAX_ACTIONS)
        return fail(r, err, "expected a list of 1 to %d actions", MAX_ACTIONS);
    *list = sw_zalloc(n, sizeof **list);
    for (size_t i = 0; i < n; i++) {
        size_t up = enter(r, NULL, (long)i);
        int rc = read_action(r, &(*list)[(*n_list)++], sw_json_at(value, i), err);
        leave(r, up);
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
    return read_delay(r, &((struct rule *)into)->after_ms, value, err);
}

/* ---- images and pods ----------------------------------------------------------------------------
 */

static int read_match(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_regex(r, &((struct rule *)into)->match, value, err);
}

static int read_image_exists(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bool(r, &((struct rule *)into)->exists, value, err);
}

static int read_exit_code(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct sw_pod_plan *plan = &((struct rule *)into)->plan;
    int64_t n = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
    if (n < 0 || n > 255)
        return fail(r, err, "expected a number from 0 to 255");
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
    return read_delay(r, &plan->run_ms, value, err);
}

static int read_ready(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    bool ready = true;
    int rc = read_bool(r, &ready, value, err);
    ((struct rule *)into)->plan.never_ready = !ready;
    return rc;
}

static int read_log(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_text(r, &((struct rule *)into)->plan.log, value, err);
}

#define POD_CLAUSE(name, reader_of)                                                                \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        return reader_of(r, ((struct rule *)into)->on, value, err);                                \
    }
POD_CLAUSE(read_pod_name, read_name)
POD_CLAUSE(read_pod_namespace, read_namespace)
POD_CLAUSE(read_pod_labels, read_labels)
POD_CLAUSE(read_pod_where, read_where)

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
    { "when", read_when },
    { 0 },
};

/* ---- documents ----------------------------------------------------------------------------------
 */

static int read_label(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    if (!json_object_is_type(value, json_type_string) || !json_object_get_string_len(value))
        return fail(r, err, "expected a name");
    free(rule->name);
    rule->name = sw_strdup(json_object_get_string(value));
    return 0;
}

static int read_body(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_array) &&
        !json_object_is_type(value, json_type_string))
        return fail(r, err, "expected a list of objects, or a text");
    keep(&((struct rule *)into)->body, value);
    return add_templates(r, value, err);
}

static const struct field rule_fields[] = {
    { "rule", read_label },          { "for", read_on },
    { "when", read_when },           { "each", read_each },
    { "after", read_after },         { "do", read_do },
    { "otherwise", read_otherwise }, { "platform", read_ignored },
    { "description", read_ignored }, { 0 },
};

static const struct field objects_fields[] = {
    { "objects", read_body },
    { "each", read_each },
    { "platform", read_ignored },
    { "description", read_ignored },
    { 0 },
};

static const struct field scheduler_fields[] = {
    { "scheduler", read_label },
    { "when", read_when },
    { "platform", read_ignored },
    { "description", read_ignored },
    { 0 },
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
        return fail(r, err, "for is needed");
    if (!rule->n_actions && !rule->n_otherwise)
        return fail(r, err, "do is needed");
    if (rule->n_otherwise && !rule->n_when)
        return fail(r, err, "otherwise: without a when it never happens");
    return 0;
}

static int load_rule(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_RULE);
    int rc = read_fields(r, rule_fields, rule, doc, err);
    return rc < 0 ? rc : check_rule(r, rule, err);
}

static int load_objects(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_OBJECTS);
    int rc = read_fields(r, objects_fields, rule, doc, err);
    bool wrong = rule->each.type == EACH_IN || rule->each.type == EACH_OBJECTS;
    return rc == 0 && wrong ? fail(r, err, "each: objects take items or count") : rc;
}

static int load_scheduler(struct reader *r, json_object *doc, struct sw_err *err)
{
    struct rule *rule = add_rule(r, RULE_SCHEDULER);
    return read_fields(r, scheduler_fields, rule, doc, err);
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
            !sw_streq(other, "description"))
            return fail(r, err, "unknown key '%s'", other);
    }
    if (!json_object_is_type(list, json_type_array))
        return fail(r, err, "%s: expected a list", key);
    size_t top = enter(r, key, -1);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t up = enter(r, NULL, (long)i);
        struct rule *rule = add_rule(r, type);
        if (type == RULE_POD) {
            rule->on = sw_zalloc(1, sizeof *rule->on);
            rule->n_on = 1;
            rule->on->api_version = sw_strdup("v1");
            rule->on->kind = sw_strdup("Pod");
        }
        int rc = read_fields(r, fields, rule, sw_json_at(list, i), err);
        if (rc == 0 && type == RULE_IMAGE && !rule->match)
            rc = fail(r, err, "match is needed");
        if (rc < 0)
            return rc;
        leave(r, up);
    }
    leave(r, top);
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

static int load_document(struct reader *r, json_object *doc, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return fail(r, err, "expected a mapping");
    json_object *platform = sw_json_get(doc, "platform");
    const char *wanted = json_object_get_string(platform);
    if (platform && !sw_streq(wanted, "openshift") && !sw_streq(wanted, "kubernetes"))
        return fail(r, err, "platform: expected openshift or kubernetes");
    size_t had = r->set->n;
    for (size_t i = 0; i < SW_COUNT(documents); i++) {
        if (!json_object_object_get_ex(doc, documents[i].key, NULL))
            continue;
        int rc = documents[i].load(r, doc, err);
        bool elsewhere = platform && r->set->platform && !sw_streq(wanted, r->set->platform);
        if (rc == 0 && elsewhere)
            sw_rule_set_cut(r->set, had);
        return rc;
    }
    return fail(r, err, "expected one of rule, objects, images, pods, scheduler");
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
