/* Rules as text: what may be written, and where and how what may not is refused. */
#include "emulator/rules/rules_internal.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *text, *error; /* NULL: fine */
} cases[] = {
    { "", NULL },
    { "# nothing but a comment\n", NULL },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{status: {phase: Running}}]\n", NULL },
    { "rule: r\nfor: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Node}]\n"
      "when: [{apiVersion: v1, kind: Node, count: {min: 2}}]\nafter: 200ms\n"
      "do: [{delete: true}]\notherwise: [{patch: 'a: {{ .object.kind }}'}]\n",
      NULL },
    { "objects: [{apiVersion: v1, kind: Namespace, metadata: {name: x}}]\n", NULL },
    { "images: [{match: '^a', exists: false}]\nplatform: kubernetes\n", NULL },
    { "pods: [{labels: {a: b}, exitCode: 3, runs: forever, ready: false, log: hi}]\n", NULL },
    { "scheduler: mine\nwhen: [{apiVersion: v1, kind: Pod}]\n", NULL },

    { "rule: [", "f.yaml:2:1: " },
    { "- a\n- b\n", "f.yaml:1: expected a mapping" },
    { "what: x\n", "f.yaml:1: expected one of rule, objects, images, pods, scheduler" },
    { "# one\n---\nobjects: []\n---\nrule: r\nfo: {}\n", "f.yaml:5: unknown key 'fo'" },
    { "rule: r\ndo: [{delete: true}]\n", "f.yaml:1: for is needed" },
    { "rule: ''\n", "f.yaml:1: rule: expected a name" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\n", "f.yaml:1: do is needed" },
    { "rule: r\nfor: {kind: Pod}\ndo: [{delete: true}]\n",
      "f.yaml:1: for: apiVersion and kind are needed" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, labels: 'a in'}\ndo: [{delete: true}]\n",
      "f.yaml:1: for.labels: no selector: " },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, where: {status: x}}\ndo: [{delete: true}]\n",
      "f.yaml:1: for.where.status: no path: it begins with a dot" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, where: {.a: {like: x}}}\ndo: [{delete: true}]\n",
      "f.yaml:1: for.where..a: unknown key 'like'" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, where: {.a: {matches: '('}}}\ndo: [{delete: "
      "true}]\n",
      "f.yaml:1: for.where..a.matches: '(': " },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, where: {.a: {atLeast: much}}}\ndo: [{delete: "
      "true}]\n",
      "f.yaml:1: for.where..a.atLeast: expected a number or a quantity" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod, none: true}\ndo: [{delete: true}]\n",
      "f.yaml:1: for: unknown key 'none'" },
    { "rule: r\nfor: {apiVersion: v1, kind: Node}\nwhen: [{apiVersion: v1, kind: Node, node: x}]\n"
      "do: [{delete: true}]\n",
      "f.yaml:1: when[0]: node: only for Pods" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\nafter: soon\ndo: [{delete: true}]\n",
      "f.yaml:1: after: expected a time such as 200ms, 2s or 1m" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: []\n",
      "f.yaml:1: do: expected a list of 1 to 64 actions" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{owned: true}]\n",
      "f.yaml:1: do[0]: expected one of patch, status, apply, create, delete" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{patch: {}, status: {}}]\n",
      "f.yaml:1: do[0].status: an action has one verb" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{delete: false}]\n",
      "f.yaml:1: do[0].delete: expected true" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{apply: {}, target: {apiVersion: v1, kind: "
      "Node, name: x}}]\n",
      "f.yaml:1: do[0]: target: not with apply or create, whose objects name themselves" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{patch: {}, target: {apiVersion: v1, kind: "
      "Node}}]\n",
      "f.yaml:1: do[0].target: name is needed" },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{patch: {a: '{{ .x'}}]\n",
      "f.yaml:1: do[0].patch.a: parse error at " },
    { "rule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{patch: {}}]\notherwise: [{patch: {}}]\n",
      "f.yaml:1: otherwise: without a when it never happens" },
    { "rule: r\nplatform: hurd\nfor: {apiVersion: v1, kind: Pod}\ndo: [{patch: {}}]\n",
      "f.yaml:1: platform: expected openshift or kubernetes" },
    { "objects: 3\n", "f.yaml:1: objects: expected a list of objects, or a text" },
    { "objects: []\neach: {in: .x}\n", "f.yaml:1: each: objects take items or count" },
    { "objects: []\neach: {a: b}\n",
      "f.yaml:1: each: expected one of in, items, count, or a kind" },
    { "images: [{exists: false}]\n", "f.yaml:1: images[0]: match is needed" },
    { "images: {}\n", "f.yaml:1: images: expected a list" },
    { "images: []\nwhen: []\n", "f.yaml:1: unknown key 'when'" },
    { "pods: [{exitCode: 256}]\n", "f.yaml:1: pods[0].exitCode: expected a number from 0 to 255" },
    { "pods: [{runs: soon}]\n", "f.yaml:1: pods[0].runs: expected a time such as 200ms" },
};

static int check(const char *file, const char *text, size_t len_bytes, struct sw_err *err)
{
    struct rule_set set;
    sw_rule_set_init(&set, NULL, NULL);
    int rc = sw_rule_set_load(&set, file, text, len_bytes, err);
    sw_rule_set_done(&set);
    return rc;
}

static void bad_rules_are_refused_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        int rc = check("f.yaml", cases[i].text, strlen(cases[i].text), &err);
        if (!cases[i].error) {
            if (rc < 0)
                fail_msg("case %zu: %s", i, sw_err_text(&err));
            continue;
        }
        assert_int_equal(rc, SW_INVALID);
        if (!sw_starts_with(sw_err_text(&err), cases[i].error))
            fail_msg("case %zu: want '%s', got '%s'", i, cases[i].error, sw_err_text(&err));
    }
}

extern const struct sw_embedded sw_emulator_rules[];

static void each_built_in_file_is_fine_and_says_what_it_is(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct sw_embedded *f = sw_emulator_rules; f->name; f++, n++) {
        SW_ERR(err);
        if (check(f->name, f->text, f->len_bytes, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        if (f->text[0] != '#')
            fail_msg("%s: no comment at its top", f->name);
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_rules_are_refused_with_their_place),
        cmocka_unit_test(each_built_in_file_is_fine_and_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
