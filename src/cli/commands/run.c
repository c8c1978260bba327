/* run: one recipe, walked once, in this process. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/cluster/overlap.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "cli/recipe/resource.h"
#include "cli/recipe/source_flags.h"
#include "cli/simulate/recorder.h"
#include "cli/view/live.h"
#include "data/data.h"
#include "operator/controller/controller.h"
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
    struct sw_list_arg files, set, set_string, set_json, set_file;
    const char *name, *ns, *output, *registries_conf;
    struct sw_record_opts record;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "emulate", 0, SW_FLAG_BOOL, offsetof(struct run_opts, connect.emulate), NULL, NULL,
      "walk on a cluster inside this process" },
    { "nodes", 0, SW_FLAG_COUNT, offsetof(struct run_opts, connect.n_nodes), "N", NULL,
      "with --emulate: nodes of that cluster (default 5)" },
    { "platform", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.platform), "NAME",
      "openshift|kubernetes", "with --emulate: what it serves (default openshift)" },
    { "delays", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.delays), "FACTOR", NULL,
      "with --emulate: 0 makes everything happen at once (default 1)" },
    { "rules", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.rules), "DIR", NULL,
      "with --emulate: more rules for what custom resources do" },
    { "faults", 0, SW_FLAG_STRING, offsetof(struct run_opts, connect.faults), "FILE", NULL,
      "with --emulate: a plan of what goes wrong (docs/faults.md)" },
    { "values", 'f', SW_FLAG_LIST, offsetof(struct run_opts, files), "FILE", NULL,
      "values for the recipe; may be repeated, the last one wins" },
    { "set", 0, SW_FLAG_LIST, offsetof(struct run_opts, set), "KEY=VALUE", NULL,
      "a value, as helm's --set" },
    { "set-string", 0, SW_FLAG_LIST, offsetof(struct run_opts, set_string), "KEY=VALUE", NULL,
      "a value that is text whatever it looks like" },
    { "set-json", 0, SW_FLAG_LIST, offsetof(struct run_opts, set_json), "KEY=JSON", NULL,
      "a value written as JSON" },
    { "set-file", 0, SW_FLAG_LIST, offsetof(struct run_opts, set_file), "KEY=FILE", NULL,
      "a value that is a file's text" },
    { "name", 0, SW_FLAG_STRING, offsetof(struct run_opts, name), "NAME", NULL,
      "name of the resource (default: the recipe's)" },
    { "namespace", 'n', SW_FLAG_STRING, offsetof(struct run_opts, ns), "NS", NULL,
      "namespace of the stack (default: the resource's)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct run_opts, timeout_ms), "TIME", NULL,
      "give up after so long (default 30m; 0: never)" },
    { "registries-conf", 0, SW_FLAG_STRING, offsetof(struct run_opts, registries_conf), "FILE",
      NULL, "mirrors of registries; with --emulate registries are asked only with this" },
    { "output", 'o', SW_FLAG_STRING, offsetof(struct run_opts, output), "FORMAT", "json|text",
      "json: one document at the end and nothing else" },
    SW_RECORD_FLAGS(struct run_opts, record),
    SW_SOURCE_FLAGS(offsetof(struct run_opts, source)),
    SW_CONNECT_FLAGS(struct run_opts, connect),
    { 0 },
};

enum { FRAME_MS = 100, FLUSH_MS = 5000, FAULT_MS = 2000 };

struct run {
    struct run_opts opts;
    struct sw_connection conn;
    struct json_object *resource;
    const char *name;
    struct sw_install *install;
    struct sw_controller *controller;
    struct sw_recorder *recorder;
    struct sw_live *live;
    struct sw_timer *frame_timer, *timeout_timer, *check_timer, *flush_timer;
    int64_t started_ms;
    int64_t fault_ms; /* when the recipe was first seen to be refused; 0: it is not */
    bool json;
    int exit;           /* an enum sw_exit, or 128 + signal */
    bool ended;         /* @exit is decided; what is on its way to the server may finish */
    char *last_message; /* why it ended, where the states do not say it */
};

/* ---- showing -----------------------------------------------------------------------------------
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

static void draw(struct run *run)
{
    struct sw_report report;
    struct sw_style style = sw_live_style(run->live);
    report_of(run, &report, false);
    SW_AUTO_CHARS *frame = sw_report_frame(&report, &style);
    sw_live_draw(run->live, frame);
    report_done(&report);
}

static void on_frame(void *arg)
{
    struct run *run = arg;
    draw(run);
    sw_timer_set(run->frame_timer, FRAME_MS);
}

static void on_event(const struct sw_controller_event *e, void *arg)
{
    struct run *run = arg;
    char elapsed[16];
    if (run->json || run->live)
        return;
    sw_report_duration(sw_loop_now_ms(run->conn.loop) - run->started_ms, elapsed);
    (void)printf("%7s  %s%s: %s\n", elapsed, e->warning ? "warning: " : "", e->reason, e->message);
    (void)fflush(stdout);
}

static int print_json(const struct sw_report *report)
{
    SW_AUTO_JSON *doc = sw_report_json(report);
    return sw_cli_print_json(doc);
}

static int print_text(const struct sw_report *report, bool tables)
{
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    char elapsed[16];
    sw_report_duration(report->now_ms - report->started_ms, elapsed);
    SW_AUTO_CHARS *text = tables ? sw_report_tables(report, &style)
                                 : sw_printf("%7s  %s: %s\n", elapsed, report->name,
                                             sw_report_phase(report));
    return sw_cli_print(text, strlen(text));
}

/* Where it stood, on stderr: results alone are on stdout. */
static void explain(struct run *run, const struct sw_report *report)
{
    static const char *const how[] = {
        [SW_EXIT_FAILED] = "failed", [SW_EXIT_USAGE] = "failed", [SW_EXIT_TIMEOUT] = "timed out"
    };
    const char *what = run->exit > SW_EXIT_TIMEOUT ? "interrupted" : how[run->exit];
    SW_AUTO_CHARS *trouble = run->last_message ? sw_strdup(run->last_message)
                                               : sw_report_trouble(report);
    (void)fprintf(stderr, "slipway run: %s %s:\n", run->name, what);
    for (const char *at = trouble; *at;) {
        size_t len = strcspn(at, "\n");
        (void)fprintf(stderr, "  %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void show_end(struct run *run)
{
    struct sw_report report;
    bool tables = run->live;
    sw_live_close(SW_TAKE(run->live));
    report_of(run, &report, true);
    int rc = run->json ? print_json(&report) : print_text(&report, tables);
    if (run->exit)
        explain(run, &report);
    else
        run->exit = rc; /* the walk is well, only nobody could be told */
    report_done(&report);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void on_flushed(void *arg)
{
    struct run *run = arg;
    sw_loop_stop(run->conn.loop);
}

/* What was decided is on its way to the server: let it arrive, for a while. */
static void end(struct run *run, int exit, const char *words)
{
    if (run->ended)
        return;
    run->ended = true;
    run->exit = exit;
    run->last_message = words ? sw_strdup(words) : NULL;
    sw_timer_set(run->flush_timer, FLUSH_MS);
    sw_timer_set(run->check_timer, 0);
}

static bool has_failed_state(struct json_object *status)
{
    struct json_object *states = sw_json_get(status, "states");
    for (size_t i = 0; i < sw_json_len(states); i++)
        if (sw_streq(sw_json_str(sw_json_at(states, i), "", "class", NULL), "Failed"))
            return true;
    return false;
}

/* The resource's status is to say it too; if it does not soon, it never will. */
static bool is_over(struct run *run)
{
    int64_t now_ms = sw_loop_now_ms(run->conn.loop);
    if (!run->fault_ms)
        run->fault_ms = now_ms;
    sw_timer_set(run->check_timer, FAULT_MS);
    return now_ms - run->fault_ms >= FAULT_MS;
}

static void check(void *arg)
{
    struct run *run = arg;
    const char *words;
    if (run->ended) {
        if (!run->controller || sw_controller_is_idle(run->controller, run->name))
            sw_loop_stop(run->conn.loop);
        return;
    }
    if (!run->controller)
        return;
    int fault = sw_controller_fault(run->controller, run->name, &words);
    enum sw_phase phase = sw_controller_phase(run->controller, run->name);
    if (phase == SW_PHASE_READY && !fault) {
        end(run, SW_EXIT_OK, NULL);
    } else if (fault && (phase == SW_PHASE_ERRORED || is_over(run))) {
        end(run, fault == SW_UNAVAILABLE ? SW_EXIT_FAILED : SW_EXIT_USAGE, words);
    } else if (phase == SW_PHASE_ERRORED) {
        SW_AUTO_JSON *status = sw_controller_status(run->controller, run->name);
        if (has_failed_state(status))
            end(run, SW_EXIT_FAILED, NULL);
    }
}

static void on_change(const char *resource SW_UNUSED, void *arg)
{
    struct run *run = arg;
    sw_timer_set(run->check_timer, 0); /* not inside the controller's own work */
}

static void on_trouble(int code, const char *why, void *arg)
{
    struct run *run = arg;
    if (code < 0 && code != SW_NOTFOUND)
        end(run, SW_EXIT_FAILED, why);
}

static void on_timeout(void *arg)
{
    end(arg, SW_EXIT_TIMEOUT, NULL);
}

static void on_signal(void *arg)
{
    struct run *run = arg;
    if (run->ended)
        sw_loop_stop(run->conn.loop); /* asked twice */
    end(run, 128 + run->conn.signal, NULL);
}

/* ---- the beginning -----------------------------------------------------------------------------
 */

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct run *run = arg;
    run->install = NULL;
    if (code < 0) {
        end(run, code == SW_INVALID ? SW_EXIT_USAGE : SW_EXIT_FAILED, sw_err_text(err));
        return;
    }
    struct sw_registries_opts registries = { .conf = run->opts.registries_conf,
                                             .home_logins = true };
    bool ask = !run->opts.connect.emulate || run->opts.registries_conf;
    run->controller = sw_controller_open(
        run->conn.loop, run->conn.kube,
        &(struct sw_controller_opts){ .registries = ask ? &registries : NULL,
                                      .only = run->name,
                                      .one_shot = true,
                                      .recording = sw_recorder_recording(run->recorder),
                                      .helper = SW_SELF,
                                      .cache_dir = run->opts.source.cache_dir,
                                      .on_change = on_change,
                                      .on_event = on_event,
                                      .on_trouble = on_trouble,
                                      .arg = run });
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
    if (run->opts.timeout_ms)
        sw_timer_set(run->timeout_timer, run->opts.timeout_ms);
    if (!run->json && (run->live = sw_live_open(STDOUT_FILENO)))
        on_frame(run);
    run->install = sw_install_start(&run->conn, run->resource, on_installed, run);
    sw_loop_run(loop);
    sw_timer_stop(run->frame_timer);
    show_end(run);
}

static void run_done(struct run *run)
{
    sw_live_close(run->live);
    sw_install_cancel(run->install);
    sw_controller_close(run->controller);
    sw_recorder_close(run->recorder);
    sw_timer_free(run->frame_timer);
    sw_timer_free(run->timeout_timer);
    sw_timer_free(run->check_timer);
    sw_timer_free(run->flush_timer);
    sw_connection_done(&run->conn);
    json_object_put(run->resource);
    free(run->last_message);
    sw_list_arg_done(&run->opts.files);
    sw_list_arg_done(&run->opts.set);
    sw_list_arg_done(&run->opts.set_string);
    sw_list_arg_done(&run->opts.set_json);
    sw_list_arg_done(&run->opts.set_file);
}

static int make_resource(struct run *run, const char *recipe, struct sw_err *err)
{
    const struct run_opts *o = &run->opts;
    const struct sw_resource_opts opts = {
        .recipe = recipe,
        .source = &o->source,
        .connect = &o->connect,
        .name = o->name,
        .ns = o->ns,
        .values = { .files = o->files.items,
                    .n_files = o->files.n,
                    .json = o->set_json.items,
                    .n_json = o->set_json.n,
                    .set = o->set.items,
                    .n_set = o->set.n,
                    .string = o->set_string.items,
                    .n_string = o->set_string.n,
                    .file = o->set_file.items,
                    .n_file = o->set_file.n },
    };
    int rc = sw_resource_make(&opts, &run->resource, err);
    if (rc == 0)
        run->name = sw_obj_name(run->resource);
    return rc;
}

static int run_recipe(struct run *run, const struct sw_operands *rest)
{
    SW_ERR(err);
    const struct sw_connect_opts *c = &run->opts.connect;
    if (!c->emulate && (c->n_nodes || c->platform || c->delays || c->rules || c->faults))
        return sw_cli_usage(
            "run", "--nodes, --platform, --delays, --rules and --faults are for --emulate");
    if (c->emulate && (c->kubeconfig || c->context))
        return sw_cli_usage("run", "--kubeconfig and --context name a cluster that is there, "
                                   "--emulate makes one: which of them?");
    if (run->opts.registries_conf && access(run->opts.registries_conf, R_OK) < 0)
        return sw_cli_usage("run", "--registries-conf: %s: %s", run->opts.registries_conf,
                            strerror(errno));
    run->json = sw_streq(run->opts.output, "json");
    if (make_resource(run, rest->items[0], &err) < 0) {
        (void)sw_cli_fail("run", &err); /* whatever the cause: it is the input */
        return SW_EXIT_USAGE;
    }
    if (run->opts.source.registry_config) /* for the helper, which inherits it */
        (void)setenv("REGISTRY_AUTH_FILE", run->opts.source.registry_config, 1);
    if (sw_recorder_open(&run->opts.record, &run->recorder, &err) < 0) {
        (void)sw_cli_fail("run", &err);
        return SW_EXIT_USAGE;
    }
    if (sw_connection_init(&run->conn, "run", c, &err) < 0)
        return sw_cli_fail("run", &err);
    if (!c->emulate) /* nobody else's are on a cluster of this process */
        sw_overlap_warn(&run->conn, run->resource);
    if (run->conn.signal)
        return 128 + run->conn.signal;
    walk(run);
    return run->exit;
}

static int execute(const struct sw_call *call)
{
    struct run run = { .opts = { .timeout_ms = INT64_C(30) * 60 * 1000 } };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN); /* the view says what happens */
    int rc = sw_cli_parse(call, &run.opts, 1, &rest);
    rc = rc ? rc - 1 : run_recipe(&run, &rest);
    run_done(&run);
    return rc;
}

const struct sw_command sw_command_run = {
    .name = "run",
    .args = "RECIPE",
    .missing = "which recipe? A folder or an archive of a chart, or a URL",
    .summary = "walk a recipe's states to Ready, and report",
    .details = "RECIPE is the folder or the archive of a chart. A SpecialResource for it is "
               "applied, walked\n"
               "in this process until it is Ready, has failed, or the time is over, and left as it "
               "is then.\n"
               "Run it again to go on. It sets no finalizer, since it would not be there to take "
               "it off: deleted,\n"
               "the resource takes what it owns along, but not node labels and the namespace.\n\n"
               "Exit status: 0 Ready, 1 failed, 2 bad usage or input, 3 time-out.",
    .flags = flags,
    .execute = execute,
};
