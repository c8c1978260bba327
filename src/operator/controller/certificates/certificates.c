/* Serving certificates for a recipe's Services where the cluster has no service CA: a CA and a
 * certificate signed by it, in a Secret of type kubernetes.io/tls, with the CA's certificate for
 * clients. The certificate in the cluster is used until a month before it expires; then CA and
 * certificate are made again, and both CAs are trusted until the next time. The CA's key is not
 * kept. */
#include "operator/controller/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/certificates.h"
#include "base/openssl.h"
#include "data/text/base64.h"

enum { DAYS = 365, CA_DAYS = 2 * 365, SPARE_DAYS = 30 };
#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct certificate {
    struct certificate *next;
    char *ns, *name;
    char *ca, *cert, *key; /* PEM */
    int64_t renew_ms;
};

struct certificates {
    struct certificate *first;
    struct sw_timer *timer; /* to renew the first that expires */
    unsigned round;         /* renewals so far */
};

static struct certificates *certificates_of(const struct resource *r)
{
    return r->state[CAPABILITY_certificates];
}

static int64_t now_ms(const struct resource *r)
{
    return sw_loop_now_ms(r->c->loop);
}

static void certificate_free(struct certificate *s)
{
    free(s->ns);
    free(s->name);
    free(s->ca);
    free(s->cert);
    free(s->key);
    free(s);
}

static void resource_close(struct resource *r)
{
    while (certificates_of(r)->first) {
        struct certificate *s = certificates_of(r)->first;
        certificates_of(r)->first = s->next;
        certificate_free(s);
    }
    sw_timer_free(SW_TAKE(certificates_of(r)->timer));
}

/* ---- making one --------------------------------------------------------------------------------
 */

/* The first certificate of a bundle; heap; NULL: none. */
static char *first_of(const char *bundle)
{
    static const char end[] = "-----END CERTIFICATE-----\n";
    const char *at = bundle ? strstr(bundle, end) : NULL;
    return at ? sw_strndup(bundle, (size_t)(at - bundle) + sizeof end - 1) : NULL;
}

/* Make CA and certificate; the first of @old_ca (PEM, or NULL) is trusted besides. */
static int make(const struct resource *r, struct certificate *s, const char *service,
                const char *old_ca, struct sw_err *err)
{
    EVP_PKEY *ca_key = sw_key_generate("ecdsa", 0), *key = sw_key_generate("ecdsa", 0);
    X509 *ca = NULL, *cert = NULL;
    SW_AUTO_CHARS *ca_name = sw_printf("%s-ca", service);
    SW_AUTO_CHARS *in_ns = sw_printf("%s.%s", service, s->ns);
    SW_AUTO_CHARS *svc = sw_printf("%s.svc", in_ns);
    SW_AUTO_CHARS *local = sw_printf("%s.cluster.local", svc);
    const char *const names[] = { service, in_ns, svc, local };
    const struct sw_cert_request ca_request = {
        .common_name = ca_name, .days = CA_DAYS, .is_ca = true, .now_sec = now_ms(r) / 1000
    };
    const struct sw_cert_request request = { .common_name = svc,
                                             .dns = names,
                                             .n_dns = SW_COUNT(names),
                                             .days = DAYS,
                                             .now_sec = now_ms(r) / 1000 };
    int rc = ca_key && key ? sw_cert_make(&ca_request, ca_key, NULL, NULL, &ca, err)
                           : sw_err_set(err, SW_INVALID, "no key could be made");
    if (rc == 0)
        rc = sw_cert_make(&request, key, ca, ca_key, &cert, err);
    if (rc == 0) {
        SW_AUTO_CHARS *mine = sw_cert_pem(ca);
        SW_AUTO_CHARS *old = first_of(old_ca);
        s->ca = sw_printf("%s%s", mine, old ? old : "");
        s->cert = sw_cert_pem(cert);
        s->key = sw_key_pem(key);
        s->renew_ms = now_ms(r) + (DAYS - SPARE_DAYS) * DAY_MS;
    }
    X509_free(cert);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    return rc;
}

/* ---- the Secret in the cluster -----------------------------------------------------------------
 */

static char *secret_text(struct json_object *secret, const char *key)
{
    size_t len;
    const char *text = sw_json_str(secret, "", "data", key, NULL);
    char *decoded = sw_base64_decode(text, strlen(text), &len);
    return decoded ? decoded : sw_strdup("");
}

/* When it is to be renewed; 0: it is no certificate. */
static int64_t renewal_of(const char *pem)
{
    X509 *cert = NULL;
    struct tm tm;
    SW_ERR(err);
    if (sw_cert_read(pem, strlen(pem), &cert, &err) < 0)
        return 0;
    bool is_known = ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1;
    X509_free(cert);
    return is_known ? (int64_t)timegm(&tm) * 1000 - SPARE_DAYS * DAY_MS : 0;
}

/* Use what is in the Secret. @return false: it has no certificate that is good long enough */
static bool take_secret(const struct resource *r, struct certificate *s, struct json_object *secret)
{
    SW_AUTO_CHARS *cert = secret_text(secret, "tls.crt");
    SW_AUTO_CHARS *key = secret_text(secret, "tls.key");
    SW_AUTO_CHARS *ca = secret_text(secret, "ca.crt");
    int64_t renew_ms = renewal_of(cert);
    if (renew_ms <= now_ms(r) || !*key || !*ca)
        return false;
    s->cert = SW_TAKE(cert);
    s->key = SW_TAKE(key);
    s->ca = SW_TAKE(ca);
    s->renew_ms = renew_ms;
    return true;
}

static void on_timer(void *arg)
{
    struct resource *r = arg;
    certificates_of(r)->round++; /* renders see another revision */
    resource_replan(r);
}

static void set_timer(struct resource *r)
{
    int64_t first_ms = INT64_MAX;
    for (struct certificate *s = certificates_of(r)->first; s; s = s->next)
        if (s->renew_ms < first_ms)
            first_ms = s->renew_ms;
    if (!certificates_of(r)->timer)
        certificates_of(r)->timer = sw_timer_new(r->c->loop, on_timer, r);
    int64_t wait_ms = first_ms - now_ms(r);
    sw_timer_set(certificates_of(r)->timer, wait_ms > 0 ? wait_ms + 1 : 1);
}

/* ---- renders -----------------------------------------------------------------------------------
 */

/* The certificate of Secret @ns/@name: the cluster's, else made for @service (NULL: not made). @out
 * is borrowed until the next call. @return 0 | SW_PENDING, others of a lookup | SW_UNAVAILABLE: it
 * is not there */
static int find_certificate(struct resource *r, struct lookups *lookups, const char *ns,
                            const char *name, const char *service, struct sw_cert_text *out,
                            struct sw_err *err)
{
    struct certificate **at = &certificates_of(r)->first;
    while (*at && !(sw_streq((*at)->ns, ns) && sw_streq((*at)->name, name)))
        at = &(*at)->next;
    struct certificate *s = *at;
    SW_AUTO_JSON *secret = NULL;
    SW_AUTO_CHARS *old_ca = NULL;
    if (s && s->renew_ms <= now_ms(r)) {
        old_ca = sw_strdup(s->ca);
        *at = s->next;
        certificate_free(s);
        s = NULL;
    }
    int rc = s ? 0 : lookups_find(lookups, "v1", "Secret", ns, name, &secret, err);
    if (rc < 0)
        return rc;
    if (!s) {
        s = sw_zalloc(1, sizeof *s);
        *s = (struct certificate){ .ns = sw_strdup(ns), .name = sw_strdup(name) };
        bool there = secret && take_secret(r, s, secret);
        if (secret && !old_ca)
            old_ca = secret_text(secret, "ca.crt");
        if (!there)
            rc = service ? make(r, s, service, old_ca, err)
                         : sw_err_set(err, SW_UNAVAILABLE,
                                      "the certificate of Secret %s/%s is not made yet: no Service "
                                      "with slipway.dev/serving-cert has been rendered",
                                      ns, name);
        if (rc < 0) {
            certificate_free(s);
            return rc;
        }
        s->next = certificates_of(r)->first;
        certificates_of(r)->first = s;
        set_timer(r);
    }
    *out = (struct sw_cert_text){ s->ca, s->cert, s->key };
    return 0;
}

/* Add the Secret of a certificate that is used to the objects of the state. */
static int add_secret(struct render *w, const char *ns, const char *name,
                      const struct sw_cert_text *text, struct sw_err *err)
{
    const char *const data[][2] = { { "ca.crt", text->ca },
                                    { "tls.crt", text->cert },
                                    { "tls.key", text->key } };
    if (render_has(w, "Secret", name))
        return 0;
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Secret", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, "kubernetes.io/tls", "type", NULL);
    for (size_t i = 0; i < SW_COUNT(data); i++) {
        size_t len;
        SW_AUTO_CHARS *encoded = sw_base64_encode(data[i][1], strlen(data[i][1]), &len);
        sw_json_set_str(doc, encoded, "data", data[i][0], NULL);
    }
    return render_add(w, doc, RENDER_NAMESPACED, err);
}

static int serve(void *arg, const char *ns, const char *secret, const char *service,
                 struct sw_cert_text *out, struct sw_err *err)
{
    struct render *w = arg;
    int rc = find_certificate(render_resource(w), render_lookups(w), ns, secret, service, out, err);
    return rc == 0 && service ? add_secret(w, ns, secret, out, err) : rc;
}

static int hook_env(struct resource *r SW_UNUSED, struct render *w,
                    struct json_object *doc SW_UNUSED, struct sw_hook_env *env,
                    struct sw_err *err SW_UNUSED)
{
    if (w) { /* hooks of a deletion get no certificates */
        env->serving = serve;
        env->serving_arg = w;
    }
    return 0;
}

static void add_revision(struct resource *r, struct json_object *all)
{
    sw_json_set(all, json_object_new_int64(certificates_of(r)->round), "certificates", NULL);
}

const struct capability capability_certificates = {
    .name = "certificates",
    .summary = "serving certificates where the cluster has no service CA",
    .resource_size = sizeof(struct certificates),
    .hook_env = hook_env,
    .add_revision = add_revision,
    .resource_close = resource_close,
};
