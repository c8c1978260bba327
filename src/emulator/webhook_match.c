/* webhook_match: which writes a webhook is asked about. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "emulator/webhook.h"

static bool lists(json_object *list, const char *value)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *item = json_object_get_string(sw_json_at(list, i));
        if (strcmp(item, "*") == 0 || strcmp(item, value) == 0)
            return true;
    }
    return false;
}

/* A resource with or without subresource; a star for any; a star alone is no subresource. */
static bool names_resource(json_object *list, const char *plural, const char *sub)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *item = json_object_get_string(sw_json_at(list, i));
        const char *slash = strchr(item, '/');
        SW_AUTO_CHARS *main = sw_strndup(item, slash ? (size_t)(slash - item) : strlen(item));
        bool same = strcmp(main, "*") == 0 || strcmp(main, plural) == 0;
        bool same_sub = slash ? strcmp(slash + 1, "*") == 0 || sw_streq(slash + 1, sub) : !sub;
        if (same && same_sub)
            return true;
    }
    return false;
}

static const char *operation(const struct sw_write *w)
{
    static const char *const names[] = {
        [SW_OP_CREATE] = "CREATE", [SW_OP_UPDATE] = "UPDATE", [SW_OP_DELETE] = "DELETE"
    };
    return names[w->op];
}

/* matchPolicy Equivalent, the default: any version of the kind will do. */
static bool names_version(json_object *hook, json_object *rule, const struct sw_write *w)
{
    json_object *list = sw_json_get(rule, "apiVersions");
    bool exact = sw_streq(sw_json_str(hook, NULL, "matchPolicy", NULL), "Exact");
    if (exact)
        return lists(list, w->opts->version ? w->opts->version : w->kind->versions[0]);
    for (size_t i = 0; w->kind->versions[i]; i++)
        if (lists(list, w->kind->versions[i]))
            return true;
    return false;
}

static bool names_scope(json_object *rule, const struct sw_write *w)
{
    const char *scope = sw_json_str(rule, "*", "scope", NULL);
    return strcmp(scope, "*") == 0 ||
           strcmp(scope, w->kind->namespaced ? "Namespaced" : "Cluster") == 0;
}

static bool rules_match(json_object *hook, const struct sw_write *w)
{
    json_object *rules = sw_json_get(hook, "rules");
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i);
        if (lists(sw_json_get(rule, "operations"), operation(w)) &&
            lists(sw_json_get(rule, "apiGroups"), w->kind->group) && names_version(hook, rule, w) &&
            names_resource(sw_json_get(rule, "resources"), w->kind->plural, w->subresource) &&
            names_scope(rule, w))
            return true;
    }
    return false;
}

/* ---- selectors ----------------------------------------------------------------------------------
 */

static int selects(json_object *selector, json_object *labels, struct sw_err *err)
{
    struct sw_selector parsed;
    if (!sw_json_len(selector))
        return 1;
    int rc = sw_selector_from_object(selector, &parsed, err);
    if (rc < 0)
        return rc;
    bool match = sw_selector_matches(&parsed, labels);
    sw_selector_done(&parsed);
    return match;
}

static json_object *labels_of(json_object *doc)
{
    return sw_json_find(doc, "metadata", "labels", NULL);
}

/* By the labels of the object's namespace; a Namespace by its own; what is in none: always. */
static int namespace_matches(json_object *hook, const struct sw_write *w, struct sw_err *err)
{
    bool is_namespace = sw_write_is(w, "", "Namespace");
    json_object *doc = w->doc ? w->doc : w->old;
    if (!w->kind->namespaced && !is_namespace)
        return 1;
    if (!is_namespace)
        doc = sw_store_get(w->store, sw_store_kind(w->store, "", "Namespace"), NULL, w->ns);
    return selects(sw_json_get(hook, "namespaceSelector"), labels_of(doc), err);
}

static int object_matches(json_object *hook, const struct sw_write *w, struct sw_err *err)
{
    json_object *selector = sw_json_get(hook, "objectSelector");
    int rc = w->op != SW_OP_DELETE && w->doc ? selects(selector, labels_of(w->doc), err) : 0;
    return rc == 0 && w->old ? selects(selector, labels_of(w->old), err) : rc;
}

/* ---- matchConditions ----------------------------------------------------------------------------
 * The part of CEL that configurations use to leave out users, kinds and labelled objects: paths
 * into request, object and oldObject, has(), !, ==, !=, &&, ||, parentheses, texts, numbers,
 * booleans. */

struct cel {
    const char *at;
    json_object *root; /* {request, object, oldObject} */
    int depth;
    struct sw_err *err;
};

/* What a part of an expression comes to. */
struct term {
    json_object *value; /* counted; NULL: null */
    bool bad;           /* cannot be said: a key is missing. Decides nothing by itself */
};

static int wrong(struct cel *c)
{
    return sw_err_set(c->err, SW_INVALID, "cannot be evaluated here at '%.20s'", c->at);
}

static void skip(struct cel *c)
{
    c->at += strspn(c->at, " \t\n");
}

static bool take(struct cel *c, const char *token)
{
    skip(c);
    size_t len = strlen(token);
    if (strncmp(c->at, token, len) != 0)
        return false;
    c->at += len;
    return true;
}

static void set_bool(struct term *t, bool value)
{
    json_object_put(t->value);
    t->value = json_object_new_boolean(value);
}

static int cel_or(struct cel *c, struct term *out);

/* ['key'] */
static int cel_index(struct cel *c, char **key)
{
    c->at++;
    skip(c);
    const char *end = *c->at == '\'' || *c->at == '"' ? strchr(c->at + 1, *c->at) : NULL;
    if (!end || end[1] != ']')
        return wrong(c);
    *key = sw_strndup(c->at + 1, (size_t)(end - c->at - 1));
    c->at = end + 2;
    return 0;
}

static int cel_name(struct cel *c, char **key)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strspn(c->at, word);
    if (!len || c->at[len] == '(')
        return wrong(c); /* a function or macro that is not known */
    *key = sw_strndup(c->at, len);
    c->at += len;
    return 0;
}

static int cel_path(struct cel *c, struct term *out)
{
    json_object *value = c->root;
    bool there = true;
    for (bool first = true; first || *c->at == '.' || *c->at == '['; first = false) {
        SW_AUTO_CHARS *key = NULL;
        json_object *next = NULL;
        bool index = !first && *c->at == '[';
        c->at += !first && !index;
        int rc = index ? cel_index(c, &key) : cel_name(c, &key);
        if (rc < 0)
            return rc;
        there = json_object_is_type(value, json_type_object) &&
                json_object_object_get_ex(value, key, &next);
        value = there ? next : NULL;
    }
    *out = (struct term){ json_object_get(value), !there };
    return 0;
}

static int cel_text(struct cel *c, struct term *out)
{
    const char *end = strchr(c->at + 1, *c->at);
    if (!end)
        return wrong(c);
    out->value = json_object_new_string_len(c->at + 1, (int)(end - c->at - 1));
    c->at = end + 1;
    return 0;
}

static int cel_number(struct cel *c, struct term *out)
{
    char *end;
    out->value = json_object_new_int64(strtoll(c->at, &end, 10));
    c->at = end;
    return 0;
}

static int cel_has(struct cel *c, struct term *out)
{
    int rc = cel_path(c, out);
    if (rc == 0 && !take(c, ")"))
        rc = wrong(c);
    set_bool(out, !out->bad);
    out->bad = false;
    return rc;
}

static int cel_value(struct cel *c, struct term *out)
{
    skip(c);
    if (*c->at == '\'' || *c->at == '"')
        return cel_text(c, out);
    if (strspn(c->at, "0123456789"))
        return cel_number(c, out);
    if (take(c, "has("))
        return cel_has(c, out);
    bool is_true = take(c, "true");
    if (is_true || take(c, "false")) {
        set_bool(out, is_true);
        return 0;
    }
    if (++c->depth > 32)
        return wrong(c);
    int rc;
    if (take(c, "(")) {
        rc = cel_or(c, out);
        if (rc == 0 && !take(c, ")"))
            rc = wrong(c);
    } else if (take(c, "!")) {
        rc = cel_value(c, out);
        set_bool(out, !json_object_get_boolean(out->value));
    } else {
        const char *began = c->at;
        rc = cel_path(c, out);
        if (rc == 0 && out->bad && !sw_err_text(c->err)[0])
            (void)sw_err_set(c->err, SW_INVALID, "no such key: %.*s", (int)(c->at - began), began);
    }
    c->depth--;
    return rc;
}

static int cel_compare(struct cel *c, struct term *out)
{
    int rc = cel_value(c, out);
    bool equal = rc == 0 && take(c, "=="), differs = rc == 0 && !equal && take(c, "!=");
    if (!equal && !differs)
        return rc;
    struct term right = { 0 };
    rc = cel_value(c, &right);
    bool same = sw_json_equal(out->value, right.value);
    set_bool(out, same == equal);
    out->bad |= right.bad;
    json_object_put(right.value);
    return rc;
}

/* A false side of && and a true one of || win over one that cannot be said. */
static int cel_chain(struct cel *c, const char *token, bool decisive,
                     int (*side)(struct cel *c, struct term *out), struct term *out)
{
    int rc = side(c, out);
    while (rc == 0 && take(c, token)) {
        struct term right = { 0 };
        rc = side(c, &right);
        bool left_wins = !out->bad && json_object_get_boolean(out->value) == decisive;
        bool right_wins = !right.bad && json_object_get_boolean(right.value) == decisive;
        json_object_put(right.value);
        out->bad = !left_wins && !right_wins && (out->bad || right.bad);
        set_bool(out, left_wins || right_wins ? decisive : !decisive);
    }
    return rc;
}

static int cel_and(struct cel *c, struct term *out)
{
    return cel_chain(c, "&&", false, cel_compare, out);
}

static int cel_or(struct cel *c, struct term *out)
{
    return cel_chain(c, "||", true, cel_and, out);
}

/* @return 1, 0, or an error with the condition's name */
static int condition_holds(json_object *condition, json_object *request, struct sw_err *err)
{
    json_object *root = json_object_new_object();
    struct term t = { 0 };
    SW_ERR(inner);
    json_object_object_add(root, "request", json_object_get(request));
    json_object_object_add(root, "object", json_object_get(sw_json_get(request, "object")));
    json_object_object_add(root, "oldObject", json_object_get(sw_json_get(request, "oldObject")));
    struct cel c = { .at = sw_json_str(condition, "", "expression", NULL),
                     .root = root,
                     .err = &inner };
    int rc = cel_or(&c, &t);
    skip(&c);
    if (rc == 0 && *c.at)
        rc = wrong(&c);
    bool holds = json_object_get_boolean(t.value);
    json_object_put(t.value);
    json_object_put(root);
    if (rc < 0) /* more of CEL than is known here: the webhook is asked, and decides itself */
        return 1;
    if (!t.bad)
        return holds;
    return sw_err_set(err, SW_INVALID, "matchCondition '%s': %s",
                      sw_json_str(condition, "", "name", NULL), sw_err_text(&inner));
}

/* A condition that is false decides; else an error of any does. */
static int conditions_hold(json_object *hook, json_object *request, struct sw_err *err)
{
    json_object *list = sw_json_get(hook, "matchConditions");
    int all = 1;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(inner);
        int rc = condition_holds(sw_json_at(list, i), request, &inner);
        if (rc == 0)
            return 0;
        if (rc < 0 && all == 1)
            all = sw_err_move(err, &inner);
    }
    return all;
}

int sw_webhook_matches(struct sw_write *w, json_object *hook, json_object *request,
                       struct sw_err *err)
{
    if (!rules_match(hook, w))
        return 0;
    int rc = namespace_matches(hook, w, err);
    if (rc == 1)
        rc = object_matches(hook, w, err);
    return rc == 1 && request ? conditions_hold(hook, request, err) : rc;
}
