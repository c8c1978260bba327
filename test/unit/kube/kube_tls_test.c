/* TLS: who is trusted and who is not, with certificates made on the spot. */
#include "kube/kube.h"

#include "base/base.h"
#include "base/loop.h"
#include "kube_server.h"
#include "unit/net/identity.h"

#include <unistd.h>

static const struct sw_kind nodes = {
    .group = "", .version = "v1", .api_version = "v1", .kind = "Node", .plural = "nodes"
};

/* ---- the world ----------------------------------------------------------------------------------
 */

struct fixture {
    struct sw_loop *loop;
    struct server srv;
    struct sw_kube *k;
    struct identity ca, other_ca, server, client;
    struct sw_kube_config *c;
    int n, code;
    char *words;
    char *client_name; /* whom the server saw */
};

static void on_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    X509 *peer = SSL_get1_peer_certificate(bufferevent_openssl_get_ssl(req->conn->bev));
    char name[256] = "";
    if (peer)
        (void)X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name,
                                        sizeof name);
    X509_free(peer);
    free(f->client_name);
    f->client_name = sw_strdup(name);
    reply(req, 200, "{\"kind\":\"Node\"}");
}

static void cb(const struct sw_kube_answer *a, void *arg)
{
    struct fixture *f = arg;
    f->n++;
    f->code = a->code;
    free(f->words);
    f->words = sw_strdup(sw_err_text(a->err));
}

static void start(struct fixture *f, const char *san)
{
    f->loop = sw_loop_new(NULL); /* a handshake takes real time */
    f->ca = make_identity("test-ca", NULL, NULL);
    f->other_ca = make_identity("other-ca", NULL, NULL);
    f->server = make_identity("kube", san, &f->ca);
    f->client = make_identity("jane", NULL, &f->ca);
    f->srv.tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(f->srv.tls, f->server.cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(f->srv.tls, f->server.key), 1);
    (void)X509_STORE_add_cert(SSL_CTX_get_cert_store(f->srv.tls), f->ca.cert);
    SSL_CTX_set_verify(f->srv.tls, SSL_VERIFY_PEER, NULL);
    f->srv.on_request = on_request;
    f->srv.arg = f;
    server_start(&f->srv, f->loop);
    f->c = server_config(&f->srv);
    f->c->source = sw_strdup("the kubeconfig");
}

static void tear_down(struct fixture *f)
{
    sw_kube_free(f->k);
    server_stop(&f->srv);
    SSL_CTX_free(f->srv.tls);
    sw_loop_free(f->loop);
    sw_kube_config_free(f->c);
    struct identity *all[] = { &f->ca, &f->other_ca, &f->server, &f->client };
    for (size_t i = 0; i < SW_COUNT(all); i++)
        identity_done(all[i]);
    free(f->words);
    free(f->client_name);
}

/** A client of the configuration as it is now asks something. */
static void ask(struct fixture *f)
{
    SW_ERR(err);
    sw_kube_free(SW_TAKE(f->k));
    f->n = 0;
    assert_int_equal(sw_kube_new(f->loop, f->c, NULL, &f->k, &err), 0);
    sw_kube_get(f->k, &nodes, NULL, "n", NULL, cb, f);
    run_until(f->loop, &f->n, 1);
}

static void a_server_signed_by_the_given_ca_is_trusted(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    f.c->ca_data = cert_pem(&f.ca);
    ask(&f);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.client_name, "");
    tear_down(&f);
}

static void the_ca_may_be_in_a_file(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    char path[] = "/tmp/kube_ca_XXXXXX";
    close(mkstemp(path));
    SW_AUTO_CHARS *pem = cert_pem(&f.ca);
    assert_int_equal(sw_file_write(path, pem, strlen(pem), NULL), 0);
    f.c->ca_file = sw_strdup(path);
    ask(&f);
    assert_int_equal(f.code, 0);
    unlink(path);
    tear_down(&f);
}

static void a_server_signed_by_another_ca_is_not_trusted(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    f.c->ca_data = cert_pem(&f.other_ca);
    ask(&f);
    assert_int_equal(f.code, SW_INVALID);
    assert_non_null(strstr(f.words, "certificate is not trusted"));
    assert_non_null(strstr(f.words, "not signed by the certificate-authority given"));
    assert_non_null(strstr(f.words, "the kubeconfig"));
    assert_int_equal(f.srv.n_requests, 0);
    tear_down(&f);
}

static void without_a_ca_the_system_decides(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    ask(&f);
    assert_int_equal(f.code, SW_INVALID);
    assert_non_null(strstr(f.words, "no certificate-authority is given"));
    tear_down(&f);
}

static void a_certificate_for_another_name_is_refused(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "DNS:kubernetes.default");
    f.c->ca_data = cert_pem(&f.ca);
    ask(&f);
    assert_int_equal(f.code, SW_INVALID);
    assert_non_null(strstr(f.words, "certificate is for another name"));
    assert_non_null(strstr(f.words, "tls-server-name"));
    tear_down(&f);
}

static void tls_server_name_says_which_name_to_expect(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "DNS:kubernetes.default");
    f.c->ca_data = cert_pem(&f.ca);
    f.c->tls_server_name = sw_strdup("kubernetes.default");
    ask(&f);
    assert_int_equal(f.code, 0);
    tear_down(&f);
}

static void insecure_trusts_anybody(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "DNS:kubernetes.default");
    f.c->ca_data = cert_pem(&f.other_ca);
    f.c->insecure = true;
    ask(&f);
    assert_int_equal(f.code, 0);
    tear_down(&f);
}

static void a_client_certificate_is_shown(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    f.c->ca_data = cert_pem(&f.ca);
    f.c->cert_data = cert_pem(&f.client);
    f.c->key_data = key_pem(&f.client);
    ask(&f);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.client_name, "jane");
    tear_down(&f);
}

static void what_cannot_be_used_is_named_when_the_client_is_made(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, "IP:127.0.0.1");
    SW_AUTO_CHARS *cert = cert_pem(&f.client);
    SW_AUTO_CHARS *key = key_pem(&f.client);
    SW_AUTO_CHARS *other_key = key_pem(&f.server);
    const struct {
        const char *ca, *cert, *key, *words;
    } rows[] = {
        { "no pem", NULL, NULL, "certificate-authority holds no certificate in PEM form" },
        { NULL, cert, NULL, "client-certificate is set without client-key" },
        { NULL, NULL, key, "client-key is set without client-certificate" },
        { NULL, "x", key, "client-certificate holds no certificate in PEM form" },
        { NULL, cert, "x", "client-key holds no private key in PEM form" },
        { NULL, cert, other_key, "client-key does not belong to client-certificate" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_kube *k;
        struct sw_kube_config *c = sw_kube_config_new("https://127.0.0.1:1");
        c->source = sw_strdup("conf");
        c->ca_data = rows[i].ca ? sw_strdup(rows[i].ca) : NULL;
        c->cert_data = rows[i].cert ? sw_strdup(rows[i].cert) : NULL;
        c->key_data = rows[i].key ? sw_strdup(rows[i].key) : NULL;
        assert_int_equal(sw_kube_new(f.loop, c, NULL, &k, &err), SW_INVALID);
        assert_true(sw_starts_with(err.text, "conf: "));
        assert_non_null(strstr(err.text, rows[i].words));
        sw_kube_config_free(c);
    }
    SW_ERR(err);
    struct sw_kube *k;
    f.c->ca_file = sw_strdup("/nonexistent/ca.pem");
    assert_int_equal(sw_kube_new(f.loop, f.c, NULL, &k, &err), SW_NOTFOUND);
    assert_non_null(strstr(err.text, "/nonexistent/ca.pem"));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_signed_by_the_given_ca_is_trusted),
        cmocka_unit_test(the_ca_may_be_in_a_file),
        cmocka_unit_test(a_server_signed_by_another_ca_is_not_trusted),
        cmocka_unit_test(without_a_ca_the_system_decides),
        cmocka_unit_test(a_certificate_for_another_name_is_refused),
        cmocka_unit_test(tls_server_name_says_which_name_to_expect),
        cmocka_unit_test(insecure_trusts_anybody),
        cmocka_unit_test(a_client_certificate_is_shown),
        cmocka_unit_test(what_cannot_be_used_is_named_when_the_client_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
