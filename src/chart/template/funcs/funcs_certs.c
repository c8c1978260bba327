/* sprig's keys and certificates. */
#include <stdlib.h>

#include "base/certificates.h"
#include "chart/template/funcs/encoding.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "chart/template/value/object.h"

static const struct sw_field certificate_fields[] = {
    { .name = "Cert", .json = "Cert" },
    { .name = "Key", .json = "Key" },
};

/* A certificate in templates: .Cert and .Key, both PEM. */
static const struct sw_object_type certificate_type = {
    .name = "sprig.certificate",
    .fields = certificate_fields,
    .n_fields = SW_COUNT(certificate_fields),
};

static int return_certificate(struct call *c, struct sw_value cert, struct sw_value key)
{
    struct sw_object *o = sw_object_new(c->arena, &certificate_type);
    o->fields[0] = cert;
    o->fields[1] = key;
    return sw_return(c, sw_value_object(o));
}

/* Read a certificate and its key from PEM. The caller frees both, also on failure. */
static int read_pair(struct call *c, struct sw_value cert_pem, struct sw_value key_pem, X509 **cert,
                     EVP_PKEY **key)
{
    int rc = sw_cert_read(cert_pem.as.s, cert_pem.len, cert, c->x->err);
    if (rc < 0)
        return rc;
    rc = sw_key_read(key_pem.as.s, key_pem.len, key, c->x->err);
    return rc < 0 ? sw_err_wrap(c->x->err, rc, "error parsing private key") : 0;
}

/* Generating a key, of RSA above all, takes about as long as so many steps. */
static int charge_key(struct call *c, const char *type, int bits)
{
    bool quick = sw_streq(type, "ecdsa") || sw_streq(type, "ed25519");
    return sw_call_charge(c, quick                                  ? 10000
                             : bits > 2048 && sw_streq(type, "rsa") ? 4000000
                             : sw_streq(type, "rsa")                ? 1000000
                                                                    : 3000000);
}

static int fn_gen_private_key(struct call *c)
{
    enum { BITS = 4096 };
    struct sw_value type = c->args[0];
    const char *name = type.len ? sw_arena_strndup(c->arena, type.as.s, type.len) : "rsa";
    int rc = charge_key(c, name, BITS);
    if (rc < 0)
        return rc;
    EVP_PKEY *key = sw_key_generate(name, BITS);
    if (!key) {
        sw_text_printf(c->text, "Unknown type %s", name);
        return sw_return_text(c);
    }
    SW_AUTO_CHARS *pem = sw_key_pem(key);
    EVP_PKEY_free(key);
    return sw_return_str(c, pem, strlen(pem));
}

/* ---- requests ---- */

static const char *const *texts_of(struct call *c, struct sw_value list, const char *complaint,
                                   size_t *n)
{
    *n = sw_value_len(list);
    const char **out = sw_arena_alloc(c->arena, (*n + 1) * sizeof *out);
    for (size_t i = 0; i < *n; i++) {
        struct sw_value s = sw_value_at(list, i);
        if (s.type != SW_T_STRING) {
            sw_call_fail(c, "%s: %s is not a string", complaint, sw_value_print(c->arena, s));
            return NULL;
        }
        out[i] = sw_arena_strndup(c->arena, s.as.s, s.len);
    }
    return out;
}

static int request_of(struct call *c, struct sw_cert_request *r)
{
    enum { MOST_DAYS = 3000000 };
    bool is_ca = c->func->params[1] == 'i';
    size_t days = is_ca ? 1 : 3;
    *r = (struct sw_cert_request){
        .common_name = sw_arena_strndup(c->arena, c->args[0].as.s, c->args[0].len),
        .days = c->args[days].as.i,
        .is_ca = is_ca,
        .now_sec = c->x->opts.now_ns / 1000000000,
    };
    if (r->days > MOST_DAYS || r->days < -MOST_DAYS)
        return sw_call_fail(c, "error creating certificate: days out of range");
    if (is_ca)
        return 0;
    r->ips = texts_of(c, c->args[1], "error parsing ip", &r->n_ips);
    if (r->ips)
        r->dns = texts_of(c, c->args[2], "error processing alternate dns name", &r->n_dns);
    return r->ips && r->dns ? 0 : SW_INVALID;
}

enum { NEW_KEY, GIVEN_KEY };

static int make(struct call *c, X509 *issuer, EVP_PKEY *issuer_key)
{
    enum { BITS = 2048 };
    struct sw_cert_request r;
    EVP_PKEY *key = NULL;
    X509 *cert = NULL;
    int rc = request_of(c, &r);
    if (rc == 0 && c->func->variant == GIVEN_KEY) {
        struct sw_value pem = c->args[c->n - 1];
        if (sw_key_read(pem.as.s, pem.len, &key, c->x->err) < 0)
            return sw_call_fail(c, "parsing private key: %s", sw_err_text(c->x->err));
    } else if (rc == 0) {
        rc = charge_key(c, "rsa", BITS);
        if (rc == 0 && !(key = sw_key_generate("rsa", BITS)))
            rc = sw_call_fail(c, "error generating rsa key");
    }
    if (rc == 0)
        rc = sw_cert_make(&r, key, issuer, issuer_key, &cert, c->x->err);
    if (rc == 0) {
        SW_AUTO_CHARS *cert_pem = sw_cert_pem(cert);
        SW_AUTO_CHARS *key_pem = sw_key_pem(key);
        return_certificate(c, sw_value_str(c->arena, cert_pem, strlen(cert_pem)),
                           sw_value_str(c->arena, key_pem, strlen(key_pem)));
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    return rc;
}

/* genCA, genSelfSignedCert */
static int fn_self_signed(struct call *c)
{
    return make(c, NULL, NULL);
}

static int fn_signed(struct call *c)
{
    const struct sw_object *ca = c->args[4].as.object;
    X509 *issuer = NULL;
    EVP_PKEY *issuer_key = NULL;
    int rc = read_pair(c, ca->fields[0], ca->fields[1], &issuer, &issuer_key);
    if (rc == 0)
        rc = make(c, issuer, issuer_key);
    X509_free(issuer);
    EVP_PKEY_free(issuer_key);
    return rc;
}

static int fn_build_custom(struct call *c)
{
    struct sw_value cert, key;
    X509 *x509 = NULL;
    EVP_PKEY *pkey = NULL;
    if (sw_base64_bytes(c, c->args[0], &cert) < 0)
        return sw_call_fail(c, "unable to decode base64 certificate");
    if (sw_base64_bytes(c, c->args[1], &key) < 0)
        return sw_call_fail(c, "unable to decode base64 private key");
    int rc = read_pair(c, cert, key, &x509, &pkey);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    return rc < 0 ? rc : return_certificate(c, cert, key);
}

const struct func sw_funcs_certs[] = {
    { "genPrivateKey", fn_gen_private_key, "s", "a new private key: rsa, dsa, ecdsa, ed25519", 0,
      0 },
    { "genCA", fn_self_signed, "si", "a certificate authority: common name, days", NEW_KEY, 0 },
    { "genCAWithKey", fn_self_signed, "sis", "as genCA, with a key in PEM", GIVEN_KEY, 0 },
    { "genSelfSignedCert", fn_self_signed, "slli",
      "a certificate signed by itself: common name, IPs, DNS names, days", NEW_KEY, 0 },
    { "genSelfSignedCertWithKey", fn_self_signed, "sllis",
      "as genSelfSignedCert, with a key in PEM", GIVEN_KEY, 0 },
    { "genSignedCert", fn_signed, "sllic", "as genSelfSignedCert, signed by a genCA", NEW_KEY, 0 },
    { "genSignedCertWithKey", fn_signed, "sllics", "as genSignedCert, with a key in PEM", GIVEN_KEY,
      0 },
    { "buildCustomCert", fn_build_custom, "ss", "a certificate and key given in base64", 0, 0 },
    { 0 },
};
