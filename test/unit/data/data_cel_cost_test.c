/* What rules may cost at most: the figures are those of Kubernetes' own tests of its estimates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/cel/cel.h"
#include "data/data.h"

#define LIST(items, more) "{\"type\":\"array\"," more "\"items\":" items "}"
#define MAP(values, more) "{\"type\":\"object\"," more "\"additionalProperties\":" values "}"
#define OF(type) "{\"type\":\"" type "\"}"
#define FORMAT(format) "{\"type\":\"string\",\"format\":\"" format "\"}"
#define ITEMS(n) "\"maxItems\":" #n ","
#define NUMBER OF("number")
#define STRING OF("string")
#define LENGTH(n) "{\"type\":\"string\",\"maxLength\":" #n "}"
#define INT_OR_STRING "{\"x-kubernetes-int-or-string\":true}"

static uint64_t cost_of(const char *schema, const char *rule)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO(sw_cel) *cel = NULL;
    assert_int_equal(sw_json_parse(schema, strlen(schema), NULL, &doc, &err), 0);
    const struct sw_cel_variable variables[] = { { "self", SW_CEL_TYPED, doc } };
    const struct sw_cel_env env = { .variables = variables, .n_variables = 1 };
    if (sw_cel_compile(rule, &env, &cel, &err) < 0)
        fail_msg("%s: %s", rule, sw_err_text(&err));
    return sw_cel_most_cost(cel);
}

static void rules_cost_what_kubernetes_estimates(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *rule;
        uint64_t cost;
    } rows[] = {
        { LIST(NUMBER, ""), "self.all(x, true)", 4718591 },
        { LIST(NUMBER, ITEMS(10)), "self.all(x, true)", 32 },
        { LIST(STRING, ""), "self.all(x, true)", 3145727 },
        { LIST(OF("boolean"), ""), "self.all(x, true)", 1887437 },
        { LIST(LIST(NUMBER, ""), ""), "self.all(x, true)", 3145727 },
        { LIST(INT_OR_STRING, ""), "self.all(x, true)", 4718591 },
        { LIST(FORMAT("duration"), ""), "self.all(x, true)", 2359295 },
        { LIST(FORMAT("date"), ""), "self.all(x, true)", 725936 },
        { LIST(FORMAT("date-time"), ""), "self.all(x, true)", 428963 },
        { MAP(NUMBER, ""), "self.all(x, true)", 1348169 },
        { MAP(STRING, ""), "self.all(x, true)", 1179647 },
        { MAP(OF("boolean"), "\"maxProperties\":100,"), "self.all(x, true)", 302 },
        { MAP(FORMAT("date"), ""), "self.all(x, true)", 524288 },
        { STRING, "self.contains('test')", 314574 },
        { LENGTH(10), "self.contains('test')", 5 },
        { STRING, "self.startsWith('test')", 2 },
        { STRING, "size(self + \"hello\") > size(\"hello\")", 314578 },
        { LENGTH(4), "size(self + \"hello\") > size(\"hello\")", 7 },
        { LIST(NUMBER, ""), "self[1] == 0.0", 2 },
        { LIST(STRING, ""), "self[1] == self[1]", 314577 },
        { LIST(NUMBER, ITEMS(10)), "self.all(x, self.all(y, true))", 352 },
        { LIST(NUMBER, ITEMS(10)), "self.all(x, self.all(y, self.all(z, true)))", 3552 },
        { STRING, "self.matches(\"x\")", 314574 },
        { LENGTH(50), "self.matches(\"x\")", 22 },
        { STRING, "\"\".matches(\"(((((((((())))))))))[0-9]\")", 7 },
        { STRING, "self.matches(\"\")", 1 },
        { MAP(NUMBER, ""), "self[\"x\"] == 0.0", 2 },
        { STRING, "self == \"x\"", 2 },
        { LENGTH(0), "self == \"x\"", 1 },
        { LIST(NUMBER, ""), "self.all(x, x == 0.0)", 6291454 },
        { LIST(INT_OR_STRING, ""), "self[0] == 5", 3 },
        { LIST(LIST(NUMBER, ""), ""), "self[0][0] == -1.0", 3 },
        { LIST(MAP(NUMBER, ""), ""), "self.all(x, x.y == 25.2)", 6291452 },
        { LIST(MAP(NUMBER, ""), ITEMS(12)), "self.all(x, x.y == 25.2)", 74 },
        { LIST(MAP(NUMBER, ""), ""), "self[0].x > 2.0", 4 },
        { LIST(FORMAT("duration"), ""), "self[0].getHours() == 2", 4 },
        { LIST(FORMAT("date"), ""), "self[2].getDayOfMonth() == 13", 4 },
    };
    size_t failed = 0;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const uint64_t cost = cost_of(rows[i].schema, rows[i].rule);
        if (cost != rows[i].cost)
            printf("%s of %s: %llu, not %llu\n", rows[i].rule, rows[i].schema,
                   (unsigned long long)cost, (unsigned long long)rows[i].cost);
        failed += cost != rows[i].cost;
    }
    assert_int_equal(failed, 0);
}

static void loops_in_loops_without_limits_cost_too_much(void **state)
{
    (void)state;
    assert_true(cost_of(LIST(NUMBER, ""), "self.all(x, self.all(y, true))") > 10000000);
    assert_true(cost_of(LIST(STRING, ""), "self.exists(x, self.map(y, x + y).join() == 'a')") >
                10000000);
    assert_true(cost_of(LIST(STRING, ITEMS(9)), "self.filter(x, x != '').size() > 1") < 10000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_cost_what_kubernetes_estimates),
        cmocka_unit_test(loops_in_loops_without_limits_cost_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
