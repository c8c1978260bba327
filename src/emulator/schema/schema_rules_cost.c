/* What the rules of a definition may cost: a server refuses those that it could not evaluate for
 * the largest object that a request can hold. Source: Kubernetes "Resource use by validation
 * functions"; the messages are kube-apiserver's. */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"
#include "emulator/schema/schema_rules.h"
#include "emulator/store/status.h"

#define RULE_LIMIT UINT64_C(10000000)
#define SCHEMA_LIMIT UINT64_C(100000000)
enum { REQUEST_BYTES = 3 << 20, MOST_SHOWN = 4 };

/* The most expensive rules of a schema. */
struct total {
    uint64_t cost;
    struct {
        char *path;
        uint64_t cost;
    } most[MOST_SHOWN + 1]; /* in order; the last is put out */
    bool each_is_limited;
    struct sw_field_errors *errors;
};

static uint64_t product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static char *message(const char *what, uint64_t cost, uint64_t limit)
{
    const double factor = (double)cost / (double)limit;
    SW_AUTO_CHARS *times = factor > 100   ? sw_strdup("more than 100x")
                           : factor < 1.5 ? sw_printf("%fx", factor)
                                          : sw_printf("%.1fx", factor);
    return sw_printf("%s exceeds budget by factor of %s (try simplifying the rule, or adding "
                     "maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
                     "declared)",
                     what, times);
}

/* Add a cost to the total; rules of less than a hundredth of the limit are not told of. */
static void add(struct total *t, const char *path, uint64_t cost)
{
    t->cost = t->cost > UINT64_MAX - cost ? UINT64_MAX : t->cost + cost;
    if (cost < SCHEMA_LIMIT / 100)
        return;
    size_t at = MOST_SHOWN;
    for (; at > 0 && t->most[at - 1].cost < cost; at--) {
        t->most[at].cost = t->most[at - 1].cost;
        sw_text_set(&t->most[at].path, t->most[at - 1].path);
    }
    t->most[at].cost = cost;
    sw_text_set(&t->most[at].path, path);
}

/* @times: how often the rule is evaluated for one object. */
static void check_rule(struct total *t, json_object *rule, const char *key, const char *what,
                       json_object *schema, bool is_root, const char *path, uint64_t times)
{
    SW_ERR(ignored);
    const struct sw_cel *cel = NULL;
    if (!*sw_json_str(rule, "", key, NULL) ||
        sw_rule_compile(rule, key, schema, is_root, &cel, &ignored) < 0)
        return;
    const uint64_t cost = product(sw_cel_most_cost(cel), times);
    SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key), *detail = message(what, cost, RULE_LIMIT);
    if (t->each_is_limited && cost > RULE_LIMIT)
        sw_field_error_raw(t->errors, SW_FIELD_FORBIDDEN, at, NULL, detail);
    add(t, at, cost);
}

/* @times: how many such values an object has at most; 0: as many as fit into a request. */
static void walk(struct total *t, json_object *schema, bool is_root, const char *path,
                 uint64_t times)
{
    json_object *rules = sw_json_get(schema, SW_RULES_KEY);
    json_object *items = sw_structural_items(schema);
    json_object *values = sw_json_get(schema, "additionalProperties");
    json_object *properties = sw_json_get(schema, "properties");
    const uint64_t all = times ? times : REQUEST_BYTES / (sw_cel_least_bytes(schema) + 1);
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s." SW_RULES_KEY "[%zu]", path, i);
        json_object *rule = sw_json_at(rules, i);
        check_rule(t, rule, "rule", "estimated rule cost", schema, is_root, at, all);
        check_rule(t, rule, "messageExpression", "estimated messageExpression cost", schema,
                   is_root, at, 1);
    }
    if (items) {
        SW_AUTO_CHARS *at = sw_printf("%s.items", path);
        walk(t, items, false, at,
             product(times, (uint64_t)sw_json_int(schema, 0, "maxItems", NULL)));
    }
    if (json_object_is_type(values, json_type_object)) {
        SW_AUTO_CHARS *at = sw_printf("%s.additionalProperties", path);
        walk(t, values, false, at,
             product(times, (uint64_t)sw_json_int(schema, 0, "maxProperties", NULL)));
    }
    if (!json_object_is_type(properties, json_type_object))
        return;
    json_object_object_foreach(properties, key, property)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.properties[%s]", path, key);
        walk(t, property, false, at, times);
    }
}

void sw_structural_check_costs(json_object *schema, const char *path, bool is_old,
                               struct sw_field_errors *errors)
{
    struct total t = { .each_is_limited = !is_old, .errors = errors };
    walk(&t, schema, true, path, 1);
    for (size_t i = 0; i <= MOST_SHOWN; i++) {
        if (t.cost > SCHEMA_LIMIT && i < MOST_SHOWN && t.most[i].path)
            sw_field_error_raw(errors, SW_FIELD_FORBIDDEN, t.most[i].path, NULL,
                               "contributed to estimated rule cost total exceeding cost limit for "
                               "entire OpenAPIv3 schema");
        sw_text_set(&t.most[i].path, NULL);
    }
    SW_AUTO_CHARS *detail = message("x-kubernetes-validations estimated rule cost total for entire "
                                    "OpenAPIv3 schema",
                                    t.cost, SCHEMA_LIMIT);
    if (t.cost > SCHEMA_LIMIT)
        sw_field_error_raw(errors, SW_FIELD_FORBIDDEN, path, NULL, detail);
}
