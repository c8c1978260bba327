/* The diagram in the docs is that of the table; actions as lines of JSON. */
#include "engine_sim.h"

static char *read_docs(void)
{
    char *text = NULL;
    size_t len = 0;
    SW_ERR(err);
    if (sw_file_read(SW_SOURCE_DIR "/docs/engine.md", 1 << 20, &text, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return text;
}

static void the_docs_show_the_table(void **state)
{
    (void)state;
    SW_AUTO_CHARS *docs = read_docs();
    SW_AUTO_CHARS *diagram = sw_engine_diagram();
    SW_AUTO_CHARS *block = sw_printf("```mermaid\n%s```\n", diagram);
    if (!strstr(docs, block))
        fail_msg("docs/engine.md does not show this:\n%s", block);
}

static void actions_are_lines_of_json(void **state)
{
    (void)state;
    for (int i = 0; i < SW_EV_COUNT; i++)
        assert_string_not_equal(sw_event_kind_name((enum sw_event_kind)i), "?");
    for (int i = 0; i < SW_ACT_COUNT; i++)
        assert_string_not_equal(sw_action_kind_name((enum sw_action_kind)i), "?");
    struct sw_action action = { .kind = SW_ACT_DELETE,
                                .serial = 3,
                                .key = { "v1", "Pod", "ns", "p" },
                                .uid = "u",
                                .propagation = "Background" };
    SW_AUTO_CHARS *act = sw_action_json(&action, false);
    assert_string_equal(act, "{\"action\":\"delete\",\"serial\":3,\"apiVersion\":\"v1\",\"kind\":"
                             "\"Pod\",\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\","
                             "\"propagation\":\"Background\"}");
    struct json_object *doc = sim_json("{'a':'line\\nbreak'}");
    struct sw_action apply = { .kind = SW_ACT_APPLY, .doc = doc };
    SW_AUTO_CHARS *line = sw_action_json(&apply, false);
    assert_string_equal(line, "{\"action\":\"apply\",\"doc\":{\"a\":\"line\\nbreak\"}}");
    SW_AUTO_CHARS *brief = sw_action_json(&apply, true);
    assert_string_equal(brief, "{\"action\":\"apply\"}");
    json_object_put(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_docs_show_the_table),
        cmocka_unit_test(actions_are_lines_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
