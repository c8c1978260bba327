/* slipway emulate: the embedded cluster without an operator, for kubectl and clients under test. */
#include "cli/cluster/connect.h"
#include "cli/commands/commands.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/text/url.h"
#include "emulator/emulator.h"
#include "emulator/rules/rules_client.h"
#include "kube/kube.h"
#include "net/http/http.h"

enum { ASK_AGAIN_MS = 1000, TRIM_MS = 5000 };

struct emulate_opts {
    const char *listen, *platform, *kube_version, *runtime_config, *feature_gates, *authorization,
        *kubeconfig_out;
    const char *rules;
    int64_t nodes, seed;
    bool no_nodes, no_controllers, rules_only, tls;
    const char *kubeconfig, *context;
    const char *delays, *faults, *troubles, *webhooks;
    int64_t pod_start_ms, pod_ready_ms, pod_stop_ms, job_run_ms; /* -1: as delays says */
};

#define FIELD(name) offsetof(struct emulate_opts, name)

static const struct sw_flag flags[] = {
    { "listen", 'l', SW_FLAG_STRING, FIELD(listen), "ADDR:PORT", NULL,
      "address of the API server (default: 127.0.0.1 and any free port)" },
    { "nodes", 'n', SW_FLAG_COUNT, FIELD(nodes), "N", NULL,
      "number of nodes (default 5: one is the control plane, three have GPUs)" },
    { "no-nodes", 0, SW_FLAG_BOOL, FIELD(no_nodes), NULL, NULL, "no nodes" },
    { "no-controllers", 0, SW_FLAG_BOOL, FIELD(no_controllers), NULL, NULL,
      "only an API server, without controllers" },
    { "platform", 'p', SW_FLAG_STRING, FIELD(platform), "NAME", SW_EMU_PLATFORMS,
      "platform, which decides what kinds are served and whose nodes there are (default "
      "openshift)" },
    { "kube-version", 0, SW_FLAG_STRING, FIELD(kube_version), "1.N", NULL,
      "Kubernetes release to emulate, 1.20 or newer (default " SW_EMULATOR_KUBE_VERSION ")" },
    { "runtime-config", 0, SW_FLAG_STRING, FIELD(runtime_config), "API=true,...", NULL,
      "versions of APIs that are served or not, besides those of the release, such as "
      "resource.k8s.io/v1beta1=true" },
    { "feature-gates", 0, SW_FLAG_STRING, FIELD(feature_gates), "GATE=true,...", NULL,
      "feature gates of Dynamic Resource Allocation that are on or off otherwise than in the "
      "release, such as DRAPartitionableDevices=false" },
    { "authorization", 0, SW_FLAG_STRING, FIELD(authorization), "MODE", "none|rbac",
      "who may do what: everybody everything, or as Roles and their bindings say (default none)" },
    { "tls", 0, SW_FLAG_BOOL, FIELD(tls), NULL, NULL,
      "HTTPS with a CA of its own; the kubeconfig has that and the administrator's token, and who "
      "sends none is anonymous" },
    { "kubeconfig-out", 0, SW_FLAG_STRING, FIELD(kubeconfig_out), "FILE", NULL,
      "write a kubeconfig for the cluster to this file, and print the line by which a shell uses "
      "it" },
    { "rules", 0, SW_FLAG_STRING, FIELD(rules), "DIR", NULL,
      "folder of YAML rules for custom resources, besides the built-in ones" },
    { "webhook-address", 0, SW_FLAG_STRING, FIELD(webhooks), "NS/SERVICE=HOST:PORT,...", NULL,
      "addresses of admission webhooks; others are emulated and admit everything" },
    { "rules-only", 0, SW_FLAG_BOOL, FIELD(rules_only), NULL, NULL,
      "no cluster: only the rules, on the API server of --kubeconfig" },
    { "kubeconfig", 0, SW_FLAG_STRING, FIELD(kubeconfig), "FILE", NULL,
      "with --rules-only: kubeconfig file (default $KUBECONFIG, the pod's account, "
      "~/.kube/config)" },
    { "context", 0, SW_FLAG_STRING, FIELD(context), "NAME", NULL,
      "with --rules-only: context of the kubeconfig (default: its current one)" },
    { "seed", 0, SW_FLAG_NUMBER, FIELD(seed), "N", NULL,
      "seed of generated names and uids (default: a random one)" },
    { "delays", 0, SW_FLAG_STRING, FIELD(delays), "FACTOR", NULL,
      "factor for how long things take; 0: no time, 1: easy to follow (default 0)" },
    { "faults", 0, SW_FLAG_STRING, FIELD(faults), "FILE", NULL,
      "file with a plan of faults (docs/faults.md)" },
    { "trouble", 0, SW_FLAG_STRING, FIELD(troubles), "NAME,...", NULL,
      "what goes wrong with what operators install (docs/faults.md)" },
    { "pod-start", 0, SW_FLAG_DURATION, FIELD(pod_start_ms), "TIME", NULL,
      "time from scheduled to running (default: by --delays)" },
    { "pod-ready", 0, SW_FLAG_DURATION, FIELD(pod_ready_ms), "TIME", NULL,
      "time from running to ready (default: by --delays)" },
    { "pod-stop", 0, SW_FLAG_DURATION, FIELD(pod_stop_ms), "TIME", NULL,
      "time from deleted to gone (default: by --delays)" },
    { "job-run", 0, SW_FLAG_DURATION, FIELD(job_run_ms), "TIME", NULL,
      "time that a pod of a Job runs (default: by --delays)" },
    { 0 },
};

static int read_delays(const struct emulate_opts *o, struct sw_emu_delays *d, struct sw_err *err)
{
    int rc = sw_emu_delays_read(o->delays ? o->delays : "0", d, err);
    if (o->pod_start_ms >= 0)
        d->pod_start_ms = (int)o->pod_start_ms;
    if (o->pod_ready_ms >= 0)
        d->pod_ready_ms = (int)o->pod_ready_ms;
    if (o->pod_stop_ms >= 0)
        d->pod_stop_ms = (int)o->pod_stop_ms;
    if (o->job_run_ms >= 0)
        d->job_run_ms = (int)o->job_run_ms;
    return rc;
}

static bool is_local(const char *address)
{
    __attribute__((cleanup(sw_http_url_done))) struct sw_http_url url = { 0 };
    return sw_http_url_parse(address, &url, NULL) == 0 && sw_http_is_loopback(url.host);
}

static void on_trim(void *arg SW_UNUSED)
{
    sw_memory_settle();
}

/* Free memory is returned some time after a request, once for requests in short succession. */
static void on_request(const struct sw_emu_request *req SW_UNUSED,
                       struct sw_emu_fault *fault SW_UNUSED, void *arg)
{
    struct sw_timer *trim = arg;
    if (!sw_timer_is_set(trim))
        sw_timer_set(trim, TRIM_MS);
}

static int run(const struct emulate_opts *o)
{
    SW_ERR(err);
    struct sw_emulator *emu = NULL;
    struct sw_emulator_opts opts = {
        .listen = o->listen,
        .n_nodes = (int)o->nodes,
        .no_nodes = o->no_nodes,
        .no_controllers = o->no_controllers,
        .kube_version = o->kube_version,
        .runtime_config = o->runtime_config,
        .feature_gates = o->feature_gates,
        .tls = o->tls,
        .rbac = sw_streq(o->authorization, "rbac"),
        .rules_dir = o->rules,
        .faults = o->faults,
        .troubles = o->troubles,
        .seed = (uint64_t)o->seed,
        .webhook_addresses = o->webhooks,
        .on_request = on_request,
    };
    sw_emulator_set_platform(&opts, o->platform);
    if (read_delays(o, &opts.delays, &err) < 0)
        return sw_cli_usage("emulate", "%s", sw_err_text(&err));
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_timer *trim = opts.arg = sw_timer_new(loop, on_trim, NULL);
    int rc = sw_emulator_open(loop, &opts, &emu, &err);
    if (rc == 0 && o->kubeconfig_out) {
        SW_AUTO_CHARS *text = sw_emulator_kubeconfig(emu);
        rc = sw_file_write(o->kubeconfig_out, text, strlen(text), &err);
    }
    if (rc < 0) {
        rc = sw_cli_fail("emulate", &err);
    } else {
        if (!is_local(sw_emulator_url(emu)) && !(o->tls && opts.rbac))
            sw_log(SW_LOG_WARN,
                   o->tls ? "without --authorization rbac whoever reaches this address may do "
                            "everything in the cluster"
                          : "the cluster asks nobody who he is: whoever reaches this address may "
                            "do everything in it",
                   "address", sw_emulator_url(emu), NULL);
        (void)printf("%s\n", sw_emulator_url(emu));
        (void)fflush(stdout);
        if (o->kubeconfig_out) {
            SW_AUTO_CHARS *whole = realpath(o->kubeconfig_out, NULL);
            (void)fprintf(stderr, "export KUBECONFIG=%s\n", whole ? whole : o->kubeconfig_out);
        }
        sw_memory_settle(); /* of the start */
        sw_loop_run_until_signal(loop, NULL, NULL);
    }
    sw_emulator_close(emu);
    sw_timer_free(trim);
    sw_loop_free(loop);
    return rc;
}

/* ---- rules alone --------------------------------------------------------------------------------
 */

/* The message for options that exclude each other; NULL: none do. */
static const char *find_misuse(const struct emulate_opts *o)
{
    if (o->nodes && o->no_nodes)
        return "either --nodes or --no-nodes";
    if (!o->rules_only)
        return o->kubeconfig || o->context ? "--kubeconfig and --context are for --rules-only"
                                           : NULL;
    bool own = o->listen || o->nodes || o->no_nodes || o->no_controllers || o->kube_version ||
               o->runtime_config || o->feature_gates || o->authorization || o->tls ||
               o->kubeconfig_out || o->webhooks || o->faults || o->pod_start_ms >= 0 ||
               o->pod_ready_ms >= 0 || o->pod_stop_ms >= 0 || o->job_run_ms >= 0;
    return own ? "--rules-only goes with --kubeconfig, --context, --platform, --rules, --trouble, "
                 "--seed and --delays only: there is no cluster of its own"
               : NULL;
}

/* The rules alone, as a client of the API server of --kubeconfig. */
struct rules_run {
    const struct emulate_opts *opts;
    struct sw_connection conn;
    struct sw_rules_client *client;
    struct sw_rules *rules;
    struct sw_timer *again;
    int exit_code;
};

static void rules_failed(const struct sw_err *err, void *arg)
{
    struct rules_run *run = arg;
    run->exit_code = sw_cli_fail("emulate", err);
    sw_loop_stop(run->conn.loop);
}

/* Start the rules with the server's version ("1.20"), which they can read. */
static void on_version(const struct sw_kube_answer *a, void *arg)
{
    struct rules_run *run = arg;
    struct sw_emu_delays d;
    SW_ERR(err);
    if (a->code == SW_UNAVAILABLE) {
        sw_timer_set(run->again, ASK_AGAIN_MS);
        return;
    }
    if (a->code < 0) {
        rules_failed(a->err, run);
        return;
    }
    if (read_delays(run->opts, &d, &err) < 0) {
        rules_failed(&err, run);
        return;
    }
    const char *minor = sw_json_str(a->object, "", "minor", NULL);
    SW_AUTO_CHARS *version = sw_printf("%s.%.*s", sw_json_str(a->object, "1", "major", NULL),
                                       (int)strspn(minor, "0123456789"), minor);
    struct sw_rules_opts o = {
        .dir = run->opts->rules,
        .troubles = run->opts->troubles,
        .platform = run->opts->platform,
        .kube_version = version,
        .real_cluster = true,
        .delay_percent = d.rule_percent,
        .jitter_percent = d.jitter_percent,
        .seed = (uint64_t)run->opts->seed,
    };
    run->client = sw_rules_client_new(run->conn.loop, run->conn.kube);
    struct sw_rules_backend backend = sw_rules_client_backend(run->client);
    if (sw_rules_open(run->conn.loop, &backend, &o, &run->rules, &err) < 0) {
        rules_failed(&err, run);
        return;
    }
    SW_AUTO_CHARS *shown = sw_url_shown(sw_kube_server(run->conn.kube));
    sw_log(SW_LOG_INFO, "rules work", "server", shown, "version", version, NULL);
    sw_rules_client_start(run->client, run->rules, rules_failed, run);
}

static void ask_version(void *arg)
{
    struct rules_run *run = arg;
    (void)sw_kube_version(run->conn.kube, NULL, on_version, run);
}

static int run_rules(const struct emulate_opts *o)
{
    SW_ERR(err);
    struct rules_run run = { .opts = o, .exit_code = SW_EXIT_OK };
    const struct sw_connect_opts connect = { .kubeconfig = o->kubeconfig,
                                             .context = o->context,
                                             .manager = "slipway-rules" };
    if (sw_connection_init(&run.conn, "emulate", &connect, &err) < 0) {
        run.exit_code = sw_cli_fail("emulate", &err);
    } else {
        run.conn.patient = true;
        run.again = sw_timer_new(run.conn.loop, ask_version, &run);
        ask_version(&run);
        sw_loop_run(run.conn.loop);
        sw_log(SW_LOG_INFO, "rules stop", NULL);
    }
    sw_timer_free(run.again);
    sw_rules_close(run.rules);
    sw_rules_client_free(run.client);
    sw_connection_done(&run.conn);
    return run.exit_code;
}

static int execute(const struct sw_call *call)
{
    struct emulate_opts opts = {
        .pod_start_ms = -1, .pod_ready_ms = -1, .pod_stop_ms = -1, .job_run_ms = -1
    };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &opts, 0, &rest);
    if (rc)
        return rc - 1;
    const char *wrong = find_misuse(&opts);
    if (wrong)
        return sw_cli_usage("emulate", "%s", wrong);
    return opts.rules_only ? run_rules(&opts) : run(&opts);
}

const struct sw_command sw_command_emulate = {
    .name = "emulate",
    .args = "",
    .summary = "run an embedded Kubernetes cluster",
    .details = "Prints the URL of the API server, and serves until SIGTERM. kubectl and slipway "
               "can use it.",
    .flags = flags,
    .execute = execute,
};
