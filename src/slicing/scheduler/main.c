/* slipway-scheduler: the program around the extender: flags, signals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loggather.h"
#include "base/loglevel.h"
#include "data/data.h"
#include "data/flags/flags.h"
#include "kube/lease.h"
#include "slicing/scheduler/scheduler.h"

#define PROGRAM "slipway-scheduler"
#define NS_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

struct settings {
    const char *config, *kubeconfig, *context, *ns, *placement, *defragment, *daytime,
        *scheduler_name, *node_label;
    struct sw_serve_flags serve;
    struct sw_metrics_flags metrics;
    const char *health, *log_file, *lease_ns, *kube_version;
    int nodes_to_score, percentage_of_nodes_to_score;
    int64_t defragment_after_ms;
    bool preemption, evict, leader_elect, print_config;
};

static const struct sw_flag flags[] = {
#define AT(field) offsetof(struct settings, field)
#define SERVE(field) AT(serve.field)
#define METRICS(field) AT(metrics.field)
    { "config", 0, SW_FLAG_STRING, AT(config), "FILE", NULL,
      "KubeSchedulerConfiguration of DAS: the profile with the plugin MigAccelerator says "
      "--scheduler-name and --namespace where they are not given" },
    { "kubeconfig", 0, SW_FLAG_STRING, AT(kubeconfig), "FILE", NULL,
      "the API server and who we are (default $KUBECONFIG, in-cluster, ~/.kube/config)" },
    { "context", 0, SW_FLAG_STRING, AT(context), "CONTEXT", NULL,
      "of the kubeconfig (default its current one)" },
    { "namespace", 0, SW_FLAG_STRING, AT(ns), "NAMESPACE", NULL,
      "of AllocationClaims and NodeAccelerators (default $INSTASLICE_NAMESPACE, else "
      "das-operator)" },
    { "placement", 0, SW_FLAG_STRING, AT(placement), "POLICY", NULL,
      "packed (default), spread, dense-node, or first-fit as DAS has it" },
    { "preemption", 0, SW_FLAG_BOOL, AT(preemption), NULL, NULL,
      "send less important pods away for slices (default true)" },
    { "evict", 0, SW_FLAG_BOOL, AT(evict), NULL, NULL,
      "send less important pods away, too, for devices that kube-scheduler allocates itself, where "
      "resource.k8s.io/v1 is served (default true)" },
    { "defragment", 0, SW_FLAG_STRING, AT(defragment), "HOW", "off|advise|move",
      "for a pod that would get such devices if pods with the annotation slipway.dev/may-move lay "
      "elsewhere: say so by an Event, or evict them (default advise)" },
    { "defragment-at", 0, SW_FLAG_STRING, AT(daytime), "HH:MM-HH:MM", NULL,
      "with --defragment move: only at this time of day (UTC); else they move on request (default "
      "all day)" },
    { "defragment-after", 0, SW_FLAG_DURATION, AT(defragment_after_ms), "TIME", NULL,
      "how long a pod waits before others move for it, and the least time between two moves "
      "(default 30s)" },
    { "nodes-to-score", 0, SW_FLAG_INT, AT(nodes_to_score), "N", NULL,
      "of the nodes with room, leave the best so many to kube-scheduler's scores, unless the pod "
      "has "
      "preferences of its own (default 16; 0: all)" },
    { "scheduler-name", 0, SW_FLAG_STRING, AT(scheduler_name), "NAME", NULL,
      "only pods of this schedulerName (default das-scheduler; empty: all)" },
    { "node-label", 0, SW_FLAG_STRING, AT(node_label), "KEY=VALUE", NULL,
      "that nodes must have (default nvidia.com/mig.capable=true; empty: none)" },
    { "listen", 0, SW_FLAG_STRING, SERVE(listen), "ADDRESS", NULL,
      "address of the extender (default 127.0.0.1)" },
    { "port", 0, SW_FLAG_INT, SERVE(port), "PORT", NULL,
      "its port (default 8888; 0: any free one)" },
    { "tls", 0, SW_FLAG_BOOL, SERVE(tls), NULL, NULL,
      "serve the extender by HTTPS (default false)" },
    SW_SERVE_FLAGS(SERVE),
    { "health-probe-bind-address", 0, SW_FLAG_STRING, AT(health), "HOST:PORT", NULL,
      "HOST:PORT of /healthz and /readyz (default :8081; 0: only beside the extender)" },
    SW_METRICS_FLAGS(METRICS, "HOST:PORT of /metrics (default 0: not served)"),
    { "leader-elect", 0, SW_FLAG_BOOL, AT(leader_elect), NULL, NULL,
      "only one of several replicas collects claims and wakes pods (default false)" },
    { "leader-elect-namespace", 0, SW_FLAG_STRING, AT(lease_ns), "NAMESPACE", NULL,
      "of the Lease slipway-scheduler, and with --print-config of kube-scheduler's (default the "
      "pod's, else --namespace)" },
    { "drain", 0, SW_FLAG_INT, SERVE(drain_s), "SECONDS", NULL,
      "seconds to serve on after SIGTERM (default 0)" },
    SW_FLAG_LOG_FILE(AT(log_file)),
    { "print-config", 0, SW_FLAG_BOOL, AT(print_config), NULL, NULL,
      "print a KubeSchedulerConfiguration that uses this extender, and exit" },
    { "kube-version", 0, SW_FLAG_STRING, AT(kube_version), "VERSION", NULL,
      "with --print-config: the kube-scheduler's (default 1.20)" },
    { "percentage-of-nodes-to-score", 0, SW_FLAG_INT, AT(percentage_of_nodes_to_score), "PERCENT",
      NULL,
      "with --print-config: kube-scheduler asks about so many of the nodes (0: as it likes; "
      "default 20 for 1.20, 100 for newer ones)" },
    { 0 },
#undef METRICS
#undef SERVE
#undef AT
};

static const char *or_null(const char *text)
{
    return sw_text_or(text, NULL);
}

/* ---- the configuration of DAS ------------------------------------------------------------------
 */

enum { MAX_CONFIG = 1 << 20 };

static const char *first_of(const char *flag, const char *of_config, const char *otherwise)
{
    return flag ? flag : sw_text_or(of_config, otherwise);
}

/* Of the profiles of @config the one for MIG, else the first. @args: of its plugin, or NULL. */
static struct json_object *profile_of(struct json_object *config, struct json_object **args)
{
    struct json_object *profiles = sw_json_get(config, "profiles");
    for (size_t i = 0; i < sw_json_len(profiles); i++) {
        struct json_object *profile = sw_json_at(profiles, i);
        struct json_object *plugin = sw_json_find_by(sw_json_get(profile, "pluginConfig"), "name",
                                                     "MigAccelerator");
        *args = sw_json_get(plugin, "args");
        if (plugin)
            return profile;
    }
    *args = NULL;
    return sw_json_len(profiles) ? sw_json_at(profiles, 0) : NULL;
}

/* Flags first, then the file, then the environment. @config is the caller's: @s borrows from it. */
static int take_config(struct settings *s, struct json_object **config)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    struct json_object *args = NULL;
    int rc = 0;
    if (s->config)
        rc = sw_file_read(s->config, MAX_CONFIG, &text, &len, &err);
    if (s->config && rc == 0)
        rc = sw_yaml_parse(text, len, NULL, config, &err);
    if (rc < 0)
        return sw_flags_usage(PROGRAM, "--config: %s", sw_err_text(&err));
    struct json_object *profile = profile_of(*config, &args);
    s->scheduler_name = first_of(s->scheduler_name, sw_json_str(profile, "", "schedulerName", NULL),
                                 "das-scheduler");
    s->ns = first_of(s->ns, sw_json_str(args, "", "namespace", NULL),
                     sw_text_or(getenv("INSTASLICE_NAMESPACE"), "das-operator"));
    return 0;
}

static int print_config(const struct settings *s)
{
    SW_ERR(err);
    const struct sw_serve_flags *serve = &s->serve;
    const char *ca = or_null(serve->ca), *host = serve->listen;
    if (!serve->port)
        return sw_flags_usage(PROGRAM, "--print-config needs the extender's --port");
    if (serve->tls && !ca)
        return sw_flags_usage(PROGRAM, "--print-config --tls needs --cacert");
    /* a kube-scheduler in the same pod */
    if (!*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
        host = "127.0.0.1";
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_CHARS *url = sw_printf(strchr(host, ':') ? "%s://[%s]:%d" : "%s://%s:%d",
                                   serve->tls ? "https" : "http", host, serve->port);
    const struct sw_scheduler_config config = {
        .kube_version = s->kube_version,
        .scheduler_name = or_null(s->scheduler_name),
        .url = url,
        .ca_file = serve->tls ? ca : NULL,
        .lease_ns = s->leader_elect ? sw_text_or(s->lease_ns, s->ns) : NULL,
        .kubeconfig = or_null(s->kubeconfig),
        .percentage_of_nodes_to_score = s->percentage_of_nodes_to_score
    };
    if (s->percentage_of_nodes_to_score > 100)
        return sw_flags_usage(PROGRAM, "--percentage-of-nodes-to-score: expected 0 to 100");
    if (sw_scheduler_config_text(&config, &text, &err) < 0)
        return sw_flags_usage(PROGRAM, "--kube-version: %s", sw_err_text(&err));
    (void)fputs(text, stdout);
    return EXIT_SUCCESS;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static void on_signal(void *sched)
{
    sw_scheduler_stop(sched);
}

static void on_stopped(void *arg)
{
    sw_loop_stop(arg);
}

static int start(const struct settings *s)
{
    SW_ERR(err);
    struct sw_kube_config *config = NULL;
    SW_AUTO_CHARS *lease_ns = NULL, *identity = sw_lease_identity(PROGRAM);
    size_t len;
    if (or_null(s->lease_ns) || sw_file_read(NS_FILE, 256, &lease_ns, &len, NULL) < 0)
        lease_ns = sw_strdup(sw_text_or(s->lease_ns, s->ns));
    struct sw_scheduler_opts opts = {
        .ns = s->ns,
        .scheduler_name = or_null(s->scheduler_name),
        .node_label = or_null(s->node_label),
        .extender = sw_serve_flags_opts(&s->serve),
        .health_address = or_null(s->health),
        .metrics = s->metrics,
        .no_preemption = !s->preemption,
        .no_eviction = !s->evict,
        .defragment_after_ms = s->defragment_after_ms,
        .nodes_to_score = (size_t)s->nodes_to_score,
        .leader_elect = s->leader_elect,
        .lease_ns = lease_ns,
        .lease_name = PROGRAM,
        .identity = identity,
        .on_stopped = on_stopped,
    };
    if (sw_mig_policy_parse(s->placement, &opts.policy, &err) < 0)
        return sw_flags_usage(PROGRAM, "--placement: %s", sw_err_text(&err));
    if (sw_defragment_parse(s->defragment, &opts.defragment, &err) < 0)
        return sw_flags_usage(PROGRAM, "--defragment: %s", sw_err_text(&err));
    if (or_null(s->daytime) && sw_daytime_parse(s->daytime, &opts.defragment_at, &err) < 0)
        return sw_flags_usage(PROGRAM, "--defragment-at: %s", sw_err_text(&err));
    if (sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = or_null(s->kubeconfig),
                                                         .context = or_null(s->context) },
                           &config, &err) < 0) {
        (void)sw_flags_fail(PROGRAM, &err);
        return EXIT_FAILURE; /* also for SW_INVALID: the flags were right */
    }
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_scheduler *sched = NULL;
    struct sw_log_file *log_file = sw_log_file_open(loop, s->log_file);
    struct sw_log_gather *log = sw_log_gather_open(loop);
    int status = EXIT_SUCCESS;
    opts.arg = loop;
    if (sw_scheduler_open(loop, config, &opts, &sched, &err) < 0) {
        status = sw_flags_fail(PROGRAM, &err);
    } else {
        char port[16], health[16], metrics[16];
        (void)snprintf(port, sizeof port, "%d", sw_scheduler_port(sched));
        (void)snprintf(health, sizeof health, "%d", sw_scheduler_health_port(sched));
        (void)snprintf(metrics, sizeof metrics, "%d", sw_scheduler_metrics_port(sched));
        sw_log(SW_LOG_INFO, "listening", "address", s->serve.listen, "port", port, "tls",
               s->serve.tls ? "true" : "false", "health", health, "metrics", metrics, NULL);
        sw_loop_run_until_signal(loop, on_signal, sched);
    }
    sw_scheduler_close(sched);
    sw_log_gather_close(log);
    sw_log_file_close(log_file);
    sw_loop_free(loop);
    sw_kube_config_free(config);
    return status;
}

int main(int argc, char **argv)
{
    sw_program_start();
    struct settings s = { .placement = "packed",
                          .defragment = "advise",
                          .defragment_after_ms = 30000,
                          .preemption = true,
                          .evict = true,
                          .nodes_to_score = 16,
                          .percentage_of_nodes_to_score = -1,
                          .node_label = "nvidia.com/mig.capable=true",
                          .serve = { .listen = "127.0.0.1", .port = 8888 },
                          .health = ":8081",
                          .metrics = SW_METRICS_FLAGS_DEFAULT("0"),
                          .kube_version = "1.20" };
    const struct sw_flag_set set = {
        .program = PROGRAM,
        .summary = "place MIG slices as the extender of a stock kube-scheduler",
        .args = "",
        .version = SW_VERSION,
        .flags = flags,
        .go_style = true
    };
    int rc = sw_flags_parse(&set, argc, argv, &s, NULL);
    if (rc)
        return rc - 1;
    SW_AUTO_JSON *config = NULL;
    rc = take_config(&s, &config);
    if (rc)
        return rc;
    if (!or_null(s.ns))
        return sw_flags_usage(PROGRAM, "--namespace is empty");
    return s.print_config ? print_config(&s) : start(&s);
}
