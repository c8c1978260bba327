/* slipway test: run the test hooks of a SpecialResource's release, as `helm test` does. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cli.h"
#include "cli/connect.h"
#include "cli/talk.h"
#include "controller/hooks.h"
#include "controller/release_hooks.h"
#include "data/data.h"
#include "recipe/recipe.h"

struct test_opts {
    struct sw_connect_opts connect;
    int64_t timeout_ms;
    bool logs;
    const char *only;
};

const struct sw_flag sw_flags_test[] = {
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct test_opts, timeout_ms), "TIME", NULL,
      "give up after so long (default 5m)" },
    { "logs", 0, SW_FLAG_BOOL, offsetof(struct test_opts, logs), NULL, NULL,
      "print the logs of tests that succeed, too" },
    { "only", 0, SW_FLAG_STRING, offsetof(struct test_opts, only), "NAME", NULL,
      "only the test of this name" },
    SW_CONNECT_FLAGS(struct test_opts, connect),
    { 0 },
};

struct test {
    struct test_opts opts;
    struct sw_connection conn;
    struct json_object *resource, *record, *release;
    const char *ns;
    struct release_hooks hooks;

    /* the one that runs */
    const struct sw_kind *kind;
    struct json_object *doc, *live;
    bool synced, want_gone;
};

/* ---- waiting -----------------------------------------------------------------------------------
 */

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct test *t = arg;
    if (w->type == SW_WATCH_ERROR)
        return;
    if (w->type == SW_WATCH_SYNCED) {
        t->synced = true;
        return;
    }
    json_object_put(t->live);
    t->live = w->type == SW_WATCH_DELETED ? NULL : json_object_get(w->object);
    if (t->live && !*sw_obj_kind(t->live)) /* items of a list do not say what they are */
        sw_json_set_str(t->live, t->kind->kind, "kind", NULL);
}

static bool is_over(const struct test *t)
{
    const char *why;
    if (!t->synced)
        return false;
    if (t->want_gone || !t->live)
        return !t->live;
    return release_hook_judge(t->live, &why) != HOOK_RUNS;
}

static const char *namespace_of(const struct test *t)
{
    return t->kind->namespaced ? sw_obj_namespace(t->doc) : NULL;
}

/* Until it is gone, or has ended. @return 0 | SW_UNAVAILABLE: the time is over, or a signal came */
static int await(struct test *t, bool want_gone, struct sw_err *err)
{
    struct sw_connection *conn = &t->conn;
    json_object_put(SW_TAKE(t->live));
    t->synced = false;
    t->want_gone = want_gone;
    struct sw_kube_watch *watch = sw_kube_watch_open(
        conn->kube, t->kind,
        &(struct sw_watch_opts){ .ns = namespace_of(t), .name = sw_obj_name(t->doc) }, on_watch, t);
    while (!is_over(t) && !conn->signal && sw_loop_now_ms(conn->loop) < conn->until_ms)
        sw_loop_step(conn->loop, conn->until_ms - sw_loop_now_ms(conn->loop));
    bool over = is_over(t);
    sw_kube_watch_close(watch);
    if (over)
        return 0;
    return sw_err_set(err, SW_UNAVAILABLE, "%s has not %s in time", sw_obj_name(t->doc),
                      want_gone ? "gone" : "ended");
}

/* ---- logs --------------------------------------------------------------------------------------
 */

static void print_logs_of(struct test *t, const char *pod)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    SW_ERR(err);
    int rc = sw_talk_logs(&t->conn, sw_obj_namespace(t->doc), pod,
                          &(struct sw_request_opts){ .retries = 2 }, &text, &len, &err);
    (void)printf("POD LOGS: %s\n%s%s", pod, rc == 0 ? text : sw_err_text(&err),
                 rc < 0 || (len && text[len - 1] != '\n') ? "\n" : "");
}

static void print_logs(struct test *t)
{
    if (sw_streq(t->kind->kind, "Pod"))
        print_logs_of(t, sw_obj_name(t->doc));
    if (!sw_streq(t->kind->kind, "Job"))
        return;
    SW_AUTO_CHARS *selector = sw_printf("job-name=%s", sw_obj_name(t->doc));
    SW_AUTO_JSON *pods = NULL;
    SW_ERR(err);
    if (sw_talk_find(&t->conn, "v1", "Pod", sw_obj_namespace(t->doc), NULL,
                     &(struct sw_request_opts){ .label_selector = selector, .retries = 2 }, &pods,
                     &err) < 0)
        (void)printf("POD LOGS: %s\n", sw_err_text(&err));
    for (size_t i = 0; i < sw_json_len(pods); i++)
        print_logs_of(t, sw_obj_name(sw_json_at(pods, i)));
}

/* ---- one test ----------------------------------------------------------------------------------
 */

static int prepare(struct test *t, const struct release_hook *hook, struct sw_err *err)
{
    json_object_put(t->doc);
    t->doc = sw_json_copy(hook->doc);
    int rc = sw_talk_kind(&t->conn, sw_obj_api_version(t->doc), sw_obj_kind(t->doc), &t->kind, err);
    if (rc < 0)
        return rc;
    return sw_hooks_apply(t->doc,
                          &(struct sw_hook_env){ .resource = t->resource,
                                                 .ns = t->ns,
                                                 .namespaced = t->kind->namespaced },
                          err);
}

static int remove_it(struct test *t, struct sw_err *err)
{
    int rc = sw_talk_delete(&t->conn, t->kind, namespace_of(t), sw_obj_name(t->doc),
                            &(struct sw_request_opts){ .propagation = "Background", .retries = 3 },
                            err);
    return rc == SW_NOTFOUND ? 0 : rc < 0 ? rc : await(t, true, err);
}

/* What is there already is an older run's: it goes, or nothing is begun. */
static int make_room(struct test *t, const struct release_hook *hook, struct sw_err *err)
{
    SW_AUTO_JSON *there = NULL;
    if (hook->policies & SW_HOOK_DELETE_BEFORE_CREATION)
        return remove_it(t, err);
    int rc = sw_talk_get(&t->conn, t->kind, namespace_of(t), sw_obj_name(t->doc),
                         &(struct sw_request_opts){ .retries = 3 }, &there, err);
    if (rc == 0)
        return sw_err_set(err, SW_CONFLICT, "%s '%s' is there already, and %s", t->kind->kind,
                          sw_obj_name(t->doc), "its delete policy is not before-hook-creation");
    return rc == SW_NOTFOUND ? 0 : rc;
}

/* `helm status` shows it. Who may not write it has tested all the same. */
static void write_down(struct test *t, const struct release_hook *hook)
{
    struct json_object *item = sw_json_at(sw_json_get(t->release, "hooks"), hook->at);
    const struct sw_kind *kind;
    SW_ERR(err);
    (void)json_object_object_add(item, "last_run", release_run_of_object(t->live));
    SW_AUTO_JSON *patch = release_patch(t->record, t->release);
    int rc = sw_talk_kind(&t->conn, "v1", sw_obj_kind(t->record), &kind, &err);
    if (rc == 0)
        rc = sw_talk_patch(&t->conn, kind, t->ns, sw_obj_name(t->record), patch, &err);
    if (rc < 0)
        (void)fprintf(stderr, "slipway test: how it went is not recorded: %s\n", sw_err_text(&err));
}

/* @return 0: it has ended, *@passed says how | a code: it could not be run */
static int run_hook(struct test *t, const struct release_hook *hook, bool *passed,
                    struct sw_err *err)
{
    SW_AUTO_JSON *made = NULL;
    const char *why = "is gone";
    int rc = prepare(t, hook, err);
    if (rc == 0)
        rc = make_room(t, hook, err);
    if (rc == 0)
        rc = sw_talk_apply(&t->conn, t->kind, namespace_of(t), sw_obj_name(t->doc), t->doc,
                           &(struct sw_request_opts){ .force = true, .retries = 3 }, &made, err);
    if (rc == 0)
        rc = await(t, false, err);
    if (rc < 0)
        return rc;
    *passed = t->live && release_hook_judge(t->live, &why) == HOOK_SUCCEEDED;
    (void)printf("%s: %s%s%s\n", hook->key, *passed ? "Succeeded" : "Failed", *passed ? "" : ": ",
                 *passed ? "" : why);
    if (!*passed || t->opts.logs)
        print_logs(t);
    if (t->live)
        write_down(t, hook);
    return !*passed && (hook->policies & SW_HOOK_DELETE_FAILED) ? remove_it(t, err) : 0;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static bool is_asked(const struct test *t, const struct release_hook *hook)
{
    return !t->opts.only || sw_streq(sw_obj_name(hook->doc), t->opts.only);
}

/* Helm deletes what has succeeded when all of them have. */
static int tidy(struct test *t, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->hooks.n; i++) {
        const struct release_hook *hook = &t->hooks.items[i];
        if (!is_asked(t, hook) || !(hook->policies & SW_HOOK_DELETE_SUCCEEDED))
            continue;
        rc = prepare(t, hook, err);
        if (rc == 0)
            rc = remove_it(t, err);
    }
    return rc;
}

static int run_all(struct test *t, bool *passed, struct sw_err *err)
{
    size_t n = 0;
    int rc = 0;
    *passed = true;
    for (size_t i = 0; rc == 0 && *passed && i < t->hooks.n; i++)
        if (is_asked(t, &t->hooks.items[i])) {
            rc = run_hook(t, &t->hooks.items[i], passed, err);
            n++;
        }
    if (rc == 0 && t->opts.only && n == 0)
        return sw_err_set(err, SW_NOTFOUND, "the release has no test '%s'", t->opts.only);
    if (rc == 0 && n == 0)
        (void)printf("the recipe of '%s' has no tests\n", sw_obj_name(t->resource));
    return rc == 0 && *passed ? tidy(t, err) : rc;
}

/* ---- what is tested ----------------------------------------------------------------------------
 */

static int find_record(struct test *t, const char *name, struct json_object **out,
                       struct sw_err *err)
{
    static const char *const kinds[] = { "ConfigMap", "Secret" };
    SW_AUTO_CHARS *selector = sw_printf("owner=helm,name=%s", name);
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        SW_AUTO_JSON *list = NULL;
        int rc = sw_talk_find(&t->conn, "v1", kinds[i], t->ns, NULL,
                              &(struct sw_request_opts){ .label_selector = selector, .retries = 3 },
                              &list, err);
        if (rc < 0)
            return rc;
        struct json_object *newest = release_newest(list);
        if (!newest)
            continue;
        sw_json_set_str(newest, kinds[i], "kind", NULL);
        *out = json_object_get(newest);
        return 0;
    }
    return sw_err_set(err, SW_NOTFOUND,
                      "no release of '%s' is recorded: it was not Ready yet, or the operator keeps "
                      "no records (--releases)",
                      name);
}

static int find_tests(struct test *t, const char *name, struct sw_err *err)
{
    int rc = sw_talk_find(&t->conn, "sro.openshift.io/v1beta1", "SpecialResource", NULL, name,
                          &(struct sw_request_opts){ .retries = 3 }, &t->resource, err);
    if (rc < 0)
        return rc;
    t->ns = sw_json_str(t->resource, name, "spec", "namespace", NULL);
    t->ns = *t->ns ? t->ns : name;
    rc = find_record(t, name, &t->record, err);
    if (rc == 0)
        rc = release_of_record(t->record, &t->release, err);
    return rc == 0 ? release_hooks_read(t->release, "test", t->ns, &t->hooks, err) : rc;
}

static int test(struct test *t, const char *name)
{
    SW_ERR(err);
    bool passed = false;
    t->conn.until_ms = sw_loop_now_ms(t->conn.loop) + t->opts.timeout_ms;
    int rc = find_tests(t, name, &err);
    if (rc == 0)
        rc = run_all(t, &passed, &err);
    bool late = rc == SW_UNAVAILABLE && sw_loop_now_ms(t->conn.loop) >= t->conn.until_ms;
    if (rc < 0)
        rc = sw_cli_fail("test", &err);
    else
        rc = passed ? SW_EXIT_OK : SW_EXIT_FAILED;
    return late ? SW_EXIT_TIMEOUT : rc;
}

int sw_cmd_test(int argc, char **argv)
{
    struct test t = { .opts = { .timeout_ms = 5 * 60000 } };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse("test", argc, argv, &t.opts, 1, &rest);
    if (rc)
        return rc - 1;
    if (rest.n == 0)
        return sw_cli_usage("test", "which resource? 'slipway status' lists them");
    rc = sw_connection_init(&t.conn, "test", &t.opts.connect, &err) < 0 ? sw_cli_fail("test", &err)
                                                                        : test(&t, rest.items[0]);
    release_hooks_done(&t.hooks);
    json_object_put(t.resource);
    json_object_put(t.record);
    json_object_put(t.release);
    json_object_put(t.doc);
    json_object_put(t.live);
    sw_connection_done(&t.conn);
    return rc;
}
