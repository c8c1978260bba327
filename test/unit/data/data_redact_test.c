/* What is handed on is rid of secrets, and of nothing else. */
#include "data/json/redact.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "data/data.h"

static void text_is(const char *in, const char *out)
{
    SW_AUTO_CHARS *copy = sw_strdup(in);
    sw_redact_text(copy);
    assert_string_equal(copy, out);
}

static void test_text(void **state SW_UNUSED)
{
    text_is("", "");
    text_is("nothing to hide here", "nothing to hide here");
    text_is("Authorization: Bearer abc.def", "Authorization: Bearer *******");
    text_is("authorization: basic QWxhZGRpbg==\nnext", "authorization: basic ************\nnext");
    text_is("password=hunter2, user=me", "password=*******, user=me");
    text_is("{\"token\": \"xyz\", \"name\": \"n\"}", "{\"token\": \"***\", \"name\": \"n\"}");
    text_is("DB_PASSWORD=a&x=1", "DB_PASSWORD=*&x=1");
    text_is("token", "token");
    text_is("password", "password");
    text_is("the token is gone", "the token is gone");
    text_is("Bearer ", "Bearer ");
}

static struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, &err), 0);
    return doc;
}

static void object_is(const char *in, const char *out)
{
    SW_AUTO_JSON *doc = parse(in), *want = parse(out);
    sw_redact_object(doc);
    if (!sw_json_equal(doc, want))
        fail_msg("%s", json_object_to_json_string(doc));
}

static void test_secrets_lose_their_data(void **state SW_UNUSED)
{
    object_is("{\"kind\":\"Secret\",\"data\":{\"a\":\"c2VjcmV0\"},\"type\":\"Opaque\"}",
              "{\"kind\":\"Secret\",\"data\":{\"a\":\"<8 bytes redacted>\"},\"type\":\"Opaque\"}");
    object_is("{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"plain\"}}",
              "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"plain\"}}");
}

static void test_named_like_secrets(void **state SW_UNUSED)
{
    object_is("{\"spec\":{\"chart\":{\"repository\":{\"password\":\"abc\",\"url\":\"u\"}}}}",
              "{\"spec\":{\"chart\":{\"repository\":{\"password\":\"<3 bytes "
              "redacted>\",\"url\":\"u\"}}}}");
    object_is(
        "{\"env\":[{\"name\":\"API_TOKEN\",\"value\":\"abcd\"},{\"name\":\"X\",\"value\":\"y\"}]}",
        "{\"env\":[{\"name\":\"API_TOKEN\",\"value\":\"<4 bytes redacted>\"},{\"name\":\"X\","
        "\"value\":\"y\"}]}");
}

static void test_references_stay(void **state SW_UNUSED)
{
    const char *kept = "{\"secretName\":\"s\",\"imagePullSecrets\":[{\"name\":\"p\"}],"
                       "\"valueFrom\":{\"secretKeyRef\":{\"name\":\"n\",\"key\":\"password\"}}}";
    object_is(kept, kept);
}

static void test_what_is_kept_beside(void **state SW_UNUSED)
{
    object_is("{\"metadata\":{\"name\":\"n\",\"managedFields\":[{}],\"annotations\":{"
              "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\",\"a\":\"b\"}}}",
              "{\"metadata\":{\"name\":\"n\",\"annotations\":{\"a\":\"b\"}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_secrets_lose_their_data),
        cmocka_unit_test(test_named_like_secrets),
        cmocka_unit_test(test_references_stay),
        cmocka_unit_test(test_what_is_kept_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
