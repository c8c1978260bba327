/* Who may use a resource's nodes, and what its user wants otherwise: taints, PriorityClasses,
 * overrides, and resources that share nodes. */
#include "run_sro.h"

#include <unistd.h>

#define RECORD "slipway.dev/taints"

static const char daemon_set[] =
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: plugin\n  labels:\n    part: plugin\n"
    "  annotations:\n    " SRO "wait: 'true'\nspec:\n  selector:\n    matchLabels:\n"
    "      app: plugin\n  template:\n    metadata:\n      labels:\n        app: plugin\n    spec:\n"
    "      tolerations:\n      - key: mine\n        operator: Exists\n"
    "      initContainers:\n      - name: init\n        image: i\n"
    "      containers:\n      - name: main\n        image: i\n"
    "        resources:\n          limits:\n            cpu: 1\n            memory: 1Gi\n";
static const char config_map[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n"
                                 "data:\n  nodes: 'kernel {{ .Values.kernelFullVersion }}'\n";

/* The chart's own resource with @spec, which is YAML below spec. */
static char *chart(const char *root, const char *name, const char *spec)
{
    SW_AUTO_CHARS *file = sw_printf("%s.yaml", name);
    SW_AUTO_CHARS *text = sw_printf("apiVersion: " SR_VERSION "\nkind: SpecialResource\n"
                                    "metadata:\n  name: %s\nspec:\n  namespace: %s\n%s",
                                    name, name, spec);
    return CHART(root, name, { file, text }, { "templates/0000-config.yaml", config_map },
                 { "templates/1000-plugin.yaml", daemon_set });
}

struct scene {
    struct world w;
    char *root, *dir;
};

static void scene_apply(struct scene *s, const char *name, const char *spec)
{
    *s = (struct scene){ .root = chart_root(), .w.nodes.force = true }; /* NoExecute */
    world_open(&s->w);
    s->dir = chart(s->root, name, spec);
    sro_apply(&s->w, s->dir);
}

static void scene_open(struct scene *s, const char *name, const char *spec)
{
    scene_apply(s, name, spec);
    world_start(&s->w);
    sro_until(&s->w, name, "Ready", NULL);
}

static void scene_close(struct scene *s)
{
    world_close(&s->w);
    free(s->dir);
    chart_remove(s->root);
}

static struct json_object *node(struct world *w, const char *name)
{
    return world_get(w, "v1", "Node", NULL, name);
}

/* As kubectl shows them. Heap. */
static char *taints(struct world *w, const char *name)
{
    struct json_object *list = sw_json_find(node(w, name), "spec", "taints", NULL);
    char *all = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        char *more = sw_printf("%s%s%s=%s:%s", all, *all ? " " : "",
                               sw_json_str(t, "", "key", NULL), sw_json_str(t, "", "value", NULL),
                               sw_json_str(t, "", "effect", NULL));
        free(all);
        all = more;
    }
    return all;
}

static void expect_taints(struct world *w, const char *name, const char *wanted)
{
    SW_AUTO_CHARS *found = taints(w, name);
    if (strcmp(found, wanted) != 0)
        fail_msg("%s has taints '%s', not '%s'", name, found, wanted);
}

struct tainted {
    const char *node, *taints;
};

static bool has_taints(struct world *w, void *arg)
{
    const struct tainted *t = arg;
    SW_AUTO_CHARS *found = taints(w, t->node);
    return strcmp(found, t->taints) == 0;
}

static void until_taints(struct world *w, const char *name, const char *wanted)
{
    struct tainted t = { name, wanted };
    if (!world_until(w, has_taints, &t, 10 * 60000))
        expect_taints(w, name, wanted);
}

static void patch_resource(struct world *w, const char *name, const char *json)
{
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, name, NULL, json), 0);
}

static char *first_worker(struct world *w)
{
    struct json_object *all = world_get(w, "v1", "Node", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(all); i++)
        if (sw_obj_label(sw_json_at(all, i), "node-role.kubernetes.io/worker"))
            return sw_strdup(sw_obj_name(sw_json_at(all, i)));
    return sw_strdup(sw_obj_name(sw_json_at(all, 0)));
}

/* ---- taints ------------------------------------------------------------------------------------
 */

#define SELECTED "  nodeSelector:\n    accel: 'yes'\n"
#define TAINTED                                                                                    \
    SELECTED "  taints:\n  - key: nvidia.com/gpu\n    effect: NoSchedule\n  - key: only\n"         \
             "    value: gpu\n    effect: NoExecute\n"
#define BOTH "nvidia.com/gpu=:NoSchedule only=gpu:NoExecute"

static char *select_node(struct world *w)
{
    char *name = first_worker(w);
    assert_int_equal(world_patch(w, "v1", "Node", NULL, name, NULL,
                                 "{\"metadata\":{\"labels\":{\"accel\":\"yes\"}}}"),
                     0);
    return name;
}

static void tainted_nodes_are_the_resources_and_its_pods_run_there(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Ready", NULL);
    expect_taints(&s.w, name, BOTH);
    struct json_object *n = node(&s.w, name);
    assert_string_equal(sw_obj_annotation(n, RECORD),
                        "{\"gpu\":[\"nvidia.com/gpu=:NoSchedule\",\"only=gpu:NoExecute\"]}");
    assert_string_equal(sw_obj_label(n, SRO "state-gpu-1000"), "Ready");
    struct json_object *d = world_get(&s.w, "apps/v1", "DaemonSet", "gpu", "plugin");
    assert_int_equal(sw_json_int(d, 0, "status", "numberReady", NULL), 1);
    struct json_object *list = sw_json_find(d, "spec", "template", "spec", "tolerations", NULL);
    assert_int_equal(sw_json_len(list), 3); /* the recipe's own first */
    assert_string_equal(sw_json_str(sw_json_at(list, 0), "", "key", NULL), "mine");
    assert_string_equal(sw_json_str(sw_json_at(list, 1), "", "operator", NULL), "Exists");
    assert_string_equal(sw_json_str(sw_json_at(list, 2), "", "value", NULL), "gpu");
    /* values of the node's kernel: the node is one of the resource's */
    struct json_object *c = world_get(&s.w, "v1", "ConfigMap", "gpu", "config");
    assert_true(strlen(sw_json_str(c, "", "data", "nodes", NULL)) > strlen("kernel "));
    scene_close(&s);
}

static bool is_refused(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *conditions = sw_json_find(
        world_get(w, SR_VERSION, "SpecialResource", NULL, "gpu"), "status", "conditions", NULL);
    return strstr(json_object_to_json_string(conditions),
                  "spec.taints[1].effect: NoExecute ends pods by force") != NULL;
}

static void pods_are_not_ended_by_force_unless_the_admins_allow_it(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    s.w.nodes.force = false;
    world_start(&s.w);
    assert_true(world_until(&s.w, is_refused, NULL, 10 * 60000));
    expect_taints(&s.w, name, "");
    scene_close(&s);
}

static void the_control_plane_is_not_tainted(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    assert_int_equal(world_patch(&s.w, "v1", "Node", NULL, name, NULL,
                                 "{\"metadata\":{\"labels\":{\"node-role.kubernetes.io/"
                                 "control-plane\":\"\"}}}"),
                     0);
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Ready", NULL);
    expect_taints(&s.w, name, "");
    world_kill(&s.w);
    s.w.nodes.control_plane = true;
    world_start(&s.w);
    until_taints(&s.w, name, BOTH);
    scene_close(&s);
}

/* How many nodes have taints that slipway has set. */
static int n_tainted(struct world *w)
{
    struct json_object *all = world_get(w, "v1", "Node", NULL, NULL);
    int n = 0;
    for (size_t i = 0; i < sw_json_len(all); i++)
        n += sw_obj_annotation(sw_json_at(all, i), RECORD) != NULL;
    return n;
}

static void add_node(struct world *w, const char *name)
{
    SW_AUTO_CHARS *node = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"for-%s\",\"labels\":{"
        "\"kubernetes.io/arch\":\"amd64\",\"for\":\"%s\","
        "\"feature.node.kubernetes.io/kernel-version.full\":\"5.14.0-70.el9.x86_64\"}},"
        "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"nodeInfo\":{"
        "\"kernelVersion\":\"5.14.0-70.el9.x86_64\",\"architecture\":\"amd64\","
        "\"osImage\":\"Red Hat Enterprise Linux 9.0\"},"
        "\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"}}}",
        name, name);
    assert_int_equal(world_create(w, node), 0);
}

/* Several resources, each with a node of its own, may taint one of them. */
static void resources_that_begin_together_taint_no_more_nodes_than_admins_allow(void **state)
{
    (void)state;
    struct scene s = { 0 };
    const char *const names[] = { "gpu", "nic", "fpga" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *spec = sw_printf("  nodeSelector:\n    for: %s\n  taints:\n  - key: k\n"
                                        "    effect: NoSchedule\n",
                                        names[i]);
        if (i == 0) {
            scene_apply(&s, names[i], spec);
        } else {
            SW_AUTO_CHARS *dir = chart(s.root, names[i], spec);
            sro_apply(&s.w, dir);
        }
        add_node(&s.w, names[i]);
    }
    s.w.nodes.tainted = 1;
    world_start(&s.w);
    for (size_t i = 0; i < SW_COUNT(names); i++)
        sro_until(&s.w, names[i], "Ready", NULL);
    assert_int_equal(n_tainted(&s.w), 1);
    scene_close(&s);
}

static void deleting_takes_off_ours_and_leaves_theirs(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED "  tolerations:\n  - key: theirs\n    operator: Exists\n");
    SW_AUTO_CHARS *name = select_node(&s.w);
    assert_int_equal(world_patch(&s.w, "v1", "Node", NULL, name, NULL,
                                 "{\"spec\":{\"taints\":[{\"key\":\"theirs\",\"effect\":"
                                 "\"NoExecute\",\"timeAdded\":\"2026-01-02T03:04:05Z\"}]}}"),
                     0);
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Ready", NULL);
    expect_taints(&s.w, name, "theirs=:NoExecute " BOTH);
    sro_delete(&s.w, "gpu");
    expect_taints(&s.w, name, "theirs=:NoExecute");
    struct json_object *n = node(&s.w, name);
    assert_null(sw_obj_annotation(n, RECORD));
    struct json_object *left = sw_json_at(sw_json_find(n, "spec", "taints", NULL), 0);
    assert_string_equal(sw_json_str(left, "", "timeAdded", NULL), "2026-01-02T03:04:05Z");
    scene_close(&s);
}

static void a_node_that_is_selected_later_is_tainted_and_labelled(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Progressing", "NoMatchingNodes");
    SW_AUTO_CHARS *name = select_node(&s.w);
    until_taints(&s.w, name, BOTH);
    sro_until(&s.w, "gpu", "Ready", NULL);
    patch_resource(&s.w, "gpu", "{\"spec\":{\"nodeSelector\":{\"accel\":\"no\"}}}");
    until_taints(&s.w, name, "");
    scene_close(&s);
}

static void a_restart_writes_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Ready", NULL);
    world_wait(&s.w, 60000);
    world_kill(&s.w);
    world_wait(&s.w, 1000);
    world_count(&s.w);
    world_start(&s.w);
    world_wait(&s.w, 60000);
    assert_int_equal(s.w.n_writes, 0);
    expect_taints(&s.w, name, BOTH);
    scene_close(&s);
}

/* Somebody writes the node between our reading it and our PATCH. */
static void interfere(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                      struct world *w SW_UNUSED)
{
    static int left = 2;
    if (sw_streq(req->verb, "patch") && strstr(req->path, "/nodes/") && left-- > 0)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 409 };
}

static void a_conflict_is_read_again(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", TAINTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    s.w.on_request = interfere;
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Ready", NULL);
    expect_taints(&s.w, name, BOTH);
    scene_close(&s);
}

/* ---- PriorityClasses ---------------------------------------------------------------------------
 */

#define CLASSES                                                                                    \
    "  priorityClasses:\n  - name: gpu-first\n    value: 1000000\n    description: needs a GPU\n"  \
    "  - name: gpu-guest\n    value: -10\n    preemptionPolicy: Never\n"                           \
    "  priorityClassName: gpu-first\n"

static void priority_classes_come_and_go_with_the_resource(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "gpu", CLASSES);
    struct json_object *p = world_get(&s.w, "scheduling.k8s.io/v1", "PriorityClass", NULL,
                                      "gpu-first");
    assert_int_equal(sw_json_int(p, 0, "value", NULL), 1000000);
    p = world_get(&s.w, "scheduling.k8s.io/v1", "PriorityClass", NULL, "gpu-guest");
    assert_string_equal(sw_json_str(p, "", "preemptionPolicy", NULL), "Never");
    struct json_object *d = world_get(&s.w, "apps/v1", "DaemonSet", "gpu", "plugin");
    assert_string_equal(sw_json_str(d, "", "spec", "template", "spec", "priorityClassName", NULL),
                        "gpu-first");
    /* a value cannot be changed in place */
    patch_resource(&s.w, "gpu",
                   "{\"spec\":{\"priorityClasses\":[{\"name\":\"gpu-first\",\"value\":5}]}}");
    sro_until_gone(&s.w, "scheduling.k8s.io/v1", "PriorityClass", NULL, "gpu-guest");
    world_wait(&s.w, 60000);
    p = world_get(&s.w, "scheduling.k8s.io/v1", "PriorityClass", NULL, "gpu-first");
    assert_int_equal(sw_json_int(p, 0, "value", NULL), 5);
    sro_delete(&s.w, "gpu");
    assert_null(world_get(&s.w, "scheduling.k8s.io/v1", "PriorityClass", NULL, "gpu-first"));
    scene_close(&s);
}

/* ---- overrides ---------------------------------------------------------------------------------
 */

static void objects_are_as_the_user_wants_them(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "gpu",
               "  overrides:\n"
               "  - target: {kind: DaemonSet, name: 'plug*', labels: {part: plugin}}\n"
               "    tolerations: [{key: x, operator: Exists}]\n"
               "    nodeSelector: {kubernetes.io/os: linux}\n"
               "    affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{"
               "weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}\n"
               "    container: main\n"
               "    resources: {limits: {cpu: 2}, requests: {cpu: 500m}}\n"
               "  - target: {kind: ConfigMap}\n"
               "    patch:\n"
               "    - {op: add, path: /data/more, value: 'yes'}\n"
               "    - {op: add, path: /metadata/labels/own, value: label}\n");
    struct json_object *d = world_get(&s.w, "apps/v1", "DaemonSet", "gpu", "plugin");
    struct json_object *pod = sw_json_find(d, "spec", "template", "spec", NULL);
    struct json_object *list = sw_json_get(pod, "tolerations");
    assert_string_equal(sw_json_str(sw_json_at(list, 1), "", "key", NULL), "x");
    assert_string_equal(sw_json_str(pod, "", "nodeSelector", "kubernetes.io/os", NULL), "linux");
    assert_non_null(sw_json_find(pod, "affinity", "nodeAffinity", NULL));
    struct json_object *main_one = sw_json_at(sw_json_get(pod, "containers"), 0);
    assert_int_equal(sw_json_int(main_one, 0, "resources", "limits", "cpu", NULL), 2);
    assert_string_equal(sw_json_str(main_one, "", "resources", "limits", "memory", NULL), "1Gi");
    assert_string_equal(sw_json_str(main_one, "", "resources", "requests", "cpu", NULL), "500m");
    struct json_object *init = sw_json_at(sw_json_get(pod, "initContainers"), 0);
    assert_int_equal(sw_json_len(sw_json_get(init, "resources")), 0);
    struct json_object *c = world_get(&s.w, "v1", "ConfigMap", "gpu", "config");
    assert_string_equal(sw_json_str(c, "", "data", "more", NULL), "yes");
    assert_string_equal(sw_obj_label(c, "own"), "label");
    /* and as the recipe has them again */
    patch_resource(&s.w, "gpu", "{\"spec\":{\"overrides\":null}}");
    world_wait(&s.w, 60000);
    c = world_get(&s.w, "v1", "ConfigMap", "gpu", "config");
    assert_null(sw_json_find(c, "data", "more", NULL));
    scene_close(&s);
}

static const struct {
    const char *spec, *words;
} faults[] = {
    { "\"overrides\":[{\"target\":{\"kind\":\"ConfigMap\"},\"patch\":[{\"op\":\"remove\",\"path\":"
      "\"/data/none\"}]}]",
      "gpu/templates/0000-config.yaml:1: ConfigMap 'config': overrides: spec.overrides[0]: "
      "patch: " },
    { "\"overrides\":[{\"target\":{\"kind\":\"ConfigMap\"},\"patch\":[{\"op\":\"replace\",\"path\":"
      "\"/metadata/name\",\"value\":\"other\"}]}]",
      "spec.overrides[0]: patch: apiVersion, kind, name and namespace cannot be changed" },
    { "\"overrides\":[{\"target\":{\"kind\":\"ConfigMap\"},\"nodeSelector\":{\"a\":\"b\"}}]",
      "spec.overrides[0]: a ConfigMap makes no pods" },
    { "\"overrides\":[{\"target\":{\"kind\":\"DaemonSet\"},\"container\":\"none\",\"resources\":{}"
      "}]",
      "spec.overrides[0]: it has no container 'none'" },
    { "\"overrides\":[{\"target\":{\"kind\":\"DaemonSet\"}}]",
      "spec.overrides[0]: it changes nothing" },
    { "\"taints\":[{\"key\":\"bad key\",\"effect\":\"NoSchedule\"}]",
      "spec.taints[0].key: 'bad key' is no taint's key" },
    { "\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"},{\"key\":\"a\",\"value\":\"b\","
      "\"effect\":\"NoSchedule\"}]",
      "spec.taints[1]: a:NoSchedule is there twice" },
    { "\"taints\":[{\"key\":\"node.kubernetes.io/x\",\"effect\":\"NoSchedule\"}]",
      "is Kubernetes' own" },
    { "\"tolerations\":[{\"key\":\"\"}]", "spec.tolerations[0]: without a key" },
    { "\"priorityClasses\":[{\"name\":\"system-x\",\"value\":1}]",
      "spec.priorityClasses[0].name: 'system-x'" },
};

static void what_cannot_be_is_said_with_its_field(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "gpu", "");
    for (size_t i = 0; i < SW_COUNT(faults); i++) {
        SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{%s}}", faults[i].spec);
        patch_resource(&s.w, "gpu", patch);
        sro_until(&s.w, "gpu", "Errored", faults[i].words);
        patch_resource(&s.w, "gpu",
                       "{\"spec\":{\"overrides\":null,\"taints\":null,\"tolerations\":null,"
                       "\"priorityClasses\":null}}");
        sro_until(&s.w, "gpu", "Ready", NULL);
    }
    scene_close(&s);
}

/* How many Events have @reason, and words in them. */
static size_t count_events(struct world *w, const char *reason, const char *words)
{
    struct json_object *all = world_get(w, "v1", "Event", "default", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(all); i++)
        n += sw_streq(sw_json_str(sw_json_at(all, i), "", "reason", NULL), reason) &&
             strstr(sw_json_str(sw_json_at(all, i), "", "message", NULL), words);
    return n;
}

static void an_override_for_no_object_is_said_once(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "gpu",
               "  overrides:\n  - target: {kind: DaemonSet}\n    nodeSelector: {}\n"
               "  - target: {kind: DaemonSet, name: plugni}\n    nodeSelector: {}\n");
    world_wait(&s.w, 60000);
    assert_int_equal(count_events(&s.w, "OverrideUnused", "spec.overrides[1] (DaemonSet 'plugni')"),
                     1);
    assert_int_equal(count_events(&s.w, "OverrideUnused", "overrides[0]"), 0);
    scene_close(&s);
}

/* ---- overlap -----------------------------------------------------------------------------------
 */

static void shared_nodes_are_reported_by_both(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", SELECTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    SW_AUTO_CHARS *nic = chart(s.root, "nic", SELECTED);
    sro_run(&s.w, nic);
    sro_until(&s.w, "gpu", "Overlapping", "1 node is selected by nic as well: ");
    sro_until(&s.w, "nic", "Overlapping", "1 node is selected by gpu as well: ");
    sro_until(&s.w, "gpu", "Ready", NULL); /* it holds nothing up */
    sro_until(&s.w, "nic", "Ready", NULL);
    struct json_object *c = sw_obj_condition(sro_get(&s.w, "gpu"), "Overlapping");
    assert_string_equal(sw_json_str(c, "", "reason", NULL), "NodesShared");
    assert_int_equal(count_events(&s.w, "Overlap", "nic as well"), 1);
    SW_AUTO_CHARS *metrics = sw_controller_metrics(s.w.controller);
    assert_non_null(
        strstr(metrics, "slipway_overlapping_nodes{specialresource=\"gpu\",other=\"nic\"} 1\n"));
    sro_delete(&s.w, "nic");
    world_wait(&s.w, 60000);
    c = sw_obj_condition(sro_get(&s.w, "gpu"), "Overlapping");
    assert_string_equal(sw_json_str(c, "", "status", NULL), "False");
    scene_close(&s);
}

static void the_same_chart_twice_on_a_node_is_a_warning(void **state)
{
    (void)state;
    struct scene s;
    scene_apply(&s, "gpu", SELECTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    world_apply(&s.w, &(struct sw_resource_opts){ .recipe = s.dir, .name = "gpu-b", .ns = "b" });
    world_start(&s.w);
    sro_until(&s.w, "gpu-b", "Overlapping", "selected by gpu as well, with the same chart: ");
    sro_until(&s.w, "gpu", "Overlapping", "selected by gpu-b as well");
    struct json_object *c = sw_obj_condition(sro_get(&s.w, "gpu"), "Overlapping");
    assert_string_equal(sw_json_str(c, "", "reason", NULL), "SameRecipe");
    scene_close(&s);
}

/* What a resource says of others is bounded, however many select its nodes. */
static void of_many_that_share_a_node_20_are_named(void **state)
{
    (void)state;
    enum { MANY = 30 };
    struct scene s;
    scene_apply(&s, "gpu", SELECTED);
    SW_AUTO_CHARS *name = select_node(&s.w);
    for (int i = 0; i < MANY; i++) {
        SW_AUTO_CHARS *other = sw_printf("other-%d", i);
        world_apply(&s.w, &(struct sw_resource_opts){ .recipe = s.dir, .name = other, .ns = "b" });
    }
    world_start(&s.w);
    sro_until(&s.w, "gpu", "Overlapping", "with the same chart: ");
    world_wait(&s.w, 60000);
    SW_AUTO_CHARS *metrics = sw_controller_metrics(s.w.controller);
    int n = 0;
    for (const char *at = metrics;
         (at = strstr(at, "slipway_overlapping_nodes{specialresource=\"gpu\",")); at++)
        n++;
    assert_int_equal(n, 20);
    scene_close(&s);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tainted_nodes_are_the_resources_and_its_pods_run_there),
        TEST(pods_are_not_ended_by_force_unless_the_admins_allow_it),
        TEST(the_control_plane_is_not_tainted),
        TEST(resources_that_begin_together_taint_no_more_nodes_than_admins_allow),
        TEST(deleting_takes_off_ours_and_leaves_theirs),
        TEST(a_node_that_is_selected_later_is_tainted_and_labelled),
        TEST(a_restart_writes_nothing),
        TEST(a_conflict_is_read_again),
        TEST(priority_classes_come_and_go_with_the_resource),
        TEST(objects_are_as_the_user_wants_them),
        TEST(what_cannot_be_is_said_with_its_field),
        TEST(an_override_for_no_object_is_said_once),
        TEST(shared_nodes_are_reported_by_both),
        TEST(the_same_chart_twice_on_a_node_is_a_warning),
        TEST(of_many_that_share_a_node_20_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
