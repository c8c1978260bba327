/* AICR's records of transitions: what they say of a step from one version to another. */
#include "chart/aicr/upgrades.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

static const char record_text[] =
    "apiVersion: aicr.run/v1beta1\n"
    "kind: ComponentUpgrades\n"
    "component: widget\n"
    "transitions:\n"
    "- {from: '<0.18.0', to: '>=0.18.0 <=0.19.1', verdict: manual, summary: renamed,\n"
    "   stepsByDeployer: [{deployers: [flux], steps: [{id: f, description: flux}]},\n"
    "     {deployers: [helm, helmfile], steps: [{id: h, description: helm}]}]}\n"
    "- {from: '>=0.19.1 <0.20.0', to: '=0.20.0', verdict: safe, verifiedBy: a run}\n"
    "- {from: '<1.0.0-alpha.3', to: 1.0.0-alpha.3, verdict: blocked, summary: no}\n";

static struct json_object *record(const char *text, const char *component, struct sw_err *err)
{
    struct json_object *doc = NULL;
    return sw_aicr_upgrades_read("upgrades.yaml", component, text, strlen(text), &doc, err) < 0
               ? NULL
               : doc;
}

static void a_step_is_what_its_transition_says(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *verdict;
    } rows[] = {
        { "v0.17.0", "v0.18.0", "manual" },
        { "0.17.0", "0.19.1", "manual" },
        { "0.17.0", "0.19.2", "blocked" }, /* past what the record speaks of */
        { "0.18.0", "0.19.0", "unknown" }, /* no boundary is crossed */
        { "0.19.1", "0.20.0", "safe" },
        { "0.18.5", "0.20.0", "blocked" },        /* not from there */
        { "0.17.0", "0.20.0", "blocked" },        /* two boundaries */
        { "0.20.0", "0.19.1", "unknown" },        /* back */
        { "0.20.0", "1.0.0-alpha.3", "blocked" }, /* the record says so */
        { "0.20.0", "1.0.0-alpha.2", "unknown" }, /* a prerelease before it */
        { "0.20.0", "main", "unversioned" },
    };
    SW_ERR(err);
    SW_AUTO_JSON *doc = record(record_text, "widget", &err);
    if (!doc)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *step = sw_aicr_upgrade(doc, rows[i].from, rows[i].to);
        if (!sw_streq(sw_json_str(step, "", "verdict", NULL), rows[i].verdict))
            fail_msg("%s to %s: %s, not %s", rows[i].from, rows[i].to,
                     sw_json_str(step, "", "verdict", NULL), rows[i].verdict);
    }
}

static void steps_are_those_of_helm(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = record(record_text, "widget", &err);
    SW_AUTO_JSON *step = sw_aicr_upgrade(doc, "0.17.0", "0.18.0");
    struct json_object *steps = sw_json_get(step, "steps");
    assert_int_equal(sw_json_len(steps), 1);
    assert_string_equal(sw_json_str(sw_json_at(steps, 0), "", "description", NULL), "helm");
    assert_string_equal(sw_json_str(step, "", "summary", NULL), "renamed");
}

static void a_component_may_take_the_place_of_another(void **state)
{
    (void)state;
    static const char text[] =
        "apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\ncomponent: widget\n"
        "replaces: {component: gadget, verdict: manual, summary: another name,\n"
        "  stepsByDeployer: [{deployers: [flux], steps: [{id: f, description: flux}]},\n"
        "    {steps: [{id: h, description: move}]}]}\n";
    SW_ERR(err);
    SW_AUTO_JSON *doc = record(text, "widget", &err);
    if (!doc)
        fail_msg("%s", sw_err_text(&err));
    assert_string_equal(sw_aicr_replaces(doc), "gadget");
    assert_null(sw_aicr_replaces(NULL));
    SW_AUTO_JSON *step = sw_aicr_replacement(doc, "1.2.3");
    SW_AUTO_CHARS *said = sw_aicr_upgrade_text(step, "; ", "before");
    assert_string_equal(sw_json_str(step, "", "verdict", NULL), "manual");
    assert_string_equal(sw_json_str(step, "", "replaces", NULL), "gadget");
    assert_string_equal(said, "another name; 1. move");
}

static void without_a_record_a_step_is_unknown(void **state)
{
    (void)state;
    SW_AUTO_JSON *step = sw_aicr_upgrade(NULL, "1.0.0", "1.1.0");
    assert_string_equal(sw_json_str(step, "", "verdict", NULL), "unknown");
    assert_string_equal(sw_json_str(step, "", "why", NULL), "it has no record");
}

static void what_is_no_record_is_refused(void **state)
{
    (void)state;
    static const char head[] = "apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\n";
    static const struct {
        const char *rest, *said;
    } rows[] = {
        { "component: other\n", "it is 'other', not 'widget'" },
        { "component: widget\nsurprise: 1\n", "surprise" },
        { "component: widget\ntransitions: [{from: '<1.0.0', to: '=1.0.0', verdict: unknown}]\n",
          "'unknown' is none of safe, manual, blocked" },
        { "component: widget\nreplaces: {component: gadget, verdict: perhaps}\n",
          "replaces: verdict: 'perhaps' is none of safe, manual, blocked" },
        { "component: widget\nreplaces: {verdict: safe}\n", "replaces: component: none is named" },
        { "component: widget\nreplaces: {component: gadget, from: a}\n", "from" },
        { "component: widget\ntransitions: [{from: '', to: '=1.0.0', verdict: safe}]\n", "from" },
        { "component: widget\ntransitions: [{from: '<1.0.0', to: soon, verdict: safe}]\n", "to" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_CHARS *text = sw_printf("%s%s", head, rows[i].rest);
        SW_AUTO_JSON *doc = record(text, "widget", &err);
        if (doc || !strstr(sw_err_text(&err), rows[i].said))
            fail_msg("%s: %s", rows[i].rest, doc ? "taken" : sw_err_text(&err));
        sw_err_done(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_what_its_transition_says),
        cmocka_unit_test(steps_are_those_of_helm),
        cmocka_unit_test(a_component_may_take_the_place_of_another),
        cmocka_unit_test(without_a_record_a_step_is_unknown),
        cmocka_unit_test(what_is_no_record_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
