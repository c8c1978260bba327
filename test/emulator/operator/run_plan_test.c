/* What slipway takeover --plan reads besides the objects of resources: modules and the releases
 * that they are for, charts that a login or a template of the spec leads to, a DASOperator. */
#include "run_plan.h"
#include "unit/chart/registry_server.h"

#define DAS "inference.redhat.com/v1alpha1"
#define SR_SPEC "'apiVersion':'" SR_VERSION "','kind':'SpecialResource'"

/* What the server forbids a plan to write: these resources, the first to accounts alone. */
static const char *forbidden_to_accounts, *forbidden, *forbidden_too;
static unsigned n_reviews; /* questions about an account */

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                       struct world *w SW_UNUSED)
{
    plan_observe(req);
    if (!is_planning || sw_streq(req->verb, "get") || sw_streq(req->verb, "list"))
        return;
    n_reviews += sw_streq(req->resource, "subjectaccessreviews");
    bool to_all = sw_streq(req->resource, forbidden) || sw_streq(req->resource, forbidden_too);
    if (req->resource &&
        (to_all || (req->as_user && sw_streq(req->resource, forbidden_to_accounts))))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static void open_world(struct world *w)
{
    static const struct sw_emu_delays none;
    *w = (struct world){ .on_request = on_request, .real_clock = true };
    world_open_with(w, &(struct sw_emulator_opts){ .delays = none, .kube_version = "1.35" });
    SW_AUTO_CHARS *dir = sw_strdup(TAKEOVER "/rolling");
    sro_apply(w, dir); /* the definitions */
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, "rolling"), 0);
}

/* ---- modules -----------------------------------------------------------------------------------
 */

#define KERNEL "4.18.0-305.40.1.el8_4.x86_64"

struct releases {
    struct registry r;
    char *host;
};

static void on_http(struct server *srv, struct sreq *req, void *arg)
{
    struct releases *f = arg;
    SW_AUTO_CHARS *graph = sw_printf("{\"nodes\":[{\"version\":\"4.10.20\",\"payload\":"
                                     "\"%s/release:new\"}]}",
                                     f->host);
    if (sw_starts_with(req->path, "/graph"))
        reply(req, 200, graph);
    else
        registry_on_request(srv, req, &f->r);
}

static void put_files(struct releases *f, const char *repository, struct json_object *files)
{
    SW_AUTO_JSON *layers = json_object_new_array();
    (void)json_object_array_add(layers, files);
    free(put_image(&f->r, repository, "new", OCI_MANIFEST, layers));
}

static void start_releases(struct releases *f, struct world *w)
{
    registry_start(&f->r, w->conn.loop);
    f->r.srv.on_request = on_http;
    f->r.srv.arg = f;
    f->host = registry_host(&f->r);
    struct json_object *release = json_object_new_object(), *toolkit = json_object_new_object();
    SW_AUTO_CHARS *references = sw_printf("{\"spec\":{\"tags\":[{\"name\":\"driver-toolkit\","
                                          "\"from\":{\"name\":\"%s/dtk:new\"}}]}}",
                                          f->host);
    sw_json_set_str(release, references, "release-manifests/image-references", NULL);
    sw_json_set_str(release, "{\"version\":\"4.10.20\"}", "release-manifests/release-metadata",
                    NULL);
    sw_json_set_str(toolkit,
                    "{\"KERNEL_VERSION\":\"" KERNEL "\",\"RT_KERNEL_VERSION\":\"rt-" KERNEL
                    "\",\"RHEL_VERSION\":\"8.4\"}",
                    "etc/driver-toolkit-release.json", NULL);
    put_files(f, "release", release);
    put_files(f, "dtk", toolkit);
    SW_AUTO_CHARS *graph = sw_printf("http://%s/graph", f->host);
    (void)setenv("SLIPWAY_UPGRADE_GRAPH_URL", graph, 1);
    (void)setenv("SLIPWAY_REGISTRIES_CONF", "/dev/null", 1);
}

static const char *left_host; /* that HOST of the file stands for */

static void create_left_module(struct world *w, struct json_object *doc)
{
    SW_AUTO_JSON *body = left_with_host(doc, left_host);
    create_left(w, body);
}

static void plan_compares_the_objects_of_modules(void **state)
{
    (void)state;
    struct world w;
    struct releases f = { 0 };
    open_world(&w);
    start_releases(&f, &w);
    left_host = f.host;
    left_each_of(&w, TAKEOVER "/modules.yaml", NULL, create_left_module);
    world_wait(&w, 500);
    SW_AUTO_JSON *doc = plan(&w, 0);
    each_must_be_told_once(doc);
    (void)entry_of(doc, "SpecialResourceModule", "acm-ice", "adopted");
    (void)entry_of(doc, "Namespace", "acm-simple-kmod", "unchanged");
    (void)entry_of(doc, "ConfigMap", "acm-ice-scripts", "adopted");
    (void)entry_of(doc, "BuildConfig", "acm-ice-4-10-20", "adopted");
    (void)entry_of(doc, "Policy", "policy-acm-simple-kmod-ds", "adopted");
    (void)entry_of(doc, "BuildConfig", "acm-ice-4-10-15", "left"); /* of a version that is gone */
    /* another value, and a module whose versions cannot be found out */
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResourceModule", NULL, "acm-ice", NULL,
                                 "{\"spec\":{\"set\":{\"registry\":\"quay.io/other\"}}}"),
                     0);
    assert_int_equal(
        world_patch(&w, SR_VERSION, "SpecialResourceModule", NULL, "acm-simple-kmod", NULL,
                    "{\"spec\":{\"watch\":[{\"apiVersion\":\"v1\",\"kind\":\"Nothing\","
                    "\"path\":\"$.a\"}]}}"),
        0);
    SW_AUTO_JSON *now = plan(&w, 2);
    each_must_be_told_once(now);
    struct json_object *entry = entry_of(now, "BuildConfig", "acm-ice-4-10-20", "changed");
    assert_true(sw_json_has_text(sw_json_get(entry, "fields"), "spec.output.to.name"));
    entry = entry_of(now, "SpecialResourceModule", "acm-simple-kmod", "refused");
    assert_non_null(strstr(sw_json_str(entry, "", "why", NULL), "spec.watch: "));
    (void)entry_of(now, "Policy", "policy-acm-simple-kmod-ds", "unchanged"); /* nobody writes it */
    registry_stop(&f.r);
    free(f.host);
    world_close(&w);
}

/* ---- the chart of a resource -------------------------------------------------------------------
 */

static void plan_renders_templates_of_the_chart(void **state)
{
    static const char resource[] =
        "{" SR_SPEC ",'metadata':{'name':'simple-kmod'},'spec':{'namespace':'simple-kmod','chart':{"
        "'name':'simple-kmod','version':'0.0.1','repository':{'name':'r','url':'file://" TAKEOVER
        "/{{ if .Values.specialresource }}simple-kmod{{ end }}'}}}}";
    (void)state;
    struct world w;
    open_world(&w);
    assert_int_equal(world_create(&w, resource), 0);
    SW_AUTO_JSON *doc = plan(&w, 1);
    (void)entry_of(doc, "SpecialResource", "simple-kmod", "adopted");
    (void)entry_of(doc, "ServiceAccount", "simple-kmod-driver-container", "created");
    world_close(&w);
}

static void plan_reads_the_login_as_the_resources_account(void **state)
{
    static const char resource[] =
        "{" SR_SPEC ",'metadata':{'name':'r'},'spec':{'namespace':'r','serviceAccountName':'mine',"
        "'chart':{'name':'r','version':'0.0.1','repository':{'name':'r','url':'cm://r/chart',"
        "'secretRef':{'name':'login','namespace':'r'}}}}}";
    static const char *const objects[] = {
        "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'r'}}",
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'chart','namespace':'r'},'data':{"
        "'0000-a.yaml':'{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}'}}",
        resource,
    };
    (void)state;
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < SW_COUNT(objects); i++)
        assert_int_equal(world_create(&w, objects[i]), 0);
    SW_AUTO_JSON *without = plan(&w, 2);
    struct json_object *entry = entry_of(without, "SpecialResource", "r", "refused");
    assert_non_null(strstr(sw_json_str(entry, "", "why", NULL), "repository.secretRef: "));
    assert_int_equal(n_as_account, 1);
    assert_int_equal(world_create(&w, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':"
                                      "'login','namespace':'r'}}"),
                     0);
    SW_AUTO_JSON *with = plan(&w, 1);
    (void)entry_of(with, "SpecialResource", "r", "adopted");
    (void)entry_of(with, "ConfigMap", "made", "created");
    assert_int_equal(n_as_account, 3); /* the Secret, the chart's ConfigMap, the dry run */
    world_close(&w);
}

/* ---- what an account may do --------------------------------------------------------------------
 */

/* A resource of a chart with two objects, of which the ConfigMap is there. @account: ",'x':'y'" of
 * its spec. */
static void open_as(struct world *w, const char *account)
{
    SW_AUTO_CHARS *resource = sw_printf(
        "{" SR_SPEC ",'metadata':{'name':'r'},'spec':{'namespace':'r'%s,'chart':{'name':'r',"
        "'version':'0.0.1','repository':{'name':'r','url':'cm://r/chart'}}}}",
        account);
    const char *const objects[] = {
        "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'r'}}",
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'chart','namespace':'r'},'data':{"
        "'0000-a.yaml':'{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}',"
        "'0001-b.yaml':'{apiVersion: v1, kind: ServiceAccount, metadata: {name: driver}}'}}",
        resource,
    };
    open_world(w);
    for (size_t i = 0; i < SW_COUNT(objects); i++)
        assert_int_equal(world_create(w, objects[i]), 0);
    SW_AUTO_CHARS *made = sw_printf(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'made','namespace':'r','labels':{"
        "'specialresource.openshift.io/owned':'true'},'ownerReferences':[{'apiVersion':"
        "'" SR_VERSION "','kind':'SpecialResource','name':'r','uid':'%s'}]}}",
        sw_obj_uid(sro_get(w, "r")));
    assert_int_equal(world_create(w, made), 0);
}

static void open_with_account(struct world *w)
{
    open_as(w, ",'serviceAccountName':'mine'");
}

static const char *why_of(struct json_object *entry)
{
    return sw_json_str(entry, "", "why", NULL);
}

static void plan_says_what_the_account_may_not_write(void **state)
{
    (void)state;
    struct world w;
    open_with_account(&w);
    forbidden_to_accounts = "configmaps";
    SW_AUTO_JSON *doc = plan(&w, 2);
    forbidden_to_accounts = NULL;
    each_must_be_told_once(doc);
    (void)entry_of(doc, "ConfigMap", "made", "refused");
    (void)entry_of(doc, "ServiceAccount", "driver", "created");
    struct json_object *entry = entry_of(doc, "SpecialResource", "r", "adopted");
    assert_string_equal(why_of(entry),
                        "system:serviceaccount:r:mine may not write 1 of its objects: slipway rbac "
                        "r --service-account mine | kubectl apply -f -");
    assert_int_equal(n_reviews, 0);
    world_close(&w);
}

/* Without SRO_COMPAT. */
static void plan_knows_the_account_of_a_resource_that_names_none(void **state)
{
    (void)state;
    struct world w;
    open_as(&w, "");
    forbidden_to_accounts = "configmaps";
    SW_AUTO_JSON *as_sro = plan(&w, 1);
    (void)entry_of(as_sro, "ConfigMap", "made", "adopted");
    assert_int_equal(n_as_account, 0);
    SW_AUTO_JSON *doc = plan_by(&w, NULL, NULL, 2);
    forbidden_to_accounts = NULL;
    (void)entry_of(doc, "ConfigMap", "made", "refused");
    (void)entry_of(doc, "ServiceAccount", "driver", "created");
    assert_string_equal(why_of(entry_of(doc, "SpecialResource", "r", "adopted")),
                        "system:serviceaccount:r:slipway-r may not write 1 of its objects: slipway "
                        "rbac r | kubectl apply -f -");
    world_close(&w);
}

static void plan_asks_for_an_account_that_it_may_not_act_as(void **state)
{
    (void)state;
    struct world w;
    open_with_account(&w);
    n_reviews = 0;
    forbidden = "selfsubjectaccessreviews";
    SW_AUTO_JSON *doc = plan(&w, 1);
    (void)entry_of(doc, "ConfigMap", "made", "adopted");
    (void)entry_of(doc, "ServiceAccount", "driver", "created");
    assert_string_equal(why_of(entry_of(doc, "SpecialResource", "r", "adopted")), "");
    assert_int_equal(n_reviews, 3);    /* patch; patch and create */
    assert_int_equal(n_as_account, 1); /* the chart's ConfigMap */
    forbidden_too = "subjectaccessreviews";
    SW_AUTO_JSON *unknown = plan(&w, 1);
    forbidden = forbidden_too = NULL;
    (void)entry_of(unknown, "ConfigMap", "made", "adopted");
    assert_non_null(strstr(why_of(entry_of(unknown, "SpecialResource", "r", "adopted")),
                           "whether system:serviceaccount:r:mine may write its objects is not "
                           "known"));
    world_close(&w);
}

/* ---- a DASOperator -----------------------------------------------------------------------------
 */

static void plan_says_what_is_done_for_a_das_operator(void **state)
{
    static const char *const objects[] = {
        "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'das-operator'}}",
        "{'apiVersion':'" DAS "','kind':'DASOperator','metadata':{'name':'cluster','namespace':"
        "'das-operator'},'spec':{'managementState':'Managed'}}",
        "{'apiVersion':'apps/v1','kind':'DaemonSet','metadata':{'name':'das-daemonset','namespace':"
        "'das-operator'},'spec':{'selector':{'matchLabels':{'name':'das-daemonset'}},'template':{"
        "'metadata':{'labels':{'name':'das-daemonset'}},'spec':{'containers':[{'name':"
        "'das-daemonset','image':'quay.io/x/das:1'}]}}}}",
        "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'das-operator','namespace':"
        "'das-operator'}}",
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'das-operator','namespace':"
        "'das-operator','labels':{'app.kubernetes.io/part-of':'das-operator'}},'spec':{'selector':{"
        "'matchLabels':{'app':'o'}},'template':{'metadata':{'labels':{'app':'o'}},'spec':{"
        "'containers':[{'name':'o','image':'quay.io/x/das:1'}]}}}}",
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'das-operator-webhook','namespace':"
        "'das-operator'},'spec':{'ports':[{'port':8443}]}}",
        "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':"
        "'das-operator'},'rules':[]}",
    };
    (void)state;
    struct world w;
    (void)setenv("SLIPWAY_RECIPES", SW_SOURCE_DIR "/recipes", 1);
    (void)setenv("EMULATED_MODE", "enabled", 1);
    open_world(&w);
    for (size_t i = 0; i < SW_COUNT(objects); i++)
        assert_int_equal(world_create(&w, objects[i]), 0);
    world_wait(&w, 500);
    SW_AUTO_JSON *foreign = plan(&w, 2); /* DAS owns what it makes; these are somebody else's */
    each_must_be_told_once(foreign);
    struct json_object *entry = entry_of(foreign, "DaemonSet", "das-daemonset", "refused");
    assert_string_equal(why_of(entry), "exists and is not slipway's (written by somebody)");
    SW_AUTO_CHARS *owned = sw_printf(
        "{'metadata':{'ownerReferences':[{'apiVersion':'" DAS "','kind':'DASOperator','name':"
        "'cluster','uid':'%s'}]}}",
        sw_obj_uid(world_get(&w, DAS, "DASOperator", "das-operator", "cluster")));
    assert_int_equal(
        world_patch(&w, "apps/v1", "DaemonSet", "das-operator", "das-daemonset", NULL, owned), 0);
    assert_int_equal(
        world_patch(&w, "v1", "Service", "das-operator", "das-operator-webhook", NULL, owned), 0);
    SW_AUTO_JSON *doc = plan(&w, 1);
    each_must_be_told_once(doc);
    (void)entry_of(doc, "DASOperator", "cluster", "adopted");
    (void)entry_of(doc, "SpecialResource", "nvidia-mig", "created");
    entry = entry_of(doc, "DaemonSet", "das-daemonset", "pods replaced");
    assert_true(sw_json_len(sw_json_get(entry, "fields")) > 0);
    (void)entry_of(doc, "Deployment", "das-operator-webhook", "created");
    (void)entry_of(doc, "Deployment", "das-operator", "replaced");
    (void)entry_of(doc, "ServiceAccount", "das-operator", "adopted");
    (void)entry_of(doc, "Service", "das-operator-webhook", "changed"); /* the recipe's, too */
    (void)entry_of(doc, "ClusterRole", "das-operator", "left");
    assert_int_equal(world_patch(&w, DAS, "DASOperator", "das-operator", "cluster", NULL,
                                 "{\"spec\":{\"managementState\":\"Unmanaged\"}}"),
                     0);
    SW_AUTO_JSON *alone = plan(&w, 0);
    (void)entry_of(alone, "DASOperator", "cluster", "unchanged");
    (void)unsetenv("SLIPWAY_RECIPES");
    (void)unsetenv("EMULATED_MODE");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_compares_the_objects_of_modules),
        cmocka_unit_test(plan_renders_templates_of_the_chart),
        cmocka_unit_test(plan_reads_the_login_as_the_resources_account),
        cmocka_unit_test(plan_says_what_the_account_may_not_write),
        cmocka_unit_test(plan_knows_the_account_of_a_resource_that_names_none),
        cmocka_unit_test(plan_asks_for_an_account_that_it_may_not_act_as),
        cmocka_unit_test(plan_says_what_is_done_for_a_das_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
