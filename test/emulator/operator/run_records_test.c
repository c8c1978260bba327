/* What slipway keeps in the cluster is not believed when others have changed it: Helm's records of
 * a release, whose hooks run when the resource is deleted, and what a rollback goes back to. */
#include "run_sro.h"
#include "sample.h"

#include "data/text/base64.h"
#include "operator/release/record.h"

#define RECORD(n) "sh.helm.release.v1.rel.v" n
#define KEPT "slipway.rollback.rel"
#define ACCOUNT "system:serviceaccount:rel:author"

static const char chart[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
    "data:\n  color: {{ .Values.color | quote }}\n"
    "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: bye\n  annotations:\n"
    "    helm.sh/hook: pre-delete\n    color: {{ .Values.color | quote }}\nspec:\n"
    "  backoffLimit: 0\n"
    "  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i}]\n";
static const char values[] = "color: none\n";

/* What whoever forges a record wants of the operator. */
static const char evil[] =
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: evil\n"
    "  annotations:\n    helm.sh/hook: pre-delete\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
    "subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: mallory}]\n";

static const char *evil_as; /* whom the binding was written as; "": the operator; NULL: not */

static void note_evil(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                      struct world *w SW_UNUSED)
{
    if (!sw_streq(req->name, "evil") || !sw_streq(req->verb, "patch"))
        return;
    evil_as = sw_streq(req->as_user, ACCOUNT) ? ACCOUNT : req->as_user ? "another account" : "";
}

static const char *data_kind(const struct world *w)
{
    return w->releases == SW_RELEASES_SECRETS ? "Secret" : "ConfigMap";
}

struct wanted {
    const char *name, *status;
};

static bool is_recorded(struct world *w, void *arg)
{
    const struct wanted *wanted = arg;
    struct json_object *record = world_get(w, "v1", data_kind(w), "rel", wanted->name);
    return record && sw_streq(sw_obj_label(record, "status"), wanted->status);
}

static void until_recorded(struct world *w, const char *name, const char *status)
{
    struct wanted wanted = { name, status };
    if (!world_until(w, is_recorded, &wanted, 10 * 60000))
        fail_msg("%s is never %s", name, status);
}

static char *begin(struct world *w)
{
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", values },
                               { "templates/0000-c.yaml", chart });
    evil_as = NULL;
    if (!w->on_request)
        w->on_request = note_evil;
    world_open(w);
    assert_int_equal(world_create(w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                     "\"name\":\"rel\"}}"),
                     0);
    sro_apply(w, dir);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"serviceAccountName\":\"author\"}}"),
                     0);
    return root;
}

static char *recorded(struct world *w)
{
    char *root = begin(w);
    world_start(w);
    sro_until(w, "rel", "Ready", NULL);
    until_recorded(w, RECORD("1"), "deployed");
    world_wait(w, 5000);
    return root;
}

static void delete_it(struct world *w)
{
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, "rel"), 0);
}

static void until_gone(struct world *w)
{
    sro_until_gone(w, SR_VERSION, "SpecialResource", NULL, "rel");
}

static void set_color(struct world *w, const char *color)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"set\":{\"kind\":\"Values\",\"color\":\"%s\"}}}",
                                     color);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

static void annotate(struct world *w, const char *key, const char *value)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}}", key,
                                     value);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

static bool has_event(struct world *w, const char *reason, const char *words)
{
    struct json_object *events = world_get(w, "v1", "Event", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(events); i++)
        if (sw_streq(sw_json_str(sw_json_at(events, i), "", "reason", NULL), reason) &&
            strstr(sw_json_str(sw_json_at(events, i), "", "message", NULL), words))
            return true;
    return false;
}

/* ---- forged records ----------------------------------------------------------------------------
 */

/* A release with the hook @manifest; the caller's. */
static struct json_object *forged(const char *manifest)
{
    struct json_object *release = json_object_new_object(), *hook = json_object_new_object();
    sw_json_set_str(release, "rel", "name", NULL);
    sw_json_set_str(release, "deployed", "info", "status", NULL);
    sw_json_set_str(hook, manifest, "manifest", NULL);
    sw_json_set_str(hook, "rel/templates/evil.yaml", "path", NULL);
    (void)json_object_array_add(sw_json_need_list(hook, "events", NULL),
                                json_object_new_string("pre-delete"));
    (void)json_object_array_add(sw_json_need_list(release, "hooks", NULL), hook);
    return release;
}

/* Its text in the object that keeps it; heap. */
static char *forged_data(const struct world *w, const char *manifest)
{
    SW_AUTO_JSON *release = forged(manifest);
    SW_AUTO_CHARS *packed = sw_release_pack(release);
    SW_AUTO_JSON *data = sw_release_data(w->releases == SW_RELEASES_SECRETS, packed);
    return sw_strdup(json_object_to_json_string(data));
}

static void rewrite(struct world *w, const char *name, const char *manifest)
{
    SW_AUTO_CHARS *data = forged_data(w, manifest);
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":%s}", data);
    assert_int_equal(world_patch(w, "v1", data_kind(w), "rel", name, NULL, patch), 0);
}

static void plant(struct world *w, const char *version, const char *manifest)
{
    SW_AUTO_CHARS *data = forged_data(w, manifest);
    SW_AUTO_CHARS *doc = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"sh.helm.release.v1.rel.v%s"
        "\",\"namespace\":\"rel\",\"labels\":{\"owner\":\"helm\",\"name\":\"rel\",\"status\":"
        "\"deployed\",\"version\":\"%s\"}},\"data\":%s}",
        data_kind(w), version, version, data);
    assert_int_equal(world_create(w, doc), 0);
}

static void a_record_that_others_changed_is_not_used(void **state)
{
    (void)state;
    static const enum sw_releases kinds[] = { SW_RELEASES_CONFIG_MAPS, SW_RELEASES_SECRETS };
    for (size_t i = 0; i < 2 * SW_COUNT(kinds); i++) {
        struct world w = { .releases = kinds[i / 2] };
        char *root = recorded(&w);
        bool restart = i % 2;
        rewrite(&w, RECORD("1"), evil);
        if (restart) {
            world_kill(&w);
            world_start(&w);
        }
        delete_it(&w);
        sro_until(&w, "rel", "Errored", RECORD("1") " is not used: it is not what slipway wrote");
        assert_true(has_event(&w, "RecordNotUsed", RECORD("1")));
        world_wait(&w, 10 * 60000);
        assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c")); /* somebody has to decide */
        annotate(&w, "slipway.dev/no-hooks", "true");
        until_gone(&w);
        assert_null(evil_as);
        world_close(&w);
        chart_remove(root);
    }
}

static bool bye_is_there(struct world *w, void *arg SW_UNUSED)
{
    return world_get(w, "batch/v1", "Job", "rel", "bye");
}

static void a_record_that_others_added_is_not_used(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = recorded(&w);
    plant(&w, "99", evil);
    delete_it(&w);
    assert_true(world_until(&w, bye_is_there, NULL, 10 * 60000)); /* of the record before it */
    until_gone(&w);
    assert_null(evil_as);
    assert_true(has_event(&w, "RecordNotUsed", RECORD("99")));
    world_close(&w);
    chart_remove(root);
}

/* After an upgrade by helm the newest record is helm's: whoever may write the resource accepts it,
 * and its hooks run as the resource's account. */
static void a_record_of_others_can_be_accepted(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = recorded(&w), digest[SW_SHA256_HEX];
    plant(&w, "2", evil);
    struct json_object *record = world_get(&w, "v1", "Secret", "rel", RECORD("2"));
    SW_AUTO_JSON *release = NULL;
    SW_ERR(err);
    assert_int_equal(sw_release_of_record(record, &release, &err), 0);
    sw_release_digest(record, release, digest);
    SW_AUTO_CHARS *accepted = sw_printf(RECORD("2") "@%s", digest);
    annotate(&w, SW_RECORD_ACCEPTED, accepted);
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(evil_as, ACCOUNT);
    world_close(&w);
    chart_remove(root);
}

static void an_object_with_the_labels_alone_is_no_record(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = recorded(&w);
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{"
                                      "\"name\":\"login\",\"namespace\":\"rel\",\"labels\":{"
                                      "\"owner\":\"helm\",\"name\":\"rel\",\"status\":\"deployed\","
                                      "\"version\":\"7\"}}}"),
                     0);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"managementState\":\"Removed\"}}"),
                     0);
    sro_until_gone(&w, "v1", "Secret", "rel", RECORD("1"));
    world_wait(&w, 1000);
    assert_non_null(world_get(&w, "v1", "Secret", "rel", "login"));
    assert_null(sw_json_find(sro_get(&w, "rel"), "status", "records", RECORD("1"), NULL));
    world_close(&w);
    chart_remove(root);
}

/* ---- records without a digest ------------------------------------------------------------------
 */

/* The records of an older version, or of SRO: there is a status without digests. */
static void forget_digests(struct world *w)
{
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", "status",
                                 "{\"status\":{\"records\":null,\"recordsIn\":null}}"),
                     0);
}

static void what_has_no_digest_is_taken_over_once(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = recorded(&w);
    world_kill(&w);
    forget_digests(&w);
    rewrite(&w, RECORD("1"), evil);
    w.releases = SW_RELEASES_SECRETS;
    world_start(&w);
    sro_until(&w, "rel", "RecordsAtRisk", "The release records are ConfigMaps");
    assert_true(has_event(&w, "ReleasesInConfigMaps", "slipway releases --to-secrets rel"));
    assert_null(world_get(&w, "v1", "Secret", "rel", RECORD("1")));
    assert_non_null(sw_json_find(sro_get(&w, "rel"), "status", "records", RECORD("1"), NULL));
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(evil_as, ACCOUNT); /* which may make no such binding */
    world_close(&w);
    chart_remove(root);
}

static void a_new_resource_takes_over_no_config_map(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = begin(&w);
    w.releases = SW_RELEASES_CONFIG_MAPS;
    plant(&w, "1", evil);
    w.releases = SW_RELEASES_SECRETS;
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    until_recorded(&w, RECORD("1"), "deployed");
    assert_string_equal(sw_json_str(sro_get(&w, "rel"), "", "status", "recordsIn", NULL), "Secret");
    delete_it(&w);
    until_gone(&w);
    assert_null(evil_as);
    world_close(&w);
    chart_remove(root);
}

static void set_url(struct world *w, const char *url)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"chart\":{\"repository\":{\"url\":\"%s\"}}}}",
                                     url);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

/* A status does not make a resource an old one: its recipe could not be loaded, and the controller
 * was started again. */
static void nor_does_one_that_was_not_walked_before_a_restart(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = begin(&w);
    SW_AUTO_CHARS *url = sw_strdup(
        sw_json_str(sro_get(&w, "rel"), "", "spec", "chart", "repository", "url", NULL));
    set_url(&w, "file:///nowhere");
    world_start(&w);
    sro_until(&w, "rel", "Errored", NULL);
    world_kill(&w);
    w.releases = SW_RELEASES_CONFIG_MAPS;
    plant(&w, "1", evil);
    w.releases = SW_RELEASES_SECRETS;
    set_url(&w, url);
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    until_recorded(&w, RECORD("1"), "deployed");
    assert_string_equal(sw_json_str(sro_get(&w, "rel"), "", "status", "recordsIn", NULL), "Secret");
    delete_it(&w);
    until_gone(&w);
    assert_null(evil_as);
    world_close(&w);
    chart_remove(root);
}

/* ---- releases of others ------------------------------------------------------------------------
 */

static void may_nothing(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                        struct world *w)
{
    note_evil(req, fault, w);
    if (req->as_user)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

/* The author chooses name and namespace, and so a release that helm made there for somebody else.
 * His resource's account may do nothing, so he must not get it done by the operator either. */
static void what_others_released_stays(void **state)
{
    (void)state;
    static const char *const states[] = { "Managed", "Removed" };
    struct world w = { .releases = SW_RELEASES_SECRETS, .on_request = may_nothing };
    char *root = begin(&w);
    plant(&w, "1", evil);
    SW_AUTO_CHARS *before = sw_strdup(
        json_object_to_json_string(world_get(&w, "v1", "Secret", "rel", RECORD("1"))));
    for (size_t i = 0; i < SW_COUNT(states); i++) {
        SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"managementState\":\"%s\"}}", states[i]);
        assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch),
                         0);
        world_start(&w);
        world_wait(&w, 10 * 60000);
        world_kill(&w);
    }
    world_start(&w);
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(
        json_object_to_json_string(world_get(&w, "v1", "Secret", "rel", RECORD("1"))), before);
    assert_null(world_get(&w, "v1", "Secret", "rel", RECORD("2")));
    assert_null(evil_as);
    world_close(&w);
    chart_remove(root);
}

static void may_nothing_in_rel(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                               struct world *w)
{
    note_evil(req, fault, w);
    if (sw_streq(req->as_user, ACCOUNT))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static void set_spec(struct world *w, const char *field, const char *value)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"%s\":\"%s\"}}", field, value);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

/* Nor does it help to have records of the same name where the account may write, and then to move
 * the resource. */
static void also_from_a_resource_that_moves_there(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS, .on_request = may_nothing_in_rel };
    char *root = begin(&w);
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                      "\"name\":\"mine\"}}"),
                     0);
    plant(&w, "1", evil);
    SW_AUTO_CHARS *before = sw_strdup(
        json_object_to_json_string(world_get(&w, "v1", "Secret", "rel", RECORD("1"))));
    set_spec(&w, "namespace", "mine");
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    sro_until_there(&w, "v1", "Secret", "mine", RECORD("1"));
    set_spec(&w, "namespace", "rel");
    world_wait(&w, 10 * 60000);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    set_spec(&w, "managementState", "Removed");
    world_wait(&w, 10 * 60000);
    assert_string_equal(
        json_object_to_json_string(world_get(&w, "v1", "Secret", "rel", RECORD("1"))), before);
    assert_null(world_get(&w, "v1", "Secret", "rel", RECORD("2")));
    assert_null(evil_as);
    world_close(&w);
    chart_remove(root);
}

/* ---- from ConfigMaps to Secrets ----------------------------------------------------------------
 */

static bool is_moved(struct world *w, void *arg SW_UNUSED)
{
    return sw_streq(sw_json_str(sro_get(w, "rel"), "", "status", "recordsIn", NULL), "Secret");
}

/* Two revisions in ConfigMaps, as an older version left them, and a controller that would write
 * Secrets. */
static char *begin_old(struct world *w)
{
    w->releases = SW_RELEASES_CONFIG_MAPS;
    char *root = recorded(w);
    set_color(w, "red");
    until_recorded(w, RECORD("2"), "deployed");
    world_wait(w, 5000);
    world_kill(w);
    forget_digests(w);
    w->releases = SW_RELEASES_SECRETS;
    return root;
}

static void must_be_moved(struct world *w)
{
    static const char *const names[] = { RECORD("1"), RECORD("2") };
    if (!world_until(w, is_moved, NULL, 10 * 60000))
        fail_msg("the records are not moved");
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        struct json_object *record = world_get(w, "v1", "Secret", "rel", names[i]);
        assert_string_equal(sw_json_str(record, "", "type", NULL), "helm.sh/release.v1");
        assert_string_equal(sw_obj_label(record, "status"), i ? "deployed" : "superseded");
        assert_non_null(sw_json_find(record, "metadata", "ownerReferences", NULL));
        assert_null(world_get(w, "v1", "ConfigMap", "rel", names[i]));
    }
}

static void records_are_moved_when_somebody_asks_for_it(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = begin_old(&w);
    world_start(&w);
    sro_until(&w, "rel", "RecordsAtRisk", "slipway releases --to-secrets");
    annotate(&w, "slipway.dev/releases", "secret");
    must_be_moved(&w);
    world_wait(&w, 5000);
    struct json_object *risk = sw_obj_condition(sro_get(&w, "rel"), "RecordsAtRisk");
    assert_string_equal(sw_json_str(risk, "", "status", NULL), "False");
    set_color(&w, "blue"); /* and it goes on there */
    until_recorded(&w, RECORD("3"), "deployed");
    assert_null(world_get(&w, "v1", "ConfigMap", "rel", RECORD("3")));
    delete_it(&w);
    assert_true(world_until(&w, bye_is_there, NULL, 10 * 60000));
    until_gone(&w);
    world_close(&w);
    chart_remove(root);
}

static void a_record_that_others_changed_is_not_moved(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = begin_old(&w);
    world_start(&w);
    sro_until(&w, "rel", "RecordsAtRisk", "slipway releases --to-secrets");
    w.releases = SW_RELEASES_CONFIG_MAPS;
    rewrite(&w, RECORD("1"), evil);
    annotate(&w, "slipway.dev/releases", "secret");
    world_wait(&w, 60000);
    assert_true(has_event(&w, "ReleasesNotMoved", RECORD("1")));
    assert_null(world_get(&w, "v1", "Secret", "rel", RECORD("1")));
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", RECORD("2")));
    world_close(&w);
    chart_remove(root);
}

/* ---- what a rollback goes back to --------------------------------------------------------------
 */

static char *kept(struct world *w)
{
    char *root = begin(w);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"rollback\":true,\"stateTimeout\":\"3m\"}}"),
                     0);
    world_start(w);
    sro_until(w, "rel", "Ready", NULL);
    sro_until_there(w, "v1", "Secret", "rel", KEPT);
    world_wait(w, 60000);
    return root;
}

/* As whoever may write Secrets there: the state was ready with the binding, and the present content
 * has failed. */
static void forge_kept(struct world *w)
{
    struct json_object *secret = world_get(w, "v1", "Secret", "rel", KEPT), *all = NULL;
    const char *twice = sw_json_str(secret, "", "data", "states", NULL);
    size_t len;
    char hash[SW_SHA256_HEX];
    SW_AUTO_CHARS *text = sw_base64_decode(twice, strlen(twice), &len);
    SW_ERR(err);
    assert_int_equal(sw_release_unpack(text, len, 0, &all, &err), 0);
    struct json_object *doc = NULL, *item = sw_json_at(sw_json_get(all, "states"), 0),
                       *objects = sw_json_get(item, "objects");
    assert_int_equal(sw_yaml_parse(evil, strlen(evil), &(struct sw_yaml_opts){ 0 }, &doc, &err), 0);
    SW_AUTO_JSON *now = sw_json_copy(objects);
    sw_json_sha256(now, hash);
    sw_json_set_str(item, hash, "failed", NULL);
    sw_json_set(sw_json_at(objects, 0), doc, "doc", NULL);
    sw_json_sha256(objects, hash);
    sw_json_set_str(item, hash, "ready", NULL);
    SW_AUTO_CHARS *packed = sw_release_pack(all);
    SW_AUTO_CHARS *encoded = sw_base64_encode(packed, strlen(packed), &len);
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":{\"states\":\"%s\"}}", encoded);
    json_object_put(all);
    assert_int_equal(world_patch(w, "v1", "Secret", "rel", KEPT, NULL, patch), 0);
}

static void what_others_keep_is_not_gone_back_to(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = kept(&w);
    forge_kept(&w);
    world_kill(&w);
    world_start(&w);
    sro_until(&w, "rel", "RecordsAtRisk", KEPT " is not used: it is not what slipway wrote");
    assert_true(has_event(&w, "RecordNotUsed", KEPT));
    world_must_be_ready(&w);
    world_wait(&w, 10 * 60000);
    assert_null(evil_as);
    struct json_object *risk = sw_obj_condition(sro_get(&w, "rel"), "RecordsAtRisk");
    assert_string_equal(sw_json_str(risk, "", "reason", NULL), "AsWritten"); /* written anew */
    world_close(&w);
    chart_remove(root);
}

static void what_an_older_version_kept_is_gone_back_to(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = kept(&w);
    world_kill(&w);
    forget_digests(&w);
    forge_kept(&w);
    world_start(&w);
    sro_until(&w, "rel", "RolledBack", NULL);
    for (int i = 0; i < 1000 && !evil_as; i++)
        world_wait(&w, 10);
    assert_string_equal(evil_as, ACCOUNT);
    world_close(&w);
    chart_remove(root);
}

/* ---- what must not be read by all --------------------------------------------------------------
 */

static void nothing_that_all_may_read_holds_a_password(void **state)
{
    (void)state;
    static const char secret[] = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"
                                 "stringData:\n  password: hunter-{{ \"two\" }}\n";
    static const struct {
        const char *api_version, *kind, *ns;
    } open[] = { { "v1", "ConfigMap", "rel" },
                 { "v1", "ConfigMap", "default" },
                 { "v1", "Event", "default" },
                 { SR_VERSION, "SpecialResource", NULL } };
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", values },
                               { "templates/0000-c.yaml", chart },
                               { "templates/0001-s.yaml", secret });
    world_open(&w);
    sro_apply(&w, dir);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"rollback\":true,\"debug\":true}}"),
                     0);
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    until_recorded(&w, RECORD("1"), "deployed");
    sro_until_there(&w, "v1", "Secret", "rel", KEPT);
    for (size_t i = 0; i < SW_COUNT(open); i++) {
        struct json_object *all = world_get(&w, open[i].api_version, open[i].kind, open[i].ns,
                                            NULL);
        const char *text = json_object_to_json_string(all);
        if (strstr(text, "hunter-two") || strstr(text, "aHVudGVyLXR3bw"))
            fail_msg("a %s holds it", open[i].kind);
        for (size_t k = 0; k < sw_json_len(all); k++)
            assert_null(sw_json_find(sw_json_at(all, k), "data", "release", NULL));
    }
    world_close(&w);
    chart_remove(root);
}

/* ---- killed in between -------------------------------------------------------------------------
 */

static void kill_when_due(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                          struct world *w)
{
    note_evil(req, fault, w);
    if (w->kill_at && w->n_requests == w->kill_at)
        w->killed = true;
}

static bool was_killed(struct world *w, void *arg)
{
    return w->killed || is_recorded(w, arg);
}

/* While the records of an upgrade are written (begun, then deployed, the older one superseded), the
 * controller is killed after its n-th request: the record that is there is always believed. */
static void a_record_is_believed_whenever_the_controller_was_killed(void **state)
{
    (void)state;
    struct sample sample = sample_of(5);
    struct wanted second = { RECORD("2"), "deployed" };
    for (uint64_t at = 1; at < 200; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { .releases = SW_RELEASES_SECRETS, .on_request = kill_when_due };
        char *root = recorded(&w);
        world_count(&w);
        w.kill_at = at;
        set_color(&w, "red");
        assert_true(world_until(&w, was_killed, &second, 10 * 60000));
        bool killed = w.killed;
        world_kill(&w);
        w.kill_at = 0;
        bool deleted_first = at % 2; /* the next controller deletes at once, or walks first */
        if (deleted_first)
            delete_it(&w);
        world_start(&w);
        if (!deleted_first) {
            until_recorded(&w, RECORD("2"), "deployed");
            delete_it(&w);
        }
        if (!world_until(&w, bye_is_there, NULL, 10 * 60000))
            fail_msg("killed after request %d: %s", (int)at,
                     json_object_to_json_string(sw_json_get(sro_get(&w, "rel"), "status")));
        until_gone(&w);
        world_close(&w);
        chart_remove(root);
        if (!killed)
            return;
    }
    fail_msg("it never ran through");
}

static bool is_moved_or_killed(struct world *w, void *arg)
{
    return w->killed || is_moved(w, arg);
}

/* Move the records, but kill the controller after its request @at. @return whether it came so far
 */
static bool move_until_killed(struct world *w, uint64_t at)
{
    world_start(w);
    sro_until(w, "rel", "RecordsAtRisk", NULL);
    world_wait(w, 5000);
    world_count(w);
    w->kill_at = at;
    annotate(w, "slipway.dev/releases", "secret");
    assert_true(world_until(w, is_moved_or_killed, NULL, 10 * 60000));
    const bool killed = w->killed;
    world_kill(w);
    w->kill_at = 0;
    return killed;
}

static void records_are_moved_whenever_the_controller_was_killed(void **state)
{
    (void)state;
    struct sample sample = sample_of(5);
    for (uint64_t at = 1; at < 200; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { .on_request = kill_when_due };
        char *root = begin_old(&w);
        const bool killed = move_until_killed(&w, at);
        world_start(&w);
        must_be_moved(&w);
        delete_it(&w);
        if (!world_until(&w, bye_is_there, NULL, 10 * 60000))
            fail_msg("killed after request %d: the record is not believed", (int)at);
        until_gone(&w);
        world_close(&w);
        chart_remove(root);
        if (!killed)
            return;
    }
    fail_msg("it never ran through");
}

/* The same, but that the resource is removed before the next controller starts. */
static void nothing_is_left_where_it_was_removed_while_records_were_moved(void **state)
{
    (void)state;
    struct sample sample = sample_of(3);
    static const char *const kinds[] = { "ConfigMap", "Secret" };
    for (uint64_t at = 1; at < 200; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { .on_request = kill_when_due };
        char *root = begin_old(&w);
        const bool killed = move_until_killed(&w, at);
        set_spec(&w, "managementState", "Removed");
        world_start(&w);
        world_wait(&w, 10 * 60000);
        for (size_t i = 0; i < SW_COUNT(kinds); i++)
            for (size_t k = 1; k <= 2; k++)
                if (world_get(&w, "v1", kinds[i], "rel", k == 1 ? RECORD("1") : RECORD("2")))
                    fail_msg("killed after request %d: %s %zu is left", (int)at, kinds[i], k);
        world_close(&w);
        chart_remove(root);
        if (!killed)
            return;
    }
    fail_msg("it never ran through");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_others_changed_is_not_used),
        cmocka_unit_test(a_record_that_others_added_is_not_used),
        cmocka_unit_test(a_record_of_others_can_be_accepted),
        cmocka_unit_test(an_object_with_the_labels_alone_is_no_record),
        cmocka_unit_test(what_has_no_digest_is_taken_over_once),
        cmocka_unit_test(a_new_resource_takes_over_no_config_map),
        cmocka_unit_test(nor_does_one_that_was_not_walked_before_a_restart),
        cmocka_unit_test(what_others_released_stays),
        cmocka_unit_test(also_from_a_resource_that_moves_there),
        cmocka_unit_test(records_are_moved_when_somebody_asks_for_it),
        cmocka_unit_test(a_record_that_others_changed_is_not_moved),
        cmocka_unit_test(records_are_moved_whenever_the_controller_was_killed),
        cmocka_unit_test(nothing_is_left_where_it_was_removed_while_records_were_moved),
        cmocka_unit_test(what_others_keep_is_not_gone_back_to),
        cmocka_unit_test(what_an_older_version_kept_is_gone_back_to),
        cmocka_unit_test(nothing_that_all_may_read_holds_a_password),
        cmocka_unit_test(a_record_is_believed_whenever_the_controller_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
