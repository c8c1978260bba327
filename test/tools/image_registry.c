/* image_registry: a read-only container registry on loopback that knows one image and gives it
 * under every name and tag, so that a real node can pull what recipes name. hack/cluster.sh starts
 * it. image_registry PORT DIR    DIR holds manifest.json, and config.json and layer.tar as it says
 */
#include "base/base.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOB = 64 << 20 };

struct blob {
    char *bytes;
    size_t len;
    char digest[80]; /* "sha256:..." */
};

static const char *const files[] = { "manifest.json", "config.json", "layer.tar" };
static struct blob blobs[SW_COUNT(files)];

static void digest(struct blob *b)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    (void)EVP_Digest(b->bytes, b->len, hash, &len, EVP_sha256(), NULL);
    (void)snprintf(b->digest, sizeof b->digest, "sha256:");
    for (unsigned i = 0; i < len; i++)
        (void)snprintf(b->digest + 7 + 2 * (size_t)i, 3, "%02x", hash[i]);
}

static void answer(struct evhttp_request *req, const struct blob *b, const char *type)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
    SW_AUTO_CHARS *length = sw_printf("%zu", b->len);
    (void)evhttp_add_header(headers, "Content-Type", type);
    (void)evhttp_add_header(headers, "Docker-Content-Digest", b->digest);
    if (evhttp_request_get_command(req) == EVHTTP_REQ_HEAD)
        (void)evhttp_add_header(headers, "Content-Length", length);
    else
        (void)evbuffer_add(evhttp_request_get_output_buffer(req), b->bytes, b->len);
    evhttp_send_reply(req, 200, "OK", NULL);
}

static void on_request(struct evhttp_request *req, void *arg SW_UNUSED)
{
    static const struct blob nothing = { .bytes = "{}", .len = 2 };
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    const char *blob = path ? strstr(path, "/blobs/") : NULL;
    if (path && strstr(path, "/manifests/")) {
        answer(req, &blobs[0], "application/vnd.docker.distribution.manifest.v2+json");
        return;
    }
    for (size_t i = 1; blob && i < SW_COUNT(blobs); i++) {
        if (sw_streq(blob + strlen("/blobs/"), blobs[i].digest)) {
            answer(req, &blobs[i], "application/octet-stream");
            return;
        }
    }
    if (sw_streq(path, "/v2/"))
        answer(req, &nothing, "application/json");
    else
        evhttp_send_error(req, 404, "not found");
}

static void on_signal(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *base)
{
    (void)event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    SW_ERR(err);
    if (argc != 3) {
        (void)fprintf(stderr, "usage: image_registry PORT DIR\n");
        return 2;
    }
    for (size_t i = 0; i < SW_COUNT(files); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", argv[2], files[i]);
        if (sw_file_read(path, MAX_BLOB, &blobs[i].bytes, &blobs[i].len, &err) < 0) {
            (void)fprintf(stderr, "image_registry: %s\n", sw_err_text(&err));
            return 1;
        }
        digest(&blobs[i]);
    }
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    struct event *term = evsignal_new(base, SIGTERM, on_signal, base);
    (void)evsignal_add(term, NULL);
    evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_gencb(http, on_request, NULL);
    if (evhttp_bind_socket(http, "127.0.0.1", (uint16_t)strtoul(argv[1], NULL, 10)) < 0) {
        (void)fprintf(stderr, "image_registry: cannot listen on port %s\n", argv[1]);
        return 1;
    }
    (void)event_base_dispatch(base);
    event_free(term);
    evhttp_free(http);
    event_base_free(base);
    for (size_t i = 0; i < SW_COUNT(files); i++)
        free(blobs[i].bytes);
    return 0;
}
