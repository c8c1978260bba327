#pragma once
/* identity: certificates and keys made on the spot, for tests of TLS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/base.h"

struct identity {
    EVP_PKEY *key;
    X509 *cert;
};

static SW_UNUSED void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    assert_non_null(ext);
    assert_int_equal(X509_add_ext(cert, ext, -1), 1);
    X509_EXTENSION_free(ext);
}

/** A certificate for @name, signed by @ca; by itself where that is NULL: then it is one. */
static SW_UNUSED struct identity make_identity(const char *name, const char *san,
                                               const struct identity *ca)
{
    static long serial;
    struct identity id = { .key = EVP_EC_gen("P-256"), .cert = X509_new() };
    X509 *issuer = ca ? ca->cert : id.cert;
    (void)X509_set_version(id.cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(id.cert), ++serial);
    (void)X509_gmtime_adj(X509_getm_notBefore(id.cert), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(id.cert), 3600);
    (void)X509_NAME_add_entry_by_txt(X509_get_subject_name(id.cert), "CN", MBSTRING_ASC,
                                     (const unsigned char *)name, -1, -1, 0);
    (void)X509_set_issuer_name(id.cert, X509_get_subject_name(issuer));
    (void)X509_set_pubkey(id.cert, id.key);
    add_extension(id.cert, issuer, NID_basic_constraints, ca ? "CA:FALSE" : "critical,CA:TRUE");
    if (san)
        add_extension(id.cert, issuer, NID_subject_alt_name, san);
    assert_true(X509_sign(id.cert, ca ? ca->key : id.key, EVP_sha256()) > 0);
    return id;
}

static SW_UNUSED void identity_done(struct identity *id)
{
    EVP_PKEY_free(id->key);
    X509_free(id->cert);
}

static SW_UNUSED char *bio_text(BIO *bio)
{
    char *bytes;
    long len = BIO_get_mem_data(bio, &bytes);
    char *text = sw_strndup(bytes, (size_t)len);
    (void)BIO_free(bio);
    return text;
}

static SW_UNUSED char *cert_pem(const struct identity *id)
{
    BIO *bio = BIO_new(BIO_s_mem());
    (void)PEM_write_bio_X509(bio, id->cert);
    return bio_text(bio);
}

static SW_UNUSED char *key_pem(const struct identity *id)
{
    BIO *bio = BIO_new(BIO_s_mem());
    (void)PEM_write_bio_PKCS8PrivateKey(bio, id->key, NULL, NULL, 0, NULL, NULL);
    return bio_text(bio);
}

/** A server's TLS side that shows @id. The caller's. */
static SW_UNUSED SSL_CTX *identity_server(const struct identity *id)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(tls, id->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(tls, id->key), 1);
    return tls;
}
