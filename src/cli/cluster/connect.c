#include "cli/cluster/connect.h"

#include "base/loop.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_server(int code, const char *why, void *arg)
{
    struct sw_connection *conn = arg;
    if (!conn->patient || (code && code != SW_UNAVAILABLE))
        return; /* the failed request reports it */
    if (!code && (conn->is_down || conn->told_ms))
        (void)fprintf(stderr, "slipway %s: the API server answers again\n", conn->command);
    else if (code)
        (void)fprintf(stderr, "slipway %s: %s; trying again until it answers\n", conn->command,
                      why ? why : "the API server does not answer");
    conn->is_down = code != 0;
    conn->told_ms = 0;
    sw_text_set(&conn->why_down, code ? why : NULL);
}

enum { SILENT_MS = 5000, CHECK_MS = 1000, STILL_SILENT_MS = 10000, SLOW_MS = 2000 };

bool sw_connection_is_silent(const struct sw_connection *conn)
{
    return conn->kube && sw_kube_silent_ms(conn->kube) >= SLOW_MS;
}

int sw_connection_fail(const struct sw_connection *conn, const struct sw_err *err)
{
    const bool is_over = err->code == SW_UNAVAILABLE && conn->end_ms &&
                         sw_loop_now_ms(conn->loop) >= conn->end_ms;
    const int status = sw_cli_fail(conn->command, err);
    return is_over ? SW_EXIT_TIMEOUT : status;
}

static bool is_controller(const struct sw_connection *conn)
{
    return strcmp(conn->command, "controller") == 0;
}

/* A server that takes connections and says nothing is not down before requests have timed out. The
 * controller, which shall not wake for nothing, looks no more once it has answered. */
static void on_silent(void *arg)
{
    struct sw_connection *conn = arg;
    const int64_t silent_ms = sw_kube_silent_ms(conn->kube);
    if (is_controller(conn) && sw_kube_has_answered(conn->kube))
        return;
    sw_timer_set(conn->silent_timer,
                 silent_ms && silent_ms < SILENT_MS ? SILENT_MS - silent_ms : CHECK_MS);
    if (!conn->patient || conn->is_down || silent_ms < SILENT_MS)
        return;
    if (conn->told_ms && sw_loop_now_ms(conn->loop) - conn->told_ms < STILL_SILENT_MS)
        return;
    conn->told_ms = sw_loop_now_ms(conn->loop);
    sw_kube_await_answer(conn->kube); /* on_server() says that it answers again */
    (void)fprintf(stderr, "slipway %s: %s has not answered for %d s; trying again until it does\n",
                  conn->command, sw_kube_server(conn->kube), (int)(silent_ms / 1000));
}

/* As kubectl prints them; each text comes once. The controller's go into its log. */
static void on_warning(const char *text, void *arg)
{
    const struct sw_connection *conn = arg;
    const bool colours = sw_cli_colours(STDERR_FILENO);
    if (is_controller(conn))
        sw_log(SW_LOG_WARN, "warning of the API server", "text", text, NULL);
    else
        (void)fprintf(stderr, "%sWarning:%s %s\n", colours ? "\033[33m" : "",
                      colours ? "\033[0m" : "", text);
}

static void on_signal(evutil_socket_t number, short what SW_UNUSED, void *arg)
{
    struct sw_connection *conn = arg;
    conn->signal = (int)number;
    if (conn->on_signal)
        conn->on_signal(conn->arg);
    else
        sw_loop_stop(conn->loop);
}

static void handle_signal(struct sw_connection *conn, size_t at, int number)
{
    conn->signals[at] = evsignal_new(sw_loop_base(conn->loop), number, on_signal, conn);
    (void)evsignal_add(conn->signals[at], NULL);
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static int new_client(struct sw_connection *conn, const struct sw_connect_opts *opts,
                      const struct sw_kube_config *config, struct sw_kube **out, struct sw_err *err)
{
    return sw_kube_new(conn->loop, config,
                       &(struct sw_kube_opts){ .user_agent = opts->manager,
                                               .field_manager = opts->manager,
                                               .timeout_ms = (int)opts->request_timeout_ms,
                                               .on_server = on_server,
                                               .on_warning = on_warning,
                                               .arg = conn },
                       out, err);
}

int sw_connection_init(struct sw_connection *conn, const char *command,
                       const struct sw_connect_opts *opts, struct sw_err *err)
{
    conn->command = command;
    conn->loop = sw_loop_new(NULL);
    if (!opts->no_signals) {
        handle_signal(conn, 0, SIGINT);
        handle_signal(conn, 1, SIGTERM);
        if (!is_ignored(SIGHUP)) /* by nohup(1): it goes on when its terminal is gone */
            handle_signal(conn, 2, SIGHUP);
    }
    int rc;
    if (opts->emulate) {
        struct sw_emulator_opts emu = {
            .n_nodes = (int)opts->n_nodes,
            .kube_version = opts->kube_version,
            .rules_dir = opts->rules,
            .faults = opts->faults,
            .troubles = opts->troubles,
            .rbac = sw_streq(opts->authorization, "rbac"),
        };
        sw_emulator_set_platform(&emu, opts->platform);
        rc = sw_emu_delays_read(opts->delays ? opts->delays : "1", &emu.delays, err);
        if (rc == 0)
            rc = sw_emulator_open(conn->loop, &emu, &conn->emulator, err);
        if (rc == 0)
            conn->config = sw_kube_config_new(sw_emulator_url(conn->emulator));
    } else {
        rc = sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = opts->kubeconfig,
                                                              .context = opts->context,
                                                              .server = opts->server,
                                                              .cluster = opts->cluster,
                                                              .user = opts->user,
                                                              .token = opts->token,
                                                              .as_user = opts->as_user,
                                                              .as_groups = opts->as_groups },
                                &conn->config, err);
    }
    if (rc < 0)
        return rc;
    conn->silent_timer = sw_timer_new(conn->loop, on_silent, conn);
    sw_timer_set(conn->silent_timer, CHECK_MS);
    return new_client(conn, opts, conn->config, &conn->kube, err);
}

int sw_connection_as(struct sw_connection *conn, const struct sw_connect_opts *opts, const char *ns,
                     const char *account, struct sw_err *err)
{
    conn->account_config = sw_kube_config_new(sw_emulator_url(conn->emulator));
    conn->account_config->token = sw_emulator_token(conn->emulator, ns, account);
    return new_client(conn, opts, conn->account_config, &conn->account_kube, err);
}

void sw_connection_done(struct sw_connection *conn)
{
    free(SW_TAKE(conn->why_down));
    sw_timer_free(SW_TAKE(conn->silent_timer));
    sw_kube_free(SW_TAKE(conn->account_kube));
    sw_kube_config_free(SW_TAKE(conn->account_config));
    sw_kube_free(SW_TAKE(conn->kube));
    sw_kube_config_free(SW_TAKE(conn->config));
    sw_emulator_close(SW_TAKE(conn->emulator));
    for (size_t i = 0; i < SW_COUNT(conn->signals); i++) {
        if (conn->signals[i])
            event_free(SW_TAKE(conn->signals[i]));
    }
    sw_loop_free(SW_TAKE(conn->loop));
}
