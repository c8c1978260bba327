#pragma once
/* registry_server: a small image registry on loopback, on the scripted HTTP server of the other
 * tests: manifests, indexes and blobs of images that a test makes out of a few files, a token
 * server, passwords, redirects, failures. */
#include "unit/kube/kube_server.h"

#include <archive.h>
#include <archive_entry.h>
#include <json-c/json.h>

#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"

#define OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_LIST "application/vnd.docker.distribution.manifest.list.v2+json"

/** One manifest or blob; a manifest is stored by digest and by tag. */
struct stored {
    struct stored *next;
    char *path; /* "/v2/a/b/manifests/tag" */
    char *media_type, *bytes, *digest;
    size_t len;
};

struct registry {
    struct server srv;
    struct stored *stored;
    const char *user, *password; /* NULL: anybody */
    bool bearer;                 /* by tokens of /token; else Basic */
    bool no_heads;               /* HEAD has no Docker-Content-Digest and no Content-Type */
    bool redirect_blobs;         /* to /elsewhere, which wants no login */
    const char *blobs_host;      /* redirect to the same path there; NULL: not */
    int n_with_login;            /* requests that had an Authorization */
    int fail_status, n_failures; /* answer so the next so many times */
    int token_status;            /* 0: 200 */
    int n_tokens;                /* given out */
    bool corrupt;                /* one byte of each body is another */
    char *realm_host;            /* NULL: this server */
};

static SW_UNUSED char *registry_host(const struct registry *r)
{
    return sw_printf("127.0.0.1:%d", r->srv.port);
}

/* ---- contents -----------------------------------------------------------------------------------
 */

static SW_UNUSED char *digest_of(const char *bytes, size_t len)
{
    char hex[SW_SHA256_HEX];
    return sw_printf("sha256:%s", sw_sha256_hex(bytes, len, hex));
}

static void store(struct registry *r, const char *path, const char *media_type, const char *bytes,
                  size_t len)
{
    struct stored *s = sw_zalloc(1, sizeof *s);
    *s = (struct stored){ .next = r->stored,
                          .path = sw_strdup(path),
                          .media_type = sw_strdup(media_type),
                          .bytes = sw_alloc(len + 1),
                          .digest = digest_of(bytes, len),
                          .len = len };
    memcpy(s->bytes, bytes, len);
    s->bytes[len] = '\0';
    r->stored = s;
}

/** @return the digest, the caller's */
static SW_UNUSED char *put_blob(struct registry *r, const char *repo, const char *bytes, size_t len)
{
    char *digest = digest_of(bytes, len);
    SW_AUTO_CHARS *path = sw_printf("/v2/%s/blobs/%s", repo, digest);
    store(r, path, "application/octet-stream", bytes, len);
    return digest;
}

static SW_UNUSED char *put_manifest(struct registry *r, const char *repo, const char *tag,
                                    const char *media_type, const char *text)
{
    char *digest = digest_of(text, strlen(text));
    SW_AUTO_CHARS *path = sw_printf("/v2/%s/manifests/%s", repo, digest);
    store(r, path, media_type, text, strlen(text));
    if (tag) {
        SW_AUTO_CHARS *by_tag = sw_printf("/v2/%s/manifests/%s", repo, tag);
        store(r, by_tag, media_type, text, strlen(text));
    }
    return digest;
}

/** A layer: a gzipped tar of files, given as {"name": "text"}. The caller's. */
static SW_UNUSED char *make_layer(struct json_object *files, size_t *len)
{
    size_t cap = 1 << 20;
    json_object_object_foreach(files, k, v)
    {
        (void)k;
        cap += (size_t)json_object_get_string_len(v) + 4096;
    }
    char *out = sw_alloc(cap);
    struct archive *a = archive_write_new();
    (void)archive_write_set_format_ustar(a);
    (void)archive_write_add_filter_gzip(a);
    (void)archive_write_open_memory(a, out, cap, len);
    json_object_object_foreach(files, name, text)
    {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, name);
        archive_entry_set_size(e, json_object_get_string_len(text));
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        (void)archive_write_header(a, e);
        (void)archive_write_data(a, json_object_get_string(text),
                                 (size_t)json_object_get_string_len(text));
        archive_entry_free(e);
    }
    (void)archive_write_close(a);
    (void)archive_write_free(a);
    return out;
}

/** An image of layers, each a map of files. @return the manifest's digest, the caller's */
static SW_UNUSED char *put_image(struct registry *r, const char *repo, const char *tag,
                                 const char *media_type, struct json_object *layers)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_AUTO_CHARS *config = put_blob(r, repo, "{}", 2);
    sw_json_set(doc, json_object_new_int(2), "schemaVersion", NULL);
    sw_json_set_str(doc, media_type, "mediaType", NULL);
    sw_json_set_str(doc, config, "config", "digest", NULL);
    struct json_object *list = sw_json_need_list(doc, "layers", NULL);
    for (size_t i = 0; i < sw_json_len(layers); i++) {
        size_t len;
        SW_AUTO_CHARS *bytes = make_layer(sw_json_at(layers, i), &len);
        SW_AUTO_CHARS *digest = put_blob(r, repo, bytes, len);
        struct json_object *layer = json_object_new_object();
        sw_json_set_str(layer, "application/vnd.oci.image.layer.v1.tar+gzip", "mediaType", NULL);
        sw_json_set_str(layer, digest, "digest", NULL);
        sw_json_set(layer, json_object_new_int64((int64_t)len), "size", NULL);
        (void)json_object_array_add(list, layer);
    }
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    return put_manifest(r, repo, tag, media_type, text);
}

/** The same of JSON text. */
static SW_UNUSED char *put_image_text(struct registry *r, const char *repo, const char *tag,
                                      const char *layers)
{
    SW_AUTO_JSON *doc = json_tokener_parse(layers);
    return put_image(r, repo, tag, OCI_MANIFEST, doc);
}

/** An index of images by platform: pairs "linux/amd64", digest, ended by NULL. */
static SW_UNUSED char *put_index(struct registry *r, const char *repo, const char *tag,
                                 const char *media_type, const char *const *pairs)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int(2), "schemaVersion", NULL);
    sw_json_set_str(doc, media_type, "mediaType", NULL);
    struct json_object *list = sw_json_need_list(doc, "manifests", NULL);
    for (; *pairs; pairs += 2) {
        struct json_object *m = json_object_new_object();
        size_t os = strcspn(pairs[0], "/");
        const char *arch = pairs[0] + os + 1;
        size_t arch_len = strcspn(arch, "/");
        SW_AUTO_CHARS *os_text = sw_strndup(pairs[0], os);
        SW_AUTO_CHARS *arch_text = sw_strndup(arch, arch_len);
        sw_json_set_str(m, OCI_MANIFEST, "mediaType", NULL);
        sw_json_set_str(m, pairs[1], "digest", NULL);
        sw_json_set_str(m, os_text, "platform", "os", NULL);
        sw_json_set_str(m, arch_text, "platform", "architecture", NULL);
        if (arch[arch_len])
            sw_json_set_str(m, arch + arch_len + 1, "platform", "variant", NULL);
        (void)json_object_array_add(list, m);
    }
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    return put_manifest(r, repo, tag, media_type, text);
}

/* ---- answers ------------------------------------------------------------------------------------
 */

static bool is_logged_in(struct registry *r, struct sreq *req)
{
    SW_AUTO_CHARS *said = sreq_header(req, "Authorization");
    SW_AUTO_CHARS *pair = sw_printf("%s:%s", r->user ? r->user : "",
                                    r->password ? r->password : "");
    size_t len;
    SW_AUTO_CHARS *coded = sw_base64_encode(pair, strlen(pair), &len);
    SW_AUTO_CHARS *want = sw_printf("Basic %s", coded);
    return said && sw_streq(said, want);
}

static void give_token(struct registry *r, struct sreq *req)
{
    bool refresh = sw_streq(req->method, "POST") && strstr(req->body, "refresh_token=refresher");
    if (r->token_status) {
        reply(req, r->token_status, "{}");
    } else if (r->user && !refresh && !is_logged_in(r, req)) {
        reply(req, 401, "{\"errors\":[{\"code\":\"UNAUTHORIZED\"}]}");
    } else {
        SW_AUTO_CHARS *body = sw_printf("{\"token\":\"tok-%d\",\"expires_in\":300}", ++r->n_tokens);
        reply(req, 200, body);
    }
}

static void want_login(struct registry *r, struct sreq *req)
{
    const char *scheme = r->srv.tls ? "https" : "http";
    SW_AUTO_CHARS *here = registry_host(r);
    SW_AUTO_CHARS *header =
        r->bearer ? sw_printf("WWW-Authenticate: Bearer realm=\"%s://%s/token\",service=\"reg, "
                              "ours\",scope=\"repository:x:pull\"\r\n",
                              scheme, r->realm_host ? r->realm_host : here)
                  : sw_strdup("WWW-Authenticate: Basic realm=\"ours\"\r\n");
    reply_with(req, 401, header,
               "{\"errors\":[{\"code\":\"UNAUTHORIZED\",\"message\":\"log in\"}]}");
}

static bool may_read(struct registry *r, struct sreq *req)
{
    SW_AUTO_CHARS *said = sreq_header(req, "Authorization");
    if (r->bearer)
        return said && sw_starts_with(said, "Bearer tok-");
    return !r->user || is_logged_in(r, req);
}

static void send_stored(struct registry *r, struct sreq *req, const struct stored *s)
{
    bool head = sw_streq(req->method, "HEAD"), bare = head && r->no_heads;
    SW_AUTO_CHARS *kind = bare ? sw_strdup("") : sw_printf("Content-Type: %s\r\n", s->media_type);
    SW_AUTO_CHARS *digest = bare ? sw_strdup("")
                                 : sw_printf("Docker-Content-Digest: %s\r\n", s->digest);
    SW_AUTO_CHARS *text = sw_printf("HTTP/1.1 200 OK\r\n%s%sContent-Length: %zu\r\n\r\n", kind,
                                    digest, s->len);
    send_text(req->conn, text);
    if (head)
        return;
    SW_AUTO_CHARS *body = sw_alloc(s->len + 1);
    memcpy(body, s->bytes, s->len);
    if (r->corrupt && s->len)
        body[s->len / 2] ^= 1;
    (void)bufferevent_write(req->conn->bev, body, s->len);
}

static void send_tags(struct registry *r, struct sreq *req, const char *repo, size_t repo_len)
{
    SW_AUTO_CHARS *prefix = sw_printf("/v2/%.*s/manifests/", (int)repo_len, repo);
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *tags = sw_json_need_list(doc, "tags", NULL);
    bool second = strstr(req->path, "last=");
    size_t n = 0;
    for (struct stored *s = r->stored; s; s = s->next)
        if (sw_starts_with(s->path, prefix) && !strchr(s->path + strlen(prefix), ':') &&
            (n++ == 0) != second)
            (void)json_object_array_add(tags, json_object_new_string(s->path + strlen(prefix)));
    SW_AUTO_CHARS *next = sw_printf("Link: </v2/%.*s/tags/list?last=x>; rel=\"next\"\r\n",
                                    (int)repo_len, repo);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    reply_with(req, 200, second || n < 2 ? NULL : next, text);
}

static const struct stored *find_stored(const struct registry *r, const char *path)
{
    for (const struct stored *s = r->stored; s; s = s->next)
        if (sw_streq(s->path, path))
            return s;
    return NULL;
}

static void registry_on_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct registry *r = arg;
    bool elsewhere = sw_starts_with(req->path, "/elsewhere");
    const struct stored *s = find_stored(r, elsewhere ? req->path + 10 : req->path);
    const char *tags = strstr(req->path, "/tags/list");
    SW_AUTO_CHARS *login = sreq_header(req, "Authorization");
    r->n_with_login += login != NULL;
    if (sw_starts_with(req->path, "/token")) {
        give_token(r, req);
    } else if (r->n_failures > 0) {
        r->n_failures--;
        reply(req, r->fail_status, "{\"errors\":[{\"code\":\"TOOMANY\",\"message\":\"wait\"}]}");
    } else if (!elsewhere && !may_read(r, req)) {
        want_login(r, req);
    } else if (tags) {
        send_tags(r, req, req->path + 4, (size_t)(tags - req->path - 4));
    } else if (s && r->redirect_blobs && !elsewhere && strstr(s->path, "/blobs/")) {
        SW_AUTO_CHARS *to = sw_printf("Location: /elsewhere%s\r\n", s->path);
        reply_with(req, 307, to, "");
    } else if (s && r->blobs_host && strstr(s->path, "/blobs/")) {
        SW_AUTO_CHARS *to = sw_printf("Location: http://%s%s\r\n", r->blobs_host, s->path);
        reply_with(req, 307, to, "");
    } else if (s) {
        send_stored(r, req, s);
    } else if (sw_streq(req->path, "/v2/")) { /* other clients ask this first */
        reply(req, 200, "{}");
    } else {
        reply(req, 404,
              sw_streq(req->method, "HEAD")
                  ? ""
                  : "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\",\"message\":\"manifest "
                    "unknown\"}]}");
    }
}

static SW_UNUSED void registry_start(struct registry *r, struct sw_loop *loop)
{
    r->srv.on_request = registry_on_request;
    r->srv.arg = r;
    server_start(&r->srv, loop);
}

static SW_UNUSED void registry_stop(struct registry *r)
{
    server_stop(&r->srv);
    for (struct stored *s = r->stored, *next; s; s = next) {
        next = s->next;
        free(s->path);
        free(s->media_type);
        free(s->bytes);
        free(s->digest);
        free(s);
    }
    r->stored = NULL;
}
