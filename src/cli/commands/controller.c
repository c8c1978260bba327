/* slipway controller: the operator. It serves health and metrics, and reconciles every
 * SpecialResource, with --leader-elect while it is the leader. */
#include "operator/controller/controller.h"
#include "base/folders.h"
#include "base/loglevel.h"
#include "base/loop.h"
#include "chart/fetch/reach/reach.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/leader.h"
#include "cli/cluster/node_policy_flags.h"
#include "cli/cluster/releases.h"
#include "cli/commands/commands.h"
#include "cli/recipe/source_flags.h"
#include "cli/simulate/recorder.h"
#include "data/text/metrics.h"
#include "data/text/url.h"
#include "emulator/emulator.h"
#include "kube/kube.h"
#include "kube/lease.h"
#include "kube/metrics/metrics_server.h"
#include "net/http/http.h"
#include "net/serve/serve.h"
#include "operator/admission/admission.h"
#include "operator/manifests/hooks.h"
#include "operator/registries/registries.h"
#include "web/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIM_MS 5000

struct controller_opts {
    const char *cache_dir, *charts_dir, *mirror;
    bool stand_ins;
    int64_t refresh_ms;
    struct sw_connect_opts connect;
    bool leader_elect;
    bool no_registries, legacy_rights, keep_selectors;
    struct sw_metrics_flags metrics;
    const char *sro_metrics; /* --metrics-addr */
    const char *admission, *admission_certs, *operator_user;
    const char *dashboard, *dashboard_certs;
    const char *allowed_sources;
    const char *log_file, *health, *lease_ns, *releases, *registries_conf, *registry_ca, *graph_url;
    struct sw_record_opts record;
    struct sw_node_policy_opts nodes;
    const char *allowed_files;
};

static const struct sw_flag flags[] = {
    { "leader-elect", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, leader_elect), NULL, NULL,
      "work only while holding the Lease " SW_OPERATOR_LEASE },
    { "enable-leader-election", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, leader_elect),
      NULL, NULL, "the same as --leader-elect, by its name in SRO" },
    { "leader-elect-namespace", 0, SW_FLAG_STRING, offsetof(struct controller_opts, lease_ns), "NS",
      NULL, "namespace of the Lease (default $OPERATOR_NAMESPACE, else the context's)" },
#define METRICS(field) offsetof(struct controller_opts, metrics.field)
    SW_METRICS_FLAGS(METRICS, "address for /metrics; 0: not served (default :8080)"),
#undef METRICS
    { "metrics-addr", 0, SW_FLAG_STRING, offsetof(struct controller_opts, sro_metrics), "HOST:PORT",
      NULL,
      "the same, by its name in SRO; on loopback by HTTP, for the kube-rbac-proxy before it" },
    { "health-probe-bind-address", 0, SW_FLAG_STRING, offsetof(struct controller_opts, health),
      "HOST:PORT", NULL, "address for /healthz and /readyz; 0: not served (default :8081)" },
    { "admission-bind-address", 0, SW_FLAG_STRING, offsetof(struct controller_opts, admission),
      "HOST:PORT", NULL,
      "address of a webhook that asks whether who writes a resource may use its account "
      "(default 0: not served)" },
    { "admission-cert-path", 0, SW_FLAG_STRING, offsetof(struct controller_opts, admission_certs),
      "DIR", NULL, "folder with its tls.crt and tls.key; read again when they change" },
    { "admission-operator", 0, SW_FLAG_STRING, offsetof(struct controller_opts, operator_user),
      "USER", NULL, "the operator's own user, whom it does not ask about" },
    { "dashboard-bind-address", 0, SW_FLAG_STRING, offsetof(struct controller_opts, dashboard),
      "HOST:PORT", NULL,
      "address of the page of 'slipway dashboard', by HTTPS, for whom the API server lets "
      "get " SW_WEB_PATH " (default 0: not served)" },
    { "dashboard-cert-path", 0, SW_FLAG_STRING, offsetof(struct controller_opts, dashboard_certs),
      "DIR", NULL,
      "folder with its tls.crt and tls.key; read again when they change (default: a certificate "
      "made at start, signed by itself)" },
    SW_RELEASES_FLAG(struct controller_opts, releases),
    { "cache-dir", 0, SW_FLAG_STRING, offsetof(struct controller_opts, cache_dir), "DIR", NULL,
      "folder for downloaded recipes (default $SLIPWAY_CACHE_DIR, else ~/.cache/slipway)" },
    { "charts-dir", 0, SW_FLAG_STRING, offsetof(struct controller_opts, charts_dir), "DIR", NULL,
      "folder of charts that are taken from there instead of being fetched (default "
      "$SLIPWAY_CHARTS_DIR)" },
    { "stand-ins", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, stand_ins), NULL, NULL,
      "take the emulator's stand-ins for the vendors' charts, on an emulator only (default "
      "$SLIPWAY_STAND_INS)" },
    { "mirror", 0, SW_FLAG_STRING, offsetof(struct controller_opts, mirror), "SOURCE=MIRROR,...",
      NULL,
      "charts and images of servers whose name begins with SOURCE come from MIRROR; \"cluster\": "
      "images from the mirrors of the cluster's settings" },
    { "allowed-files", 0, SW_FLAG_STRING, offsetof(struct controller_opts, allowed_files),
      "DIR[,DIR]", NULL,
      "folders below which resources may name files of the controller: file://, caFile, certFile, "
      "keyFile (default none; with --legacy-rights all)" },
    { "recipe-interval", 0, SW_FLAG_DURATION, offsetof(struct controller_opts, refresh_ms), "TIME",
      NULL,
      "time after which remote recipes are checked for a new version; 0: never (default 10m)" },
    { "allowed-sources", 0, SW_FLAG_STRING, offsetof(struct controller_opts, allowed_sources),
      "LIST", NULL,
      "hosts and addresses that recipes may come from, ! before those that they may not (default "
      "$SLIPWAY_ALLOWED_SOURCES; see docs/recipes-from.md)" },
    { "registries-conf", 0, SW_FLAG_STRING, offsetof(struct controller_opts, registries_conf),
      "FILE", NULL, "file with mirrors of registries (default /etc/containers/registries.conf)" },
    { "registry-ca-file", 0, SW_FLAG_STRING, offsetof(struct controller_opts, registry_ca), "FILE",
      NULL, "PEM file of CA certificates of registries to trust besides the system's" },
    { "upgrade-graph-url", 0, SW_FLAG_STRING, offsetof(struct controller_opts, graph_url), "URL",
      NULL, "service that knows the release images of versions (default: OpenShift's public one)" },
    { "log-level-file", 0, SW_FLAG_STRING, offsetof(struct controller_opts, log_file), "FILE", NULL,
      "file with the log level; it is read again when it changes" },
    { "no-registries", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, no_registries), NULL, NULL,
      "do not check whether images exist in their registries" },
    SW_NODE_POLICY_FLAGS(struct controller_opts, nodes),
    { "legacy-rights", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, legacy_rights), NULL, NULL,
      "walk resources without spec.serviceAccountName with the operator's own rights, as SRO does: "
      "whoever may write a resource has them" },
    { "keep-node-selectors", 0, SW_FLAG_BOOL, offsetof(struct controller_opts, keep_selectors),
      NULL, NULL,
      "leave the nodeSelectors of drivers as they are, as SRO does: it can go on with them, but "
      "there is no grace period for lost features" },
    SW_RECORD_FLAGS(struct controller_opts, record),
    SW_CONNECT_FLAGS(struct controller_opts, connect),
    { 0 },
};

struct operator
{
    struct controller_opts opts;
    struct sw_connection conn;
    struct sw_timer *trim;            /* NULL: nothing has changed yet */
    struct sw_controller *controller; /* NULL: has not been the leader yet */
    struct sw_recorder *recorder;
    struct sw_lease *lease;
    struct sw_log_file *log_file;
    struct sw_node_policy nodes;
    struct sw_folders *folders;        /* in which resources may name files; NULL: in all */
    struct sw_metrics_server *metrics; /* NULL: not served */
    struct sw_serve *health;           /* the same */
    struct sw_admission *admission;    /* the same */
    struct sw_web *web;                /* the same */
    char *identity;
};

static void on_trouble(int code, const char *why, void *arg SW_UNUSED)
{
    if (code < 0)
        sw_log(SW_LOG_ERROR, "the controller cannot work", "error", why, NULL);
    else
        sw_log(SW_LOG_INFO, "the controller works", NULL);
}

static void on_event(const struct sw_controller_event *e, void *arg SW_UNUSED)
{
    sw_log(e->warning ? SW_LOG_WARN : SW_LOG_INFO, e->reason, "resource", e->resource, "message",
           e->message, NULL);
}

static const char *own_namespace(const struct operator* op)
{
    const char *own = getenv("OPERATOR_NAMESPACE");
    return own && *own ? own : sw_kube_ns(op->conn.kube);
}

static void on_trim(void *arg SW_UNUSED)
{
    sw_memory_settle();
}

/* Free memory is returned some time after a change, once for changes in short succession. */
static void on_change(const char *resource SW_UNUSED, void *arg)
{
    struct operator* op = arg;
    if (!op->trim)
        op->trim = sw_timer_new(op->conn.loop, on_trim, op);
    if (!sw_timer_is_set(op->trim))
        sw_timer_set(op->trim, TRIM_MS);
}

static void start_work(void *arg)
{
    struct operator* op = arg;
    struct sw_registries_opts registries = { .conf = op->opts.registries_conf,
                                             .ca_file = op->opts.registry_ca };
    op->controller = sw_controller_open(
        op->conn.loop, op->conn.kube,
        &(struct sw_controller_opts){
            .rights = op->opts.legacy_rights ? SW_RIGHTS_LEGACY : SW_RIGHTS_ACCOUNT,
            .keep_selectors = op->opts.keep_selectors,
            .registries = op->opts.no_registries ? NULL : &registries,
            .graph_url = op->opts.graph_url,
            .ns = own_namespace(op),
            .releases = sw_releases_of_flag(op->opts.releases),
            .helper = SW_SELF,
            .renderers = { .program = SW_SELF },
            .allowed_sources = op->opts.allowed_sources,
            .cache_dir = op->opts.cache_dir,
            .charts_dir = sw_source_charts_dir(op->opts.charts_dir),
            .stand_ins = sw_source_stand_ins(op->opts.stand_ins) ? sw_stand_ins : NULL,
            .mirror = op->opts.mirror,
            .folders = op->folders,
            .refresh_ms = op->opts.refresh_ms,
            .node_policy = &op->nodes,
            .recording = sw_recorder_recording(op->recorder),
            .on_event = on_event,
            .on_change = on_change,
            .on_trouble = on_trouble,
            .arg = op });
}

/* ---- leadership --------------------------------------------------------------------------------
 */

static void on_started(void *arg)
{
    struct operator* op = arg;
    sw_log(SW_LOG_INFO, "leading", "lease", SW_OPERATOR_LEASE, NULL);
    if (op->controller)
        sw_controller_resume(op->controller);
    else
        start_work(op);
}

/* After this has returned, nothing may be written: requests under way are cancelled. */
static void on_stopped(const char *why, void *arg)
{
    struct operator* op = arg;
    sw_log(SW_LOG_WARN, "not leading any more", "why", why, NULL);
    sw_controller_pause(op->controller); /* not closed: it may become the leader again */
}

static void on_new_leader(const char *identity, void *arg SW_UNUSED)
{
    sw_log(SW_LOG_INFO, "leader", "identity", identity, NULL);
}

static void on_lease_trouble(const char *why, void *arg SW_UNUSED)
{
    if (why)
        sw_log(SW_LOG_WARN, "the lease cannot be renewed", "error", why, NULL);
    else
        sw_log(SW_LOG_INFO, "the lease can be renewed again", NULL);
}

static int compete(struct operator* op, struct sw_err *err)
{
    const char *ns = op->opts.lease_ns ? op->opts.lease_ns : own_namespace(op);
    op->identity = sw_lease_identity("slipway");
    return sw_lease_open(op->conn.loop, op->conn.config,
                         &(struct sw_lease_opts){ .ns = ns,
                                                  .name = SW_OPERATOR_LEASE,
                                                  .identity = op->identity,
                                                  .on_started = on_started,
                                                  .on_stopped = on_stopped,
                                                  .on_new_leader = on_new_leader,
                                                  .on_trouble = on_lease_trouble,
                                                  .arg = op },
                         &op->lease, err);
}

/* ---- HTTP --------------------------------------------------------------------------------------
 */

static bool leads(const struct operator* op)
{
    return op->controller && !sw_controller_is_paused(op->controller);
}

/* @text is taken. */
static void answer(struct sw_serve_reply *reply, int status, char *text)
{
    sw_serve_answer(reply, status, SW_METRICS_CONTENT_TYPE "; charset=utf-8", text, strlen(text));
    free(text);
}

/* Metrics of the resources come from the leader only. */
static void serve_metrics(struct sw_serve_reply *reply, void *arg)
{
    struct operator* op = arg;
    SW_AUTO_CHARS *work = leads(op) ? sw_controller_metrics(op->controller) : sw_strdup("");
    const char *release = getenv("RELEASE_VERSION"); /* of the cluster that it came with */
    struct sw_metrics out = { .prefix = "slipway_" };
    sw_metrics_head(&out, "build_info", "gauge",
                    "1; the labels are the version and $RELEASE_VERSION");
    sw_metrics_add(&out, "build_info", 1, "version", sw_version, "release", release ? release : "",
                   NULL);
    sw_metrics_one(&out, "leader", "gauge", "1 for the replica that leads", leads(op));
    sw_metrics_one(&out, "legacy_rights", "gauge",
                   "1 where resources without spec.serviceAccountName have the operator's rights",
                   op->opts.legacy_rights);
    sw_buffer_put(&out.text, work, strlen(work));
    char *text = sw_metrics_take(&out, NULL);
    answer(reply, 200, text);
}

static void add_traced(const struct sw_kube_traced *t, void *arg)
{
    char **text = arg;
    char when[21];
    (void)sw_time_rfc3339(t->wall_ms, when);
    sw_append(text, "%s %s %s %d %lld ms\n", when, t->verb, t->path, t->http_status,
              (long long)t->took_ms);
}

/* For `slipway gather`: the last requests to the API server. */
static void serve_requests(struct sw_serve_reply *reply, void *arg)
{
    struct operator* op = arg;
    char *text = sw_strdup("");
    sw_kube_each_traced(op->conn.kube, add_traced, &text);
    answer(reply, 200, text);
}

/* A replica that is not the leader is ready when it knows the leader. */
static void serve_ready(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                        void *arg)
{
    struct operator* op = arg;
    bool waiting = op->lease && !leads(op) && *sw_lease_holder(op->lease);
    const char *why = NULL;
    if (!sw_kube_is_up(op->conn.kube))
        why = "not ready: the API server does not answer";
    else if (!waiting)
        why = leads(op) ? sw_controller_unready(op->controller)
                        : "not ready: it is not known who leads";
    sw_serve_ready(reply, why);
}

static int serve_health(struct operator* op, struct sw_err *err)
{
    enum { TIMEOUT_MS = 10000, MAX_HEAD = 8192 };
    static const struct sw_serve_route routes[] = { { "GET", "/healthz", sw_serve_healthz },
                                                    { "GET", "/livez", sw_serve_healthz },
                                                    { "GET", "/readyz", serve_ready } };
    int rc = sw_serve_open_at(op->conn.loop, sw_text_or(op->opts.health, ":8081"),
                              &(struct sw_serve_opts){ .routes = routes,
                                                       .n_routes = SW_COUNT(routes),
                                                       .arg = op,
                                                       .request_ms = TIMEOUT_MS,
                                                       .idle_ms = TIMEOUT_MS,
                                                       .max_head_bytes = MAX_HEAD,
                                                       .max_body_bytes = 1 },
                              &op->health, err);
    if (rc == 0 && op->health) {
        char port[16];
        (void)snprintf(port, sizeof port, "%d", sw_serve_port(op->health));
        sw_log(SW_LOG_INFO, "listening", "for", "health", "port", port, NULL);
    }
    return rc;
}

/* SRO's flag means HTTP. Only a kube-rbac-proxy of the same pod reaches that on loopback; elsewhere
 * everybody would. */
static int read_sro_metrics(struct controller_opts *o, struct sw_err *err)
{
    SW_AUTO_CHARS *host = NULL;
    int port;
    if (!o->sro_metrics)
        return 0;
    o->metrics.address = o->sro_metrics;
    if (sw_streq(o->sro_metrics, "0"))
        return 0;
    int rc = sw_serve_parse_address(o->sro_metrics, &host, &port, err);
    if (rc == 0 && host && sw_http_is_loopback(host))
        o->metrics.secure = false;
    return rc;
}

/* It is served by each replica: it reads the cluster itself. */
static int serve_dashboard(struct operator* op, struct sw_err *err)
{
    const char *address = sw_text_or(op->opts.dashboard, "0");
    if (sw_streq(address, "0"))
        return 0;
    int rc = sw_web_open(op->conn.loop,
                         &(struct sw_web_opts){ .config = op->conn.config,
                                                .version = sw_version,
                                                .address = address,
                                                .cert_dir = op->opts.dashboard_certs },
                         &op->web, err);
    if (rc == 0) {
        char port[16];
        (void)snprintf(port, sizeof port, "%d", sw_web_port(op->web));
        sw_log(SW_LOG_INFO, "listening", "for", "dashboard", "port", port, NULL);
    }
    return rc;
}

static int serve(struct operator* op, struct sw_err *err)
{
    static const struct sw_metrics_page pages[] = { { "/metrics", serve_metrics },
                                                    { "/requests", serve_requests } };
    int rc = read_sro_metrics(&op->opts, err);
    if (rc == 0)
        rc = sw_metrics_server_open(op->conn.loop,
                                    &(struct sw_metrics_server_opts){ .flags = &op->opts.metrics,
                                                                      .pages = pages,
                                                                      .n_pages = SW_COUNT(pages),
                                                                      .arg = op,
                                                                      .kube = op->conn.kube,
                                                                      .program = "slipway" },
                                    &op->metrics, err);
    if (rc == 0)
        rc = sw_admission_open(op->conn.loop,
                               &(struct sw_admission_opts){ .address = op->opts.admission,
                                                            .cert_dir = op->opts.admission_certs,
                                                            .operator_user = op->opts.operator_user,
                                                            .legacy = op->opts.legacy_rights,
                                                            .kube = op->conn.kube },
                               &op->admission, err);
    if (rc == 0)
        rc = serve_dashboard(op, err);
    return rc < 0 ? rc : serve_health(op, err);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void stop_loop(void *arg)
{
    struct operator* op = arg;
    sw_loop_stop(op->conn.loop);
}

static void on_signal(void *arg)
{
    struct operator* op = arg;
    sw_log(SW_LOG_INFO, "stopping", "signal", strsignal(op->conn.signal), NULL);
    if (op->lease && sw_lease_is_leader(op->lease))
        sw_lease_release(op->lease, stop_loop, op);
    else
        stop_loop(op);
}

/* The folders of the flag, and the one that the recipes of DAS are in. */
static int read_folders(struct operator* op, struct sw_err *err)
{
    const char *recipes = getenv("SLIPWAY_RECIPES"), *allowed = op->opts.allowed_files;
    if (!allowed && op->opts.legacy_rights)
        return 0;
    SW_AUTO_CHARS *list = sw_printf("%s,%s", allowed ? allowed : "", recipes ? recipes : "");
    int rc = sw_folders_new(list, &op->folders, err);
    return rc < 0 ? sw_err_wrap(err, rc, "--allowed-files") : 0;
}

/* The list is read by those who fetch: whether it can be read is told here. */
static int check_sources(struct operator* op, struct sw_err *err)
{
    const char *given = getenv("SLIPWAY_ALLOWED_SOURCES");
    SW_AUTO(sw_reach) *reach = NULL;
    if (!op->opts.allowed_sources)
        op->opts.allowed_sources = given ? given : "";
    int rc = sw_reach_new(op->opts.allowed_sources, &reach, err);
    return rc < 0 ? sw_err_wrap(err, rc, "--allowed-sources")
                  : sw_mirror_check(op->opts.mirror, err);
}

static int operate(struct operator* op)
{
    SW_ERR(err);
    if (read_folders(op, &err) < 0 || check_sources(op, &err) < 0)
        return sw_cli_fail("controller", &err);
    if (sw_node_policy_flags(&op->opts.nodes, &op->nodes, &err) < 0)
        return sw_cli_fail("controller", &err);
    if (sw_recorder_open(&op->opts.record, &op->recorder, &err) < 0)
        return sw_cli_fail("controller", &err);
    if (sw_connection_init(&op->conn, "controller", &op->opts.connect, &err) < 0)
        return sw_cli_fail("controller", &err);
    op->conn.patient = true;
    op->conn.on_signal = on_signal;
    op->conn.arg = op;
    if (serve(op, &err) < 0 || (op->opts.leader_elect && compete(op, &err) < 0))
        return sw_cli_fail("controller", &err);
    SW_AUTO_CHARS *shown = sw_url_shown(sw_kube_server(op->conn.kube));
    op->log_file = sw_log_file_open(op->conn.loop, op->opts.log_file);
    sw_log(SW_LOG_INFO, "slipway", "version", sw_version, "server", shown, NULL);
    if (op->opts.legacy_rights)
        sw_log(SW_LOG_WARN,
               "legacy rights: resources without spec.serviceAccountName are walked "
               "with the operator's own rights, which all have who may write one",
               NULL);
    if (!op->folders)
        sw_log(SW_LOG_WARN,
               "legacy rights: who may write a resource may have all files read that the operator "
               "may read; --allowed-files names folders",
               NULL);
    if (!op->opts.leader_elect)
        start_work(op);
    sw_loop_run(op->conn.loop);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct operator op = { .opts = { .refresh_ms = INT64_C(600) * 1000,
                                     .metrics = SW_METRICS_FLAGS_DEFAULT(":8080") } };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &op.opts, 0, &rest);
    rc = rc ? rc - 1 : operate(&op);
    sw_metrics_server_close(op.metrics);
    sw_serve_close(op.health);
    sw_admission_close(op.admission);
    sw_web_close(op.web);
    sw_controller_close(op.controller);
    sw_recorder_close(op.recorder);
    sw_timer_free(op.trim);
    sw_lease_close(op.lease);
    sw_log_file_close(op.log_file);
    sw_connection_done(&op.conn);
    sw_node_policy_done(&op.nodes);
    sw_folders_free(op.folders);
    free(op.identity);
    return rc;
}

const struct sw_command sw_command_controller = {
    .name = "controller",
    .args = "",
    .summary = "run the operator for all SpecialResources of a cluster",
    .details = "Runs until SIGTERM. Without --leader-elect only one may run in a cluster.",
    .flags = flags,
    .execute = execute,
};
