/* Releases as Helm reads them, and hooks of installs and upgrades. */
#include "run_sro.h"

#include "operator/release/record.h"

static const char config[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
                             "data:\n  color: {{ .Values.color | quote }}\n";
static const char plain[] = "color: none\n";

static char *simple(const char *root)
{
    return CHART(root, "rel", { "values.yaml", plain }, { "templates/0000-c.yaml", config });
}

static void set_color(struct world *w, const char *color)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"set\":{\"kind\":\"Values\",\"color\":\"%s\"}}}",
                                     color);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

struct wanted_record {
    const char *kind, *name, *status;
};

static bool is_recorded(struct world *w, void *arg)
{
    const struct wanted_record *wanted = arg;
    struct json_object *record = world_get(w, "v1", wanted->kind, "rel", wanted->name);
    return record && sw_streq(sw_obj_label(record, "status"), wanted->status);
}

/* The record, unpacked; the caller's. */
static struct json_object *record_of(struct world *w, const char *kind, const char *name,
                                     const char *status)
{
    struct wanted_record wanted = { kind, name, status };
    if (!world_until(w, is_recorded, &wanted, 60000))
        fail_msg("%s %s is never %s: %s", kind, name, status,
                 json_object_to_json_string(world_get(w, "v1", kind, "rel", name)));
    struct json_object *record = world_get(w, "v1", kind, "rel", name), *release = NULL;
    assert_string_equal(sw_obj_label(record, "owner"), "helm");
    assert_string_equal(sw_obj_label(record, "name"), "rel");
    SW_ERR(err);
    const char *data = sw_json_str(record, "", "data", "release", NULL);
    if (sw_streq(kind, "ConfigMap") && sw_release_unpack(data, strlen(data), 0, &release, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return release;
}

static void release_is_recorded_as_helm_reads_it(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = simple(root);
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    SW_AUTO_JSON *r = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed");
    assert_string_equal(sw_json_str(r, "", "name", NULL), "rel");
    assert_string_equal(sw_json_str(r, "", "namespace", NULL), "rel");
    assert_string_equal(sw_json_str(r, "", "info", "status", NULL), "deployed");
    assert_string_equal(sw_json_str(r, "", "info", "description", NULL), "Install complete");
    assert_string_equal(sw_json_str(r, "", "chart", "metadata", "version", NULL), "0.0.1");
    assert_string_equal(sw_json_str(r, "", "chart", "values", "color", NULL), "none");
    assert_int_equal(sw_json_len(sw_json_find(r, "chart", "templates", NULL)), 1);
    assert_non_null(strstr(sw_json_str(r, "", "manifest", NULL),
                           "---\n# Source: rel/templates/0000-c.yaml\napiVersion: v1"));
    assert_int_equal(sw_json_int(r, 0, "version", NULL), 1);
    world_close(&w);
    chart_remove(root);
}

static void each_revision_is_recorded_once(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = simple(root);
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    json_object_put(record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed"));
    set_color(&w, "red");
    SW_AUTO_JSON *two = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v2", "deployed");
    SW_AUTO_JSON *one = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "superseded");
    assert_string_equal(sw_json_str(two, "", "config", "color", NULL), "red");
    assert_string_equal(sw_json_str(one, "", "info", "status", NULL), "superseded");
    world_wait(&w, 5000);
    world_kill(&w);
    world_start(&w);
    world_must_be_ready(&w);
    world_wait(&w, 60000);
    assert_null(world_get(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v3"));
    for (int i = 3; i <= 12; i++) {
        SW_AUTO_CHARS *color = sw_printf("c%d", i);
        SW_AUTO_CHARS *name = sw_printf("sh.helm.release.v1.rel.v%d", i);
        set_color(&w, color);
        json_object_put(record_of(&w, "ConfigMap", name, "deployed"));
    }
    sro_until_gone(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v2");
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v3"));
    world_close(&w);
    chart_remove(root);
}

static void what_is_removed_is_no_release_any_more(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = simple(root);
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    json_object_put(record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed"));
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"managementState\":\"Removed\"}}"),
                     0);
    sro_until_gone(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v1");
    sro_until_gone(&w, "v1", "ConfigMap", "rel", "c");
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"managementState\":\"Force\"}}"),
                     0);
    sro_until(&w, "rel", "Ready", NULL);
    json_object_put(record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed"));
    world_close(&w);
    chart_remove(root);
}

static void releases_may_be_secrets(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_SECRETS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = simple(root);
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    json_object_put(record_of(&w, "Secret", "sh.helm.release.v1.rel.v1", "deployed"));
    struct json_object *secret = world_get(&w, "v1", "Secret", "rel", "sh.helm.release.v1.rel.v1");
    assert_string_equal(sw_json_str(secret, "", "type", NULL), "helm.sh/release.v1");
    world_close(&w);
    chart_remove(root);
}

static bool says_too_large(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *events = world_get(w, "v1", "Event", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(events); i++)
        if (sw_streq(sw_json_str(sw_json_at(events, i), "", "reason", NULL), "ReleaseNotRecorded"))
            return strstr(sw_json_str(sw_json_at(events, i), "", "message", NULL), "too large");
    return false;
}

static void release_that_is_too_large_is_a_warning(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    size_t len = 1500000;
    SW_AUTO_CHARS *noise = sw_alloc(len + 1);
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < len; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        noise[i] = (char)('0' + random % 64);
    }
    noise[len] = '\0';
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "noise", noise }, { "values.yaml", plain },
                               { "templates/0000-c.yaml", config });
    world_open(&w);
    sw_log_set_level(SW_LOG_ERROR);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    assert_true(world_until(&w, says_too_large, NULL, 60000));
    assert_null(world_get(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v1"));
    world_close(&w);
    chart_remove(root);
}

/* ---- releases of subcharts ---------------------------------------------------------------------
 */

static void forbid_records_of_gpus(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                                   struct world *w SW_UNUSED)
{
    if (sw_streq(req->resource, "configmaps") && sw_streq(req->verb, "list") &&
        sw_streq(req->ns, "gpus"))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

/* Where the cluster has it already, say, the recipe's account has no rights for it. */
static void of_a_release_that_is_not_installed_no_record_is_missed(void **state)
{
    (void)state;
    static const char *const installs[] = { "true", "false" };
    for (size_t i = 0; i < SW_COUNT(installs); i++) {
        struct world w = { .releases = SW_RELEASES_CONFIG_MAPS,
                           .on_request = forbid_records_of_gpus };
        char *root = chart_root();
        SW_AUTO_CHARS *helper = sw_printf("{{ define \"installs\" }}%s{{ end }}\n", installs[i]);
        SW_AUTO_CHARS *dir = CHART(
            root, "rel",
            { "Chart.yaml", "apiVersion: v2\nname: rel\nversion: 0.0.1\nannotations:\n"
                            "  slipway.dev/releases: |\n"
                            "    gpu: {name: gpu, namespace: gpus, if: installs}\n" },
            { "values.yaml", plain }, { "templates/_h.tpl", helper },
            { "templates/0000-c.yaml", config },
            { "charts/gpu/Chart.yaml", "apiVersion: v2\nname: gpu\nversion: 0.0.1\n" },
            { "charts/gpu/templates/c.yaml",
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: g}\n" });
        world_open(&w);
        sro_run(&w, dir);
        sro_until(&w, "rel", "Ready", NULL);
        world_wait(&w, 60000);
        SW_AUTO_CHARS *told = sro_events(&w, "ReleaseNotRecorded");
        assert_int_equal(strstr(told, "release gpu of namespace gpus") != NULL, i == 0);
        world_close(&w);
        chart_remove(root);
    }
}

/* ---- hooks -------------------------------------------------------------------------------------
 */

#define HOOK_JOB(name, when, more)                                                                 \
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " name                                    \
    "\n  annotations:\n    helm.sh/hook: " when "\n" more "    color: {{ .Values.color }}\n"       \
    "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"               \
    "      serviceAccountName: hook\n      containers:\n      - name: c\n        image: i\n"
#define HOOK_ACCOUNT                                                                               \
    "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: hook\n  annotations:\n"         \
    "    helm.sh/hook: pre-install,pre-upgrade\n    helm.sh/hook-weight: \"-5\"\n"                 \
    "    helm.sh/hook-delete-policy: hook-succeeded\n"

static size_t n_jobs;
static bool account_was_there;

/* Count Jobs as they are made, and see that what they need is there by then. */
static void count_jobs(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w SW_UNUSED)
{
    if (sw_streq(req->resource, "jobs") && sw_streq(req->verb, "patch"))
        n_jobs++;
    if (sw_streq(req->resource, "serviceaccounts") && sw_streq(req->verb, "patch"))
        account_was_there = n_jobs == 0;
}

static struct json_object *hook_entry(struct json_object *release, const char *name,
                                      const char *field)
{
    return sw_json_get(sw_json_find_by(sw_json_get(release, "hooks"), "name", name), field);
}

static void hook_of_the_install_runs_once(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS, .on_request = count_jobs };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "rel", { "values.yaml", plain }, { "templates/0000-c.yaml", config },
        { "templates/0001-hook.yaml",
          HOOK_JOB("setup", "pre-install",
                   "    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded\n")
              HOOK_ACCOUNT });
    n_jobs = 0;
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    assert_int_equal(n_jobs, 1);
    assert_true(account_was_there);
    sro_until_gone(&w, "batch/v1", "Job", "rel", "setup");
    sro_until_gone(&w, "v1", "ServiceAccount", "rel", "hook");
    SW_AUTO_JSON *one = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed");
    struct json_object *run = hook_entry(one, "setup", "last_run");
    assert_string_equal(sw_json_str(run, "", "phase", NULL), "Succeeded"); /* and is gone */
    const char *begun = sw_json_str(run, "", "started_at", NULL),
               *ended = sw_json_str(run, "", "completed_at", NULL);
    assert_int_equal(strlen(begun), strlen("2026-01-01T00:00:00Z"));
    assert_true(strcmp(begun, ended) <= 0);
    assert_string_equal(json_object_to_json_string(hook_entry(one, "setup", "delete_policies")),
                        "[ \"before-hook-creation\", \"hook-succeeded\" ]");
    set_color(&w, "red");
    SW_AUTO_JSON *two = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v2", "deployed");
    run = hook_entry(two, "setup", "last_run"); /* not by the upgrade */
    assert_string_equal(sw_json_str(run, "?", "phase", NULL), "");
    world_kill(&w);
    world_start(&w);
    world_must_be_ready(&w);
    world_wait(&w, 10000);
    assert_int_equal(n_jobs, 1);
    world_close(&w);
    chart_remove(root);
}

static void hook_of_upgrades_runs_for_each_revision_but_the_first(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS, .on_request = count_jobs };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "rel", { "values.yaml", plain }, { "templates/0000-c.yaml", config },
        { "templates/0001-hook.yaml",
          HOOK_JOB("up", "post-upgrade",
                   "") "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: hook\n" });
    n_jobs = 0;
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    json_object_put(record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "deployed"));
    assert_int_equal(n_jobs, 0);
    for (int i = 2; i < 4; i++) {
        SW_AUTO_CHARS *color = sw_printf("c%d", i);
        SW_AUTO_CHARS *name = sw_printf("sh.helm.release.v1.rel.v%d", i);
        set_color(&w, color);
        json_object_put(record_of(&w, "ConfigMap", name, "deployed"));
        assert_int_equal(n_jobs, i - 1);
    }
    world_kill(&w);
    world_start(&w);
    world_must_be_ready(&w);
    world_wait(&w, 10000);
    assert_int_equal(n_jobs, 2);
    world_close(&w);
    chart_remove(root);
}

static size_t n_pods;

static void count_pods(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w SW_UNUSED)
{
    n_pods += sw_streq(req->resource, "pods") && sw_streq(req->verb, "patch");
}

static void failed_hook_may_be_deleted_and_stays_failed(void **state)
{
    (void)state;
    static const char hook[] =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: check\n  annotations:\n"
        "    helm.sh/hook: post-install\n    helm.sh/hook-delete-policy: hook-failed\n"
        "    emulator.slipway.dev/exit-code: \"3\"\n    emulator.slipway.dev/log: no luck\nspec:\n "
        " restartPolicy: Never\n"
        "  containers:\n  - name: c\n    image: i\n";
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS, .on_request = count_pods };
    n_pods = 0;
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", plain },
                               { "templates/0000-c.yaml", config },
                               { "templates/0001-hook.yaml", hook });
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Errored", "exit code 3 (Error); the end of its log: no luck");
    sro_until_gone(&w, "v1", "Pod", "rel", "check");
    SW_AUTO_JSON *one = record_of(&w, "ConfigMap", "sh.helm.release.v1.rel.v1", "failed");
    assert_string_equal(sw_json_str(hook_entry(one, "check", "last_run"), "", "phase", NULL),
                        "Failed");
    world_wait(&w, 60000);
    sro_until(&w, "rel", "Errored", "exit code 3 (Error); the end of its log: no luck");
    assert_int_equal(n_pods, 1);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    sro_until(&w, "rel", "Errored", "exit code 3 (Error); the end of its log: no luck");
    assert_int_equal(n_pods, 1); /* who was not there then does not run it once more */
    assert_null(world_get(&w, "v1", "Pod", "rel", "check"));
    world_close(&w);
    chart_remove(root);
}

/* One that goes when it has succeeded is not deleted before; a controller that starts later does
 * not tell it again. The log of a container that is not the default one is not meant. */
static void the_end_of_a_hooks_log_is_told_where_it_asks_for_it(void **state)
{
    (void)state;
#define HOOK(name, more)                                                                           \
    "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " name                               \
    "\n  annotations:\n    helm.sh/hook: post-install\n" more                                      \
    "spec:\n  template:\n    metadata:\n      annotations: {emulator.slipway.dev/log: "            \
    "\"begin\\nof "                                                                                \
    "" name "\\n\"}\n    spec:\n      restartPolicy: Never\n      containers:\n"                   \
    "      - name: c\n        image: i\n      - name: d\n        image: i\n"
#define TOLD "    helm.sh/hook-output-log-policy: hook-succeeded\n"
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "rel", { "values.yaml", plain }, { "templates/0000-c.yaml", config },
        { "templates/0001-hook.yaml",
          HOOK("gone", TOLD "    helm.sh/hook-delete-policy: hook-succeeded\n") HOOK("stays", TOLD)
              HOOK("silent", "    helm.sh/hook-output-log-policy: hook-failed\n") });
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "rel", "Ready", NULL);
    sro_until_gone(&w, "batch/v1", "Job", "rel", "gone");
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 60000);
    SW_AUTO_CHARS *told = sro_events(&w, "HookSucceeded");
    assert_non_null(strstr(told, "Job rel/gone has succeeded; the end of its log: of gone\n"));
    assert_non_null(strstr(told, "Job rel/stays has succeeded; the end of its log: of stays\n"));
    assert_null(strstr(told, "silent"));
    size_t n = 0;
    for (const char *c = told; *c; c++)
        n += *c == '\n';
    assert_int_equal(n, 2);
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(release_is_recorded_as_helm_reads_it),
        cmocka_unit_test(each_revision_is_recorded_once),
        cmocka_unit_test(what_is_removed_is_no_release_any_more),
        cmocka_unit_test(releases_may_be_secrets),
        cmocka_unit_test(release_that_is_too_large_is_a_warning),
        cmocka_unit_test(of_a_release_that_is_not_installed_no_record_is_missed),
        cmocka_unit_test(hook_of_the_install_runs_once),
        cmocka_unit_test(hook_of_upgrades_runs_for_each_revision_but_the_first),
        cmocka_unit_test(failed_hook_may_be_deleted_and_stays_failed),
        cmocka_unit_test(the_end_of_a_hooks_log_is_told_where_it_asks_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
