/* What happens to a manifest before it is applied, one hook at a time, and the table itself. */
#include "operator/controller/debug/debug.h"
#include "operator/manifests/hooks_internal.h"

#include "data/data.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/facts/facts.h"
#include "unit/data/data_util.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RESOURCE                                                                                   \
    "{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":\"SpecialResource\","                   \
    "\"metadata\":{\"name\":\"kmod\",\"uid\":\"u1\"},\"spec\":{\"nodeSelector\":{\"gpu\":\"yes\"}" \
    "}}"

static struct sw_group group = { .id = "4.18", .suffix = "0123456789abcdef" };

/* Run the hooks on @manifest; the caller's. */
static struct json_object *hooked(const char *manifest, bool namespaced, bool with_group)
{
    struct json_object *doc = parse(manifest), *resource = parse(RESOURCE),
                       *selector = parse("{\"" SW_KERNEL_LABEL "\":\"4.18\"}"),
                       *values = parse("{\"proxy\":{\"httpProxy\":\"http://p\",\"httpsProxy\":\"\","
                                       "\"wholeNoProxy\":\".svc\"}}");
    struct sw_hook_env env = { .resource = resource,
                               .ns = "stack",
                               .namespaced = namespaced,
                               .group = with_group ? &group : NULL,
                               .selector = with_group ? selector : NULL,
                               .values = values };
    SW_ERR(err);
    if (sw_hooks_apply(doc, &env, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    json_object_put(resource);
    json_object_put(selector);
    json_object_put(values);
    return doc;
}

#define META(name) "\"metadata\":{\"name\":\"" name "\"}"
#define AFFINE(name)                                                                               \
    "\"metadata\":{\"name\":\"" name "\",\"annotations\":{\"" SW_KERNEL_AFFINE "\":\"true\"}}"

#define F "feature.node.kubernetes.io/"
#define KERNEL "kernel-version.full"

/* The terms of a template's required node affinity: "a In 1, stay Exists; ". Heap. */
static char *terms_of(struct json_object *template)
{
    struct json_object *terms = sw_json_find(template, "spec", SW_REQUIRED_AFFINITY,
                                             "nodeSelectorTerms", NULL);
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(terms); i++) {
        struct json_object *all = sw_json_get(sw_json_at(terms, i), "matchExpressions");
        for (size_t k = 0; k < sw_json_len(all); k++) {
            struct json_object *e = sw_json_at(all, k);
            struct json_object *value = sw_json_at(sw_json_get(e, "values"), 0);
            const char *key = sw_json_str(e, "", "key", NULL);
            if (sw_starts_with(key, F))
                key += strlen(F);
            SW_AUTO_CHARS *before = text;
            text = sw_printf(
                "%s%s %s%s%s%s", before, sw_starts_with(key, SW_GRACE_PERIOD_LABEL) ? "stay" : key,
                sw_json_str(e, "", "operator", NULL), value ? " " : "",
                value ? json_object_get_string(value) : "", k + 1 < sw_json_len(all) ? ", " : "; ");
        }
    }
    return text;
}

static void namespaced_object_gets_the_resources_namespace(void **state)
{
    (void)state;
    SW_AUTO_JSON *a = hooked("{\"kind\":\"ConfigMap\"," META("c") "}", true, false);
    assert_string_equal(sw_obj_namespace(a), "stack");
    SW_AUTO_JSON *b = hooked(
        "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":\"own\"}}", true,
        false);
    assert_string_equal(sw_obj_namespace(b), "own");
    SW_AUTO_JSON *c = hooked(
        "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"c\",\"namespace\":\"own\"}}", false,
        false);
    assert_string_equal(sw_obj_namespace(c), "");
}

static void owner_is_marked_on_object_and_pods(void **state)
{
    (void)state;
    SW_AUTO_JSON *d = hooked("{\"kind\":\"DaemonSet\"," META("d") ",\"spec\":{\"template\":{}}}",
                             true, false);
    assert_string_equal(sw_obj_label(d, SW_OWNED_LABEL), "true");
    assert_string_equal(
        sw_json_str(d, "", "spec", "template", "metadata", "labels", SW_OWNED_LABEL, NULL), "true");
    struct json_object *owner = sw_json_at(sw_json_find(d, "metadata", "ownerReferences", NULL), 0);
    assert_string_equal(sw_json_str(owner, "", "uid", NULL), "u1");
    assert_string_equal(sw_json_str(owner, "", "kind", NULL), "SpecialResource");
    assert_true(sw_json_bool(owner, false, "controller", NULL));
}

static void namespace_is_marked_but_not_owned(void **state)
{
    (void)state;
    SW_AUTO_JSON *ns = hooked("{\"kind\":\"Namespace\"," META("n") "}", false, false);
    assert_string_equal(sw_obj_label(ns, SW_OWNED_LABEL), "true");
    assert_null(sw_json_find(ns, "metadata", "ownerReferences", NULL));
}

static void affine_daemonset_is_renamed_and_bound_to_its_kernel(void **state)
{
    (void)state;
    SW_AUTO_JSON *d = hooked(
        "{\"kind\":\"DaemonSet\"," AFFINE(
            "drv") ",\"spec\":{\"selector\":{"
                   "\"matchLabels\":{\"app\":\"drv\"}},\"template\":{\"metadata\":{"
                   "\"labels\":{\"app\":\"drv\"}},\"spec\":{\"nodeSelector\":{"
                   "\"" SW_KERNEL_LABEL "\":\"\",\"role\":\"worker\"}}}}}",
        true, true);
    const char *name = "drv-0123456789abcdef";
    assert_string_equal(sw_obj_name(d), name);
    assert_string_equal(sw_obj_label(d, "app"), name);
    assert_string_equal(sw_json_str(d, "", "spec", "selector", "matchLabels", "app", NULL), name);
    struct json_object *t = sw_json_find(d, "spec", "template", NULL);
    assert_string_equal(sw_json_str(t, "", "metadata", "labels", "app", NULL), name);
    struct json_object *s = sw_json_find(t, "spec", "nodeSelector", NULL);
    assert_string_equal(sw_json_str(s, "", "role", NULL), "worker");
    assert_string_equal(sw_json_str(s, "", "gpu", NULL), "yes");
    SW_AUTO_CHARS *where = terms_of(t);
    assert_string_equal(where, KERNEL " In 4.18; " KERNEL " DoesNotExist, stay Exists; ");
}

static const struct {
    const char *pod_spec;
    const char *terms;
} stays[] = {
    /* nothing that NFD says: left as it is */
    { "{'nodeSelector':{'role':'x'}}", NULL },
    { "{}", NULL },
    /* one feature, or all of them, may be lost */
    { "{'nodeSelector':{'" F "a':'1'}}", "a In 1; a DoesNotExist, stay Exists; " },
    { "{'nodeSelector':{'" F "a':'1','" F "b':'2'}}",
      "a In 1, b In 2; b In 2, a DoesNotExist, stay Exists; a In 1, b DoesNotExist, stay Exists; "
      "a DoesNotExist, b DoesNotExist, stay Exists; " },
    /* terms are alternatives, each with what the selector asks */
    { "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" F "b','operator':'Exists'}]},"
      "{'matchExpressions':[{'key':'zone','operator':'In','values':['z']}]}]}}},"
      "'nodeSelector':{'" F "a':'1'}}",
      "a In 1, b Exists; b Exists, a DoesNotExist, stay Exists; a In 1, b DoesNotExist, stay "
      "Exists; a DoesNotExist, b DoesNotExist, stay Exists; "
      "a In 1, zone In z; zone In z, a DoesNotExist, stay Exists; " },
    /* what must not be there cannot be lost */
    { "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" F
      "b','operator':'DoesNotExist'}]}]}}}}",
      "b DoesNotExist; " },
};

static void pods_of_daemonsets_stay_where_features_are_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(stays); i++) {
        SW_AUTO_CHARS *text = sw_printf(
            "{\"kind\":\"DaemonSet\"," META("d") ",\"spec\":{\"template\":"
                                                 "{\"spec\":%s}}}",
            stays[i].pod_spec);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        SW_AUTO_JSON *doc = hooked(text, true, false);
        SW_AUTO_CHARS *where = terms_of(sw_json_find(doc, "spec", "template", NULL));
        assert_string_equal(where, stays[i].terms ? stays[i].terms : "");
    }
}

/* So that nobody's pods stay where somebody else's were. */
static void what_is_asked_for_otherwise_stays_by_another_label(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "{\"nodeSelector\":{\"" F "a\":\"1\"}}",
        "{\"nodeSelector\":{\"" F "a\":\"2\"}}",
        "{\"nodeSelector\":{\"" F "a\":\"1\",\"role\":\"x\"}}",
        "{}",
    };
    char *keys[SW_COUNT(specs) + 1];
    for (size_t i = 0; i < SW_COUNT(specs); i++) {
        SW_AUTO_JSON *spec = parse(specs[i]);
        keys[i] = sw_grace_period_key("kmod", spec);
        SW_AUTO_CHARS *again = sw_grace_period_key("kmod", spec);
        assert_string_equal(again, keys[i]);
        assert_null(sw_label_key_fault(keys[i]));
    }
    SW_AUTO_JSON *first = parse(specs[0]);
    keys[SW_COUNT(specs)] = sw_grace_period_key("other", first);
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        free(keys[i]);
}

static void pods_of_others_are_bound_by_their_selector(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = hooked(
        "{\"kind\":\"Deployment\"," META("d") ",\"spec\":{\"template\":{\"spec\":"
                                              "{\"nodeSelector\":{\"" F "a\":\"1\"}}}}}",
        true, false);
    struct json_object *t = sw_json_find(doc, "spec", "template", NULL);
    assert_string_equal(sw_json_str(t, "", "spec", "nodeSelector", F "a", NULL), "1");
    assert_null(sw_json_find(t, "spec", "affinity", NULL));
}

static void states_that_are_needed_choose_the_nodes(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse(
                     "{\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"d\","
                     "\"annotations\":{\"slipway.dev/state-affinity\":\"true\"}},\"spec\":{"
                     "\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}"),
                 *resource = parse(RESOURCE), *needs = parse("{\"x/state-r-0000\":\"Ready\"}");
    SW_ERR(err);
    assert_int_equal(
        sw_hooks_apply(
            doc, &(struct sw_hook_env){ .resource = resource, .ns = "s", .needs = needs }, &err),
        0);
    struct json_object *s = sw_json_find(doc, "spec", "template", "spec", "nodeSelector", NULL);
    assert_string_equal(sw_json_str(s, "", "x/state-r-0000", NULL), "Ready");
    assert_string_equal(sw_json_str(s, "", "a", NULL), "b");
}

static void mirror_of_the_resource_is_for_all_its_images(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
                              "\"initContainers\":[{\"name\":\"i\",\"image\":\"quay.io/i\"}],"
                              "\"containers\":[{\"name\":\"c\",\"image\":\"quay.io/c\"}]}}"),
                 *resource = parse("{\"metadata\":{\"name\":\"r\",\"annotations\":{"
                                   "\"slipway.dev/image-mirror\":\"quay.io=m\"}}}");
    SW_ERR(err);
    assert_int_equal(
        sw_hooks_apply(doc, &(struct sw_hook_env){ .resource = resource, .ns = "s" }, &err), 0);
    struct json_object *spec = sw_json_get(doc, "spec");
    assert_string_equal(
        sw_json_str(sw_json_at(sw_json_get(spec, "initContainers"), 0), "", "image", NULL), "m/i");
    assert_string_equal(
        sw_json_str(sw_json_at(sw_json_get(spec, "containers"), 0), "", "image", NULL), "m/c");
}

/* NVIDIA's operator is told its images in three fields each. */
static void mirror_is_for_what_a_cluster_policy_names_too(void **state)
{
    (void)state;
    static const char d[] =
        "sha256:0000000000000000000000000000000000000000000000000000000000000001";
    SW_AUTO_CHARS *text = sw_printf(
        "{\"kind\":\"ClusterPolicy\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
        "\"toolkit\":{\"repository\":\"nvcr.io/nvidia/k8s\",\"image\":\"toolkit\",\"version\":"
        "\"v1\"},\"dcgm\":{\"repository\":\"nvcr.io/"
        "nvidia\",\"image\":\"dcgm\",\"version\":\"%s\"},"
        "\"driver\":{\"manager\":{\"repository\":\"else.where/"
        "x\",\"image\":\"m\",\"version\":\"1\"}},"
        "\"daemonsets\":{\"version\":\"1\"}}}",
        d);
    SW_AUTO_JSON *doc = parse(text),
                 *resource = parse("{\"metadata\":{\"name\":\"r\",\"annotations\":{"
                                   "\"slipway.dev/image-mirror\":\"nvcr.io=m/n\"}}}");
    SW_ERR(err);
    assert_int_equal(
        sw_hooks_apply(doc, &(struct sw_hook_env){ .resource = resource, .ns = "s" }, &err), 0);
    struct json_object *spec = sw_json_get(doc, "spec");
    assert_string_equal(sw_json_str(spec, "", "toolkit", "repository", NULL), "m/n/nvidia/k8s");
    assert_string_equal(sw_json_str(spec, "", "toolkit", "image", NULL), "toolkit");
    assert_string_equal(sw_json_str(spec, "", "toolkit", "version", NULL), "v1");
    assert_string_equal(sw_json_str(spec, "", "dcgm", "repository", NULL), "m/n/nvidia");
    assert_string_equal(sw_json_str(spec, "", "dcgm", "version", NULL), d);
    assert_string_equal(sw_json_str(spec, "", "driver", "manager", "repository", NULL),
                        "else.where/x");
}

static void openshift_makes_the_certificates_of_services(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"kind\":\"Service\",\"metadata\":{\"name\":\"s\","
                              "\"annotations\":{\"slipway.dev/serving-cert\":\"tls\"}}}"),
                 *hook = parse("{\"kind\":\"ValidatingWebhookConfiguration\",\"metadata\":{"
                               "\"name\":\"s\",\"annotations\":{\"slipway.dev/inject-ca\":"
                               "\"tls\"}}}"),
                 *resource = parse(RESOURCE), *values = parse("{\"platform\":\"OCP\"}");
    const struct sw_hook_env env = { .resource = resource, .ns = "s", .values = values };
    SW_ERR(err);
    assert_int_equal(sw_hooks_apply(doc, &env, &err), 0);
    assert_int_equal(sw_hooks_apply(hook, &env, &err), 0);
    assert_string_equal(
        sw_obj_annotation(doc, "service.beta.openshift.io/serving-cert-secret-name"), "tls");
    assert_string_equal(sw_obj_annotation(hook, "service.beta.openshift.io/inject-cabundle"),
                        "true");
}

static void what_debug_prints_holds_no_secret(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"kind\":\"Secret\",\"data\":{\"a\":\"czNjcjN0\"},\"x\":[{"
                              "\"dbPassword\":\"s3cr3t\",\"port\":1}]}");
    SW_AUTO_JSON *shown = debug_redacted(doc);
    const char *text = json_object_to_json_string(shown);
    assert_null(strstr(text, "s3cr3t"));
    assert_null(strstr(text, "czNjcjN0"));
    assert_non_null(strstr(text, "\"port\": 1"));
}

static void affine_builds_keep_their_form(void **state)
{
    (void)state;
    SW_AUTO_JSON *bc = hooked("{\"kind\":\"BuildConfig\"," AFFINE("b") ",\"spec\":{}}", true, true);
    assert_string_equal(sw_json_str(bc, "", "spec", "nodeSelector", SW_KERNEL_LABEL, NULL), "4.18");
    SW_AUTO_JSON *run = hooked("{\"kind\":\"BuildRun\"," AFFINE("b") ",\"spec\":{}}", true, true);
    assert_string_equal(sw_json_str(run, "", "spec", "buildRef", "name", NULL),
                        "b-0123456789abcdef");
    SW_AUTO_JSON *pod = hooked("{\"kind\":\"Pod\"," AFFINE("p") ",\"spec\":{}}", true, true);
    assert_string_equal(sw_json_str(pod, "", "spec", "nodeSelector", SW_KERNEL_LABEL, NULL),
                        "4.18");
}

static void affine_object_without_any_node_is_refused(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"kind\":\"DaemonSet\"," AFFINE("drv") "}");
    SW_AUTO_JSON *resource = parse(RESOURCE);
    SW_ERR(err);
    assert_int_equal(
        sw_hooks_apply(doc, &(struct sw_hook_env){ .resource = resource, .ns = "s" }, &err),
        SW_INVALID);
    assert_string_equal(sw_err_text(&err), "DaemonSet 'drv': " SW_KERNEL_AFFINE
                                           ": there is no node whose kernel it could be made for");
}

static const char *env_of(struct json_object *container, const char *name)
{
    return sw_json_str(sw_json_find_by(sw_json_get(container, "env"), "name", name), NULL, "value",
                       NULL);
}

static void proxy_goes_into_every_container_that_has_none(void **state)
{
    (void)state;
    SW_AUTO_JSON *d = hooked(
        "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\",\"annotations\":{"
        "\"specialresource.openshift.io/proxy\":\"true\"}},\"spec\":{\"template\":{\"spec\":{"
        "\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"a\",\"env\":[{"
        "\"name\":\"HTTP_PROXY\",\"value\":\"mine\"}]},{\"name\":\"b\"}]}}}}",
        true, false);
    struct json_object *spec = sw_json_find(d, "spec", "template", "spec", NULL);
    struct json_object *init = sw_json_at(sw_json_get(spec, "initContainers"), 0);
    struct json_object *a = sw_json_at(sw_json_get(spec, "containers"), 0);
    struct json_object *b = sw_json_at(sw_json_get(spec, "containers"), 1);
    assert_string_equal(env_of(init, "NO_PROXY"), ".svc");
    assert_string_equal(env_of(a, "HTTP_PROXY"), "mine");
    assert_string_equal(env_of(b, "HTTP_PROXY"), "http://p");
    SW_AUTO_JSON *plain = hooked("{\"kind\":\"Pod\"," META("p") ",\"spec\":{\"containers\":[{}]}}",
                                 true, false);
    assert_null(sw_json_get(sw_json_at(sw_json_find(plain, "spec", "containers", NULL), 0), "env"));
}

static void ports_get_their_protocol(void **state)
{
    (void)state;
    SW_AUTO_JSON *s = hooked(
        "{\"kind\":\"Service\"," META("s") ",\"spec\":{\"ports\":[{\"port\":1},{\"port\":2,"
                                           "\"protocol\":\"UDP\"}]}}",
        true, false);
    struct json_object *ports = sw_json_find(s, "spec", "ports", NULL);
    assert_string_equal(sw_json_str(sw_json_at(ports, 0), "", "protocol", NULL), "TCP");
    assert_string_equal(sw_json_str(sw_json_at(ports, 1), "", "protocol", NULL), "UDP");
}

static void odd_manifests_do_no_harm(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"kind\":\"DaemonSet\"," AFFINE("d") "}",
        "{\"kind\":\"DaemonSet\"," AFFINE("d") ",\"spec\":[]}",
        "{\"kind\":\"CronJob\"," META("c") ",\"spec\":{\"jobTemplate\":7}}",
        "{\"kind\":\"Pod\"," META("p") ",\"spec\":{\"containers\":[null,1,{\"ports\":{}}]}}",
        "{\"kind\":\"Service\"," META("s") ",\"spec\":{\"ports\":[null,[]]}}",
        "{\"kind\":\"X\",\"metadata\":{\"name\":\"x\",\"labels\":3,\"annotations\":[]}}",
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        json_object_put(hooked(cases[i], true, true));
}

static void every_hook_is_documented_once(void **state)
{
    (void)state;
    for (const struct sw_hook *h = sw_hooks; h->name; h++) {
        assert_true(h->doc && strlen(h->doc) > 20);
        assert_true(h->kinds && *h->kinds);
        assert_true(h->example && *h->example);
        assert_true(h->phase == SW_HOOK_WAIT || h->apply);
        for (const struct sw_hook *o = h + 1; o->name; o++)
            assert_string_not_equal(h->name, o->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaced_object_gets_the_resources_namespace),
        cmocka_unit_test(owner_is_marked_on_object_and_pods),
        cmocka_unit_test(namespace_is_marked_but_not_owned),
        cmocka_unit_test(affine_daemonset_is_renamed_and_bound_to_its_kernel),
        cmocka_unit_test(pods_of_daemonsets_stay_where_features_are_lost),
        cmocka_unit_test(what_is_asked_for_otherwise_stays_by_another_label),
        cmocka_unit_test(pods_of_others_are_bound_by_their_selector),
        cmocka_unit_test(affine_builds_keep_their_form),
        cmocka_unit_test(affine_object_without_any_node_is_refused),
        cmocka_unit_test(what_debug_prints_holds_no_secret),
        cmocka_unit_test(states_that_are_needed_choose_the_nodes),
        cmocka_unit_test(mirror_of_the_resource_is_for_all_its_images),
        cmocka_unit_test(mirror_is_for_what_a_cluster_policy_names_too),
        cmocka_unit_test(openshift_makes_the_certificates_of_services),
        cmocka_unit_test(proxy_goes_into_every_container_that_has_none),
        cmocka_unit_test(ports_get_their_protocol),
        cmocka_unit_test(odd_manifests_do_no_harm),
        cmocka_unit_test(every_hook_is_documented_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
