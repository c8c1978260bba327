/* Strategic merge patches. The rows' results are those of k8s.io/apimachinery's strategicpatch. */
#include "data/patch/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/patch/strategic_table.h"
#include "data_util.h"

struct row {
    const char *kind, *target, *patch, *want;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        SW_ERR(err);
        SW_AUTO_JSON *target = parse(rows[i].target);
        SW_AUTO_JSON *patch = parse(rows[i].patch);
        SW_AUTO_JSON *want = parse(rows[i].want);
        SW_AUTO_JSON *got = NULL;
        if (sw_strategic_apply(target, patch, rows[i].kind, &got, &err) < 0)
            fail_msg("%s: %s", rows[i].patch, sw_err_text(&err));
        if (!sw_json_equal(got, want))
            fail_msg("%s: want %s, got %s", rows[i].patch, rows[i].want,
                     json_object_to_json_string(got));
    }
}

static void lists_merge_by_their_key(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Pod", "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\"},{\"name\":"
          "\"b\"}]}}" },
        { "Deployment",
          "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":"
          "\"x\","
          "\"value\":\"1\"}],\"args\":[\"1\",\"2\"]}]}}}}",
          "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":"
          "\"y\","
          "\"value\":\"2\"}],\"args\":[\"3\"]}]}}}}",
          "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":"
          "\"y\","
          "\"value\":\"2\"},{\"name\":\"x\",\"value\":\"1\"}],\"args\":[\"3\"]}]}}}}" },
        { "Service", "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"a\"}]}}",
          "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"}]}}",
          "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"}]}}" },
        { "Node",
          "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":"
          "\"Disk\"}"
          "]}}",
          "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
          "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":"
          "\"Disk\"}]}}" },
        { "CronJob",
          "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{"
          "\"name\":\"a\"}]}}}}}}",
          "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":"
          "\"b\"}]}}"
          "}}}}",
          "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":"
          "\"b\"},{"
          "\"name\":\"a\"}]}}}}}}" },
        { "ConfigMap",
          "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\"}],\"finalizers\":[\"a\",\"b\"]}}",
          "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"}],\"finalizers\":[\"c\",\"a\"]}}",
          "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"},{\"uid\":\"1\"}],\"finalizers\":["
          "\"c\",\"a\","
          "\"b\"]}}" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void other_lists_are_replaced(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Pod", "{\"spec\":{\"tolerations\":[{\"key\":\"a\"}]}}",
          "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}",
          "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}" },
        { "Node", "{\"spec\":{\"taints\":[{\"key\":\"a\"}]}}", "{\"spec\":{\"taints\":[]}}",
          "{\"spec\":{\"taints\":[]}}" },
        { "SpecialResource", "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void maps_merge_and_null_deletes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Node", "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}",
          "{\"metadata\":{\"labels\":{\"a\":null,\"c\":\"3\"}}}",
          "{\"metadata\":{\"labels\":{\"b\":\"2\",\"c\":\"3\"}}}" },
        { "Node", "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}", "{\"metadata\":{\"labels\":null}}",
          "{\"metadata\":{}}" },
        { "Node", "{}", "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":null}}}",
          "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void directives_say_what_to_do(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Pod", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}" },
        { "Pod", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"c\"},{\"$patch\":\"replace\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}" },
        { "Pod", "{\"spec\":{\"nodeSelector\":{\"a\":\"1\"},\"x\":1}}",
          "{\"spec\":{\"nodeSelector\":{\"$patch\":\"replace\",\"b\":\"2\"}}}",
          "{\"spec\":{\"nodeSelector\":{\"b\":\"2\"},\"x\":1}}" },
        { "Pod", "{\"spec\":{\"nodeSelector\":{\"a\":\"1\"}}}",
          "{\"spec\":{\"nodeSelector\":{\"$patch\":\"delete\"}}}",
          "{\"spec\":{\"nodeSelector\":{}}}" },
        { "Pod", "{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"c\"]}}",
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\",\"c\",\"x\"]}}",
          "{\"metadata\":{\"finalizers\":[\"b\"]}}" },
        { "Pod", "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}",
          "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"hostPath\":{},\"$retainKeys\":[\"name\","
          "\"hostPath\"]}"
          "]}}",
          "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"hostPath\":{}}]}}" },
        { "Pod", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"s\"},{\"name\":\"b\"}]}}",
          "{\"spec\":{\"$setElementOrder/"
          "containers\":[{\"name\":\"b\"},{\"name\":\"a\"}],\"containers\":[{"
          "\"name\":\"b\",\"image\":\"x\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"s\"},{\"name\":\"b\",\"image\":\"x\"},{\"name\":"
          "\"a\"}]}}" },
        { "Pod", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
          "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}",
          "{\"spec\":{\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void says_where_a_patch_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *patch, *want;
    } rows[] = {
        { "[]", "a strategic merge patch must be a map" },
        { "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"image\":\"x\"}]}}",
          "spec.containers[1]: no merge key 'name'" },
        { "{\"spec\":{\"containers\":[3]}}", "spec.containers[0]: not a map" },
        { "{\"spec\":{\"containers\":[{\"$patch\":\"delete\"}]}}",
          "spec.containers[0]: no merge key 'name'" },
        { "{\"spec\":{\"containers\":[{\"name\":\"a\",\"$patch\":\"merge\"}]}}",
          "spec.containers[0]: $patch is neither replace nor delete" },
        { "{\"spec\":{\"$patch\":\"x\"}}", "spec: $patch is neither replace nor delete" },
        { "{\"spec\":{\"$retainKeys\":[\"a\"],\"b\":1}}",
          "spec: $retainKeys does not name all keys of the patch" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *target = parse("{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}");
        SW_AUTO_JSON *patch = parse(rows[i].patch);
        SW_AUTO_JSON *got = NULL;
        assert_int_equal(sw_strategic_apply(target, patch, "Pod", &got, &err), SW_INVALID);
        assert_string_equal(sw_err_text(&err), rows[i].want);
        assert_null(got);
    }
}

static void the_table_has_no_doubles_and_no_dead_ends(void **state)
{
    (void)state;
    const struct sw_merge_rule *r, *other;
    for (unsigned i = 0; (r = sw_merge_rule_at(i)); i++) {
        assert_true(r->merge || r->element); /* else the row says nothing */
        bool used = !r->element;
        for (unsigned k = 0; (other = sw_merge_rule_at(k)); k++) {
            if (k != i && strcmp(r->type, other->type) == 0)
                assert_string_not_equal(r->field, other->field);
            used = used || strcmp(r->element, other->type) == 0;
        }
        if (!used)
            fail_msg("%s.%s leads to %s, of which there is no row", r->type, r->field, r->element);
    }
    assert_null(sw_merge_rule_find("PodSpec", "metadata"));
    assert_null(sw_merge_rule_find(NULL, "containers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_merge_by_their_key),
        cmocka_unit_test(other_lists_are_replaced),
        cmocka_unit_test(maps_merge_and_null_deletes),
        cmocka_unit_test(directives_say_what_to_do),
        cmocka_unit_test(says_where_a_patch_is_wrong),
        cmocka_unit_test(the_table_has_no_doubles_and_no_dead_ends),
    };
    return cmocka_run_group_tests_name("data_strategic", tests, NULL, NULL);
}
