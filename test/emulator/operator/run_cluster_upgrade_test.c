/* A cluster goes from Kubernetes 1.33 to 1.36 while nvidia-mig is Ready there: slices are given out
 * by Dynamic Resource Allocation from then on, the webhook goes, of the scheduler its eviction is
 * left, pods that run stay. */
#include "run_world.h"
#include "sample.h"

#define MIG "recipes/nvidia-mig"
#define NS "das-operator"

static unsigned n_versions, n_discoveries; /* requests since count() */

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w)
{
    n_versions += sw_streq(req->path, "/version");
    n_discoveries += sw_streq(req->path, "/apis");
    if (w->kill_at && w->n_requests == w->kill_at)
        w->killed = true;
}

static void count(struct world *w)
{
    world_count(w);
    n_versions = n_discoveries = 0;
}

static bool was_killed(struct world *w, void *arg SW_UNUSED)
{
    return w->killed;
}

/* @name wants one slice, as a user writes it. */
static void create_pod(struct world *w, const char *name)
{
    SW_AUTO_CHARS *pod = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"default\"},\"spec\":{\"tolerations\":[{\"operator\":\"Exists\"}],\"containers\":[{"
        "\"name\":\"c\",\"image\":\"registry/c:1\",\"resources\":{\"limits\":{"
        "\"nvidia.com/mig-1g.5gb\":\"1\"}}}]}}",
        name);
    assert_int_equal(world_create(w, pod), 0);
}

/* @arg: the name of a pod in the namespace default */
static bool runs(struct world *w, void *arg)
{
    struct json_object *pod = world_get(w, "v1", "Pod", "default", arg);
    return sw_streq(sw_json_str(pod, "", "status", "phase", NULL), "Running");
}

static const char *face_of(struct world *w)
{
    struct json_object *set = world_get(w, "apps/v1", "DaemonSet", NS, "das-daemonset");
    return !set ? "none"
                : sw_json_str(set, "deviceplugin", "spec", "template", "metadata", "labels",
                              "slipway.dev/api", NULL);
}

/* The phase of the state @name in the status; "": there is no such state. Borrowed until the next
 * call. */
static const char *phase_of(struct world *w, const char *name)
{
    static char phase[32];
    SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
    struct json_object *state = sw_json_find_by(sw_json_get(status, "states"), "name", name);
    (void)snprintf(phase, sizeof phase, "%s", sw_json_str(state, "", "phase", NULL));
    return phase;
}

/* Nodes that have the label of the state @name. */
static size_t n_labelled(struct world *w, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("specialresource.openshift.io/state-nvidia-mig-%s", name);
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        SW_AUTO_CHARS *node = sw_printf("gpu-%d", i);
        struct json_object *doc = world_get(w, "v1", "Node", NULL, node);
        n += sw_json_find(doc, "metadata", "labels", key, NULL) != NULL;
    }
    return n;
}

/* Containers of a pod of das-scheduler: kube-scheduler with its extender, or the evictor alone. */
static size_t n_schedulers(struct world *w)
{
    struct json_object *d = world_get(w, "apps/v1", "Deployment", NS, "das-scheduler");
    return sw_json_len(sw_json_find(d, "spec", "template", "spec", "containers", NULL));
}

static bool is_changed_over(struct world *w, void *arg SW_UNUSED)
{
    static const struct {
        const char *api_version, *kind, *ns, *name;
    } gone[] = {
        { "apps/v1", "Deployment", NS, "das-operator-webhook" },
        { "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", NULL,
          "das-mutating-webhook-configuration" },
        { "v1", "ConfigMap", NS, "das-scheduler-config" },
        { "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", NULL,
          "das-scheduler:kube-scheduler" },
    };
    if (!world_is_ready(w, NULL) || !sw_streq(face_of(w), "dra") || n_schedulers(w) != 1)
        return false;
    for (size_t i = 0; i < SW_COUNT(gone); i++)
        if (world_get(w, gone[i].api_version, gone[i].kind, gone[i].ns, gone[i].name))
            return false;
    return true;
}

/* uids; owned */
struct before {
    char *pod, *daemons; /* of the pod "before", and of the DaemonSet */
};

static void before_done(struct before *before)
{
    free(before->pod);
    free(before->daemons);
}

/* Ready on 1.33, with a pod that has a slice. */
static void begin(struct world *w, struct before *before)
{
    w->on_request = on_request;
    world_open_with(
        w, &(struct sw_emulator_opts){ .delays = sw_emu_delays_human, .kube_version = "1.33" });
    world_run(w, MIG);
    world_must_be_ready(w);
    assert_string_equal(face_of(w), "deviceplugin");
    assert_int_equal(n_schedulers(w), 2);
    create_pod(w, "before");
    if (!world_until(w, runs, "before", 60000))
        fail_msg("%s", json_object_to_json_string(world_get(w, "v1", "Pod", "default", "before")));
    assert_string_equal(phase_of(w, "device-plugin"), "Ready");
    assert_int_equal(n_labelled(w, "device-plugin"), 3);
    before->pod = sw_strdup(sw_obj_uid(world_get(w, "v1", "Pod", "default", "before")));
    before->daemons = sw_strdup(
        sw_obj_uid(world_get(w, "apps/v1", "DaemonSet", NS, "das-daemonset")));
}

static void upgrade(struct world *w, const char *version)
{
    SW_ERR(err);
    count(w);
    assert_int_equal(sw_emulator_upgrade(w->conn.emulator, version, &err), 0);
}

/* The state is called as what it is now, and has taken over the objects of the one before. */
static void must_be_renamed(struct world *w, const struct before *before)
{
    assert_string_equal(phase_of(w, "device-plugin"), "");
    assert_string_equal(phase_of(w, "dra-driver"), "Ready");
    assert_int_equal(n_labelled(w, "device-plugin"), 0);
    assert_int_equal(n_labelled(w, "dra-driver"), 3);
    assert_string_equal(sw_obj_uid(world_get(w, "apps/v1", "DaemonSet", NS, "das-daemonset")),
                        before->daemons);
}

/* It has changed over, the pod of before runs still, and another one gets a slice. */
static void must_have_changed_over(struct world *w, const struct before *before)
{
    if (!world_until(w, is_changed_over, NULL, 10 * 60000)) {
        SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
        fail_msg("%s, %zu containers of das-scheduler: %s", face_of(w), n_schedulers(w),
                 json_object_to_json_string(sw_json_get(status, "states")));
    }
    assert_true(runs(w, "before"));
    assert_string_equal(sw_obj_uid(world_get(w, "v1", "Pod", "default", "before")), before->pod);
    must_be_renamed(w, before);
    assert_non_null(world_get(w, "apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
                              "allocationclaims.inference.redhat.com"));
    create_pod(w, "after");
    assert_true(world_until(w, runs, "after", 60000));
    struct json_object *pod = world_get(w, "v1", "Pod", "default", "after");
    assert_string_not_equal(
        sw_json_str(pod, "", "status", "extendedResourceClaimStatus", "resourceClaimName", NULL),
        "");
}

static void an_upgraded_cluster_changes_over_by_itself(void **state SW_UNUSED)
{
    struct world w = { 0 };
    struct before before = { 0 };
    begin(&w, &before);
    upgrade(&w, "1.36");
    must_have_changed_over(&w, &before);
    world_close(&w);
    before_done(&before);
}

static void an_upgrade_to_what_is_too_old_changes_nothing(void **state SW_UNUSED)
{
    struct world w = { 0 };
    struct before before = { 0 };
    begin(&w, &before);
    upgrade(&w, "1.35");
    world_wait(&w, 30 * 60000);
    world_must_be_ready(&w);
    assert_string_equal(face_of(&w), "deviceplugin");
    assert_int_equal(n_schedulers(&w), 2);
    assert_true(runs(&w, "before"));
    world_close(&w);
    before_done(&before);
}

/* The API server is restarted, and is what it was; then nothing happens for an hour. */
static void the_version_is_asked_for_once_after_a_restart_and_never_at_rest(void **state SW_UNUSED)
{
    struct world w = { 0 };
    struct before before = { 0 };
    begin(&w, &before);
    world_wait(&w, 60000);
    count(&w);
    sw_emulator_drop(w.conn.emulator);
    world_wait(&w, 60000);
    assert_int_equal(n_versions, 1);
    assert_int_equal(n_discoveries, 0);
    count(&w);
    world_wait(&w, 3600000);
    assert_int_equal(n_versions, 0);
    assert_int_equal(n_discoveries, 0);
    world_close(&w);
    before_done(&before);
}

/* The controller is killed after its n-th request since, for each n in the sample. */
static void killed_at_any_request_it_changes_over_all_the_same(void **state SW_UNUSED)
{
    struct sample sample = sample_of(100);
    bool killed = true;
    for (uint64_t at = 1; killed && at < 400; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { 0 };
        struct before before = { 0 };
        begin(&w, &before);
        w.kill_at = at;
        upgrade(&w, "1.36");
        (void)world_until(&w, was_killed, NULL, 5 * 60000);
        killed = w.killed;
        world_kill(&w);
        w.kill_at = 0;
        world_start(&w);
        must_have_changed_over(&w, &before);
        world_close(&w);
        before_done(&before);
    }
    assert_false(killed); /* the last time it ran through */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upgraded_cluster_changes_over_by_itself),
        cmocka_unit_test(an_upgrade_to_what_is_too_old_changes_nothing),
        cmocka_unit_test(the_version_is_asked_for_once_after_a_restart_and_never_at_rest),
        cmocka_unit_test(killed_at_any_request_it_changes_over_all_the_same),
    };
    return cmocka_run_group_tests_name("run_cluster_upgrade", tests, NULL, NULL);
}
