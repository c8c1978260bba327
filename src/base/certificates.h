#pragma once
/* Keys and certificates for sprig's genCA and its like, through OpenSSL 3. */

#include "base/base.h"

#include "base/openssl.h"

/** The content of a certificate; all strings are borrowed. */
struct sw_cert_request {
    const char *common_name;
    const char *const *ips; /* texts */
    size_t n_ips;
    const char *const *dns;
    size_t n_dns;
    int64_t days;
    bool is_ca;
    int64_t now_sec;
};

/** Generate a key: "rsa" with @bits, "dsa", "ecdsa" (P-256), "ed25519". The caller owns it.
 * @return NULL: @type is none of these */
EVP_PKEY *sw_key_generate(const char *type, int bits);
/** PKCS#1, SEC 1, PKCS#8. @return 0 | SW_INVALID: no key, as sprig words it */
int sw_key_read(const char *pem, size_t len, EVP_PKEY **out, struct sw_err *err);
/** As sprig writes it: RSA, DSA and EC keys in their own formats, others in PKCS#8. The caller's.
 */
char *sw_key_pem(EVP_PKEY *key);

/** Read a certificate from PEM. @*out is the caller's. @return 0 | SW_INVALID */
int sw_cert_read(const char *pem, size_t len, X509 **out, struct sw_err *err);
/** The certificate as PEM; the caller frees it. */
char *sw_cert_pem(X509 *cert);
/** A certificate for @key, signed by the issuer's key; @issuer NULL: by itself.
 * @return 0 | SW_INVALID: a bad IP address, keys that cannot sign */
int sw_cert_make(const struct sw_cert_request *r, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key,
                 X509 **out, struct sw_err *err);
