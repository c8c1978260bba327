/* A cluster on which SRO ran is taken over, given back and taken over again: what does not differ
 * in meaning stays as it is. takeover/left.yaml says what SRO left. */
#include "run_sro.h"

#define TAKEOVER SW_SOURCE_DIR "/test/emulator/operator/takeover"

/* ---- what SRO left -----------------------------------------------------------------------------
 */

/* Owners of the file have no uid. */
static void name_owners(struct world *w, struct json_object *doc)
{
    struct json_object *owners = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(owners); i++) {
        struct json_object *owner = sw_json_at(owners, i);
        SW_AUTO_CHARS *uid = sw_strdup(
            sw_obj_uid(sro_get(w, sw_json_str(owner, "", "name", NULL))));
        sw_json_set_str(owner, uid, "uid", NULL);
    }
}

static void send_as_sro(struct world *w, struct json_object *doc, bool update)
{
    const struct sw_kind *k = world_kind(w, sw_obj_api_version(doc), sw_obj_kind(doc));
    const struct sw_request_opts opts = { .field_manager = "manager" };
    const char *ns = *sw_obj_namespace(doc) ? sw_obj_namespace(doc) : NULL;
    assert_non_null(k);
    w->answer_code = SW_PENDING;
    if (update)
        (void)sw_kube_update(w->conn.kube, k, ns, sw_obj_name(doc), doc, &opts, world_on_answer, w);
    else
        (void)sw_kube_create(w->conn.kube, k, ns, NULL, doc, &opts, world_on_answer, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    if (w->answer_code < 0)
        fail_msg("%s %s: %d", sw_obj_kind(doc), sw_obj_name(doc), w->answer_code);
}

static void create_left(struct world *w, struct json_object *doc)
{
    SW_AUTO_JSON *body = sw_json_copy(doc);
    SW_AUTO_JSON *status = sw_json_copy(sw_json_get(doc, "status"));
    const char *url = sw_json_str(doc, "", "spec", "chart", "repository", "url", NULL);
    if (sw_starts_with(url, "CHARTS")) {
        SW_AUTO_CHARS *here = sw_printf("file://" TAKEOVER "%s", url + strlen("CHARTS"));
        sw_json_set_str(body, here, "spec", "chart", "repository", "url", NULL);
    }
    name_owners(w, body);
    send_as_sro(w, body, false);
    if (!status)
        return;
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(patch, json_object_get(status), "status", NULL);
    assert_int_equal(world_patch(w, sw_obj_api_version(doc), sw_obj_kind(doc), NULL,
                                 sw_obj_name(doc), "status", json_object_to_json_string(patch)),
                     0);
}

static void left_each(struct world *w, const char *kind,
                      void (*each)(struct world *w, struct json_object *doc))
{
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    assert_int_equal(sw_file_read(TAKEOVER "/left.yaml", 1 << 20, &text, &len, &err), 0);
    if (sw_yaml_parse_all(text, len, NULL, &docs, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < docs.n_docs; i++)
        if (!kind || sw_streq(sw_obj_kind(docs.docs[i].object), kind))
            each(w, docs.docs[i].object);
    sw_yaml_docs_done(&docs);
}

/* ---- what was written --------------------------------------------------------------------------
 */

static unsigned n_node_writes;
static char *first_node_write;

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w SW_UNUSED)
{
    bool write = sw_streq(req->verb, "patch") || sw_streq(req->verb, "update");
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
    { SR_VERSION, "SpecialResource", NULL },
};

/* Which objects there are, with uid and generation, and the labels of nodes: a text. */
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
                      sw_obj_uid(doc), (int)sw_json_int(doc, 0, "metadata", "generation", NULL),
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

static void open_left(struct world *w)
{
    size_t n_pods = 9; /* three DaemonSets' on three nodes */
    *w = (struct world){ .on_request = on_request };
    world_open_with(w,
                    &(struct sw_emulator_opts){ .no_nodes = true, .delays = sw_emu_delays_human });
    SW_AUTO_CHARS *dir = sw_strdup(TAKEOVER "/rolling");
    sro_apply(w, dir); /* the definitions */
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, "rolling"), 0);
    left_each(w, NULL, create_left);
    if (!world_until(w, pods_run, &n_pods, 10 * 60000)) {
        SW_AUTO_CHARS *now = picture(w);
        fail_msg("pods do not run:\n%s", now);
    }
    world_wait(w, 60000); /* the Job's pod ends */
    forget_written();
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
    forget_written();
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_replaced_and_no_label_moves),
        cmocka_unit_test(three_turns_with_sro_replace_nothing),
        cmocka_unit_test(change_that_replaces_pods_brings_the_grace_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
