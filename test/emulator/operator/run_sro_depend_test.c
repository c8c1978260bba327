/* Resources that need others, and resources that speak of the cluster. */
#include "run_sro.h"

#include <time.h>

#include "base/certificates.h"
#include "data/text/base64.h"

static const char config[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c-{{ "
                             ".Values.color }}\ndata:\n  color: {{ .Values.color | quote }}\n";
static const char plain[] = "color: none\n";

/* A chart's own resource, that needs @needs (their charts are beside it). */
static char *own(const char *root, const char *name, const char *needs)
{
    SW_AUTO_CHARS *list = sw_strdup("");
    for (const char *at = needs; *at; at += strcspn(at, " "), at += *at == ' ') {
        int len = (int)strcspn(at, " ");
        char *more = sw_printf("%s  - chart:\n      name: %.*s\n      version: 0.0.1\n"
                               "      repository:\n        name: r\n        url: file://%s/%.*s\n"
                               "    set:\n      kind: Values\n      color: of-%s\n",
                               list, len, at, root, len, at, name);
        free(list);
        list = more;
    }
    return sw_printf("apiVersion: " SR_VERSION "\nkind: SpecialResource\nmetadata:\n  name: %s\n"
                     "spec:\n  namespace: %s\n%s%s",
                     name, name, *list ? "  dependencies:\n" : "", list);
}

static char *chart_with(const char *root, const char *name, const char *needs)
{
    SW_AUTO_CHARS *file = sw_printf("%s.yaml", name);
    SW_AUTO_CHARS *text = own(root, name, needs);
    return CHART(root, name, { file, text }, { "values.yaml", plain },
                 { "templates/0000-config.yaml", config });
}

static void dependency_is_made_and_ready_first_at_any_depth(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "c");
    SW_AUTO_CHARS *c = CHART(root, "c", { "values.yaml", plain },
                             { "templates/0000-config.yaml", config });
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    sro_until(&w, "b", "Ready", NULL);
    sro_until(&w, "c", "Ready", NULL);
    /* the entry's values, not those of the chart; the namespace is the child's own */
    assert_non_null(world_get(&w, "v1", "ConfigMap", "b", "c-of-a"));
    assert_non_null(world_get(&w, "v1", "ConfigMap", "c", "c-of-b"));
    struct json_object *map = world_get(&w, "v1", "ConfigMap", "default",
                                        "special-resource-dependencies");
    assert_string_equal(sw_json_str(map, "", "data", "b", NULL), "a");
    assert_string_equal(sw_json_str(map, "", "data", "c", NULL), "b");
    world_close(&w);
    chart_remove(root);
}

#define PATCH_SR(w, name, json)                                                                    \
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, name, NULL, json), 0)

/* Who wrote each ConfigMap c-... last; "": the operator. */
static char writers[3][64];

static void note_writers(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                         struct world *w SW_UNUSED)
{
    if (!sw_streq(req->resource, "configmaps") || !sw_streq(req->verb, "patch") ||
        !sw_starts_with(req->name, "c-"))
        return;
    (void)snprintf(writers[req->ns[0] - 'a'], sizeof writers[0], "%s",
                   req->as_user ? req->as_user : "");
}

static void dependencies_have_no_more_rights_than_their_parent(void **state)
{
    (void)state;
    struct world w = { .on_request = note_writers };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *own_b = own(root, "b", "c");
    SW_AUTO_CHARS *mighty = sw_printf("%s  serviceAccountName: mighty\n", own_b);
    SW_AUTO_CHARS *b = CHART(root, "b", { "b.yaml", mighty }, { "values.yaml", plain },
                             { "templates/0000-config.yaml", config });
    SW_AUTO_CHARS *c = chart_with(root, "c", "");
    world_open(&w);
    sro_apply(&w, a);
    PATCH_SR(&w, "a", "{\"spec\":{\"serviceAccountName\":\"author\"}}");
    world_start(&w);
    sro_until(&w, "a", "Ready", NULL);
    for (size_t i = 0; i < SW_COUNT(writers); i++)
        assert_string_equal(writers[i], "system:serviceaccount:a:author");
    /* the parent's account is another one: the children follow */
    PATCH_SR(&w, "a", "{\"spec\":{\"serviceAccountName\":null}}");
    sro_until(&w, "a", "Progressing", "dependency b");
    sro_until(&w, "a", "Ready", NULL);
    assert_string_equal(sw_obj_annotation(sro_get(&w, "c"), "slipway.dev/acts-as"),
                        "system:serviceaccount:a:slipway-a");
    world_close(&w);
    chart_remove(root);
}

/* Who may write resources, but not their status. */
static void nobody_acts_as_another_by_an_annotation(void **state)
{
    (void)state;
    struct world w = { .on_request = note_writers };
    char *root = chart_root();
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    static const char *const claims[] = { "system:serviceaccount:kube-system:mighty",
                                          "system:admin", "" };
    world_open(&w);
    sro_run(&w, b);
    sro_until(&w, "b", "Ready", NULL);
    assert_string_equal(writers[1], "system:serviceaccount:b:slipway-b");
    for (size_t i = 0; i < SW_COUNT(claims); i++) {
        SW_AUTO_CHARS *patch = sw_printf("{\"metadata\":{\"annotations\":{\"slipway.dev/acts-as\":"
                                         "\"%s\"}},\"spec\":{\"set\":{\"color\":\"red%zu\"}}}",
                                         claims[i], i);
        SW_AUTO_CHARS *map = sw_printf("c-red%zu", i);
        writers[1][0] = '\0';
        PATCH_SR(&w, "b", patch);
        sro_until(&w, "b", "Progressing", "does not confirm that");
        assert_null(world_get(&w, "v1", "ConfigMap", "b", map));
        assert_string_equal(writers[1], "");
    }
    /* it goes on as itself */
    PATCH_SR(&w, "b", "{\"metadata\":{\"annotations\":{\"slipway.dev/acts-as\":null}}}");
    sro_until(&w, "b", "Ready", NULL);
    assert_string_equal(writers[1], "system:serviceaccount:b:slipway-b");
    world_close(&w);
    chart_remove(root);
}

static void child_that_others_change_is_not_walked_as_its_parents_account(void **state)
{
    (void)state;
    struct world w = { .on_request = note_writers };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    assert_string_equal(writers[1], "system:serviceaccount:a:slipway-a");
    /* what the entry says comes back */
    PATCH_SR(&w, "b", "{\"spec\":{\"set\":{\"color\":\"red\"}}}");
    world_wait(&w, 30000);
    sro_until(&w, "a", "Ready", NULL);
    assert_null(world_get(&w, "v1", "ConfigMap", "b", "c-red"));
    /* what it does not say is told, until it is gone */
    PATCH_SR(&w, "b",
             "{\"metadata\":{\"annotations\":{\"slipway.dev/image-mirror\":"
             "\"a=b\"}},\"spec\":{\"set\":{\"more\":\"red\"}}}");
    sro_until(&w, "a", "Errored", "another client has set its spec.set.more");
    sro_until(&w, "b", "Progressing", "does not confirm that");
    PATCH_SR(&w, "b", "{\"spec\":{\"set\":{\"more\":null}}}");
    sro_until(&w, "a", "Errored",
              "another client has set its annotations.slipway.dev/image-mirror");
    PATCH_SR(&w, "b", "{\"metadata\":{\"annotations\":{\"slipway.dev/image-mirror\":null}}}");
    sro_until(&w, "a", "Ready", NULL);
    assert_string_equal(sw_json_str(sro_get(&w, "b"), "", "status", "actsAs", "account", NULL),
                        "system:serviceaccount:a:slipway-a");
    world_close(&w);
    chart_remove(root);
}

static void deleted_child_is_made_again(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(sro_get(&w, "b")));
    assert_int_equal(world_delete(&w, SR_VERSION, "SpecialResource", NULL, "b"), 0);
    sro_until(&w, "a", "Progressing", "dependency b");
    sro_until(&w, "a", "Ready", NULL);
    assert_string_not_equal(sw_obj_uid(sro_get(&w, "b")), uid);
    world_close(&w);
    chart_remove(root);
}

static void template_that_fails_is_said_when_the_dependency_is_ready(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *text = own(root, "a", "b");
    SW_AUTO_CHARS *a = CHART(root, "a", { "a.yaml", text }, { "values.yaml", plain },
                             { "templates/0000-bad.yaml", "a: {{ .Values.none.at.all }}\n" });
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "b", "Ready", NULL);
    sro_until(&w, "a", "Errored", "0000-bad.yaml");
    world_close(&w);
    chart_remove(root);
}

static void cycle_is_refused_and_named(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "a");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Errored", "a -> b -> a");
    sro_until(&w, "b", "Errored", "b -> a -> b");
    world_close(&w);
    chart_remove(root);
}

static void chart_of_a_dependency_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "nowhere");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Errored", "dependency nowhere");
    struct json_object *sr = sro_get(&w, "a");
    assert_string_equal(sw_json_str(sw_obj_condition(sr, "Errored"), "", "reason", NULL),
                        "DependencyChartFailure");
    assert_null(world_get(&w, "v1", "ConfigMap", "a", "c-none"));
    SW_AUTO_CHARS *late = CHART(root, "nowhere", { "values.yaml", plain },
                                { "templates/0000-config.yaml", config });
    sro_until(&w, "a", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

static void values_of_a_dependency_follow_its_entry(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    struct json_object *deps = sw_json_copy(
        sw_json_find(sro_get(&w, "a"), "spec", "dependencies", NULL));
    sw_json_set_str(sw_json_at(deps, 0), "new", "set", "color", NULL);
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"dependencies\":%s}}",
                                     json_object_to_json_string(deps));
    json_object_put(deps);
    PATCH_SR(&w, "a", patch);
    sro_until_there(&w, "v1", "ConfigMap", "b", "c-new");
    sro_until_gone(&w, "v1", "ConfigMap", "b", "c-of-a");
    world_close(&w);
    chart_remove(root);
}

static bool event_says(struct world *w, void *arg)
{
    struct json_object *list = world_get(w, "v1", "Event", "default", NULL);
    bool found = false;
    for (size_t i = 0; i < sw_json_len(list); i++)
        found |= sw_streq(sw_json_str(sw_json_at(list, i), "", "reason", NULL), arg);
    return found;
}

static void child_goes_with_the_last_who_needs_it(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *other = chart_with(root, "other", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    sro_run(&w, other);
    sro_until(&w, "other", "Ready", NULL);
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(sro_get(&w, "b")));
    /* who came first decides, and the other is told */
    assert_non_null(world_get(&w, "v1", "ConfigMap", "b", "c-of-a"));
    assert_true(world_until(&w, event_says, "DependencyDiffers", 60000));
    world_wait(&w, 60000);
    sro_delete(&w, "a");
    /* the other needs it still: it is the same one, with the other's values now */
    sro_until_there(&w, "v1", "ConfigMap", "b", "c-of-other");
    sro_until(&w, "other", "Ready", NULL);
    assert_string_equal(sw_obj_uid(sro_get(&w, "b")), uid);
    world_wait(&w, 60000);
    sro_delete(&w, "other");
    sro_until_gone(&w, SR_VERSION, "SpecialResource", NULL, "b");
    sro_until_gone(&w, "v1", "Namespace", NULL, "b");
    world_close(&w);
    chart_remove(root);
}

/* The parent of @child in SRO's list; "": none. */
static const char *listed_parent(struct world *w, const char *child)
{
    return sw_json_str(world_get(w, "v1", "ConfigMap", "default", "special-resource-dependencies"),
                       "", "data", child, NULL);
}

#define NO_ENTRIES "{\"spec\":{\"dependencies\":[]}}"

static void child_that_is_needed_no_more_goes(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b own");
    SW_AUTO_CHARS *other = chart_with(root, "other", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "c");
    SW_AUTO_CHARS *c = chart_with(root, "c", "");
    SW_AUTO_CHARS *by_hand = chart_with(root, "own", "");
    world_open(&w);
    sro_run(&w, by_hand);
    sro_until(&w, "own", "Ready", NULL);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    sro_run(&w, other);
    sro_until(&w, "other", "Ready", NULL);
    world_wait(&w, 60000);
    PATCH_SR(&w, "a", NO_ENTRIES);
    /* the other needs it still: it is the same one, with the other's values now */
    sro_until_there(&w, "v1", "ConfigMap", "b", "c-of-other");
    world_wait(&w, 60000);
    assert_string_equal(listed_parent(&w, "b"), "other");
    assert_int_equal(
        sw_json_len(sw_json_find(sro_get(&w, "b"), "metadata", "ownerReferences", NULL)), 1);
    world_kill(&w); /* and it is seen after a restart, too */
    PATCH_SR(&w, "other", NO_ENTRIES);
    world_start(&w);
    sro_until_gone(&w, SR_VERSION, "SpecialResource", NULL, "b");
    sro_until_gone(&w, "v1", "Namespace", NULL, "b");
    sro_until_gone(&w, "v1", "Namespace", NULL, "c");
    assert_true(world_until(&w, event_says, "DependencyRemoved", 60000));
    assert_string_equal(listed_parent(&w, "b"), "");
    assert_string_equal(listed_parent(&w, "c"), "");
    sro_until(&w, "other", "Ready", NULL);
    sro_until(&w, "own", "Ready", NULL); /* somebody made it himself */
    world_close(&w);
    chart_remove(root);
}

static void child_of_who_leaves_all_behind_is_let_go(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    world_wait(&w, 60000);
    PATCH_SR(&w, "a", "{\"spec\":{\"deletionPolicy\":\"orphan\",\"dependencies\":[]}}");
    world_wait(&w, 5 * 60000);
    sro_until(&w, "b", "Ready", NULL);
    assert_int_equal(
        sw_json_len(sw_json_find(sro_get(&w, "b"), "metadata", "ownerReferences", NULL)), 0);
    world_close(&w);
    chart_remove(root);
}

static void child_stays_where_all_stays(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    world_wait(&w, 60000);
    PATCH_SR(&w, "a", "{\"spec\":{\"deletionPolicy\":\"orphan\"}}");
    sro_delete(&w, "a");
    world_wait(&w, 5 * 60000);
    assert_non_null(sro_get(&w, "b"));
    assert_non_null(world_get(&w, "v1", "ConfigMap", "a", "c-none"));
    world_close(&w);
    chart_remove(root);
}

static void child_that_was_there_before_is_nobodys(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, b);
    sro_until(&w, "b", "Ready", NULL);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    world_wait(&w, 60000);
    assert_null(world_get(&w, "v1", "ConfigMap", "b", "c-of-a"));
    struct json_object *map = world_get(&w, "v1", "ConfigMap", "default",
                                        "special-resource-dependencies");
    assert_string_equal(sw_json_str(map, "", "data", "b", NULL), "a"); /* as SRO has it */
    sro_delete(&w, "a");
    assert_string_equal(listed_parent(&w, "b"), "");
    world_wait(&w, 5 * 60000);
    assert_non_null(world_get(&w, "v1", "ConfigMap", "b", "c-none"));
    world_close(&w);
    chart_remove(root);
}

static void one_shot_walk_makes_dependencies_too(void **state)
{
    (void)state;
    struct world w = { .one_shot = true, .only = "a" };
    char *root = chart_root();
    SW_AUTO_CHARS *a = chart_with(root, "a", "b");
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, a);
    sro_until(&w, "a", "Ready", NULL);
    sro_until(&w, "b", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

/* ---- templates in the resource -----------------------------------------------------------------
 */

#define TEMPLATED                                                                                  \
    "apiVersion: " SR_VERSION "\nkind: SpecialResource\nmetadata:\n  name: t\nspec:\n"             \
    "  namespace: t-{{ .Values.platform | lower }}\n  set:\n    kind: Values\n    color: '%s'\n"

static void texts_of_the_resource_are_rendered_with_run_time_values(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *text = sw_printf(
        TEMPLATED, "{{ if eq .Values.platform \"OCP\" }}v{{ .Values.clusterVersion }}{{ end }}");
    SW_AUTO_CHARS *t = CHART(root, "t", { "t.yaml", text }, { "values.yaml", plain },
                             { "templates/0000-config.yaml", config });
    world_open(&w);
    w.name = "t";
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    assert_int_equal(
        sw_resource_make(&(struct sw_resource_opts){ .recipe = t, .ns = "t" }, &doc, &err), 0);
    sw_json_set_str(doc, "t-{{ .Values.platform | lower }}", "spec", "namespace", NULL);
    w.resource = json_object_get(doc);
    (void)sw_install_start(&w.conn, doc, world_on_installed, &w);
    assert_true(world_until(&w, world_is_installed, NULL, 60000));
    world_start(&w);
    sro_until(&w, "t", "Ready", NULL);
    struct json_object *list = world_get(&w, "v1", "ConfigMap", "t-ocp", NULL);
    bool found = false;
    for (size_t i = 0; i < sw_json_len(list); i++)
        found = found || sw_starts_with(sw_obj_name(sw_json_at(list, i)), "c-v4.");
    assert_true(found);
    world_close(&w);
    chart_remove(root);
}

static void bad_template_in_the_resource_names_its_field(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *text = sw_printf(TEMPLATED, "{{ .Values.color | nosuch }}");
    SW_AUTO_CHARS *t = CHART(root, "t", { "t.yaml", text }, { "values.yaml", plain },
                             { "templates/0000-config.yaml", config });
    world_open(&w);
    world_apply(&w, &(struct sw_resource_opts){ .recipe = t, .ns = "t" });
    world_start(&w);
    sro_until(&w, "t", "Errored", "spec.set.color");
    world_close(&w);
    chart_remove(root);
}

/* ---- image pullers -----------------------------------------------------------------------------
 */

static bool builder_is_bound(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *b = world_get(w, "rbac.authorization.k8s.io/v1", "RoleBinding", "b",
                                      "system:image-pullers");
    struct json_object *subjects = sw_json_get(b, "subjects");
    return sw_json_len(subjects) == 2 &&
           sw_streq(sw_json_str(sw_json_at(subjects, 1), "", "name", NULL), "builder") &&
           sw_streq(sw_json_str(sw_json_at(subjects, 1), "", "namespace", NULL), "b");
}

static void builder_may_pull_images_where_the_cluster_has_a_binding(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *b = chart_with(root, "b", "");
    world_open(&w);
    sro_run(&w, b);
    sro_until(&w, "b", "Ready", NULL);
    assert_true(world_until(&w, builder_is_bound, NULL, 60000));
    assert_int_equal(world_patch(&w, "rbac.authorization.k8s.io/v1", "RoleBinding", "b",
                                 "system:image-pullers", NULL,
                                 "{\"subjects\":[{\"kind\":\"Group\",\"apiGroup\":\"rbac."
                                 "authorization.k8s.io\",\"name\":\"system:serviceaccounts:b\"}]}"),
                     0);
    assert_true(world_until(&w, builder_is_bound, NULL, 60000));
    world_close(&w);
    chart_remove(root);
}

/* The example's key pair is a placeholder, which no issuer can sign with. */
static char *key_pair(void)
{
    EVP_PKEY *key = sw_key_generate("ecdsa", 0);
    X509 *cert = NULL;
    SW_ERR(err);
    assert_int_equal(sw_cert_make(&(struct sw_cert_request){ .common_name = "ca",
                                                             .days = 10,
                                                             .is_ca = true,
                                                             .now_sec = time(NULL) },
                                  key, NULL, NULL, &cert, &err),
                     0);
    SW_AUTO_CHARS *cert_pem = sw_cert_pem(cert);
    SW_AUTO_CHARS *key_pem = sw_key_pem(key);
    size_t len;
    SW_AUTO_CHARS *crt = sw_base64_encode(cert_pem, strlen(cert_pem), &len);
    SW_AUTO_CHARS *k = sw_base64_encode(key_pem, strlen(key_pem), &len);
    X509_free(cert);
    EVP_PKEY_free(key);
    return sw_printf("apiVersion: v1\nkind: Secret\nmetadata:\n  name: ping-pong-ca-key-pair\n"
                     "data:\n  tls.crt: %s\n  tls.key: %s\n",
                     crt, k);
}

/* SRO's own example, with a key pair, and its dependency from here. */
static void ping_pong_of_sro_walks_with_its_dependency(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *from = sw_printf("%s/charts/ping-pong", shared);
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = sw_printf("%s/ping-pong", root);
    SW_AUTO_CHARS *secret = sw_printf("%s/templates/0001_secret.yaml", dir);
    SW_AUTO_CHARS *copy = sw_printf("cp -r '%s' '%s' && chmod -R u+w '%s'", from, root, root);
    SW_AUTO_CHARS *pair = key_pair();
    SW_ERR(err);
    assert_int_equal(system(copy), 0);
    assert_int_equal(sw_file_write(secret, pair, strlen(pair), &err), 0);
    world_open(&w);
    sro_apply(&w, dir);
    assert_int_equal(
        world_patch(
            &w, SR_VERSION, "SpecialResource", NULL, "ping-pong", NULL,
            "{\"spec\":{\"dependencies\":[{\"chart\":{\"name\":\"cert-manager\","
            "\"version\":\">=0.0.0\",\"repository\":{\"name\":\"r\",\"url\":\"file://" SW_SOURCE_DIR
            "/states/cert-manager\"}},\"set\":{\"kind\":\"Values\",\"apiVersion\":"
            "\"sro.openshift.io/v1beta1\",\"installCRDs\":true}}]}}"),
        0);
    world_start(&w);
    sro_until(&w, "ping-pong", "Ready", NULL);
    sro_until(&w, "cert-manager", "Ready", NULL);
    struct json_object *d = world_get(&w, "apps/v1", "Deployment", "ping-pong", "ping-pong-client");
    assert_int_equal(sw_json_int(d, 0, "status", "readyReplicas", NULL), 1);
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependency_is_made_and_ready_first_at_any_depth),
        cmocka_unit_test(dependencies_have_no_more_rights_than_their_parent),
        cmocka_unit_test(nobody_acts_as_another_by_an_annotation),
        cmocka_unit_test(child_that_others_change_is_not_walked_as_its_parents_account),
        cmocka_unit_test(deleted_child_is_made_again),
        cmocka_unit_test(template_that_fails_is_said_when_the_dependency_is_ready),
        cmocka_unit_test(cycle_is_refused_and_named),
        cmocka_unit_test(chart_of_a_dependency_that_is_not_there_is_said),
        cmocka_unit_test(values_of_a_dependency_follow_its_entry),
        cmocka_unit_test(child_goes_with_the_last_who_needs_it),
        cmocka_unit_test(child_that_is_needed_no_more_goes),
        cmocka_unit_test(child_of_who_leaves_all_behind_is_let_go),
        cmocka_unit_test(child_stays_where_all_stays),
        cmocka_unit_test(child_that_was_there_before_is_nobodys),
        cmocka_unit_test(one_shot_walk_makes_dependencies_too),
        cmocka_unit_test(ping_pong_of_sro_walks_with_its_dependency),
        cmocka_unit_test(texts_of_the_resource_are_rendered_with_run_time_values),
        cmocka_unit_test(bad_template_in_the_resource_names_its_field),
        cmocka_unit_test(builder_may_pull_images_where_the_cluster_has_a_binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
