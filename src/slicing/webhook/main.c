/* slipway-webhook: the program around the server: flags, signals. */
#include <event2/event.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loggather.h"
#include "base/loglevel.h"
#include "base/options.h"
#include "slicing/webhook/webhook.h"

#define PROGRAM "slipway-webhook"

struct settings {
    const char *listen, *cert, *key, *ca, *min_version, *suites;
    const char *scheduler, *runtime_class, *user_fields, *visible_devices, *env_from, *tolerate,
        *excluded, *log_level, *log_file;
    int port, drain_s;
    bool tls, test_hooks, help, version;
};

/* One row a flag. DAS's keep their names and meanings. */
static const struct sw_option flags[] = {
#define AT(field) offsetof(struct settings, field)
    { "listen", SW_OPTION_TEXT, AT(listen),
      "address to listen on (default 0.0.0.0: all, IPv6 ones too)" },
    { "port", SW_OPTION_NUMBER, AT(port), "port to listen on (default 8443)" },
    { "tls", SW_OPTION_SWITCH, AT(tls), "serve HTTPS (default true)" },
    SW_SERVE_TLS_OPTIONS(AT),
    { "scheduler-name", SW_OPTION_TEXT, AT(scheduler),
      "schedulerName of pods with slices (default das-scheduler; empty: left alone)" },
    { "runtime-class", SW_OPTION_TEXT, AT(runtime_class),
      "runtimeClassName of pods with slices (default nvidia-legacy; empty: left alone)" },
    { "user-fields", SW_OPTION_TEXT, AT(user_fields),
      "override (default) or keep the two fields where a pod sets them itself" },
    { "visible-devices", SW_OPTION_TEXT, AT(visible_devices),
      "refuse (default) pods with slices that set NVIDIA_VISIBLE_DEVICES, or strip it" },
    { "env-from", SW_OPTION_TEXT, AT(env_from),
      "warn (default), refuse or allow: pods with slices whose envFrom could set it" },
    { "tolerate", SW_OPTION_TEXT, AT(tolerate),
      "RESOURCE[=KEY],...: pods that ask for the extended resource (* at its end: any rest) "
      "tolerate "
      "the taint KEY (default: the resource's name)" },
    { "excluded-namespaces", SW_OPTION_TEXT, AT(excluded),
      "comma-separated: their pods are left as they are (needed before Kubernetes 1.21)" },
    { "drain", SW_OPTION_NUMBER, AT(drain_s), "seconds to serve on after SIGTERM (default 2)" },
    { "log-level", SW_OPTION_TEXT, AT(log_level), "error, warn, info (default) or debug" },
    { "log-level-file", SW_OPTION_TEXT, AT(log_file),
      "follow the level in this file, while there is one" },
    { "testHooks", SW_OPTION_SWITCH, AT(test_hooks),
      "check the options and the certificate, then exit" },
    { "version", SW_OPTION_SWITCH, AT(version), "print the version" },
    { "help", SW_OPTION_SWITCH, AT(help), "print this" },
#undef AT
};

/* One of two words. @return -1: neither */
static int choose(const char *value, const char *off, const char *on)
{
    return strcmp(value, off) == 0 ? 0 : strcmp(value, on) == 0 ? 1 : -1;
}

static int make_opts(const struct settings *s, struct sw_webhook_server_opts *o)
{
    const int keep = choose(s->user_fields, "override", "keep");
    const int strip = choose(s->visible_devices, "refuse", "strip");
    if (keep < 0)
        return sw_options_fault(PROGRAM, "--user-fields: '%s' is neither override nor keep",
                                s->user_fields);
    if (strip < 0)
        return sw_options_fault(PROGRAM, "--visible-devices: '%s' is neither refuse nor strip",
                                s->visible_devices);
    const int env_from = strcmp(s->env_from, "warn") == 0     ? SW_WEBHOOK_ENV_WARN
                         : strcmp(s->env_from, "refuse") == 0 ? SW_WEBHOOK_ENV_REFUSE
                         : strcmp(s->env_from, "allow") == 0  ? SW_WEBHOOK_ENV_ALLOW
                                                              : -1;
    if (env_from < 0)
        return sw_options_fault(PROGRAM, "--env-from: '%s' is none of warn, refuse and allow",
                                s->env_from);
    const char *fault = sw_webhook_tolerate_fault(s->tolerate);
    if (fault)
        return sw_options_fault(PROGRAM, "--tolerate: '%s': %s", s->tolerate, fault);
    *o = (struct sw_webhook_server_opts){
        .policy = {
            .scheduler_name = s->scheduler,
            .runtime_class = s->runtime_class,
            .keep_user_fields = keep == 1,
            .strip_visible_devices = strip == 1,
            .tolerate = s->tolerate,
            .env_from = (enum sw_webhook_env_from)env_from,
            .excluded_namespaces = s->excluded,
        },
        .serve = {
            .address = s->listen,
            .port = s->port,
            .plain_http = !s->tls,
            .cert_file = s->cert,
            .key_file = s->key,
            .ca_file = s->ca && *s->ca ? s->ca : NULL,
            .min_version = s->min_version,
            .cipher_suites = s->suites,
            .drain_ms = (int64_t)s->drain_s * 1000,
        },
    };
    return sw_options_log_level(PROGRAM, s->log_level);
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
                          .log_level = "info",
                          .drain_s = 2 };
    int rc = sw_options_parse(PROGRAM, flags, SW_COUNT(flags), argc, argv, &s);
    if (rc)
        return rc;
    if (s.help) {
        sw_options_help(PROGRAM, "Mutating admission of pods that ask for MIG slices.", flags,
                        SW_COUNT(flags));
        return EXIT_SUCCESS;
    }
    if (s.version) {
        (void)puts(PROGRAM " " SW_VERSION);
        return EXIT_SUCCESS;
    }
    struct sw_webhook_server_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
