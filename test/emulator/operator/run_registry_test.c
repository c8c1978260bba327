/* What a walk asks of registries: driver containers' images before they are used, and driver
 * toolkits' kernels. The registry is another server on the world's loop. */
#include "run_world.h"

#include "operator/registries/registries.h"
#include "unit/chart/registry_server.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_LABEL "feature.node.kubernetes.io/kernel-version.full"
#define SRO "specialresource.openshift.io/"
#define NEW_KERNEL "5.14.0-999.el9.x86_64"

struct fixture {
    struct world w;
    struct registry r;
    char *host, *dir;
};

static const struct sw_registries_opts asked = { .conf = "/dev/null", .retry_ms = 1 };

static void write_file(const struct fixture *f, const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", f->dir, name);
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
}

static void start_on(struct fixture *f, const struct world *w)
{
    *f = (struct fixture){ .w = *w, .dir = sw_strdup("/tmp/run_reg_XXXXXX") };
    assert_non_null(mkdtemp(f->dir));
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", f->dir);
    assert_int_equal(mkdir(templates, 0700), 0);
    write_file(f, "Chart.yaml", "apiVersion: v2\nname: driver\nversion: 0.1.0\n");
    world_open(&f->w);
    if (getenv("LOG"))
        sw_log_set_level(SW_LOG_INFO);
    registry_start(&f->r, f->w.conn.loop);
    f->host = registry_host(&f->r);
}

static void start(struct fixture *f)
{
    start_on(f, &(struct world){ .registries = &asked });
}

static void tear_down(struct fixture *f)
{
    world_close(&f->w);
    SW_AUTO_CHARS *command = sw_printf("rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f->dir);
    free(f->host);
}

static void run_recipe(struct fixture *f)
{
    world_apply(&f->w, &(struct sw_resource_opts){ .recipe = f->dir });
    world_start(&f->w);
}

static struct json_object *first_kernel(struct fixture *f, char **kernel)
{
    struct json_object *nodes = world_get(&f->w, "v1", "Node", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(nodes) && !*kernel; i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (!sw_json_len(sw_json_find(node, "spec", "taints", NULL)))
            *kernel = sw_strdup(sw_json_str(node, "", "status", "nodeInfo", "kernelVersion", NULL));
    }
    return nodes;
}

static void add_node(struct fixture *f, const char *kernel)
{
    SW_AUTO_CHARS *node = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"late\",\"labels\":{"
        "\"kubernetes.io/arch\":\"amd64\",\"" KERNEL_LABEL "\":\"%s\"}},\"status\":{"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"nodeInfo\":{"
        "\"kernelVersion\":\"%s\",\"architecture\":\"amd64\",\"osImage\":\"Red Hat Enterprise "
        "Linux 9.0\"},\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"}}}",
        kernel, kernel);
    assert_int_equal(world_create(&f->w, node), 0);
}

/* ---- images of driver containers ----------------------------------------------------------------
 */

static void write_driver(struct fixture *f, bool with_build)
{
    SW_AUTO_CHARS *daemon_set = sw_printf(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: driver\n  annotations:\n"
        "    " SRO "kernel-affine: \"true\"\n    " SRO "wait: \"true\"\n"
        "    " SRO "state: driver-container\n    " SRO "driver-container-vendor: us\n"
        "spec:\n  selector: {matchLabels: {app: driver}}\n  template:\n"
        "    metadata: {labels: {app: driver}}\n    spec:\n      containers:\n"
        "      - name: driver\n        image: %s/team/driver:{{ .Values.kernelFullVersion }}\n",
        f->host);
    write_file(f, "templates/1000-driver.yaml", daemon_set);
    if (with_build)
        write_file(
            f, "templates/0000-build.yaml",
            "apiVersion: build.openshift.io/v1\nkind: BuildConfig\nmetadata:\n  name: build\n"
            "  annotations:\n    " SRO "kernel-affine: \"true\"\n    " SRO "wait: \"true\"\n"
            "    " SRO "driver-container-vendor: us\nspec:\n"
            "  source: {type: Dockerfile, dockerfile: FROM x}\n"
            "  strategy: {type: Docker}\n  triggers: [{type: ConfigChange}]\n"
            "  output: {to: {kind: DockerImage, name: x}}\n");
}

static void push(struct fixture *f, const char *kernel)
{
    free(put_image_text(&f->r, "team/driver", kernel, "[{\"a\":\"b\"}]"));
}

static size_t count(struct fixture *f, const char *api_version, const char *kind)
{
    size_t n = 0;
    struct json_object *all = world_get(&f->w, api_version, kind, NULL, NULL);
    for (size_t i = 0; i < sw_json_len(all); i++)
        n += sw_streq(sw_obj_namespace(sw_json_at(all, i)), "driver");
    return n;
}

/* The state's message, from the status. */
static char *message_of(struct fixture *f)
{
    SW_AUTO_JSON *status = sw_controller_status(f->w.controller, f->w.name);
    return sw_json_text(status, SW_JSON_PLAIN, NULL);
}

static void push_all(struct fixture *f)
{
    SW_AUTO_JSON *seen = json_object_new_object();
    struct json_object *nodes = world_get(&f->w, "v1", "Node", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        sw_json_set_str(
            seen, "",
            sw_json_str(sw_json_at(nodes, i), "", "status", "nodeInfo", "kernelVersion", NULL),
            NULL);
    json_object_object_foreach(seen, kernel, unused)
    {
        (void)unused;
        push(f, kernel);
    }
}

static void images_that_are_there_are_not_built(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f, true);
    push_all(&f);
    run_recipe(&f);
    world_must_be_ready(&f.w);
    assert_int_equal(count(&f, "build.openshift.io/v1", "BuildConfig"), 0);
    assert_true(count(&f, "apps/v1", "DaemonSet") > 0);
    registry_stop(&f.r);
    tear_down(&f);
}

static bool is_missing(struct world *w, void *arg SW_UNUSED)
{
    SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
    SW_AUTO_CHARS *text = sw_json_text(status, SW_JSON_PLAIN, NULL);
    return text && strstr(text, "ImageMissing") && sw_controller_is_idle(w->controller, w->name);
}

static void must_be_missing(struct fixture *f)
{
    if (world_until(&f->w, is_missing, NULL, 120000))
        return;
    SW_AUTO_CHARS *message = message_of(f);
    fail_msg("nothing is missing: %s\n%s", message, f->r.srv.log);
}

static void an_image_for_a_new_kernel_that_is_not_there_is_named_and_waited_for(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f, false);
    push_all(&f);
    run_recipe(&f);
    world_must_be_ready(&f.w);
    size_t n = count(&f, "apps/v1", "DaemonSet");
    add_node(&f, NEW_KERNEL);
    must_be_missing(&f);
    SW_AUTO_CHARS *message = message_of(&f);
    assert_non_null(strstr(message, "team/driver:" NEW_KERNEL ": there is no such image"));
    assert_int_equal(count(&f, "apps/v1", "DaemonSet"), n); /* nothing for it, the old ones stay */
    push(&f, NEW_KERNEL);
    world_must_be_ready(&f.w);
    assert_int_equal(count(&f, "apps/v1", "DaemonSet"), n + 1);
    registry_stop(&f.r);
    tear_down(&f);
}

static void an_image_that_is_not_there_is_built_first(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f, true);
    run_recipe(&f);
    world_must_be_ready(&f.w);
    assert_int_equal(count(&f, "build.openshift.io/v1", "BuildConfig"),
                     count(&f, "apps/v1", "DaemonSet"));
    registry_stop(&f.r);
    tear_down(&f);
}

static void a_registry_that_cannot_tell_holds_nothing_up(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f, false);
    f.r.user = "nobody knows";
    run_recipe(&f);
    world_must_be_ready(&f.w);
    registry_stop(&f.r);
    tear_down(&f);
}

static void pull_secrets_of_the_cluster_and_the_namespace_are_used(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_driver(&f, false);
    f.r.user = "jane";
    f.r.password = "pw";
    push_all(&f);
    SW_AUTO_CHARS *config = sw_printf(
        "{\"auths\":{\"%s\":{\"username\":\"jane\",\"password\":\"pw\"}}}", f.host);
    size_t len;
    SW_AUTO_CHARS *coded = sw_base64_encode(config, strlen(config), &len);
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":{\".dockerconfigjson\":\"%s\"}}", coded);
    assert_int_equal(
        world_patch(&f.w, "v1", "Secret", "openshift-config", "pull-secret", NULL, patch), 0);
    run_recipe(&f);
    world_must_be_ready(&f.w);
    assert_non_null(strstr(f.r.srv.log, "HEAD /v2/team/driver/manifests/"));
    add_node(&f, NEW_KERNEL); /* were the login not taken, nobody could tell that it is missing */
    must_be_missing(&f);
    registry_stop(&f.r);
    tear_down(&f);
}

#define INTERNAL "image-registry.openshift-image-registry.svc:5000"

static size_t n_settings;

static void count_settings(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                           struct world *w SW_UNUSED)
{
    n_settings += strstr(req->path, "openshift-config/") ||
                  strstr(req->path, "config.openshift.io") ||
                  strstr(req->path, "operator.openshift.io");
}

/* The driver's image is in the cluster's own registry, which is the test's. */
static void run_internal(struct fixture *f, struct sw_registries_opts *opts, const char *conf)
{
    SW_AUTO_CHARS *text = sw_printf("[[registry]]\nprefix = \"" INTERNAL "\"\nlocation = \"%s\"\n",
                                    f->host);
    write_file(f, "own.conf", text);
    *opts = (struct sw_registries_opts){ .conf = conf, .retry_ms = 1 };
    f->w.registries = opts;
    char *host = f->host;
    f->host = sw_strdup(INTERNAL);
    write_driver(f, false);
    free(f->host);
    f->host = host;
    f->w.on_request = count_settings;
    n_settings = 0;
    run_recipe(f);
    must_be_missing(f); /* were a login not taken, nobody could tell */
}

static void for_the_clusters_own_registry_no_setting_is_read(void **state)
{
    (void)state;
    struct fixture f;
    struct sw_registries_opts opts;
    start(&f);
    SW_AUTO_CHARS *conf = sw_printf("%s/own.conf", f.dir);
    run_internal(&f, &opts, conf);
    assert_int_equal(n_settings, 0);
    registry_stop(&f.r);
    tear_down(&f);
}

static void for_the_clusters_own_registry_the_login_is_read_where_it_wants_one(void **state)
{
    (void)state;
    struct fixture f;
    struct sw_registries_opts opts;
    start(&f);
    f.r.user = "jane";
    f.r.password = "pw";
    SW_AUTO_CHARS *config = sw_printf(
        "{\"auths\":{\"%s\":{\"username\":\"jane\",\"password\":\"pw\"}}}", f.host);
    size_t len;
    SW_AUTO_CHARS *coded = sw_base64_encode(config, strlen(config), &len);
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":{\".dockerconfigjson\":\"%s\"}}", coded);
    assert_int_equal(
        world_patch(&f.w, "v1", "Secret", "openshift-config", "pull-secret", NULL, patch), 0);
    SW_AUTO_CHARS *conf = sw_printf("%s/own.conf", f.dir);
    run_internal(&f, &opts, conf);
    assert_int_equal(n_settings, 1); /* mirrors and CAs have no say in it */
    registry_stop(&f.r);
    tear_down(&f);
}

static void manifests_that_ask_for_it_use_the_clusters_mirrors(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_file(&f, "mirrors.conf",
               "[[registry]]\nprefix = \"quay.invalid/team\"\n"
               "[[registry.mirror]]\nlocation = \"mirror.invalid/copy\"\n");
    write_file(&f, "templates/0000-app.yaml",
               "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n  annotations:\n"
               "    slipway.dev/image-mirror: cluster\n"
               "spec:\n  selector: {matchLabels: {app: app}}\n  template:\n"
               "    metadata: {labels: {app: app}}\n    spec:\n      containers:\n"
               "      - {name: a, image: \"quay.invalid/team/app:1\"}\n"
               "      - {name: b, image: \"quay.invalid/other/app:1\"}\n");
    SW_AUTO_CHARS *conf = sw_printf("%s/mirrors.conf", f.dir);
    struct sw_registries_opts opts = { .conf = conf, .retry_ms = 1 };
    f.w.registries = &opts;
    run_recipe(&f);
    world_must_be_ready(&f.w);
    struct json_object *app = world_get(&f.w, "apps/v1", "Deployment", "driver", "app");
    struct json_object *list = sw_json_find(app, "spec", "template", "spec", "containers", NULL);
    assert_string_equal(sw_json_str(sw_json_at(list, 0), "", "image", NULL),
                        "mirror.invalid/copy/app:1");
    assert_string_equal(sw_json_str(sw_json_at(list, 1), "", "image", NULL),
                        "quay.invalid/other/app:1");
    registry_stop(&f.r);
    tear_down(&f);
}

/* ---- driver toolkits ----------------------------------------------------------------------------
 */

static void write_toolkit_user(struct fixture *f)
{
    write_file(f, "templates/0000-map.yaml",
               "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: toolkit\n  annotations:\n"
               "    " SRO "kernel-affine: \"true\"\ndata:\n"
               "  image: \"{{ .Values.driverToolkitImage }}\"\n"
               "  kernel: \"{{ .Values.kernelFullVersion }}\"\n");
}

/** A toolkit image for @kernel under @tag of the ImageStream that is being made. */
static void add_toolkit(struct fixture *f, struct json_object *tags, const char *tag,
                        const char *kernel)
{
    SW_AUTO_CHARS *layers = sw_printf("[{\"etc/driver-toolkit-release.json\":\"{\\\"KERNEL_VERSION"
                                      "\\\":\\\"%s\\\",\\\"RHEL_VERSION\\\":\\\"9.0\\\"}\"}]",
                                      kernel);
    free(put_image_text(&f->r, "dtk", tag, layers));
    SW_AUTO_CHARS *entry = sw_printf("{\"tag\":\"%s\",\"items\":[{\"dockerImageReference\":"
                                     "\"%s/dtk:%s\"}]}",
                                     tag, f->host, tag);
    (void)json_object_array_add(tags, json_tokener_parse(entry));
}

static void set_toolkits(struct fixture *f, struct json_object *tags)
{
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(patch, json_object_get(tags), "status", "tags", NULL);
    SW_AUTO_CHARS *text = sw_json_text(patch, SW_JSON_PLAIN, NULL);
    assert_int_equal(world_patch(&f->w, "image.openshift.io/v1", "ImageStream", "openshift",
                                 "driver-toolkit", "status", text),
                     0);
}

static bool world_is_walked(struct world *w)
{
    SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
    SW_AUTO_CHARS *text = sw_json_text(status, SW_JSON_PLAIN, NULL);
    return strstr(text, "no driver toolkit is for") &&
           sw_controller_is_idle(w->controller, w->name);
}

static void walk_with_toolkits(struct fixture *f)
{
    write_toolkit_user(f);
    SW_AUTO_CHARS *old = NULL;
    (void)first_kernel(f, &old);
    SW_AUTO_JSON *tags = json_object_new_array();
    add_toolkit(f, tags, "latest", "1.2.3-other.el9.x86_64");
    add_toolkit(f, tags, "mid", NEW_KERNEL);
    add_toolkit(f, tags, "old", old);
    world_wait(&f->w, 2000); /* what the cluster has of its own has been imported */
    set_toolkits(f, tags);
    add_node(f, NEW_KERNEL);
    run_recipe(f);
    /* layers are read by a thread, which the world's clock does not wait for */
    int64_t began_ms = sw_monotonic_ms();
    while (!world_is_walked(&f->w) && sw_monotonic_ms() - began_ms < 20000)
        world_wait(&f->w, 100);
    world_wait(&f->w, 5000);
    struct json_object *maps = world_get(&f->w, "v1", "ConfigMap", "driver", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(maps); i++) {
        struct json_object *map = sw_json_at(maps, i);
        const char *kernel = sw_json_str(map, "", "data", "kernel", NULL);
        const char *image = sw_json_str(map, NULL, "data", "image", NULL);
        if (!image)
            continue;
        n++;
        bool is_new = sw_streq(kernel, NEW_KERNEL);
        assert_true(is_new || sw_streq(kernel, old));
        assert_true(sw_ends_with(image, is_new ? "/dtk:mid" : "/dtk:old"));
    }
    SW_AUTO_CHARS *message = message_of(f);
    if (n < 2)
        fail_msg("%s\n%s", message, f->r.srv.log);
    /* a kernel that no toolkit is for is its group's trouble alone, and explained */
    assert_non_null(strstr(message, "no driver toolkit is for kernel"));
    assert_non_null(strstr(message, "tag latest (kernel 1.2.3-other.el9.x86_64)"));
}

static void toolkits_are_found_by_the_kernel_that_is_in_them(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    walk_with_toolkits(&f);
    registry_stop(&f.r);
    tear_down(&f);
}

/* ---- by a helper -------------------------------------------------------------------------------
 */

static void start_with_helper(struct fixture *f, const char *allowed)
{
    const char *program = getenv("SLIPWAY");
    (void)setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* it may not look at itself */
    start_on(f, &(struct world){ .registries = &asked,
                                 .helper = program ? program : "build/test/slipway",
                                 .allowed_sources = allowed,
                                 .real_clock = true });
}

static void what_is_in_images_is_read_by_a_helper(void **state)
{
    (void)state;
    struct fixture f;
    start_with_helper(&f, "127.0.0.1");
    walk_with_toolkits(&f);
    registry_stop(&f.r);
    tear_down(&f);
}

static void a_helper_asks_no_registry_at_loopback(void **state)
{
    (void)state;
    struct fixture f;
    start_with_helper(&f, "");
    write_driver(&f, true);
    run_recipe(&f);
    world_must_be_ready(&f.w); /* not known to be missing: nothing is built */
    assert_int_equal(count(&f, "build.openshift.io/v1", "BuildConfig"), 0);
    assert_string_equal(f.r.srv.log, "");
    registry_stop(&f.r);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_that_are_there_are_not_built),
        cmocka_unit_test(an_image_that_is_not_there_is_built_first),
        cmocka_unit_test(an_image_for_a_new_kernel_that_is_not_there_is_named_and_waited_for),
        cmocka_unit_test(a_registry_that_cannot_tell_holds_nothing_up),
        cmocka_unit_test(pull_secrets_of_the_cluster_and_the_namespace_are_used),
        cmocka_unit_test(for_the_clusters_own_registry_no_setting_is_read),
        cmocka_unit_test(for_the_clusters_own_registry_the_login_is_read_where_it_wants_one),
        cmocka_unit_test(manifests_that_ask_for_it_use_the_clusters_mirrors),
        cmocka_unit_test(toolkits_are_found_by_the_kernel_that_is_in_them),
        cmocka_unit_test(what_is_in_images_is_read_by_a_helper),
        cmocka_unit_test(a_helper_asks_no_registry_at_loopback),
    };
    return cmocka_run_group_tests_name("run_registry", tests, NULL, NULL);
}
