#include "operator/renderer/child.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/loop.h"
#include "base/spawn.h"
#include "operator/renderer/frame.h"

enum { LAST_WORDS_MS = 500, EXIT_LIMIT = 4, PIECE_BYTES = 256 << 10 };

struct child {
    const struct sw_renderers_opts *opts;
    struct child_events events;
    struct sw_timer *timer; /* its clock */
    struct bufferevent *bev;
    pid_t pid;
    bool is_idle, is_late;
    bool *freed; /* set when it is freed within a message; or NULL */
};

/* ---- the end -----------------------------------------------------------------------------------
 */

/* @return its status, as waitpid() has it */
static int reap(struct child *c)
{
    int status = 0;
    if (c->pid <= 0)
        return 0;
    (void)kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
    return status;
}

void child_free(struct child *c)
{
    if (!c)
        return;
    if (c->freed)
        *c->freed = true;
    if (c->bev)
        bufferevent_free(c->bev);
    (void)reap(c);
    sw_timer_free(c->timer);
    free(c);
}

static void end(struct child *c, const char *why, bool over)
{
    bufferevent_free(SW_TAKE(c->bev));
    sw_timer_stop(c->timer);
    (void)reap(c);
    c->events.ended(why, over, c->events.arg); /* frees it */
}

static void on_timer(void *arg)
{
    struct child *c = arg;
    if (c->is_idle) {
        c->events.idle(c->events.arg);
    } else if (!c->is_late) {
        c->is_late = true;
        (void)kill(c->pid, SIGTERM); /* it says where it is */
        sw_timer_set(c->timer, LAST_WORDS_MS);
    } else {
        SW_AUTO_CHARS *why = sw_printf("took more than its %lld ms", (long long)c->opts->wall_ms);
        end(c, why, true);
    }
}

/* ---- messages ----------------------------------------------------------------------------------
 */

enum taken { TAKEN, INCOMPLETE, GONE };

/* Pass the next message on, if it is complete. GONE: the child was freed. */
static enum taken take_message(struct child *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    char head[FRAME_HEAD], type;
    size_t len;
    bool freed = false;
    SW_ERR(err);
    if (evbuffer_copyout(in, head, sizeof head) < (ssize_t)sizeof head)
        return INCOMPLETE;
    if (frame_read_head(head, &type, &len, &err) < 0) {
        end(c, sw_err_text(&err), true);
        return GONE;
    }
    if (evbuffer_get_length(in) < sizeof head + len)
        return INCOMPLETE;
    SW_AUTO_CHARS *text = sw_alloc(len + 1);
    (void)evbuffer_drain(in, sizeof head);
    (void)evbuffer_remove(in, text, len);
    text[len] = '\0';
    c->freed = &freed; // cppcheck-suppress autoVariables ; for the call alone
    c->events.message(type, text, len, c->events.arg);
    if (freed)
        return GONE;
    c->freed = NULL;
    return TAKEN;
}

/* One message a turn: others come between. */
static void on_read(struct bufferevent *bev, void *arg)
{
    struct child *c = arg;
    if (take_message(c) == TAKEN && evbuffer_get_length(bufferevent_get_input(bev)) >= FRAME_HEAD)
        bufferevent_trigger(bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

static void on_event(struct bufferevent *bev SW_UNUSED, short what, void *arg)
{
    struct child *c = arg;
    enum taken taken = TAKEN;
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    while (taken == TAKEN) /* what it said before it ended */
        taken = take_message(c);
    if (taken == GONE)
        return;
    bool late = c->is_late;
    int status = reap(c);
    bool over = late || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LIMIT);
    SW_AUTO_CHARS *why = late ? sw_printf("took more than its %lld ms", (long long)c->opts->wall_ms)
                         : over ? sw_printf("took more than its %zu MiB, or its %u s",
                                            c->opts->child_bytes >> 20, c->opts->cpu_s)
                         : WIFSIGNALED(status)
                             ? sw_printf("the renderer was ended by signal %d", WTERMSIG(status))
                             : sw_printf("the renderer ended with code %d", WEXITSTATUS(status));
    end(c, why, over);
}

/* What was sent is not needed in memory any more. */
static void on_sent(const void *bytes, size_t len, void *arg)
{
    sw_kept_rest_range(arg, bytes, len);
    sw_kept_free(arg);
}

void child_send(struct child *c, char type, const char *text, size_t text_len,
                struct sw_kept *bytes)
{
    char head[FRAME_HEAD];
    const size_t len = bytes ? sw_kept_len(bytes) : 0;
    struct evbuffer *out = bufferevent_get_output(c->bev);
    frame_head(head, type, text_len + len);
    (void)evbuffer_add(out, head, sizeof head);
    (void)evbuffer_add(out, text, text_len);
    for (size_t at = 0; at < len; at += PIECE_BYTES)
        (void)evbuffer_add_reference(out, sw_kept_bytes(bytes) + at,
                                     len - at < PIECE_BYTES ? len - at : PIECE_BYTES, on_sent,
                                     sw_kept_ref(bytes));
    c->is_idle = false;
    sw_timer_set(c->timer, c->opts->wall_ms);
}

void child_rests(struct child *c, bool idle)
{
    c->is_idle = idle;
    if (idle)
        sw_timer_set(c->timer, c->opts->idle_ms);
    else
        sw_timer_stop(c->timer);
}

/* ---- the beginning -----------------------------------------------------------------------------
 */

/* The environment of the child is empty but for where the loader finds the program's libraries, as
 * in our images; sandbox_enter() clears it. */
static int spawn(struct child *c, int fd)
{
    const char *libraries = getenv("LD_LIBRARY_PATH");
    SW_AUTO_CHARS *path = libraries ? sw_printf("LD_LIBRARY_PATH=%s", libraries) : NULL;
    SW_AUTO_CHARS *bytes = sw_printf("%zu", c->opts->child_bytes);
    SW_AUTO_CHARS *cpu = sw_printf("%u", c->opts->cpu_s);
    SW_AUTO_CHARS *wall = sw_printf("%lld", (long long)c->opts->wall_ms);
    const char *const argv[] = { "slipway", "renderer", bytes, cpu, wall, NULL };
    char *const environment[] = { path, NULL };
    const int fds[] = { fd, -1, -1 };
    return sw_spawn(&(struct sw_spawn){ c->opts->program, argv, environment, fds }, &c->pid);
}

struct child *child_start(struct sw_loop *loop, const struct sw_renderers_opts *opts,
                          const struct child_events *events)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return NULL;
    struct child *c = sw_zalloc(1, sizeof *c);
    *c = (struct child){ .opts = opts, .events = *events };
    if (evutil_make_socket_nonblocking(fds[0]) < 0 || spawn(c, fds[1]) != 0) {
        (void)close(fds[0]);
        (void)close(fds[1]);
        free(c);
        return NULL;
    }
    (void)close(fds[1]);
    c->timer = sw_timer_new(loop, on_timer, c);
    c->bev = bufferevent_socket_new(sw_loop_base(loop), fds[0], BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setwatermark(c->bev, EV_READ, 0, FRAME_HEAD + FRAME_ANSWER_MAX);
    bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    return c;
}
