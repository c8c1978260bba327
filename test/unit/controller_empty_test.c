/* What a server takes for null is left out and named; nothing else is touched. */
#include "controller/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define REFUSED(path)                                                                              \
    path ": Invalid value: \"null\": " path " in body must be of type string: \"null\""

static const struct {
    const char *doc, *message, *after, *names; /* names NULL: it is no such message */
} cases[] = {
    { "{\"spec\":{\"a\":\"\",\"b\":\"\",\"c\":\"x\"}}", REFUSED("spec.a"),
      "{\"spec\":{\"b\":\"\",\"c\":\"x\"}}", "spec.a: \"\"" },
    { "{\"spec\":{\"a\":\"\",\"b\":{\"c\":\"\"}}}",
      "[" REFUSED("spec.a") ", " REFUSED("spec.b.c") "]", "{\"spec\":{\"b\":{}}}",
      "spec.a: \"\", spec.b.c: \"\"" },
    { "{\"spec\":{\"l\":[{\"k\":\"a\",\"v\":\"\"},{\"k\":\"b\",\"v\":\"y\"}]}}",
      REFUSED("spec.l.v"), "{\"spec\":{\"l\":[{\"k\":\"a\"},{\"k\":\"b\",\"v\":\"y\"}]}}",
      "spec.l.v: \"\"" },
    { "{\"spec\":{\"m\":{\"a.b/c\":\"\",\"d\":\"\"}}}", REFUSED("spec.m.a.b/c"),
      "{\"spec\":{\"m\":{\"d\":\"\"}}}", "spec.m.a.b/c: \"\"" },
    { "{\"spec\":{\"versions\":[{\"s\":{\"type\":\"string\",\"default\":\"\"}}]}}",
      "spec.validation.openAPIV3Schema.properties[s].default: Invalid value: \"null\":  in body "
      "must be of type string: \"null\"",
      "{\"spec\":{\"versions\":[{\"s\":{\"type\":\"string\"}}]}}", "default: \"\"" },
    /* an item of a list is not left out: the others would mean something else */
    { "{\"spec\":{\"l\":[\"\",\"a\"]}}", REFUSED("spec.l"), "{\"spec\":{\"l\":[\"\",\"a\"]}}",
      NULL },
    { "{\"spec\":{\"a\":5}}", REFUSED("spec.a"), "{\"spec\":{\"a\":5}}", NULL },
    { "{\"spec\":{\"a\":\"\"}}", "spec.a: Invalid value: \"\": spec.a in body should be at least 1",
      "{\"spec\":{\"a\":\"\"}}", NULL },
    { "{\"spec\":{\"a\":\"\"}}", "Invalid value: \"null\": cut off", "{\"spec\":{\"a\":\"\"}}",
      NULL },
};

static void empty_texts_that_are_refused_are_left_out_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_JSON *doc = json_tokener_parse(cases[i].doc);
        SW_AUTO_JSON *after = json_tokener_parse(cases[i].after);
        SW_AUTO_CHARS *names = NULL;
        size_t n = empty_drop(doc, cases[i].message, &names);
        assert_int_equal(n > 0, cases[i].names != NULL);
        assert_true(sw_json_equal(doc, after));
        if (cases[i].names)
            assert_string_equal(names, cases[i].names);
        else
            assert_null(names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_texts_that_are_refused_are_left_out_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
