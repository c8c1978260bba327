#pragma once
/* metrics_server: the port of a program's metrics: HTTPS, for whom the API server lets read them.
 * What is served there is the program's. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct sw_kube;
struct sw_loop;
struct sw_metrics_server;
struct sw_serve_reply;

/** What the flags say; set SW_METRICS_FLAGS_DEFAULT before they are parsed. */
struct sw_metrics_flags {
    const char *address; /* NULL or "0": not served */
    bool secure;         /* HTTPS, and the API server is asked; else HTTP for everybody */
    const char *cert_dir, *cert_name,
        *cert_key;                    /* cert_dir NULL: a certificate of its own making */
    const char *min_version, *suites; /* of TLS, see sw_serve_opts; NULL: its defaults */
};
#define SW_METRICS_FLAGS_DEFAULT(where)                                                            \
    {                                                                                              \
        .address = (where), .secure = true, .cert_name = "tls.crt", .cert_key = "tls.key"          \
    }

/** Rows for a program's table of flags (data/flags/flags.h): @at(field) is the offset of a field of
 * its struct sw_metrics_flags, @doc the help of the address. Names and meaning:
 * controller-runtime's and kubebuilder's. */
#define SW_METRICS_FLAGS(at, doc)                                                                  \
    { "metrics-bind-address", 0, SW_FLAG_STRING, at(address), "HOST:PORT", NULL, doc },            \
        { "metrics-secure",                                                                        \
          0,                                                                                       \
          SW_FLAG_BOOL,                                                                            \
          at(secure),                                                                              \
          NULL,                                                                                    \
          NULL,                                                                                    \
          "serve metrics by HTTPS to whom the API server lets get them (default true); "           \
          "--metrics-secure=false: by HTTP to everybody" },                                        \
        { "metrics-cert-path",                                                                     \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          at(cert_dir),                                                                            \
          "DIR",                                                                                   \
          NULL,                                                                                    \
          "folder with the certificate for metrics; read again when it changes (default: one "     \
          "made at start, signed by itself)" },                                                    \
        { "metrics-cert-name",                                                                     \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          at(cert_name),                                                                           \
          "FILE",                                                                                  \
          NULL,                                                                                    \
          "the certificate in it, PEM (default tls.crt)" },                                        \
    {                                                                                              \
        "metrics-cert-key", 0, SW_FLAG_STRING, at(cert_key), "FILE", NULL,                         \
            "the certificate's key in it, PEM (default tls.key)"                                   \
    }

/** A page, by GET. It answers @reply, once, in the call or later. */
struct sw_metrics_page {
    const char *path;
    void (*serve)(struct sw_serve_reply *reply, void *arg);
};

/** Everything is borrowed until sw_metrics_server_close(). */
struct sw_metrics_server_opts {
    const struct sw_metrics_flags *flags;
    const struct sw_metrics_page *pages;
    size_t n_pages;
    void *arg;            /* of the pages */
    struct sw_kube *kube; /* to ask with; NULL: a client of its own, made for the first question */
    const char *kubeconfig; /* of that client; NULL: $KUBECONFIG, the pod's account */
    const char *program;    /* "slipway-webhook": in its certificate, as user agent */
};

/** Listen and serve on @loop, and log the port. *@out is NULL where nothing is to be served. While
 * the API server cannot be asked nobody is served (503).
 * @return 0 | SW_INVALID (an option) | SW_UNAVAILABLE, SW_FORBIDDEN (the address)
 * Source: controller-runtime's metrics server with its filter for authentication and
 * authorization. Pinned by test/emulator/kube/metrics_server_test.c. */
int sw_metrics_server_open(struct sw_loop *loop, const struct sw_metrics_server_opts *opts,
                           struct sw_metrics_server **out, struct sw_err *err) SW_CHECKED;
/** The port that it listens on; 0 for NULL. */
int sw_metrics_server_port(const struct sw_metrics_server *server);
/** At once; before the client that it asks with. NULL is accepted. */
void sw_metrics_server_close(struct sw_metrics_server *server);
