#include "emulator/tls.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/certificates.h"
#include "net/serve/serve.h"

/* kubeadm's CA is good for ten years, and what it signs for one. Clocks may differ a little. */
enum { CA_DAYS = 3650, CERT_DAYS = 365, PAST_S = 300, TOKEN_BYTES = 16 };

/* The address that is listened on, as the URL has it; heap. */
static char *listened(const char *listen)
{
    char *host = NULL;
    int port;
    SW_ERR(ignored); /* who listens says what is wrong with it */
    if (listen && sw_serve_parse_address(listen, &host, &port, &ignored) == 0 && !host)
        return sw_strdup("0.0.0.0");
    return host ? host : sw_strdup("127.0.0.1");
}

static int make(const struct sw_cert_request *r, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key,
                X509 **out, struct sw_err *err)
{
    if (!key)
        return sw_err_set(err, SW_INVALID, "OpenSSL makes no key");
    return sw_cert_make(r, key, issuer, issuer_key, out, err);
}

static char *new_token(void)
{
    unsigned char bytes[TOKEN_BYTES];
    char *text = NULL;
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return NULL;
    for (size_t i = 0; i < sizeof bytes; i++)
        sw_append(&text, "%02x", bytes[i]);
    return text;
}

int sw_emulator_tls_init(struct sw_emulator_tls *tls, const char *listen, struct sw_err *err)
{
    char machine[HOST_NAME_MAX + 1] = "";
    (void)gethostname(machine, sizeof machine - 1);
    SW_AUTO_CHARS *host = listened(listen);
    const char *const ips[] = { host, "127.0.0.1", "::1" };
    const char *const dns[] = { "localhost",
                                "kubernetes",
                                "kubernetes.default",
                                "kubernetes.default.svc",
                                "kubernetes.default.svc.cluster.local",
                                machine };
    const int64_t now = time(NULL) - PAST_S;
    const struct sw_cert_request ca = {
        .common_name = "kubernetes", .days = CA_DAYS, .is_ca = true, .now_sec = now
    };
    const struct sw_cert_request server = { .common_name = "kube-apiserver",
                                            .ips = ips,
                                            .n_ips = SW_COUNT(ips),
                                            .dns = dns,
                                            .n_dns = SW_COUNT(dns) - !*machine,
                                            .days = CERT_DAYS,
                                            .now_sec = now };
    EVP_PKEY *ca_key = sw_key_generate("ecdsa", 0), *key = sw_key_generate("ecdsa", 0);
    X509 *ca_cert = NULL, *cert = NULL;
    int rc = make(&ca, ca_key, NULL, NULL, &ca_cert, err);
    if (rc == 0)
        rc = make(&server, key, ca_cert, ca_key, &cert, err);
    if (rc == 0)
        *tls = (struct sw_emulator_tls){ .ca = sw_cert_pem(ca_cert),
                                         .cert = sw_cert_pem(cert),
                                         .key = sw_key_pem(key),
                                         .admin_token = new_token() };
    if (rc == 0 && !tls->admin_token)
        rc = sw_err_set(err, SW_INVALID, "OpenSSL has no random numbers");
    X509_free(ca_cert);
    X509_free(cert);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    return rc;
}

void sw_emulator_tls_done(struct sw_emulator_tls *tls)
{
    free(tls->ca);
    free(tls->cert);
    free(tls->key);
    free(tls->admin_token);
    *tls = (struct sw_emulator_tls){ 0 };
}
