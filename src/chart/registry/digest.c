/* Digests of bytes that arrive in pieces. */
#include "chart/registry/internal.h"

#include <stdlib.h>

void digester_init(struct digester *d, const char *digest)
{
    bool is_512 = digest && sw_starts_with(digest, "sha512:");
    d->algorithm = is_512 ? "sha512" : "sha256";
    d->ctx = EVP_MD_CTX_new();
    (void)EVP_DigestInit_ex(d->ctx, is_512 ? EVP_sha512() : EVP_sha256(), NULL);
}

void digester_add(struct digester *d, const char *bytes, size_t len)
{
    (void)EVP_DigestUpdate(d->ctx, bytes, len);
}

char *digester_end(struct digester *d)
{
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    (void)EVP_DigestFinal_ex(d->ctx, raw, &len);
    char hex[2 * EVP_MAX_MD_SIZE + 1];
    for (unsigned i = 0; i < len; i++) {
        hex[2 * i] = "0123456789abcdef"[raw[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
    }
    hex[2 * len] = '\0';
    return sw_printf("%s:%s", d->algorithm, hex);
}

void digester_done(struct digester *d)
{
    EVP_MD_CTX_free(d->ctx);
    *d = (struct digester){ 0 };
}
