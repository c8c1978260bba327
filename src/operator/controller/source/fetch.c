#include "operator/controller/source/fetch.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/loop.h"
#include "chart/fetch/helper.h"
#include "data/data.h"

enum { AT_A_TIME = 4, ANSWER_MAX = 96 << 20, DEADLINE_MS = 150000 };

struct fetch_queue {
    struct sw_loop *loop;
    char *helper; /* NULL: none */
    struct fetch *first;
};

struct fetch {
    struct fetch_queue *q;
    struct fetch *next;
    struct json_object *request;
    fetch_fn *done; /* NULL: cancelled */
    void *arg;
    struct sw_timer *timer;
    struct bufferevent *bev; /* to the helper's stdin and stdout; NULL: not started */
    pid_t pid;               /* 0: none */
};

static void start_next(struct fetch_queue *q);

/* ---- life --------------------------------------------------------------------------------------
 */

static void reap(struct fetch *f)
{
    if (f->pid <= 0)
        return;
    (void)kill(f->pid, SIGKILL); /* it has answered, or is given up */
    while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    f->pid = 0;
}

static void fetch_free(struct fetch *f)
{
    struct fetch **at = &f->q->first;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    if (f->bev)
        bufferevent_free(f->bev);
    reap(f);
    sw_timer_free(f->timer);
    json_object_put(f->request);
    free(f);
}

static void finish(struct fetch *f, struct json_object *answer, const char *bundle, size_t len)
{
    struct fetch_queue *q = f->q;
    fetch_fn *done = f->done;
    void *arg = f->arg;
    f->done = NULL;
    sw_timer_stop(f->timer);
    reap(f);
    if (done)
        done(answer, bundle, len, arg);
    fetch_free(f);
    start_next(q);
}

static void fail(struct fetch *f, const char *message)
{
    SW_AUTO_JSON *answer = json_object_new_object();
    (void)json_object_object_add(answer, "code", json_object_new_int(SW_UNAVAILABLE));
    sw_json_set_str(answer, message, "error", NULL);
    finish(f, answer, NULL, 0);
}

/* ---- the helper --------------------------------------------------------------------------------
 */

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct fetch *f = arg;
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    struct evbuffer *in = bufferevent_get_input(bev);
    size_t len = evbuffer_get_length(in), bundle_len;
    SW_AUTO_CHARS *text = sw_alloc(len + 1);
    SW_AUTO_JSON *answer = NULL;
    const char *bundle;
    SW_ERR(err);
    (void)evbuffer_remove(in, text, len);
    if (sw_fetch_read_answer(text, len, &answer, &bundle, &bundle_len, &err) < 0)
        fail(f, sw_err_text(&err));
    else
        finish(f, answer, bundle, bundle_len);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    if (evbuffer_get_length(bufferevent_get_input(bev)) > ANSWER_MAX)
        fail(arg, "the recipe is too large");
}

/* The whole request is written: the helper reads until the end. */
static void on_written(struct bufferevent *bev, void *arg SW_UNUSED)
{
    (void)shutdown(bufferevent_getfd(bev), SHUT_WR);
}

static int spawn(struct fetch *f, int fd)
{
    posix_spawn_file_actions_t actions;
    char name[] = "slipway", command[] = "fetch", from[] = "-";
    char *argv[] = { name, command, from, NULL };
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    if (!rc)
        rc = posix_spawn(&f->pid, f->q->helper, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void begin(struct fetch *f)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
        fail(f, "no socket for the fetch helper");
        return;
    }
    SW_AUTO_CHARS *text = sw_json_text(f->request, SW_JSON_PLAIN, NULL);
    if (evutil_make_socket_nonblocking(fds[0]) < 0 || spawn(f, fds[1]) != 0) {
        (void)close(fds[0]);
        (void)close(fds[1]);
        f->pid = 0;
        fail(f, "the fetch helper cannot be started");
        return;
    }
    (void)close(fds[1]);
    f->bev = bufferevent_socket_new(sw_loop_base(f->q->loop), fds[0], BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(f->bev, on_read, on_written, on_event, f);
    (void)bufferevent_enable(f->bev, EV_READ | EV_WRITE);
    (void)bufferevent_write(f->bev, text, strlen(text));
    sw_timer_set(f->timer, DEADLINE_MS);
}

/* ---- the queue ---------------------------------------------------------------------------------
 */

/* Its turn has come, or the helper's deadline has passed. */
static void on_timer(void *arg)
{
    struct fetch *f = arg;
    if (f->bev) {
        fail(f, "the fetch helper does not answer");
    } else if (f->q->helper) {
        begin(f);
    } else {
        SW_AUTO_JSON *answer = NULL;
        SW_AUTO_CHARS *bundle = NULL;
        size_t len = 0;
        sw_fetch_do(f->request, &answer, &bundle, &len);
        finish(f, answer, bundle, len);
    }
}

static void start_next(struct fetch_queue *q)
{
    int n = 0;
    for (struct fetch *f = q->first; f && n < AT_A_TIME; f = f->next, n++)
        if (!f->bev && !sw_timer_is_set(f->timer))
            sw_timer_set(f->timer, 0);
}

struct fetch *fetch_start(struct fetch_queue *q, struct json_object *request, fetch_fn *done,
                          void *arg)
{
    struct fetch *f = sw_zalloc(1, sizeof *f);
    *f = (struct fetch){ .q = q, .request = request, .done = done, .arg = arg };
    f->timer = sw_timer_new(q->loop, on_timer, f);
    struct fetch **end = &q->first;
    while (*end)
        end = &(*end)->next;
    *end = f;
    start_next(q);
    return f;
}

void fetch_cancel(struct fetch *f)
{
    if (!f)
        return;
    f->done = NULL;
    if (!f->bev) /* not begun */
        fetch_free(f);
}

struct fetch_queue *fetch_queue_new(struct sw_loop *loop, const char *helper)
{
    struct fetch_queue *q = sw_zalloc(1, sizeof *q);
    *q = (struct fetch_queue){ .loop = loop, .helper = helper ? sw_strdup(helper) : NULL };
    return q;
}

void fetch_queue_free(struct fetch_queue *q)
{
    while (q->first)
        fetch_free(q->first);
    free(q->helper);
    free(q);
}
