/* slipway run: apply one recipe and run its controller in this process until it is Ready. */
#include "cli/commands/run.h"
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/cluster/leader.h"
#include "cli/cluster/overlap.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/cluster/shared_releases.h"
#include "cli/cluster/turn.h"
#include "cli/commands/commands.h"
#include "cli/commands/gather.h"
#include "cli/commands/run_rights.h"
#include "cli/commands/watch_operator.h"
#include "cli/recipe/recipe_flags.h"
#include "cli/recipe/resource.h"
#include "cli/simulate/recorder.h"
#include "cli/view/ci.h"
#include "cli/view/explain.h"
#include "cli/view/live.h"
#include "cli/view/text.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/kube.h"
#include "operator/controller/controller.h"
#include "operator/engine/engine.h"
#include "operator/manifests/rights_command.h"
#include "operator/registries/registries.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_opts {
    struct sw_source_flags source;
    struct sw_connect_opts connect;
    struct sw_values_args values;
    const char *name, *ns, *output, *artifacts, *registries_conf, *releases;
    struct sw_record_opts record;
    int64_t timeout_ms;
    bool fail_fast, alongside, ignore_constraints;
    const char *allow_upgrades;
};

static const struct sw_flag flags[] = {
    { "emulate", 0, SW_FLAG_BOOL, offsetof(struct run_opts, connect.emulate), NULL, NULL,
      "use an embedded cluster in this process" },
    { "nodes", 0, SW_FLAG_COUNT, offsetof(struct run_opts, connect.n_nodes), "N", NULL,
      "with --emulate: number of nodes (default 5)" },
    { "platform", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.platform), "NAME",
      SW_EMU_PLATFORMS, "with --emulate: platform of the cluster (default openshift)" },
    { "kube-version", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.kube_version), "1.N",
      NULL,
      "with --emulate: version of Kubernetes (default: " SW_EMULATOR_KUBE_VERSION
      ", or the newest that the recipe runs on)" },
    { "delays", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.delays), "FACTOR", NULL,
      "with --emulate: factor for how long things take; 0: no time (default 1)" },
    { "rules", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.rules), "DIR", NULL,
      "with --emulate: folder of rules for custom resources, besides the built-in ones" },
    { "faults", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.faults), "FILE", NULL,
      "with --emulate: file with a plan of faults (docs/faults.md)" },
    { "trouble", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.troubles), "NAME,...", NULL,
      "with --emulate: what goes wrong with what operators install (docs/faults.md)" },
    { "authorization", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.authorization), "MODE",
      "none|rbac",
      "with --emulate: rbac: the walk has the rights that slipway ships and 'slipway rbac' prints, "
      "and no others (default none)" },
    SW_VALUES_ARGS(offsetof(struct run_opts, values)),
    { "name", 0, SW_FLAG_STRING, offsetof(struct run_opts, name), "NAME", NULL,
      "name of the SpecialResource (default: the recipe's)" },
    { "namespace", 'n', SW_FLAG_STRING, offsetof(struct run_opts, ns), "NS", NULL,
      "namespace of the recipe's objects (default: the name of the resource)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct run_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m; 0: none (default 30m)" },
    { "ignore-constraints", 0, SW_FLAG_BOOL, offsetof(struct run_opts, ignore_constraints), NULL,
      NULL,
      "what the recipe asks of the cluster (docs/aicr.md) is told only, and does not stop it "
      "(default with --emulate)" },
    { "allow-upgrades", 0, SW_FLAG_STRING, offsetof(struct run_opts, allow_upgrades), "NAMES", NULL,
      "components, separated by commas, or all, that may be upgraded though the recipe's record "
      "(docs/aicr.md) does not call that safe" },
    { "fail-fast", 0, SW_FLAG_BOOL, offsetof(struct run_opts, fail_fast), NULL, NULL,
      "end when what is waited for does not get better by itself: an image that is not there, a "
      "right "
      "that lacks, an object that is refused, no node that matches, a kind that is not served "
      "(default where stdout is no terminal; --fail-fast=false)" },
    { "alongside", 0, SW_FLAG_BOOL, offsetof(struct run_opts, alongside), NULL, NULL,
      "walk it also where an operator leads, or another slipway run walks the same resource" },
    { "registries-conf", 0, SW_FLAG_STRING, offsetof(struct run_opts, registries_conf), "FILE",
      NULL, "file with mirrors of registries; with --emulate no registry is used without it" },
    SW_RELEASES_FLAG(struct run_opts, releases),
    { "output", 'o', SW_FLAG_STRING, offsetof(struct run_opts, output), "FORMAT",
      "json|junit|ctrf|text",
      "json, junit, ctrf (the checks of its validation): only one document, at the end, however "
      "that is (default text)" },
    { "artifacts", 0, SW_FLAG_STRING, offsetof(struct run_opts, artifacts), "DIR", NULL,
      "folder for what a failure is understood by: report.json, junit.xml, explanation.txt, "
      "objects, Events and logs, without secrets" },
    SW_RECORD_FLAGS(struct run_opts, record),
    SW_SOURCE_FLAGS(offsetof(struct run_opts, source)),
    SW_MIRROR_FLAG(offsetof(struct run_opts, source)),
    SW_CONNECT_FLAGS(struct run_opts, connect),
    { 0 },
};

enum {
    FRAME_MS = 100,
    FLUSH_MS = 5000,
    LATE_FLUSH_MS = 2000,   /* the same when the time limit has passed */
    SILENT_FLUSH_MS = 1000, /* the same of a server that answers nothing */
    FAULT_MS = 2000,
    STABLE_MS = 2000,  /* pods that are ready may end at once */
    LEADER_MS = 2000,  /* for who leads, before the walk */
    GATHER_MS = 60000, /* for --artifacts */
    BEAT_MS = 10000,   /* without another line, what is waited for is said again */
};

struct run {
    struct run_opts opts;
    struct sw_connection conn;
    struct json_object *resource;
    struct json_object *gone;  /* see sw_controller_opts */
    struct json_object *kinds; /* of the program's own, which the recipe has */
    const char *name;
    struct sw_install *install;
    struct sw_turn *turn; /* NULL: nobody else is asked */
    struct sw_controller *controller;
    struct sw_recorder *recorder;
    struct sw_live *live;
    int64_t ready_ms;           /* on the loop's clock, since when it is Ready; 0: it is not */
    bool was_ready, has_failed; /* Ready before; and not any more after that */
    char *trouble;              /* why that; owned, NULL: it has not failed */
    struct sw_timer *frame_timer, *timeout_timer, *check_timer, *flush_timer, *beat_timer;
    int64_t started_ms;
    int64_t fault_ms;    /* when the controller first refused the recipe; 0: never */
    int64_t hopeless_ms; /* since when a state waits for what does not get better; 0: none does */
    bool is_document;    /* one document at the end is all that stdout gets */
    bool is_shown;       /* the end */
    bool as_it_is;       /* the resource is on the cluster, and is not applied */
    int exit;            /* an enum sw_exit, or 128 + signal */
    bool ended;          /* @exit is decided; requests under way may finish */
    char *kube_version;  /* of the emulator, where the recipe decides */
    char *last_message;  /* why it ended; NULL: as the states' messages say */
    struct sw_arena *arena; /* of the options */
};

/* ---- output ------------------------------------------------------------------------------------
 */

static void report_of(struct run *run, struct sw_report *report, bool with_nodes)
{
    *report = (struct sw_report){
        .name = run->name,
        .status = run->controller ? sw_controller_status(run->controller, run->name) : NULL,
        .nodes = with_nodes && run->controller ? sw_controller_nodes(run->controller, run->name)
                                               : NULL,
        .started_ms = run->started_ms,
        .now_ms = sw_loop_now_ms(run->conn.loop),
    };
}

static void report_done(struct sw_report *report)
{
    json_object_put(report->status);
    json_object_put(report->nodes);
}

static void on_frame(void *arg)
{
    struct run *run = arg;
    struct sw_report report;
    struct sw_style style = sw_live_style(run->live);
    report_of(run, &report, false);
    SW_AUTO_CHARS *frame = sw_report_frame(&report, &style);
    sw_live_draw(run->live, frame);
    report_done(&report);
    sw_timer_set(run->frame_timer, FRAME_MS);
}

static void on_event(const struct sw_controller_event *e, void *arg)
{
    struct run *run = arg;
    char elapsed[16];
    if (run->is_document || run->live ||
        sw_streq(e->reason, "StateStuck")) /* on_beat() says it, too */
        return;
    sw_report_duration(sw_loop_now_ms(run->conn.loop) - run->started_ms, elapsed);
    (void)printf("%7s  %s%s: %s\n", elapsed, e->warning ? "warning: " : "", e->reason, e->message);
    (void)fflush(stdout);
    sw_timer_set(run->beat_timer, BEAT_MS);
}

/* What is waited for, where nothing else has been said for a while. */
static void on_beat(void *arg)
{
    struct run *run = arg;
    struct sw_report report;
    char elapsed[16];
    sw_timer_set(run->beat_timer, BEAT_MS);
    if (run->ended)
        return;
    report_of(run, &report, false);
    SW_AUTO_CHARS *trouble = sw_report_trouble(&report);
    trouble[strcspn(trouble, "\n")] = '\0';
    sw_report_duration(report.now_ms - run->started_ms, elapsed);
    if (run->conn.is_down)
        (void)fprintf(stderr, "slipway %s: the API server still does not answer (%s)\n",
                      run->conn.command, elapsed);
    else if (!run->is_document && !run->live && sw_kube_has_answered(run->conn.kube))
        (void)printf("%7s  waiting: %s\n", elapsed, trouble);
    (void)fflush(stdout);
    report_done(&report);
}

/* Nothing can have been written then. */
static bool has_not_answered(const struct run *run)
{
    return run->conn.kube && !sw_kube_has_answered(run->conn.kube);
}

/* Why the walk has ended without being Ready; heap. NULL: it is Ready. */
static char *failure_of(const struct run *run, const struct sw_report *report)
{
    if (!run->exit)
        return NULL;
    if (run->last_message)
        return sw_strdup(run->last_message);
    if (!run->conn.is_down && !has_not_answered(run))
        return sw_report_trouble(report);
    const char *why = run->conn.why_down;
    return sw_printf("the API server does not answer%s%s", why ? ": " : "", why ? why : "");
}

/* Print the reason of a failure on stderr. */
static void print_failure(const struct run *run, const char *failure)
{
    bool is_interrupted = run->exit > SW_EXIT_TIMEOUT;
    (void)fprintf(stderr, "slipway %s: %s %s:\n", run->conn.command, run->name,
                  is_interrupted                 ? "interrupted"
                  : run->exit == SW_EXIT_TIMEOUT ? "timed out"
                                                 : "failed");
    SW_AUTO_CHARS *lines = sw_strdup("");
    for (const char *at = failure; *at;) {
        size_t len = strcspn(at, "\n");
        sw_append(&lines, "  %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    if (has_not_answered(run))
        sw_append(&lines, "nothing was written; the same command begins anew\n");
    else if ((is_interrupted || run->exit == SW_EXIT_TIMEOUT) && !run->opts.connect.emulate &&
             !sw_turn_other(run->turn))
        sw_append(&lines,
                  "%s%s%s goes on from here; 'slipway uninstall %s' deletes what is there.\n",
                  run->as_it_is ? "'slipway retry " : "The same command",
                  run->as_it_is ? run->name : "", run->as_it_is ? "'" : "", run->name);
    SW_AUTO_CHARS *broken = sw_text_break(lines, sw_style_of(STDERR_FILENO).width);
    (void)fputs(broken, stderr);
}

/* The report with what the command ends with; the caller's. */
static struct json_object *document_of(const struct run *run, const struct sw_report *report,
                                       const char *failure)
{
    struct json_object *doc = sw_report_json(report);
    sw_json_set(doc, json_object_new_int(run->exit), "exit", NULL);
    if (failure && *failure)
        sw_json_set_str(doc, failure, "message", NULL);
    return doc;
}

static int print_document(const struct run *run, const struct sw_report *report,
                          const char *failure)
{
    const bool is_ctrf = sw_streq(run->opts.output, "ctrf");
    SW_AUTO_JSON *doc = is_ctrf ? sw_report_ctrf(report, failure)
                                : document_of(run, report, failure);
    SW_AUTO_CHARS *junit = sw_report_junit(report, failure);
    return is_ctrf || sw_streq(run->opts.output, "json") ? sw_cli_print_json(doc)
                                                         : sw_cli_print(junit, strlen(junit));
}

/* The two documents of --artifacts. */
static int write_documents(const struct run *run, const struct sw_report *report,
                           const char *failure, struct sw_err *err)
{
    SW_AUTO_JSON *doc = document_of(run, report, failure);
    SW_AUTO_CHARS *json = sw_json_text(doc, SW_JSON_PRETTY, NULL);
    SW_AUTO_CHARS *junit = sw_report_junit(report, failure);
    SW_AUTO_CHARS *json_path = sw_printf("%s/report.json", run->opts.artifacts);
    SW_AUTO_CHARS *junit_path = sw_printf("%s/junit.xml", run->opts.artifacts);
    int rc = sw_file_write_deep(json_path, json, strlen(json), err);
    return rc < 0 ? rc : sw_file_write_deep(junit_path, junit, strlen(junit), err);
}

/* What is on the cluster is asked for after the end of the walk, also where a signal was that: a
 * second one ends it. */
static void write_artifacts(struct run *run, const struct sw_report *report, const char *failure)
{
    SW_ERR(err);
    int rc = write_documents(run, report, failure, &err);
    if (rc == 0 && run->conn.kube && !run->conn.is_down) {
        run->conn.signal = 0;
        run->conn.until_ms = sw_loop_now_ms(run->conn.loop) + GATHER_MS;
        rc = sw_gather_resource(&run->conn, run->name, run->opts.artifacts, &err);
    }
    if (rc == 0)
        (void)fprintf(stderr, "slipway run: wrote %s\n", run->opts.artifacts);
    else
        (void)fprintf(stderr, "slipway run: --artifacts: %s\n", sw_err_text(&err));
}

/* In a job of GitHub's, an error that it shows. */
static void annotate(const struct run *run, const char *failure)
{
    if (!sw_streq(getenv("GITHUB_ACTIONS"), "true"))
        return;
    SW_AUTO_CHARS *line = sw_report_github(sw_text_or(run->conn.command, "run"), run->name,
                                           failure);
    (void)fprintf(stderr, "%s", line);
}

/* Ready says nothing of what is not waited for. */
static void print_unawaited(struct run *run)
{
    SW_ERR(ignored);
    SW_AUTO_JSON *resource = NULL;
    run->conn.until_ms = sw_loop_now_ms(run->conn.loop) + LATE_FLUSH_MS;
    SW_AUTO_CHARS *text = sw_cluster_resource(&run->conn, run->name, 0, &resource, &ignored) == 0
                              ? sw_explain_unawaited(&run->conn, resource)
                              : NULL;
    if (!text)
        return;
    (void)fprintf(stderr, "slipway %s: %s is Ready, and does not wait for:\n", run->conn.command,
                  run->name);
    SW_AUTO_CHARS *broken = sw_text_break(text, sw_style_of(STDERR_FILENO).width);
    (void)fputs(broken, stderr);
}

static void show_end(struct run *run)
{
    struct sw_report report;
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    bool tables = run->live;
    int rc;
    run->is_shown = true;
    sw_live_close(SW_TAKE(run->live));
    report_of(run, &report, true);
    SW_AUTO_CHARS *failure = failure_of(run, &report);
    if (run->is_document) {
        rc = print_document(run, &report, failure);
    } else {
        char elapsed[16];
        sw_report_duration(report.now_ms - report.started_ms, elapsed);
        SW_AUTO_CHARS *text = tables ? sw_report_tables(&report, &style)
                                     : sw_printf("%7s  %s: %s\n", elapsed, report.name,
                                                 sw_report_phase(&report));
        rc = sw_cli_print(text, strlen(text));
    }
    if (failure) {
        print_failure(run, failure);
    } else {
        print_unawaited(run);
        run->exit = rc; /* Ready, but stdout could not be written */
    }
    if (failure)
        annotate(run, failure);
    if (run->opts.artifacts)
        write_artifacts(run, &report, failure);
    report_done(&report);
}

/* It ends before the walk, which was said on stderr: stdout gets its document all the same. */
static void show_refusal(struct run *run, const char *recipe)
{
    const struct sw_report report = { .name = run->name ? run->name : recipe };
    const char *why = run->last_message ? run->last_message : "interrupted";
    run->name = report.name;
    if (run->is_document)
        (void)print_document(run, &report, why);
    annotate(run, why);
    if (run->opts.artifacts)
        write_artifacts(run, &report, why);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void on_flushed(void *arg)
{
    struct run *run = arg;
    sw_loop_stop(run->conn.loop);
}

/* End the walk; requests under way may still finish. @message NULL: as the states' messages say. */
static void end(struct run *run, int exit, const char *message)
{
    if (run->ended)
        return;
    run->ended = true;
    run->exit = exit;
    run->last_message = sw_strdup(message);
    sw_timer_set(run->flush_timer, sw_connection_is_silent(&run->conn) ? SILENT_FLUSH_MS
                                   : exit == SW_EXIT_TIMEOUT           ? LATE_FLUSH_MS
                                                                       : FLUSH_MS);
    sw_timer_set(run->check_timer, 0);
    if (run->controller)
        sw_controller_leave(run->controller, run->name);
}

/* End it where a state waits for what does not get better by itself, once that has lasted. */
static void check_hope(struct run *run)
{
    struct sw_report report;
    int64_t patience_ms = 0;
    const int64_t now_ms = sw_loop_now_ms(run->conn.loop);
    report_of(run, &report, false);
    struct json_object *state = sw_report_hopeless(&report, &patience_ms);
    if (!state) {
        run->hopeless_ms = 0;
    } else if (!run->hopeless_ms) {
        run->hopeless_ms = now_ms;
    } else if (now_ms - run->hopeless_ms >= patience_ms) {
        SW_AUTO_CHARS *trouble = sw_report_trouble(&report);
        SW_AUTO_CHARS *why = sw_printf("%s\nThis does not get better by itself; with "
                                       "--fail-fast=false it is waited for.",
                                       trouble);
        end(run, SW_EXIT_FAILED, why);
    }
    if (run->hopeless_ms && !run->ended)
        sw_timer_set(run->check_timer, run->hopeless_ms + patience_ms - now_ms);
    report_done(&report);
}

/* How long the resource has to stay Ready yet. What ended and runs again is not Ready before it has
 * run for a while, see pod_must_run_ms(). */
static int64_t unsettled_ms(struct run *run)
{
    const int64_t now_ms = sw_loop_now_ms(run->conn.loop);
    SW_AUTO_JSON *status = sw_controller_status(run->controller, run->name);
    if (run->opts.connect.emulate ||
        (!run->was_ready && !sw_report_has_fresh_pods(status, STABLE_MS)))
        return 0;
    run->was_ready = true;
    if (!run->ready_ms)
        run->ready_ms = now_ms;
    return run->ready_ms + STABLE_MS - now_ms;
}

/* Why what was Ready is not any more: it may be Ready again when the time has passed. */
static void keep_trouble(struct run *run)
{
    struct sw_report report;
    report_of(run, &report, false);
    SW_AUTO_CHARS *trouble = sw_report_trouble(&report);
    if (!run->trouble || strlen(trouble) > strlen(run->trouble)) /* at first no pod says why */
        sw_text_set(&run->trouble, trouble);
    report_done(&report);
}

/* Has it come to something by which @phase goes on? */
static bool is_checked(struct json_object *state, const char *phase)
{
    const char *result = sw_json_str(state, "", "check", "result", NULL);
    const bool good = sw_streq(result, "passed") || sw_streq(result, "skipped");
    return good || sw_streq(sw_json_str(state, "", "phase", NULL), "Ready") ||
           (sw_streq(sw_json_str(state, "", "class", NULL), "Failed") &&
            sw_streq(sw_json_str(state, "", "check", "phase", NULL), phase));
}

/* Is the check of @state under way, or the next? Another one of its phase that failed does not keep
 * it from being run. */
static bool is_next_check(struct json_object *states, struct json_object *state)
{
    struct json_object *needs = sw_json_get(state, "needs");
    const char *phase = sw_json_str(state, NULL, "check", "phase", NULL);
    if (!phase || !*sw_json_str(state, "", "class", NULL) || is_checked(state, phase))
        return false;
    for (size_t i = 0; i < sw_json_len(needs); i++)
        if (!is_checked(
                sw_json_find_by(states, "name", sw_json_str(sw_json_at(needs, i), "", NULL)),
                phase))
            return false;
    return true;
}

/* Has a check failed, and are there others that are run all the same? */
static bool checks_go_on(struct json_object *states, struct json_object *failed)
{
    bool any = false;
    for (size_t i = 0; sw_json_get(failed, "check") && i < sw_json_len(states); i++)
        any |= is_next_check(states, sw_json_at(states, i));
    return any;
}

/* Whether the walk is over. */
static void check(void *arg)
{
    struct run *run = arg;
    const char *message;
    if (run->ended) {
        if (!run->controller || sw_controller_is_idle(run->controller, run->name))
            sw_loop_stop(run->conn.loop);
        return;
    }
    if (!run->controller)
        return;
    int fault = sw_controller_fault(run->controller, run->name, &message);
    enum sw_phase phase = sw_controller_phase(run->controller, run->name);
    bool over = phase == SW_PHASE_ERRORED;
    if (phase != SW_PHASE_READY) {
        run->has_failed = run->has_failed || run->was_ready;
        run->ready_ms = 0;
        if (run->has_failed && run->controller)
            keep_trouble(run);
    }
    if (fault && !over) { /* the status of the resource should have it soon, too */
        int64_t now_ms = sw_loop_now_ms(run->conn.loop);
        if (!run->fault_ms)
            run->fault_ms = now_ms;
        sw_timer_set(run->check_timer, FAULT_MS);
        over = now_ms - run->fault_ms >= FAULT_MS;
    }
    if (fault && over) {
        end(run, fault == SW_UNAVAILABLE ? SW_EXIT_FAILED : SW_EXIT_USAGE, message);
    } else if (phase == SW_PHASE_READY && !fault) {
        const int64_t left_ms = unsettled_ms(run);
        if (left_ms > 0)
            sw_timer_set(run->check_timer, left_ms);
        else
            end(run, SW_EXIT_OK, NULL);
    } else if (phase == SW_PHASE_ERRORED) {
        SW_AUTO_JSON *status = sw_controller_status(run->controller, run->name);
        struct json_object *states = sw_json_get(status, "states"),
                           *failed = sw_json_find_by(states, "class", "Failed");
        bool is_recipe = sw_streq(sw_json_str(failed, "", "reason", NULL), "NotRendered");
        struct json_object *errored = sw_json_find_by(sw_json_get(status, "conditions"), "type",
                                                      "Errored");
        const char *reason = sw_json_str(errored, "", "reason", NULL);
        if (failed && checks_go_on(states, failed))
            return;
        if (failed)
            end(run, is_recipe ? SW_EXIT_USAGE : SW_EXIT_FAILED, NULL);
        else if (sw_starts_with(sw_json_str(errored, "", "message", NULL),
                                "State " SW_STATE_NAMESPACE " "))
            end(run, SW_EXIT_FAILED, NULL);
        else if (run->opts.fail_fast &&
                 (sw_streq(reason, "ConstraintNotMet") || sw_streq(reason, "UpgradeNotAllowed")))
            end(run, SW_EXIT_FAILED, NULL); /* people have to do something first */
        else if (!fault && sw_streq(reason, "ChartFailure"))
            end(run, SW_EXIT_USAGE, NULL); /* it renders to no object: nothing is going to change */
    }
    if (run->opts.fail_fast && !run->ended && !fault)
        check_hope(run);
}

static void on_change(const char *resource SW_UNUSED, void *arg)
{
    struct run *run = arg;
    sw_timer_set(run->check_timer, 0); /* not inside the controller's own work */
}

/* End it because of @code, with the command that gives a right which lacks. */
static void end_refused(struct run *run, int exit, int code, const char *why)
{
    const char *ns = sw_json_str(run->resource, run->name, "spec", "namespace", NULL);
    SW_AUTO_CHARS *recipe = code == SW_FORBIDDEN ? sw_rights_recipe(run->resource, ns) : NULL;
    const bool is_explained = why && strchr(why, '\n');
    SW_AUTO_CHARS *hint = code == SW_FORBIDDEN && !is_explained ? sw_rights_hint(why, recipe)
                                                                : NULL;
    SW_AUTO_CHARS *both = hint ? sw_printf("%s\nhint: %s", why, hint) : NULL;
    end(run, exit, both ? both : why);
}

static void on_trouble(int code, const char *why, void *arg)
{
    if (code < 0 && code != SW_NOTFOUND)
        end_refused(arg, SW_EXIT_FAILED, code, why);
}

static void on_timeout(void *arg)
{
    struct run *run = arg;
    const bool is_ready = run->controller &&
                          sw_controller_phase(run->controller, run->name) == SW_PHASE_READY;
    const char *other = sw_turn_other(run->turn);
    SW_AUTO_CHARS *why = is_ready && run->trouble
                             ? sw_printf("it gets Ready and fails again:\n%s", run->trouble)
                         : other ? sw_printf("another slipway (%s) had begun to walk it, and it is "
                                             "not known yet whether that still does; nothing was "
                                             "written",
                                             other)
                                 : NULL;
    end(run, is_ready && !run->has_failed ? SW_EXIT_OK : SW_EXIT_TIMEOUT, why);
}

static void on_signal(void *arg)
{
    struct run *run = arg;
    if (run->ended)
        sw_loop_stop(run->conn.loop); /* the second signal */
    end(run, 128 + run->conn.signal, NULL);
}

/* ---- the beginning -----------------------------------------------------------------------------
 */

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct run *run = arg;
    run->install = NULL;
    if (code < 0) {
        end_refused(run, code == SW_INVALID ? SW_EXIT_USAGE : SW_EXIT_FAILED, code,
                    sw_err_text(err));
        return;
    }
    struct sw_registries_opts registries = { .conf = run->opts.registries_conf,
                                             .home_logins = true };
    bool ask = !run->opts.connect.emulate || run->opts.registries_conf;
    run->controller = sw_controller_open(
        run->conn.loop, run->conn.account_kube ? run->conn.account_kube : run->conn.kube,
        &(struct sw_controller_opts){
            .registries = ask ? &registries : NULL,
            .rights = run->conn.account_kube ? SW_RIGHTS_ACCOUNT : SW_RIGHTS_CALLER,
            .ns = run->conn.account_kube ? SW_OPERATOR_ACCOUNT_NS : NULL,
            .only = run->name,
            .gone = run->gone,
            .one_shot = true,
            .releases = sw_releases_of_flag(run->opts.releases),
            .recording = sw_recorder_recording(run->recorder),
            .helper = SW_SELF,
            .cache_dir = run->opts.source.cache_dir,
            .charts_dir = sw_source_charts_dir(run->opts.source.charts_dir),
            .stand_ins = sw_source_stand_ins(run->opts.source.stand_ins ||
                                             run->opts.connect.emulate)
                             ? sw_stand_ins
                             : NULL,
            .mirror = run->opts.source.mirror,
            .on_change = on_change,
            .on_event = on_event,
            .on_trouble = on_trouble,
            .arg = run });
}

static void begin(void *arg)
{
    struct run *run = arg;
    if (run->ended)
        return;
    if (run->as_it_is) {
        on_installed(0, NULL, run);
    } else {
        run->install = sw_install_start(&run->conn, run->resource, on_installed, run);
        sw_install_limit(run->install, run->kinds);
    }
}

/* Somebody else walks it. What has begun is left as an interrupted walk is. */
static void on_taken(const char *why, void *arg)
{
    end(arg, SW_EXIT_FAILED, why);
}

static void limit_time(struct run *run)
{
    const int64_t limit_ms = run->opts.timeout_ms;
    run->conn.end_ms = limit_ms ? sw_loop_now_ms(run->conn.loop) + limit_ms : 0;
}

static void walk(struct run *run)
{
    struct sw_loop *loop = run->conn.loop;
    run->started_ms = sw_loop_now_ms(loop);
    run->conn.patient = true;
    run->conn.on_signal = on_signal;
    run->conn.arg = run;
    run->frame_timer = sw_timer_new(loop, on_frame, run);
    run->timeout_timer = sw_timer_new(loop, on_timeout, run);
    run->check_timer = sw_timer_new(loop, check, run);
    run->flush_timer = sw_timer_new(loop, on_flushed, run);
    run->beat_timer = sw_timer_new(loop, on_beat, run);
    sw_timer_set(run->beat_timer, BEAT_MS);
    if (run->conn.end_ms)
        sw_timer_set(run->timeout_timer,
                     run->conn.end_ms > run->started_ms ? run->conn.end_ms - run->started_ms : 1);
    run->conn.end_ms = 0; /* what comes after the walk has limits of its own */
    if (!run->is_document && (run->live = sw_live_open(STDOUT_FILENO)))
        on_frame(run);
    if (run->opts.connect.emulate || run->opts.alongside)
        begin(run);
    else
        run->turn = sw_turn_open(&(struct sw_turn_opts){ .conn = &run->conn,
                                                         .resource = run->name,
                                                         .go = begin,
                                                         .taken = on_taken,
                                                         .arg = run });
    sw_loop_run(loop);
    sw_timer_stop(run->frame_timer);
    show_end(run);
}

static int refuse(struct run *run, const char *why)
{
    run->last_message = sw_strdup(why);
    return sw_cli_usage("run", "%s", why);
}

static int fail(struct run *run, const struct sw_err *err)
{
    run->last_message = sw_strdup(sw_err_text(err));
    return sw_cli_fail("run", err);
}

/* Who leads; the caller's. A server that does not answer is waited for in the walk. */
static char *find_leader(struct run *run)
{
    run->conn.until_ms = sw_loop_now_ms(run->conn.loop) + LEADER_MS;
    char *leader = sw_leader_find(&run->conn);
    run->conn.until_ms = 0;
    return leader;
}

/* Let the operator and the resource's account do what the shipped manifests let them, and be it. */
static int grant(struct run *run, const char *recipe, struct sw_err *err)
{
    struct sw_recipe_flags how = { .source = run->opts.source,
                                   .name = run->name,
                                   .namespace = sw_json_str(run->resource, run->name, "spec",
                                                            "namespace", NULL),
                                   .values = run->opts.values,
                                   .kube_version = run->opts.connect.kube_version };
    how.source.stand_ins = true;
    int rc = sw_run_grant(run->conn.emulator, recipe, &how, err);
    if (rc == 0)
        rc = sw_connection_as(&run->conn, &run->opts.connect, SW_OPERATOR_ACCOUNT_NS,
                              SW_OPERATOR_ACCOUNT, err);
    return rc;
}

static int run_recipe(struct run *run, const char *recipe)
{
    SW_ERR(err);
    const struct sw_connect_opts *c = &run->opts.connect;
    if (!c->emulate && (c->n_nodes || c->platform || c->kube_version || c->delays || c->rules ||
                        c->faults || c->troubles || c->authorization))
        return refuse(run, "--nodes, --platform, --kube-version, --delays, --rules, --faults, "
                           "--trouble and --authorization are for --emulate");
    if (c->emulate && (c->kubeconfig || c->context))
        return refuse(run, "--kubeconfig and --context name a cluster that is there, --emulate "
                           "makes one: which of them?");
    if (run->opts.registries_conf && access(run->opts.registries_conf, R_OK) < 0) {
        SW_AUTO_CHARS *why = sw_printf("--registries-conf: %s: %s", run->opts.registries_conf,
                                       strerror(errno));
        return refuse(run, why);
    }
    run->arena = sw_arena_new();
    const struct sw_resource_opts opts = {
        .recipe = recipe,
        .source = &run->opts.source,
        .connect = c,
        .kinds = run->kinds = sw_install_kinds(),
        .kube_version = c->emulate && !c->kube_version ? &run->kube_version : NULL,
        .name = run->opts.name,
        .ns = run->opts.ns,
        .values = sw_values_args_read(&run->opts.values, run->arena),
        .command = "run",
        .ignore_constraints = run->opts.ignore_constraints,
        .allow_upgrades = run->opts.allow_upgrades,
    };
    const int rc = sw_resource_make(&opts, &run->resource, &err);
    if (rc < 0) { /* the input is wrong, or where it comes from does not answer now */
        (void)fail(run, &err);
        return rc == SW_UNAVAILABLE ? SW_EXIT_FAILED : SW_EXIT_USAGE;
    }
    run->name = sw_obj_name(run->resource);
    if (run->kube_version)
        run->opts.connect.kube_version = run->kube_version;
    if (run->opts.source.registry_config) /* the controller's helper process inherits it */
        (void)setenv("REGISTRY_AUTH_FILE", run->opts.source.registry_config, 1);
    if (sw_recorder_open(&run->opts.record, &run->recorder, &err) < 0) {
        (void)fail(run, &err);
        return SW_EXIT_USAGE;
    }
    if (sw_connection_init(&run->conn, "run", c, &err) < 0)
        return fail(run, &err);
    limit_time(run);
    if (sw_streq(c->authorization, "rbac") && grant(run, recipe, &err) < 0)
        return fail(run, &err);
    if (!c->emulate) { /* a new cluster has no other resources, and no operator */
        run->conn.patient = true;
        SW_AUTO_CHARS *leader = find_leader(run);
        if (leader && !run->opts.alongside) {
            SW_AUTO_CHARS *why = sw_printf(
                "the operator %s leads on this cluster: it would walk %s, too. kubectl apply the "
                "SpecialResource for it, or walk it all the same with --alongside",
                leader, run->name);
            return refuse(run, why);
        }
        sw_overlap_warn(&run->conn, run->resource);
        run->gone = sw_shared_releases_forget_gone(&run->conn);
    }
    if (run->conn.signal) {
        (void)fprintf(stderr,
                      "slipway run: %s interrupted: nothing was written; the same command begins "
                      "anew\n",
                      run->name);
        return 128 + run->conn.signal;
    }
    walk(run);
    return run->exit;
}

static void run_done(struct run *run)
{
    sw_live_close(run->live);
    sw_install_cancel(run->install);
    /* before the controller, which they ask: what follows sends requests, and runs the loop */
    sw_timer_free(run->frame_timer);
    sw_timer_free(run->timeout_timer);
    sw_timer_free(run->check_timer);
    sw_timer_free(run->flush_timer);
    sw_timer_free(run->beat_timer);
    sw_controller_close(run->controller);
    sw_turn_close(run->turn);
    sw_recorder_close(run->recorder);
    free(run->trouble);
    sw_connection_done(&run->conn);
    json_object_put(run->resource);
    json_object_put(run->kinds);
    json_object_put(run->gone);
    free(run->last_message);
    free(run->kube_version);
    sw_values_args_done(&run->opts.values);
    sw_arena_free(run->arena);
}

/* Of what failed before the recipe was known: of the command line, say. */
static void print_refused(const char *format, const char *message)
{
    const int64_t now_ms = sw_now_ms();
    const struct run run = { .opts = { .output = format } };
    const struct sw_report report = { .name = "run", .started_ms = now_ms, .now_ms = now_ms };
    if (sw_streq(format, "junit") || sw_streq(format, "ctrf"))
        (void)print_document(&run, &report, message);
}

static int execute(const struct sw_call *call)
{
    struct run run = { .opts = { .timeout_ms = INT64_C(30) * 60 * 1000,
                                 .fail_fast = !isatty(STDOUT_FILENO) } };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN); /* events are printed instead */
    run.opts.source.late = true;
    int rc = sw_cli_parse(call, &run.opts, 1, &rest);
    if (rc) {
        run_done(&run);
        return rc - 1;
    }
    run.is_document = run.opts.output && !sw_streq(run.opts.output, "text");
    rc = run.exit = run_recipe(&run, rest.items[0]);
    if (!run.is_shown)
        show_refusal(&run, rest.items[0]);
    run_done(&run);
    return rc;
}

/* ---- a resource that is there ------------------------------------------------------------------
 */

int sw_walk(struct sw_connection *conn, const struct sw_connect_opts *opts,
            struct json_object *resource, int64_t timeout_ms)
{
    SW_AUTO_CHARS *leader = sw_leader_find(conn);
    struct run run = { .opts = { .timeout_ms = timeout_ms, .connect = *opts },
                       .as_it_is = true,
                       .name = sw_obj_name(resource) };
    SW_ERR(err);
    if (leader) {
        (void)printf("%s: the operator %s walks it\n", run.name, leader);
        (void)fflush(stdout);
        return sw_watch_operator(conn, resource, timeout_ms);
    }
    if (conn->signal)
        return 128 + conn->signal;
    const char *command = conn->command;
    sw_connection_done(conn);
    int rc = sw_connection_init(&run.conn, command, opts, &err) < 0 ? sw_cli_fail(command, &err)
                                                                    : 0;
    if (rc == 0) {
        limit_time(&run);
        walk(&run);
        rc = run.exit;
    }
    run_done(&run);
    return rc;
}

const struct sw_command sw_command_run = {
    .name = "run",
    .args = "RECIPE",
    .missing = "which recipe? A folder or an archive of a chart, or a URL",
    .summary = "apply a recipe, state by state, until it is Ready",
    .details = "RECIPE is a chart: a folder, an archive, a URL, or with --repo the name of a "
               "chart. The command\n"
               "applies a SpecialResource for it and runs the controller in this process until the "
               "resource is\n"
               "Ready, has failed, or the time limit has passed. Nothing is deleted then; run it "
               "again to go on.\n"
               "On a real cluster pods have to stay ready for two seconds: a program may end right "
               "after its start.\n"
               "\n"
               "The resource has no finalizer, since no operator would remove it. If you delete "
               "the resource, its\n"
               "objects are deleted with it, but not node labels and the namespace.\n"
               "\n"
               "Where an operator leads, or another slipway run walks the same resource, it does "
               "nothing and says so;\n"
               "--alongside walks it all the same. Those who may not read or write Leases are not "
               "told.\n"
               "\n"
               "Exit status: 0 Ready, 1 failed, 2 bad usage or input, 3 time-out, 128 + n ended by "
               "signal n.",
    .flags = flags,
    .execute = execute,
    .print_failure = print_refused,
};
