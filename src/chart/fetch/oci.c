/* oci://host/path/chart[:tag][@digest]: a chart in a registry, as `helm push` puts it there. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/common/provenance.h"
#include "chart/fetch/index.h"
#include "chart/fetch/sources.h"
#include "chart/registry/registry.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/semver.h"
#include "data/text/url.h"

#define CONFIG_TYPE "application/vnd.cncf.helm.config.v1+json"

static const char *const layer_types[] = { "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                                           "application/vnd.cncf.helm.chart.content.v1.tar",
                                           "application/tar+gzip" };

/* A bundle that `aicr bundle` has pushed: its folder, packed, is the only layer, of a type that
 * layers of images have. Source: NVIDIA/aicr, pkg/oci. */
#define AICR_TYPE "application/vnd.nvidia.aicr.artifact"
#define AICR_LAYER "application/vnd.oci.image.layer.v1.tar+gzip"

#define PROVENANCE_TYPE "application/vnd.cncf.helm.chart.provenance.v1.prov"

/* All requests to a registry for one chart. */
struct session {
    struct sw_fetcher *f;
    struct sw_loop *loop;
    struct sw_timer *timer;
    struct sw_registry *reg;
    struct sw_logins *logins;
    struct sw_image_ref ref;
    /* the current request */
    bool answered;
    int code;
    struct sw_err err;
    struct json_object *doc; /* of the last answer; owned */
    char *digest;            /* of the last manifest; owned */
    char *withheld;          /* why a login was not used; NULL: none was withheld; owned */
    char *bytes;             /* of the blob so far; owned */
    size_t len, cap;
};

/* ---- requests ----------------------------------------------------------------------------------
 */

static void on_answer(const struct sw_registry_answer *a, void *arg)
{
    struct session *s = arg;
    s->answered = true;
    s->code = a->code;
    if (a->code < 0)
        sw_err_set(&s->err, a->code, "%s", sw_err_text(a->err));
    json_object_put(s->doc);
    s->doc = json_object_get(a->doc);
    if (a->digest) {
        sw_text_set(&s->digest, a->digest);
    }
    sw_loop_stop(s->loop);
}

static void on_timeout(void *arg)
{
    struct session *s = arg;
    sw_loop_stop(s->loop);
}

static int wait_for(struct session *s, struct sw_registry_call *call, struct sw_err *err)
{
    s->answered = false;
    sw_loop_run(s->loop);
    if (!s->answered) {
        sw_registry_cancel(call);
        return sw_err_set(err, SW_UNAVAILABLE, "not done within %lld s",
                          (long long)(s->f->opts.timeout_ms + 999) / 1000);
    }
    return s->code < 0 ? sw_err_move(err, &s->err) : 0;
}

static struct sw_registry_ask ask_for(const struct session *s, const char *image)
{
    return (struct sw_registry_ask){ .image = image, .logins = s->logins };
}

static int get_manifest(struct session *s, struct sw_err *err)
{
    SW_AUTO_CHARS *image = sw_image_ref_text(&s->ref);
    struct sw_registry_ask ask = ask_for(s, image);
    return wait_for(s, sw_registry_manifest(s->reg, &ask, on_answer, s), err);
}

static int on_piece(const char *bytes, size_t len, struct sw_err *err SW_UNUSED, void *arg)
{
    struct session *s = arg;
    if (s->cap - s->len < len) {
        s->cap = 2 * s->cap + len;
        s->bytes = sw_realloc(s->bytes, s->cap, 1);
    }
    memcpy(s->bytes + s->len, bytes, len);
    s->len += len;
    return 0;
}

/* ---- credentials -------------------------------------------------------------------------------
 */

static int add_user(struct session *s, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &s->f->opts.auth;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, auth->username, "auths", s->ref.host, "username", NULL);
    sw_json_set_str(doc, auth->password ? auth->password : "", "auths", s->ref.host, "password",
                    NULL);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    return sw_logins_add(s->logins, "the user given", text, strlen(text), err);
}

/* The user of the options comes before those of docker's configuration, which are by registry.
 * @config: docker's; NULL: what this machine has. What may not be sent is left out: the registry
 * may not require it. */
static int add_logins(struct session *s, const char *config, size_t len, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &s->f->opts.auth;
    SW_AUTO_CHARS *url = sw_printf("oci://%s", s->ref.host);
    SW_ERR(why);
    int rc = 0;
    if (auth->username && fetch_may_log_in(s->f, url, &why) == 0)
        rc = add_user(s, err);
    bool has_config = config || !auth->only_given;
    if (rc == 0 && has_config && fetch_may_send(s->f, url, config ? &why : NULL) == 0)
        rc = config ? sw_logins_add(s->logins, auth->docker_config, config, len, err)
                    : sw_logins_add_home(s->logins, err);
    if (why.code < 0)
        s->withheld = sw_strdup(sw_err_text(&why));
    return rc;
}

static int open_session(struct session *s, struct sw_err *err)
{
    enum { MAX_BYTES = 4 << 20 };
    const struct sw_fetch_auth *auth = &s->f->opts.auth;
    SW_AUTO_CHARS *config = NULL, *pem = NULL;
    size_t config_len = 0, pem_len;
    int64_t left_ms;
    int rc = fetch_time_left(s->f, &left_ms, err);
    if (rc == 0 && auth->docker_config)
        rc = sw_file_read(auth->docker_config, MAX_BYTES, &config, &config_len, err);
    if (rc == 0 && auth->ca_file)
        rc = sw_file_read(auth->ca_file, MAX_BYTES, &pem, &pem_len, err);
    if (rc < 0)
        return rc;
    s->loop = sw_loop_new(NULL);
    s->timer = sw_timer_new(s->loop, on_timeout, s);
    sw_timer_set(s->timer, left_ms);
    s->reg = sw_registry_new(s->loop, &(struct sw_registry_opts){ .retries = -1 });
    s->logins = sw_logins_new();
    if (auth->insecure) {
        struct sw_mirrors *mirrors = sw_mirrors_new();
        sw_mirrors_add_insecure(mirrors, s->ref.host);
        sw_registry_set_mirrors(s->reg, mirrors);
    }
    rc = add_logins(s, config, config_len, err);
    if (rc == 0 && pem)
        rc = sw_registry_set_cas(s->reg, pem, NULL, err);
    return rc;
}

/* ---- the reference -----------------------------------------------------------------------------
 */

/* As in Helm, the URL of a dependency is the folder, to which the chart's name is added. A URL that
 * ends in the chart's name is accepted too. */
static int parse(const struct sw_recipe_ask *ask, struct sw_image_ref *ref, struct sw_err *err)
{
    const char *text = ask->url + strlen("oci://");
    SW_AUTO_CHARS *shown = sw_url_shown(ask->url);
    if (!sw_streq(shown, ask->url))
        return sw_err_set(err, SW_INVALID,
                          "a registry's address holds neither a user nor a query: --username "
                          "(username) or a Secret");
    SW_AUTO_CHARS *bare = sw_strndup(text, sw_before_slashes(text, strlen(text), 0));
    if (!strchr(bare, '/') && !(ask->name && *ask->name))
        return sw_err_set(err, SW_INVALID, "no repository in it");
    SW_AUTO_CHARS *below = ask->name && *ask->name ? sw_printf("%s/%s", bare, ask->name) : NULL;
    if (!strchr(bare, '/'))
        return sw_image_ref_parse(below, ref, err);
    int rc = sw_image_ref_parse(bare, ref, err);
    if (rc < 0 || !below || ref->tag || ref->digest)
        return rc;
    const char *slash = strrchr(ref->repo, '/');
    if (sw_streq(slash ? slash + 1 : ref->repo, ask->name))
        return 0;
    sw_image_ref_done(ref);
    return sw_image_ref_parse(below, ref, err);
}

/* A tag cannot hold '+': Helm writes '_'. */
static char *swap(const char *text, char from, char to)
{
    char *copy = sw_strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == from)
            *c = to;
    return copy;
}

static int choose_tag(struct session *s, const char *want, char **version, struct sw_err *err)
{
    SW_AUTO_CHARS *image = sw_image_ref_text(&s->ref);
    struct sw_registry_ask ask = ask_for(s, image);
    int rc = wait_for(s, sw_registry_tags(s->reg, &ask, on_answer, s), err);
    if (rc < 0)
        return rc;
    size_t n = sw_json_len(s->doc);
    char **versions = sw_zalloc(n + 1, sizeof *versions);
    for (size_t i = 0; i < n; i++)
        versions[i] = swap(json_object_get_string(sw_json_at(s->doc, i)), '_', '+');
    int at = sw_version_choose((const char *const *)versions, n, want);
    if (at >= 0)
        *version = sw_strdup(versions[at]);
    else
        rc = sw_err_set(err, SW_NOTFOUND, "none of its %zu tags is of version '%s'", n,
                        sw_text_or(want, "*"));
    for (size_t i = 0; i < n; i++)
        free(versions[i]);
    free(versions);
    return rc;
}

/* ---- the contents ------------------------------------------------------------------------------
 */

/* The manifest of the chart: of an index the one of a chart's type, else the first. */
static int get_chart_manifest(struct session *s, struct sw_err *err)
{
    int rc = get_manifest(s, err);
    if (rc < 0 || !sw_json_get(s->doc, "manifests"))
        return rc;
    struct json_object *list = sw_json_get(s->doc, "manifests"),
                       *chosen = sw_json_find_by(list, "artifactType", CONFIG_TYPE);
    const char *digest = sw_json_str(chosen ? chosen : sw_json_at(list, 0), "", "digest", NULL);
    if (!sw_image_digest_is_valid(digest))
        return sw_err_set(err, SW_INVALID, "an index without a manifest");
    char *copy = sw_strdup(digest); /* the next answer replaces the document */
    free(s->ref.digest);
    s->ref.digest = copy;
    return get_manifest(s, err);
}

static int get_layer(struct session *s, const char *digest, struct sw_err *err)
{
    s->f->cached = sw_cache_get(s->f->cache, digest, &s->bytes, &s->len);
    if (s->f->cached)
        return 0;
    SW_AUTO_CHARS *image = sw_image_ref_text(&s->ref);
    struct sw_registry_ask ask = ask_for(s, image);
    int rc = wait_for(
        s, sw_registry_blob(s->reg, &ask, digest, s->f->opts.max_bytes, on_piece, on_answer, s),
        err);
    if (rc == 0)
        sw_cache_put(s->f->cache, digest, s->bytes, s->len);
    return rc;
}

/* @digest: of the layer with the signature; "": there is none. @*text: what is in it; the caller's.
 */
static int verify(struct session *s, const char *digest, const char *archive, size_t len,
                  char **text, struct sw_err *err)
{
    if (!*digest)
        return sw_err_set(err, SW_INVALID, "%s: it is not signed: no layer of that type",
                          fetch_asked_by(s->f));
    bool cached = s->f->cached;
    int rc = get_layer(s, digest, err);
    s->f->cached = cached;
    *text = SW_TAKE(s->bytes);
    SW_AUTO_CHARS *is = sw_digest_of(*text, s->len);
    if (rc == 0 && !sw_streq(is, digest))
        rc = sw_err_set(err, SW_INVALID, "its digest is %s, expected %s", is, digest);
    struct sw_provenance p = {
        .archive = archive, .archive_len = len, .text = *text, .text_len = s->len
    };
    if (rc == 0)
        rc = fetch_verify(s->f, &p, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", fetch_asked_by(s->f)) : 0;
}

static int get(struct session *s, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
               struct sw_err *err)
{
    SW_AUTO_CHARS *version = NULL;
    int rc = open_session(s, err);
    if (rc == 0 && !s->ref.tag && !s->ref.digest) {
        const char *want = ask->version, *dot = want ? strchr(want, '.') : NULL;
        struct sw_semver v;
        if (dot && strchr(dot + 1, '.') && sw_semver_parse(want, strlen(want), &v, NULL) == 0)
            version = sw_strdup(want); /* not a range */
        else
            rc = choose_tag(s, want, &version, err);
        s->ref.tag = rc == 0 ? swap(version, '+', '_') : NULL;
    }
    if (rc == 0)
        rc = get_chart_manifest(s, err);
    if (rc < 0)
        return rc;
    struct json_object *layers = sw_json_get(s->doc, "layers"), *found = NULL;
    for (size_t t = 0; t < SW_COUNT(layer_types) && !found; t++)
        found = sw_json_find_by(layers, "mediaType", layer_types[t]);
    if (!found && sw_streq(sw_json_str(s->doc, "", "artifactType", NULL), AICR_TYPE))
        found = sw_json_find_by(layers, "mediaType", AICR_LAYER);
    SW_AUTO_CHARS *layer = sw_strdup(sw_json_str(found, "", "digest", NULL));
    if (!*layer)
        return sw_err_set(err, SW_INVALID, "an image, not a chart: no layer of a chart's type");
    found = sw_json_find_by(layers, "mediaType", PROVENANCE_TYPE);
    SW_AUTO_CHARS *signature = sw_strdup(sw_json_str(found, "", "digest", NULL));
    SW_AUTO_CHARS *origin = sw_printf("oci://%s/%s%s%s@%s", s->ref.host, s->ref.repo,
                                      s->ref.tag ? ":" : "", s->ref.tag ? s->ref.tag : "",
                                      s->digest);
    rc = get_layer(s, layer, err);
    SW_AUTO_CHARS *bytes = SW_TAKE(s->bytes);
    SW_AUTO_CHARS *text = NULL;
    size_t len = s->len;
    if (rc == 0 && s->f->opts.verify)
        rc = verify(s, signature, bytes, len, &text, err);
    if (rc == 0)
        rc = fetch_take_archive(origin, layer, SW_TAKE(bytes), len, got, err);
    if (rc == 0) {
        got->version = SW_TAKE(version);
        got->provenance = SW_TAKE(text);
    }
    return rc;
}

int fetch_oci(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err)
{
    struct session s = { .f = f };
    int rc = parse(ask, &s.ref, err);
    if (rc == 0)
        rc = get(&s, ask, got, err);
    if (rc == SW_FORBIDDEN && s.withheld)
        rc = sw_err_set(err, rc, "%s (%s)", sw_err_text(err), s.withheld);
    sw_registry_free(s.reg);
    sw_timer_free(s.timer);
    sw_loop_free(s.loop);
    sw_logins_free(s.logins);
    sw_image_ref_done(&s.ref);
    sw_err_done(&s.err);
    json_object_put(s.doc);
    free(s.digest);
    free(s.bytes);
    free(s.withheld);
    SW_AUTO_CHARS *shown = sw_url_shown(ask->url);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", shown) : 0;
}
