#include "net/http/internal.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/text/url.h"
#include "net/http/tls.h"

int (*http_gate)(const char *url, struct sw_err *err);

void sw_http_set_gate(int (*gate)(const char *url, struct sw_err *err))
{
    http_gate = gate;
}

/* ---- callbacks' frames --------------------------------------------------------------------------
 */

static void transfer_free(struct sw_http_transfer *t)
{
    struct sw_http *http = t->http;
    TAILQ_REMOVE(&http->all, t, in_all);
    if (t->easy) {
        (void)curl_multi_remove_handle(http->multi, t->easy);
        curl_easy_reset(t->easy);
        if (http->n_spare < SPARE_HANDLES && !http->doomed)
            http->spare[http->n_spare++] = t->easy;
        else
            curl_easy_cleanup(t->easy);
    }
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->connect_to);
    sw_timer_free(t->whole);
    sw_timer_free(t->quiet);
    sw_err_done(&t->stop_err);
    free(t);
}

static void flush_transfers(struct sw_http *http)
{
    struct sw_http_transfer *t, *next;
    for (t = TAILQ_FIRST(&http->all); t; t = next) {
        next = TAILQ_NEXT(t, in_all);
        if (t->state == T_DEAD) {
            transfer_free(t);
        } else if (t->state == T_PENDING) {
            t->state = T_RUNNING;
            (void)curl_multi_add_handle(http->multi, t->easy);
        } else if (t->resumed) {
            t->resumed = t->paused = false;
            if (t->spec.idle_ms)
                sw_timer_set(t->quiet, t->spec.idle_ms);
            (void)curl_easy_pause(t->easy, CURLPAUSE_CONT); /* may call on_body() */
            next = TAILQ_NEXT(t, in_all);
        }
    }
}

static void http_free_now(struct sw_http *http)
{
    void (*on_freed)(void *arg) = http->opts.on_freed;
    void *arg = http->opts.arg;
    for (int i = 0; i < http->n_spare; i++)
        curl_easy_cleanup(http->spare[i]);
    (void)curl_multi_cleanup(http->multi); /* closes the sockets: on_curl_socket() runs */
    event_free(http->timer);
    for (size_t i = 0; i < SW_COUNT(http->strings); i++)
        free(http->strings[i]);
    sw_http_tls_free(http->own_tls);
    free(http);
    if (on_freed)
        on_freed(arg);
}

void sw_http_enter(struct sw_http *http)
{
    http->depth++;
}

void sw_http_leave(struct sw_http *http)
{
    if (http->depth == 1) {
        flush_transfers(http);
        for (struct deferred *d; (d = SLIST_FIRST(&http->deferred));) {
            SLIST_REMOVE_HEAD(&http->deferred, next);
            d->free_fn(d->p);
            free(d);
        }
    }
    if (--http->depth == 0 && http->doomed)
        http_free_now(http);
}

void sw_http_defer(struct sw_http *http, void (*free_fn)(void *p), void *p)
{
    if (http->depth == 0) {
        free_fn(p);
        return;
    }
    struct deferred *d = sw_zalloc(1, sizeof *d);
    *d = (struct deferred){ .free_fn = free_fn, .p = p };
    SLIST_INSERT_HEAD(&http->deferred, d, next);
}

/* ---- the end of a transfer ----------------------------------------------------------------------
 */

/** What a failed transfer's code means. A row that is missing: SW_UNAVAILABLE, perhaps sent. */
static const struct {
    CURLcode rc;
    int code;
    bool unsent;
    const char *words;
} failures[] = {
    { CURLE_UNSUPPORTED_PROTOCOL, SW_INVALID, true, "this kind of address is not supported" },
    { CURLE_URL_MALFORMAT, SW_INVALID, true, "not an address" },
    { CURLE_COULDNT_RESOLVE_HOST, SW_UNAVAILABLE, true, "the name cannot be resolved" },
    { CURLE_COULDNT_CONNECT, SW_UNAVAILABLE, true, "cannot connect" },
    { CURLE_WEIRD_SERVER_REPLY, SW_INVALID, false, "what answers there does not speak HTTP" },
    { CURLE_HTTP2, SW_UNAVAILABLE, false, "HTTP/2 broke off" },
    { CURLE_HTTP2_STREAM, SW_UNAVAILABLE, false, "the HTTP/2 stream was reset" },
    { CURLE_PARTIAL_FILE, SW_UNAVAILABLE, false, "the answer broke off" },
    { CURLE_GOT_NOTHING, SW_UNAVAILABLE, false, "the connection was closed without an answer" },
    { CURLE_SEND_ERROR, SW_UNAVAILABLE, false, "the connection broke while sending" },
    { CURLE_RECV_ERROR, SW_UNAVAILABLE, false, "the connection broke while receiving" },
    { CURLE_SSL_CONNECT_ERROR, SW_UNAVAILABLE, true, "no TLS connection" },
    { CURLE_SSL_CERTPROBLEM, SW_INVALID, true, "the client certificate cannot be used" },
    { CURLE_PEER_FAILED_VERIFICATION, SW_INVALID, true, "the certificate is not trusted" },
    { CURLE_TOO_MANY_REDIRECTS, SW_INVALID, false, "it redirects too many times" },
};

static const char *url_of(struct sw_http_transfer *t)
{
    char *url = NULL;
    (void)curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &url);
    return url ? url : "";
}

static void explain(struct sw_http_transfer *t, CURLcode rc, struct sw_http_result *r,
                    struct sw_err *err)
{
    const char *words = curl_easy_strerror(rc);
    long errnum = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &errnum);
    SW_AUTO_CHARS *server = sw_url_shown(url_of(t));
    char *path = strstr(server, "://");
    path = path ? strchr(path + 3, '/') : NULL;
    if (path)
        *path = '\0'; /* the caller names the request */
    r->code = SW_UNAVAILABLE;
    for (size_t i = 0; i < SW_COUNT(failures); i++) {
        if (failures[i].rc != rc)
            continue;
        r->code = failures[i].code;
        r->unsent = failures[i].unsent;
        words = failures[i].words;
    }
    if (sw_http_explain_proxy(t, server, rc, errnum ? strerror((int)errnum) : words, r, err))
        return;
    if (rc == CURLE_SSL_CONNECT_ERROR && strstr(t->curl_text, "wrong version number"))
        r->code = sw_err_set(err, SW_INVALID,
                             "%s: no TLS connection: what answers there does not speak TLS "
                             "(it may be meant to be http://)",
                             server);
    else if (rc == CURLE_SSL_CONNECT_ERROR || rc == CURLE_SSL_CERTPROBLEM ||
             rc == CURLE_PEER_FAILED_VERIFICATION)
        sw_http_tls_explain(t->http->opts.tls, server, rc, t->curl_text, err);
    else if (rc == CURLE_UNSUPPORTED_PROTOCOL && t->tls && t->passing)
        (void)sw_err_set(err, r->code,
                         "%s redirects from https to another kind of address, which is "
                         "not followed",
                         server);
    else if (rc == CURLE_COULDNT_CONNECT && errnum)
        (void)sw_err_set(err, r->code, "%s: %s: %s", server, words, strerror((int)errnum));
    else
        (void)sw_err_set(err, r->code, "%s: %s", server, words);
    err->code = r->code;
}

/** The transfer is at its end: sw_http_leave() frees it. */
static void stop(struct sw_http_transfer *t)
{
    t->state = T_DEAD;
    sw_timer_stop(t->whole);
    sw_timer_stop(t->quiet);
}

/** Report the result and stop the transfer. Called between enter and leave. */
static void finish(struct sw_http_transfer *t, CURLcode rc)
{
    SW_ERR(err);
    struct sw_http_result r = { .http_status = t->status, .url = url_of(t), .err = &err };
    if (t->stop_code) {
        r.code = t->stop_code;
        (void)sw_err_move(&err, &t->stop_err);
    } else if (rc != CURLE_OK) {
        explain(t, rc, &r, &err);
    }
    curl_off_t retry_after_s = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    r.retry_after_ms = retry_after_s < 86400 ? retry_after_s * 1000 : 86400 * 1000;
    if (t->passing && !t->status && rc == CURLE_OK) { /* a 3xx without a Location */
        SW_AUTO_CHARS *shown = sw_url_shown(r.url);
        r.code = SW_INVALID;
        (void)sw_err_set(&err, r.code, "%s redirects without saying where to", shown);
    }
    stop(t);
    t->spec.on_done(&r, t->spec.arg);
}

static void timed_out(struct sw_http_transfer *t, int64_t after_ms, const char *waiting_for)
{
    struct sw_http *http = t->http;
    SW_ERR(err);
    const char *url = url_of(t);
    const char *host = strstr(url, "://");
    int len = host ? (int)(host + 3 - url + (int)strcspn(host + 3, "/")) : 0;
    SW_AUTO_CHARS *server = sw_strndup(url, (size_t)len), *shown = sw_url_shown(server);
    SW_AUTO_CHARS *proxy = sw_http_proxy_used(t);
    (void)sw_err_set(&err, SW_UNAVAILABLE, "%s: no %s within %lld s%s%s", shown, waiting_for,
                     (long long)((after_ms + 999) / 1000), proxy ? " through the proxy " : "",
                     proxy ? proxy : "");
    struct sw_http_result r = {
        .code = SW_UNAVAILABLE, .http_status = t->status, .timed_out = true, .url = url, .err = &err
    };
    sw_http_enter(http);
    stop(t);
    t->spec.on_done(&r, t->spec.arg);
    sw_http_leave(http);
}

static void on_whole_over(void *arg)
{
    struct sw_http_transfer *t = arg;
    if (t->state == T_SHUT) {
        struct sw_http *http = t->http;
        sw_http_enter(http);
        finish(t, CURLE_OK);
        sw_http_leave(http);
        return;
    }
    timed_out(t, t->spec.timeout_ms, t->status ? "end of the answer" : "answer");
}

static void on_quiet(void *arg)
{
    struct sw_http_transfer *t = arg;
    if (t->status)
        timed_out(t, t->spec.idle_ms, "byte");
    else
        timed_out(t, t->spec.answer_ms, "answer");
}

/* ---- libcurl's side -----------------------------------------------------------------------------
 */

static void act(struct sw_http *http, curl_socket_t fd, int what)
{
    int running, left;
    sw_http_enter(http);
    (void)curl_multi_socket_action(http->multi, fd, what, &running);
    for (CURLMsg *msg; (msg = curl_multi_info_read(http->multi, &left));) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        struct sw_http_transfer *t = NULL;
        (void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        if (t->state == T_RUNNING)
            finish(t, msg->data.result);
    }
    sw_http_leave(http);
}

static void on_socket_event(evutil_socket_t fd, short what, void *arg)
{
    act(arg, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static int on_curl_socket(CURL *easy SW_UNUSED, curl_socket_t fd, int what, void *arg, void *sock)
{
    struct sw_http *http = arg;
    struct event *ev = sock;
    if (ev)
        event_free(ev);
    ev = NULL;
    short want = what == CURL_POLL_IN      ? EV_READ
                 : what == CURL_POLL_OUT   ? EV_WRITE
                 : what == CURL_POLL_INOUT ? EV_READ | EV_WRITE
                                           : 0;
    if (want) {
        ev = event_new(sw_loop_base(http->loop), fd, want | EV_PERSIST, on_socket_event, http);
        (void)event_add(ev, NULL);
    }
    (void)curl_multi_assign(http->multi, fd, ev);
    return 0;
}

static void on_curl_time(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

/** libcurl measures its own time on the real clock, and no deadline is left to it: mostly it asks
 * to be called at once, as if a socket were ready. So this one timer is libevent's own: a virtual
 * clock must not leap for it. */
static int on_curl_timer(CURLM *multi SW_UNUSED, long in_ms, void *arg)
{
    struct sw_http *http = arg;
    struct timeval tv = { .tv_sec = in_ms / 1000, .tv_usec = in_ms % 1000 * 1000 };
    if (in_ms < 0)
        (void)evtimer_del(http->timer);
    else
        (void)evtimer_add(http->timer, &tv);
    return 0;
}

static void set_stop(struct sw_http_transfer *t, int code, struct sw_err *err)
{
    t->stop_code = code;
    (void)sw_err_move(&t->stop_err, err);
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    struct sw_http_transfer *t = arg;
    size_t len = size * n;
    if (t->state == T_DEAD)
        return 0; /* cancelled in this turn: libcurl ends it with an error that is not reported */
    if (t->spec.idle_ms)
        sw_timer_set(t->quiet, t->spec.idle_ms);
    SW_ERR(err);
    t->len_bytes += len;
    if (t->spec.max_bytes && t->len_bytes > t->spec.max_bytes) {
        (void)sw_err_set(&err, SW_INVALID, "the answer is larger than %zu bytes",
                         t->spec.max_bytes);
        set_stop(t, SW_INVALID, &err);
        return 0;
    }
    int rc = t->spec.on_data ? t->spec.on_data(t->status, bytes, len, &err, t->spec.arg) : 0;
    if (rc == 0 || t->state == T_DEAD)
        return t->state == T_DEAD ? 0 : len;
    if (rc == SW_PENDING) {
        t->paused = true;
        t->len_bytes -= len; /* they come again */
        sw_timer_stop(t->quiet);
        return CURL_WRITEFUNC_PAUSE;
    }
    set_stop(t, rc, &err);
    return 0;
}

static void on_headers_end(struct sw_http_transfer *t)
{
    long status = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || t->status || t->passing)
        return; /* "100 Continue" and the like; trailers; another answer follows */
    t->status = (int)status;
    sw_timer_stop(t->quiet);
    if (t->spec.idle_ms)
        sw_timer_set(t->quiet, t->spec.idle_ms);
    if (t->spec.on_head)
        t->spec.on_head(t->status, t->spec.arg);
}

/** Warning: 299 - "text"; RFC 7234 5.5, as the API server sends them. */
static void on_warning_header(struct sw_http_transfer *t, const char *value, size_t len)
{
    SW_AUTO_CHARS *text = sw_strndup(value, len);
    char *from = strchr(text, '"');
    char *to = from ? strrchr(text, '"') : NULL;
    if (!from || to <= from)
        return;
    char *w = from; /* unescape in place */
    for (const char *r = from + 1; r < to; r++) {
        if (*r == '\\' && r + 1 < to)
            r++;
        *w++ = *r;
    }
    *w = '\0';
    if (t->spec.on_warning)
        t->spec.on_warning(from, t->spec.arg);
    if (t->http->opts.on_warning)
        t->http->opts.on_warning(from, t->http->opts.arg);
}

/** A status line: is the answer a redirect that libcurl will follow? One without a Location is not
 * followed; finish() reports it. */
static void on_status_line(struct sw_http_transfer *t)
{
    static const int redirects[] = { 301, 302, 303, 307, 308 };
    long status = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->passing = false;
    for (size_t i = 0; t->spec.max_redirects && i < SW_COUNT(redirects); i++)
        t->passing |= status == redirects[i];
}

/** The answer redirects: may that be followed? */
static void on_location(struct sw_http_transfer *t, const char *value)
{
    SW_ERR(err);
    SW_AUTO_CHARS *url = sw_http_url_join(url_of(t), value);
    int rc = url ? http_gate(url, &err)
                 : sw_err_set(&err, SW_INVALID,
                              "it redirects to another kind of address, which is not followed");
    if (rc < 0 && !t->stop_code)
        set_stop(t, rc, &err);
}

static void report_header(struct sw_http_transfer *t, const char *bytes, size_t len)
{
    const char *colon = memchr(bytes, ':', len);
    if (!colon)
        return;
    const char *value = colon + 1, *end = bytes + len;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && strchr(" \t\r\n", end[-1]))
        end--;
    SW_AUTO_CHARS *name_copy = sw_strndup(bytes, (size_t)(colon - bytes));
    SW_AUTO_CHARS *value_copy = sw_strndup(value, (size_t)(end - value));
    if (http_gate && t->passing && strcasecmp(name_copy, "location") == 0)
        on_location(t, value_copy);
    if (t->spec.on_header && !t->passing)
        t->spec.on_header(name_copy, value_copy, t->spec.arg);
}

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct sw_http_transfer *t = arg;
    size_t len = size * n;
    static const char warning[] = "warning:";
    if (t->state == T_DEAD)
        return 0;
    if (len > 5 && memcmp(bytes, "HTTP/", 5) == 0)
        on_status_line(t);
    else if (((t->spec.on_header && !t->passing) || (http_gate && t->passing)) && !t->status &&
             len > 2)
        report_header(t, bytes, len);
    if (t->state == T_DEAD || t->stop_code)
        return 0;
    if (len <= 2 && (len == 0 || bytes[0] == '\r' || bytes[0] == '\n'))
        on_headers_end(t);
    else if (len >= sizeof warning && strncasecmp(bytes, warning, sizeof warning - 1) == 0)
        on_warning_header(t, bytes + sizeof warning - 1, len - sizeof warning + 1);
    return t->state == T_DEAD ? 0 : len;
}

/* ---- starting -----------------------------------------------------------------------------------
 */

struct sw_http_transfer *sw_http_start(struct sw_http *http, const struct sw_http_spec *spec)
{
    struct sw_http_transfer *t = sw_zalloc(1, sizeof *t);
    t->http = http;
    t->easy = http->n_spare ? http->spare[--http->n_spare] : curl_easy_init();
    if (!t->easy)
        abort(); /* no memory */
    sw_http_setup(t, spec);
    (void)curl_easy_setopt(t->easy, CURLOPT_PRIVATE, (char *)t);
    (void)curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->curl_text);
    (void)curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
    t->spec = *spec;
    t->whole = sw_timer_new(http->loop, on_whole_over, t);
    t->quiet = sw_timer_new(http->loop, on_quiet, t);
    if (spec->timeout_ms)
        sw_timer_set(t->whole, spec->timeout_ms);
    if (spec->answer_ms)
        sw_timer_set(t->quiet, spec->answer_ms);
    SW_ERR(err);
    int rc = http_gate ? http_gate(spec->url, &err) : 0;
    if (rc < 0) {
        set_stop(t, rc, &err);
        t->state = T_SHUT;
        sw_timer_set(t->whole, 0);
    }
    TAILQ_INSERT_TAIL(&http->all, t, in_all);
    sw_http_enter(http); /* starts it, unless we are inside a callback */
    sw_http_leave(http);
    return t;
}

void sw_http_resume(struct sw_http_transfer *t)
{
    if (t->state != T_RUNNING || !t->paused)
        return;
    struct sw_http *http = t->http;
    t->resumed = true;
    sw_http_enter(http);
    sw_http_leave(http);
}

void sw_http_cancel(struct sw_http_transfer *t)
{
    if (!t || t->state == T_DEAD)
        return;
    struct sw_http *http = t->http;
    stop(t);
    sw_http_enter(http);
    sw_http_leave(http);
}

struct sw_http *sw_http_new(struct sw_loop *loop, const struct sw_http_opts *opts)
{
    sw_curl_load();
    struct sw_http *http = sw_zalloc(1, sizeof *http);
    http->loop = loop;
    http->opts = *opts;
    if (!http->opts.user_agent)
        http->opts.user_agent = "slipway";
    if (!http->opts.tls &&
        sw_http_tls_new(&(struct sw_http_tls_opts){ 0 }, &http->own_tls, NULL) == 0)
        http->opts.tls = http->own_tls;
    const char **strings[] = { &http->opts.user_agent, &http->opts.proxy_url, &http->opts.username,
                               &http->opts.password, &http->opts.connect_to };
    for (size_t i = 0; i < SW_COUNT(strings); i++)
        if (*strings[i])
            *strings[i] = http->strings[i] = sw_strdup(*strings[i]);
    TAILQ_INIT(&http->all);
    http->timer = evtimer_new(sw_loop_base(loop), on_curl_time, http);
    http->multi = curl_multi_init();
    if (!http->multi || !http->timer)
        abort();
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    return http;
}

void sw_http_free(struct sw_http *http)
{
    if (!http || http->doomed)
        return;
    for (struct sw_http_transfer *t = TAILQ_FIRST(&http->all); t; t = TAILQ_NEXT(t, in_all))
        stop(t);
    http->doomed = true;
    sw_http_enter(http);
    sw_http_leave(http);
}
