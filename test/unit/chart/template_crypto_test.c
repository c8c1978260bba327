/* Functions with random results, by the properties of these; bcrypt and certificates, against known
 * results. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chart/template/funcs/bcrypt.h"
#include "chart/template/template.h"
#include "data/json/json.h"

static int render_into(const char *text, const struct sw_template_opts *opts,
                       struct sw_template_out *out, struct sw_err *err)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value root = sw_value_map(sw_map_new(arena));
    int rc = sw_template_add(set, "c/templates/t.yaml", text, strlen(text), err);
    return rc < 0 ? rc : sw_template_exec(set, "c/templates/t.yaml", root, arena, opts, out, err);
}

/* @return the output, the caller's */
static char *render(const char *text, uint64_t seed)
{
    const struct sw_template_opts opts = { .seed = seed };
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    if (render_into(text, &opts, &out, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return out.text ? out.text : sw_strdup("");
}

static void expect(const char *text, const char *want)
{
    SW_AUTO_CHARS *got = render(text, 0);
    assert_string_equal(got, want);
}

/* ---- randomness ---- */

static void random_texts_have_their_form(void **state)
{
    (void)state;
    expect("{{ regexMatch \"^[a-zA-Z0-9]{50}$\" (randAlphaNum 50) }}", "true");
    expect("{{ regexMatch \"^[a-zA-Z]{50}$\" (randAlpha 50) }}", "true");
    expect("{{ regexMatch \"^[0-9]{50}$\" (randNumeric 50) }}", "true");
    expect("{{ regexMatch \"^[ -~]{50}$\" (randAscii 50) }}", "true");
    expect("{{ randBytes 9 | b64dec | len }}", "9");
    expect(
        "{{ regexMatch \"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$\" "
        "(uuidv4) }}",
        "true");
    expect("{{ range until 100 }}{{ $n := randInt 5 8 }}{{ if or (lt $n 5) (gt $n 7) }}{{ $n }}"
           "{{ end }}{{ end }}",
           "");
    expect("{{ shuffle \"abcdef\" | splitList \"\" | sortAlpha | join \"\" }}", "abcdef");
}

static void seeds_repeat_and_differ(void **state)
{
    (void)state;
    static const char text[] = "{{ randAlphaNum 20 }} {{ uuidv4 }} {{ shuffle \"abcdefgh\" }} "
                               "{{ randInt 0 1000000 }} {{ randBytes 8 }}";
    SW_AUTO_CHARS *a = render(text, 1);
    SW_AUTO_CHARS *b = render(text, 1);
    SW_AUTO_CHARS *c = render(text, 2);
    SW_AUTO_CHARS *d = render(text, 0);
    SW_AUTO_CHARS *e = render(text, 0);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(d, e);
}

static void keys_come_of_no_seed(void **state)
{
    (void)state;
    SW_AUTO_CHARS *a = render("{{ genPrivateKey \"ed25519\" }}", 1);
    SW_AUTO_CHARS *b = render("{{ genPrivateKey \"ed25519\" }}", 1);
    assert_string_not_equal(a, b);
}

/* ---- passwords ---- */

static void bcrypt_is_right(void **state)
{
    (void)state;
    static const struct {
        const char *password, *hash;
    } rows[] = {
        { "", "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s." },
        { "a", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe" },
    };
    static const char digits[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (size_t r = 0; r < SW_COUNT(rows); r++) {
        unsigned char salt[18] = { 0 };
        char out[SW_BCRYPT_LEN + 1];
        const char *s = rows[r].hash + 7; /* 22 digits of six bits */
        for (size_t i = 0; i < 22; i++) {
            unsigned v = (unsigned)(strchr(digits, s[i]) - digits);
            for (size_t bit = 0; bit < 6; bit++) {
                size_t at = i * 6 + bit;
                if (v >> (5 - bit) & 1)
                    salt[at / 8] |= (unsigned char)(0x80 >> at % 8);
            }
        }
        sw_bcrypt(rows[r].password, strlen(rows[r].password), 6, salt, out);
        assert_string_equal(out, rows[r].hash);
    }
}

static void passwords_have_their_form(void **state)
{
    (void)state;
    expect("{{ htpasswd \"u\" \"p\" | regexMatch \"^u:\\\\$2a\\\\$10\\\\$[./A-Za-z0-9]{53}$\" }}",
           "true");
    expect("{{ encryptAES \"key\" \"some text\" | decryptAES \"key\" }}", "some text");
    expect("{{ encryptAES \"key\" \"\" | decryptAES \"key\" }}", "");
    expect("{{ encryptAES \"key\" (repeat 1000 \"x\") | decryptAES \"key\" | len }}", "1000");
    expect("{{ eq (encryptAES \"k\" \"t\") (encryptAES \"k\" \"t\") }}", "false");
}

static void bad_ciphertexts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "!!",
                                       "YQ==",
                                       "YWFhYWFhYWFhYWFhYWFhYQ==",
                                       "YWFhYWFhYWFhYWFhYWFhYWE=",
                                       "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct sw_template_out out = { 0 };
        SW_ERR(err);
        SW_AUTO_CHARS *text = sw_printf("{{ decryptAES \"key\" \"%s\" }}", bad[i]);
        (void)render_into(text, NULL, &out, &err); /* an error or garbage: never more */
        sw_template_out_done(&out);
    }
}

/* ---- certificates ---- */

static const char *text_of(struct json_object *doc, const char *key)
{
    struct json_object *v = NULL;
    assert_true(json_object_object_get_ex(doc, key, &v));
    return json_object_get_string(v);
}

static X509 *certificate(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

static EVP_PKEY *private_key(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(key);
    return key;
}

static struct json_object *render_json(const char *text)
{
    SW_AUTO_CHARS *json = render(text, 0);
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(json, strlen(json), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", sw_err_text(&err), json);
    return doc;
}

static void certificates_hold(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = render_json(
        "{{ $ca := genCA \"my-ca\" 365 }}{{ $c := genSignedCert \"svc.ns\" (list \"10.0.0.1\") "
        "(list \"svc\" \"svc.ns.svc\") 30 $ca }}{{ dict \"ca\" $ca.Cert \"cakey\" $ca.Key \"cert\" "
        "$c.Cert \"key\" $c.Key | toJson }}");
    X509 *ca = certificate(text_of(doc, "ca")), *cert = certificate(text_of(doc, "cert"));
    EVP_PKEY *ca_key = private_key(text_of(doc, "cakey")), *key = private_key(text_of(doc, "key"));
    assert_int_equal(X509_verify(cert, ca_key), 1);
    assert_int_equal(X509_verify(ca, ca_key), 1);
    assert_int_equal(X509_check_private_key(cert, key), 1);
    assert_int_equal(X509_check_ca(ca), 1);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_check_issued(ca, cert), X509_V_OK);
    assert_int_equal(X509_check_host(cert, "svc.ns.svc", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "other", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(cert, "10.0.0.1", 0), 1);
    assert_int_equal(X509_cmp_current_time(X509_get0_notBefore(cert)), -1);
    assert_int_equal(X509_cmp_current_time(X509_get0_notAfter(cert)), 1);
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof name);
    assert_string_equal(name, "svc.ns");
    X509_free(ca);
    X509_free(cert);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
}

/* X.520 ends at 64 characters, Go does not. */
static void common_name_may_be_long_or_empty(void **state)
{
    (void)state;
    char name[128];
    const char *svc = "inteldeviceplugins-webhook-service.intel-device-plugins-operator.svc";
    SW_AUTO_CHARS *text = sw_printf("{{ $k := genPrivateKey \"ecdsa\" }}"
                                    "{{ $long := genSelfSignedCertWithKey \"%s\" nil nil 1 $k }}"
                                    "{{ $none := genSelfSignedCertWithKey \"\" nil nil 1 $k }}"
                                    "{{ dict \"long\" $long.Cert \"none\" $none.Cert | toJson }}",
                                    svc);
    SW_AUTO_JSON *doc = render_json(text);
    X509 *lengthy = certificate(text_of(doc, "long")), *none = certificate(text_of(doc, "none"));
    X509_NAME_get_text_by_NID(X509_get_subject_name(lengthy), NID_commonName, name, sizeof name);
    assert_string_equal(name, svc);
    assert_int_equal(X509_NAME_entry_count(X509_get_subject_name(none)), 0);
    X509_free(lengthy);
    X509_free(none);
}

static void given_keys_are_used(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = render_json(
        "{{ $k := genPrivateKey \"ecdsa\" }}{{ $ca := genCAWithKey \"ca\" 365 $k }}"
        "{{ $s := genSelfSignedCertWithKey \"me\" nil (list \"me.example\") 1 $k }}"
        "{{ $b := buildCustomCert ($ca.Cert | b64enc) ($ca.Key | b64enc) }}"
        "{{ $c := genSignedCert \"x\" nil nil 1 $b }}"
        "{{ dict \"k\" $k \"ca\" $ca.Cert \"s\" $s.Cert \"c\" $c.Cert | toJson }}");
    EVP_PKEY *key = private_key(text_of(doc, "k"));
    X509 *ca = certificate(text_of(doc, "ca")), *self = certificate(text_of(doc, "s")),
         *cert = certificate(text_of(doc, "c"));
    assert_int_equal(X509_check_private_key(ca, key), 1);
    assert_int_equal(X509_check_private_key(self, key), 1);
    assert_int_equal(X509_verify(self, key), 1);
    assert_int_equal(X509_verify(cert, key), 1);
    assert_int_equal(X509_check_host(self, "me.example", 0, 0, NULL), 1);
    X509_free(ca);
    X509_free(self);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void keys_are_of_their_kind(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *header;
        int id;
    } rows[] = {
        { "rsa", "-----BEGIN RSA PRIVATE KEY-----", EVP_PKEY_RSA },
        { "ecdsa", "-----BEGIN EC PRIVATE KEY-----", EVP_PKEY_EC },
        { "ed25519", "-----BEGIN PRIVATE KEY-----", EVP_PKEY_ED25519 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = sw_printf("{{ genPrivateKey \"%s\" }}", rows[i].kind);
        SW_AUTO_CHARS *pem = render(text, 0);
        assert_true(sw_starts_with(pem, rows[i].header));
        EVP_PKEY *key = private_key(pem);
        assert_int_equal(EVP_PKEY_base_id(key), rows[i].id);
        EVP_PKEY_free(key);
    }
    expect("{{ genPrivateKey \"none\" }}", "Unknown type none");
}

static void wrong_certificates_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ buildCustomCert \"!!\" \"!!\" }}",
        "{{ buildCustomCert (b64enc \"x\") (b64enc \"y\") }}",
        "{{ genCAWithKey \"ca\" 1 \"no key\" }}",
        "{{ genSelfSignedCert \"x\" (list \"not an address\") nil 1 }}",
        "{{ genSelfSignedCert \"x\" nil (list 1) 1 }}",
        "{{ genSignedCert \"x\" nil nil 1 nil }}",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        struct sw_template_out out = { 0 };
        SW_ERR(err);
        assert_int_equal(render_into(texts[i], NULL, &out, &err), SW_INVALID);
        sw_template_out_done(&out);
    }
}

/* ---- time ---- */

static void now_is_the_given_time(void **state)
{
    (void)state;
    const struct sw_template_opts opts = { .now_ns = 1000000000LL * 1000000000 };
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    assert_int_equal(render_into("{{ now | date \"2006-01-02T15:04:05\" }} {{ now | unixEpoch }} "
                                 "{{ ago (now | dateModify \"-90s\") }}",
                                 &opts, &out, &err),
                     0);
    assert_string_equal(out.text, "2001-09-09T01:46:40 1000000000 1m30s");
    sw_template_out_done(&out);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_have_their_form),
        cmocka_unit_test(seeds_repeat_and_differ),
        cmocka_unit_test(keys_come_of_no_seed),
        cmocka_unit_test(bcrypt_is_right),
        cmocka_unit_test(passwords_have_their_form),
        cmocka_unit_test(bad_ciphertexts_are_refused),
        cmocka_unit_test(certificates_hold),
        cmocka_unit_test(common_name_may_be_long_or_empty),
        cmocka_unit_test(given_keys_are_used),
        cmocka_unit_test(keys_are_of_their_kind),
        cmocka_unit_test(wrong_certificates_are_refused),
        cmocka_unit_test(now_is_the_given_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
