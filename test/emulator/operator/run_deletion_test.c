/* What comes before and after the objects of a resource that is deleted: Helm's hooks of a
 * deletion, and Helm's records of what is left behind. */
#include "run_sro.h"
#include "sample.h"

#include "operator/release/hooks.h"

static const char config[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

#define JOB(name, when, more, pod)                                                                 \
    "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " name                               \
    "\n  annotations:\n    helm.sh/hook: " when "\n" more                                          \
    "spec:\n  backoffLimit: 0\n  template:\n    metadata:\n      annotations: {" pod "}\n"         \
    "    spec:\n      restartPolicy: Never\n      containers:\n      - name: c\n        image: "   \
    "i\n"
#define WEIGHT(n) "    helm.sh/hook-weight: \"" n "\"\n"
#define POLICY(p) "    helm.sh/hook-delete-policy: " p "\n"
#define TOLD "    helm.sh/hook-output-log-policy: hook-succeeded\n"
#define FAILS "emulator.slipway.dev/exit-code: \"3\""

static int n_as_account;
static char order[512]; /* "+job ... -configmap ...", each once in a row */

static void note_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                         struct world *w SW_UNUSED)
{
    bool job = sw_streq(req->resource, "jobs") && !req->subresource;
    bool map = sw_streq(req->resource, "configmaps") && sw_streq(req->name, "c");
    bool put = sw_streq(req->verb, "patch"), gone = sw_streq(req->verb, "delete");
    if (!(job && (put || gone)) && !(map && gone))
        return;
    SW_AUTO_CHARS *word = sw_printf("%c%s ", put ? '+' : '-', req->name);
    size_t len = strlen(order), n = strlen(word);
    bool again = len >= n && sw_streq(order + len - n, word);
    if (!again && len + n < sizeof order)
        strcpy(order + len, word);
}

static bool is_recorded(struct world *w, void *arg SW_UNUSED)
{
    return world_get(w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v1");
}

/* Walk a recipe with these hooks until it is Ready, and recorded. */
static char *walked(struct world *w, const char *hooks)
{
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "templates/0000-c.yaml", config },
                               { "templates/0001-hooks.yaml", hooks });
    w->on_request = note_request;
    w->releases = SW_RELEASES_CONFIG_MAPS;
    world_open(w);
    sro_run(w, dir);
    sro_until(w, "rel", "Ready", NULL);
    assert_true(world_until(w, is_recorded, NULL, 60000));
    order[0] = '\0';
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

static void hooks_run_before_and_after_the_objects_go(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("late", "pre-delete", WEIGHT("5") POLICY("hook-succeeded"), "")
                                JOB("early", "pre-delete", WEIGHT("-5"), "")
                                    JOB("last", "post-delete", "", ""));
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(order, "+early +late -late -c +last ");
    assert_null(world_get(&w, "v1", "Namespace", NULL, "rel")); /* after the last of them */
    world_close(&w);
    chart_remove(root);
}

static void without_hooks_nothing_is_waited_for(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("other", "pre-rollback,test", "", ""));
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(order, "-c ");
    world_close(&w);
    chart_remove(root);
}

static void a_hook_that_fails_holds_the_deletion(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete", "", FAILS));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    world_wait(&w, 10 * 60000);
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_string_equal(order, "+stop ");
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"metadata\":{\"annotations\":{\"slipway.dev/no-hooks\":"
                                 "\"true\"}}}"),
                     0);
    until_gone(&w);
    world_close(&w);
    chart_remove(root);
}

static void the_end_of_a_failed_hooks_log_is_in_the_message(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete", POLICY("hook-failed"),
                                FAILS ", emulator.slipway.dev/log: \"a driver is in use\""));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "the end of its log: a driver is in use");
    world_kill(&w); /* its pods are gone by then, the note on the record has it */
    world_start(&w);
    sro_until(&w, "rel", "Errored", "the end of its log: a driver is in use");
    world_close(&w);
    chart_remove(root);
}

static void the_end_of_a_hooks_log_is_told_where_it_asks_for_it(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(
        &w, JOB("told", "pre-delete", POLICY("hook-succeeded") TOLD,
                "emulator.slipway.dev/log: \"begin\\nall nodes are drained\"")
                JOB("silent", "post-delete", "", "emulator.slipway.dev/log: nobody asked"));
    delete_it(&w);
    until_gone(&w);
    SW_AUTO_CHARS *told = sro_events(&w, "HookSucceeded");
    assert_string_equal(told, "Job rel/told has succeeded; the end of its log: all nodes are "
                              "drained\n");
    world_close(&w);
    chart_remove(root);
}

static void a_namespace_that_is_gone_holds_nothing(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete", "", FAILS));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_int_equal(world_delete(&w, "v1", "Namespace", NULL, "rel"), 0);
    until_gone(&w);
    world_close(&w);
    chart_remove(root);
}

static bool may_list;

static void forbid_records(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                           struct world *w)
{
    note_request(req, fault, w);
    if (!may_list && sw_streq(req->resource, "configmaps") && sw_streq(req->verb, "list") &&
        sw_streq(req->ns, "rel"))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static char *walked_then_forbidden(struct world *w)
{
    char *root = walked(w, JOB("before", "pre-delete", "", ""));
    w->on_request = forbid_records;
    may_list = false;
    delete_it(w);
    sro_until(w, "rel", "Errored", "the deletion waits. To go on without hooks");
    assert_string_equal(order, "");
    assert_non_null(world_get(w, "v1", "ConfigMap", "rel", "c"));
    return root;
}

static void records_that_may_not_be_read_hold_the_deletion(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked_then_forbidden(&w);
    may_list = true;
    until_gone(&w);
    assert_string_equal(order, "+before -c ");
    world_close(&w);
    chart_remove(root);
}

static void but_not_where_their_namespace_is_gone(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked_then_forbidden(&w);
    assert_int_equal(world_delete(&w, "v1", "Namespace", NULL, "rel"), 0);
    until_gone(&w);
    world_close(&w);
    chart_remove(root);
}

static void deleting_a_failed_hook_runs_it_again(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete", "", FAILS));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_string_equal(order, "+stop ");
    order[0] = '\0';
    assert_int_equal(world_delete(&w, "batch/v1", "Job", "rel", "stop"), 0);
    sro_until(&w, "rel", "Progressing", "hook pre-delete Job rel/stop");
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_string_equal(order, "-stop +stop ");
    world_close(&w);
    chart_remove(root);
}

static void a_failed_hook_that_was_deleted_runs_when_the_resource_changes(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete", POLICY("hook-failed"), FAILS));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    sro_until_gone(&w, "batch/v1", "Job", "rel", "stop");
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    assert_string_equal(order, "+stop -stop "); /* not by a restart */
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"metadata\":{\"annotations\":{\"again\":\"1\"}}}"),
                     0);
    sro_until_there(&w, "batch/v1", "Job", "rel", "stop");
    world_close(&w);
    chart_remove(root);
}

static void orphans_run_no_hook_and_keep_their_records(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("stop", "pre-delete,post-delete", "", ""));
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"deletionPolicy\":\"orphan\"}}"),
                     0);
    world_must_be_ready(&w);
    delete_it(&w);
    until_gone(&w);
    world_wait(&w, 10 * 60000); /* whoever collects garbage has had time */
    assert_string_equal(order, "");
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
    struct json_object *record = world_get(&w, "v1", "ConfigMap", "rel",
                                           "sh.helm.release.v1.rel.v1");
    assert_non_null(record);
    assert_null(sw_json_find(record, "metadata", "ownerReferences", NULL));
    assert_string_equal(sw_obj_label(record, "status"), "deployed");
    world_close(&w);
    chart_remove(root);
}

static void manage(struct world *w, const char *how)
{
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"managementState\":\"%s\"}}", how);
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, patch), 0);
}

/* All that a recipe says is done as the resource's account, else its author could do what only the
 * operator may: of the kinds that the recipe speaks of each request has it. */
static void check_account(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                          struct world *w)
{
    bool job = sw_streq(req->resource, "jobs") && !req->subresource,
         map = sw_streq(req->resource, "configmaps") && sw_streq(req->name, "c"),
         secret = sw_streq(req->resource, "secrets") && sw_streq(req->ns, "kube-system");
    bool read = sw_streq(req->verb, "get") || sw_streq(req->verb, "list");
    note_request(req, fault, w);
    if (sw_streq(req->verb, "watch") || (!secret && (read || !(job || map))))
        return;
    n_as_account++;
    if (!sw_streq(req->as_user, "system:serviceaccount:rel:author"))
        fail_msg("%s %s as %s", req->verb, req->path, req->as_user ? req->as_user : "the operator");
}

static void a_recipe_does_nothing_but_as_its_account(void **state)
{
    (void)state;
    struct world w = { .on_request = check_account, .releases = SW_RELEASES_CONFIG_MAPS };
    char *root = chart_root();
    SW_AUTO_CHARS *text = sw_printf(
        "%sdata:\n  peek: {{ lookup \"v1\" \"Secret\" \"kube-system\" \"login\" | toJson | quote "
        "}}\n"
        "  all: {{ lookup \"v1\" \"Secret\" \"kube-system\" \"\" | toJson | quote }}\n",
        config);
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "templates/0000-c.yaml", text },
                               { "templates/0001-hooks.yaml",
                                 JOB("before", "pre-delete", POLICY("hook-succeeded"), "")
                                     JOB("after", "post-delete", "", "") });
    world_open(&w);
    sro_apply(&w, dir);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "rel", NULL,
                                 "{\"spec\":{\"serviceAccountName\":\"author\"}}"),
                     0);
    n_as_account = 0;
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    assert_true(n_as_account >= 3); /* two lookups, one object */
    assert_true(world_until(&w, is_recorded, NULL, 60000));
    order[0] = '\0';
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(order, "+before -before -c +after ");
    world_close(&w);
    chart_remove(root);
}

static bool account_is_gone;

static void deny_account(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                         struct world *w)
{
    note_request(req, fault, w);
    if (account_is_gone && req->as_user)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static bool says_what_to_do(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *conditions = sw_json_find(sro_get(w, "rel"), "status", "conditions", NULL);
    return strstr(json_object_to_json_string(conditions),
                  "as system:serviceaccount:rel:slipway-rel: slipway rbac rel | kubectl apply");
}

/* The account that a deletion needs was deleted before: nothing is done in its place by the
 * operator, and who looks is told how to go on. */
static void without_its_account_a_deletion_waits(void **state)
{
    (void)state;
    static const char *const hooks[] = { "", JOB("before", "pre-delete", "", "") };
    for (size_t i = 0; i < SW_COUNT(hooks); i++) {
        struct world w = { 0 };
        char *root = walked(&w, hooks[i]);
        w.on_request = deny_account;
        account_is_gone = true;
        delete_it(&w);
        for (int k = 0; k < 2; k++) { /* and so does the next controller */
            assert_true(world_until(&w, says_what_to_do, NULL, 10 * 60000));
            world_wait(&w, 10 * 60000);
            assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
            world_kill(&w);
            world_start(&w);
        }
        account_is_gone = false;
        until_gone(&w);
        assert_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
        world_close(&w);
        chart_remove(root);
    }
}

static void what_is_removed_runs_them_each_time(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("early", "pre-delete", "", "") JOB("last", "post-delete", "", ""));
    for (int i = 0; i < 2; i++) {
        manage(&w, "Removed");
        sro_until(&w, "rel", "Progressing", "Everything is removed");
        sro_until_gone(&w, "v1", "Namespace", NULL, "rel");
        assert_string_equal(order, "+early -c +last ");
        assert_null(world_get(&w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v1"));
        world_wait(&w, 60000);
        if (i == 0) {
            manage(&w, "Managed");
            sro_until(&w, "rel", "Ready", NULL);
            assert_true(world_until(&w, is_recorded, NULL, 60000));
        }
        order[0] = '\0';
    }
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(order, ""); /* all of it was done */
    world_close(&w);
    chart_remove(root);
}

static void a_removal_that_was_called_off_is_no_deletion(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, JOB("early", "pre-delete", "", "")
                                JOB("stop", "pre-delete", WEIGHT("5"), FAILS));
    manage(&w, "Removed");
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_string_equal(order, "+early +stop ");
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
    manage(&w, "Managed");
    sro_until(&w, "rel", "Ready", NULL);
    order[0] = '\0';
    delete_it(&w); /* which is another occasion */
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/stop failed");
    assert_string_equal(order, "-early +early -stop +stop ");
    world_close(&w);
    chart_remove(root);
}

static void a_hook_that_is_late_is_said_and_waited_for(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = walked(&w, "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: slow\n"
                            "  annotations:\n    helm.sh/hook: pre-delete\nspec:\n"
                            "  nodeSelector: {zone: mars}\n  restartPolicy: Never\n"
                            "  containers: [{name: c, image: i}]\n");
    delete_it(&w);
    int64_t since_ms = world_now(&w);
    sro_until(&w, "rel", "Errored", "it has not ended in time");
    assert_true(world_now(&w) - since_ms >= 4 * 60000); /* Helm's five minutes */
    assert_non_null(world_get(&w, "v1", "ConfigMap", "rel", "c"));
    assert_int_equal(world_patch(&w, "v1", "Pod", "rel", "slow", "status",
                                 "{\"status\":{\"phase\":\"Succeeded\"}}"),
                     0);
    until_gone(&w);
    world_close(&w);
    chart_remove(root);
}

static void a_hook_gets_the_proxy(void **state)
{
    (void)state;
    struct world w = { 0 };
    assert_int_equal(setenv("HTTP_PROXY", "http://proxy.example:3128", 1), 0);
    char *root = walked(&w, JOB("early", "pre-delete", "    " SRO "proxy: \"true\"\n", FAILS));
    delete_it(&w);
    sro_until(&w, "rel", "Errored", "hook pre-delete Job rel/early failed");
    struct json_object *job = world_get(&w, "batch/v1", "Job", "rel", "early");
    assert_non_null(strstr(json_object_to_json_string_ext(job, JSON_C_TO_STRING_NOSLASHESCAPE),
                           "http://proxy.example:3128"));
    world_close(&w);
    chart_remove(root);
    assert_int_equal(unsetenv("HTTP_PROXY"), 0);
}

static void what_never_was_ready_runs_them_too(void **state)
{
    (void)state;
    struct world w = { .releases = SW_RELEASES_CONFIG_MAPS, .on_request = note_request };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "rel", { "templates/0000-c.yaml", config },
        { "templates/0001-hooks.yaml", JOB("early", "pre-delete", "", "") },
        { "templates/0002-slow.yaml",
          "apiVersion: v1\nkind: Pod\nmetadata:\n  name: slow\n  annotations:\n    " SRO
          "wait: \"true\"\nspec:\n  nodeSelector: {zone: mars}\n  restartPolicy: Never\n"
          "  containers: [{name: c, image: i}]\n" });
    order[0] = '\0';
    world_open(&w);
    sro_run(&w, dir);
    assert_true(world_until(&w, is_recorded, NULL, 60000));
    sro_until_there(&w, "v1", "ConfigMap", "rel", "c");
    struct json_object *record = world_get(&w, "v1", "ConfigMap", "rel",
                                           "sh.helm.release.v1.rel.v1");
    assert_string_equal(sw_obj_label(record, "status"), "pending-install");
    delete_it(&w);
    until_gone(&w);
    assert_string_equal(order, "+early -c ");
    world_close(&w);
    chart_remove(root);
}

/* ---- killed in between -------------------------------------------------------------------------
 */

static size_t n_before, n_after;
static char seen_before[64], seen_after[64];

static void count_job(struct world *w, const char *name, char seen[static 64], size_t *n)
{
    struct json_object *job = world_get(w, "batch/v1", "Job", "rel", name);
    if (!job || sw_streq(sw_obj_uid(job), seen))
        return;
    (void)snprintf(seen, 64, "%s", sw_obj_uid(job));
    ++*n;
}

static bool is_gone_counting(struct world *w, void *arg SW_UNUSED)
{
    count_job(w, "early", seen_before, &n_before);
    count_job(w, "last", seen_after, &n_after);
    return !sro_get(w, "rel");
}

struct kill {
    uint64_t at;
};

static bool is_time_to_kill(struct world *w, void *arg)
{
    return is_gone_counting(w, arg) || w->n_requests >= ((struct kill *)arg)->at;
}

static void no_hook_runs_twice_whenever_the_controller_is_killed(void **state)
{
    (void)state;
    struct sample sample = sample_of(4);
    for (uint64_t n = 1;; n++) {
        if (!sample_has(&sample, n))
            continue;
        struct world w = { 0 };
        char *root = walked(&w, JOB("early", "pre-delete", POLICY("hook-succeeded"), "")
                                    JOB("last", "post-delete", "", ""));
        n_before = n_after = 0;
        seen_before[0] = seen_after[0] = '\0';
        world_count(&w);
        delete_it(&w);
        struct kill kill = { n };
        assert_true(world_until(&w, is_time_to_kill, &kill, 10 * 60000));
        bool over = !sro_get(&w, "rel");
        if (!over) {
            world_kill(&w);
            world_start(&w);
        }
        if (!world_until(&w, is_gone_counting, NULL, 10 * 60000))
            fail_msg("killed after request %d it never went", (int)n);
        if (n_before != 1 || n_after != 1)
            fail_msg("killed after request %d: pre-delete ran %zu times, post-delete %zu", (int)n,
                     n_before, n_after);
        world_close(&w);
        chart_remove(root);
        if (over)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_run_before_and_after_the_objects_go),
        cmocka_unit_test(without_hooks_nothing_is_waited_for),
        cmocka_unit_test(a_hook_that_fails_holds_the_deletion),
        cmocka_unit_test(the_end_of_a_failed_hooks_log_is_in_the_message),
        cmocka_unit_test(the_end_of_a_hooks_log_is_told_where_it_asks_for_it),
        cmocka_unit_test(a_namespace_that_is_gone_holds_nothing),
        cmocka_unit_test(records_that_may_not_be_read_hold_the_deletion),
        cmocka_unit_test(but_not_where_their_namespace_is_gone),
        cmocka_unit_test(deleting_a_failed_hook_runs_it_again),
        cmocka_unit_test(a_failed_hook_that_was_deleted_runs_when_the_resource_changes),
        cmocka_unit_test(orphans_run_no_hook_and_keep_their_records),
        cmocka_unit_test(a_recipe_does_nothing_but_as_its_account),
        cmocka_unit_test(without_its_account_a_deletion_waits),
        cmocka_unit_test(what_is_removed_runs_them_each_time),
        cmocka_unit_test(a_removal_that_was_called_off_is_no_deletion),
        cmocka_unit_test(a_hook_that_is_late_is_said_and_waited_for),
        cmocka_unit_test(a_hook_gets_the_proxy),
        cmocka_unit_test(what_never_was_ready_runs_them_too),
        cmocka_unit_test(no_hook_runs_twice_whenever_the_controller_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
