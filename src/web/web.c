#include "web/web.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "kube/metrics/access.h"
#include "net/serve/serve.h"
#include "web/request.h"
#include "web/snapshot.h"
#include "web/viewer.h"

enum {
    TOKEN_BYTES = 24,
    MAX_STREAMS = 32,
    MAX_BACKLOG = 64 << 20, /* of a stream whose reader is too slow: it begins anew */
    MAX_CONNS = 128,
    BEAT_MS = 20 * 1000, /* a comment in each stream: whether the other side is there */
    LOG_LINES = 40,
    LOG_BYTES = 64 << 10,
    LOG_MS = 10 * 1000,
    MAX_LOGS = 16, /* at a time */
};

/* Nothing from elsewhere, nothing inline, no frame: a name that is markup cannot become any. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
#define HEADERS                                                                                    \
    "Content-Security-Policy: " POLICY "\r\n"                                                      \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                  \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                \
    "Cache-Control: no-store\r\n"

/* A stream of changes. */
struct stream {
    struct sw_web *web;
    struct sw_serve_reply *reply;
    struct web_viewer *viewer; /* held; NULL: who sees all */
    bool told;                 /* it has had everything, and gets changes */
    struct stream *next;
};

/* A log that is being read. */
struct log {
    struct sw_web *web;
    struct sw_serve_reply *reply;
    struct sw_kube_request *request;
    struct log *next;
};

struct sw_web {
    struct sw_web_opts opts;
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct web_snapshot *snapshot;
    struct sw_serve *serve;
    char token[2 * TOKEN_BYTES + 1];
    char *url;
    struct stream *streams;
    size_t n_streams, n_logs;
    struct log *logs;
    struct sw_timer *beat, *rest;
    struct sw_access *access; /* NULL: who has the token is let in, and sees all */
    struct web_viewers *viewers;
    struct question *questions; /* that wait for what their viewer may */
    char *cert, *key;
};

/* A question that waits for whether who asks is let in, and then for what he may. */
struct question {
    struct sw_web *web;
    enum { ASKS_EVENTS, ASKS_SNAPSHOT, ASKS_LOG } what;
    char *ns, *pod, *container; /* of a log */
    bool previous;
    struct web_viewer *viewer; /* held; NULL: who sees all */
    struct sw_serve_reply *reply;
    struct question *next;
};

/* ---- streams -----------------------------------------------------------------------------------
 */

static void on_stream_closed(void *arg)
{
    struct stream *stream = arg;
    struct sw_web *web = stream->web;
    struct stream **at = &web->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    web->n_streams--;
    web_viewer_release(stream->viewer);
    if (web->access && !web->n_streams)
        sw_timer_set(web->rest, 0);
    free(stream);
}

/* Nobody looks: nothing is watched. */
static void on_rest(void *arg)
{
    struct sw_web *web = arg;
    if (web->n_streams)
        return;
    web_snapshot_free(web->snapshot);
    web->snapshot = NULL;
}

/* The stream may end with it. */
static void send_to(struct stream *stream, const char *text, size_t len)
{
    if (sw_serve_backlog(stream->reply) > MAX_BACKLOG)
        sw_serve_abort(stream->reply, true);
    else if (len)
        sw_serve_write(stream->reply, text, len);
}

static const char *see(const char *kind, const char *key, const char *text, char **own, void *arg)
{
    return web_viewer_see(arg, kind, key, text, own);
}

enum telling { CHANGES, EVERYTHING, DOCUMENT };

/* What @viewer (NULL: who sees all) is to be told: what has changed, or everything, as messages or
 * as a document. Heap. */
static char *text_for(struct sw_web *web, struct web_viewer *viewer, enum telling which,
                      size_t *len)
{
    struct sw_buffer out = { 0 };
    SW_AUTO_JSON *hidden = viewer ? web_viewer_hidden(viewer) : NULL;
    const struct web_filter filter = { see, viewer, hidden }, *by = viewer ? &filter : NULL;
    if (which == CHANGES)
        web_snapshot_put_changes(web->snapshot, by, &out);
    else if (which == EVERYTHING)
        web_snapshot_put(web->snapshot, web->opts.version, by, &out);
    else
        web_snapshot_document(web->snapshot, web->opts.version, by, &out);
    return sw_buffer_take(&out, len);
}

static void on_change(void *arg)
{
    struct sw_web *web = arg;
    size_t len_all = 0;
    SW_AUTO_CHARS *all = web->access ? NULL : text_for(web, NULL, CHANGES, &len_all);
    for (struct stream *at = web->streams, *next; at; at = next) {
        size_t len = len_all;
        next = at->next;
        if (!at->told)
            continue;
        SW_AUTO_CHARS *own = all ? NULL : text_for(web, at->viewer, CHANGES, &len);
        send_to(at, all ? all : own, len);
    }
}

/* A viewer gets his first text when it is known what he may. */
static void tell_everything(struct stream *stream)
{
    size_t len;
    SW_AUTO_CHARS *text = text_for(stream->web, stream->viewer, EVERYTHING, &len);
    if (!stream->told && stream->viewer && !web_viewer_is_settled(stream->viewer))
        return;
    stream->told = true;
    send_to(stream, text, len);
}

static void on_beat(void *arg)
{
    struct sw_web *web = arg;
    for (struct stream *at = web->streams, *next; at; at = next) {
        next = at->next;
        send_to(at, ":\n\n", 3);
    }
    if (web->viewers)
        web_viewers_refresh(web->viewers);
    if (web->streams)
        sw_timer_set(web->beat, BEAT_MS);
}

/* @viewer is the stream's, or released. */
static void open_stream(struct sw_web *web, struct sw_serve_reply *reply, struct web_viewer *viewer)
{
    if (web->n_streams >= MAX_STREAMS) {
        sw_serve_answer_with(reply, 503, "text/plain", HEADERS, "too many pages are open\n", 24);
        web_viewer_release(viewer);
        return;
    }
    struct stream *stream = sw_zalloc(1, sizeof *stream);
    if (!web->snapshot)
        web->snapshot = web_snapshot_new(web->loop, web->kube, on_change, web);
    stream->web = web;
    stream->reply = reply;
    stream->viewer = viewer;
    stream->next = web->streams;
    web->streams = stream;
    web->n_streams++;
    sw_serve_on_close(reply, on_stream_closed, stream);
    web_snapshot_try_again(web->snapshot);
    sw_serve_begin(reply, 200, "text/event-stream", HEADERS);
    tell_everything(stream);
    if (!sw_timer_is_set(web->beat))
        sw_timer_set(web->beat, BEAT_MS);
}

/* ---- logs --------------------------------------------------------------------------------------
 */

static void log_done(struct log *log)
{
    struct log **at = &log->web->logs;
    while (*at != log)
        at = &(*at)->next;
    *at = log->next;
    log->web->n_logs--;
    free(log);
}

static void answer_log(struct sw_serve_reply *reply, const char *text, size_t len)
{
    sw_serve_answer_with(reply, 200, "text/plain; charset=utf-8", HEADERS, text, len);
}

/* That it cannot be read (yet) is said in its place. */
static void on_log(const struct sw_kube_answer *answer, void *arg)
{
    struct log *log = arg;
    SW_AUTO_CHARS *why = answer->code < 0 ? sw_printf("(%s)", sw_err_text(answer->err)) : NULL;
    answer_log(log->reply, why ? why : answer->text, why ? strlen(why) : answer->len_bytes);
    log_done(log);
}

/* The end of the log of a pod that is shown, and of no other. */
static void read_log(const struct question *q, struct sw_serve_reply *reply)
{
    struct sw_web *web = q->web;
    if (!q->ns || !q->pod || !q->container || !web->snapshot ||
        !web_snapshot_has_pod(web->snapshot, q->ns, q->pod)) {
        answer_log(reply, "", 0); /* it may just have become ready */
        return;
    }
    if (q->viewer && web_viewer_may(q->viewer, WEB_GET_LOGS, q->ns) != WEB_YES) {
        SW_AUTO_CHARS *why = web_right_text(WEB_GET_LOGS, q->ns);
        answer_log(reply, why, strlen(why));
        return;
    }
    if (web->n_logs >= MAX_LOGS) {
        sw_serve_answer_with(reply, 503, "text/plain", HEADERS, "too many logs at a time\n", 24);
        return;
    }
    struct log *log = sw_zalloc(1, sizeof *log);
    log->web = web;
    log->reply = reply;
    log->next = web->logs;
    web->logs = log;
    web->n_logs++;
    log->request = sw_kube_logs(web->kube, q->ns, q->pod,
                                &(struct sw_request_opts){ .container = q->container,
                                                           .tail_lines = LOG_LINES,
                                                           .limit_bytes = LOG_BYTES,
                                                           .timeout_ms = LOG_MS,
                                                           .previous = q->previous },
                                on_log, log);
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static bool has_token(const struct sw_web *web, const struct sw_serve_request *r)
{
    char *token = web_token_of(r);
    bool is_right = token && web_equals_secret(token, web->token);
    web_token_free(token);
    return is_right;
}

/* Whether the page was asked for by a name of loopback: a name of somebody else's that leads here
 * makes his page this one's origin (DNS rebinding). */
static bool is_for_us(const struct sw_web *web, const struct sw_serve_request *r)
{
    static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]" };
    SW_AUTO_CHARS *host = sw_serve_header(r, "Host");
    for (size_t i = 0; host && i < SW_COUNT(hosts); i++) {
        SW_AUTO_CHARS *ours = sw_printf("%s:%d", hosts[i], sw_serve_port(web->serve));
        if (sw_streq(host, ours))
            return true;
    }
    return false;
}

static void refuse(struct sw_serve_reply *reply, int status, const char *extra, const char *why)
{
    SW_AUTO_CHARS *headers = sw_printf("%s%s", HEADERS, extra);
    sw_serve_answer_with(reply, status, "text/plain", headers, why, strlen(why));
}

static const char *type_of(const char *name)
{
    return sw_ends_with(name, ".js")    ? "text/javascript; charset=utf-8"
           : sw_ends_with(name, ".css") ? "text/css; charset=utf-8"
                                        : "text/html; charset=utf-8";
}

static void serve_file(const struct sw_serve_request *r, struct sw_serve_reply *reply)
{
    for (const struct sw_embedded *file = sw_web_page; file->name; file++) {
        SW_AUTO_CHARS *path = sw_printf("/%s", file->name);
        if (web_path_is(r, path) || (web_path_is(r, "/") && sw_streq(file->name, "index.html"))) {
            sw_serve_answer_with(reply, 200, type_of(file->name), HEADERS, file->text,
                                 file->len_bytes);
            return;
        }
    }
    refuse(reply, 404, "", "not found\n");
}

static void serve_snapshot(struct sw_web *web, struct sw_serve_reply *reply,
                           struct web_viewer *viewer)
{
    size_t len;
    if (!web->snapshot) {
        refuse(reply, 503, "", "nothing is watched while nobody has the page open\n");
        return;
    }
    SW_AUTO_CHARS *text = text_for(web, viewer, DOCUMENT, &len);
    sw_serve_answer_with(reply, 200, "application/json", HEADERS, text, len);
}

/* ---- who is let in -----------------------------------------------------------------------------
 */

static void question_free(void *arg)
{
    struct question *q = arg;
    web_viewer_release(q->viewer);
    free(q->ns);
    free(q->pod);
    free(q->container);
    free(q);
}

/* Whether it is known what of the answer its viewer may know; else that is asked. */
static bool is_settled(const struct question *q)
{
    size_t len;
    if (!q->viewer)
        return true;
    if (q->what == ASKS_LOG && q->ns)
        (void)web_viewer_may(q->viewer, WEB_GET_LOGS, q->ns);
    else if (q->what == ASKS_SNAPSHOT && q->web->snapshot)
        free(text_for(q->web, q->viewer, DOCUMENT, &len));
    return web_viewer_is_settled(q->viewer);
}

static void answer(struct question *q)
{
    if (q->what == ASKS_SNAPSHOT)
        serve_snapshot(q->web, q->reply, q->viewer);
    else
        read_log(q, q->reply);
    question_free(q);
}

static void on_allowed(struct sw_serve_reply *reply, void *arg)
{
    struct question *q = arg;
    q->reply = reply;
    if (q->what == ASKS_EVENTS) {
        open_stream(q->web, reply, SW_TAKE(q->viewer));
        question_free(q);
    } else if (is_settled(q)) {
        answer(q);
    } else {
        q->next = q->web->questions;
        q->web->questions = q;
    }
}

static void on_identified(struct json_object *user, void *arg)
{
    struct question *q = arg;
    q->viewer = web_viewer_hold(q->web->viewers, user);
}

/* It is known what @viewer may of all that was asked for. */
static void on_settled(struct web_viewer *viewer, bool changed, void *arg)
{
    struct sw_web *web = arg;
    for (struct stream *at = web->streams, *next; at; at = next) {
        next = at->next;
        if (at->viewer == viewer && (changed || !at->told))
            tell_everything(at);
    }
    for (struct question **at = &web->questions, *q; (q = *at);) {
        if (q->viewer != viewer || !is_settled(q)) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        answer(q);
    }
}

/* Answer a question about the cluster, if who asks may know. */
static void ask(struct sw_web *web, const struct sw_serve_request *r, struct sw_serve_reply *reply)
{
    struct question *q = sw_zalloc(1, sizeof *q);
    q->web = web;
    q->what = web_path_is(r, "/api/events")     ? ASKS_EVENTS
              : web_path_is(r, "/api/snapshot") ? ASKS_SNAPSHOT
                                                : ASKS_LOG;
    if (q->what == ASKS_LOG) {
        SW_AUTO_CHARS *previous = web_parameter_of(r, "previous");
        q->ns = web_parameter_of(r, "namespace");
        q->pod = web_parameter_of(r, "pod");
        q->container = web_parameter_of(r, "container");
        q->previous = sw_streq(previous, "1");
    }
    if (!web->access) {
        on_allowed(reply, q);
        return;
    }
    char *token = web_token_of(r);
    const struct sw_access_request asks = {
        .token = token,
        .verb = "get",
        .path = SW_WEB_PATH,
        .forget = question_free,
        .identify = on_identified,
    };
    sw_access_ask(web->access, &asks, reply, on_allowed, q);
    web_token_free(token);
}

static bool is_question(const struct sw_serve_request *r)
{
    return web_path_is(r, "/api/events") || web_path_is(r, "/api/snapshot") ||
           web_path_is(r, "/api/log");
}

static void on_request(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_web *web = arg;
    bool is_data = r->path_len > 5 && memcmp(r->path, "/api/", 5) == 0;
    if (!web->access && !is_for_us(web, r))
        refuse(reply, 421, "", "this server is asked by the address that it printed\n");
    else if (!r->is_head && !(r->method_len == 3 && memcmp(r->method, "GET", 3) == 0))
        refuse(reply, 405, "Allow: GET, HEAD\r\n", "GET only\n");
    else if (!is_data)
        serve_file(r, reply);
    else if (!web->access && !has_token(web, r))
        refuse(reply, 401, "WWW-Authenticate: Bearer\r\n", "open the address with its token\n");
    else if (r->is_head)
        refuse(reply, 405, "Allow: GET\r\n", "GET only\n");
    else if (is_question(r))
        ask(web, r, reply);
    else
        refuse(reply, 404, "", "not found\n");
}

static const struct sw_serve_route routes[] = { { NULL, NULL, on_request } };

/* ---- the server --------------------------------------------------------------------------------
 */

static void on_server(int code, const char *why, void *arg)
{
    struct sw_web *web = arg;
    if (web->snapshot)
        web_snapshot_server(web->snapshot, code ? sw_text_or(why, "no answer") : NULL);
}

static void make_token(struct sw_web *web)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort(); /* getrandom() does not fail for so few bytes */
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(web->token + 2 * i, 3, "%02x", bytes[i]);
}

static int listen_on(struct sw_web *web, struct sw_err *err)
{
    const struct sw_web_opts *opts = &web->opts;
    struct sw_serve_opts serve = { .routes = routes,
                                   .n_routes = SW_COUNT(routes),
                                   .arg = web,
                                   .max_body_bytes = 1,
                                   .max_bodies_bytes = MAX_BACKLOG,
                                   .max_conns = MAX_CONNS };
    if (!opts->address) {
        serve.address = "127.0.0.1";
        serve.port = opts->port;
        serve.trusted_peers = "127.0.0.0/8";
        return sw_serve_open(web->loop, &serve, &web->serve, err);
    }
    serve.tls = &sw_serve_openssl;
    serve.own_name = "slipway-dashboard";
    if (sw_text_or(opts->cert_dir, NULL)) {
        serve.cert_file = web->cert = sw_printf("%s/tls.crt", opts->cert_dir);
        serve.key_file = web->key = sw_printf("%s/tls.key", opts->cert_dir);
    }
    web->access = sw_access_new(&(struct sw_access_opts){
        .loop = web->loop, .kube = web->kube, .program = "slipway-dashboard" });
    web->viewers = web_viewers_new(web->loop, web->kube, on_settled, web);
    return sw_serve_open_at(web->loop, opts->address, &serve, &web->serve, err);
}

int sw_web_open(struct sw_loop *loop, const struct sw_web_opts *opts, struct sw_web **out,
                struct sw_err *err)
{
    struct sw_web *web = sw_zalloc(1, sizeof *web);
    web->opts = *opts;
    web->loop = loop;
    web->beat = sw_timer_new(loop, on_beat, web);
    web->rest = sw_timer_new(loop, on_rest, web);
    int rc = sw_kube_new(loop, opts->config,
                         &(struct sw_kube_opts){ .user_agent = "slipway-dashboard",
                                                 .on_server = on_server,
                                                 .arg = web },
                         &web->kube, err);
    if (rc == 0)
        rc = listen_on(web, err);
    if (rc < 0) {
        sw_web_close(web);
        return sw_err_wrap(err, rc, "dashboard");
    }
    if (!web->access) {
        make_token(web);
        web->url = sw_printf("http://127.0.0.1:%d/#token=%s", sw_web_port(web), web->token);
        web->snapshot = web_snapshot_new(loop, web->kube, on_change, web);
    }
    *out = web;
    return 0;
}

int sw_web_port(const struct sw_web *web)
{
    return sw_serve_port(web->serve);
}

const char *sw_web_url(const struct sw_web *web)
{
    return web->url;
}

void sw_web_close(struct sw_web *web)
{
    if (!web)
        return;
    while (web->logs) {
        sw_kube_cancel(web->logs->request);
        refuse(web->logs->reply, 503, "", "the server stops\n");
        log_done(web->logs);
    }
    sw_access_free(web->access);
    for (struct question *q; (q = web->questions);) {
        web->questions = q->next;
        refuse(q->reply, 503, "", "the server stops\n");
        question_free(q);
    }
    sw_serve_close(web->serve); /* ends the streams */
    web_viewers_free(web->viewers);
    web_snapshot_free(web->snapshot);
    sw_kube_free(web->kube);
    sw_timer_free(web->beat);
    sw_timer_free(web->rest);
    free(web->cert);
    free(web->key);
    explicit_bzero(web->token, sizeof web->token);
    free(web->url);
    free(web);
}
