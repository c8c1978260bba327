#include "chart/fetch/git/gitcert.h"

#include <arpa/inet.h>
#include <limits.h>

#include "base/openssl.h"

bool git_cert_is_of_address(const void *der, size_t len, const char *host, const char *ca_file)
{
    const unsigned char *at = der;
    struct in6_addr any;
    bool is_address = inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
    if (!is_address || len > LONG_MAX)
        return false;
    X509 *cert = d2i_X509(NULL, &at, (long)len);
    X509_STORE *store = X509_STORE_new();
    bool loaded = store && (ca_file ? X509_STORE_load_file(store, ca_file) == 1
                                    : X509_STORE_set_default_paths(store) == 1);
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    bool ok = ctx && cert && loaded && X509_STORE_CTX_init(ctx, store, cert, NULL) == 1 &&
              X509_STORE_CTX_set_default(ctx, "ssl_server") == 1 &&
              X509_VERIFY_PARAM_set1_ip_asc(X509_STORE_CTX_get0_param(ctx), host) == 1 &&
              X509_verify_cert(ctx) == 1;
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    X509_free(cert);
    return ok;
}
