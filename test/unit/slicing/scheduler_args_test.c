/* Questions: the names are read in place where they are plain, and mean the same where not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/extender_args.h"

#include <cmocka.h>

static const char *const fields[] = { "Pod.metadata.name", "NodeNames", "nodenames" };

struct scene {
    struct sw_projection *projection;
    struct extender_args q;
};

static int setup(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    assert_int_equal(sw_projection_compile(fields, SW_COUNT(fields), &s->projection, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    extender_args_done(&s->q);
    sw_projection_free(s->projection);
    free(s);
    return 0;
}

static int read_text(struct scene *s, const char *text)
{
    return extender_args_read(&s->q, s->projection, text, strlen(text), NULL);
}

static void expect_names(const struct extender_args *q, const char *expected)
{
    char all[256] = "";
    for (size_t i = 0; i < q->n_names; i++) {
        const size_t len = strlen(all);
        (void)snprintf(all + len, sizeof all - len, "%s%.*s", i ? " " : "", (int)q->names[i].len,
                       q->names[i].text);
    }
    assert_string_equal(all, expected);
}

static const char nested[] =
    "{\"nodenames\":[\"a\",\"b\"],\"x\":\"NodeNames\\\"}]\",\"n\":-1.5e3,"
    "\"Pod\":{\"NodeNames\":[\"not this\"],\"metadata\":{\"name\":\"p\"}}}";

static void test_plain_names_are_read_in_place(void **state)
{
    struct scene *s = *state;
    static const char *const texts[] = {
        "{\"Pod\":{\"metadata\":{\"name\":\"p\"}},\"Nodes\":null,\"NodeNames\":[\"a\",\"b\"]}",
        " {\n \"NodeNames\" : [ \"a\" ,\t\"b\" ] , \"Pod\" : { \"metadata\":{\"name\":\"p\"} } } ",
        nested,
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        assert_int_equal(read_text(s, texts[i]), 0);
        assert_true(s->q.plain);
        expect_names(&s->q, "a b");
        assert_string_equal(sw_json_str(s->q.doc, "", "Pod", "metadata", "name", NULL), "p");
        assert_int_equal(extender_args_need_names(&s->q, NULL), 0);
    }
}

static void test_other_names_are_read_all_the_same(void **state)
{
    struct scene *s = *state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        { "{\"NodeNames\":[\"a\\u002db\",\"c\"]}", "a-b c" },
        { "{\"NodeNames\":[\"\303\244\"]}", "\303\244" },
        { "{\"NodeNames\":[\"a\",1,null,\"b\"]}", "a   b" },
        { "{\"NodeNames\":[\"a\"],\"nodenames\":[\"b\"]}", "a" },
        { "{\"nodenames\":[\"b\"],\"NodeNames\":[\"a\"]}", "a" },
        { "{\"NodeNames\":[\"a\"],\"NodeNames\":[\"b\"]}", "b" },
        { "{\"Node\\u004eames\":[\"a\"]}", "a" },
        { "{\"NodeNames\":[]}", "" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        assert_int_equal(read_text(s, cases[i].text), 0);
        expect_names(&s->q, cases[i].names);
        assert_int_equal(extender_args_need_names(&s->q, NULL), 0);
    }
}

/* Whatever the quick look makes of it, the parser reads all but the list. */
static void test_what_is_no_json_is_refused(void **state)
{
    struct scene *s = *state;
    static const char *const bad[] = {
        "{\"NodeNames\":[\"a\"]",
        "{\"NodeNames\":[\"a\",]}",
        "{\"NodeNames\":[\"a\"]}}",
        "{\"NodeNames\":[\"a\"],}",
        "{\"NodeNames\":[\"a\"] \"b\":1}",
        "{\"Pod\":{]},\"NodeNames\":[\"a\"]}",
        "{\"Pod\":tru,\"NodeNames\":[\"a\"]}",
        "{\"Pod\":\"\n\",\"NodeNames\":[\"a\"]}",
        "{\"Pod\":{\"NodeNames\":[\"a\"]},\"x\":}",
        "[\"a\"]",
        "",
        "{\"NodeNames\":[\"a\"",
        "{\"NodeNames\":[\"a",
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++)
        if (read_text(s, bad[i]) != SW_INVALID)
            fail_msg("taken: %s", bad[i]);
}

static void test_question_without_names(void **state)
{
    struct scene *s = *state;
    assert_int_equal(read_text(s, "{\"Pod\":{\"NodeNames\":[\"a\"]}}"), 0);
    assert_int_equal(extender_args_need_names(&s->q, NULL), SW_INVALID);
    assert_int_equal(read_text(s, "{\"NodeNames\":{\"items\":[\"a\"]}}"), 0);
    assert_int_equal(extender_args_need_names(&s->q, NULL), SW_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain_names_are_read_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_names_are_read_all_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_json_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_question_without_names, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
