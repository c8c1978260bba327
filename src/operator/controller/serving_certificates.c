/* Serving certificates for a recipe's Services where the cluster has nobody who makes them: a CA
 * and a certificate signed by it, in a Secret of type kubernetes.io/tls, and the CA's certificate
 * for those who call. What is in the cluster is used as long as it is good for another month; then
 * it is made anew, and both CAs are trusted until the next time. The CA's key is kept nowhere. */
#include "operator/controller/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/certificates.h"
#include "base/openssl.h"
#include "data/text/base64.h"

enum { DAYS = 365, CA_DAYS = 2 * 365, SPARE_DAYS = 30 };
#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct serving {
    struct serving *next;
    char *ns, *name;
    char *ca, *cert, *key; /* PEM */
    int64_t renew_ms;
};

static int64_t now_ms(const struct resource *r)
{
    return sw_loop_now_ms(r->c->loop);
}

static void serving_free(struct serving *s)
{
    free(s->ns);
    free(s->name);
    free(s->ca);
    free(s->cert);
    free(s->key);
    free(s);
}

void serving_close(struct resource *r)
{
    while (r->serving) {
        struct serving *s = r->serving;
        r->serving = s->next;
        serving_free(s);
    }
    sw_timer_free(SW_TAKE(r->serving_timer));
}

static struct serving *find(const struct resource *r, const char *ns, const char *name)
{
    struct serving *s = r->serving;
    while (s && !(sw_streq(s->ns, ns) && sw_streq(s->name, name)))
        s = s->next;
    return s;
}

/* ---- making one --------------------------------------------------------------------------------
 */

static int make_ca(const struct resource *r, const char *service, EVP_PKEY *key, X509 **out,
                   struct sw_err *err)
{
    SW_AUTO_CHARS *name = sw_printf("%s-ca", service);
    return sw_cert_make(
        &(struct sw_cert_request){
            .common_name = name, .days = CA_DAYS, .is_ca = true, .now_sec = now_ms(r) / 1000 },
        key, NULL, NULL, out, err);
}

static int make_leaf(const struct resource *r, const char *ns, const char *service, EVP_PKEY *key,
                     X509 *ca, EVP_PKEY *ca_key, X509 **out, struct sw_err *err)
{
    SW_AUTO_CHARS *two = sw_printf("%s.%s", service, ns);
    SW_AUTO_CHARS *three = sw_printf("%s.svc", two);
    SW_AUTO_CHARS *four = sw_printf("%s.cluster.local", three);
    const char *const names[] = { service, two, three, four };
    return sw_cert_make(&(struct sw_cert_request){ .common_name = three,
                                                   .dns = names,
                                                   .n_dns = SW_COUNT(names),
                                                   .days = DAYS,
                                                   .now_sec = now_ms(r) / 1000 },
                        key, ca, ca_key, out, err);
}

/* The first certificate of a bundle; NULL: none. */
static char *first_of(const char *bundle)
{
    static const char end[] = "-----END CERTIFICATE-----\n";
    const char *at = bundle ? strstr(bundle, end) : NULL;
    return at ? sw_strndup(bundle, (size_t)(at - bundle) + sizeof end - 1) : NULL;
}

static int make(const struct resource *r, struct serving *s, const char *service,
                const char *old_ca, struct sw_err *err)
{
    EVP_PKEY *ca_key = sw_key_generate("ecdsa", 0), *key = sw_key_generate("ecdsa", 0);
    X509 *ca = NULL, *cert = NULL;
    int rc = ca_key && key ? make_ca(r, service, ca_key, &ca, err)
                           : sw_err_set(err, SW_INVALID, "no key could be made");
    if (rc == 0)
        rc = make_leaf(r, s->ns, service, key, ca, ca_key, &cert, err);
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

/* ---- what the cluster has ----------------------------------------------------------------------
 */

static char *secret_text(struct json_object *secret, const char *key)
{
    size_t len;
    const char *text = sw_json_str(secret, "", "data", key, NULL);
    char *decoded = sw_base64_decode(text, strlen(text), &len);
    return decoded ? decoded : sw_strdup("");
}

/* When is it to be made anew? 0: it is no certificate. */
static int64_t renewal_of(const char *pem)
{
    X509 *cert = NULL;
    struct tm tm;
    SW_ERR(err);
    if (sw_cert_read(pem, strlen(pem), &cert, &err) < 0)
        return 0;
    bool told = ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1;
    X509_free(cert);
    return told ? (int64_t)timegm(&tm) * 1000 - SPARE_DAYS * DAY_MS : 0;
}

static bool take_secret(const struct resource *r, struct serving *s, struct json_object *secret)
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

static void on_serving_timer(void *arg)
{
    struct resource *r = arg;
    r->serving_round++; /* renders see another revision */
    resource_facts_changed(r);
}

static void set_timer(struct resource *r)
{
    int64_t first_ms = INT64_MAX;
    for (struct serving *s = r->serving; s; s = s->next)
        if (s->renew_ms < first_ms)
            first_ms = s->renew_ms;
    if (!r->serving_timer)
        r->serving_timer = sw_timer_new(r->c->loop, on_serving_timer, r);
    int64_t wait_ms = first_ms - now_ms(r);
    sw_timer_set(r->serving_timer, wait_ms > 0 ? wait_ms + 1 : 1);
}

static void forget(struct resource *r, struct serving *s)
{
    struct serving **at = &r->serving;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    serving_free(s);
}

/* ---- what others call --------------------------------------------------------------------------
 */

int serving_find(struct resource *r, struct lookups *lookups, const char *ns, const char *name,
                 const char *service, struct sw_cert_text *out, struct sw_err *err)
{
    struct serving *s = find(r, ns, name);
    SW_AUTO_JSON *secret = NULL;
    SW_AUTO_CHARS *old_ca = NULL;
    if (s && s->renew_ms <= now_ms(r)) {
        old_ca = sw_strdup(s->ca);
        forget(r, s);
        s = NULL;
    }
    int rc = s ? 0 : lookups_find(lookups, "v1", "Secret", ns, name, &secret, err);
    if (rc < 0)
        return rc;
    if (!s) {
        s = sw_zalloc(1, sizeof *s);
        *s = (struct serving){ .ns = sw_strdup(ns), .name = sw_strdup(name) };
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
            serving_free(s);
            return rc;
        }
        s->next = r->serving;
        r->serving = s;
        set_timer(r);
    }
    *out = (struct sw_cert_text){ s->ca, s->cert, s->key };
    return 0;
}
