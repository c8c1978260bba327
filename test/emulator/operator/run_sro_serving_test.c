/* Certificates of Services where nobody else makes them. */
#include "run_sro.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "data/text/base64.h"

static const char service[] =
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: hook\n  annotations:\n"
    "    slipway.dev/serving-cert: hook-tls\nspec:\n  selector: {app: a}\n  ports: [{port: 443}]\n";
static const char webhook[] =
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
    "metadata:\n  name: hook\n  annotations:\n    slipway.dev/inject-ca: hook-tls\n"
    "webhooks:\n- name: a.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n"
    "  failurePolicy: Ignore\n  clientConfig:\n    service: {name: hook, namespace: srv}\n";

static char *text_of(struct json_object *secret, const char *key)
{
    size_t len;
    const char *text = sw_json_str(secret, "", "data", key, NULL);
    return sw_base64_decode(text, strlen(text), &len);
}

static X509 *cert_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

static void open_plain(struct world *w)
{
    world_open_with(w, &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES });
}

static void service_gets_a_certificate_that_its_callers_trust(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "srv", { "templates/0000-webhook.yaml", webhook },
                               { "templates/0001-service.yaml", service });
    open_plain(&w);
    sro_run(&w, dir);
    sro_until(&w, "srv", "Ready", NULL);
    struct json_object *secret = world_get(&w, "v1", "Secret", "srv", "hook-tls");
    assert_string_equal(sw_json_str(secret, "", "type", NULL), "kubernetes.io/tls");
    SW_AUTO_CHARS *ca_text = text_of(secret, "ca.crt");
    SW_AUTO_CHARS *cert_text = text_of(secret, "tls.crt");
    X509 *ca = cert_of(ca_text), *cert = cert_of(cert_text);
    assert_int_equal(X509_check_host(cert, "hook.srv.svc", 0, 0, NULL), 1);
    assert_int_equal(X509_verify(cert, X509_get0_pubkey(ca)), 1);
    X509_free(ca);
    X509_free(cert);
    struct json_object *hook = world_get(&w, "admissionregistration.k8s.io/v1",
                                         "ValidatingWebhookConfiguration", NULL, "hook");
    const char *bundle = sw_json_str(sw_json_at(sw_json_get(hook, "webhooks"), 0), "",
                                     "clientConfig", "caBundle", NULL);
    size_t len;
    SW_AUTO_CHARS *injected = sw_base64_decode(bundle, strlen(bundle), &len);
    assert_string_equal(injected, ca_text);
    world_kill(&w);
    world_start(&w);
    world_must_be_ready(&w);
    SW_AUTO_CHARS *again = text_of(world_get(&w, "v1", "Secret", "srv", "hook-tls"), "tls.crt");
    assert_string_equal(again, cert_text);
    world_close(&w);
    chart_remove(root);
}

static bool is_another(struct world *w, void *arg)
{
    SW_AUTO_CHARS *now = text_of(world_get(w, "v1", "Secret", "srv", "hook-tls"), "tls.crt");
    return !sw_streq(now, arg);
}

static void certificate_is_renewed_and_both_authorities_are_trusted(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "srv", { "templates/0000-service.yaml", service });
    open_plain(&w);
    sro_run(&w, dir);
    sro_until(&w, "srv", "Ready", NULL);
    struct json_object *secret = world_get(&w, "v1", "Secret", "srv", "hook-tls");
    SW_AUTO_CHARS *before = text_of(secret, "tls.crt");
    SW_AUTO_CHARS *old_ca = text_of(secret, "ca.crt");
    world_kill(&w); /* what is renewed after a year is renewed by another process */
    SW_AUTO_CHARS *patch = sw_printf("{\"data\":{\"tls.crt\":\"bm9uZQ==\"}}");
    assert_int_equal(world_patch(&w, "v1", "Secret", "srv", "hook-tls", NULL, patch), 0);
    world_start(&w);
    SW_AUTO_CHARS *broken = sw_strdup("none");
    assert_true(world_until(&w, is_another, broken, 60000));
    world_must_be_ready(&w);
    secret = world_get(&w, "v1", "Secret", "srv", "hook-tls");
    SW_AUTO_CHARS *now = text_of(secret, "tls.crt");
    SW_AUTO_CHARS *both = text_of(secret, "ca.crt");
    assert_string_not_equal(now, before);
    assert_non_null(strstr(both, old_ca));
    assert_true(strlen(both) > strlen(old_ca));
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_gets_a_certificate_that_its_callers_trust),
        cmocka_unit_test(certificate_is_renewed_and_both_authorities_are_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
