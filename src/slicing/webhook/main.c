/* slipway-webhook: the program around the server: flags, signals. */
#include <stdio.h>
#include <stdlib.h>

#include "base/loggather.h"
#include "base/loglevel.h"
#include "base/openssl.h"
#include "data/flags/flags.h"
#include "slicing/webhook/webhook.h"

#define PROGRAM "slipway-webhook"

struct settings {
    struct sw_serve_flags serve;
    struct sw_metrics_flags metrics;
    const char *scheduler, *runtime_class, *user_fields, *visible_devices, *env_from, *tolerate,
        *excluded, *kubeconfig, *log_file;
    bool test_hooks;
};

/* One row a flag. DAS's keep their names and meanings. */
static const struct sw_flag flags[] = {
#define AT(field) offsetof(struct settings, field)
#define SERVE(field) AT(serve.field)
#define METRICS(field) AT(metrics.field)
    { "listen", 0, SW_FLAG_STRING, SERVE(listen), "ADDRESS", NULL,
      "address to listen on (default 0.0.0.0: all, IPv6 ones too)" },
    { "port", 0, SW_FLAG_INT, SERVE(port), "PORT", NULL, "port to listen on (default 8443)" },
    { "tls", 0, SW_FLAG_BOOL, SERVE(tls), NULL, NULL, "serve HTTPS (default true)" },
    SW_SERVE_FLAGS(SERVE),
    { "scheduler-name", 0, SW_FLAG_STRING, AT(scheduler), "NAME", NULL,
      "schedulerName of pods with slices (default das-scheduler; empty: left alone)" },
    { "runtime-class", 0, SW_FLAG_STRING, AT(runtime_class), "NAME", NULL,
      "runtimeClassName of pods with slices (default nvidia-legacy; empty: left alone)" },
    { "user-fields", 0, SW_FLAG_STRING, AT(user_fields), "ACTION", "override|keep",
      "what happens to the two fields where a pod sets them itself (default override)" },
    { "visible-devices", 0, SW_FLAG_STRING, AT(visible_devices), "ACTION", "refuse|strip",
      "pods with slices that set NVIDIA_VISIBLE_DEVICES: refuse them (default), or strip it" },
    { "env-from", 0, SW_FLAG_STRING, AT(env_from), "ACTION", "warn|refuse|allow",
      "pods with slices whose envFrom could set it (default warn)" },
    { "tolerate", 0, SW_FLAG_STRING, AT(tolerate), "LIST", NULL,
      "RESOURCE[=KEY],...: pods that ask for the extended resource (* at its end: any rest) "
      "tolerate "
      "the taint KEY (default: the resource's name)" },
    { "excluded-namespaces", 0, SW_FLAG_STRING, AT(excluded), "LIST", NULL,
      "comma-separated: their pods are left as they are (needed before Kubernetes 1.21)" },
    SW_METRICS_FLAGS(METRICS, "HOST:PORT of /metrics (default 0: not served)"),
    { "kubeconfig", 0, SW_FLAG_STRING, AT(kubeconfig), "FILE", NULL,
      "the API server that is asked who may read metrics (default: the pod's, $KUBECONFIG)" },
    { "drain", 0, SW_FLAG_INT, SERVE(drain_s), "SECONDS", NULL,
      "seconds to serve on after SIGTERM (default 2)" },
    SW_FLAG_LOG_FILE(AT(log_file)),
    { "testHooks", 0, SW_FLAG_BOOL, AT(test_hooks), NULL, NULL,
      "check the options and the certificate, then exit" },
    { 0 },
#undef METRICS
#undef SERVE
#undef AT
};

static int make_opts(const struct settings *s, struct sw_webhook_server_opts *o)
{
    const enum sw_webhook_env_from env_from = sw_streq(s->env_from, "warn") ? SW_WEBHOOK_ENV_WARN
                                              : sw_streq(s->env_from, "refuse")
                                                  ? SW_WEBHOOK_ENV_REFUSE
                                                  : SW_WEBHOOK_ENV_ALLOW;
    const char *fault = sw_webhook_tolerate_fault(s->tolerate);
    if (fault)
        return sw_flags_usage(PROGRAM, "--tolerate: '%s': %s", s->tolerate, fault);
    *o = (struct sw_webhook_server_opts){
        .policy = {
            .scheduler_name = s->scheduler,
            .runtime_class = s->runtime_class,
            .keep_user_fields = sw_streq(s->user_fields, "keep"),
            .strip_visible_devices = sw_streq(s->visible_devices, "strip"),
            .tolerate = s->tolerate,
            .env_from = env_from,
            .excluded_namespaces = s->excluded,
        },
        .serve = sw_serve_flags_opts(&s->serve),
        .metrics = s->metrics,
        .kubeconfig = sw_text_or(s->kubeconfig, NULL),
    };
    return 0;
}

static void on_signal(void *http)
{
    sw_serve_stop(http);
}

static int serve(const struct settings *s, const struct sw_webhook_server_opts *opts)
{
    SW_ERR(err);
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_webhook_server *server = NULL;
    struct sw_log_file *log_file = sw_log_file_open(loop, s->log_file);
    struct sw_log_gather *log = sw_log_gather_open(loop);
    int status = EXIT_SUCCESS;
    if (sw_webhook_server_open(loop, opts, &server, &err) < 0) {
        status = sw_flags_fail(PROGRAM, &err);
    } else {
        struct sw_serve *http = sw_webhook_server_http(server);
        char port[16];
        (void)snprintf(port, sizeof port, "%d", sw_serve_port(http));
        sw_log(SW_LOG_INFO, "listening", "address", s->serve.listen, "port", port, "tls",
               s->serve.tls ? "true" : "false", NULL);
        if (!s->test_hooks)
            sw_loop_run_until_signal(loop, on_signal, http);
        else if (sw_serve_trouble(http))
            status = EXIT_FAILURE;
    }
    sw_webhook_server_close(server);
    sw_log_gather_close(log);
    sw_log_file_close(log_file);
    sw_loop_free(loop);
    return status;
}

int main(int argc, char **argv)
{
    sw_program_start();
    /* the messages of OpenSSL are not used */
    (void)OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_SSL_STRINGS | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS,
                           NULL);
    struct settings s = { .serve = { .listen = "0.0.0.0", .port = 8443, .tls = true, .drain_s = 2 },
                          .metrics = SW_METRICS_FLAGS_DEFAULT("0"),
                          .scheduler = "das-scheduler",
                          .runtime_class = "nvidia-legacy",
                          .user_fields = "override",
                          .visible_devices = "refuse",
                          .env_from = "warn" };
    const struct sw_flag_set set = { .program = PROGRAM,
                                     .summary =
                                         "mutating admission of pods that ask for MIG slices",
                                     .args = "[serve]",
                                     .version = SW_VERSION,
                                     .flags = flags,
                                     .go_style = true,
                                     .command = "serve" }; /* as DAS's program has it */
    int rc = sw_flags_parse(&set, argc, argv, &s, NULL);
    if (rc)
        return rc - 1;
    struct sw_webhook_server_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
