/* Gates: which objects are awaited, conditions of one's own, and log patterns. */
#include "operator/engine/readiness/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/readiness/log_pattern.h"

static struct json_object *json(const char *text)
{
    SW_AUTO_CHARS *copy = sw_strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(copy, strlen(copy), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", copy, sw_err_text(&err));
    return doc;
}

static struct json_object *manifest(const char *kind, const char *annotations)
{
    SW_AUTO_CHARS *text = sw_printf("{'apiVersion':'v1','kind':'%s','metadata':{'name':'x',"
                                    "'annotations':{%s}}}",
                                    kind, annotations);
    return json(text);
}

static bool awaited(const char *kind, const char *annotations, bool wait_all)
{
    SW_AUTO_JSON *doc = manifest(kind, annotations);
    SW_AUTO(sw_gate) *gate = NULL;
    SW_ERR(err);
    if (sw_gate_new(doc, wait_all, &gate, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return gate->awaited;
}

static void annotated_objects_are_awaited(void **state)
{
    (void)state;
    assert_false(awaited("Deployment", "", false));
    assert_true(awaited("Deployment", "", true));
    assert_true(awaited("Deployment", "'" SW_ANN_WAIT "':'true'", false));
    assert_false(awaited("Deployment", "'" SW_ANN_WAIT "':'false'", false));
    assert_true(awaited("Job", "'" SW_ANN_HOOK "':'pre-install'", false));
    assert_true(awaited("Thing", "'" SW_ANN_OBSERVE "':'true'", false));
    assert_true(awaited("Thing", "'" SW_ANN_DRY_RUN "':'true'", false));
    assert_true(awaited("DaemonSet", "'" SW_ANN_WAIT_FOR_LOGS "':'ok'", false));
    assert_true(awaited("ConfigMap", "'" SW_ANN_NODE_LABELS "':'a'", false));
    assert_true(awaited("CustomResourceDefinition", "", false));
    assert_true(awaited("Namespace", "", false));
}

static enum sw_readiness_kind judge(const char *annotations, const char *live)
{
    SW_AUTO_JSON *doc = manifest("Thing", annotations);
    SW_AUTO_JSON *seen = live ? json(live) : NULL;
    SW_AUTO(sw_gate) *gate = NULL;
    SW_ERR(err);
    SW_READINESS(verdict);
    if (sw_gate_new(doc, false, &gate, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    sw_gate_judge(gate, seen, &verdict);
    return verdict.kind;
}

#define BOTH                                                                                       \
    "'" SW_ANN_READY_IF "':'[\\'{.phase} == Running\\',\\'{.n} >= 2\\']','" SW_ANN_FAILED_IF       \
    "':'[\\'{.phase} == Broken\\']'"

/* HIP-0025: any success condition is enough, failure goes before success, one annotation without
 * the other counts for nothing. */
static void conditions_of_one_s_own_decide(void **state)
{
    (void)state;
    assert_int_equal(judge(BOTH, "{'status':{'phase':'Pending'}}"), SW_READINESS_WAITING);
    assert_int_equal(judge(BOTH, "{'status':{'phase':'Running'}}"), SW_READINESS_READY);
    assert_int_equal(judge(BOTH, "{'status':{'n':2}}"), SW_READINESS_READY);
    assert_int_equal(judge(BOTH, "{'status':{'phase':'Broken','n':2}}"), SW_READINESS_FAILED);
    assert_int_equal(judge(BOTH, "{}"), SW_READINESS_WAITING);
    assert_int_equal(judge(BOTH, NULL), SW_READINESS_WAITING);
    assert_int_equal(judge(BOTH, "{'metadata':{'deletionTimestamp':'x'},'status':{'n':2}}"),
                     SW_READINESS_WAITING);
    assert_int_equal(judge("'" SW_ANN_READY_IF "':'[\\'{.phase} == Running\\']'", "{}"),
                     SW_READINESS_READY);
}

/* It is asked besides what the kind asks. */
static void an_assertion_is_asked_besides(void **state)
{
    (void)state;
    static const char asserted[] = "'" SW_ANN_ASSERT "':'{status: {(n > `1`): true}}'";
    assert_int_equal(judge(asserted, NULL), SW_READINESS_WAITING);
    assert_int_equal(judge(asserted, "{'status':{'n':1}}"), SW_READINESS_WAITING);
    assert_int_equal(judge(asserted, "{'status':{'n':2}}"), SW_READINESS_READY);
    assert_int_equal(judge(asserted, "{'status':{'n':2,'conditions':[{'type':'Ready','status':"
                                     "'False'}]}}"),
                     SW_READINESS_WAITING);
    assert_true(awaited("Deployment", asserted, false));
}

static void bad_annotations_are_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "'" SW_ANN_READY_IF "':'nonsense','" SW_ANN_FAILED_IF "':'[]'", SW_ANN_READY_IF },
        { "'" SW_ANN_READY_IF "':'[]','" SW_ANN_FAILED_IF "':'{}'", "not a JSON array" },
        { "'" SW_ANN_READY_IF "':'[7]','" SW_ANN_FAILED_IF "':'[]'", "[0]: not a text" },
        { "'" SW_ANN_READY_IF "':'[\\'{.a\\']','" SW_ANN_FAILED_IF "':'[]'", "[0]" },
        { "'" SW_ANN_WAIT_FOR_LOGS "':'a('", SW_ANN_WAIT_FOR_LOGS },
        { "'" SW_ANN_OBSERVE "':'none'", "'none' needs " SW_ANN_ASSERT },
        { "'" SW_ANN_ASSERT "':'7'", SW_ANN_ASSERT ": not a map" },
        { "'" SW_ANN_ASSERT "':'{a: {(b ==): 1}}'", SW_ANN_ASSERT ": a.(b ==): 'b ==': column 5" },
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_AUTO_JSON *doc = manifest("Thing", bad[i][0]);
        SW_AUTO(sw_gate) *gate = NULL;
        SW_ERR(err);
        assert_int_equal(sw_gate_new(doc, false, &gate, &err), SW_INVALID);
        if (!strstr(sw_err_text(&err), bad[i][1]) || !strstr(sw_err_text(&err), "Thing x"))
            fail_msg("%s: %s", bad[i][0], sw_err_text(&err));
    }
}

static void log_patterns_are_go_s(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        { "\\+ wait \\d+", "x\n+ wait 123\n", true },
        { "\\+ wait \\d+", "+ wait for", false },
        { "[\\d.]+ ok", "1.2 ok", true },
        { "^done$", "first\ndone\n", true },
        { "a.b", "a\nb", false },
        { "50% \\S+", "50% off", true },
        { "\\w+\\s\\w+", "two words", true },
        { "a{2}", "aa", true },
        { "^(a+b+)+[+]+(\\[+])+$", "aabab++[[]", true },
        { "(insmod|modprobe) .+\\.ko( ok)?.*?$", "insmod x.ko ok", true },
        { "[[:digit:]]\\]", "7]", true },
        { "^a+?b", "aab", true }, /* as little as possible */
        { "^a??b", "b", true },
        { "^a*?b{2}?$", "abb", true },
        { "^[+*?]+$", "*+?", true },
        { "^\\++$", "++", true },
        { "^(a+)+$", "aa", true },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        regex_t regex;
        assert_int_equal(pattern_compile(cases[i].pattern, &regex, NULL), 0);
        if ((regexec(&regex, cases[i].text, 0, NULL, 0) == 0) != cases[i].matches)
            fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].text);
        regfree(&regex);
    }
}

static void costly_log_patterns_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "(a)\\1",
                                       "a\\",
                                       "((a{9}){9}){9}",
                                       "(",
                                       "[a",
                                       "a{1001}",
                                       "(a{32767}){32767}",
                                       "(a{40}){,40}",
                                       "a{99999999999999999999}",
                                       "a+++++++++++++++++++++++++",
                                       "((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+",
                                       "((((a{999})+)+)+)+",
                                       "a**",
                                       "a+*",
                                       "a{2}{2}",
                                       "a+?+",
                                       "a???",
                                       "x?????????++++++++?" };
    regex_t regex;
    for (size_t i = 0; i < SW_COUNT(bad); i++)
        assert_int_equal(pattern_compile(bad[i], &regex, NULL), SW_INVALID);
    char longest[1000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(pattern_compile(longest, &regex, NULL), SW_INVALID);
}

/* A chart's object need not say itself which nodes it is about. */
static void the_annotation_names_the_nodes(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = manifest("Thing", "'" SW_ANN_NODE_RESOURCES "':'a.example/x','" SW_ANN_NODES
                                          "':'gpu=yes, zone=a,bare'");
    SW_AUTO(sw_gate) *gate = NULL;
    sw_json_set_str(doc, "a.example/v1", "apiVersion", NULL);
    sw_json_set(doc, json("{'nodeSelector':{'b':'c'}}"), "spec", NULL);
    assert_int_equal(sw_gate_new(doc, false, &gate, NULL), 0);
    SW_AUTO_CHARS *selector = sw_json_text(gate->node_selector, SW_JSON_PLAIN, NULL);
    assert_string_equal(selector, "{\"gpu\":\"yes\",\"zone\":\"a\",\"bare\":\"\"}");
}

/* As of an operator that labels nodes by its custom resource's name. */
static void a_node_label_may_have_the_object_s_name(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = manifest("Thing", "'" SW_ANN_NODE_LABELS "':'a, of_<name>=done,<name>'");
    SW_AUTO(sw_gate) *gate = NULL;
    sw_json_set_str(doc, "tuning", "metadata", "name", NULL);
    assert_int_equal(sw_gate_new(doc, false, &gate, NULL), 0);
    assert_int_equal(gate->n_node_labels, 3);
    assert_string_equal(gate->node_labels[0], "a");
    assert_string_equal(gate->node_labels[1], "of_tuning=done");
    assert_string_equal(gate->node_labels[2], "tuning");
}

/* What an operator's custom resource calls selector is a selector of nodes; a Service's selects
 * pods, and so do matchLabels. */
static void a_custom_resource_selects_its_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *api_version, *spec, *selector;
    } rows[] = {
        { "a.example/v1", "{'nodeSelector':{'a':'b'}}", "{\"a\":\"b\"}" },
        { "a.example/v1", "{'nodeSelector':{'a':'b'},'selector':{'c':'d'}}", "{\"a\":\"b\"}" },
        { "a.example/v1", "{'selector':{'c':'d'}}", "{\"c\":\"d\"}" },
        { "a.example/v1", "{'nodeSelectors':{'matchLabels':{'a':'b'}}}", "{\"a\":\"b\"}" },
        { "a.example/v1", "{'nodeSelectors':{}}", NULL },
        { "a.example/v1", "{'selector':{'matchLabels':{'c':'d'}}}", NULL },
        { "apps/v1", "{'selector':{'c':'d'}}", NULL },
        { "v1", "{'selector':{'c':'d'}}", NULL },
        { "a.example/v1", "{'selector':'c=d'}", NULL },
        { "a.example/v1", "{}", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = manifest("Thing", "'" SW_ANN_NODE_RESOURCES "':'a.example/x'");
        SW_AUTO(sw_gate) *gate = NULL;
        sw_json_set_str(doc, rows[i].api_version, "apiVersion", NULL);
        sw_json_set(doc, json(rows[i].spec), "spec", NULL);
        assert_int_equal(sw_gate_new(doc, false, &gate, NULL), 0);
        SW_AUTO_CHARS *selector = gate->node_selector
                                      ? sw_json_text(gate->node_selector, SW_JSON_PLAIN, NULL)
                                      : NULL;
        if (!sw_streq(selector, rows[i].selector))
            fail_msg("%s %s: %s", rows[i].api_version, rows[i].spec, selector ? selector : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotated_objects_are_awaited),
        cmocka_unit_test(conditions_of_one_s_own_decide),
        cmocka_unit_test(an_assertion_is_asked_besides),
        cmocka_unit_test(bad_annotations_are_named),
        cmocka_unit_test(log_patterns_are_go_s),
        cmocka_unit_test(costly_log_patterns_are_refused),
        cmocka_unit_test(a_node_label_may_have_the_object_s_name),
        cmocka_unit_test(a_custom_resource_selects_its_nodes),
        cmocka_unit_test(the_annotation_names_the_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
