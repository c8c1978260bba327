/* SpecialResourceModules and PreflightValidations: release images in a registry on loopback, the
 * upgrade graph on the same server. */
#include "run_left.h"

#include "operator/registries/registries.h"
#include "ranges.h"
#include "unit/chart/registry_server.h"

#define KERNEL "4.18.0-305.40.1.el8_4.x86_64"

struct fixture {
    struct world w;
    struct registry r;
    char *host, *dir, *graph;
    const char *ns; /* spec.namespace of the module; NULL: "mods" */
    bool no_graph;
    int n_graphs;
};

static const struct sw_registries_opts asked = { .conf = "/dev/null", .retry_ms = 1 };

static void write_file(const struct fixture *f, const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", f->dir, name);
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
}

/* The graph beside the registry's own paths. */
static void on_request(struct server *srv, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    if (!sw_starts_with(req->path, "/graph")) {
        registry_on_request(srv, req, &f->r);
        return;
    }
    f->n_graphs++;
    SW_AUTO_CHARS *body = sw_printf("{\"nodes\":[{\"version\":\"4.10.20\",\"payload\":"
                                    "\"%s/release:new\"}],\"edges\":[]}",
                                    f->host);
    bool there = strstr(req->path, "channel=fast-4.10");
    reply(req, f->no_graph ? 503 : 200, there ? body : "{\"nodes\":[]}");
}

static void start(struct fixture *f)
{
    *f = (struct fixture){ .w = { .registries = &asked }, .dir = sw_strdup("/tmp/run_mod_XXXXXX") };
    assert_non_null(mkdtemp(f->dir));
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", f->dir);
    assert_int_equal(mkdir(templates, 0700), 0);
    write_file(f, "Chart.yaml", "apiVersion: v2\nname: driver\nversion: 0.1.0\n");
    world_open(&f->w);
    if (getenv("LOG"))
        sw_log_set_level(SW_LOG_INFO);
    registry_start(&f->r, f->w.conn.loop);
    f->r.srv.on_request = on_request;
    f->r.srv.arg = f;
    f->host = registry_host(&f->r);
    f->graph = sw_printf("http://%s/graph", f->host);
    f->w.graph_url = f->graph;
}

static void tear_down(struct fixture *f)
{
    registry_stop(&f->r);
    world_close(&f->w);
    SW_AUTO_CHARS *command = sw_printf("rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f->dir);
    free(f->host);
    free(f->graph);
}

/** A release image and its driver toolkit for @kernel. */
static void put_release(struct fixture *f, const char *tag, const char *version, const char *kernel)
{
    SW_AUTO_JSON *dtk = json_object_new_array(), *layers = json_object_new_array();
    struct json_object *files = json_object_new_object(), *release = json_object_new_object();
    SW_AUTO_CHARS *json = sw_printf("{\"KERNEL_VERSION\":\"%s\",\"RT_KERNEL_VERSION\":\"rt-%s\","
                                    "\"RHEL_VERSION\":\"8.4\"}",
                                    kernel, kernel);
    SW_AUTO_CHARS *references = sw_printf("{\"spec\":{\"tags\":[{\"name\":\"driver-toolkit\","
                                          "\"from\":{\"name\":\"%s/dtk:%s\"}}]}}",
                                          f->host, tag);
    SW_AUTO_CHARS *metadata = sw_printf("{\"version\":\"%s\"}", version);
    (void)json_object_object_add(files, "etc/driver-toolkit-release.json",
                                 json_object_new_string(json));
    (void)json_object_array_add(dtk, files);
    (void)json_object_object_add(release, "release-manifests/image-references",
                                 json_object_new_string(references));
    (void)json_object_object_add(release, "release-manifests/release-metadata",
                                 json_object_new_string(metadata));
    (void)json_object_array_add(layers, release);
    free(put_image(&f->r, "dtk", tag, OCI_MANIFEST, dtk));
    free(put_image(&f->r, "release", tag, OCI_MANIFEST, layers));
}

/* Layers are read by threads, which the world's clock does not wait for. */
static bool until(struct fixture *f, bool (*cond)(struct fixture *f, void *arg), void *arg)
{
    int64_t began_ms = sw_monotonic_ms();
    while (!cond(f, arg) && sw_monotonic_ms() - began_ms < 20000)
        world_wait(&f->w, 500);
    return cond(f, arg);
}

/* ---- modules ------------------------------------------------------------------------------------
 */

static void write_module(struct fixture *f)
{
    write_file(
        f, "templates/0000-map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n"
        "  name: {{ .Values.specialResourceModule.metadata.name }}-{{ .Values.openShiftVersion "
        "}}\ndata:\n  kernel: {{ .Values.kernelFullVersion }}\n"
        "  rt: {{ .Values.rtKernelFullVersion }}\n  os: {{ .Values.operatingSystem | quote }}\n"
        "  image: {{ .Values.driverToolkitImage }}\n  x: {{ .Values.x }}\n");
}

static void add_module_at(struct fixture *f, const char *selector, const char *path)
{
    SW_AUTO_CHARS *ns = sw_printf("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                  "\"name\":\"mods\"}}");
    assert_int_equal(world_create(&f->w, ns), 0);
    assert_int_equal(world_create(&f->w, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                                         "\"metadata\":{\"name\":\"spoke\",\"namespace\":\"mods\","
                                         "\"labels\":{\"version\":\"4.10.20\",\"who\":\"us\"}}}"),
                     0);
    SW_AUTO_CHARS *module = sw_printf(
        "{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":\"SpecialResourceModule\","
        "\"metadata\":{\"name\":\"mod\"},\"spec\":{\"namespace\":\"%s\",\"set\":{\"x\":\"value\"}"
        ","
        "\"chart\":{\"name\":\"driver\",\"version\":\"0.1.0\",\"repository\":{\"name\":\"r\","
        "\"url\":\"file://%s\"}},\"watch\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
        "\"name\":\"spoke\",\"namespace\":\"mods\",\"path\":\"%s\"%s}]}}",
        f->ns ? f->ns : "mods", f->dir, path, selector);
    world_start(&f->w);
    world_wait(&f->w, 1000);
    assert_int_equal(world_create(&f->w, module), 0);
}

static void add_module(struct fixture *f, const char *selector)
{
    add_module_at(f, selector, "$.metadata.labels.version");
}

static struct json_object *module_status(struct fixture *f)
{
    return sw_json_get(
        world_get(&f->w, "sro.openshift.io/v1beta1", "SpecialResourceModule", NULL, "mod"),
        "status");
}

/* Is that toolkit's version, and no other, complete? */
static bool is_complete(struct fixture *f, void *arg)
{
    struct json_object *versions = sw_json_get(module_status(f), "versions");
    SW_AUTO_CHARS *image = sw_printf("%s/dtk:%s", f->host, (const char *)arg);
    return sw_json_len(versions) == 1 && sw_json_bool(versions, false, image, "complete", NULL);
}

static bool has_message(struct fixture *f, void *arg)
{
    return strstr(sw_json_str(module_status(f), "", "message", NULL), arg);
}

static void must(struct fixture *f, bool (*cond)(struct fixture *f, void *arg), void *arg)
{
    if (until(f, cond, arg))
        return;
    fail_msg("%s: %s\n%s", (const char *)arg, json_object_to_json_string(module_status(f)),
             f->r.srv.log);
}

static void install(struct fixture *f)
{
    /* brings the CustomResourceDefinitions */
    world_apply(&f->w, &(struct sw_resource_opts){ .recipe = f->dir });
    assert_int_equal(
        world_delete(&f->w, "sro.openshift.io/v1beta1", "SpecialResource", NULL, "driver"), 0);
}

static int n_as_account, n_as_others; /* requests for ConfigMaps of the module's namespace */

/* A cluster with the operator, the chart of a module, and one release that the module can be for.
 */
static void start_with_release(struct fixture *f)
{
    start(f);
    write_module(f);
    put_release(f, "new", "4.10.20", KERNEL);
    install(f);
}

static void count_accounts(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                           struct world *w SW_UNUSED)
{
    if (!sw_streq(req->resource, "configmaps") || !sw_streq(req->ns, "mods"))
        return;
    bool is_its = sw_streq(req->as_user, "system:serviceaccount:mods:slipway-mod");
    n_as_account += is_its;
    n_as_others += !is_its && !sw_streq(req->verb, "create"); /* the test creates */
}

static void a_module_does_nothing_but_as_its_account(void **state)
{
    (void)state;
    struct fixture f;
    start_with_release(&f);
    n_as_account = n_as_others = 0;
    f.w.on_request = count_accounts;
    add_module(&f, "");
    must(&f, is_complete, "new");
    assert_true(n_as_account >= 2); /* the watch of spec.watch, and what it renders */
    assert_int_equal(n_as_others, 0);
    tear_down(&f);
}

static bool is_ours(struct fixture *f, void *arg SW_UNUSED)
{
    struct json_object *map = world_get(&f->w, "v1", "ConfigMap", "other", "theirs");
    return sw_streq(sw_json_str(map, "", "data", "x", NULL), "ours");
}

static void what_others_made_a_module_leaves_alone(void **state)
{
    (void)state;
    struct fixture f;
    start_with_release(&f);
    assert_int_equal(world_create(&f.w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                                        "\"metadata\":{\"name\":\"other\"}}"),
                     0);
    write_file(&f, "templates/0000-map.yaml",
               "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n---\n"
               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: other}\n"
               "data: {x: ours}\n");
    assert_int_equal(world_create(&f.w, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                                        "\"metadata\":{\"name\":\"theirs\",\"namespace\":"
                                        "\"other\"},\"data\":{\"x\":\"theirs\"}}"),
                     0);
    add_module(&f, "");
    must(&f, has_message, "ConfigMap theirs exists and is not slipway's");
    struct json_object *map = world_get(&f.w, "v1", "ConfigMap", "other", "theirs");
    assert_string_equal(sw_json_str(map, "", "data", "x", NULL), "theirs");
    assert_null(sw_json_find(map, "metadata", "ownerReferences", NULL));
    assert_int_equal(world_delete(&f.w, "v1", "ConfigMap", "other", "theirs"), 0);
    must(&f, is_complete, "new");
    map = world_get(&f.w, "v1", "ConfigMap", "other", "theirs");
    assert_string_equal(sw_json_str(map, "", "data", "x", NULL), "ours");
    /* the namespace was there: it does not go with the module */
    struct json_object *ns = world_get(&f.w, "v1", "Namespace", NULL, "other");
    assert_null(sw_json_find(ns, "metadata", "ownerReferences", NULL));
    /* its own it repairs, whoever wrote them last */
    assert_int_equal(world_patch(&f.w, "v1", "ConfigMap", "other", "theirs", NULL,
                                 "{\"data\":{\"x\":\"changed\"}}"),
                     0);
    assert_int_equal(world_patch(&f.w, "sro.openshift.io/v1beta1", "SpecialResourceModule", NULL,
                                 "mod", NULL, "{\"spec\":{\"set\":{\"x\":\"another\"}}}"),
                     0);
    must(&f, is_ours, NULL);
    tear_down(&f);
}

static void a_module_is_applied_for_the_version_that_it_watches(void **state)
{
    (void)state;
    struct fixture f;
    start_with_release(&f);
    add_module(&f, "");
    must(&f, is_complete, "new");
    struct json_object *map = world_get(&f.w, "v1", "ConfigMap", "mods", "mod-4.10.20");
    assert_string_equal(sw_json_str(map, "", "data", "kernel", NULL), KERNEL);
    assert_string_equal(sw_json_str(map, "", "data", "rt", NULL), "rt-" KERNEL);
    assert_string_equal(sw_json_str(map, "", "data", "os", NULL), "8.4");
    assert_string_equal(sw_json_str(map, "", "data", "x", NULL), "value");
    assert_true(sw_ends_with(sw_json_str(map, "", "data", "image", NULL), "/dtk:new"));
    assert_string_equal(sw_obj_label(map, "specialresourcemodule.openshift.io/owned"), "true");
    struct json_object *owners = sw_json_find(map, "metadata", "ownerReferences", NULL);
    assert_string_equal(sw_json_str(sw_json_at(owners, 0), "", "kind", NULL),
                        "SpecialResourceModule");
    assert_int_equal(f.n_graphs, 2); /* not in stable, but in fast */
    tear_down(&f);
}

static void the_namespace_of_a_module_is_made(void **state)
{
    (void)state;
    struct fixture f;
    start_with_release(&f);
    f.ns = "made";
    add_module(&f, "");
    must(&f, is_complete, "new");
    struct json_object *ns = world_get(&f.w, "v1", "Namespace", NULL, "made");
    assert_string_equal(sw_obj_label(ns, "specialresourcemodule.openshift.io/owned"), "true");
    assert_string_equal(sw_obj_annotation(ns, "openshift.io/cluster-monitoring"), "true");
    assert_null(sw_json_find(ns, "metadata", "ownerReferences", NULL));
    assert_non_null(world_get(&f.w, "v1", "ConfigMap", "made", "mod-4.10.20"));
    /* one that others made is used as it is */
    assert_null(sw_obj_label(world_get(&f.w, "v1", "Namespace", NULL, "mods"),
                             "specialresourcemodule.openshift.io/owned"));
    tear_down(&f);
}

static bool has_none_of_old(struct fixture *f, void *arg SW_UNUSED)
{
    return !world_get(&f->w, "v1", "ConfigMap", "mods", "mod-4.10.20");
}

static void another_value_at_the_path_is_another_version(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_module(&f);
    put_release(&f, "new", "4.10.20", KERNEL);
    put_release(&f, "next", "4.11.0", "4.18.0-372.1.1.el8_6.x86_64");
    install(&f);
    add_module_at(&f, "", "$.data.release");
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":{\"release\":\"%s/release:new\"}}", f.host);
    assert_int_equal(world_patch(&f.w, "v1", "ConfigMap", "mods", "spoke", NULL, patch), 0);
    must(&f, is_complete, "new");
    SW_AUTO_CHARS *then = sw_printf("{\"data\":{\"release\":\"%s/release:next\"}}", f.host);
    assert_int_equal(world_patch(&f.w, "v1", "ConfigMap", "mods", "spoke", NULL, then), 0);
    must(&f, is_complete, "next"); /* and the one before is no longer in the status */
    must(&f, has_none_of_old, "");
    assert_non_null(world_get(&f.w, "v1", "ConfigMap", "mods", "mod-4.11.0"));
    assert_int_equal(f.n_graphs, 0);
    tear_down(&f);
}

static void a_module_whose_release_cannot_be_found_says_so_and_goes_on_trying(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_module(&f);
    f.no_graph = true;
    install(&f);
    add_module(&f, "");
    must(&f, has_message, "the release image of version 4.10.20 cannot be asked for");
    f.no_graph = false;
    must(&f, has_message, "there is no such image");
    put_release(&f, "new", "4.10.20", KERNEL);
    must(&f, is_complete, "new");
    tear_down(&f);
}

static void an_object_that_the_selector_leaves_out_gives_no_version(void **state)
{
    (void)state;
    struct fixture f;
    start_with_release(&f);
    add_module(&f, ",\"selector\":[{\"path\":\"$.metadata.labels.who\",\"value\":\"us\","
                   "\"exclude\":true}]");
    world_wait(&f.w, 5000);
    assert_int_equal(f.n_graphs, 0);
    assert_int_equal(world_patch(&f.w, "v1", "ConfigMap", "mods", "spoke", NULL,
                                 "{\"metadata\":{\"labels\":{\"who\":\"them\"}}}"),
                     0);
    must(&f, is_complete, "new");
    tear_down(&f);
}

/* ---- SRO's own example --------------------------------------------------------------------------
 */

static void add_crd(struct fixture *f, const char *group, const char *kind, const char *plural,
                    bool namespaced)
{
    SW_AUTO_CHARS *singular = sw_strdup(kind);
    for (char *c = singular; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
    SW_AUTO_CHARS *crd = sw_printf(
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"%s.%s\"},\"spec\":{\"group\":\"%s\",\"scope\":\"%s\",\"names\":{"
        "\"kind\":\"%s\",\"plural\":\"%s\",\"singular\":\"%s\"},\"versions\":[{\"name\":\"v1\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
        "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
        plural, group, group, namespaced ? "Namespaced" : "Cluster", kind, plural, singular);
    assert_int_equal(world_create(&f->w, crd), 0);
}

static bool is_example_complete(struct fixture *f, void *arg)
{
    struct json_object *module = world_get(&f->w, "sro.openshift.io/v1beta1",
                                           "SpecialResourceModule", NULL, "acm-simple-kmod");
    SW_AUTO_CHARS *image = sw_printf("%s/dtk:%s", f->host, (const char *)arg);
    return sw_json_bool(module, false, "status", "versions", image, "complete", NULL);
}

static void the_module_of_sros_examples_walks_unchanged(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    struct fixture f;
    start_with_release(&f);
    add_crd(&f, "cluster.open-cluster-management.io", "ManagedCluster", "managedclusters", false);
    add_crd(&f, "policy.open-cluster-management.io", "Policy", "policies", true);
    add_crd(&f, "policy.open-cluster-management.io", "PlacementBinding", "placementbindings", true);
    add_crd(&f, "apps.open-cluster-management.io", "PlacementRule", "placementrules", true);
    world_start(&f.w);
    world_wait(&f.w, 2000);
    assert_int_equal(world_create(&f.w,
                                  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                  "\"name\":\"acm-simple-kmod\"}}"),
                     0);
    assert_int_equal(world_create(&f.w,
                                  "{\"apiVersion\":\"cluster.open-cluster-management.io/v1\","
                                  "\"kind\":\"ManagedCluster\",\"metadata\":{\"name\":"
                                  "\"spoke1\",\"labels\":{\"openshiftVersion\":\"4.10.20\"}}}"),
                     0);
    /* as the example has it, but for where the chart lies */
    SW_AUTO_CHARS *path = sw_printf("%s/charts/acm-simple-kmod/acm-simple-kmod.yaml", shared);
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *module = NULL;
    size_t len;
    assert_int_equal(sw_file_read(path, 1 << 20, &text, &len, NULL), 0);
    assert_int_equal(sw_yaml_parse(text, len, NULL, &module, NULL), 0);
    SW_AUTO_CHARS *url = sw_printf("file://%s/charts/acm-simple-kmod", shared);
    sw_json_set_str(module, url, "spec", "chart", "repository", "url", NULL);
    SW_AUTO_CHARS *json = sw_json_text(module, SW_JSON_PLAIN, NULL);
    assert_int_equal(world_create(&f.w, json), 0);
    if (!until(&f, is_example_complete, "new"))
        fail_msg("%s", json_object_to_json_string(world_get(&f.w, "sro.openshift.io/v1beta1",
                                                            "SpecialResourceModule", NULL,
                                                            "acm-simple-kmod")));
    struct json_object *builds = world_get(&f.w, "build.openshift.io/v1", "BuildConfig",
                                           "acm-simple-kmod", NULL);
    assert_int_equal(sw_json_len(builds), 1);
    assert_non_null(strstr(
        sw_json_str(sw_json_at(builds, 0), "", "spec", "source", "dockerfile", NULL), "/dtk:new"));
    tear_down(&f);
}

/* ---- what SRO left ------------------------------------------------------------------------------
 */

static const char *left_host; /* that HOST of the file stands for */

static void create_left_module(struct world *w, struct json_object *doc)
{
    SW_AUTO_JSON *body = left_with_host(doc, left_host);
    create_left(w, body);
}

static void start_left(struct fixture *f)
{
    start_with_release(f);
    put_release(f, "next", "4.11.0", "4.18.0-372.1.1.el8_6.x86_64");
    left_host = f->host;
    left_each_of(&f->w, TAKEOVER "/modules.yaml", NULL, create_left_module);
    world_wait(&f->w, 10 * 60000); /* what was left is built */
}

/* Each object of the modules' namespaces, with uid and generation: a text. */
static char *left_picture(struct fixture *f)
{
    static const char *const kinds[][2] = {
        { "v1", "ConfigMap" },
        { "build.openshift.io/v1", "BuildConfig" },
        { "build.openshift.io/v1", "Build" },
        { "v1", "Pod" },
        { "policy.open-cluster-management.io/v1", "Policy" },
        { "policy.open-cluster-management.io/v1", "PlacementBinding" },
        { "apps.open-cluster-management.io/v1", "PlacementRule" },
        { "v1", "Namespace" },
        { SR_VERSION, "SpecialResourceModule" },
    };
    char *text = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        SW_AUTO_JSON *list = json_object_get(
            world_get(&f->w, kinds[i][0], kinds[i][1], NULL, NULL));
        for (size_t k = 0; k < sw_json_len(list); k++) {
            struct json_object *doc = sw_json_at(list, k);
            sw_append(&text, "%s %s/%s %s %d\n", kinds[i][1], sw_obj_namespace(doc),
                      sw_obj_name(doc), sw_obj_uid(doc),
                      (int)sw_json_int(doc, 0, "metadata", "generation", NULL));
        }
    }
    return text;
}

static bool are_adopted(struct fixture *f, void *arg SW_UNUSED)
{
    static const char *const names[] = { "acm-ice", "acm-simple-kmod" };
    bool all = true;
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *image = sw_printf("%s/dtk:new", f->host);
        struct json_object *module = world_get(&f->w, SR_VERSION, "SpecialResourceModule", NULL,
                                               names[i]);
        all = all && sw_json_len(sw_json_find(module, "status", "inventory", NULL)) > 1 &&
              sw_json_bool(module, false, "status", "versions", image, "complete", NULL) &&
              !sw_json_find(module, "status", "message", NULL);
    }
    return all;
}

static int n_left_writes; /* of what is not slipway's own bookkeeping */
static char *first_left_write;

static void count_left_writes(const struct sw_emu_request *req,
                              struct sw_emu_fault *fault SW_UNUSED, struct world *w SW_UNUSED)
{
    bool reads = sw_streq(req->verb, "get") || sw_streq(req->verb, "list") ||
                 sw_streq(req->verb, "watch");
    bool marks = sw_streq(req->verb, "patch") && req->ns && *req->ns; /* compared by the picture */
    if (reads || marks || sw_streq(req->resource, "events") ||
        sw_streq(req->resource, "specialresourcemodules") || n_left_writes++)
        return;
    first_left_write = sw_printf("%s %s", req->verb, req->path);
}

static void modules_that_sro_left_are_taken_over_as_they_are(void **state)
{
    (void)state;
    struct fixture f;
    start_left(&f);
    SW_AUTO_CHARS *before = left_picture(&f);
    assert_non_null(strstr(before, "Build acm-ice/acm-ice-4-10-20-1 "));
    for (int i = 0; i < 2; i++) {
        n_left_writes = 0;
        world_start(&f.w);
        f.w.on_request = count_left_writes;
        must(&f, are_adopted, "");
        world_wait(&f.w, 60000);
        f.w.on_request = NULL;
        if (n_left_writes)
            fail_msg("%s", first_left_write);
        SW_AUTO_CHARS *after = left_picture(&f);
        assert_string_equal(after, before);
        struct json_object *build = world_get(&f.w, "build.openshift.io/v1", "BuildConfig",
                                              "acm-ice", "acm-ice-4-10-20");
        assert_string_not_equal(sw_obj_annotation(build, SRO "hash"), "18406289862162899356");
        world_kill(&f.w);
    }
    tear_down(&f);
}

static unsigned n_all_writes; /* its bookkeeping, too */

static void count_all_writes(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                             struct world *w)
{
    count_left_writes(req, fault, w);
    n_all_writes += sw_streq(req->verb, "patch") || sw_streq(req->verb, "update") ||
                    sw_streq(req->verb, "create") || sw_streq(req->verb, "delete");
}

static bool has_written(struct world *w SW_UNUSED, void *arg)
{
    return n_all_writes >= *(const unsigned *)arg;
}

static bool comes_to(struct fixture *f, void *arg)
{
    return world_until(&f->w, has_written, arg, 500);
}

/* Take what was left over, with a kill -9 at the @at-th write (0: none). @return how many there
 * were without one */
static unsigned take_modules_over(unsigned at)
{
    struct fixture f;
    start_left(&f);
    SW_AUTO_CHARS *before = left_picture(&f);
    n_all_writes = 0;
    n_left_writes = 0;
    f.w.on_request = count_all_writes;
    world_start(&f.w);
    if (at) {
        if (!until(&f, comes_to, &at))
            fail_msg("there is no write %u", at);
        world_kill(&f.w);
        world_start(&f.w);
    }
    must(&f, are_adopted, "");
    world_wait(&f.w, 60000);
    f.w.on_request = NULL;
    SW_AUTO_CHARS *after = left_picture(&f);
    if (n_left_writes || !sw_streq(before, after))
        fail_msg("killed at write %u: %s\n%s\n%s", at, first_left_write, before, after);
    tear_down(&f);
    return n_all_writes;
}

static void modules_that_are_killed_on_the_way_are_taken_over_the_same(void **state)
{
    (void)state;
    unsigned all = take_modules_over(0);
    assert_between(all, 8, 60);
    for (unsigned at = 1; at <= all; at += getenv("SW_ALL") ? 1 : all / 4)
        (void)take_modules_over(at);
}

static bool is_built_anew(struct fixture *f, void *arg SW_UNUSED)
{
    return world_get(&f->w, "build.openshift.io/v1", "BuildConfig", "acm-ice", "acm-ice-4-11-0") &&
           !world_get(&f->w, "build.openshift.io/v1", "BuildConfig", "acm-ice", "acm-ice-4-10-20");
}

static void what_the_recipe_dropped_goes_and_what_sro_left_of_old_versions_stays(void **state)
{
    (void)state;
    struct fixture f;
    start_left(&f);
    /* SRO wrote it, and the recipe has dropped it since */
    struct json_object *map = world_get(&f.w, "v1", "ConfigMap", "acm-ice", "acm-ice-scripts");
    SW_AUTO_JSON *body = sw_json_copy(map);
    sw_json_set_str(body, "old", "data", "unload.sh", NULL);
    send_as_sro(&f.w, body, true);
    world_start(&f.w);
    must(&f, are_adopted, "");
    map = world_get(&f.w, "v1", "ConfigMap", "acm-ice", "acm-ice-scripts");
    assert_null(sw_json_find(map, "data", "unload.sh", NULL));
    SW_AUTO_CHARS *next = sw_printf("{\"clusterClaims\":[{\"name\":\"osimage.openshift.io\","
                                    "\"value\":\"%s/release:next\"}]}",
                                    f.host);
    assert_int_equal(world_patch(&f.w, "cluster.open-cluster-management.io/v1", "ManagedCluster",
                                 NULL, "spoke1", NULL, next),
                     0);
    must(&f, is_built_anew, "");
    assert_non_null(
        world_get(&f.w, "build.openshift.io/v1", "BuildConfig", "acm-ice", "acm-ice-4-10-15"));
    assert_non_null(
        world_get(&f.w, "policy.open-cluster-management.io/v1", "Policy", "acm-ice", "acm-ice"));
    /* without any version nothing goes */
    assert_int_equal(world_patch(&f.w, "cluster.open-cluster-management.io/v1", "ManagedCluster",
                                 NULL, "spoke1", NULL, "{\"clusterClaims\":[]}"),
                     0);
    world_wait(&f.w, 60000);
    assert_true(is_built_anew(&f, NULL));
    tear_down(&f);
}

/* ---- preflight ----------------------------------------------------------------------------------
 */

static void write_driver(struct fixture *f)
{
    SW_AUTO_CHARS *daemon_set = sw_printf(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: driver\n  annotations:\n"
        "    " SRO "state: driver-container\n"
        "spec:\n  selector: {matchLabels: {app: driver}}\n  template:\n"
        "    metadata: {labels: {app: driver}}\n    spec:\n      containers:\n"
        "      - name: driver\n        image: %s/team/driver:{{ .Values.kernelFullVersion }}\n",
        f->host);
    write_file(f, "templates/1000-driver.yaml", daemon_set);
}

static void put_driver(struct fixture *f, const char *tag, const char *kernel)
{
    SW_AUTO_CHARS *layers = sw_printf("[{\"etc/driver-toolkit-release.json\":\"{\\\"KERNEL_VERSION"
                                      "\\\":\\\"%s\\\"}\"},{\"lib/x\":\"y\"}]",
                                      kernel);
    free(put_image_text(&f->r, "team/driver", tag, layers));
}

static struct json_object *verdict(struct fixture *f)
{
    struct json_object *pv = world_get(&f->w, "sro.openshift.io/v1beta1", "PreflightValidation",
                                       NULL, "next");
    return sw_json_find_by(sw_json_find(pv, "status", "srStatuses", NULL), "name", "driver");
}

static bool has_verdict(struct fixture *f, void *arg)
{
    const char *const *want = arg;
    struct json_object *v = verdict(f);
    return sw_streq(sw_json_str(v, "", "verificationStatus", NULL), want[0]) &&
           strstr(sw_json_str(v, "", "statusReason", NULL), want[1]);
}

static void must_say(struct fixture *f, const char *status, const char *reason)
{
    const char *want[] = { status, reason };
    if (!until(f, has_verdict, want))
        fail_msg("expected %s, %s: %s", status, reason, json_object_to_json_string(verdict(f)));
}

static void preflight_tells_each_verdict(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f);
    world_apply(&f.w, &(struct sw_resource_opts){ .recipe = f.dir });
    world_start(&f.w);
    world_wait(&f.w, 3000);
    SW_AUTO_CHARS *pv = sw_printf("{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":"
                                  "\"PreflightValidation\",\"metadata\":{\"name\":\"next\"},"
                                  "\"spec\":{\"updateImage\":\"%s/release:new\"}}",
                                  f.host);
    assert_int_equal(world_create(&f.w, pv), 0);
    must_say(&f, "Error", "the release image cannot be read");
    put_release(&f, "new", "4.10.20", KERNEL);
    must_say(&f, "False", "is not accessible");
    put_driver(&f, KERNEL, "4.18.0-1.el8.x86_64");
    must_say(&f, "False", "is for kernel 4.18.0-1.el8.x86_64, not for " KERNEL);
    free(put_image_text(&f.r, "team/driver", KERNEL, "[{\"a\":\"b\"}]"));
    must_say(&f, "False", "does not say for which kernel it is");
    put_driver(&f, KERNEL, KERNEL);
    must_say(&f, "True", "verified");
    tear_down(&f);
}

/* Which image it is says the cluster. */
static void preflight_looks_the_cluster_up_as_a_walk_does(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    SW_AUTO_CHARS *driver = sw_printf(
        "{{- $choice := lookup \"v1\" \"ConfigMap\" \"default\" \"driver\" }}\n"
        "{{- if not $choice }}{{ fail \"no driver is chosen\" }}{{ end }}\n"
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: driver\n  annotations:\n"
        "    " SRO "state: driver-container\n"
        "spec:\n  selector: {matchLabels: {app: driver}}\n  template:\n"
        "    metadata: {labels: {app: driver}}\n    spec:\n      containers:\n"
        "      - name: driver\n        image: %s/team/driver:{{ $choice.data.tag }}\n",
        f.host);
    write_file(&f, "templates/1000-driver.yaml", driver);
    put_release(&f, "new", "4.10.20", KERNEL);
    put_driver(&f, "chosen", KERNEL);
    world_apply(&f.w, &(struct sw_resource_opts){ .recipe = f.dir });
    world_start(&f.w);
    world_wait(&f.w, 3000);
    SW_AUTO_CHARS *pv = sw_printf("{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":"
                                  "\"PreflightValidation\",\"metadata\":{\"name\":\"next\"},"
                                  "\"spec\":{\"updateImage\":\"%s/release:new\"}}",
                                  f.host);
    assert_int_equal(world_create(&f.w, pv), 0);
    must_say(&f, "Error", "no driver is chosen");
    assert_int_equal(world_create(&f.w,
                                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                  "{\"name\":\"driver\",\"namespace\":\"default\"},"
                                  "\"data\":{\"tag\":\"chosen\"}}"),
                     0);
    must_say(&f, "True", "verified");
    tear_down(&f);
}

static void preflight_asks_for_the_architecture_of_the_nodes(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f);
    world_apply(&f.w, &(struct sw_resource_opts){ .recipe = f.dir });
    static const char *const nodes[] = { "master-0", "worker-0", "gpu-0", "gpu-1", "gpu-2" };
    for (size_t i = 0; i < SW_COUNT(nodes); i++)
        assert_int_equal(world_patch(&f.w, "v1", "Node", NULL, nodes[i], "status",
                                     "{\"status\":{\"nodeInfo\":{\"architecture\":\"arm64\"}}}"),
                         0);
    put_release(&f, "new", "4.10.20", KERNEL);
    SW_AUTO_CHARS *amd = put_image_text(&f.r, "team/driver", NULL, "[{\"a\":\"b\"}]");
    SW_AUTO_CHARS *arm = put_image_text(&f.r, "team/driver", NULL,
                                        "[{\"etc/driver-toolkit-release.json\":"
                                        "\"{\\\"KERNEL_VERSION\\\":\\\"" KERNEL "\\\"}\"}]");
    free(put_index(&f.r, "team/driver", KERNEL, OCI_INDEX,
                   (const char *[]){ "linux/amd64", amd, "linux/arm64", arm, NULL }));
    world_start(&f.w);
    world_wait(&f.w, 3000);
    SW_AUTO_CHARS *pv = sw_printf("{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":"
                                  "\"PreflightValidation\",\"metadata\":{\"name\":\"next\"},"
                                  "\"spec\":{\"updateImage\":\"%s/release:new\"}}",
                                  f.host);
    assert_int_equal(world_create(&f.w, pv), 0);
    must_say(&f, "True", "verified");
    tear_down(&f);
}

static void refuse_verdicts(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                            struct world *w SW_UNUSED)
{
    if (sw_streq(req->resource, "preflightvalidations") && sw_streq(req->verb, "patch"))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 422 };
}

static void count_refused(enum sw_log_level level SW_UNUSED, const char *line, size_t len_bytes,
                          void *arg)
{
    unsigned *n = arg;
    *n += memmem(line, len_bytes, "preflight status not written", 28) != NULL;
}

static void verdicts_that_cannot_be_written_are_told_once(void **state)
{
    (void)state;
    struct fixture f;
    unsigned n = 0;
    start(&f);
    f.w.on_request = refuse_verdicts;
    write_driver(&f);
    world_apply(&f.w, &(struct sw_resource_opts){ .recipe = f.dir });
    sw_log_set_level(SW_LOG_WARN);
    sw_log_set_sink(count_refused, &n);
    world_start(&f.w);
    SW_AUTO_CHARS *pv = sw_printf("{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":"
                                  "\"PreflightValidation\",\"metadata\":{\"name\":\"next\"},"
                                  "\"spec\":{\"updateImage\":\"%s/release:new\"}}",
                                  f.host);
    assert_int_equal(world_create(&f.w, pv), 0);
    world_wait(&f.w, 10 * 60000); /* it is tried each minute */
    sw_log_set_sink(NULL, NULL);
    sw_log_set_level(SW_LOG_ERROR);
    assert_int_equal(n, 1);
    f.w.on_request = NULL;
    must_say(&f, "Error", "the release image cannot be read");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_made_a_module_leaves_alone),
        cmocka_unit_test(a_module_is_applied_for_the_version_that_it_watches),
        cmocka_unit_test(a_module_does_nothing_but_as_its_account),
        cmocka_unit_test(the_namespace_of_a_module_is_made),
        cmocka_unit_test(another_value_at_the_path_is_another_version),
        cmocka_unit_test(a_module_whose_release_cannot_be_found_says_so_and_goes_on_trying),
        cmocka_unit_test(an_object_that_the_selector_leaves_out_gives_no_version),
        cmocka_unit_test(the_module_of_sros_examples_walks_unchanged),
        cmocka_unit_test(modules_that_sro_left_are_taken_over_as_they_are),
        cmocka_unit_test(modules_that_are_killed_on_the_way_are_taken_over_the_same),
        cmocka_unit_test(what_the_recipe_dropped_goes_and_what_sro_left_of_old_versions_stays),
        cmocka_unit_test(preflight_tells_each_verdict),
        cmocka_unit_test(preflight_looks_the_cluster_up_as_a_walk_does),
        cmocka_unit_test(preflight_asks_for_the_architecture_of_the_nodes),
        cmocka_unit_test(verdicts_that_cannot_be_written_are_told_once),
    };
    return cmocka_run_group_tests_name("run_module", tests, NULL, NULL);
}
