/* Who a token is, and who may read a path. */
#include "emulator/emulator/api.h"

#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define RBAC "/apis/rbac.authorization.k8s.io/v1"

static int set_up(void **state)
{
    *state = api_open();
    return 0;
}

static int tear_down(void **state)
{
    api_close(*state);
    return 0;
}

static json_object *review(struct api *api, const char *token)
{
    SW_AUTO_CHARS *body = sw_printf("{\"spec\":{\"token\":\"%s\"}}", token);
    return api_expect(api, 201, "POST", TOKENS, NULL, body);
}

static void tokens_that_it_made_are_known(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/serviceaccounts", NULL,
             "{\"metadata\":{\"name\":\"a.b\"}}");
    SW_AUTO_JSON *token = api_expect(api, 201, "POST",
                                     "/api/v1/namespaces/default/serviceaccounts/a.b/token", NULL,
                                     "{\"spec\":{\"expirationSeconds\":600}}");
    const char *text = str(token, "status", "token", NULL);
    SW_AUTO_JSON *known = review(api, text);
    assert_true(sw_json_bool(known, false, "status", "authenticated", NULL));
    assert_string_equal(sw_json_str(known, "", "status", "user", "username", NULL),
                        "system:serviceaccount:default:a.b");
    assert_true(*sw_json_str(known, "", "status", "user", "uid", NULL));
    api_must(api, 200, "DELETE", "/api/v1/namespaces/default/serviceaccounts/a.b", NULL, NULL);
    SW_AUTO_JSON *gone = review(api, text);
    assert_false(sw_json_bool(gone, true, "status", "authenticated", NULL));
}

static void other_tokens_are_nobodys(void **state)
{
    static const char *const tokens[] = { "",
                                          "x",
                                          "emulated",
                                          "emulated.",
                                          "emulated.default",
                                          "emulated.default.default",
                                          "emulated.default.default.1.u",
                                          "emulated.default.default.x.u",
                                          "emulated.default.default..u",
                                          "emulated...99999999999.u",
                                          "emulated.none.none.99999999999.u" };
    for (size_t i = 0; i < SW_COUNT(tokens); i++) {
        SW_AUTO_JSON *doc = review(*state, tokens[i]);
        assert_false(sw_json_bool(doc, true, "status", "authenticated", NULL));
    }
}

static bool may(struct api *api, const char *who, const char *what)
{
    SW_AUTO_CHARS *body = sw_printf("{\"spec\":{%s,%s}}", who, what);
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", ACCESS, NULL, body);
    return sw_json_bool(doc, false, "status", "allowed", NULL);
}

#define PATH(verb, path) "\"nonResourceAttributes\":{\"verb\":\"" verb "\",\"path\":\"" path "\"}"

static void paths_are_for_whom_roles_let(void **state)
{
    struct api *api = *state;
    const char *account = "\"user\":\"system:serviceaccount:m:p\"", *user = "\"user\":\"u\"";
    const char *group = "\"user\":\"v\",\"groups\":[\"g\"]";
    assert_false(may(api, account, PATH("get", "/metrics")));
    assert_true(may(api, account, PATH("get", "/healthz")));
    assert_true(
        may(api, "\"user\":\"x\",\"groups\":[\"system:masters\"]", PATH("get", "/metrics")));
    assert_true(may(api, account, "\"resourceAttributes\":{\"verb\":\"get\"}"));
    api_must(api, 201, "POST", RBAC "/clusterroles", NULL,
             "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"nonResourceURLs\":[\"/metrics\","
             "\"/logs/*\"],\"verbs\":[\"get\"]}]}");
    api_must(api, 201, "POST", RBAC "/clusterrolebindings", NULL,
             "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"},"
             "\"subjects\":[{\"kind\":\"ServiceAccount\",\"namespace\":\"m\",\"name\":\"p\"},"
             "{\"kind\":\"User\",\"name\":\"u\"},{\"kind\":\"Group\",\"name\":\"g\"}]}");
    assert_true(may(api, account, PATH("get", "/metrics")));
    assert_true(may(api, user, PATH("get", "/metrics")));
    assert_true(may(api, group, PATH("get", "/logs/a")));
    assert_false(may(api, account, PATH("post", "/metrics")));
    assert_false(may(api, account, PATH("get", "/metrics/cadvisor")));
    assert_false(may(api, "\"user\":\"w\"", PATH("get", "/metrics")));
    api_must(api, 201, "POST", RBAC "/clusterrolebindings", NULL,
             "{\"metadata\":{\"name\":\"c\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":"
             "\"missing\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"w\"}]}");
    assert_false(may(api, "\"user\":\"w\"", PATH("get", "/metrics")));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(tokens_that_it_made_are_known),
        CASE(other_tokens_are_nobodys),
        CASE(paths_are_for_whom_roles_let),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
