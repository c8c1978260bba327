/* The client against a registry on loopback: what is there and what is not, logins, mirrors,
 * certificates, platforms, failures, and files out of layers. */
#include "chart/registry/registry.h"

#include "registry_server.h"
#include "unit/net/identity.h"

/* ---- the world ----------------------------------------------------------------------------------
 */

struct world {
    struct sw_loop *loop;
    struct registry r, other; /* other: only where a test starts it */
    struct sw_registry *reg;
    char *host;
    int n, code;
    char *words, *from, *digest, *bytes, *doc;
    struct sw_logins *logins;
};

static void start(struct world *w)
{
    *w = (struct world){ .loop = sw_loop_new(NULL) };
    registry_start(&w->r, w->loop);
    w->host = registry_host(&w->r);
    w->reg = sw_registry_new(w->loop, &(struct sw_registry_opts){ .retry_ms = 1 });
}

static void forget(struct world *w)
{
    char **all[] = { &w->words, &w->from, &w->digest, &w->bytes, &w->doc };
    for (size_t i = 0; i < SW_COUNT(all); i++)
        free(SW_TAKE(*all[i]));
    w->n = w->code = 0;
}

static void tear_down(struct world *w)
{
    forget(w);
    sw_registry_free(w->reg);
    sw_logins_free(w->logins);
    registry_stop(&w->r);
    if (w->other.srv.loop)
        registry_stop(&w->other);
    SSL_CTX_free(w->r.srv.tls);
    sw_loop_free(w->loop);
    free(w->host);
}

static void on_answer(const struct sw_registry_answer *a, void *arg)
{
    struct world *w = arg;
    w->n++;
    w->code = a->code;
    w->words = sw_strdup(a->code ? sw_err_text(a->err) : "");
    w->from = a->from ? sw_strdup(a->from) : NULL;
    w->digest = a->digest ? sw_strdup(a->digest) : NULL;
    w->bytes = a->bytes ? sw_strndup(a->bytes, a->len_bytes) : NULL;
    w->doc = a->doc ? sw_json_text(a->doc, SW_JSON_PLAIN, NULL) : NULL;
}

static struct sw_registry_ask ask_for(struct world *w, const char *image, const char *platform)
{
    return (struct sw_registry_ask){ .image = image, .logins = w->logins, .platform = platform };
}

/** "name" -> "127.0.0.1:port/name". */
static char *here(struct world *w, const char *name)
{
    return sw_printf("%s/%s", w->host, name);
}

static int check(struct world *w, const char *name, const char *platform)
{
    SW_AUTO_CHARS *image = strchr(name, '/') && strchr(name, '.') ? sw_strdup(name) : here(w, name);
    struct sw_registry_ask ask = ask_for(w, image, platform);
    forget(w);
    (void)sw_registry_check(w->reg, &ask, on_answer, w);
    assert_int_equal(w->n, 0); /* never before it returned */
    run_until(w->loop, &w->n, 1);
    return w->code;
}

static int manifest(struct world *w, const char *name, const char *platform)
{
    SW_AUTO_CHARS *image = here(w, name);
    struct sw_registry_ask ask = ask_for(w, image, platform);
    forget(w);
    (void)sw_registry_manifest(w->reg, &ask, on_answer, w);
    run_until(w->loop, &w->n, 1);
    return w->code;
}

static int file(struct world *w, const char *name, bool last_only)
{
    SW_AUTO_CHARS *image = here(w, name);
    struct sw_registry_ask ask = ask_for(w, image, "linux/amd64");
    struct sw_registry_file_opts opts = { .path = "etc/release.json",
                                          .last_layer_only = last_only,
                                          .max_bytes = 4096 };
    forget(w);
    (void)sw_registry_file_open(w->reg, &ask, &opts, on_answer, w);
    run_until(w->loop, &w->n, 1);
    return w->code;
}

static void add_login(struct world *w, const char *user, const char *password)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"auths\":{\"%s\":{\"username\":\"%s\",\"password\":\"%s\"}}}", w->host, user, password);
    sw_logins_free(w->logins);
    w->logins = sw_logins_new();
    assert_int_equal(sw_logins_add(w->logins, "Secret a/pull", text, strlen(text), NULL), 0);
}

#define ONE_FILE "[{\"etc/release.json\":\"one\"}]"

/* ---- there, or not ------------------------------------------------------------------------------
 */

static void an_image_that_is_there_is_found_by_tag_and_digest(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "team/app", "v1", ONE_FILE);
    assert_int_equal(check(&w, "team/app:v1", NULL), 0);
    assert_string_equal(w.digest, digest);
    SW_AUTO_CHARS *by_digest = sw_printf("team/app@%s", digest);
    assert_int_equal(check(&w, by_digest, NULL), 0);
    assert_non_null(strstr(w.r.srv.log, "HEAD /v2/team/app/manifests/v1\n"));
    tear_down(&w);
}

static void an_image_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    assert_int_equal(check(&w, "team/app:v2", NULL), SW_NOTFOUND);
    assert_non_null(strstr(w.words, "/team/app:v2: there is no such image"));
    assert_int_equal(check(&w, "Team/App", NULL), SW_INVALID);
    assert_non_null(strstr(w.words, "lower case"));
    tear_down(&w);
}

static void a_registry_that_is_down_is_unavailable_not_empty(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    server_down(&w.r.srv);
    assert_int_equal(check(&w, "team/app:v2", NULL), SW_UNAVAILABLE);
    tear_down(&w);
}

static void a_busy_registry_is_asked_again(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.fail_status = 503;
    w.r.n_failures = 2;
    assert_int_equal(manifest(&w, "app:v1", NULL), 0);
    w.r.n_failures = 100;
    assert_int_equal(manifest(&w, "app:v1", NULL), SW_UNAVAILABLE);
    assert_non_null(strstr(w.words, "HTTP 503: TOOMANY: wait"));
    tear_down(&w);
}

/* ---- platforms ----------------------------------------------------------------------------------
 */

static void of_an_index_the_platforms_image_is_taken(void **state)
{
    (void)state;
    static const char *const kinds[] = { OCI_INDEX, DOCKER_LIST };
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        struct world w;
        start(&w);
        SW_AUTO_CHARS *amd = put_image_text(&w.r, "app", NULL, ONE_FILE);
        SW_AUTO_CHARS *arm = put_image_text(&w.r, "app", NULL, "[{\"a\":\"b\"}]");
        SW_AUTO_CHARS *index = put_index(&w.r, "app", "v1", kinds[i],
                                         (const char *[]){ "unknown/unknown", arm, "linux/amd64",
                                                           amd, "linux/arm64/v8", arm, NULL });
        assert_int_equal(manifest(&w, "app:v1", "linux/amd64"), 0);
        assert_string_equal(w.digest, amd);
        assert_int_equal(manifest(&w, "app:v1", "linux/arm64"), 0);
        assert_string_equal(w.digest, arm);
        assert_int_equal(manifest(&w, "app:v1", NULL), 0);
        assert_string_equal(w.digest, index);
        assert_int_equal(check(&w, "app:v1", "linux/amd64"), 0);
        assert_int_equal(check(&w, "app:v1", "linux/s390x"), SW_NOTFOUND);
        assert_non_null(strstr(w.words, "for linux/s390x, only for linux/amd64, linux/arm64/v8"));
        w.r.no_heads = true;
        assert_int_equal(check(&w, "app:v1", "linux/s390x"), SW_NOTFOUND);
        tear_down(&w);
    }
}

static void a_manifest_that_is_not_what_was_asked_for_is_refused(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    SW_AUTO_CHARS *old = put_manifest(&w.r, "app", "old", "application/json",
                                      "{\"schemaVersion\":1,\"fsLayers\":[]}");
    assert_int_equal(manifest(&w, "app:old", NULL), SW_INVALID);
    assert_non_null(strstr(w.words, "schema 1"));
    SW_AUTO_CHARS *by_digest = sw_printf("app@%s", digest);
    w.r.corrupt = true;
    assert_int_equal(manifest(&w, by_digest, NULL), SW_INVALID);
    assert_non_null(strstr(w.words, "the manifest that came is sha256:"));
    assert_int_equal(manifest(&w, "app:v1", NULL), SW_INVALID);
    tear_down(&w);
}

/* ---- logins -------------------------------------------------------------------------------------
 */

static void a_token_is_fetched_once_and_kept(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.bearer = true;
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    assert_int_equal(w.r.n_tokens, 1);
    assert_non_null(
        strstr(w.r.srv.log, "GET /token?service=reg%2C%20ours&scope=repository:x:pull\n"));
    tear_down(&w);
}

static void a_token_is_fetched_with_the_login(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.bearer = true;
    w.r.user = "jane";
    w.r.password = "pa:ss";
    assert_int_equal(check(&w, "app:v1", NULL), SW_FORBIDDEN);
    assert_non_null(strstr(w.words, "no token without a login"));
    assert_non_null(strstr(w.words, "none for it in: none"));
    add_login(&w, "jane", "wrong");
    assert_int_equal(check(&w, "app:v1", NULL), SW_FORBIDDEN);
    assert_non_null(strstr(w.words, "with the login of Secret a/pull"));
    assert_null(strstr(w.words, "wrong"));
    add_login(&w, "jane", "pa:ss");
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    tear_down(&w);
}

static void an_identity_token_is_traded_for_a_token(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.bearer = true;
    w.r.user = "jane";
    w.logins = sw_logins_new();
    SW_AUTO_CHARS *text = sw_printf("{\"auths\":{\"%s\":{\"identitytoken\":\"refresher\"}}}",
                                    w.host);
    assert_int_equal(sw_logins_add(w.logins, "file", text, strlen(text), NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    assert_non_null(strstr(w.r.srv.log, "POST /token\n"));
    tear_down(&w);
}

static void a_password_goes_with_each_request_where_basic_is_wanted(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.user = "jane";
    w.r.password = "x";
    assert_int_equal(check(&w, "app:v1", NULL), SW_FORBIDDEN);
    assert_non_null(strstr(w.words, "requires a login"));
    add_login(&w, "jane", "x");
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    add_login(&w, "joe", "x");
    assert_int_equal(check(&w, "app:v1", NULL), SW_FORBIDDEN);
    assert_non_null(strstr(w.words, "refuses the login of Secret a/pull"));
    tear_down(&w);
}

static void a_login_is_not_sent_without_tls_to_another_machine(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    w.r.bearer = true;
    w.r.realm_host = "registry.invalid";
    add_login(&w, "jane", "x");
    assert_int_equal(check(&w, "app:v1", NULL), SW_INVALID);
    assert_non_null(strstr(w.words, "a login is not sent without TLS"));
    tear_down(&w);
}

static void a_token_server_that_fails_is_no_denial(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    w.r.bearer = true;
    w.r.token_status = 500;
    assert_int_equal(check(&w, "app:v1", NULL), SW_UNAVAILABLE);
    tear_down(&w);
}

/* ---- mirrors and certificates -------------------------------------------------------------------
 */

static void set_mirrors(struct world *w, const char *conf)
{
    struct sw_mirrors *m = sw_mirrors_new();
    SW_ERR(err);
    assert_int_equal(sw_mirrors_add_conf(m, "registries.conf", conf, strlen(conf), &err), 0);
    sw_registry_set_mirrors(w->reg, m);
}

static void the_next_mirror_is_asked_when_one_has_it_not(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    registry_start(&w.other, w.loop);
    SW_AUTO_CHARS *other = registry_host(&w.other);
    SW_AUTO_CHARS *digest = put_image_text(&w.other, "copy/app", "v1", ONE_FILE);
    SW_AUTO_CHARS *conf = sw_printf("[[registry]]\nprefix = \"quay.invalid/team\"\n"
                                    "blocked = true\n"
                                    "[[registry.mirror]]\nlocation = \"%s/copy\"\n"
                                    "[[registry.mirror]]\nlocation = \"%s/copy\"\n",
                                    w.host, other);
    set_mirrors(&w, conf);
    assert_int_equal(check(&w, "quay.invalid/team/app:v1", NULL), 0);
    SW_AUTO_CHARS *from = sw_printf("%s/copy/app:v1", other);
    assert_string_equal(w.from, from);
    assert_int_equal(check(&w, "quay.invalid/team/app:v2", NULL), SW_NOTFOUND);
    assert_non_null(strstr(w.words, "mirror 127.0.0.1"));
    assert_int_equal(check(&w, "quay.invalid/else/app:v1", NULL), SW_UNAVAILABLE);
    set_mirrors(&w, "[[registry]]\nprefix = \"quay.invalid\"\nblocked = true\n");
    assert_int_equal(check(&w, "quay.invalid/team/app:v1", NULL), SW_FORBIDDEN);
    tear_down(&w);
}

static void a_private_ca_is_trusted_when_it_is_given_and_no_longer_after(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    struct identity ca = make_identity("registry-ca", NULL, NULL);
    struct identity id = make_identity("registry", "IP:127.0.0.1", &ca);
    w.r.srv.tls = identity_server(&id);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    assert_int_equal(check(&w, "app:v1", NULL), SW_INVALID);
    assert_non_null(strstr(w.words, "give its CA, or list the registry as insecure"));
    SW_AUTO_CHARS *pem = cert_pem(&ca);
    assert_int_equal(sw_registry_set_cas(w.reg, pem, NULL, NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    SW_AUTO_JSON *by_host = json_object_new_object();
    SW_AUTO_CHARS *key = sw_printf("127.0.0.1..%d", w.r.srv.port);
    sw_json_set_str(by_host, pem, key, NULL);
    assert_int_equal(sw_registry_set_cas(w.reg, NULL, NULL, NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), SW_INVALID);
    assert_int_equal(sw_registry_set_cas(w.reg, NULL, by_host, NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    SW_ERR(err);
    assert_int_equal(sw_registry_set_cas(w.reg, "no PEM", NULL, &err), SW_INVALID);
    assert_non_null(strstr(err.text, "the CA bundle"));
    identity_done(&ca);
    identity_done(&id);
    tear_down(&w);
}

static void an_insecure_registry_is_not_verified(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    struct identity id = make_identity("anybody", NULL, NULL);
    w.r.srv.tls = identity_server(&id);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    struct sw_mirrors *m = sw_mirrors_new();
    sw_mirrors_add_insecure(m, w.host);
    sw_registry_set_mirrors(w.reg, m);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    identity_done(&id);
    tear_down(&w);
}

/* A layer's server is another one, as a rule: what it asks for is not the registry's word. */
static void a_login_does_not_follow_a_redirect(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    registry_start(&w.other, w.loop);
    SW_AUTO_CHARS *other = registry_host(&w.other);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    w.r.blobs_host = other;
    w.other.bearer = true;
    add_login(&w, "robot", "secret");
    assert_int_equal(file(&w, "app:v1", false), SW_FORBIDDEN);
    assert_non_null(strstr(w.words, "asks for a login and is not the registry"));
    assert_int_equal(w.other.n_with_login + w.other.n_tokens, 0);
    tear_down(&w);
}

static void a_registry_token_leaves_when_it_is_asked_for(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    SW_AUTO_CHARS *text = sw_printf("{\"auths\":{\"%s\":{\"registrytoken\":\"tok-own\"}}}", w.host);
    w.logins = sw_logins_new();
    assert_int_equal(sw_logins_add(w.logins, "config.json", text, strlen(text), NULL), 0);
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    assert_int_equal(w.r.n_with_login, 0);
    w.r.bearer = true;
    assert_int_equal(check(&w, "app:v1", NULL), 0);
    assert_int_equal(w.r.n_with_login, 1);
    tear_down(&w);
}

/* ---- blobs, files, tags -------------------------------------------------------------------------
 */

static void a_file_is_found_in_the_last_layer_that_has_it(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    w.r.redirect_blobs = true;
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1",
                                           "[{\"etc/release.json\":\"old\"},{\"./etc/"
                                           "release.json\":\"new\",\"z\":\"z\"},{\"a\":\"\"}]");
    assert_int_equal(file(&w, "app:v1", false), 0);
    assert_string_equal(w.bytes, "new");
    assert_string_equal(w.digest, digest);
    assert_int_equal(file(&w, "app:v1", true), SW_NOTFOUND);
    assert_non_null(strstr(w.words, "the last layer has no etc/release.json"));
    tear_down(&w);
}

static void a_layer_is_read_once(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1",
                                           "[{\"etc/release.json\":\"x\"},{\"a\":\"\"}]");
    assert_int_equal(file(&w, "app:v1", false), 0);
    int n = w.r.srv.n_requests;
    assert_int_equal(file(&w, "app:v1", false), 0);
    assert_string_equal(w.bytes, "x");
    assert_int_equal(w.r.srv.n_requests, n + 1); /* the manifest: a tag may move */
    tear_down(&w);
}

static void a_file_that_a_layer_takes_away_is_not_there(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(
        &w.r, "app", "v1", "[{\"etc/release.json\":\"x\"},{\"etc/.wh.release.json\":\"\"}]");
    assert_int_equal(file(&w, "app:v1", false), SW_NOTFOUND);
    tear_down(&w);
}

static void a_large_layer_streams_by(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_JSON *layers = json_tokener_parse("[{}]");
    size_t len = 6 << 20;
    char *noise = sw_alloc(len);
    uint32_t seed = 1;
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525 + 1013904223;
        noise[i] = (char)(seed >> 24); /* does not compress: many times the queue */
    }
    (void)json_object_object_add(sw_json_at(layers, 0), "big",
                                 json_object_new_string_len(noise, (int)len));
    (void)json_object_object_add(sw_json_at(layers, 0), "etc/release.json",
                                 json_object_new_string("after it"));
    free(noise);
    SW_AUTO_CHARS *digest = put_image(&w.r, "app", "v1", DOCKER_MANIFEST, layers);
    assert_int_equal(file(&w, "app:v1", true), 0);
    assert_string_equal(w.bytes, "after it");
    tear_down(&w);
}

static void a_layer_that_is_damaged_or_too_large_is_refused(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *bad = put_blob(&w.r, "app", "not a tar at all, but long enough to look at", 44);
    SW_AUTO_CHARS *text = sw_printf("{\"schemaVersion\":2,\"layers\":[{\"digest\":\"%s\","
                                    "\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\"}]}",
                                    bad);
    SW_AUTO_CHARS *digest = put_manifest(&w.r, "app", "bad", OCI_MANIFEST, text);
    assert_int_equal(file(&w, "app:bad", false), SW_INVALID);
    SW_AUTO_JSON *layers = json_tokener_parse("[{}]");
    SW_AUTO_CHARS *big = sw_zalloc(5001, 1);
    memset(big, 'x', 5000);
    sw_json_set_str(sw_json_at(layers, 0), big, "etc/release.json", NULL);
    SW_AUTO_CHARS *large = put_image(&w.r, "app", "large", OCI_MANIFEST, layers);
    assert_int_equal(file(&w, "app:large", false), SW_INVALID);
    assert_non_null(strstr(w.words, "too large"));
    tear_down(&w);
}

static int count_bytes(const char *bytes SW_UNUSED, size_t len, struct sw_err *err SW_UNUSED,
                       void *arg)
{
    size_t *n = arg;
    (void)n;
    (void)len;
    return 0;
}

static void a_blob_has_its_digest_and_no_more_than_its_limit(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *blob = put_blob(&w.r, "app", "0123456789", 10);
    SW_AUTO_CHARS *image = here(&w, "app");
    struct sw_registry_ask ask = ask_for(&w, image, NULL);
    (void)sw_registry_blob(w.reg, &ask, blob, 10, count_bytes, on_answer, &w);
    run_until(w.loop, &w.n, 1);
    assert_int_equal(w.code, 0);
    forget(&w);
    (void)sw_registry_blob(w.reg, &ask, blob, 9, count_bytes, on_answer, &w);
    run_until(w.loop, &w.n, 1);
    assert_int_equal(w.code, SW_INVALID);
    assert_non_null(strstr(w.words, "larger than 9 bytes"));
    forget(&w);
    w.r.corrupt = true;
    (void)sw_registry_blob(w.reg, &ask, blob, 0, count_bytes, on_answer, &w);
    run_until(w.loop, &w.n, 1);
    assert_int_equal(w.code, SW_INVALID);
    assert_non_null(strstr(w.words, "the layer that came is sha256:"));
    tear_down(&w);
}

static void all_pages_of_tags_are_read(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    static const char *const tags[] = { "v1", "v2", "v3" };
    for (size_t i = 0; i < SW_COUNT(tags); i++)
        free(put_image_text(&w.r, "app", tags[i], ONE_FILE));
    SW_AUTO_CHARS *image = here(&w, "app");
    struct sw_registry_ask ask = ask_for(&w, image, NULL);
    (void)sw_registry_tags(w.reg, &ask, on_answer, &w);
    run_until(w.loop, &w.n, 1);
    assert_int_equal(w.code, 0);
    assert_string_equal(w.doc, "[\"v3\",\"v2\",\"v1\"]");
    tear_down(&w);
}

static void what_is_cancelled_never_answers(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    SW_AUTO_CHARS *digest = put_image_text(&w.r, "app", "v1", ONE_FILE);
    SW_AUTO_CHARS *image = here(&w, "app:v1");
    struct sw_registry_ask ask = ask_for(&w, image, NULL);
    for (int steps = 0; steps < 12; steps++) {
        struct sw_registry_file *f = sw_registry_file_open(
            w.reg, &ask, &(struct sw_registry_file_opts){ .path = "etc/none" }, on_answer, &w);
        for (int i = 0; i < steps && !w.n; i++)
            sw_loop_step(w.loop, 5);
        if (!w.n)
            sw_registry_file_close(f);
        forget(&w);
    }
    (void)sw_registry_check(w.reg, &ask, on_answer, &w);
    sw_registry_free(SW_TAKE(w.reg));
    run_for(w.loop, 20);
    assert_int_equal(w.n, 0);
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_that_is_there_is_found_by_tag_and_digest),
        cmocka_unit_test(an_image_that_is_not_there_is_named),
        cmocka_unit_test(a_registry_that_is_down_is_unavailable_not_empty),
        cmocka_unit_test(a_busy_registry_is_asked_again),
        cmocka_unit_test(of_an_index_the_platforms_image_is_taken),
        cmocka_unit_test(a_manifest_that_is_not_what_was_asked_for_is_refused),
        cmocka_unit_test(a_token_is_fetched_once_and_kept),
        cmocka_unit_test(a_token_is_fetched_with_the_login),
        cmocka_unit_test(an_identity_token_is_traded_for_a_token),
        cmocka_unit_test(a_password_goes_with_each_request_where_basic_is_wanted),
        cmocka_unit_test(a_login_is_not_sent_without_tls_to_another_machine),
        cmocka_unit_test(a_token_server_that_fails_is_no_denial),
        cmocka_unit_test(the_next_mirror_is_asked_when_one_has_it_not),
        cmocka_unit_test(a_private_ca_is_trusted_when_it_is_given_and_no_longer_after),
        cmocka_unit_test(an_insecure_registry_is_not_verified),
        cmocka_unit_test(a_login_does_not_follow_a_redirect),
        cmocka_unit_test(a_registry_token_leaves_when_it_is_asked_for),
        cmocka_unit_test(a_file_is_found_in_the_last_layer_that_has_it),
        cmocka_unit_test(a_layer_is_read_once),
        cmocka_unit_test(a_file_that_a_layer_takes_away_is_not_there),
        cmocka_unit_test(a_large_layer_streams_by),
        cmocka_unit_test(a_layer_that_is_damaged_or_too_large_is_refused),
        cmocka_unit_test(a_blob_has_its_digest_and_no_more_than_its_limit),
        cmocka_unit_test(all_pages_of_tags_are_read),
        cmocka_unit_test(what_is_cancelled_never_answers),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
