/* Bodies as kubectl 1.33 sends them (test/fuzz/corpus/protobuf): each is the document that older
 * ones send as JSON. */
#include "emulator/formats/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

#define CORPUS SW_SOURCE_DIR "/test/fuzz/corpus/protobuf/"

static json_object *read_file(const char *name)
{
    SW_ERR(err);
    SW_AUTO_CHARS *path = sw_printf(CORPUS "%s", name);
    SW_AUTO_CHARS *bytes = NULL;
    json_object *doc = NULL;
    size_t len;
    assert_int_equal(sw_file_read(path, 1 << 20, &bytes, &len, &err), 0);
    if (sw_protobuf_read(bytes, len, &doc, &err) < 0)
        fail_msg("%s: %s", name, sw_err_text(&err));
    return doc;
}

static void check(const char *name, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *got = read_file(name);
    SW_AUTO_JSON *wanted = NULL;
    size_t len;
    assert_int_equal(sw_json_parse(want, strlen(want), NULL, &wanted, &err), 0);
    SW_AUTO_CHARS *text = sw_json_text(got, SW_JSON_PLAIN, &len);
    if (!sw_json_equal(got, wanted))
        fail_msg("%s: %s", name, text);
}

static void a_config_map_is_read(void **state)
{
    (void)state;
    check("configmaps",
          "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "
          "\"a\", \"namespace\": \"foo\"}, \"data\": {\"a\": \"b\"}}");
}

static void bytes_are_base64(void **state)
{
    (void)state;
    check("secrets", "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": "
                     "\"s\"}, \"data\": {\"a\": \"Yg==\"}}");
}

static void a_zero_that_was_set_is_kept(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = read_file("deployments");
    json_object *spec = sw_json_get(doc, "spec");
    assert_int_equal(sw_json_int(spec, -1, "replicas", NULL), 0);
    assert_null(sw_json_get(spec, "paused"));
    assert_null(sw_json_get(spec, "minReadySeconds"));
    json_object *container = sw_json_at(sw_json_find(spec, "template", "spec", "containers", NULL),
                                        0);
    assert_string_equal(sw_json_str(container, "", "image", NULL), "x");
    assert_int_equal(
        sw_json_int(sw_json_at(sw_json_get(container, "ports"), 0), 0, "containerPort", NULL), 80);
}

static void quantities_are_texts(void **state)
{
    (void)state;
    check("resourcequotas",
          "{\"apiVersion\": \"v1\", \"kind\": \"ResourceQuota\", \"metadata\": {\"name\": \"q\"}, "
          "\"spec\": {\"hard\": {\"cpu\": \"1\", \"pods\": \"2\"}}, \"status\": {}}");
}

static void numbers_or_texts_are_what_they_were(void **state)
{
    (void)state;
    SW_AUTO_JSON *pdb = read_file("poddisruptionbudgets");
    assert_string_equal(sw_json_str(pdb, "", "spec", "minAvailable", NULL), "50%");
    SW_AUTO_JSON *service = read_file("services");
    json_object *port = sw_json_at(sw_json_find(service, "spec", "ports", NULL), 0);
    assert_int_equal(sw_json_int(port, 0, "targetPort", NULL), 8080);
}

static void fields_that_are_inline_in_json_are_so(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = read_file("ingresses");
    json_object *rule = sw_json_at(sw_json_find(doc, "spec", "rules", NULL), 0);
    json_object *path = sw_json_at(sw_json_find(rule, "http", "paths", NULL), 0);
    assert_string_equal(sw_json_str(path, "", "backend", "service", "name", NULL), "svc");
}

static void kinds_of_requests_are_read_too(void **state)
{
    (void)state;
    SW_AUTO_JSON *token = read_file("token");
    assert_int_equal(sw_json_int(token, 0, "spec", "expirationSeconds", NULL), 3600);
    SW_AUTO_JSON *review = read_file("selfsubjectaccessreviews");
    assert_string_equal(sw_json_str(review, "", "spec", "resourceAttributes", "verb", NULL),
                        "create");
}

static void what_is_cut_off_is_refused_or_shorter(void **state)
{
    (void)state;
    SW_AUTO_CHARS *bytes = NULL;
    SW_ERR(err);
    size_t len, n_read = 0;
    assert_int_equal(sw_file_read(CORPUS "deployments", 1 << 20, &bytes, &len, &err), 0);
    for (size_t n = 0; n < len; n++) {
        SW_ERR(why);
        SW_AUTO_JSON *doc = NULL;
        SW_AUTO_CHARS *copy = sw_strndup(bytes, n); /* a byte beyond it is found */
        n_read += sw_protobuf_read(copy, n, &doc, &why) == 0;
    }
    assert_true(n_read < 4);
}

static void other_bytes_and_kinds_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        int code;
        const char *words;
    } cases[] = {
        { "{}", 2, SW_INVALID, "does not begin" },
        { "k8s\0\x0a\x09\x0a\x02v1\x12\x03Xyz", 15, SW_NOTFOUND, "v1, Kind=Xyz" },
        { "k8s\0\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16, SW_INVALID, "too long" },
        { "k8s\0\x0a\x7f", 6, SW_INVALID, "cut off" },
        { "k8s\0\x0b", 5, SW_INVALID, "no known form" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        json_object *doc = NULL;
        assert_int_equal(sw_protobuf_read(cases[i].bytes, cases[i].len, &doc, &err), cases[i].code);
        if (!strstr(sw_err_text(&err), cases[i].words))
            fail_msg("case %zu: %s", i, sw_err_text(&err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_config_map_is_read),
        cmocka_unit_test(bytes_are_base64),
        cmocka_unit_test(a_zero_that_was_set_is_kept),
        cmocka_unit_test(quantities_are_texts),
        cmocka_unit_test(numbers_or_texts_are_what_they_were),
        cmocka_unit_test(fields_that_are_inline_in_json_are_so),
        cmocka_unit_test(kinds_of_requests_are_read_too),
        cmocka_unit_test(what_is_cut_off_is_refused_or_shorter),
        cmocka_unit_test(other_bytes_and_kinds_are_refused),
    };
    return cmocka_run_group_tests_name("emulator_protobuf", tests, NULL, NULL);
}
