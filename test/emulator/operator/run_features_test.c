/* What Node Feature Discovery says of nodes may be lost (it is updated, a worker dies, a rule is
 * wrong): drivers stay for the time of grace, and go after it. */
#include "run_sro.h"

#define FEATURE "feature.node.kubernetes.io/"
#define DEVICE FEATURE "pci-10de.present"
#define KERNEL FEATURE "kernel-version.full"
#define STAY "stay.slipway.dev/"
#define GRACE_MS (5 * 60000)

#define DAEMON(name, annotations)                                                                  \
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: " name "\n  annotations:\n    " SRO  \
    "wait: 'true'\n" annotations "spec:\n  selector:\n"                                            \
    "    matchLabels:\n      app: " name "\n  template:\n    metadata:\n      labels:\n"           \
    "        app: " name "\n        part: of-gpu\n    spec:\n      containers:\n      - name: c\n" \
    "        image: i\n"
static const char driver[] = DAEMON("driver", "    " SRO "kernel-affine: 'true'\n");
static const char plugin[] = DAEMON("plugin", "");
static const char resource[] = "apiVersion: " SR_VERSION "\nkind: SpecialResource\nmetadata:\n"
                               "  name: gpu\nspec:\n  namespace: gpu\n  nodeSelector:\n"
                               "    " DEVICE ": 'true'\n";

/* A question may cost a minute of the world's time: nothing else happens in it. */
#define ASK_MS 60000

struct scene {
    struct world w;
    char *root, *dir;
    int64_t lost_ms; /* when features were lost */
    char *pods;      /* uids of the first ones, sorted: those of two kernels, on three nodes */
};

static const char *const devices[] = { "gpu-0", "gpu-1", "gpu-2" };

/* @labels: below metadata.labels, as JSON */
static void label(struct world *w, const char *node, const char *labels)
{
    SW_AUTO_CHARS *json = sw_printf("{\"metadata\":{\"labels\":%s}}", labels);
    assert_int_equal(world_patch(w, "v1", "Node", NULL, node, NULL, json), 0);
}

static void label_all(struct world *w, const char *labels)
{
    for (size_t i = 0; i < SW_COUNT(devices); i++)
        label(w, devices[i], labels);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The uids of the resource's pods that are not being deleted. Heap. */
static char *pods(struct world *w)
{
    struct json_object *all = world_get(w, "v1", "Pod", "gpu", NULL);
    const char *uids[16];
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(all) && n < SW_COUNT(uids); i++)
        if (!sw_json_find(sw_json_at(all, i), "metadata", "deletionTimestamp", NULL))
            uids[n++] = sw_obj_uid(sw_json_at(all, i));
    if (n)
        qsort(uids, n, sizeof *uids, by_text);
    char *text = sw_strdup("");
    for (size_t i = 0; i < n; i++) {
        char *more = sw_printf("%s%s ", text, uids[i]);
        free(text);
        text = more;
    }
    return text;
}

static void lose(struct scene *s, const char *labels)
{
    s->lost_ms = world_now(&s->w);
    label_all(&s->w, labels);
}

/* Go on until so long after the loss. */
static void wait_to(struct scene *s, int64_t ms)
{
    world_wait(&s->w, s->lost_ms + ms - world_now(&s->w));
}

static void scene_open(struct scene *s)
{
    *s = (struct scene){ .root = chart_root() };
    world_open(&s->w);
    s->dir = CHART(s->root, "gpu", { "gpu.yaml", resource },
                   { "templates/0000-driver.yaml", driver },
                   { "templates/1000-plugin.yaml", plugin });
    label_all(&s->w, "{\"" DEVICE "\":\"true\"}");
    sro_run(&s->w, s->dir);
    sro_until(&s->w, "gpu", "Ready", NULL);
    s->pods = pods(&s->w);
    assert_int_equal(strlen(s->pods), 6 * strlen("00000000-0000-0000-0000-000000000000 "));
}

static void scene_close(struct scene *s)
{
    world_close(&s->w);
    free(s->dir);
    free(s->pods);
    chart_remove(s->root);
}

static void expect_same_pods(struct scene *s)
{
    SW_AUTO_CHARS *now = pods(&s->w);
    assert_string_equal(now, s->pods);
}

static bool has_no_pods(struct world *w, void *arg SW_UNUSED)
{
    SW_AUTO_CHARS *now = pods(w);
    return !*now;
}

static const char *on_node(struct world *w, const char *name, const char *key)
{
    return sw_obj_label(world_get(w, "v1", "Node", NULL, name), key);
}

static const char *node_version(struct world *w, const char *name)
{
    return sw_json_str(world_get(w, "v1", "Node", NULL, name), "", "metadata", "resourceVersion",
                       NULL);
}

/* By how many labels do pods stay on the node? */
static size_t n_stays(struct world *w, const char *name)
{
    struct json_object *labels = sw_json_find(world_get(w, "v1", "Node", NULL, name), "metadata",
                                              "labels", NULL);
    size_t n = 0;
    json_object_object_foreach(labels, key, value)
    {
        n += sw_starts_with(key, STAY) && sw_streq(json_object_get_string(value), "gpu");
    }
    return n;
}

static void what_has_finished_on_a_node_lets_its_pods_stay(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    for (size_t i = 0; i < SW_COUNT(devices); i++)
        assert_int_equal(n_stays(&s.w, devices[i]), 2); /* the driver of its kernel, the plugin */
    assert_int_equal(n_stays(&s.w, "worker-0"), 0);
    scene_close(&s);
}

static const char *const losses[] = {
    "{\"" DEVICE "\":null}",
    "{\"" KERNEL "\":null}",
    "{\"" DEVICE "\":null,\"" KERNEL "\":null}",
};

static void lost_features_take_no_driver_down_before_the_grace_is_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(losses); i++) {
        struct scene s;
        scene_open(&s);
        lose(&s, losses[i]);
        wait_to(&s, GRACE_MS - 2 * ASK_MS);
        expect_same_pods(&s);
        label_all(&s.w, "{\"" DEVICE "\":\"true\"}");
        wait_to(&s, 3 * GRACE_MS);
        expect_same_pods(&s);
        sro_until(&s.w, "gpu", "Ready", NULL);
        scene_close(&s);
    }
}

static void until_no_pods_after_the_grace(struct scene *s)
{
    if (!world_until(&s->w, has_no_pods, NULL,
                     s->lost_ms + GRACE_MS + 3 * ASK_MS - world_now(&s->w)))
        fail_msg("there are still pods after the grace");
    const int64_t early_ms = s->lost_ms + GRACE_MS - world_now(&s->w);
    if (early_ms > 0)
        fail_msg("they have gone %lld ms before the end of the grace", (long long)early_ms);
}

static void after_the_grace_driver_and_labels_go(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    lose(&s, losses[0]);
    until_no_pods_after_the_grace(&s);
    world_wait(&s.w, 1000);
    for (size_t i = 0; i < SW_COUNT(devices); i++) {
        assert_int_equal(n_stays(&s.w, devices[i]), 0);
        assert_null(on_node(&s.w, devices[i], SRO "state-gpu-0000"));
    }
    scene_close(&s);
}

static void a_restart_keeps_drivers_that_stay(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    lose(&s, losses[2]);
    wait_to(&s, GRACE_MS / 3);
    world_kill(&s.w);
    wait_to(&s, GRACE_MS / 2);
    world_start(&s.w);
    until_no_pods_after_the_grace(&s);
    scene_close(&s);
}

static void another_value_is_no_loss(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    label_all(&s.w, "{\"" DEVICE "\":\"false\"}");
    if (!world_until(&s.w, has_no_pods, NULL, 2 * ASK_MS))
        fail_msg("there are still pods on nodes that say they have no device");
    scene_close(&s);
}

static bool all_run_on_the_worker(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *all = world_get(w, "v1", "Pod", "gpu", NULL);
    for (size_t i = 0; i < sw_json_len(all); i++)
        if (!sw_streq(sw_json_str(sw_json_at(all, i), "", "spec", "nodeName", NULL), "worker-0"))
            return false;
    return sw_json_len(all) == 2;
}

static void who_selects_other_nodes_waits_for_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    label(&s.w, "worker-0", "{\"" FEATURE "pci-8086.present\":\"true\"}");
    assert_int_equal(world_patch(&s.w, SR_VERSION, "SpecialResource", NULL, "gpu", NULL,
                                 "{\"spec\":{\"nodeSelector\":{\"" DEVICE "\":null,\"" FEATURE
                                 "pci-8086.present\":\"true\"}}}"),
                     0);
    if (!world_until(&s.w, all_run_on_the_worker, NULL, 2 * ASK_MS))
        fail_msg("there are still pods on nodes that are not selected");
    sro_until(&s.w, "gpu", "Ready", NULL);
    assert_int_equal(n_stays(&s.w, "worker-0"), 2);
    for (size_t i = 0; i < SW_COUNT(devices); i++)
        assert_int_equal(n_stays(&s.w, devices[i]), 0);
    scene_close(&s);
}

/* One of the resource's nodes that never had the device has finished other states, and gets no pod.
 */
static void a_node_without_the_feature_is_left_alone(void **state)
{
    (void)state;
    static const char config[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";
    static const char selective[] = DAEMON("plugin", "") "      nodeSelector:\n        " DEVICE
                                                         ": 'true'\n";
    static const char workers[] = "apiVersion: " SR_VERSION "\nkind: SpecialResource\nmetadata:\n"
                                  "  name: gpu\nspec:\n  namespace: gpu\n  nodeSelector:\n"
                                  "    node-role.kubernetes.io/worker: ''\n";
    struct scene s = { .root = chart_root() };
    world_open(&s.w);
    s.dir = CHART(s.root, "gpu", { "gpu.yaml", workers }, { "templates/0000-config.yaml", config },
                  { "templates/1000-plugin.yaml", selective });
    label(&s.w, "gpu-0", "{\"" DEVICE "\":\"true\"}");
    sro_run(&s.w, s.dir);
    sro_until(&s.w, "gpu", "Ready", NULL);
    assert_string_equal(on_node(&s.w, "worker-0", SRO "state-gpu-0000"), "Ready");
    assert_int_equal(n_stays(&s.w, "worker-0"), 0);
    assert_int_equal(n_stays(&s.w, "gpu-0"), 1);
    s.pods = pods(&s.w);
    assert_int_equal(strlen(s.pods), strlen("00000000-0000-0000-0000-000000000000 "));
    lose(&s, losses[0]);
    wait_to(&s, GRACE_MS - 2 * ASK_MS);
    expect_same_pods(&s);
    until_no_pods_after_the_grace(&s);
    scene_close(&s);
}

/* Two DaemonSets ask for the same features, and one of them runs on the tainted master, too. */
static void pods_of_one_daemonset_alone_keep_the_label(void **state)
{
    (void)state;
    static const char everywhere[] = DAEMON("everywhere", "") "      tolerations:\n"
                                                              "      - operator: Exists\n";
    struct scene s = { .root = chart_root() };
    world_open(&s.w);
    s.dir = CHART(s.root, "gpu", { "gpu.yaml", resource }, { "templates/0000-plugin.yaml", plugin },
                  { "templates/1000-everywhere.yaml", everywhere });
    label_all(&s.w, "{\"" DEVICE "\":\"true\"}");
    label(&s.w, "master-0", "{\"" DEVICE "\":\"true\"}");
    sro_run(&s.w, s.dir);
    sro_until(&s.w, "gpu", "Ready", NULL);
    assert_int_equal(n_stays(&s.w, "master-0"), 1);
    SW_AUTO_CHARS *before = sw_strdup(node_version(&s.w, "master-0"));
    world_wait(&s.w, ASK_MS);
    assert_string_equal(node_version(&s.w, "master-0"), before); /* nothing is written any more */
    assert_int_equal(n_stays(&s.w, "master-0"), 1);
    scene_close(&s);
}

static void deleting_takes_the_label_off(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    sro_delete(&s.w, "gpu");
    for (size_t i = 0; i < SW_COUNT(devices); i++)
        assert_int_equal(n_stays(&s.w, devices[i]), 0);
    scene_close(&s);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_has_finished_on_a_node_lets_its_pods_stay),
        TEST(lost_features_take_no_driver_down_before_the_grace_is_over),
        TEST(after_the_grace_driver_and_labels_go),
        TEST(a_restart_keeps_drivers_that_stay),
        TEST(another_value_is_no_loss),
        TEST(who_selects_other_nodes_waits_for_nothing),
        TEST(a_node_without_the_feature_is_left_alone),
        TEST(pods_of_one_daemonset_alone_keep_the_label),
        TEST(deleting_takes_the_label_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
