/* Values that a recipe sets and that the new version of a chart does not have any more. */
#include "cli/recipe/vanished_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/yaml/yaml.h"

static struct json_object *yaml(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (*text && sw_yaml_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void what_the_new_chart_does_not_take_has_vanished(void **state)
{
    (void)state;
    static const struct {
        const char *old, *old_schema, *new, *new_schema, *dependencies, *set, *vanished;
    } rows[] = {
        { "{a: 1, b: 2}", "", "{b: 2}", "", "", "{a: 3, b: 3}", "[ \"a\" ]" },
        { "{a: {b: 1, c: 2}}", "", "{a: {c: 2}}", "", "", "{a: {b: 1, c: 2}}", "[ \"a.b\" ]" },
        { "{a: {b: 1}}", "", "{}", "", "", "{a: {b: 1}}", "[ \"a\" ]" },
        /* what neither has was never taken */
        { "{}", "", "{}", "", "", "{a: 1}", "[ ]" },
        /* an empty map takes anything */
        { "{a: {b: 1}}", "", "{a: {}}", "", "", "{a: {b: 1}}", "[ ]" },
        /* the schema counts, too */
        { "{}", "{properties: {a: {}}}", "{}", "", "", "{a: 1}", "[ \"a\" ]" },
        { "{a: 1}", "", "{}", "{properties: {a: {}}}", "", "{a: 1}", "[ ]" },
        { "{a: {b: 1}}", "", "{}", "{properties: {a: {properties: {c: {}}}}}", "", "{a: {b: 1}}",
          "[ \"a.b\" ]" },
        /* values of subcharts, and of all charts */
        { "{sub: {b: 1}, global: {x: 1}}", "", "{}", "", "[{name: chart, alias: sub}]",
          "{sub: {b: 1}, global: {x: 1}}", "[ ]" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *old = yaml(rows[i].old);
        SW_AUTO_JSON *old_schema = yaml(rows[i].old_schema);
        SW_AUTO_JSON *new = yaml(rows[i].new);
        SW_AUTO_JSON *new_schema = yaml(rows[i].new_schema);
        SW_AUTO_JSON *dependencies = yaml(rows[i].dependencies);
        SW_AUTO_JSON *set = yaml(rows[i].set);
        SW_AUTO_JSON *vanished = sw_vanished_values(
            &(struct sw_chart_values){ .values = old, .schema = old_schema },
            &(struct sw_chart_values){
                .values = new, .schema = new_schema, .dependencies = dependencies },
            set);
        SW_AUTO_JSON *expected = yaml(rows[i].vanished);
        if (!sw_json_equal(vanished, expected))
            fail_msg("%s to %s: %s, not %s", rows[i].old, rows[i].new,
                     json_object_to_json_string(vanished), rows[i].vanished);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_new_chart_does_not_take_has_vanished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
