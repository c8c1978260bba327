/* The fields of Kubernetes' kinds. */
#include "cli/lint/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"

struct found {
    char text[1024];
};

static void on_problem(void *arg, const char *path, const char *text)
{
    struct found *f = arg;
    size_t len = strlen(f->text);
    assert_true(strncmp(text, path, strlen(path)) == 0);
    (void)snprintf(f->text + len, sizeof f->text - len, "%s%s", len ? "|" : "", text);
}

static void check(const char *doc_text, const char *want)
{
    SW_AUTO(sw_fields) *fields = sw_fields_new();
    SW_AUTO_JSON *doc = NULL;
    struct found found = { "" };
    SW_ERR(err);
    assert_int_equal(sw_json_parse(doc_text, strlen(doc_text), NULL, &doc, &err), 0);
    sw_fields_check(fields, doc, on_problem, &found);
    assert_string_equal(found.text, want);
}

#define POD(spec) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{" spec "}}"

static void what_a_kind_has_is_fine(void **state)
{
    (void)state;
    check(POD("\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":80}]}]"), "");
    check(POD("\"nodeSelector\":{\"any\":\"key\"},\"priority\":5,\"hostPID\":true"), "");
    check(POD("\"containers\":null"), "");
    check("{\"apiVersion\":\"apiextensions.k8s.io/"
          "v1\",\"kind\":\"CustomResourceDefinition\",\"spec\":"
          "{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"properties\":{\"a\":{\"type\":"
          "\"object\","
          "\"additionalProperties\":{\"type\":\"string\"}}}}}}]}}",
          "");
}

static void what_it_has_not_is_told_with_a_guess(void **state)
{
    (void)state;
    check(POD("\"contaners\":[]"), "spec.contaners: there is no such field; is it 'containers'?");
    check(POD("\"bogus\":1"), "spec.bogus: there is no such field");
    check(POD("\"containers\":[{},{\"Image\":\"x\"}]"),
          "spec.containers[1].Image: there is no such field; is it 'image'?");
}

static void other_types_are_told(void **state)
{
    (void)state;
    check(POD("\"priority\":\"5\""), "spec.priority: expected an integer, found text");
    check(POD("\"hostname\":5"), "spec.hostname: expected text, found a number; put it in quotes");
    check(POD("\"containers\":{}"), "spec.containers: expected a list, found a map");
    check(POD("\"securityContext\":[]"), "spec.securityContext: expected a map, found a list");
    check(POD("\"nodeSelector\":{\"a\":true}"),
          "spec.nodeSelector.a: expected text, found true or false; put it in quotes");
}

static void quantities_and_ports_may_be_numbers(void **state)
{
    (void)state;
    check(POD("\"containers\":[{\"resources\":{\"limits\":{\"cpu\":1,\"memory\":\"1Gi\"}},"
              "\"livenessProbe\":{\"httpGet\":{\"port\":\"http\"}}}]"),
          "");
}

static void of_other_kinds_only_metadata_is_looked_at(void **state)
{
    (void)state;
    check("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Pod\",\"spec\":{\"x\":1},"
          "\"metadata\":{\"nam\":\"x\"}}",
          "metadata.nam: there is no such field; is it 'name'?");
}

static void kinds_that_are_not_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *version, *kind, *want;
    } rows[] = { { "v1", "ConfigMapp", "kind: v1 has no 'ConfigMapp'; is it 'ConfigMap'?" },
                 { "v1", "pods", "kind: v1 has no 'pods'; is it 'Pod'?" },
                 { "v1", "Deployment", "kind: v1 has no 'Deployment'" },
                 { "v1", "List", "" },
                 { "v1", "ConfigMapList", "" },
                 { "apps/v1", "DeamonSet", "kind: apps/v1 has no 'DeamonSet'; is it 'DaemonSet'?" },
                 { "networking.k8s.io/v1", "ServiceCIDR", "" }, /* newer than the table */
                 { "example.com/v1", "Podd", "" } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *doc = sw_printf("{\"apiVersion\":\"%s\",\"kind\":\"%s\"}", rows[i].version,
                                       rows[i].kind);
        check(doc, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kind_has_is_fine),
        cmocka_unit_test(what_it_has_not_is_told_with_a_guess),
        cmocka_unit_test(other_types_are_told),
        cmocka_unit_test(quantities_and_ports_may_be_numbers),
        cmocka_unit_test(of_other_kinds_only_metadata_is_looked_at),
        cmocka_unit_test(kinds_that_are_not_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
