/* slipway-webhook: the program around the server: flags, signals. */
#include <event2/event.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loggather.h"
#include "base/loglevel.h"
#include "data/flags/flags.h"
#include "slicing/webhook/webhook.h"

#define PROGRAM "slipway-webhook"

struct settings {
    const char *listen, *cert, *key, *ca, *min_version, *suites;
    const char *scheduler, *runtime_class, *user_fields, *visible_devices, *env_from, *tolerate,
        *excluded, *log_file;
    int port, drain_s;
    bool tls, test_hooks, version;
};

/* One row a flag. DAS's keep their names and meanings. */
static const struct sw_flag flags[] = {
#define AT(field) offsetof(struct settings, field)
    { "listen", 0, SW_FLAG_STRING, AT(listen), "ADDRESS", NULL,
      "address to listen on (default 0.0.0.0: all, IPv6 ones too)" },
    { "port", 0, SW_FLAG_INT, AT(port), "PORT", NULL, "port to listen on (default 8443)" },
    { "tls", 0, SW_FLAG_BOOL, AT(tls), NULL, NULL, "serve HTTPS (default true)" },
    SW_SERVE_TLS_FLAGS(AT),
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
    { "drain", 0, SW_FLAG_INT, AT(drain_s), "SECONDS", NULL,
      "seconds to serve on after SIGTERM (default 2)" },
    { "log-level-file", 0, SW_FLAG_STRING, AT(log_file), "FILE", NULL,
      "follow the level in this file, while there is one" },
    { "testHooks", 0, SW_FLAG_BOOL, AT(test_hooks), NULL, NULL,
      "check the options and the certificate, then exit" },
    { "version", 0, SW_FLAG_BOOL, AT(version), NULL, NULL, "print the version" },
    { 0 },
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
        .serve = {
            .address = s->listen,
            .port = s->port,
            .tls = s->tls ? &sw_serve_openssl : NULL,
            .cert_file = s->cert,
            .key_file = s->key,
            .ca_file = s->ca && *s->ca ? s->ca : NULL,
            .min_version = s->min_version,
            .cipher_suites = s->suites,
            .drain_ms = (int64_t)s->drain_s * 1000,
        },
    };
    return 0;
}

static void on_signal(evutil_socket_t signo SW_UNUSED, short what SW_UNUSED, void *arg)
{
    sw_webhook_server_stop(arg);
}

static int serve(const struct settings *s, const struct sw_webhook_server_opts *opts)
{
    SW_ERR(err);
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_webhook_server *server = NULL;
    struct sw_log_file *log_file = sw_log_file_open(loop, s->log_file);
    struct sw_log_gather *log = sw_log_gather_open(loop);
    const int rc = sw_webhook_server_open(loop, opts, &server, &err);
    if (rc < 0) {
        (void)fprintf(stderr, PROGRAM ": %s\n", sw_err_text(&err));
        sw_log_gather_close(log);
        sw_log_file_close(log_file);
        sw_loop_free(loop);
        return rc == SW_INVALID ? SW_EXIT_BAD_OPTION : EXIT_FAILURE;
    }
    char port[16];
    (void)snprintf(port, sizeof port, "%d", sw_webhook_server_port(server));
    sw_log(SW_LOG_INFO, "listening", "address", s->listen, "port", port, "tls",
           s->tls ? "true" : "false", NULL);
    const bool checked = !sw_webhook_server_trouble(server);
    if (!s->test_hooks) {
        struct event *term = evsignal_new(sw_loop_base(loop), SIGTERM, on_signal, server);
        struct event *intr = evsignal_new(sw_loop_base(loop), SIGINT, on_signal, server);
        (void)event_add(term, NULL);
        (void)event_add(intr, NULL);
        sw_loop_run(loop);
        event_free(term);
        event_free(intr);
    }
    sw_webhook_server_close(server);
    sw_log_gather_close(log);
    sw_log_file_close(log_file);
    sw_loop_free(loop);
    return s->test_hooks && !checked ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    sw_program_start();
    /* tls.c has its own words */
    (void)OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_SSL_STRINGS | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS,
                           NULL);
    struct settings s = { .listen = "0.0.0.0",
                          .port = 8443,
                          .tls = true,
                          .scheduler = "das-scheduler",
                          .runtime_class = "nvidia-legacy",
                          .user_fields = "override",
                          .visible_devices = "refuse",
                          .env_from = "warn",
                          .drain_s = 2 };
    const struct sw_flag_set set = { .program = PROGRAM,
                                     .summary =
                                         "mutating admission of pods that ask for MIG slices",
                                     .args = "",
                                     .flags = flags,
                                     .go_style = true };
    struct sw_operands rest;
    int rc = sw_flags_parse(&set, argc, argv, &s, &rest);
    if (rc)
        return rc - 1;
    if (s.version) {
        (void)puts(PROGRAM " " SW_VERSION);
        return EXIT_SUCCESS;
    }
    struct sw_webhook_server_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
