#include "base/certificates.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/openssl.h"

/* ---- keys ---- */

static EVP_PKEY *generate_dsa(void)
{
    enum { BITS = 2048 };
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DSA", NULL);
    EVP_PKEY *params = NULL, *key = NULL;
    if (ctx && EVP_PKEY_paramgen_init(ctx) == 1 &&
        EVP_PKEY_CTX_set_dsa_paramgen_bits(ctx, BITS) == 1)
        (void)EVP_PKEY_paramgen(ctx, &params); /* NULL where it failed */
    EVP_PKEY_CTX_free(ctx);
    ctx = params ? EVP_PKEY_CTX_new_from_pkey(NULL, params, NULL) : NULL;
    if (ctx && EVP_PKEY_keygen_init(ctx) == 1)
        (void)EVP_PKEY_keygen(ctx, &key);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(params);
    return key;
}

EVP_PKEY *sw_key_generate(const char *type, int bits)
{
    if (strcmp(type, "rsa") == 0)
        return EVP_RSA_gen((unsigned)bits);
    if (strcmp(type, "ecdsa") == 0)
        return EVP_EC_gen("P-256");
    if (strcmp(type, "ed25519") == 0)
        return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    return strcmp(type, "dsa") == 0 ? generate_dsa() : NULL;
}

int sw_key_read(const char *pem, size_t len, EVP_PKEY **out, struct sw_err *err)
{
    if (!memmem(pem, len, "-----BEGIN ", 11))
        return sw_err_set(err, SW_INVALID, "no PEM data in input");
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    *out = PEM_read_bio_PrivateKey(bio, NULL, NULL, "");
    BIO_free(bio);
    ERR_clear_error();
    return *out ? 0 : sw_err_set(err, SW_INVALID, "no private key data in PEM block");
}

static char *take_bio(BIO *bio)
{
    char *data;
    long n = BIO_get_mem_data(bio, &data);
    char *s = sw_strndup(data, (size_t)n);
    BIO_free(bio);
    return s;
}

char *sw_key_pem(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "EC") || EVP_PKEY_is_a(key, "DSA"))
        PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL);
    else
        PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return take_bio(bio);
}

/* ---- certificates ---- */

int sw_cert_read(const char *pem, size_t len, X509 **out, struct sw_err *err)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    *out = PEM_read_bio_X509(bio, NULL, NULL, "");
    BIO_free(bio);
    ERR_clear_error();
    return *out ? 0 : sw_err_set(err, SW_INVALID, "unable to decode certificate");
}

char *sw_cert_pem(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return take_bio(bio);
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer ? issuer : cert, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return ok;
}

static void add_name(GENERAL_NAMES *names, int type, const void *bytes, int len)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *s = type == GEN_DNS ? ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new();
    ASN1_STRING_set(s, bytes, len);
    GENERAL_NAME_set0_value(name, type, s);
    (void)sk_GENERAL_NAME_push(names, name); /* fails only without memory */
}

static int add_alternative_names(X509 *cert, const struct sw_cert_request *r, struct sw_err *err)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    int rc = 0;
    for (size_t i = 0; i < r->n_dns; i++)
        add_name(names, GEN_DNS, r->dns[i], (int)strlen(r->dns[i]));
    for (size_t i = 0; i < r->n_ips && rc == 0; i++) {
        unsigned char bytes[16];
        if (inet_pton(AF_INET, r->ips[i], bytes) == 1)
            add_name(names, GEN_IPADD, bytes, 4);
        else if (inet_pton(AF_INET6, r->ips[i], bytes) == 1)
            add_name(names, GEN_IPADD, bytes, 16);
        else
            rc = sw_err_set(err, SW_INVALID, "error parsing ip: %s", r->ips[i]);
    }
    if (rc == 0 && r->n_dns + r->n_ips > 0 &&
        X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_APPEND) != 1)
        rc = sw_err_set(err, SW_INVALID, "error creating certificate: bad alternative names");
    GENERAL_NAMES_free(names);
    return rc;
}

static bool set_serial(X509 *cert)
{
    BIGNUM *n = BN_new();
    bool ok = BN_rand(n, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert)) != NULL;
    BN_free(n);
    return ok;
}

/* As Go's crypto/x509: nothing for an empty name, and any length, where OpenSSL's MBSTRING types
 * stop at X.520's 64 characters. Names of Services are longer. */
static bool set_common_name(X509_NAME *subject, const char *name)
{
    return !*name ||
           X509_NAME_add_entry_by_txt(subject, "CN", V_ASN1_UTF8STRING, (const unsigned char *)name,
                                      (int)strlen(name), -1, 0) == 1;
}

static bool fill(X509 *cert, const struct sw_cert_request *r, EVP_PKEY *key, X509 *issuer)
{
    X509_NAME *name = X509_get_subject_name(cert);
    const char *usage = r->is_ca ? "critical,digitalSignature,keyEncipherment,keyCertSign"
                                 : "critical,digitalSignature,keyEncipherment";
    return X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
           ASN1_TIME_set(X509_getm_notBefore(cert), r->now_sec) &&
           ASN1_TIME_adj(X509_getm_notAfter(cert), r->now_sec, (int)r->days, 0) &&
           set_common_name(name, r->common_name) &&
           X509_set_issuer_name(cert, issuer ? X509_get_subject_name(issuer) : name) == 1 &&
           X509_set_pubkey(cert, key) == 1 && add_extension(cert, issuer, NID_key_usage, usage) &&
           add_extension(cert, issuer, NID_ext_key_usage, "serverAuth,clientAuth") &&
           add_extension(cert, issuer, NID_basic_constraints,
                         r->is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
           (!r->is_ca || add_extension(cert, issuer, NID_subject_key_identifier, "hash")) &&
           (!issuer || add_extension(cert, issuer, NID_authority_key_identifier, "keyid"));
}

int sw_cert_make(const struct sw_cert_request *r, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key,
                 X509 **out, struct sw_err *err)
{
    X509 *cert = X509_new();
    EVP_PKEY *signer = issuer ? issuer_key : key;
    const EVP_MD *md = EVP_PKEY_is_a(signer, "ED25519") ? NULL : EVP_sha256();
    int rc = fill(cert, r, key, issuer) ? add_alternative_names(cert, r, err)
                                        : sw_err_set(err, SW_INVALID, "error creating certificate");
    if (rc == 0 && X509_sign(cert, signer, md) == 0)
        rc = sw_err_set(err, SW_INVALID, "error creating certificate: the key cannot sign");
    ERR_clear_error();
    if (rc < 0)
        X509_free(cert);
    else
        *out = cert;
    return rc;
}
