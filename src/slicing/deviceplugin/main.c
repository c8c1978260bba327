/* slipway-device-plugin: flags, probes, signals. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loglevel.h"
#include "base/options.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "net/serve/serve.h"
#include "slicing/deviceplugin/deviceplugin.h"

#define PROGRAM "slipway-device-plugin"

struct settings {
    const char *kubeconfig, *node, *ns, *kubelet_dir, *cdi_dir, *journal_dir, *boot_id_file;
    const char *strategy, *model, *library, *gate, *gate_ns, *gate_condition, *gate_lost;
    const char *health_address, *metrics_address, *log_level, *log_file;
    int count, claim_s;
    bool emulated, help, version;
};

static const struct sw_option flags[] = {
#define AT(field) offsetof(struct settings, field)
    { "kubeconfig", SW_OPTION_TEXT, AT(kubeconfig), "file (default: in the cluster, $KUBECONFIG)" },
    { "node-name", SW_OPTION_TEXT, AT(node), "this node's name (default $NODE_NAME)" },
    { "namespace", SW_OPTION_TEXT, AT(ns),
      "of AllocationClaims and NodeAccelerators (default $INSTASLICE_NAMESPACE, else "
      "das-operator)" },
    { "kubelet-dir", SW_OPTION_TEXT, AT(kubelet_dir), "default /var/lib/kubelet" },
    { "cdi-dir", SW_OPTION_TEXT, AT(cdi_dir), "for CDI files (default /var/run/cdi)" },
    { "journal-dir", SW_OPTION_TEXT, AT(journal_dir),
      "for records of slices (default /var/lib/slipway/device-plugin)" },
    { "device-list-strategy", SW_OPTION_TEXT, AT(strategy),
      "envvar, cdi-annotations, cdi-cri; several with commas (default envvar,cdi-annotations)" },
    { "emulated-mode", SW_OPTION_SWITCH, AT(emulated),
      "make the GPUs up: no NVML, no gate unless given (default: $EMULATED_MODE is enabled)" },
    { "emulated-model", SW_OPTION_TEXT, AT(model), "default A100-40GB" },
    { "emulated-count", SW_OPTION_NUMBER, AT(count), "how many GPUs, 1 to 64 (default 2)" },
    { "nvml-library", SW_OPTION_TEXT, AT(library), "default libnvidia-ml.so.1" },
    { "gate", SW_OPTION_TEXT, AT(gate),
      "apiVersion/Kind/name that must be ready before anything is offered; empty: none (default "
      "the GPU operator's ClusterPolicy)" },
    { "gate-namespace", SW_OPTION_TEXT, AT(gate_ns), "of the gate's object" },
    { "gate-condition", SW_OPTION_TEXT, AT(gate_condition),
      "JSONPath == value; several with ' || ' (default: state or condition Ready)" },
    { "gate-lost", SW_OPTION_TEXT, AT(gate_lost),
      "withdraw (default): new pods get nothing while the gate has shut again; or keep" },
    { "claim-timeout", SW_OPTION_NUMBER, AT(claim_s),
      "seconds that Allocate waits for a claim (default 10)" },
    { "health-probe-bind-address", SW_OPTION_TEXT, AT(health_address),
      "for /healthz, /readyz, /metrics (default :8081; 0: none)" },
    { "metrics-bind-address", SW_OPTION_TEXT, AT(metrics_address),
      "for /metrics on a port of its own (default 0: none)" },
    { "boot-id-file", SW_OPTION_TEXT, AT(boot_id_file), "default /proc/sys/kernel/random/boot_id" },
    { "log-level", SW_OPTION_TEXT, AT(log_level), "error, warn, info (default) or debug" },
    { "log-level-file", SW_OPTION_TEXT, AT(log_file),
      "follow the level in this file, while there is one" },
    { "version", SW_OPTION_SWITCH, AT(version), "print the version" },
    { "help", SW_OPTION_SWITCH, AT(help), "print this" },
#undef AT
};

static const char *env_or(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static int make_opts(const struct settings *s, struct sw_device_plugin_opts *o)
{
    SW_ERR(err);
    if (!s->node || !*s->node)
        return sw_options_fault(PROGRAM, "--node-name or $NODE_NAME must say which node this is");
    if (s->count < 1 || s->count > 64)
        return sw_options_fault(PROGRAM, "--emulated-count: '%d' is no number from 1 to 64",
                                s->count);
    *o = (struct sw_device_plugin_opts){
        .node = s->node,
        .ns = s->ns,
        .kubelet_dir = s->kubelet_dir,
        .cdi_dir = s->cdi_dir,
        .journal_dir = s->journal_dir,
        .emulated = s->emulated,
        .emulated_model = s->model,
        .emulated_count = s->count,
        .nvml_library = s->library,
        /* emulation needs no GPU operator */
        .gate = s->gate       ? s->gate
                : s->emulated ? NULL
                              : SW_DEVICE_PLUGIN_GATE,
        .gate_ns = s->gate_ns,
        .gate_condition = s->gate_condition,
        .keep_when_shut = strcmp(s->gate_lost, "keep") == 0,
        .boot_id_file = s->boot_id_file,
        .claim_wait_ms = (int64_t)s->claim_s * 1000,
    };
    if (!o->keep_when_shut && strcmp(s->gate_lost, "withdraw") != 0)
        return sw_options_fault(PROGRAM, "--gate-lost: '%s' is neither withdraw nor keep",
                                s->gate_lost);
    if (s->strategy && sw_device_list_parse(s->strategy, &o->device_list, &err) < 0)
        return sw_options_fault(PROGRAM, "--device-list-strategy: %s", sw_err_text(&err));
    return sw_options_log_level(PROGRAM, s->log_level);
}

/* ---- the process -------------------------------------------------------------------------------
 */

struct process {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_device_plugin *plugin;
    struct sw_serve *health, *metrics;
};

static void serve_healthz(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                          void *arg SW_UNUSED)
{
    sw_serve_text(reply, 200, "ok\n");
}

static void serve_readyz(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                         void *arg)
{
    const struct process *p = arg;
    const char *waits = sw_device_plugin_waits_for(p->plugin);
    SW_AUTO_CHARS *text = sw_printf("%s\n", waits ? waits : "ok");
    sw_serve_text(reply, waits ? 503 : 200, text);
}

static void serve_metrics(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                          void *arg)
{
    const struct process *p = arg;
    size_t len;
    SW_AUTO_CHARS *text = sw_device_plugin_metrics(p->plugin, &len);
    sw_serve_answer(reply, 200, "text/plain; version=0.0.4", text, len);
}

static const struct sw_serve_route routes[] = {
    { "GET", "/metrics", serve_metrics },
    { "GET", "/healthz", serve_healthz },
    { "GET", "/readyz", serve_readyz },
};

static int open_server(struct process *p, const char *address, size_t n_routes, const char *what,
                       struct sw_serve **out, struct sw_err *err)
{
    SW_AUTO_CHARS *host = NULL;
    int port = 0;
    if (!*address || strcmp(address, "0") == 0)
        return 0;
    int rc = sw_serve_parse_address(address, &host, &port, err);
    if (rc == 0)
        rc = sw_serve_open(p->loop,
                           &(struct sw_serve_opts){ .routes = routes,
                                                    .n_routes = n_routes,
                                                    .arg = p,
                                                    .address = host,
                                                    .port = port,
                                                    .plain_http = true,
                                                    .max_conns = 16 },
                           out, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", what);
    char number[16];
    (void)snprintf(number, sizeof number, "%d", sw_serve_port(*out));
    sw_log(SW_LOG_INFO, "listening", "for", what, "port", number, NULL);
    return 0;
}

static int open_cluster(struct process *p, const struct settings *s, struct sw_err *err)
{
    struct sw_kube_config *config = NULL;
    int rc = sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = s->kubeconfig }, &config,
                                err);
    if (rc == 0)
        rc = sw_kube_new(p->loop, config,
                         &(struct sw_kube_opts){ .user_agent = "slipway-device-plugin",
                                                 .field_manager = "slipway-device-plugin",
                                                 .max_in_flight = 4 },
                         &p->kube, err);
    sw_kube_config_free(config);
    return rc;
}

static void on_signal(evutil_socket_t signo SW_UNUSED, short what SW_UNUSED, void *arg)
{
    sw_log(SW_LOG_INFO, "going down; pods keep their slices", NULL);
    sw_loop_stop(arg);
}

static void run(struct process *p)
{
    struct event *term = evsignal_new(sw_loop_base(p->loop), SIGTERM, on_signal, p->loop);
    struct event *intr = evsignal_new(sw_loop_base(p->loop), SIGINT, on_signal, p->loop);
    (void)event_add(term, NULL);
    (void)event_add(intr, NULL);
    sw_loop_run(p->loop);
    event_free(term);
    event_free(intr);
}

static int serve(const struct settings *s, const struct sw_device_plugin_opts *opts)
{
    SW_ERR(err);
    struct process p = { .loop = sw_loop_new(NULL) };
    struct sw_log_file *log_file = sw_log_file_open(p.loop, s->log_file);
    int rc = open_cluster(&p, s, &err);
    if (rc == 0)
        rc = sw_device_plugin_open(p.loop, p.kube, opts, &p.plugin, &err);
    if (rc == 0)
        rc = open_server(&p, s->health_address, SW_COUNT(routes), "health", &p.health, &err);
    if (rc == 0)
        rc = open_server(&p, s->metrics_address, 1, "metrics", &p.metrics, &err);
    if (rc < 0)
        (void)fprintf(stderr, PROGRAM ": %s\n", sw_err_text(&err));
    else
        run(&p);
    sw_serve_close(p.metrics);
    sw_serve_close(p.health);
    sw_device_plugin_close(p.plugin);
    sw_kube_free(p.kube);
    sw_log_file_close(log_file);
    sw_loop_free(p.loop);
    return rc == 0 ? EXIT_SUCCESS : rc == SW_INVALID ? SW_EXIT_BAD_OPTION : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    sw_program_start();
    struct settings s = { .node = getenv("NODE_NAME"),
                          .ns = env_or("INSTASLICE_NAMESPACE", "das-operator"),
                          .strategy = env_or("DEVICE_LIST_STRATEGY", NULL),
                          .emulated = strcmp(env_or("EMULATED_MODE", ""), "enabled") == 0,
                          .gate_lost = "withdraw",
                          .health_address = ":8081",
                          .metrics_address = "0",
                          .log_level = "info",
                          .count = 2,
                          .claim_s = 10 };
    int rc = sw_options_parse(PROGRAM, flags, SW_COUNT(flags), argc, argv, &s);
    if (rc)
        return rc;
    if (s.help) {
        sw_options_help(PROGRAM, "Makes MIG slices on this node and hands them to kubelet.", flags,
                        SW_COUNT(flags));
        return EXIT_SUCCESS;
    }
    if (s.version) {
        (void)puts(PROGRAM " " SW_VERSION);
        return EXIT_SUCCESS;
    }
    struct sw_device_plugin_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
