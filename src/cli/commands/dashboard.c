/* slipway dashboard: the page that shows SpecialResources, nodes and slices, in a browser. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/commands/commands.h"
#include "cli/recipe/recipe_flags.h"
#include "cli/recipe/resource.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "operator/controller/controller.h"
#include "web/web.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dashboard_opts {
    struct sw_connect_opts connect;
    struct sw_source_flags source;
    struct sw_values_args values;
    int64_t port;
    bool no_open;
};

#define FIELD(member) offsetof(struct dashboard_opts, member)

static const struct sw_flag flags[] = {
    { "port", 0, SW_FLAG_NUMBER, FIELD(port), "PORT", NULL,
      "port on loopback (default: any free one)" },
    { "no-open", 0, SW_FLAG_BOOL, FIELD(no_open), NULL, NULL,
      "only print the address, do not open it in a browser" },
    { "emulate", 0, SW_FLAG_BOOL, FIELD(connect.emulate), NULL, NULL,
      "use an embedded cluster in this process, and walk RECIPE on it" },
    { "nodes", 0, SW_FLAG_COUNT, FIELD(connect.n_nodes), "N", NULL,
      "with --emulate: number of nodes (default 5)" },
    { "platform", 0, SW_FLAG_STRING, FIELD(connect.platform), "NAME", SW_EMU_PLATFORMS,
      "with --emulate: platform of the cluster (default openshift)" },
    { "delays", 0, SW_FLAG_STRING, FIELD(connect.delays), "FACTOR", NULL,
      "with --emulate: factor for how long things take; 0: no time (default 4)" },
    { "rules", 0, SW_FLAG_STRING, FIELD(connect.rules), "DIR", NULL,
      "with --emulate: folder of rules for custom resources, besides the built-in ones" },
    { "faults", 0, SW_FLAG_STRING, FIELD(connect.faults), "FILE", NULL,
      "with --emulate: file with a plan of faults (docs/faults.md)" },
    SW_VALUES_ARGS(FIELD(values)),
    SW_CONNECT_FLAGS(struct dashboard_opts, connect),
    { 0 },
};

struct dashboard {
    struct dashboard_opts opts;
    struct sw_connection conn;
    struct sw_web *web;
    struct json_object *resource; /* of the recipe; NULL: none is walked */
    struct sw_install *install;
    struct sw_controller *controller;
    char *redirect; /* a file that leads a browser to the page; NULL: none */
    int exit;
};

/* ---- the browser -------------------------------------------------------------------------------
 */

/* Write a file that leads to @url, which others can read in the arguments of a process, but not in
 * a folder of one's own. @return its path, heap; NULL: it cannot be written */
static char *write_redirect(const char *url)
{
    SW_ERR(ignored);
    const char *base = sw_text_or(getenv("XDG_RUNTIME_DIR"), sw_text_or(getenv("TMPDIR"), "/tmp"));
    SW_AUTO_CHARS *dir = sw_printf("%s/slipway-XXXXXX", base);
    SW_AUTO_CHARS *text = sw_printf("<!doctype html>\n<meta http-equiv=\"refresh\" "
                                    "content=\"0;url=%s\">\n<title>slipway</title>\n",
                                    url);
    if (!mkdtemp(dir))
        return NULL;
    SW_AUTO_CHARS *path = sw_printf("%s/dashboard.html", dir);
    if (sw_file_write(path, text, strlen(text), &ignored) < 0) {
        (void)rmdir(dir);
        return NULL;
    }
    return SW_TAKE(path);
}

static void remove_redirect(char *path)
{
    if (!path)
        return;
    (void)unlink(path);
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
    free(path);
}

/* Open the page where there is somebody to look at it. */
static void open_browser(struct dashboard *d)
{
    extern char **environ;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    if (d->opts.no_open || !has_display || !isatty(STDOUT_FILENO))
        return;
    d->redirect = write_redirect(sw_web_url(d->web));
    if (!d->redirect || posix_spawn_file_actions_init(&actions) != 0)
        return;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    char *argv[] = { (char[]){ "xdg-open" }, d->redirect, NULL };
    (void)posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ); /* the address is printed */
    (void)posix_spawn_file_actions_destroy(&actions);
}

/* ---- a recipe on the embedded cluster ----------------------------------------------------------
 */

static void fail(struct dashboard *d, int exit, const char *message)
{
    (void)fprintf(stderr, "slipway dashboard: %s\n", message);
    d->exit = exit;
    sw_loop_stop(d->conn.loop);
}

static void on_trouble(int code, const char *why, void *arg)
{
    if (code < 0 && code != SW_NOTFOUND)
        fail(arg, SW_EXIT_FAILED, why);
}

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct dashboard *d = arg;
    d->install = NULL;
    if (code < 0) {
        fail(d, SW_EXIT_FAILED, sw_err_text(err));
        return;
    }
    d->controller = sw_controller_open(
        d->conn.loop, d->conn.kube,
        &(struct sw_controller_opts){ .rights = SW_RIGHTS_CALLER,
                                      .only = sw_obj_name(d->resource),
                                      .one_shot = true,
                                      .helper = SW_SELF,
                                      .cache_dir = d->opts.source.cache_dir,
                                      .charts_dir = sw_source_charts_dir(NULL),
                                      .stand_ins = sw_source_stand_ins(true) ? sw_stand_ins : NULL,
                                      .on_trouble = on_trouble,
                                      .arg = d });
}

/* ---- the command -------------------------------------------------------------------------------
 */

static const char *misuse_of(const struct dashboard_opts *o, const char *recipe)
{
    const struct sw_connect_opts *c = &o->connect;
    if (!c->emulate && recipe)
        return "a recipe is for --emulate: 'slipway run RECIPE' walks it on your cluster, and the "
               "page shows it";
    if (!c->emulate && (c->n_nodes || c->platform || c->delays || c->rules || c->faults))
        return "--nodes, --platform, --delays, --rules and --faults are for --emulate";
    if (c->emulate && (c->kubeconfig || c->context))
        return "--kubeconfig and --context name a cluster that is there, --emulate makes one: "
               "which "
               "of them?";
    if (o->port < 0 || o->port > 65535)
        return "--port: a number from 0 to 65535";
    return NULL;
}

static int make_resource(struct dashboard *d, const char *recipe, struct sw_arena *arena)
{
    SW_ERR(err);
    const struct sw_resource_opts opts = { .recipe = recipe,
                                           .source = &d->opts.source,
                                           .connect = &d->opts.connect,
                                           .values = sw_values_args_read(&d->opts.values, arena),
                                           .command = "dashboard" };
    const int rc = sw_resource_make(&opts, &d->resource, &err);
    if (rc < 0) { /* the input is wrong, or where it comes from does not answer now */
        (void)sw_cli_fail("dashboard", &err);
        return rc == SW_UNAVAILABLE ? SW_EXIT_FAILED : SW_EXIT_USAGE;
    }
    return SW_EXIT_OK;
}

static int show(struct dashboard *d)
{
    SW_ERR(err);
    if (sw_connection_init(&d->conn, "dashboard", &d->opts.connect, &err) < 0)
        return sw_cli_fail("dashboard", &err);
    d->conn.patient = true;
    if (sw_web_open(d->conn.loop,
                    &(struct sw_web_opts){ .config = d->conn.config,
                                           .port = (int)d->opts.port,
                                           .version = sw_version },
                    &d->web, &err) < 0)
        return sw_cli_fail("dashboard", &err);
    (void)printf("%s\n", sw_web_url(d->web));
    (void)fflush(stdout);
    if (isatty(STDOUT_FILENO))
        (void)fprintf(stderr, "The page is there until Ctrl-C; the address is for you alone.\n");
    open_browser(d);
    if (d->resource)
        d->install = sw_install_start(&d->conn, d->resource, on_installed, d);
    sw_loop_run(d->conn.loop);
    return d->exit; /* a signal is how it ends */
}

static int execute(const struct sw_call *call)
{
    struct dashboard d = { 0 };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN);
    d.opts.source.late = true;
    int rc = sw_cli_parse(call, &d.opts, 1, &rest);
    if (rc) {
        sw_values_args_done(&d.opts.values);
        return rc - 1;
    }
    struct sw_arena *arena = sw_arena_new();
    const char *recipe = rest.n ? rest.items[0] : NULL, *misuse = misuse_of(&d.opts, recipe);
    if (!d.opts.connect.delays)
        d.opts.connect.delays = "4";
    if (misuse)
        rc = sw_cli_usage("dashboard", "%s", misuse);
    else if (recipe)
        rc = make_resource(&d, recipe, arena);
    if (rc == 0)
        rc = show(&d);
    sw_install_cancel(d.install);
    sw_controller_close(d.controller);
    sw_web_close(d.web);
    remove_redirect(d.redirect);
    sw_connection_done(&d.conn);
    json_object_put(d.resource);
    sw_values_args_done(&d.opts.values);
    sw_arena_free(arena);
    return rc;
}

const struct sw_command sw_command_dashboard = {
    .name = "dashboard",
    .args = "[RECIPE]",
    .summary = "show resources, nodes and slices in a browser",
    .details = "Serves a page on loopback, prints its address, and opens it where there is a "
               "display. It shows the\n"
               "SpecialResources of the cluster as they change: their states, what stops them, the "
               "nodes, and the\n"
               "slices of GPUs. It only reads, with your rights. The address has a token: who does "
               "not have it\n"
               "sees nothing of the cluster.\n"
               "\n"
               "With --emulate the cluster is in this process, and RECIPE is walked on it.",
    .flags = flags,
    .execute = execute,
};
