#include "chart/aicr/constraints.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/yaml/yaml.h"

/* ---- expressions -------------------------------------------------------------------------------
 */

enum op { OP_NONE, OP_GE, OP_LE, OP_NE, OP_EQ, OP_GT, OP_LT };

/* The longer ones first. */
static const struct {
    const char *text;
    enum op op;
} ops[] = {
    { ">=", OP_GE }, { "<=", OP_LE }, { "!=", OP_NE },
    { "==", OP_EQ }, { ">", OP_GT },  { "<", OP_LT },
};

struct version {
    long parts[3];
    int n;
};

/* "v1.32.4-eks-1": three numbers at most; what is behind a '-' or '+' does not count. */
static bool read_version(const char *text, struct version *out)
{
    const char *at = text + (*text == 'v');
    *out = (struct version){ 0 };
    while (out->n < 3) {
        const size_t len = strspn(at, "0123456789");
        if (len == 0 || len > 9)
            return false;
        out->parts[out->n++] = strtol(at, NULL, 10);
        at += len;
        if (*at != '.')
            break;
        at++;
    }
    return !*at || *at == '-' || *at == '+';
}

static int compare_versions(const struct version *a, const struct version *b)
{
    for (int i = 0; i < a->n && i < b->n; i++)
        if (a->parts[i] != b->parts[i])
            return a->parts[i] < b->parts[i] ? -1 : 1;
    return 0;
}

/* All parts, those that are not said being 0. */
static bool same_version(const struct version *a, const struct version *b)
{
    return memcmp(a->parts, b->parts, sizeof a->parts) == 0;
}

static bool holds(enum op op, int order)
{
    return op == OP_GE   ? order >= 0
           : op == OP_LE ? order <= 0
           : op == OP_GT ? order > 0
                         : order < 0;
}

int sw_aicr_is_met(const char *expression, const char *found, bool *out, struct sw_err *err)
{
    SW_AUTO_CHARS *whole = sw_strtrim(expression), *has = sw_strtrim(found);
    enum op op = OP_NONE;
    const char *rest = whole;
    for (size_t i = 0; op == OP_NONE && i < SW_COUNT(ops); i++)
        if (sw_starts_with(whole, ops[i].text)) {
            op = ops[i].op;
            rest = whole + strlen(ops[i].text);
        }
    SW_AUTO_CHARS *want = sw_strtrim(rest);
    struct version a, b;
    if (!*want)
        return sw_err_set(err, SW_INVALID, "'%s': a value was expected", expression);
    const bool is_version = read_version(want, &b), has_version = read_version(has, &a);
    if (op == OP_NONE) {
        *out = sw_streq(has, want);
    } else if (op == OP_EQ || op == OP_NE) {
        const bool dotted = strchr(want, '.') != NULL;
        const bool same = dotted && is_version && has_version ? same_version(&a, &b)
                                                              : sw_streq(has, want);
        *out = same == (op == OP_EQ);
    } else if (!is_version || !has_version) {
        return sw_err_set(err, SW_INVALID, "'%s' is no version", is_version ? has : want);
    } else {
        *out = holds(op, compare_versions(&a, &b));
    }
    return 0;
}

/* ---- snapshots ---------------------------------------------------------------------------------
 */

/* The readings of one subtype, below "<type>.<subtype>.". */
static void add_readings(const char *prefix, struct json_object *data, struct json_object *to)
{
    if (!json_object_is_type(data, json_type_object))
        return;
    json_object_object_foreach(data, key, value)
    {
        SW_AUTO_CHARS *name = sw_printf("%s.%s", prefix, key);
        const bool is_text = json_object_is_type(value, json_type_string);
        SW_AUTO_CHARS *text = is_text ? sw_strdup(json_object_get_string(value))
                                      : sw_json_text(value, SW_JSON_PLAIN, NULL);
        (void)json_object_object_add(to, name, json_object_new_string(text));
    }
}

int sw_aicr_snapshot_read(const char *file, const char *text, size_t len, struct json_object **out,
                          struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = file };
    int rc = sw_yaml_parse(text, len, &opts, &doc, err);
    if (rc < 0)
        return rc;
    struct json_object *list = sw_json_get(doc, "measurements");
    if (!json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "%s is no snapshot: it has no list measurements", file);
    SW_AUTO_JSON *facts = json_object_new_object();
    struct json_object *node = json_object_new_object(), *of_node = json_object_new_object();
    struct json_object *of_cluster = sw_json_need_map(facts, "cluster", NULL);
    const char *name = sw_json_str(doc, "of the snapshot", "metadata", "source-node", NULL);
    sw_json_set_str(node, name, "name", NULL);
    (void)json_object_object_add(node, "facts", of_node);
    (void)json_object_array_add(sw_json_need_list(facts, "nodes", NULL), node);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *m = sw_json_at(list, i), *subtypes = sw_json_get(m, "subtypes");
        const char *type = sw_json_str(m, "", "type", NULL);
        for (size_t k = 0; k < sw_json_len(subtypes); k++) {
            struct json_object *s = sw_json_at(subtypes, k);
            SW_AUTO_CHARS *prefix = sw_printf("%s.%s", type, sw_json_str(s, "", "subtype", NULL));
            add_readings(prefix, sw_json_get(s, "data"),
                         sw_streq(type, "K8s") ? of_cluster : of_node);
        }
    }
    *out = SW_TAKE(facts);
    return 0;
}

/* ---- outcomes ----------------------------------------------------------------------------------
 */

struct hold {
    const char *name, *value;
    struct json_object *outcome;
    bool known, unmet;
};

/* Hold the constraint against a fact, where it is known. @node: whose it is; NULL: the cluster's.
 */
static void hold_against(struct hold *h, struct json_object *facts, const char *node)
{
    const char *found = sw_json_str(facts, NULL, h->name, NULL);
    bool met = false;
    SW_ERR(err);
    if (!found)
        return;
    h->known = true;
    if (sw_aicr_is_met(h->value, found, &met, &err) < 0) {
        sw_json_set_str(h->outcome, "invalid", "outcome", NULL);
        sw_json_set_str(h->outcome, sw_err_text(&err), "found", NULL);
        h->unmet = true;
    } else if (!met) {
        if (!h->unmet)
            sw_json_set_str(h->outcome, found, "found", NULL);
        h->unmet = true;
        if (!sw_streq(sw_json_str(h->outcome, "", "outcome", NULL), "invalid"))
            sw_json_set_str(h->outcome, "unmet", "outcome", NULL);
        if (node)
            (void)json_object_array_add(sw_json_need_list(h->outcome, "nodes", NULL),
                                        json_object_new_string(node));
    }
}

struct json_object *sw_aicr_constraints_check(struct json_object *constraints,
                                              struct json_object *facts)
{
    struct json_object *out = json_object_new_array(), *nodes = sw_json_get(facts, "nodes");
    for (size_t i = 0; i < sw_json_len(constraints); i++) {
        struct json_object *c = sw_json_at(constraints, i), *outcome = json_object_new_object();
        static const char *const same[] = { "name", "value", "severity", "remediation" };
        for (size_t k = 0; k < SW_COUNT(same); k++)
            if (*sw_json_str(c, "", same[k], NULL))
                sw_json_set_str(outcome, sw_json_str(c, "", same[k], NULL), same[k], NULL);
        struct hold h = { sw_json_str(c, "", "name", NULL), sw_json_str(c, "", "value", NULL),
                          outcome, false, false };
        hold_against(&h, sw_json_get(facts, "cluster"), NULL);
        for (size_t k = 0; k < sw_json_len(nodes); k++)
            hold_against(&h, sw_json_get(sw_json_at(nodes, k), "facts"),
                         sw_json_str(sw_json_at(nodes, k), "", "name", NULL));
        if (!h.unmet)
            sw_json_set_str(outcome, h.known ? "met" : "unknown", "outcome", NULL);
        (void)json_object_array_add(out, outcome);
    }
    return out;
}

char *sw_aicr_outcome_text(struct json_object *outcome)
{
    enum { MOST_NAMED = 3 };
    const char *name = sw_json_str(outcome, "", "name", NULL),
               *value = sw_json_str(outcome, "", "value", NULL),
               *found = sw_json_str(outcome, "", "found", NULL),
               *help = sw_json_str(outcome, "", "remediation", NULL),
               *what = sw_json_str(outcome, "", "outcome", NULL);
    if (sw_streq(what, "met"))
        return sw_printf("%s is as asked for (%s)", name, value);
    if (sw_streq(what, "unknown"))
        return sw_printf("%s is not known (%s is asked for)", name, value);
    if (sw_streq(what, "invalid"))
        return sw_printf("%s: %s", name, found);
    struct json_object *nodes = sw_json_get(outcome, "nodes");
    const size_t n = sw_json_len(nodes);
    char *text = sw_printf("%s is %s", name, found);
    for (size_t i = 0; i < n && i < MOST_NAMED; i++)
        sw_append(&text, "%s%s", i ? ", " : " on ", sw_json_str(sw_json_at(nodes, i), "", NULL));
    if (n > MOST_NAMED)
        sw_append(&text, " and %zu more", n - MOST_NAMED);
    sw_append(&text, ", %s is asked for%s%s", value, *help ? ": " : "", help);
    return text;
}

bool sw_aicr_outcome_stops(struct json_object *outcome)
{
    const char *what = sw_json_str(outcome, "", "outcome", NULL),
               *severity = sw_json_str(outcome, "error", "severity", NULL);
    return (sw_streq(what, "unmet") || sw_streq(what, "invalid")) && sw_streq(severity, "error");
}
