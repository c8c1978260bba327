/* A cluster on which SRO ran is taken over, given back and taken over again: what does not differ
 * in meaning stays as it is. takeover/left.yaml says what SRO left. */
#include "run_plan.h"

#include "cli/recipe/preview.h"
#include "ranges.h"

/* ---- what was written --------------------------------------------------------------------------
 */

static unsigned n_writes; /* of the operator: a takeover's */
static unsigned n_node_writes, n_hook_writes, n_deployment_writes;
static char *first_node_write;

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w SW_UNUSED)
{
    bool write = sw_streq(req->verb, "patch") || sw_streq(req->verb, "update");
    plan_observe(req);
    n_writes += write || sw_streq(req->verb, "create") || sw_streq(req->verb, "delete");
    n_deployment_writes += write && sw_streq(req->resource, "deployments");
    n_hook_writes += write && sw_streq(req->name, "cert-manager-startupapicheck");
    if (write && sw_streq(req->resource, "nodes") && !n_node_writes++)
        first_node_write = sw_strndup(req->body, req->body_len);
}

static void forget_written(void)
{
    free(SW_TAKE(first_node_write));
    n_node_writes = 0;
}

/* ---- the cluster before and after --------------------------------------------------------------
 */

static const struct {
    const char *api_version, *kind, *ns;
} looked_at[] = {
    { "v1", "Node", NULL },
    { "v1", "Namespace", NULL },
    { "v1", "Pod", "rolling" },
    { "v1", "Pod", "simple-kmod" },
    { "v1", "ServiceAccount", "rolling" },
    { "v1", "ServiceAccount", "simple-kmod" },
    { "apps/v1", "DaemonSet", "rolling" },
    { "apps/v1", "DaemonSet", "simple-kmod" },
    { "batch/v1", "Job", "simple-kmod" },
    { "rbac.authorization.k8s.io/v1", "Role", "rolling" },
    { "rbac.authorization.k8s.io/v1", "RoleBinding", "simple-kmod" },
    { "image.openshift.io/v1", "ImageStream", "simple-kmod" },
    { "v1", "Pod", "cert-manager" },
    { "v1", "Pod", "ping-pong" },
    { "v1", "Service", "ping-pong" },
    { "v1", "ServiceAccount", "cert-manager" },
    { "apps/v1", "Deployment", "cert-manager" },
    { "apps/v1", "Deployment", "ping-pong" },
    { "apps/v1", "ReplicaSet", "cert-manager" },
    { "apps/v1", "ReplicaSet", "ping-pong" },
    { "cert-manager.io/v1", "Issuer", "ping-pong" },
    { SR_VERSION, "SpecialResource", NULL },
};

/* Which objects there are, with uid and generation, and the labels of nodes: a text. The generation
 * of Deployments counts annotations, too. */
static char *picture(struct world *w)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(looked_at); i++) {
        SW_AUTO_JSON *list = json_object_get(
            world_get(w, looked_at[i].api_version, looked_at[i].kind, looked_at[i].ns, NULL));
        for (size_t k = 0; k < sw_json_len(list); k++) {
            struct json_object *doc = sw_json_at(list, k);
            SW_AUTO_CHARS *labels = sw_json_text(sw_json_find(doc, "metadata", "labels", NULL),
                                                 SW_JSON_SORTED, NULL);
            bool node = sw_streq(looked_at[i].kind, "Node");
            bool pod = sw_streq(looked_at[i].kind, "Pod");
            sw_append(&text, "%s %s %s %d %s\n", looked_at[i].kind, sw_obj_name(doc),
                      sw_obj_uid(doc),
                      sw_streq(looked_at[i].kind, "Deployment")
                          ? 0
                          : (int)sw_json_int(doc, 0, "metadata", "generation", NULL),
                      node  ? labels
                      : pod ? sw_json_str(doc, "", "status", "phase", NULL)
                            : "");
        }
    }
    return text;
}

static bool pods_run(struct world *w, void *arg)
{
    const size_t *n = arg;
    size_t ready = 0;
    for (int i = 0; i < 2; i++) {
        SW_AUTO_JSON *list = json_object_get(
            world_get(w, "v1", "Pod", i ? "rolling" : "simple-kmod", NULL));
        for (size_t k = 0; k < sw_json_len(list); k++)
            ready += sw_streq(
                sw_json_str(sw_obj_condition(sw_json_at(list, k), "Ready"), "", "status", NULL),
                "True");
    }
    return ready == *n;
}

static void open_left_with(struct world *w, bool real_clock)
{
    static const struct sw_emu_delays none;
    size_t n_pods = 9; /* three DaemonSets' on three nodes */
    *w = (struct world){ .on_request = on_request, .real_clock = real_clock };
    world_open_with(w, &(struct sw_emulator_opts){
                           .no_nodes = true, .delays = real_clock ? none : sw_emu_delays_human });
    SW_AUTO_CHARS *dir = sw_strdup(TAKEOVER "/rolling");
    sro_apply(w, dir); /* the definitions */
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, "rolling"), 0);
    left_each(w, NULL, create_left);
    if (!world_until(w, pods_run, &n_pods, 10 * 60000)) {
        SW_AUTO_CHARS *now = picture(w);
        fail_msg("pods do not run:\n%s", now);
    }
    world_wait(w, real_clock ? 1000 : 60000); /* the Job's pod ends */
    forget_written();
}

static void open_left(struct world *w)
{
    open_left_with(w, false);
}

static void must_be_same(struct world *w, const char *before)
{
    SW_AUTO_CHARS *after = picture(w);
    assert_string_equal(after, before);
}

static void sro_is_ready(struct world *w)
{
    sro_until(w, "rolling", "Ready", NULL);
    sro_until(w, "simple-kmod", "Ready", NULL);
    w->name = "rolling";
    world_must_be_ready(w);
    w->name = "simple-kmod";
    world_must_be_ready(w);
    world_wait(w, 60 * 60000); /* and nothing follows */
}

static bool node_has(struct world *w, const char *name, const char *prefix)
{
    struct json_object *labels = sw_json_find(world_get(w, "v1", "Node", NULL, name), "metadata",
                                              "labels", NULL);
    json_object_object_foreach(labels, key, value)
    {
        (void)value;
        if (sw_starts_with(key, prefix))
            return true;
    }
    return false;
}

static struct json_object *driver_of(struct world *w, const char *resource)
{
    SW_AUTO_CHARS *name = sw_printf("%s-driver-container-b657a71de7fad62f", resource);
    return world_get(w, "apps/v1", "DaemonSet", resource, name);
}

static struct json_object *affinity_of(struct world *w, const char *resource)
{
    return sw_json_find(driver_of(w, resource), "spec", "template", "spec", "affinity", NULL);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void nothing_is_replaced_and_no_label_moves(void **state)
{
    (void)state;
    struct world w;
    open_left(&w);
    SW_AUTO_CHARS *before = picture(&w);
    world_start(&w);
    sro_is_ready(&w);
    must_be_same(&w, before);
    if (n_node_writes)
        fail_msg("%u writes of nodes: %s", n_node_writes, first_node_write);
    assert_string_equal(sw_obj_annotation(driver_of(&w, "rolling"), "slipway.dev/resource"),
                        "rolling");
    struct json_object *job = world_get(&w, "batch/v1", "Job", "simple-kmod",
                                        "simple-kmod-prepare");
    assert_string_equal(sw_obj_annotation(job, "slipway.dev/resource"), "simple-kmod");
    world_kill(&w);
    world_start(&w);
    sro_is_ready(&w);
    must_be_same(&w, before);
    forget_written();
    world_close(&w);
}

/* SRO goes on: it replaces what has another hash than its own. */
static void update_as_sro(struct world *w, struct json_object *doc)
{
    const char *ns = sw_obj_namespace(doc);
    SW_AUTO_JSON *body = sw_json_copy(doc);
    if (sw_streq(sw_obj_name(doc), "user"))
        return;
    struct json_object *live = world_get(w, "apps/v1", "DaemonSet", ns, sw_obj_name(doc));
    SW_AUTO_CHARS *version = sw_strdup(sw_json_str(live, "", "metadata", "resourceVersion", NULL));
    SW_AUTO_CHARS *template = sw_strdup(
        sw_obj_annotation(live, "deprecated.daemonset.template.generation"));
    sw_json_set_str(body, version, "metadata", "resourceVersion", NULL);
    sw_json_set_str(body, template, "metadata", "annotations",
                    "deprecated.daemonset.template.generation", NULL);
    name_owners(w, body);
    send_as_sro(w, body, true);
}

static void three_turns_with_sro_replace_nothing(void **state)
{
    (void)state;
    struct world w;
    open_left(&w);
    SW_AUTO_CHARS *before = picture(&w);
    for (int i = 0; i < 3; i++) {
        world_start(&w);
        sro_is_ready(&w);
        must_be_same(&w, before);
        world_kill(&w);
        left_each(&w, "DaemonSet", update_as_sro);
        world_wait(&w, 10 * 60000);
        must_be_same(&w, before);
    }
    forget_written();
    world_close(&w);
}

static void change_that_replaces_pods_brings_the_grace_period(void **state)
{
    (void)state;
    struct world w;
    open_left(&w);
    world_start(&w);
    sro_is_ready(&w);
    assert_null(affinity_of(&w, "rolling"));
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rolling", NULL,
                                 "{\"spec\":{\"set\":{\"tag\":2}}}"),
                     0);
    sro_is_ready(&w);
    assert_non_null(affinity_of(&w, "rolling"));
    assert_true(node_has(&w, "gpu-0", "stay.slipway.dev/"));
    assert_null(affinity_of(&w, "simple-kmod"));
    SW_AUTO_CHARS *before = picture(&w);
    world_kill(&w); /* and stays on the way back to SRO: the label goes, the pods do not */
    w.keep_selectors = true;
    world_start(&w);
    sro_is_ready(&w);
    assert_non_null(affinity_of(&w, "rolling"));
    assert_false(node_has(&w, "gpu-0", "stay.slipway.dev/"));
    SW_AUTO_CHARS *after = picture(&w);
    assert_string_equal(strstr(before, "Pod "), strstr(after, "Pod "));
    forget_written();
    world_close(&w);
}

static void driver_of_slipways_has_the_form_that_sro_gives_it(void **state)
{
    (void)state;
    struct world w;
    open_left(&w);
    w.keep_selectors = true;
    world_start(&w);
    sro_is_ready(&w);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rolling", NULL,
                                 "{\"spec\":{\"set\":{\"tag\":2}}}"),
                     0);
    sro_is_ready(&w);
    struct json_object *spec = sw_json_find(driver_of(&w, "rolling"), "spec", "template", "spec",
                                            NULL);
    assert_string_equal(
        sw_json_str(sw_json_at(sw_json_get(spec, "containers"), 0), "", "image", NULL),
        "quay.io/x/driver:2");
    assert_null(sw_json_get(spec, "affinity"));
    assert_string_equal(sw_json_str(spec, "", "nodeSelector",
                                    "feature.node.kubernetes.io/kernel-version.full", NULL),
                        "4.18.0-305.45.1.el8_4.x86_64");
    assert_false(node_has(&w, "gpu-0", "stay.slipway.dev/"));
    forget_written();
    world_close(&w);
}

/* ---- a resource with a dependency --------------------------------------------------------------
 */

/* SRO sets no label for a chart without numbers; slipway does. */
static void label_ready_nodes(struct world *w)
{
    SW_AUTO_JSON *nodes = json_object_get(world_get(w, "v1", "Node", NULL, NULL));
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (sw_json_len(sw_json_find(node, "spec", "taints", NULL)))
            continue;
        assert_int_equal(world_patch(w, "v1", "Node", NULL, sw_obj_name(node), NULL,
                                     "{\"metadata\":{\"labels\":{\"" SRO
                                     "state-ping-pong-0001\":\"Ready\",\"" SRO
                                     "state-ping-pong-0002\":\"Ready\",\"" SRO
                                     "state-ping-pong-0004\":\"Ready\",\"" SRO
                                     "state-cert-manager-cert-manager\":\"Ready\"}}}"),
                         0);
    }
}

static void open_parent(struct world *w)
{
    *w = (struct world){ .on_request = on_request, .rights = SW_RIGHTS_LEGACY };
    world_open(w);
    SW_AUTO_CHARS *dir = sw_strdup(TAKEOVER "/rolling");
    sro_apply(w, dir); /* the definitions */
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, "rolling"), 0);
    left_each_of(w, TAKEOVER "/parent.yaml", NULL, create_left);
    label_ready_nodes(w);
    world_wait(w, 5 * 60000); /* pods run */
    forget_written();
}

static void parent_is_ready(struct world *w)
{
    sro_until(w, "ping-pong", "Ready", NULL);
    sro_until(w, "cert-manager", "Ready", NULL);
    world_wait(w, 10 * 60000); /* and nothing follows */
}

static bool child_says(struct world *w, void *arg)
{
    struct json_object *spec = sw_json_find(
        world_get(w, "apps/v1", "Deployment", "cert-manager", "cert-manager"), "spec", "template",
        "spec", NULL);
    return sw_json_has_text(
        sw_json_find(sw_json_at(sw_json_get(spec, "containers"), 0), "args", NULL), arg);
}

static void child_that_sro_made_is_taken_over_with_its_parent(void **state)
{
    (void)state;
    struct world w;
    open_parent(&w);
    n_deployment_writes = 0;
    SW_AUTO_CHARS *before = picture(&w);
    assert_non_null(strstr(before, "Deployment ping-pong-server "));
    for (int i = 0; i < 2; i++) {
        world_start(&w);
        parent_is_ready(&w);
        must_be_same(&w, before);
        world_kill(&w);
    }
    if (n_node_writes)
        fail_msg("%u writes of nodes: %s", n_node_writes, first_node_write);
    assert_int_equal(n_hook_writes, 0);
    assert_int_equal(n_deployment_writes, 0);
    /* the entry's values go on to be the child's */
    world_start(&w);
    sro_until(&w, "ping-pong", "Ready", NULL);
    assert_int_equal(
        world_patch(
            &w, SR_VERSION, "SpecialResource", NULL, "ping-pong", NULL,
            "{\"spec\":{\"dependencies\":[{\"chart\":{\"name\":\"cert-manager\",\"version\":"
            "\"1.5.0\",\"repository\":{\"name\":\"jetstack\",\"url\":\"file://" TAKEOVER
            "/cert-manager\"}},\"set\":{\"verbosity\":\"v=3\"}}]}}"),
        0);
    if (!world_until(&w, child_says, "v=3", 60000))
        fail_msg("the child does not get the entry's values");
    forget_written();
    world_close(&w);
}

/* Else whoever may write the parent would decide what is done as the child's account. */
static void child_with_another_account_has_its_own_values(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    SW_AUTO_CHARS *dir = sw_strdup(TAKEOVER "/rolling");
    sro_apply(&w, dir); /* the definitions */
    assert_int_equal(world_delete(&w, SR_VERSION, "SpecialResource", NULL, "rolling"), 0);
    left_each_of(&w, TAKEOVER "/parent.yaml", NULL, create_left);
    world_start(&w);
    if (!world_until(&w, child_says, "v=1", 60000))
        fail_msg("the entry decides the values of another account's resource");
    world_close(&w);
}

/* ---- kills -------------------------------------------------------------------------------------
 */

/* What was left, and how one knows that it has been taken over. */
struct left {
    void (*open)(struct world *w);
    void (*is_ready)(struct world *w);
};
static void sro_is_adopted(struct world *w)
{
    sro_is_ready(w);
    assert_string_equal(sw_obj_annotation(driver_of(w, "rolling"), "slipway.dev/resource"),
                        "rolling");
}

static const struct left all_of_sro = { open_left, sro_is_adopted },
                         parent_and_child = { open_parent, parent_is_ready };

static bool has_written(struct world *w SW_UNUSED, void *arg)
{
    return n_writes >= *(const unsigned *)arg;
}

/* One kill -9, at the @at-th write of a takeover; and what the next operator makes of it. */
static void take_over_with_a_kill(const struct left *left, unsigned at)
{
    struct world w;
    left->open(&w);
    SW_AUTO_CHARS *before = picture(&w);
    n_writes = n_deployment_writes = 0;
    world_start(&w);
    if (!world_until(&w, has_written, &at, 10 * 60000))
        fail_msg("there is no write %u", at);
    world_kill(&w);
    world_start(&w);
    left->is_ready(&w);
    SW_AUTO_CHARS *after = picture(&w);
    if (!sw_streq(before, after))
        fail_msg("killed at write %u:\n%s\n%s", at, before, after);
    if (n_node_writes || n_deployment_writes)
        fail_msg("killed at write %u: %u of Deployments, %s", at, n_deployment_writes,
                 first_node_write);
    forget_written();
    world_close(&w);
}

static void kill_on_the_way(const struct left *left)
{
    struct world w;
    left->open(&w);
    n_writes = 0;
    world_start(&w);
    left->is_ready(&w);
    unsigned all = n_writes;
    forget_written();
    world_close(&w);
    assert_between(all, 16, 200);
    for (unsigned at = 1; at <= all; at += getenv("SW_ALL") ? 1 : all / 8)
        take_over_with_a_kill(left, at);
}

static void takeover_that_is_killed_goes_on_the_same(void **state)
{
    (void)state;
    kill_on_the_way(&all_of_sro);
}

static void takeover_of_a_parent_that_is_killed_goes_on_the_same(void **state)
{
    (void)state;
    kill_on_the_way(&parent_and_child);
}

/* ---- slipway takeover --plan -------------------------------------------------------------------
 */

#define SRO_NAMESPACE "openshift-special-resource-operator"

static bool real_ready(struct world *w, void *arg SW_UNUSED)
{
    w->name = "rolling";
    bool ready = world_is_ready(w, NULL);
    w->name = "simple-kmod";
    return ready && world_is_ready(w, NULL);
}

/* The object of an entry without what a server sets and slipway marks it with, the caller's; NULL:
 * it is not there. */
static struct json_object *object_of(struct world *w, struct json_object *entry)
{
    const char *kind = sw_json_str(entry, "", "kind", NULL),
               *ns = sw_json_str(entry, NULL, "namespace", NULL);
    if (strchr(kind, ' ')) /* "Node label" */
        return NULL;
    struct json_object *doc = sw_json_copy(world_get(w, sw_json_str(entry, "", "apiVersion", NULL),
                                                     kind, ns,
                                                     sw_json_str(entry, "", "name", NULL)));
    if (doc)
        sw_preview_strip(doc);
    return doc;
}

/* Take over, and compare each object with what @plan says of it. */
static void plan_must_hold(struct world *w, struct json_object *plan)
{
    struct json_object *all = sw_json_get(plan, "objects");
    each_must_be_told_once(plan);
    SW_AUTO_JSON *before = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(all); i++)
        (void)json_object_array_add(before, object_of(w, sw_json_at(all, i)));
    world_start(w);
    assert_true(world_until(w, real_ready, NULL, 60000));
    world_wait(w, 500);
    for (size_t i = 0; i < sw_json_len(all); i++) {
        struct json_object *entry = sw_json_at(all, i), *was = sw_json_at(before, i);
        const char *change = sw_json_str(entry, "", "change", NULL);
        bool changes = sw_streq(change, "pods replaced") || sw_streq(change, "changed");
        SW_AUTO_JSON *is = object_of(w, entry);
        if (sw_streq(change, "replaced") || (!was && !sw_streq(change, "created")))
            continue;
        if (sw_streq(change, "created") ? was || !is : sw_json_equal(was, is) == changes)
            fail_msg("%s: %s\n%s", json_object_to_json_string(entry),
                     json_object_to_json_string(was), json_object_to_json_string(is));
    }
}

static void plan_says_that_nothing_changes(void **state)
{
    (void)state;
    struct world w;
    open_left_with(&w, true);
    SW_AUTO_CHARS *before = picture(&w);
    SW_AUTO_JSON *doc = plan(&w, 0);
    must_be_same(&w, before);
    (void)entry_of(doc, "SpecialResource", "rolling", "adopted");
    (void)entry_of(doc, "Namespace", "rolling", "unchanged");
    (void)entry_of(doc, "Job", "simple-kmod-prepare", "adopted");
    (void)entry_of(doc, "DaemonSet", "rolling-driver-container-b657a71de7fad62f", "adopted");
    (void)entry_of(doc, "DaemonSet", "simple-kmod-driver-container-99249f257707c0c3", "adopted");
    (void)entry_of(doc, "Node label", SRO "state-simple-kmod-1000", "unchanged");
    assert_int_equal(count_of(doc, "changed") + count_of(doc, "pods replaced") +
                         count_of(doc, "refused") + count_of(doc, "left"),
                     0);
    plan_must_hold(&w, doc);
    forget_written();
    world_close(&w);
}

/* What SRO wrote and the recipe has dropped since. */
static void plan_knows_which_fields_go(void **state)
{
    static const char driver[] = "rolling-driver-container-b657a71de7fad62f";
    static const char grace[] = "spec.template.spec.terminationGracePeriodSeconds";
    (void)state;
    struct world w;
    open_left_with(&w, true);
    SW_AUTO_JSON *set = sw_json_copy(world_get(&w, "apps/v1", "DaemonSet", "rolling", driver));
    sw_json_set(set, json_object_new_int(77), "spec", "template", "spec",
                "terminationGracePeriodSeconds", NULL);
    send_as_sro(&w, set, true);
    SW_AUTO_JSON *account = sw_json_copy(
        world_get(&w, "v1", "ServiceAccount", "simple-kmod", "simple-kmod-driver-container"));
    sw_json_set_str(account, "of-old", "metadata", "labels", "old", NULL);
    send_as_sro(&w, account, true);
    world_wait(&w, 3000); /* the pods of the new template run */
    SW_AUTO_JSON *doc = plan(&w, 1);
    struct json_object *entry = entry_of(doc, "DaemonSet", driver, "pods replaced");
    assert_true(sw_json_has_text(sw_json_get(entry, "fields"), grace));
    assert_int_equal(sw_json_len(sw_json_get(entry, "fields")), 1);
    entry = entry_of(doc, "ServiceAccount", "simple-kmod-driver-container", "changed");
    assert_true(sw_json_has_text(sw_json_get(entry, "fields"), "metadata.labels.old"));
    plan_must_hold(&w, doc);
    forget_written();
    world_close(&w);
}

static void plan_renders_templates_of_the_values(void **state)
{
    (void)state;
    struct world w;
    open_left_with(&w, true);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rolling", NULL,
                                 "{\"spec\":{\"set\":{\"tag\":"
                                 "\"{{ if .Values.kernelFullVersion }}1{{ end }}\"}}}"),
                     0);
    SW_AUTO_JSON *doc = plan(&w, 0);
    (void)entry_of(doc, "DaemonSet", "rolling-driver-container-b657a71de7fad62f", "adopted");
    plan_must_hold(&w, doc);
    forget_written();
    world_close(&w);
}

static void plan_names_what_changes(void **state)
{
    (void)state;
    struct world w;
    open_left_with(&w, true);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rolling", NULL,
                                 "{\"spec\":{\"set\":{\"tag\":2}}}"),
                     0);
    assert_int_equal(world_create(&w, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                      "'of-old','namespace':'rolling'}}"),
                     0);
    SW_AUTO_CHARS *owned = sw_printf(
        "{'metadata':{'labels':{'specialresource.openshift.io/owned':'true'},'ownerReferences':[{"
        "'apiVersion':'sro.openshift.io/v1beta1','kind':'SpecialResource','name':'rolling','uid':'"
        "%s'}]}}",
        sw_obj_uid(sro_get(&w, "rolling")));
    assert_int_equal(world_patch(&w, "v1", "ConfigMap", "rolling", "of-old", NULL, owned), 0);
    SW_AUTO_JSON *doc = plan(&w, 1);
    struct json_object *entry = entry_of(
        doc, "DaemonSet", "rolling-driver-container-b657a71de7fad62f", "pods replaced");
    assert_int_equal(sw_json_int(entry, 0, "pods", NULL), 2);
    assert_true(
        sw_json_has_text(sw_json_get(entry, "fields"), "spec.template.spec.containers[0].image"));
    (void)entry_of(doc, "ConfigMap", "of-old", "left");
    (void)entry_of(doc, "DaemonSet", "simple-kmod-driver-container-b657a71de7fad62f", "adopted");
    plan_must_hold(&w, doc);
    forget_written();
    world_close(&w);
}

static void plan_knows_that_node_selectors_stay(void **state)
{
    static const char driver[] = "rolling-driver-container-b657a71de7fad62f";
    static const char affinity[] = "spec.template.spec.affinity";
    (void)state;
    struct world w;
    open_left_with(&w, true);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rolling", NULL,
                                 "{\"spec\":{\"set\":{\"tag\":2}}}"),
                     0);
    SW_AUTO_JSON *without = plan(&w, 1);
    SW_AUTO_JSON *with = plan_with(&w, "--keep-node-selectors", 1);
    struct json_object *entry = entry_of(without, "DaemonSet", driver, "pods replaced");
    assert_true(sw_json_has_text(sw_json_get(entry, "fields"), affinity));
    entry = entry_of(with, "DaemonSet", driver, "pods replaced"); /* for its image alone */
    assert_false(sw_json_has_text(sw_json_get(entry, "fields"), affinity));
    w.keep_selectors = true;
    plan_must_hold(&w, with);
    assert_null(affinity_of(&w, "rolling"));
    forget_written();
    world_close(&w);
}

/* A definition that takes everything, and what is stored by it then; and SRO itself. */
static void plan_names_what_is_refused_and_who_goes(void **state)
{
    static const char deployment[] =
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':"
        "'special-resource-controller-manager','namespace':'" SRO_NAMESPACE
        "'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':"
        "'b'}},'spec':{'containers':[{'name':'c','image':'quay.io/x/sro:1'}]}}}}";
    static const char account[] =
        "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':"
        "'special-resource-controller-manager','namespace':'" SRO_NAMESPACE "'}}";
    static const char module[] = "{'apiVersion':'sro.openshift.io/v1beta1','kind':"
                                 "'SpecialResourceModule','metadata':{'name':'odd'},'spec':{"
                                 "'watch':'everything'}}";
    static const char ns[] =
        "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'" SRO_NAMESPACE "'}}";
    static const char *const objects[] = { ns, account, deployment, module };
    (void)state;
    struct world w;
    open_left_with(&w, true);
    assert_int_equal(
        world_patch(&w, "apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
                    "specialresourcemodules.sro.openshift.io", NULL,
                    "{'spec':{'versions':[{'name':'v1beta1','served':true,'storage':true,"
                    "'subresources':{'status':{}},'schema':{'openAPIV3Schema':{'type':'object',"
                    "'x-kubernetes-preserve-unknown-fields':true}}}]}}"),
        0);
    for (size_t i = 0; i < SW_COUNT(objects); i++)
        assert_int_equal(world_create(&w, objects[i]), 0);
    world_wait(&w, 500); /* the Deployment has its pod */
    SW_AUTO_JSON *doc = plan(&w, 2);
    (void)entry_of(doc, "CustomResourceDefinition", "specialresourcemodules.sro.openshift.io",
                   "replaced");
    struct json_object *odd = entry_of(doc, "SpecialResourceModule", "odd", "refused");
    if (!strstr(sw_json_str(odd, "", "why", NULL), "spec.watch"))
        fail_msg("%s", json_object_to_json_string(odd));
    struct json_object *sro = entry_of(doc, "Deployment", "special-resource-controller-manager",
                                       "replaced");
    assert_int_equal(sw_json_int(sro, 0, "pods", NULL), 1);
    (void)entry_of(doc, "ServiceAccount", "special-resource-controller-manager", "left");
    forget_written();
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_replaced_and_no_label_moves),
        cmocka_unit_test(takeover_that_is_killed_goes_on_the_same),
        cmocka_unit_test(takeover_of_a_parent_that_is_killed_goes_on_the_same),
        cmocka_unit_test(three_turns_with_sro_replace_nothing),
        cmocka_unit_test(change_that_replaces_pods_brings_the_grace_period),
        cmocka_unit_test(driver_of_slipways_has_the_form_that_sro_gives_it),
        cmocka_unit_test(child_that_sro_made_is_taken_over_with_its_parent),
        cmocka_unit_test(child_with_another_account_has_its_own_values),
        cmocka_unit_test(plan_says_that_nothing_changes),
        cmocka_unit_test(plan_knows_which_fields_go),
        cmocka_unit_test(plan_renders_templates_of_the_values),
        cmocka_unit_test(plan_names_what_changes),
        cmocka_unit_test(plan_knows_that_node_selectors_stay),
        cmocka_unit_test(plan_names_what_is_refused_and_who_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
