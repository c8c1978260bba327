#pragma once
/* tls: the server's side of TLS: certificate, versions, cipher suites. Internal to serve. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/openssl.h"

#include "base/base.h"
#include "net/serve/conn.h"
#include "net/serve/serve.h"

/** Zero-initialise, and set the three files, or what stands for them (borrowed). */
struct sw_serve_tls {
    const char *cert_file, *key_file, *ca_file;
    const char *cert_pem, *key_pem; /* instead of the files */
    const char *own_name; /* instead of the files: the name in a certificate of its own making */
    int min_version;      /* TLS1_2_VERSION ... */
    char *ciphers_12;     /* OpenSSL's lists; NULL: its own choice */
    char *ciphers_13;
    /* loaded */
    SSL_CTX *ctx; /* NULL: nothing yet */
    time_t not_after;
    uint64_t seen; /* the files' state when they were read last */
    char *trouble; /* why the last attempt failed; NULL: it did not */
    unsigned n_loads;
};

/** How a server serves HTTPS. */
struct sw_serve_tls_ops {
    /** @min_version: NULL is VersionTLS12. @suites: comma-separated, NULL: OpenSSL's; those of
     * TLS 1.3 alone mean TLS 1.3 alone, those that OpenSSL has given up (3DES, RC4) are left out.
     * @return 0 | SW_INVALID (an unknown version or suite is named) */
    int (*init)(struct sw_serve_tls *t, const char *min_version, const char *suites,
                struct sw_err *err);
    /** Free what it holds; harmless on a zeroed one. */
    void (*done)(struct sw_serve_tls *t);
    /** Read the files if they changed since the last attempt, or if that failed. A certificate that
     * cannot be used leaves the one before in place. One of its own is made, and made again before
     * it expires, only if it is @needed. @return whether there is a new one */
    bool (*refresh)(struct sw_serve_tls *t, bool needed);
    /** A session on the accepted socket @fd, for sw_conn_init(), which takes it. */
    void *(*session_new)(struct sw_serve_tls *t, int fd);
    const struct sw_conn_tls *conn;
};
