/* slipway-webhook: the program around the server: flags, signals. */
#include <event2/event.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "webhook/webhook.h"

enum { EXIT_USAGE = 2 };

struct settings {
    const char *listen, *cert, *key, *ca, *min_version, *suites;
    const char *scheduler, *runtime_class, *user_fields, *visible_devices, *log_level;
    int port, drain_s;
    bool tls, test_hooks, help, version;
};

/* One row a flag. DAS's keep their names and meanings. */
static const struct flag {
    const char *name;
    enum { TEXT, NUMBER, SWITCH } kind;
    size_t offset; /* in struct settings */
    const char *help;
} flags[] = {
#define AT(field) offsetof(struct settings, field)
    { "listen", TEXT, AT(listen), "address to listen on (default 0.0.0.0)" },
    { "port", NUMBER, AT(port), "port to listen on (default 8443)" },
    { "tls", SWITCH, AT(tls), "serve HTTPS (default true)" },
    { "tlscert", TEXT, AT(cert), "certificate chain, PEM; read again when it changes" },
    { "tlskey", TEXT, AT(key), "the certificate's key, PEM" },
    { "cacert", TEXT, AT(ca), "the certificate must be signed by one of these, PEM" },
    { "tls-min-version", TEXT, AT(min_version), "VersionTLS12 (default) or VersionTLS13" },
    { "tls-cipher-suites", TEXT, AT(suites), "comma-separated; default: OpenSSL's choice" },
    { "scheduler-name", TEXT, AT(scheduler),
      "schedulerName of pods with slices (default das-scheduler; empty: left alone)" },
    { "runtime-class", TEXT, AT(runtime_class),
      "runtimeClassName of pods with slices (default nvidia-legacy; empty: left alone)" },
    { "user-fields", TEXT, AT(user_fields),
      "override (default) or keep the two fields where a pod sets them itself" },
    { "visible-devices", TEXT, AT(visible_devices),
      "refuse (default) pods with slices that set NVIDIA_VISIBLE_DEVICES, or strip it" },
    { "drain", NUMBER, AT(drain_s), "seconds to serve on after SIGTERM (default 2)" },
    { "log-level", TEXT, AT(log_level), "error, warn, info (default) or debug" },
    { "testHooks", SWITCH, AT(test_hooks), "check the options and the certificate, then exit" },
    { "version", SWITCH, AT(version), "print the version" },
    { "help", SWITCH, AT(help), "print this" },
#undef AT
};

static void print_help(FILE *out)
{
    (void)fprintf(out,
                  "Usage: slipway-webhook [FLAG]...\n\nMutating admission of pods that ask for "
                  "MIG slices.\n\nFlags:\n");
    for (size_t i = 0; i < SW_COUNT(flags); i++)
        (void)fprintf(out, "  --%-18s %s\n", flags[i].name, flags[i].help);
}

static int usage(const char *fmt, const char *name, const char *value)
{
    (void)fputs("slipway-webhook: ", stderr);
    (void)fprintf(stderr, fmt, name, value);
    (void)fputs("; --help lists the flags\n", stderr);
    return EXIT_USAGE;
}

static int set_flag(struct settings *s, const struct flag *f, const char *value)
{
    char *field = (char *)s + f->offset;
    if (f->kind == TEXT) {
        memcpy(field, &value, sizeof value);
        return 0;
    }
    if (f->kind == SWITCH) {
        const bool on = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
        if (!on && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0)
            return usage("--%s: '%s' is neither true nor false", f->name, value);
        *(bool *)field = on;
        return 0;
    }
    char *end;
    const long n = strtol(value, &end, 10);
    if (!*value || *end || n < 0 || n > 65535)
        return usage("--%s: '%s' is no number from 0 to 65535", f->name, value);
    *(int *)field = (int)n;
    return 0;
}

static const struct flag *find_flag(const char *name, size_t len)
{
    for (size_t i = 0; i < SW_COUNT(flags); i++)
        if (strlen(flags[i].name) == len && memcmp(flags[i].name, name, len) == 0)
            return &flags[i];
    return NULL;
}

/* "--name=value", "--name value", "-name": as Go's flag package reads them. */
static int parse_flags(int argc, char **argv, struct settings *s)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (name[0] != '-' || !name[1])
            return usage("'%s' is no flag%s", name, "");
        name += name[1] == '-' ? 2 : 1;
        const char *eq = strchr(name, '=');
        const struct flag *f = find_flag(name, eq ? (size_t)(eq - name) : strlen(name));
        if (!f)
            return usage("there is no flag '%s'%s", argv[i], "");
        const char *value = eq ? eq + 1 : f->kind == SWITCH ? "true" : argv[++i];
        if (!value)
            return usage("--%s needs a value%s", f->name, "");
        const int rc = set_flag(s, f, value);
        if (rc)
            return rc;
    }
    return 0;
}

/* One of two words. @return -1: neither */
static int choose(const char *value, const char *off, const char *on)
{
    return strcmp(value, off) == 0 ? 0 : strcmp(value, on) == 0 ? 1 : -1;
}

static int set_log_level(const char *name)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    for (size_t i = 0; i < SW_COUNT(levels); i++)
        if (strcmp(levels[i], name) == 0) {
            sw_log_set_level((enum sw_log_level)i);
            return 0;
        }
    return usage("--log-level: '%s' is none of error, warn, info, debug%s", name, "");
}

static int make_opts(const struct settings *s, struct sw_webhook_server_opts *o)
{
    const int keep = choose(s->user_fields, "override", "keep");
    const int strip = choose(s->visible_devices, "refuse", "strip");
    if (keep < 0)
        return usage("--user-fields: '%s' is neither override nor keep%s", s->user_fields, "");
    if (strip < 0)
        return usage("--visible-devices: '%s' is neither refuse nor strip%s", s->visible_devices,
                     "");
    *o = (struct sw_webhook_server_opts){
        .policy = { s->scheduler, s->runtime_class, keep == 1, strip == 1 },
        .address = s->listen,
        .port = s->port,
        .plain_http = !s->tls,
        .cert_file = s->cert,
        .key_file = s->key,
        .ca_file = s->ca && *s->ca ? s->ca : NULL,
        .min_version = s->min_version,
        .cipher_suites = s->suites,
        .drain_ms = (int64_t)s->drain_s * 1000,
    };
    return set_log_level(s->log_level);
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
    const int rc = sw_webhook_server_open(loop, opts, &server, &err);
    if (rc < 0) {
        (void)fprintf(stderr, "slipway-webhook: %s\n", sw_err_text(&err));
        sw_loop_free(loop);
        return rc == SW_INVALID ? EXIT_USAGE : EXIT_FAILURE;
    }
    char port[16];
    (void)snprintf(port, sizeof port, "%d", sw_webhook_server_port(server));
    sw_log(SW_LOG_INFO, "listening", "address", s->listen, "port", port, "tls",
           s->tls ? "true" : "false", NULL);
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
    sw_loop_free(loop);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a closed connection is an error of write(), not the end */
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
                          .log_level = "info",
                          .drain_s = 2 };
    int rc = parse_flags(argc, argv, &s);
    if (rc)
        return rc;
    if (s.help) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (s.version) {
        (void)puts("slipway-webhook " SW_VERSION);
        return EXIT_SUCCESS;
    }
    struct sw_webhook_server_opts opts;
    rc = make_opts(&s, &opts);
    return rc ? rc : serve(&s, &opts);
}
