/* A cluster goes from Kubernetes 1.33 to 1.36 while nvidia-mig is Ready there: slices are given out
 * by Dynamic Resource Allocation from then on, webhook and scheduler go, pods that run stay. */
#include "run_world.h"
#include "sample.h"

#define MIG "recipes/nvidia-mig"
#define NS "das-operator"

static void on_request(const struct sw_emu_request *req SW_UNUSED,
                       struct sw_emu_fault *fault SW_UNUSED, struct world *w)
{
    if (w->kill_at && w->n_requests == w->kill_at)
        w->killed = true;
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

static bool is_changed_over(struct world *w, void *arg SW_UNUSED)
{
    static const struct {
        const char *api_version, *kind, *ns, *name;
    } gone[] = {
        { "apps/v1", "Deployment", NS, "das-scheduler" },
        { "apps/v1", "Deployment", NS, "das-operator-webhook" },
        { "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", NULL,
          "das-mutating-webhook-configuration" },
        { "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", NULL,
          "das-scheduler:kube-scheduler" },
    };
    if (!world_is_ready(w, NULL) || !sw_streq(face_of(w), "dra"))
        return false;
    for (size_t i = 0; i < SW_COUNT(gone); i++)
        if (world_get(w, gone[i].api_version, gone[i].kind, gone[i].ns, gone[i].name)) {
            if (getenv("DBG"))
                printf("# there %s %s\n", gone[i].name,
                       json_object_to_json_string(json_object_object_get(w->answer, "metadata")));
            return false;
        }
    return true;
}

/* Ready on 1.33, with a pod that has a slice. @uid: of that pod; the caller's */
static void begin(struct world *w, char **uid)
{
    w->on_request = on_request;
    world_open_with(
        w, &(struct sw_emulator_opts){ .delays = sw_emu_delays_human, .kube_version = "1.33" });
    world_run(w, MIG);
    world_must_be_ready(w);
    assert_string_equal(face_of(w), "deviceplugin");
    assert_non_null(world_get(w, "apps/v1", "Deployment", NS, "das-scheduler"));
    create_pod(w, "before");
    if (!world_until(w, runs, "before", 60000))
        fail_msg("%s", json_object_to_json_string(world_get(w, "v1", "Pod", "default", "before")));
    *uid = sw_strdup(sw_obj_uid(world_get(w, "v1", "Pod", "default", "before")));
}

static void upgrade(struct world *w, const char *version)
{
    SW_ERR(err);
    world_count(w);
    assert_int_equal(sw_emulator_upgrade(w->conn.emulator, version, &err), 0);
}

/* It has changed over, the pod of before runs still, and another one gets a slice. */
static void must_have_changed_over(struct world *w, const char *uid)
{
    if (!world_until(w, is_changed_over, NULL, getenv("DBG") ? 2 * 60000 : 40 * 60000)) {
        SW_AUTO_JSON *status = sw_controller_status(w->controller, w->name);
        if (getenv("DBG"))
            for (size_t q = 0; q < sw_json_len(sw_json_get(status, "states")); q++)
                printf("# %s\n",
                       json_object_to_json_string(sw_json_at(sw_json_get(status, "states"), q)));
        fail_msg("face %s: %s", face_of(w),
                 json_object_to_json_string(sw_json_get(status, "states")));
    }
    assert_true(runs(w, "before"));
    assert_string_equal(sw_obj_uid(world_get(w, "v1", "Pod", "default", "before")), uid);
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
    SW_AUTO_CHARS *uid = NULL;
    begin(&w, &uid);
    upgrade(&w, "1.36");
    must_have_changed_over(&w, uid);
    world_close(&w);
}

static void an_upgrade_to_what_is_too_old_changes_nothing(void **state SW_UNUSED)
{
    struct world w = { 0 };
    SW_AUTO_CHARS *uid = NULL;
    begin(&w, &uid);
    upgrade(&w, "1.35");
    world_wait(&w, 30 * 60000);
    world_must_be_ready(&w);
    assert_string_equal(face_of(&w), "deviceplugin");
    assert_non_null(world_get(&w, "apps/v1", "Deployment", NS, "das-scheduler"));
    assert_true(runs(&w, "before"));
    world_close(&w);
}

/* The controller is killed after its n-th request since, for each n in the sample. */
static void killed_at_any_request_it_changes_over_all_the_same(void **state)
{
    (void)state;
    struct sample sample = sample_of(40);
    bool killed = true;
    for (uint64_t at = 1; killed && at < 400; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { 0 };
        SW_AUTO_CHARS *uid = NULL;
        begin(&w, &uid);
        w.kill_at = at;
        upgrade(&w, "1.36");
        (void)world_until(&w, was_killed, NULL, 20 * 60000);
        if (getenv("DBG"))
            printf("# at %d killed %d\n", (int)at, w.killed);
        killed = w.killed;
        world_kill(&w);
        w.kill_at = 0;
        world_start(&w);
        must_have_changed_over(&w, uid);
        world_close(&w);
    }
    assert_false(killed); /* the last time it ran through */
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upgraded_cluster_changes_over_by_itself),
        cmocka_unit_test(an_upgrade_to_what_is_too_old_changes_nothing),
        cmocka_unit_test(killed_at_any_request_it_changes_over_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
