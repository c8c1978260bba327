#include "web/web.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/text/percent.h"
#include "kube/kube.h"
#include "kube/metrics/access.h"
#include "net/serve/serve.h"
#include "web/snapshot.h"

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

/* The viewer's token; store.js has it, too. */
#define TOKEN_HEADER "Slipway-Token"

/* A stream of changes. */
struct stream {
    struct sw_web *web;
    struct sw_serve_reply *reply;
    struct stream *next;
};

/* A log that was asked for. */
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
    struct sw_access *access; /* NULL: who has the token is let in */
    char *cert, *key;
};

/* A question that waits for whether who asks is let in. */
struct question {
    struct sw_web *web;
    enum { ASKS_EVENTS, ASKS_SNAPSHOT, ASKS_LOG } what;
    char *ns, *pod, *container; /* of a log */
    bool previous;
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

static void send_all(struct sw_web *web, const char *text, size_t len)
{
    for (struct stream *at = web->streams, *next; at; at = next) {
        next = at->next;
        if (sw_serve_backlog(at->reply) > MAX_BACKLOG)
            sw_serve_abort(at->reply, true);
        else
            sw_serve_write(at->reply, text, len);
    }
}

static void on_change(const char *text, size_t len, void *arg)
{
    send_all(arg, text, len);
}

static void on_beat(void *arg)
{
    struct sw_web *web = arg;
    send_all(web, ":\n\n", 3);
    if (web->streams)
        sw_timer_set(web->beat, BEAT_MS);
}

static void open_stream(struct sw_web *web, struct sw_serve_reply *reply)
{
    if (web->n_streams >= MAX_STREAMS) {
        sw_serve_answer_with(reply, 503, "text/plain", HEADERS, "too many pages are open\n", 24);
        return;
    }
    struct sw_buffer out = { 0 };
    size_t len;
    struct stream *stream = sw_zalloc(1, sizeof *stream);
    if (!web->snapshot)
        web->snapshot = web_snapshot_new(web->loop, web->kube, on_change, web);
    stream->web = web;
    stream->reply = reply;
    stream->next = web->streams;
    web->streams = stream;
    web->n_streams++;
    sw_serve_on_close(reply, on_stream_closed, stream);
    web_snapshot_try_again(web->snapshot);
    web_snapshot_put(web->snapshot, web->opts.version, &out);
    SW_AUTO_CHARS *text = sw_buffer_take(&out, &len);
    sw_serve_begin(reply, 200, "text/event-stream", HEADERS);
    sw_serve_write(reply, text, len);
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

/* The value of @name in the query of @r; heap. NULL: it is not there. */
static char *parameter_of(const struct sw_serve_request *r, const char *name)
{
    const char *end = r->path + r->target_len;
    size_t name_len = strlen(name);
    for (const char *at = r->path + r->path_len; at < end;) {
        at++; /* the '?' or '&' */
        const char *next = memchr(at, '&', (size_t)(end - at));
        size_t len = (size_t)((next ? next : end) - at);
        if (len > name_len && at[name_len] == '=' && memcmp(at, name, name_len) == 0) {
            char *value = sw_alloc(len - name_len);
            (void)sw_percent_decode(at + name_len + 1, len - name_len - 1, value);
            return value;
        }
        at += len;
    }
    return NULL;
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

static bool path_is(const struct sw_serve_request *r, const char *path)
{
    return r->path_len == strlen(path) && memcmp(r->path, path, r->path_len) == 0;
}

/* Compares in a time that does not tell how much is right. */
static bool equals_secret(const char *a, const char *secret)
{
    size_t n = strlen(secret);
    unsigned char differs = 0;
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(a[i] ^ secret[i]);
    return differs == 0;
}

/* The token of who asks, heap; NULL: there is none. The page sends it in a header of its own: an
 * API server that is between (its proxy of Services) takes Authorization for itself, and sends it
 * on to nobody. */
static char *token_of(const struct sw_serve_request *r)
{
    char *own = sw_serve_header(r, TOKEN_HEADER);
    if (own)
        return own;
    SW_AUTO_CHARS *header = sw_serve_header(r, "Authorization");
    char *token = header && sw_starts_with(header, "Bearer ")
                      ? sw_strdup(header + strlen("Bearer "))
                      : NULL;
    if (header)
        explicit_bzero(header, strlen(header));
    return token;
}

static void token_free(char *token)
{
    if (token)
        explicit_bzero(token, strlen(token));
    free(token);
}

static bool has_token(const struct sw_web *web, const struct sw_serve_request *r)
{
    char *token = token_of(r);
    bool is_right = token && equals_secret(token, web->token);
    token_free(token);
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
        if (path_is(r, path) || (path_is(r, "/") && sw_streq(file->name, "index.html"))) {
            sw_serve_answer_with(reply, 200, type_of(file->name), HEADERS, file->text,
                                 file->len_bytes);
            return;
        }
    }
    refuse(reply, 404, "", "not found\n");
}

static void serve_snapshot(struct sw_web *web, struct sw_serve_reply *reply)
{
    struct sw_buffer out = { 0 };
    size_t len;
    if (!web->snapshot) {
        refuse(reply, 503, "", "nothing is watched while nobody has the page open\n");
        return;
    }
    web_snapshot_document(web->snapshot, web->opts.version, &out);
    SW_AUTO_CHARS *text = sw_buffer_take(&out, &len);
    sw_serve_answer_with(reply, 200, "application/json", HEADERS, text, len);
}

/* ---- who is let in -----------------------------------------------------------------------------
 */

static void question_free(void *arg)
{
    struct question *q = arg;
    free(q->ns);
    free(q->pod);
    free(q->container);
    free(q);
}

static void on_allowed(struct sw_serve_reply *reply, void *arg)
{
    struct question *q = arg;
    if (q->what == ASKS_EVENTS)
        open_stream(q->web, reply);
    else if (q->what == ASKS_SNAPSHOT)
        serve_snapshot(q->web, reply);
    else
        read_log(q, reply);
    question_free(q);
}

/* Answer a question about the cluster, if who asks may know. */
static void ask(struct sw_web *web, const struct sw_serve_request *r, struct sw_serve_reply *reply)
{
    struct question *q = sw_zalloc(1, sizeof *q);
    q->web = web;
    q->what = path_is(r, "/api/events")     ? ASKS_EVENTS
              : path_is(r, "/api/snapshot") ? ASKS_SNAPSHOT
                                            : ASKS_LOG;
    if (q->what == ASKS_LOG) {
        SW_AUTO_CHARS *previous = parameter_of(r, "previous");
        q->ns = parameter_of(r, "namespace");
        q->pod = parameter_of(r, "pod");
        q->container = parameter_of(r, "container");
        q->previous = sw_streq(previous, "1");
    }
    if (!web->access) {
        on_allowed(reply, q);
        return;
    }
    char *token = token_of(r);
    const struct sw_access_request asks = {
        .token = token, .verb = "get", .path = SW_WEB_PATH, .forget = question_free
    };
    sw_access_ask(web->access, &asks, reply, on_allowed, q);
    token_free(token);
}

static bool is_question(const struct sw_serve_request *r)
{
    return path_is(r, "/api/events") || path_is(r, "/api/snapshot") || path_is(r, "/api/log");
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
    sw_serve_close(web->serve); /* ends the streams */
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
