/* The proxy subresource of pods and services: a request handed on to who listens there. Emulated
 * pods have no network; where somebody stands in for one, an annotation on the object says so:
 * emulator.slipway.dev/address[.PORT]: HOST:PORT.
 * Source: kube-apiserver's proxy subresource: /api/v1/namespaces/NS/pods/[SCHEME:]NAME[:PORT]/proxy
 * and any path and query behind it. Pinned by test/emulator/emulator/api_proxy_test.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/api/verbs.h"
#include "emulator/store/status.h"
#include "net/http/http.h"

#define ADDRESS "emulator.slipway.dev/address"

enum { MAX_ANSWER = 16 << 20, TIMEOUT_MS = 30000 };

struct sw_proxy {
    struct sw_req *req;
    struct sw_http *http;
    struct sw_http_transfer *transfer;
    struct sw_timer *wake;
    char *url, *type, *trouble;
    char *body;
    size_t len, cap;
    int http_status;
};

/* ---- whom ---------------------------------------------------------------------------------------
 */

/* "https:name:8080", "name:8080", "name"; the parts are the caller's, NULL where not said. */
static void split_name(const char *text, char **scheme, char **name, char **port)
{
    const char *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    const char *from = second ? first + 1 : text;
    const char *end = second ? second : first;
    *scheme = second ? sw_strndup(text, (size_t)(first - text)) : NULL;
    *name = end ? sw_strndup(from, (size_t)(end - from)) : sw_strdup(from);
    *port = end && end[1] ? sw_strdup(end + 1) : NULL;
}

/* The port that is meant where none is said: the first. */
static char *first_port(json_object *doc, bool pod)
{
    json_object *list = pod ? sw_json_find(
                                  sw_json_at(sw_json_find(doc, "spec", "containers", NULL), 0),
                                  "ports", NULL)
                            : sw_json_find(doc, "spec", "ports", NULL);
    json_object *port = sw_json_at(list, 0);
    int64_t number = sw_json_int(port, 80, pod ? "containerPort" : "port", NULL);
    return sw_printf("%lld", (long long)number);
}

static const char *address_of(json_object *doc, const char *port)
{
    SW_AUTO_CHARS *own = sw_printf("%s.%s", ADDRESS, port);
    const char *address = sw_obj_annotation(doc, own);
    return address ? address : sw_obj_annotation(doc, ADDRESS);
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

static void send_trouble(struct sw_req *req, const char *why)
{
    SW_STATUS(status);
    (void)sw_status_set(&status, 503, "ServiceUnavailable", "error trying to reach service: %s",
                        why);
    sw_rest_send_status(req, &status);
}

/* In a turn of its own: the request, and this with it, is gone after it. */
static void on_wake(void *arg)
{
    struct sw_proxy *p = arg;
    SW_AUTO_CHARS *body = SW_TAKE(p->body);
    SW_AUTO_CHARS *type = SW_TAKE(p->type);
    SW_AUTO_CHARS *trouble = SW_TAKE(p->trouble);
    if (trouble)
        send_trouble(p->req, trouble);
    else
        sw_rest_send(p->req, p->http_status, type ? type : "text/plain", body ? body : "", p->len);
}

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_proxy *p = arg;
    (void)http_status;
    (void)err;
    while (p->len + len + 1 > p->cap) {
        p->cap = p->cap ? p->cap * 2 : 4096;
        p->body = sw_realloc(p->body, p->cap, 1);
    }
    memcpy(p->body + p->len, bytes, len);
    p->len += len;
    return 0;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct sw_proxy *p = arg;
    if (strcasecmp(name, "content-type") != 0)
        return;
    free(p->type);
    p->type = sw_strdup(value);
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct sw_proxy *p = arg;
    p->transfer = NULL;
    p->http_status = result->http_status;
    if (result->code < 0)
        p->trouble = sw_strdup(sw_err_text(result->err));
    sw_timer_set(p->wake, 0);
}

/* ---- handing on ---------------------------------------------------------------------------------
 */

static void hand_on(struct sw_req *req, const char *scheme, const char *address)
{
    struct sw_proxy *p = req->proxy = sw_zalloc(1, sizeof *p);
    const char *query = req->query, *headers[3];
    SW_AUTO_CHARS *accept = req->accept ? sw_printf("accept: %s", req->accept) : NULL;
    SW_AUTO_CHARS *type = req->content_type ? sw_printf("content-type: %s", req->content_type)
                                            : NULL;
    size_t n = 0;
    if (accept)
        headers[n++] = accept;
    if (type)
        headers[n++] = type;
    headers[n] = NULL;
    p->req = req;
    p->wake = sw_timer_new(sw_store_loop(req->store), on_wake, p);
    p->url = sw_printf("%s://%s/%s%s%s", scheme ? scheme : "http", address,
                       req->behind ? req->behind : "", *query ? "?" : "", query);
    p->http = sw_http_new(sw_store_loop(req->store),
                          &(struct sw_http_opts){ .user_agent = "kube-apiserver", .direct = true });
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
    sw_timer_free(p->wake);
    free(p->url);
    free(p->type);
    free(p->trouble);
    free(p->body);
    free(p);
}

/* What a real API server is told by the network of a pod that nobody stands in for. */
static void refuse(struct sw_req *req, json_object *doc, const char *port)
{
    const char *ip = sw_json_str(doc, "", "status", "podIP", NULL);
    if (!*ip)
        ip = sw_json_str(doc, "", "spec", "clusterIP", NULL);
    SW_AUTO_CHARS *why = sw_printf("dial tcp %s:%s: connect: connection refused", ip, port);
    send_trouble(req, why);
}

void sw_rest_proxy(struct sw_req *req)
{
    char *scheme, *name, *port;
    SW_STATUS(status);
    split_name(req->name, &scheme, &name, &port);
    struct sw_object *object = sw_store_object(req->store, req->kind, req->ns, name);
    if (!object) {
        (void)sw_status_not_found(&status, req->kind, name);
        sw_rest_send_status(req, &status);
    } else if (scheme && *scheme && !sw_streq(scheme, "http") && !sw_streq(scheme, "https")) {
        (void)sw_status_bad_request(&status, "invalid %s request \"%s\"", req->resource, req->name);
        sw_rest_send_status(req, &status);
    } else {
        json_object *doc = object->now->doc;
        if (!port)
            port = first_port(doc, sw_streq(req->resource, "pods"));
        const char *address = address_of(doc, port);
        if (address)
            hand_on(req, scheme && *scheme ? scheme : NULL, address);
        else
            refuse(req, doc, port);
    }
    free(scheme);
    free(name);
    free(port);
}
