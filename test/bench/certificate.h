#pragma once
/* A certificate for loopback, for servers that want files. */
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

/** One that signs itself, good for an hour, and its key. */
static inline void write_certificate(const char *cert_path, const char *key_path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    (void)X509_set_version(cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    (void)X509_set_pubkey(cert, key);
    (void)X509_sign(cert, key, EVP_sha256());
    FILE *f = fopen(cert_path, "w"), *k = fopen(key_path, "w");
    if (!f || !k)
        exit(1);
    (void)PEM_write_X509(f, cert);
    (void)PEM_write_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL);
    (void)fclose(f);
    (void)fclose(k);
    X509_free(cert);
    EVP_PKEY_free(key);
}
