/* One call on a connection of its own. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/grpc/grpc.h"
#include "net/grpc/session.h"

struct sw_grpc_request {
    struct sw_loop *loop;
    struct sw_grpc_request_opts opts;
    char *socket, *path;
    struct bufferevent *bev;
    struct grpc_session *session;
    struct grpc_stream *stream;
    struct sw_timer *timer;   /* its deadline */
    struct sw_timer *verdict; /* tells how it ended, in a turn of its own */
    int status;
    char *words;
    bool over, cancelled;
    bool busy; /* inside the session: not to be freed */
};

static void finish(struct sw_grpc_request *r, int status, const char *words)
{
    if (r->over)
        return;
    r->over = true;
    r->status = status;
    sw_text_set(&r->words, words);
    sw_timer_set(r->verdict, 0);
}

static void free_request(struct sw_grpc_request *r)
{
    r->over = true; /* what goes down with the session is not news */
    grpc_session_free(r->session);
    if (r->bev)
        bufferevent_free(r->bev);
    sw_timer_free(r->timer);
    sw_timer_free(r->verdict);
    free(r->socket);
    free(r->path);
    free(r->words);
    free(r);
}

static void on_finished(void *arg)
{
    struct sw_grpc_request *r = arg;
    void (*done)(int, const char *, void *) = r->opts.on_done;
    void *done_arg = r->opts.arg;
    const int status = r->status;
    SW_AUTO_CHARS *words = SW_TAKE(r->words);
    free_request(r);
    if (done)
        done(status, words, done_arg);
}

/* ---- the session -------------------------------------------------------------------------------
 */

static int on_message(struct grpc_stream *stream, const uint8_t *bytes, size_t len)
{
    struct sw_grpc_request *r = stream->user;
    if (!r->over && r->opts.on_message)
        r->opts.on_message(bytes, len, r->opts.arg);
    return 0;
}

static void on_end(struct grpc_stream *stream SW_UNUSED)
{
}

static void on_gone(struct grpc_stream *stream, uint32_t error_code)
{
    struct sw_grpc_request *r = stream->user;
    r->stream = NULL;
    if (stream->grpc_status >= 0) {
        finish(r, stream->grpc_status, stream->words ? stream->words : "");
        return;
    }
    SW_AUTO_CHARS *words = sw_printf("%s: no gRPC status came (HTTP status %d, error %u)", r->path,
                                     stream->http_status, error_code);
    finish(r, SW_GRPC_UNAVAILABLE, words);
}

static const struct grpc_session_ops client_ops = { on_message, on_end, on_gone };

static void pump(struct sw_grpc_request *r)
{
    const uint8_t *bytes;
    long n;
    while ((n = grpc_session_pull(r->session, &bytes)) > 0)
        (void)bufferevent_write(r->bev, bytes, (size_t)n);
    if (n < 0)
        finish(r, SW_GRPC_UNAVAILABLE, "the connection cannot go on");
}

static void on_readable(struct bufferevent *bev, void *arg)
{
    struct sw_grpc_request *r = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    const size_t len = evbuffer_get_length(in);
    if (r->over) {
        (void)evbuffer_drain(in, len);
        return;
    }
    r->busy = true;
    const bool ok = grpc_session_feed(r->session, evbuffer_pullup(in, -1), len) == 0;
    r->busy = false;
    (void)evbuffer_drain(in, len);
    if (r->cancelled)
        free_request(r);
    else if (!ok)
        finish(r, SW_GRPC_UNAVAILABLE, "the other side does not speak HTTP/2");
    else
        pump(r);
}

static void on_event(struct bufferevent *bev SW_UNUSED, short what, void *arg)
{
    struct sw_grpc_request *r = arg;
    if (what & BEV_EVENT_CONNECTED)
        return;
    SW_AUTO_CHARS *words = sw_printf("%s: %s", r->socket,
                                     what & BEV_EVENT_EOF ? "connection closed" : strerror(errno));
    finish(r, SW_GRPC_UNAVAILABLE, words);
}

static void on_timeout(void *arg)
{
    struct sw_grpc_request *r = arg;
    SW_AUTO_CHARS *words = sw_printf("%s: no answer within %lld ms", r->path,
                                     (long long)r->opts.timeout_ms);
    finish(r, SW_GRPC_DEADLINE_EXCEEDED, words);
}

static bool connect_to(struct sw_grpc_request *r)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (strlen(r->socket) >= sizeof addr.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(addr.sun_path, r->socket, strlen(r->socket) + 1);
    /* a unix socket connects at once, or not */
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
        const int saved = errno;
        (void)close(fd);
        errno = saved;
        return false;
    }
    r->bev = bufferevent_socket_new(sw_loop_base(r->loop), fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(r->bev, on_readable, NULL, on_event, r);
    (void)bufferevent_enable(r->bev, EV_READ | EV_WRITE);
    return true;
}

struct sw_grpc_request *sw_grpc_request_start(struct sw_loop *loop,
                                              const struct sw_grpc_request_opts *opts)
{
    struct sw_grpc_request *r = sw_zalloc(1, sizeof *r);
    r->loop = loop;
    r->opts = *opts;
    r->socket = sw_strdup(opts->socket);
    r->path = sw_strdup(opts->path);
    r->timer = sw_timer_new(loop, on_timeout, r);
    r->verdict = sw_timer_new(loop, on_finished, r);
    if (opts->timeout_ms)
        sw_timer_set(r->timer, opts->timeout_ms);
    if (!connect_to(r)) {
        SW_AUTO_CHARS *words = sw_printf("connect to %s: %s", r->socket, strerror(errno));
        finish(r, SW_GRPC_UNAVAILABLE, words);
        return r;
    }
    r->session = grpc_session_new(false, &client_ops, r,
                                  opts->max_message_bytes ? opts->max_message_bytes : 16u << 20, 1);
    r->stream = grpc_stream_open(r->session, r->path, opts->message, opts->len_bytes, r);
    pump(r);
    return r;
}

void sw_grpc_request_cancel(struct sw_grpc_request *request)
{
    if (!request)
        return;
    request->over = request->cancelled = true;
    request->opts.on_done = NULL;
    if (!request->busy)
        free_request(request);
}
