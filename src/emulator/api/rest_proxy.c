/* The proxy subresource of pods and services: forwards a request. Emulated pods have no network;
 * an annotation of the object gives the address of a real server instead:
 * emulator.slipway.dev/address[.PORT]: HOST:PORT.
 * Source: kube-apiserver's proxy subresource: /api/v1/namespaces/NS/pods/[SCHEME:]NAME[:PORT]/proxy
 * with any path and query after it. Pinned by test/emulator/emulator/api_proxy_test.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "data/text/buffer.h"
#include "emulator/api/verbs.h"
#include "net/http/http.h"

#define ADDRESS "emulator.slipway.dev/address"

enum { MAX_ANSWER = 16 << 20, TIMEOUT_MS = 30000 };

struct sw_proxy {
    struct sw_req *req;
    struct sw_http *http;
    struct sw_http_tls *tls; /* NULL: by HTTP */
    struct sw_http_transfer *transfer;
    struct sw_timer *wake;
    char *url, *type;
    char *error; /* the message; NULL: there is an answer */
    struct sw_buffer body;
    int http_status;
};

/* ---- the address --------------------------------------------------------------------------------
 */

/* "https:name:8080", "name:8080", "name"; the parts are the caller's, NULL where missing. */
static void split_name(const char *text, char **scheme, char **name, char **port)
{
    const char *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    const char *from = second ? first + 1 : text;
    const char *end = second ? second : first;
    *scheme = second ? sw_strndup(text, (size_t)(first - text)) : NULL;
    *name = end ? sw_strndup(from, (size_t)(end - from)) : sw_strdup(from);
    *port = end && end[1] ? sw_strdup(end + 1) : NULL;
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

static void send_unreachable(struct sw_req *req, const char *why)
{
    sw_rest_send_error(req, 503, "ServiceUnavailable", "error trying to reach service: %s", why);
}

/* Answer the request, which frees it and @arg with it; so it is not done in on_done(). */
static void on_wake(void *arg)
{
    struct sw_proxy *p = arg;
    size_t len;
    SW_AUTO_CHARS *body = sw_buffer_take(&p->body, &len);
    SW_AUTO_CHARS *type = SW_TAKE(p->type);
    SW_AUTO_CHARS *error = SW_TAKE(p->error);
    if (error)
        send_unreachable(p->req, error);
    else
        sw_rest_send(p->req, p->http_status, type ? type : "text/plain", body, len);
}

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_proxy *p = arg;
    (void)http_status;
    (void)err;
    sw_buffer_put(&p->body, bytes, len);
    return 0;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct sw_proxy *p = arg;
    if (strcasecmp(name, "content-type") != 0)
        return;
    sw_text_set(&p->type, value);
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct sw_proxy *p = arg;
    p->transfer = NULL;
    p->http_status = result->http_status;
    if (result->code < 0)
        p->error = sw_strdup(sw_err_text(result->err));
    sw_timer_set(p->wake, 0);
}

/* ---- the request --------------------------------------------------------------------------------
 */

static void forward(struct sw_req *req, const char *scheme, const char *address)
{
    struct sw_proxy *p = req->proxy = sw_zalloc(1, sizeof *p);
    const char *query = req->query, *headers[4];
    SW_AUTO_CHARS *accept = req->accept ? sw_printf("accept: %s", req->accept) : NULL;
    SW_AUTO_CHARS *type = req->content_type ? sw_printf("content-type: %s", req->content_type)
                                            : NULL;
    SW_AUTO_CHARS *token = req->proxied ? sw_printf("X-Slipway-Authorization: %s", req->proxied)
                                        : NULL;
    size_t n = 0;
    if (token)
        headers[n++] = token;
    if (accept)
        headers[n++] = accept;
    if (type)
        headers[n++] = type;
    headers[n] = NULL;
    p->req = req;
    p->wake = sw_timer_new(sw_store_loop(req->store), on_wake, p);
    p->url = sw_printf("%s://%s/%s%s%s", scheme && *scheme ? scheme : "http", address,
                       req->proxy_path, *query ? "?" : "", query);
    /* as kube-apiserver does it: who sends a pod's certificate is not verified */
    if (sw_streq(scheme, "https") &&
        sw_http_tls_new(&(struct sw_http_tls_opts){ .insecure = true }, &p->tls, NULL) < 0)
        p->tls = NULL;
    p->http = sw_http_new(
        sw_store_loop(req->store),
        &(struct sw_http_opts){ .user_agent = "kube-apiserver", .direct = true, .tls = p->tls });
    p->transfer = sw_http_start(p->http,
                                &(struct sw_http_spec){ .method = req->method,
                                                        .url = p->url,
                                                        .headers = headers,
                                                        .body = req->body_len ? req->body : NULL,
                                                        .body_len = req->body_len,
                                                        .timeout_ms = TIMEOUT_MS,
                                                        .max_bytes = MAX_ANSWER,
                                                        .on_data = on_data,
                                                        .on_header = on_header,
                                                        .on_done = on_done,
                                                        .arg = p });
}

void sw_rest_proxy_done(struct sw_req *req)
{
    struct sw_proxy *p = SW_TAKE(req->proxy);
    if (!p)
        return;
    sw_http_cancel(p->transfer);
    sw_http_free(p->http);
    sw_http_tls_free(p->tls);
    sw_timer_free(p->wake);
    free(p->url);
    free(p->type);
    free(p->error);
    free(p->body.text);
    free(p);
}

void sw_rest_proxy(struct sw_req *req)
{
    SW_AUTO_CHARS *scheme = NULL, *name = NULL, *port = NULL;
    split_name(req->name, &scheme, &name, &port);
    struct sw_object *object = sw_rest_find(req, name);
    if (!object)
        return;
    if (scheme && *scheme && !sw_streq(scheme, "http") && !sw_streq(scheme, "https")) {
        sw_rest_send_error(req, 400, "BadRequest", "invalid %s request \"%s\"", req->resource,
                           req->name);
        return;
    }
    json_object *doc = object->now->doc;
    if (!port) { /* the first of the object */
        bool pod = strcmp(req->resource, "pods") == 0;
        json_object *spec = sw_json_get(doc, "spec");
        json_object *owner = pod ? sw_json_at(sw_json_get(spec, "containers"), 0) : spec;
        port = sw_printf("%lld", (long long)sw_json_int(sw_json_at(sw_json_get(owner, "ports"), 0),
                                                        80, pod ? "containerPort" : "port", NULL));
    }
    SW_AUTO_CHARS *of_port = sw_printf("%s.%s", ADDRESS, port);
    const char *address = sw_obj_annotation(doc, of_port);
    if (!address)
        address = sw_obj_annotation(doc, ADDRESS);
    if (address) {
        forward(req, scheme, address);
        return;
    }
    const char *ip = sw_json_str(doc, "", "status", "podIP", NULL);
    if (!*ip)
        ip = sw_json_str(doc, "", "spec", "clusterIP", NULL);
    SW_AUTO_CHARS *why = sw_printf("dial tcp %s:%s: connect: connection refused", ip, port);
    send_unreachable(req, why);
}
