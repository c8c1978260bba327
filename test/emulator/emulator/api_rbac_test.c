/* Roles say who may do what. The texts are those of a kube-apiserver. */
#include "emulator/emulator/api.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define DEV RBAC "/namespaces/dev"
#define BOB "system:serviceaccount:dev:bob"
#define AS_BOB "Impersonate-User: " BOB
#define BOB_GROUPS                                                                                 \
    "(groups=[\"system:serviceaccounts\" \"system:serviceaccounts:dev\" "                          \
    "\"system:authenticated\"])"

static int set_up(void **state)
{
    struct api *api = *state = api_open_with(&(struct sw_emulator_opts){
        .no_nodes = true, .no_controllers = true, .seed = 1, .rbac = true });
    api_must(api, 201, "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"dev\"}}");
    api_must(api, 201, "POST", "/api/v1/namespaces/dev/serviceaccounts", NULL,
             "{\"metadata\":{\"name\":\"bob\"}}");
    return 0;
}

static int tear_down(void **state)
{
    api_close(*state);
    return 0;
}

/* With one more header; @message: of the Status, NULL: any */
static void expect_as(struct api *api, const char *header, int code, const char *method,
                      const char *path, const char *body, const char *message)
{
    ANSWER(a) = api_finish(api_begin(api, method, path, NULL, body, header));
    if (a.code != code)
        fail_msg("%s %s: %d instead of %d: %s", method, path, a.code, code, a.text);
    if (message)
        assert_string_equal(sw_json_str(a.doc, "", "message", NULL), message);
}

static void grant(struct api *api, const char *name, const char *kind, const char *role)
{
    SW_AUTO_CHARS *body = sw_printf(
        "{\"metadata\":{\"name\":\"%s\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
        "\"kind\":\"%s\",\"name\":\"%s\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":"
        "\"bob\",\"namespace\":\"dev\"}]}",
        name, kind, role);
    api_must(api, 201, "POST", DEV "/rolebindings", NULL, body);
}

static void add_role(struct api *api, const char *name, const char *rules)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\"},\"rules\":[%s]}", name, rules);
    api_must(api, 201, "POST", DEV "/roles", NULL, body);
}

static void what_no_role_allows_is_refused_in_the_servers_words(void **state)
{
    static const struct {
        const char *method, *path, *message;
    } rows[] = {
        { "GET", "/api/v1/namespaces/dev/pods",
          "pods is forbidden: User \"" BOB "\" cannot list resource \"pods\" in API group \"\" in "
          "the namespace \"dev\"" },
        { "GET", "/api/v1/namespaces/dev/pods?watch=1",
          "pods is forbidden: User \"" BOB "\" cannot watch resource \"pods\" in API group \"\" in "
          "the namespace \"dev\"" },
        { "GET", "/api/v1/nodes/n",
          "nodes \"n\" is forbidden: User \"" BOB "\" cannot get resource \"nodes\" in API group "
          "\"\" at the cluster scope" },
        { "DELETE", "/apis/apps/v1/namespaces/dev/deployments",
          "deployments.apps is forbidden: User \"" BOB "\" cannot deletecollection resource "
          "\"deployments\" in API group \"apps\" in the namespace \"dev\"" },
        { "GET", "/api/v1/namespaces/dev/pods/p/log",
          "pods \"p\" is forbidden: User \"" BOB "\" cannot get resource \"pods/log\" in API group "
          "\"\" in the namespace \"dev\"" },
        { "GET", "/api/v1/namespaces/dev",
          "namespaces \"dev\" is forbidden: User \"" BOB "\" cannot get resource \"namespaces\" in "
          "API group \"\" in the namespace \"dev\"" },
        { "GET", "/apis/none.example.com/v1/things",
          "things.none.example.com is forbidden: User \"" BOB "\" cannot list resource \"things\" "
          "in API group \"none.example.com\" at the cluster scope" },
        { "GET", "/metrics", "forbidden: User \"" BOB "\" cannot get path \"/metrics\"" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        expect_as(*state, AS_BOB, 403, rows[i].method, rows[i].path, NULL, rows[i].message);
    expect_as(*state, AS_BOB, 200, "GET", "/apis/apps/v1", NULL, NULL); /* system:discovery */
    expect_as(*state, NULL, 200, "GET", "/api/v1/nodes", NULL, NULL);   /* system:masters */
}

static void roles_allow_by_verb_group_resource_and_name(void **state)
{
    struct api *api = *state;
    add_role(api, "r",
             "{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"resourceNames\":[\"a\"],"
             "\"verbs\":[\"get\",\"list\",\"update\"]},"
             "{\"apiGroups\":[\"apps\"],\"resources\":[\"*/scale\"],\"verbs\":[\"*\"]}");
    grant(api, "b", "Role", "r");
    expect_as(api, AS_BOB, 404, "GET", "/api/v1/namespaces/dev/configmaps/a", NULL, NULL);
    expect_as(api, AS_BOB, 403, "GET", "/api/v1/namespaces/dev/configmaps/b", NULL, NULL);
    expect_as(api, AS_BOB, 403, "GET", "/api/v1/namespaces/dev/configmaps", NULL, NULL);
    expect_as(api, AS_BOB, 200, "GET",
              "/api/v1/namespaces/dev/configmaps?fieldSelector=metadata.name%3Da", NULL, NULL);
    expect_as(api, AS_BOB, 403, "GET", "/api/v1/namespaces/default/configmaps/a", NULL, NULL);
    expect_as(api, AS_BOB, 404, "GET", "/apis/apps/v1/namespaces/dev/deployments/d/scale", NULL,
              NULL);
    expect_as(api, AS_BOB, 403, "GET", "/apis/apps/v1/namespaces/dev/deployments/d", NULL, NULL);
}

static void a_token_is_its_account(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *token = api_expect(
        api, 201, "POST", "/api/v1/namespaces/dev/serviceaccounts/bob/token", NULL, "{}");
    SW_AUTO_CHARS *header = sw_printf("Authorization: Bearer %s",
                                      sw_json_str(token, "", "status", "token", NULL));
    expect_as(api, header, 403, "GET", "/api/v1/namespaces/dev/pods", NULL, NULL);
    grant(api, "b", "ClusterRole", "view");
    api_settle(api);
    expect_as(api, header, 200, "GET", "/api/v1/namespaces/dev/pods", NULL, NULL);
    expect_as(api, "Authorization: Bearer x", 401, "GET", "/api/v1/namespaces/dev/pods", NULL,
              "Unauthorized");
}

static void impersonation_needs_a_right(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *token = api_expect(
        api, 201, "POST", "/api/v1/namespaces/dev/serviceaccounts/bob/token", NULL, "{}");
    SW_AUTO_CHARS *both = sw_printf("Authorization: Bearer %s\r\nImpersonate-User: jane",
                                    sw_json_str(token, "", "status", "token", NULL));
    expect_as(api, both, 403, "GET", "/version", NULL,
              "users \"jane\" is forbidden: User \"" BOB "\" cannot impersonate resource \"users\" "
              "in API group \"\" at the cluster scope");
}

#define READS_PODS "{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\",\"list\"]}"
#define MAKES_ROLES                                                                                \
    "{\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\",\"rolebindings\"],"   \
    "\"verbs\":[\"create\",\"update\",\"patch\"]}"

static void nobody_gives_away_what_he_has_not(void **state)
{
    struct api *api = *state;
    add_role(api, "r", READS_PODS "," MAKES_ROLES);
    grant(api, "b", "Role", "r");
    expect_as(api, AS_BOB, 201, "POST", DEV "/roles",
              "{\"metadata\":{\"name\":\"same\"},\"rules\":[" READS_PODS "]}", NULL);
    expect_as(api, AS_BOB, 403, "POST", DEV "/roles",
              "{\"metadata\":{\"name\":\"more\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":["
              "\"pods\",\"nodes\"],\"verbs\":[\"get\",\"watch\"]}]}",
              "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"" BOB "\" " BOB_GROUPS
              " is attempting to grant RBAC permissions not currently held:\n"
              "{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"watch\"]}\n"
              "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\"]}");
    expect_as(api, AS_BOB, 403, "PUT", DEV "/roles/same",
              "{\"metadata\":{\"name\":\"same\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":["
              "\"pods\"],\"verbs\":[\"*\"]}]}",
              "roles.rbac.authorization.k8s.io \"same\" is forbidden: user \"" BOB "\" " BOB_GROUPS
              " is attempting to grant RBAC permissions not currently held:\n"
              "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}");
    expect_as(api, AS_BOB, 403, "POST", DEV "/rolebindings",
              "{\"metadata\":{\"name\":\"up\"},\"roleRef\":{\"apiGroup\":"
              "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"}}",
              "rolebindings.rbac.authorization.k8s.io \"up\" is forbidden: user \"" BOB
              "\" " BOB_GROUPS " is attempting to grant RBAC permissions not currently held:\n"
              "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n"
              "{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}");
    expect_as(api, AS_BOB, 404, "POST", DEV "/rolebindings",
              "{\"metadata\":{\"name\":\"x\"},\"roleRef\":{\"apiGroup\":"
              "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"none\"}}",
              "roles.rbac.authorization.k8s.io \"none\" not found");
}

static void escalate_and_bind_let_him(void **state)
{
    struct api *api = *state;
    add_role(api, "r",
             MAKES_ROLES ",{\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\","
                         "\"clusterroles\"],\"resourceNames\":[\"more\",\"view\"],\"verbs\":["
                         "\"escalate\",\"bind\"]}");
    grant(api, "b", "Role", "r");
    expect_as(api, AS_BOB, 201, "POST", DEV "/roles",
              "{\"metadata\":{\"name\":\"more\"},\"rules\":[" READS_PODS "]}", NULL);
    expect_as(api, AS_BOB, 403, "POST", DEV "/roles",
              "{\"metadata\":{\"name\":\"other\"},\"rules\":[" READS_PODS "]}", NULL);
    expect_as(api, AS_BOB, 201, "POST", DEV "/rolebindings",
              "{\"metadata\":{\"name\":\"v\"},\"roleRef\":{\"apiGroup\":"
              "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"}}",
              NULL);
}

static void aggregated_roles_follow_their_selectors(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", RBAC "/clusterroles", NULL,
             "{\"metadata\":{\"name\":\"sum\"},\"aggregationRule\":{\"clusterRoleSelectors\":[{"
             "\"matchLabels\":{\"to-sum\":\"true\"}}]},\"rules\":[]}");
    api_must(
        api, 201, "POST", RBAC "/clusterroles", NULL,
        "{\"metadata\":{\"name\":\"one\",\"labels\":{\"to-sum\":\"true\"}},\"rules\":[" READS_PODS
        "]}");
    api_settle(api);
    grant(api, "b", "ClusterRole", "sum");
    expect_as(api, AS_BOB, 200, "GET", "/api/v1/namespaces/dev/pods", NULL, NULL);
    api_must(api, 200, "DELETE", RBAC "/clusterroles/one", NULL, NULL);
    api_settle(api);
    expect_as(api, AS_BOB, 403, "GET", "/api/v1/namespaces/dev/pods", NULL, NULL);
    /* those of a new cluster: what is in view is in edit and admin, too */
    SW_AUTO_JSON *admin = api_expect(api, 200, "GET", RBAC "/clusterroles/admin", NULL, NULL);
    assert_non_null(strstr(json_object_to_json_string(admin), "endpointslices"));
}

static void expect_review(struct api *api, const char *header, const char *path, const char *spec,
                          bool allowed, const char *reason)
{
    SW_AUTO_CHARS *body = sw_printf("{\"spec\":%s}", spec);
    ANSWER(a) = api_finish(api_begin(api, "POST", path, NULL, body, header));
    assert_int_equal(a.code, 201);
    assert_int_equal(sw_json_bool(a.doc, !allowed, "status", "allowed", NULL), allowed);
    assert_string_equal(sw_json_str(a.doc, "", "status", "reason", NULL), reason);
}

static void reviews_say_by_which_binding(void **state)
{
#define AUTHZ "/apis/authorization.k8s.io/v1/"
    static const char pods[] =
        "{\"user\":\"" BOB
        "\",\"resourceAttributes\":{\"namespace\":\"dev\",\"verb\":\"get\",\"resource\":\"pods\"}}";
    struct api *api = *state;
    expect_review(api, NULL, AUTHZ "subjectaccessreviews", pods, false, "");
    grant(api, "b", "Role", "r");
    expect_review(api, NULL, AUTHZ "subjectaccessreviews", pods, false,
                  "RBAC: role.rbac.authorization.k8s.io \"r\" not found");
    add_role(api, "r", READS_PODS);
    expect_review(
        api, NULL, AUTHZ "subjectaccessreviews", pods, true,
        "RBAC: allowed by RoleBinding \"b/dev\" of Role \"r\" to ServiceAccount \"bob/dev\"");
    expect_review(
        api, AS_BOB, AUTHZ "selfsubjectaccessreviews", pods, true,
        "RBAC: allowed by RoleBinding \"b/dev\" of Role \"r\" to ServiceAccount \"bob/dev\"");
    expect_review(api, NULL, AUTHZ "selfsubjectaccessreviews", pods, true, "");
    ANSWER(rules) = api_finish(api_begin(api, "POST", AUTHZ "selfsubjectrulesreviews", NULL,
                                         "{\"spec\":{\"namespace\":\"dev\"}}", AS_BOB));
    assert_non_null(strstr(rules.text, "\"resources\":[\"pods\"]"));
    assert_non_null(strstr(rules.text, "\"nonResourceURLs\":"));
}

static int set_up_devices(void **state)
{
    struct api *api = *state = api_open_with(&(struct sw_emulator_opts){ .no_nodes = true,
                                                                         .no_controllers = true,
                                                                         .seed = 1,
                                                                         .rbac = true,
                                                                         .kube_version = "1.36" });
    api_must(api, 201, "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"dev\"}}");
    return 0;
}

/* @message: of the Status, NULL: any */
static void patch_claim_as_bob(struct api *api, const char *path, int code, const char *body,
                               const char *message)
{
    ANSWER(a) = api_finish(
        api_begin(api, "PATCH", path, "application/merge-patch+json", body, AS_BOB));
    if (a.code != code)
        fail_msg("%d instead of %d: %s", a.code, code, a.text);
    if (message)
        assert_string_equal(sw_json_str(a.doc, "", "message", NULL), message);
}

static void who_has_a_claim_is_written_with_the_right_to_bind_it(void **state)
{
    static const char claims[] = "/apis/resource.k8s.io/v1/namespaces/dev/resourceclaims";
    static const char allocated[] =
        "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
        "\"d.example\",\"pool\":\"p\",\"device\":\"x\"}]}}}}";
    struct api *api = *state;
    SW_AUTO_CHARS *status = sw_printf("%s/c/status", claims);
    api_must(api, 201, "POST", claims, NULL,
             "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
             "\"exactly\":{\"deviceClassName\":\"d\"}}]}}}");
    add_role(api, "status",
             "{\"apiGroups\":[\"resource.k8s.io\"],\"resources\":[\"resourceclaims/status\"],"
             "\"verbs\":[\"*\"]}");
    grant(api, "status", "Role", "status");
    patch_claim_as_bob(
        api, status, 422, allocated,
        "ResourceClaim.resource.k8s.io \"c\" is invalid: status.allocation: Forbidden: changing "
        "status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", "
        "verb=\"patch\" permission: resourceclaims.resource.k8s.io is forbidden: User \"" BOB "\" "
        "cannot patch resource \"resourceclaims/binding\" in API group \"resource.k8s.io\" at the "
        "cluster scope");
    patch_claim_as_bob(api, status, 200, "{\"metadata\":{\"name\":\"c\"}}", NULL);
    api_must(api, 201, "POST", RBAC "/clusterroles", NULL,
             "{\"metadata\":{\"name\":\"bind\"},\"rules\":[{\"apiGroups\":[\"resource.k8s.io\"],"
             "\"resources\":[\"resourceclaims/binding\"],\"verbs\":[\"patch\"]}]}");
    api_must(
        api, 201, "POST", RBAC "/clusterrolebindings", NULL,
        "{\"metadata\":{\"name\":\"bind\"},\"roleRef\":{\"apiGroup\":"
        "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"bind\"},"
        "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"bob\",\"namespace\":\"dev\"}]}");
    patch_claim_as_bob(api, status, 200, allocated, NULL);
}

/* A PATCH of the claim's status.devices by the account of @token. */
static void patch_devices(struct api *api, const char *token, int code, const char *driver,
                          const char *message)
{
    SW_AUTO_CHARS *header = sw_printf("Authorization: Bearer %s", token);
    SW_AUTO_CHARS *body = sw_printf("{\"status\":{\"devices\":[{\"driver\":\"%s\",\"pool\":"
                                    "\"p\",\"device\":\"x\"}]}}",
                                    driver);
    ANSWER(a) = api_finish(
        api_begin(api, "PATCH", "/apis/resource.k8s.io/v1/namespaces/dev/resourceclaims/c/status",
                  "application/merge-patch+json", body, header));
    if (a.code != code)
        fail_msg("%d instead of %d: %s", a.code, code, a.text);
    if (message && !strstr(sw_json_str(a.doc, "", "message", NULL), message))
        fail_msg("%s\nlacks: %s", a.text, message);
}

/* A token of bob's that is bound to a pod on @node; the caller's. */
static char *token_on(struct api *api, const char *node)
{
    SW_AUTO_CHARS *pod = sw_printf("{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":"
                                   "\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
                                   node, node);
    SW_AUTO_CHARS *body = sw_printf("{\"spec\":{\"boundObjectRef\":{\"apiVersion\":\"v1\","
                                    "\"kind\":\"Pod\",\"name\":\"%s\"}}}",
                                    node);
    api_must(api, 201, "POST", "/api/v1/namespaces/dev/pods", NULL, pod);
    SW_AUTO_JSON *token = api_expect(
        api, 201, "POST", "/api/v1/namespaces/dev/serviceaccounts/bob/token", NULL, body);
    return sw_strdup(sw_json_str(token, "", "status", "token", NULL));
}

static void what_became_of_devices_is_for_their_driver_on_its_node(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/dev/serviceaccounts", NULL,
             "{\"metadata\":{\"name\":\"bob\"}}");
    SW_AUTO_CHARS *here = token_on(api, "here"), *there = token_on(api, "there");
    api_must(api, 201, "POST", "/apis/resource.k8s.io/v1/namespaces/dev/resourceclaims", NULL,
             "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
             "\"exactly\":{\"deviceClassName\":\"d\"}}]}}}");
    api_must(api, 200, "PATCH", "/apis/resource.k8s.io/v1/namespaces/dev/resourceclaims/c/status",
             "application/merge-patch+json",
             "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
             "\"driver\":\"d.example\",\"pool\":\"p\",\"device\":\"x\"}]},\"nodeSelector\":{"
             "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
             "\"In\",\"values\":[\"here\"]}]}]}}}}");
    add_role(api, "status",
             "{\"apiGroups\":[\"resource.k8s.io\"],\"resources\":[\"resourceclaims/status\"],"
             "\"verbs\":[\"*\"]}");
    grant(api, "status", "Role", "status");
    patch_devices(api, here, 422, "d.example",
                  "status.devices: Forbidden: changing status.devices requires "
                  "resource=\"resourceclaims/driver\", verb=\"[associated-node:patch "
                  "arbitrary-node:patch]\" permission: resourceclaims.resource.k8s.io "
                  "\"d.example\" is forbidden: User \"" BOB "\" cannot associated-node:patch "
                  "resource \"resourceclaims/driver\" in API group \"resource.k8s.io\" in the "
                  "namespace \"dev\"");
    add_role(api, "driver",
             "{\"apiGroups\":[\"resource.k8s.io\"],\"resources\":[\"resourceclaims/driver\"],"
             "\"resourceNames\":[\"d.example\"],\"verbs\":[\"associated-node:patch\"]}");
    grant(api, "driver", "Role", "driver");
    patch_devices(api, there, 422, "d.example", "verb=\"[arbitrary-node:patch]\"");
    patch_devices(api, here, 422, "other.example", "\"other.example\" is forbidden");
    patch_devices(api, here, 200, "d.example", NULL);
    patch_devices(api, there, 200, "d.example", NULL); /* nothing changes */
    api_must(api, 200, "DELETE", "/api/v1/namespaces/dev/pods/here?gracePeriodSeconds=0", NULL,
             NULL);
    patch_devices(api, here, 401, "d.example", NULL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_no_role_allows_is_refused_in_the_servers_words),
        T(roles_allow_by_verb_group_resource_and_name),
        T(a_token_is_its_account),
        T(impersonation_needs_a_right),
        T(nobody_gives_away_what_he_has_not),
        T(escalate_and_bind_let_him),
        T(aggregated_roles_follow_their_selectors),
        T(reviews_say_by_which_binding),
        cmocka_unit_test_setup_teardown(who_has_a_claim_is_written_with_the_right_to_bind_it,
                                        set_up_devices, tear_down),
        cmocka_unit_test_setup_teardown(what_became_of_devices_is_for_their_driver_on_its_node,
                                        set_up_devices, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
