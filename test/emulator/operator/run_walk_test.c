/* Whole walks: recipe, controller and cluster in one process, on a clock that jumps. */
#include "operator/engine/nodes/grace_period.h"
#include "operator/facts/facts.h"
#include "run_world.h"
#include "sample.h"

#include "chart/recipe/package/config_map.h"
#include "operator/registries/registries.h"

#include <unistd.h>

#define KMOD "charts/example/simple-kmod"
#define MIG "recipes/nvidia-mig"
#define LABEL(resource, state) "specialresource.openshift.io/state-" resource "-" state

/* How many nodes carry the label with the value Ready. */
static size_t labelled(struct world *w, const char *label)
{
    struct json_object *nodes = world_get(w, "v1", "Node", NULL, NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        n += sw_streq(sw_obj_label(sw_json_at(nodes, i), label), "Ready");
    return n;
}

static const char *condition(struct world *w, const char *type, const char *field)
{
    struct json_object *sr = world_get(w, "sro.openshift.io/v1beta1", "SpecialResource", NULL,
                                       w->name);
    return sw_json_str(sw_obj_condition(sr, type), "", field, NULL);
}

static void simple_kmod_gets_a_driver_for_each_kernel(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    struct json_object *sets = world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL);
    assert_int_equal(sw_json_len(sets), 2);
    for (size_t i = 0; i < 2; i++) {
        struct json_object *ds = sw_json_at(sets, i);
        struct json_object *spec = sw_json_find(ds, "spec", "template", "spec", NULL);
        struct json_object *terms = sw_json_find(spec, SW_REQUIRED_AFFINITY, "nodeSelectorTerms",
                                                 NULL);
        struct json_object *asks = sw_json_find_by(
            sw_json_get(sw_json_at(terms, 0), "matchExpressions"), "key", SW_KERNEL_LABEL);
        const char *kernel = json_object_get_string(sw_json_at(sw_json_get(asks, "values"), 0));
        const char *image = sw_json_str(sw_json_at(sw_json_get(spec, "containers"), 0), "", "image",
                                        NULL);
        assert_non_null(kernel);
        assert_non_null(strstr(image, kernel));
        assert_int_equal(strlen(sw_obj_name(ds)), strlen("simple-kmod-driver-container-") + 16);
        assert_string_equal(sw_obj_label(ds, "specialresource.openshift.io/owned"), "true");
    }
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "0000")), 4);
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "1000")), 4);
    assert_string_equal(condition(&w, "Ready", "status"), "True");
    world_close(&w);
}

static int n_validations;

static void count_validations(const struct sw_emu_request *req,
                              struct sw_emu_fault *fault SW_UNUSED, struct world *w SW_UNUSED)
{
    n_validations += sw_streq(req->verb, "patch") && sw_streq(req->resource, "pods") &&
                     sw_streq(req->name, "nvidia-mig-validation");
}

static void nvidia_mig_walks_all_seven_states(void **state)
{
    (void)state;
    struct world w = { .on_request = count_validations };
    world_open(&w);
    world_run(&w, MIG);
    world_must_be_ready(&w);
    /* applied again, a pod that admission has changed is refused, and would be made anew */
    assert_int_equal(n_validations, 1);
    static const char *const states[] = { "cert-manager", "nfd",        "gpu-operator", "webhook",
                                          "scheduler",    "dra-driver", "validation" };
    for (size_t i = 0; i < SW_COUNT(states); i++) {
        SW_AUTO_CHARS *label = sw_printf(LABEL("nvidia-mig", "%s"), states[i]);
        assert_true(labelled(&w, label) >= 3);
    }
    struct json_object *pod = world_get(&w, "v1", "Pod", "nvidia-mig-validation",
                                        "nvidia-mig-validation");
    assert_string_equal(sw_json_str(pod, "", "status", "phase", NULL), "Succeeded");
    world_close(&w);
}

/* Pods that name a RuntimeClass need one; whose it is stays as it is. */
static void runtime_class_is_made_where_it_is_missing(void **state)
{
    (void)state;
    for (int theirs = 0; theirs < 2; theirs++) {
        struct world w = { 0 };
        world_open(&w);
        if (theirs)
            assert_int_equal(world_create(&w, "{\"apiVersion\":\"node.k8s.io/v1\",\"kind\":"
                                              "\"RuntimeClass\",\"metadata\":{\"name\":"
                                              "\"nvidia-legacy\"},\"handler\":\"theirs\"}"),
                             0);
        world_run(&w, MIG);
        world_must_be_ready(&w);
        struct json_object *c = world_get(&w, "node.k8s.io/v1", "RuntimeClass", NULL,
                                          "nvidia-legacy");
        assert_string_equal(sw_json_str(c, "", "handler", NULL), theirs ? "theirs" : "nvidia");
        assert_int_equal(sw_obj_label(c, "specialresource.openshift.io/owned") != NULL, !theirs);
        world_close(&w);
    }
}

static void ready_cluster_costs_no_request(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    world_wait(&w, 60000);
    world_count(&w);
    world_wait(&w, 3 * 60000);
    assert_int_equal(w.n_requests, 0);
    world_wait(&w, 30 * 60000); /* watches may begin anew; nothing is written */
    assert_int_equal(w.n_writes, 0);
    world_close(&w);
}

/* A controller that runs already has read kinds and nodes: what counts is what a resource costs. */
static void count_from_the_resource(const struct sw_emu_request *req,
                                    struct sw_emu_fault *fault SW_UNUSED, struct world *w)
{
    if (sw_streq(req->resource, "specialresources") && sw_streq(req->verb, "list"))
        world_count(w);
}

static void quick_walk_costs_few_requests(void **state)
{
    (void)state;
    struct world w = { .on_request = count_from_the_resource };
    world_open_with(&w, &(struct sw_emulator_opts){ .n_nodes = 3 });
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    print_message("# simple-kmod: %d requests, %d writes\n", (int)w.n_requests, (int)w.n_writes);
    assert_true(w.n_requests <= 40);
    world_close(&w);
}

/* ---- the first walk in an operator's life ------------------------------------------------------
 */

#define FROM_MAP                                                                                   \
    "{\"apiVersion\":\"sro.openshift.io/v1beta1\",\"kind\":\"SpecialResource\",\"metadata\":{"     \
    "\"name\":\"simple-kmod\"},\"spec\":{\"namespace\":\"simple-kmod\",\"chart\":{\"name\":"       \
    "\"simple-kmod\",\"version\":\"0.0.1\",\"repository\":{\"name\":\"here\",\"url\":"             \
    "\"cm://default/simple-kmod\"}}}}"

static void create_map(struct world *w)
{
    SW_ERR(err);
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *map = NULL;
    if (sw_recipe_open(SW_SOURCE_DIR "/" KMOD, NULL, &recipe, &err) < 0 ||
        sw_recipe_to_config_map(recipe, NULL, "default", false, &map, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_int_equal(world_create(w, json_object_to_json_string(map)), 0);
}

/* The cluster's own registry, where nobody is. */
#define CONF                                                                                       \
    "[[registry]]\nprefix = \"image-registry.openshift-image-registry.svc:5000\"\n"                \
    "location = \"127.0.0.1:1\"\ninsecure = true\n"

static size_t n_settings;

static void count_settings(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                           struct world *w SW_UNUSED)
{
    n_settings += strstr(req->path, "openshift-config") ||
                  strstr(req->path, "config.openshift.io") ||
                  strstr(req->path, "operator.openshift.io");
}

/* A resource comes to an operator that runs already, and that never had one: all that it asks until
 * the resource is ready, on a cluster where three nodes take part. */
static void first_walk_costs_few_requests(void **state)
{
    (void)state;
    SW_AUTO_CHARS *conf = sw_strdup("/tmp/run_walk_test.XXXXXX");
    int fd = mkstemp(conf);
    assert_int_equal(write(fd, CONF, strlen(CONF)), strlen(CONF));
    close(fd);
    const struct sw_registries_opts registries = { .conf = conf, .retry_ms = 1 };
    struct world w = { .on_request = count_settings, .registries = &registries };
    SW_AUTO_CHARS *path = sw_printf("%s/%s", SW_SOURCE_DIR, KMOD);
    world_open_with(&w, &(struct sw_emulator_opts){ .n_nodes = 4 });
    world_apply(&w, &(struct sw_resource_opts){ .recipe = path }); /* for the definitions */
    assert_int_equal(
        world_delete(&w, "sro.openshift.io/v1beta1", "SpecialResource", NULL, "simple-kmod"), 0);
    create_map(&w);
    world_start(&w);
    world_wait(&w, 60000);
    n_settings = 0;
    world_count(&w);
    assert_int_equal(world_create(&w, FROM_MAP), 0);
    w.n_requests--;
    world_must_be_ready(&w);
    print_message("# first simple-kmod: %d requests, %d writes\n", (int)w.n_requests,
                  (int)w.n_writes);
    assert_true(w.n_requests <= 40);
    assert_int_equal(n_settings, 0);
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "1000")), 3);
    world_close(&w);
    (void)unlink(conf);
}

/* ---- what goes with something else -------------------------------------------------------------
 */

#define KERNEL_LABEL "feature.node.kubernetes.io/kernel-version.full"

static size_t n_both, n_kernel_only;

static bool body_has(const struct sw_emu_request *req, const char *text)
{
    return memmem(req->body, req->body_len, text, strlen(text)) != NULL;
}

/* Refused for good, once for each node. */
static void refuse_both(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                        struct world *w SW_UNUSED)
{
    if (!sw_streq(req->verb, "patch") || !sw_streq(req->resource, "nodes") ||
        !body_has(req, KERNEL_LABEL))
        return;
    bool both = body_has(req, "state-simple-kmod-0000");
    n_both += both;
    n_kernel_only += !both;
    if (both)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static void kernel_label_is_written_though_what_it_went_with_was_refused(void **state)
{
    (void)state;
    struct world w = { .on_request = refuse_both };
    n_both = n_kernel_only = 0;
    world_open_with(&w, &(struct sw_emulator_opts){ .n_nodes = 3 });
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    assert_true(n_both > 0);
    assert_true(n_kernel_only >= n_both);
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "0000")), 2);
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "1000")), 2);
    world_close(&w);
}

static size_t count_events(struct world *w, const char *reason)
{
    struct json_object *events = world_get(w, "v1", "Event", "default", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(events); i++)
        n += sw_streq(sw_json_str(sw_json_at(events, i), "", "reason", NULL), reason);
    return n;
}

static void state_that_is_soon_ready_has_one_event(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open_with(&w, &(struct sw_emulator_opts){ .n_nodes = 3 });
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    world_wait(&w, 60000);
    assert_int_equal(count_events(&w, "StateReady"), 2);
    assert_int_equal(count_events(&w, "StateStarted"), 0);
    world_close(&w);
}

static void take_long(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                      struct world *w SW_UNUSED)
{
    if (sw_streq(req->verb, "patch") && sw_streq(req->resource, "daemonsets"))
        fault->delay_ms = 8000;
}

static void state_that_takes_longer_says_that_it_began(void **state)
{
    (void)state;
    struct world w = { .on_request = take_long };
    world_open_with(&w, &(struct sw_emulator_opts){ .n_nodes = 3 });
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    world_wait(&w, 60000);
    assert_int_equal(count_events(&w, "StateReady"), 2);
    assert_int_equal(count_events(&w, "StateStarted"), 1); /* the one with the DaemonSet */
    world_close(&w);
}

#define NEW_NODE                                                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"late\",\"labels\":{"        \
    "\"node-role.kubernetes.io/worker\":\"\",\"kubernetes.io/arch\":\"amd64\","                    \
    "\"feature.node.kubernetes.io/kernel-version.full\":\"5.14.0-999.el9.x86_64\"}},\"status\":{"  \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"nodeInfo\":{\"kernelVersion\":"   \
    "\"5.14.0-999.el9.x86_64\",\"osImage\":\"Red Hat Enterprise Linux CoreOS 9.2\","               \
    "\"architecture\":\"amd64\"},\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\","              \
    "\"pods\":\"250\"}}}"

static bool node_is_done(struct world *w, void *arg)
{
    struct json_object *node = world_get(w, "v1", "Node", NULL, arg);
    return node && sw_obj_label(node, LABEL("simple-kmod", "1000"));
}

static void new_kernel_is_served_when_its_node_comes(void **state)
{
    (void)state;
    struct world w = { 0 };
    char late[] = "late";
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    assert_int_equal(world_create(&w, NEW_NODE), 0);
    assert_true(world_until(&w, node_is_done, late, 10 * 60000));
    assert_int_equal(sw_json_len(world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL)), 3);
    world_must_be_ready(&w);
    assert_int_equal(world_delete(&w, "v1", "Node", NULL, late), 0);
    world_wait(&w, 20 * 60000);
    assert_int_equal(sw_json_len(world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL)), 2);
    world_close(&w);
}

static bool is_gone(struct world *w, void *arg SW_UNUSED)
{
    return !world_get(w, "sro.openshift.io/v1beta1", "SpecialResource", NULL, "simple-kmod");
}

static void deleted_resource_takes_all_of_its_own_along(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    assert_int_equal(
        world_delete(&w, "sro.openshift.io/v1beta1", "SpecialResource", NULL, "simple-kmod"), 0);
    assert_true(world_until(&w, is_gone, NULL, 10 * 60000));
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "0000")), 0);
    assert_int_equal(labelled(&w, LABEL("simple-kmod", "1000")), 0);
    assert_int_equal(sw_json_len(world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL)), 0);
    assert_null(world_get(&w, "v1", "Namespace", NULL, "simple-kmod"));
    world_close(&w);
}

static bool account_is_back(struct world *w, void *arg)
{
    const char *before = arg;
    struct json_object *sa = world_get(w, "v1", "ServiceAccount", "simple-kmod",
                                       "simple-kmod-driver-container");
    return sa && !sw_streq(sw_obj_uid(sa), before);
}

static void what_is_deleted_or_changed_by_others_is_repaired(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    struct json_object *sa = world_get(&w, "v1", "ServiceAccount", "simple-kmod",
                                       "simple-kmod-driver-container");
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(sa));
    assert_int_equal(
        world_delete(&w, "v1", "ServiceAccount", "simple-kmod", "simple-kmod-driver-container"), 0);
    assert_true(world_until(&w, account_is_back, uid, 60000));
    world_must_be_ready(&w);
    world_close(&w);
}

#define FOREIGN_ACCOUNT                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":"                   \
    "\"simple-kmod-driver-container\",\"namespace\":\"simple-kmod\",\"labels\":{\"of\":"           \
    "\"somebody\"}}}"

static bool says_foreign(struct world *w, void *arg SW_UNUSED)
{
    SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
    const char *text = status ? json_object_to_json_string(status) : "";
    return strstr(text, "simple-kmod-driver-container") && strstr(text, "not slipway's");
}

static void foreign_object_is_not_taken_over(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                      "\"name\":\"simple-kmod\"}}"),
                     0);
    assert_int_equal(world_create(&w, FOREIGN_ACCOUNT), 0);
    world_run(&w, KMOD);
    assert_true(world_until(&w, says_foreign, NULL, 10 * 60000));
    struct json_object *sa = world_get(&w, "v1", "ServiceAccount", "simple-kmod",
                                       "simple-kmod-driver-container");
    assert_null(sw_obj_label(sa, "specialresource.openshift.io/owned"));
    assert_int_equal(
        world_delete(&w, "v1", "ServiceAccount", "simple-kmod", "simple-kmod-driver-container"), 0);
    world_must_be_ready(&w);
    world_close(&w);
}

/* ---- killed ------------------------------------------------------------------------------------
 */

static void kill_when_due(const struct sw_emu_request *req SW_UNUSED,
                          struct sw_emu_fault *fault SW_UNUSED, struct world *w)
{
    if (w->kill_at && w->n_requests == w->kill_at)
        w->killed = true;
}

static bool was_killed_or_ready(struct world *w, void *arg)
{
    return w->killed || world_is_ready(w, arg);
}

/* What a walk leaves behind, without what is different each time. */
static char *picture(struct world *w)
{
    static const char *const kinds[][2] = { { "apps/v1", "DaemonSet" },
                                            { "v1", "ServiceAccount" },
                                            { "rbac.authorization.k8s.io/v1", "Role" },
                                            { "image.openshift.io/v1", "ImageStream" },
                                            { "build.openshift.io/v1", "BuildConfig" },
                                            { "v1", "Node" } };
    char *text = sw_strdup("");
    for (size_t k = 0; k < SW_COUNT(kinds); k++) {
        struct json_object *list = world_get(w, kinds[k][0], kinds[k][1], NULL, NULL);
        for (size_t i = 0; i < sw_json_len(list); i++) {
            struct json_object *o = sw_json_at(list, i);
            SW_AUTO_CHARS *labels = sw_json_text(sw_json_find(o, "metadata", "labels", NULL),
                                                 SW_JSON_SORTED, NULL);
            char *more = sw_printf("%s%s %s %s %s\n", text, kinds[k][1], sw_obj_namespace(o),
                                   sw_obj_name(o), labels);
            free(text);
            text = more;
        }
    }
    return text;
}

static void killed_controller_comes_to_the_same_end(void **state)
{
    (void)state;
    struct world calm = { 0 };
    world_open_with(&calm, &(struct sw_emulator_opts){ 0 });
    world_run(&calm, KMOD);
    world_must_be_ready(&calm);
    uint64_t n = calm.n_requests;
    SW_AUTO_CHARS *want = picture(&calm);
    world_close(&calm);
    struct sample sample = sample_of(15);
    for (uint64_t at = 1; at < n; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { .on_request = kill_when_due, .kill_at = at };
        world_open_with(&w, &(struct sw_emulator_opts){ 0 });
        world_run(&w, KMOD);
        (void)world_until(&w, was_killed_or_ready, NULL, 10 * 60000);
        world_kill(&w);
        w.kill_at = 0;
        world_start(&w);
        world_must_be_ready(&w);
        SW_AUTO_CHARS *got = picture(&w);
        if (!sw_streq(got, want))
            print_error("killed at request %d\n", (int)at);
        assert_string_equal(got, want);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_kmod_gets_a_driver_for_each_kernel),
        cmocka_unit_test(nvidia_mig_walks_all_seven_states),
        cmocka_unit_test(runtime_class_is_made_where_it_is_missing),
        cmocka_unit_test(ready_cluster_costs_no_request),
        cmocka_unit_test(first_walk_costs_few_requests),
        cmocka_unit_test(quick_walk_costs_few_requests),
        cmocka_unit_test(kernel_label_is_written_though_what_it_went_with_was_refused),
        cmocka_unit_test(state_that_is_soon_ready_has_one_event),
        cmocka_unit_test(state_that_takes_longer_says_that_it_began),
        cmocka_unit_test(new_kernel_is_served_when_its_node_comes),
        cmocka_unit_test(deleted_resource_takes_all_of_its_own_along),
        cmocka_unit_test(what_is_deleted_or_changed_by_others_is_repaired),
        cmocka_unit_test(foreign_object_is_not_taken_over),
        cmocka_unit_test(killed_controller_comes_to_the_same_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
