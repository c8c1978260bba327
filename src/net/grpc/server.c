/* Unix sockets, connections, calls to methods. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/grpc/grpc.h"
#include "net/grpc/session.h"

enum { SEND_AHEAD_BYTES = 64 * 1024, MAX_CONNS = 32, MAX_CALLS = 32, BACKLOG = 128 };

struct peer {
    LIST_ENTRY(peer) link;
    struct sw_grpc_server *server;
    struct bufferevent *bev;
    struct grpc_session *session;
    struct sw_timer *deadline; /* for the greeting, then for taking what we send */
    pid_t pid;                 /* of the other side; 0: it is in another namespace */
    bool called;               /* it had a call that was whole */
    bool busy;                 /* inside the session: nothing may be freed */
    bool broken;
};

struct sw_grpc_server {
    struct sw_loop *loop;
    struct sw_grpc_server_opts opts;
    char *socket;
    struct evconnlistener *listener;
    ino_t inode;
    LIST_HEAD(peer_list, peer) peers;
    int n_peers;
    size_t held; /* bytes of messages */
};

struct sw_grpc_call {
    struct grpc_stream *stream;
    uint8_t *request;
    size_t len;
    bool has_request, served;
    void (*on_gone)(struct sw_grpc_call *call, void *arg);
    void *arg;
};

/* ---- connections -------------------------------------------------------------------------------
 */

static void hang_up(struct peer *p)
{
    LIST_REMOVE(p, link);
    p->server->n_peers--;
    grpc_session_free(p->session);
    bufferevent_free(p->bev);
    sw_timer_free(p->deadline);
    free(p);
}

/* Write the session's bytes to the socket, but not more than the reader keeps up with.
 * @return false: close the connection */
static bool pump(struct peer *p)
{
    struct evbuffer *out = bufferevent_get_output(p->bev);
    const uint8_t *bytes;
    long n = 0;
    while (evbuffer_get_length(out) < SEND_AHEAD_BYTES &&
           (n = grpc_session_pull(p->session, &bytes)) > 0)
        (void)evbuffer_add(out, bytes, (size_t)n);
    if (evbuffer_get_length(out) && !sw_timer_is_set(p->deadline))
        sw_timer_set(p->deadline, p->server->opts.stall_ms);
    return n >= 0 && !(grpc_session_is_done(p->session) && evbuffer_get_length(out) == 0);
}

static void on_readable(struct bufferevent *bev, void *arg)
{
    struct peer *p = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    const size_t len = evbuffer_get_length(in);
    p->busy = true;
    bool ok = grpc_session_feed(p->session, evbuffer_pullup(in, -1), len) == 0;
    (void)evbuffer_drain(in, len);
    p->busy = false;
    if (p->session->greeted && evbuffer_get_length(bufferevent_get_output(bev)) == 0)
        sw_timer_stop(p->deadline);
    ok = pump(p) && ok && !p->broken;
    if (!ok)
        hang_up(p);
}

static void on_written(struct bufferevent *bev SW_UNUSED, void *arg)
{
    struct peer *p = arg;
    if (p->session->greeted)
        sw_timer_stop(p->deadline);
    if (!pump(p))
        hang_up(p);
}

static void on_event(struct bufferevent *bev SW_UNUSED, short what SW_UNUSED, void *arg)
{
    hang_up(arg);
}

static void on_deadline(void *arg)
{
    hang_up(arg);
}

/* A call has data to send outside of the session's own callbacks. */
static void kick(struct grpc_stream *stream)
{
    struct peer *p = stream->session->user;
    /* a connection that ends here is found out by its next read or write */
    if (!p->busy)
        (void)pump(p);
}

/* ---- calls -------------------------------------------------------------------------------------
 */

static struct sw_grpc_call *call_of(struct grpc_stream *stream)
{
    if (!stream->user) {
        struct sw_grpc_call *call = sw_zalloc(1, sizeof *call);
        call->stream = stream;
        stream->user = call;
    }
    return stream->user;
}

static void free_call(struct sw_grpc_call *call)
{
    free(call->request);
    free(call);
}

static int on_message(struct grpc_stream *stream, const uint8_t *bytes, size_t len)
{
    struct sw_grpc_call *call = call_of(stream);
    if (call->has_request)
        return SW_GRPC_INVALID_ARGUMENT;
    call->has_request = true;
    call->len = len;
    call->request = sw_alloc(len + 1);
    if (len)
        memcpy(call->request, bytes, len);
    return 0;
}

static const struct sw_grpc_method *find_method(const struct sw_grpc_server *s, const char *path)
{
    for (size_t i = 0; path && i < s->opts.n_methods; i++)
        if (strcmp(s->opts.methods[i].path, path) == 0)
            return &s->opts.methods[i];
    return NULL;
}

static void on_end(struct grpc_stream *stream)
{
    struct peer *p = stream->session->user;
    struct sw_grpc_call *call = call_of(stream);
    const struct sw_grpc_method *m = find_method(p->server, stream->path);
    if (!stream->is_grpc) {
        grpc_stream_end(stream, SW_GRPC_UNKNOWN, "expected content-type application/grpc");
    } else if (!m) {
        SW_AUTO_CHARS *words = sw_printf("unknown method %s", stream->path ? stream->path : "");
        grpc_stream_end(stream, SW_GRPC_UNIMPLEMENTED, words);
    } else if (!call->has_request) {
        grpc_stream_end(stream, SW_GRPC_INVALID_ARGUMENT, "one message was expected");
    } else {
        call->served = p->called = true;
        m->serve(call, call->request, call->len, p->server->opts.arg);
    }
}

static void on_gone(struct grpc_stream *stream, uint32_t error_code SW_UNUSED)
{
    struct sw_grpc_call *call = SW_TAKE(stream->user);
    if (!call)
        return;
    if (call->served && call->on_gone)
        call->on_gone(call, call->arg);
    free_call(call);
}

static const struct grpc_session_ops server_ops = { on_message, on_end, on_gone };

void sw_grpc_call_send(struct sw_grpc_call *call, const uint8_t *message, size_t len_bytes)
{
    grpc_stream_send(call->stream, message, len_bytes, false);
    kick(call->stream);
}

void sw_grpc_call_replace(struct sw_grpc_call *call, const uint8_t *message, size_t len_bytes)
{
    grpc_stream_send(call->stream, message, len_bytes, true);
    kick(call->stream);
}

void sw_grpc_call_end(struct sw_grpc_call *call, int status, const char *words)
{
    struct grpc_stream *stream = call->stream;
    call->on_gone = NULL; /* its memory goes with the stream */
    grpc_stream_end(stream, status, words);
    kick(stream);
}

void sw_grpc_call_on_gone(struct sw_grpc_call *call,
                          void (*cb)(struct sw_grpc_call *call, void *arg), void *arg)
{
    call->on_gone = cb;
    call->arg = arg;
}

/* ---- the socket --------------------------------------------------------------------------------
 */

/* How many connections the process @pid has. */
static int count_of(const struct sw_grpc_server *s, pid_t pid)
{
    const struct peer *p;
    int n = 0;
    LIST_FOREACH(p, &s->peers, link)
    n += p->pid == pid;
    return n;
}

/* What is closed first. */
static int rank(const struct peer *p)
{
    return !LIST_EMPTY(&p->session->streams) && p->called ? 2 : p->called ? 1 : 0;
}

/* The connection whose place a new one of the process @pid takes. */
static struct peer *choose(const struct sw_grpc_server *s, pid_t pid)
{
    struct peer *p, *best = NULL;
    int most = 0;
    LIST_FOREACH(p, &s->peers, link) /* the newest first */
    {
        const int n = count_of(s, p->pid) + (p->pid == pid);
        const bool oldest = rank(p) < 2;
        if (best && (n < most ||
                     (n == most && (rank(p) > rank(best) || (rank(p) == rank(best) && !oldest)))))
            continue;
        best = p;
        most = n;
    }
    return best;
}

static pid_t pid_of(evutil_socket_t fd)
{
    struct ucred other = { 0 };
    socklen_t len = sizeof other;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &len) == 0 ? other.pid : 0;
}

static void on_accept(struct evconnlistener *listener SW_UNUSED, evutil_socket_t fd,
                      struct sockaddr *addr SW_UNUSED, int len SW_UNUSED, void *arg)
{
    struct sw_grpc_server *s = arg;
    const pid_t pid = pid_of(fd);
    if (s->n_peers >= s->opts.max_conns)
        hang_up(choose(s, pid));
    struct peer *p = sw_zalloc(1, sizeof *p);
    p->server = s;
    p->pid = pid;
    p->bev = bufferevent_socket_new(sw_loop_base(s->loop), fd, BEV_OPT_CLOSE_ON_FREE);
    p->session = grpc_session_new(true, &server_ops, p, s->opts.max_message_bytes,
                                  (uint32_t)s->opts.max_calls);
    p->session->held = &s->held;
    p->session->max_held = s->opts.max_held_bytes;
    p->deadline = sw_timer_new(s->loop, on_deadline, p);
    LIST_INSERT_HEAD(&s->peers, p, link);
    s->n_peers++;
    sw_timer_set(p->deadline, s->opts.greeting_ms);
    bufferevent_setcb(p->bev, on_readable, on_written, on_event, p);
    (void)bufferevent_enable(p->bev, EV_READ | EV_WRITE);
    (void)pump(p);
}

static int fail(struct sw_err *err, const char *path)
{
    const int code = errno == ENOENT                     ? SW_NOTFOUND
                     : errno == EACCES || errno == EPERM ? SW_FORBIDDEN
                                                         : SW_UNAVAILABLE;
    return sw_err_set(err, code, "listen on %s: %s", path, strerror(errno));
}

static int listen_on(struct sw_grpc_server *s, struct sw_err *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (strlen(s->socket) >= sizeof addr.sun_path)
        return sw_err_set(err, SW_INVALID, "%s: a socket's path has at most %zu characters",
                          s->socket, sizeof addr.sun_path - 1);
    memcpy(addr.sun_path, s->socket, strlen(s->socket) + 1);
    (void)unlink(s->socket); /* of a life before */
    s->listener = evconnlistener_new_bind(sw_loop_base(s->loop), on_accept, s,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
                                          (struct sockaddr *)&addr, sizeof addr);
    struct stat st;
    if (!s->listener || stat(s->socket, &st) != 0)
        return fail(err, s->socket);
    s->inode = st.st_ino;
    return 0;
}

int sw_grpc_server_open(struct sw_loop *loop, const struct sw_grpc_server_opts *opts,
                        struct sw_grpc_server **out, struct sw_err *err)
{
    struct sw_grpc_server *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->opts = *opts;
    s->socket = sw_strdup(opts->socket);
    LIST_INIT(&s->peers);
    if (!s->opts.max_message_bytes)
        s->opts.max_message_bytes = 4u << 20;
    if (!s->opts.max_held_bytes)
        s->opts.max_held_bytes = 4 * s->opts.max_message_bytes;
    s->opts.max_conns = opts->max_conns ? opts->max_conns : MAX_CONNS;
    s->opts.max_calls = opts->max_calls ? opts->max_calls : MAX_CALLS;
    s->opts.greeting_ms = opts->greeting_ms ? opts->greeting_ms : 10 * 1000;
    s->opts.stall_ms = opts->stall_ms ? opts->stall_ms : 30 * 1000;
    const int rc = listen_on(s, err);
    if (rc < 0) {
        sw_grpc_server_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

bool sw_grpc_server_is_there(const struct sw_grpc_server *server)
{
    struct stat st;
    return stat(server->socket, &st) == 0 && st.st_ino == server->inode;
}

void sw_grpc_server_close(struct sw_grpc_server *server)
{
    if (!server)
        return;
    while (!LIST_EMPTY(&server->peers))
        hang_up(SW_LINKED(LIST_FIRST(&server->peers)));
    if (server->listener) {
        if (sw_grpc_server_is_there(server))
            (void)unlink(server->socket);
        evconnlistener_free(server->listener);
    }
    free(server->socket);
    free(server);
}
