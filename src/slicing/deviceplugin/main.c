/* slipway-device-plugin: flags, probes, signals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loglevel.h"
#include "data/flags/flags.h"
#include "data/text/metrics.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "kube/metrics/metrics_server.h"
#include "net/serve/serve.h"
#include "slicing/deviceplugin/deviceplugin.h"
#include "slicing/deviceplugin/driver/root.h"
#include "slicing/deviceplugin/mps/mps.h"

#define PROGRAM "slipway-device-plugin"

struct settings {
    const char *kubeconfig, *node, *ns, *kubelet_dir, *driver_dir, *cdi_dir, *journal_dir,
        *boot_id_file;
    const char *dev_dir, *proc_dir, *toolkit_cdi_dir, *class_owner, *host_root;
    const char *api, *device_order, *strategy, *model, *library, *gate, *gate_ns, *gate_condition,
        *gate_lost;
    const char *health_address, *log_file;
    struct sw_metrics_flags metrics;
    int count, claim_s;
    bool emulated, whole_gpus, claim_views, mps;
};

static const struct sw_flag flags[] = {
#define AT(field) offsetof(struct settings, field)
#define METRICS(field) AT(metrics.field)
    { "kubeconfig", 0, SW_FLAG_STRING, AT(kubeconfig), "FILE", NULL,
      "file (default: in the cluster, $KUBECONFIG)" },
    { "node-name", 0, SW_FLAG_STRING, AT(node), "NAME", NULL,
      "this node's name (default $NODE_NAME)" },
    { "namespace", 0, SW_FLAG_STRING, AT(ns), "NAMESPACE", NULL,
      "of AllocationClaims and NodeAccelerators (default $INSTASLICE_NAMESPACE, else "
      "das-operator)" },
    { "kubelet-dir", 0, SW_FLAG_STRING, AT(kubelet_dir), "DIR", NULL, "default /var/lib/kubelet" },
    { "plugins-dir", 0, SW_FLAG_STRING, AT(driver_dir), "DIR", NULL,
      "with dra: for the driver's socket, by the name that kubelet knows it by (default "
      "KUBELET-DIR/plugins)" },
    { "cdi-dir", 0, SW_FLAG_STRING, AT(cdi_dir), "DIR", NULL,
      "for CDI files (default /var/run/cdi)" },
    { "journal-dir", 0, SW_FLAG_STRING, AT(journal_dir), "DIR", NULL,
      "for records of slices (default /var/lib/slipway/device-plugin)" },
    { "dev-dir", 0, SW_FLAG_STRING, AT(dev_dir), "DIR", NULL,
      "of the device nodes that CDI files of ResourceClaims name (default /dev)" },
    { "proc-dir", 0, SW_FLAG_STRING, AT(proc_dir), "DIR", NULL,
      "where the driver says which they are (default /proc)" },
    { "toolkit-cdi-dir", 0, SW_FLAG_STRING, AT(toolkit_cdi_dir), "DIR", NULL,
      "of the CDI file of NVIDIA's Container Toolkit, where that is not in --cdi-dir" },
    { "api", 0, SW_FLAG_STRING, AT(api), "INTERFACE", "auto|deviceplugin|dra",
      "how slices are given out: by Dynamic Resource Allocation (dra), as a device plugin, or by "
      "what the API server serves (auto, default)" },
    { "device-order", 0, SW_FLAG_STRING, AT(device_order), "ORDER", "fixed|packed",
      "with dra: that of the devices in ResourceSlices, of which kube-scheduler takes the first "
      "that "
      "fits: as on empty GPUs (fixed, default), or anew when slices are taken or free (packed)" },
    { "whole-gpus", 0, SW_FLAG_BOOL, AT(whole_gpus), NULL, NULL,
      "with dra: give out GPUs that are not in MIG mode, too" },
    { "mps", 0, SW_FLAG_BOOL, AT(mps), NULL, NULL,
      "with dra: ResourceClaims may ask for MPS; 'slipway-device-plugin mps' runs on this node, "
      "too" },
    { "host-root", 0, SW_FLAG_STRING, AT(host_root), "DIR", NULL,
      "of the host's files: the driver's programs, and what control daemons of MPS have (default "
      "/)" },
    { "claim-views", 0, SW_FLAG_BOOL, AT(claim_views), NULL, NULL,
      "with dra: show what ResourceClaims have as AllocationClaims, too (default true)" },
    { "class-owner", 0, SW_FLAG_STRING, AT(class_owner), "NAME", NULL,
      "with dra: a ClusterRole with which the DeviceClasses are deleted" },
    { "device-list-strategy", 0, SW_FLAG_STRING, AT(strategy), "LIST", NULL,
      "envvar, cdi-annotations, cdi-cri; several with commas (default envvar,cdi-annotations)" },
    { "emulated-mode", 0, SW_FLAG_BOOL, AT(emulated), NULL, NULL,
      "make the GPUs up: no NVML, no gate unless given (default: $EMULATED_MODE is enabled)" },
    { "emulated-model", 0, SW_FLAG_STRING, AT(model), "MODEL", NULL, "default A100-40GB" },
    { "emulated-count", 0, SW_FLAG_INT, AT(count), "N", NULL,
      "how many GPUs, 1 to 64 (default 2)" },
    { "nvml-library", 0, SW_FLAG_STRING, AT(library), "FILE", NULL, "default libnvidia-ml.so.1" },
    { "gate", 0, SW_FLAG_STRING, AT(gate), "OBJECT", NULL,
      "apiVersion/Kind/name that must be ready before anything is offered, with * for any name; "
      "empty: none (default the GPU operator's ClusterPolicy)" },
    { "gate-namespace", 0, SW_FLAG_STRING, AT(gate_ns), "NAMESPACE", NULL, "of the gate's object" },
    { "gate-condition", 0, SW_FLAG_STRING, AT(gate_condition), "CONDITION", NULL,
      "JSONPath == value; several with ' || ' (default: state or condition Ready)" },
    { "gate-lost", 0, SW_FLAG_STRING, AT(gate_lost), "ACTION", "withdraw|keep",
      "when the gate shuts again: new pods get nothing (withdraw, default), or as before (keep)" },
    { "claim-timeout", 0, SW_FLAG_INT, AT(claim_s), "SECONDS", NULL,
      "seconds that Allocate waits for a claim (default 10)" },
    { "health-probe-bind-address", 0, SW_FLAG_STRING, AT(health_address), "HOST:PORT", NULL,
      "for /healthz and /readyz (default :8081; 0: none)" },
    SW_METRICS_FLAGS(METRICS, "for /metrics (default 0: none)"),
    { "tls-min-version", 0, SW_FLAG_STRING, METRICS(min_version), "VERSION", NULL,
      "of metrics: VersionTLS12 (default) or VersionTLS13" },
    { "tls-cipher-suites", 0, SW_FLAG_STRING, METRICS(suites), "LIST", NULL,
      "of metrics, comma-separated; default: OpenSSL's choice" },
    { "boot-id-file", 0, SW_FLAG_STRING, AT(boot_id_file), "FILE", NULL,
      "default /proc/sys/kernel/random/boot_id" },
    SW_FLAG_LOG_FILE(AT(log_file)),
    { 0 },
#undef METRICS
#undef AT
};

static int make_opts(const struct settings *s, struct sw_device_plugin_opts *o)
{
    SW_ERR(err);
    if (!s->node || !*s->node)
        return sw_flags_usage(PROGRAM, "--node-name or $NODE_NAME must say which node this is");
    if (s->count < 1 || s->count > 64)
        return sw_flags_usage(PROGRAM, "--emulated-count: '%d' is no number from 1 to 64",
                              s->count);
    *o = (struct sw_device_plugin_opts){
        .node = s->node,
        .ns = s->ns,
        .kubelet_dir = s->kubelet_dir,
        .driver_dir = s->driver_dir,
        .cdi_dir = s->cdi_dir,
        .journal_dir = s->journal_dir,
        .dev_dir = s->dev_dir,
        .proc_dir = s->proc_dir,
        .host_root = s->host_root,
        .mps = s->mps,
        .toolkit_cdi_dir = s->toolkit_cdi_dir,
        .api = strcmp(s->api, "dra") == 0            ? SW_DEVICE_API_DRA
               : strcmp(s->api, "deviceplugin") == 0 ? SW_DEVICE_API_DEVICE_PLUGIN
                                                     : SW_DEVICE_API_AUTO,
        .class_owner = s->class_owner,
        .claim_views = s->claim_views,
        .reorders = strcmp(s->device_order, "packed") == 0,
        .whole_gpus = s->whole_gpus,
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
    if (s->strategy && sw_device_list_parse(s->strategy, &o->device_list, &err) < 0)
        return sw_flags_usage(PROGRAM, "--device-list-strategy: %s", sw_err_text(&err));
    return 0;
}

/* ---- the process -------------------------------------------------------------------------------
 */

struct process {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_device_plugin *plugin;
    struct sw_serve *health;
    struct sw_metrics_server *metrics;
};

static void serve_readyz(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                         void *arg)
{
    const struct process *p = arg;
    sw_serve_ready(reply, sw_device_plugin_waits_for(p->plugin));
}

static void serve_metrics(struct sw_serve_reply *reply, void *arg)
{
    const struct process *p = arg;
    size_t len;
    SW_AUTO_CHARS *text = sw_device_plugin_metrics(p->plugin, &len);
    sw_serve_answer(reply, 200, SW_METRICS_CONTENT_TYPE, text, len);
}

static const struct sw_metrics_page pages[] = { { "/metrics", serve_metrics } };

static const struct sw_serve_route routes[] = {
    { "GET", "/healthz", sw_serve_healthz },
    { "GET", "/readyz", serve_readyz },
};

static int serve_health(struct process *p, const char *address, struct sw_err *err)
{
    const struct sw_serve_opts opts = {
        .routes = routes, .n_routes = SW_COUNT(routes), .arg = p, .max_conns = 64
    };
    int rc = sw_serve_open_at(p->loop, sw_text_or(address, NULL), &opts, &p->health, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "health");
    if (!p->health)
        return 0;
    char number[16];
    (void)snprintf(number, sizeof number, "%d", sw_serve_port(p->health));
    sw_log(SW_LOG_INFO, "listening", "for", "health", "port", number, NULL);
    return 0;
}

static void on_signal(void *loop)
{
    sw_log(SW_LOG_INFO, "going down; pods keep their slices", NULL);
    sw_loop_stop(loop);
}

static int serve(const struct settings *s, const struct sw_device_plugin_opts *opts)
{
    SW_ERR(err);
    struct process p = { .loop = sw_loop_new(NULL) };
    struct sw_log_file *log_file = sw_log_file_open(p.loop, s->log_file);
    struct sw_kube_config *config = NULL;
    int rc = sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = s->kubeconfig }, &config,
                                &err);
    if (rc == 0)
        rc = sw_kube_new(p.loop, config,
                         &(struct sw_kube_opts){
                             .user_agent = PROGRAM, .field_manager = PROGRAM, .max_in_flight = 4 },
                         &p.kube, &err);
    sw_kube_config_free(config);
    if (rc == 0)
        rc = sw_device_plugin_open(p.loop, p.kube, opts, &p.plugin, &err);
    if (rc == 0)
        rc = serve_health(&p, s->health_address, &err);
    if (rc == 0)
        rc = sw_metrics_server_open(p.loop,
                                    &(struct sw_metrics_server_opts){ .flags = &s->metrics,
                                                                      .pages = pages,
                                                                      .n_pages = SW_COUNT(pages),
                                                                      .arg = &p,
                                                                      .kube = p.kube,
                                                                      .program = PROGRAM },
                                    &p.metrics, &err);
    const int status = rc < 0 ? sw_flags_fail(PROGRAM, &err) : EXIT_SUCCESS;
    if (rc == 0)
        sw_loop_run_until_signal(p.loop, on_signal, p.loop);
    sw_metrics_server_close(p.metrics);
    sw_serve_close(p.health);
    sw_device_plugin_close(p.plugin);
    sw_kube_free(p.kube);
    sw_log_file_close(log_file);
    sw_loop_free(p.loop);
    return status;
}

/* ---- other commands ----------------------------------------------------------------------------
 */

struct mps_settings {
    const char *host_root;
};

static int run_mps(int argc, char **argv)
{
    static const struct sw_flag mps_flags[] = {
        { "host-root", 0, SW_FLAG_STRING, offsetof(struct mps_settings, host_root), "DIR", NULL,
          "of the host's files (default /)" },
        { 0 },
    };
    static const struct sw_flag_set set = { .program = PROGRAM " " DP_MPS,
                                            .summary = "run the control daemons of MPS that "
                                                       "ResourceClaims of this node ask for",
                                            .version = SW_VERSION,
                                            .flags = mps_flags,
                                            .go_style = true };
    struct mps_settings s = { .host_root = "/" };
    const int rc = sw_flags_parse(&set, argc, argv, &s, NULL);
    return rc ? rc - 1 : dp_mps_serve(s.host_root);
}

/* Those that are no flags of the plugin; the last two are called by this program alone. @return
 * whether it was one of them: @status */
static bool run_command(int argc, char **argv, int *status)
{
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, DP_MPS) == 0)
        *status = run_mps(argc - 1, argv + 1);
    else if (strcmp(command, DP_MPS_DAEMON) == 0 && argc == 4)
        *status = dp_mps_daemon(argv[2], argv[3]);
    else if (strcmp(command, DP_IN_ROOT) == 0)
        dp_in_root(argc - 2, argv + 2);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    int status;
    sw_program_start();
    if (run_command(argc, argv, &status))
        return status;
    struct settings s = { .node = getenv("NODE_NAME"),
                          .ns = sw_text_or(getenv("INSTASLICE_NAMESPACE"), "das-operator"),
                          .strategy = sw_text_or(getenv("DEVICE_LIST_STRATEGY"), NULL),
                          .emulated = sw_streq(getenv("EMULATED_MODE"), "enabled"),
                          .api = "auto",
                          .device_order = "fixed",
                          .claim_views = true,
                          .gate_lost = "withdraw",
                          .health_address = ":8081",
                          .metrics = SW_METRICS_FLAGS_DEFAULT("0"),
                          .count = 2,
                          .claim_s = 10 };
    const struct sw_flag_set set = { .program = PROGRAM,
                                     .summary =
                                         "make MIG slices on this node and hand them to kubelet",
                                     .args = "[daemonset|mps]",
                                     .version = SW_VERSION,
                                     .flags = flags,
                                     .go_style = true,
                                     .command = "daemonset" }; /* as DAS's program has it */
    int rc = sw_flags_parse(&set, argc, argv, &s, NULL);
    if (rc)
        return rc - 1;
    struct sw_device_plugin_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
