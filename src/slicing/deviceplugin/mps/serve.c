/* The process that runs the daemons of the node: a child for each claim that has one, started again
 * where it ends. It knows nothing but the folder. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/mps/folder.h"
#include "slicing/deviceplugin/mps/mps.h"

enum { AGAIN_FIRST_MS = 1000, AGAIN_MOST_MS = 30 * 1000, LAST_MS = 45 * 1000 };

struct child {
    LIST_ENTRY(child) link;
    char *uid;
    pid_t pid; /* 0: it has ended */
    bool told; /* to end */
    bool wanted;
    int64_t began_ms, again_ms, pause_ms;
};

struct server {
    const char *host_root;
    char *base;
    int changes, signals;
    bool ending;
    LIST_HEAD(children, child) children;
};

static struct child *child_of(struct server *s, const char *uid)
{
    struct child *c;
    LIST_FOREACH(c, &s->children, link)
    if (strcmp(c->uid, uid) == 0)
        return c;
    c = sw_zalloc(1, sizeof *c);
    c->uid = sw_strdup(uid);
    c->pause_ms = AGAIN_FIRST_MS;
    LIST_INSERT_HEAD(&s->children, c, link);
    return c;
}

static void start(struct server *s, struct child *c)
{
    static const char self[] = "/proc/self/exe";
    const char *const argv[] = { self, DP_MPS_DAEMON, s->host_root, c->uid, NULL };
    const int rc = sw_spawn(&(struct sw_spawn){ .argv = argv }, &c->pid);
    c->began_ms = sw_monotonic_ms();
    c->told = false;
    if (rc) {
        c->pid = 0;
        c->again_ms = c->began_ms + c->pause_ms;
        mps_say(s->host_root, c->uid, strerror(rc));
    }
}

static void on_file(const char *name, struct json_object *doc SW_UNUSED, int rc SW_UNUSED,
                    const struct sw_err *why SW_UNUSED, void *arg)
{
    SW_AUTO_CHARS *uid = sw_strndup(name, strlen(name) - strlen(".json"));
    child_of(arg, uid)->wanted = true;
}

/* Let run what is wanted, and nothing else. @return ms until something is to be done, -1: nothing
 */
static int64_t reconcile(struct server *s)
{
    SW_ERR(err);
    struct child *c, *next;
    int64_t wait_ms = -1;
    const int64_t now_ms = sw_monotonic_ms();
    LIST_FOREACH(c, &s->children, link)
    c->wanted = false;
    if (!s->ending && dp_dir_each(s->base, ".json", on_file, s, &err) < 0)
        sw_log(SW_LOG_ERROR, "MPS control daemons", "error", sw_err_text(&err), NULL);
    for (c = LIST_FIRST(&s->children); c; c = next) {
        next = LIST_NEXT(c, link);
        if (!c->pid && c->wanted && c->again_ms <= now_ms)
            start(s, c);
        if (c->pid && !c->wanted && !c->told) {
            (void)kill(c->pid, SIGTERM);
            c->told = true;
        }
        if (!c->pid && c->wanted && (wait_ms < 0 || c->again_ms - now_ms < wait_ms))
            wait_ms = c->again_ms - now_ms;
        if (!c->pid && !c->wanted) {
            LIST_REMOVE(c, link);
            free(c->uid);
            free(c);
        }
    }
    return wait_ms;
}

static void reap(struct server *s)
{
    int status;
    pid_t pid;
    struct child *c;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        LIST_FOREACH(c, &s->children, link)
    if (c->pid == pid) {
        SW_AUTO_CHARS *ready = mps_path(s->host_root, c->uid, "ready");
        const int64_t now_ms = sw_monotonic_ms();
        (void)unlink(ready); /* it may have been killed */
        if (now_ms - c->began_ms > AGAIN_MOST_MS)
            c->pause_ms = AGAIN_FIRST_MS;
        c->pid = 0;
        c->again_ms = c->told ? 0 : now_ms + c->pause_ms;
        if (c->pause_ms < AGAIN_MOST_MS)
            c->pause_ms *= 2;
    }
}

/* What happened is looked up afterwards. */
static void take_news(struct server *s)
{
    char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    struct signalfd_siginfo info;
    while (read(s->changes, buf, sizeof buf) > 0)
        ;
    while (read(s->signals, &info, sizeof info) == sizeof info)
        s->ending |= info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
}

static void serve(struct server *s)
{
    int64_t end_ms = -1;
    for (;;) {
        int64_t wait_ms = reconcile(s);
        if (s->ending && end_ms < 0)
            end_ms = sw_monotonic_ms() + LAST_MS;
        if (s->ending)
            wait_ms = end_ms - sw_monotonic_ms();
        if (s->ending && (LIST_EMPTY(&s->children) || wait_ms <= 0))
            return;
        struct pollfd fds[] = { { .fd = s->changes, .events = POLLIN },
                                { .fd = s->signals, .events = POLLIN } };
        (void)poll(fds, SW_COUNT(fds), wait_ms < 0 ? -1 : (int)wait_ms);
        take_news(s);
        reap(s);
    }
}

static int open_server(struct server *s, struct sw_err *err)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    s->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    s->changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const int rc = dp_dir_make(s->base, err);
    if (rc < 0)
        return rc;
    if (s->signals < 0 || s->changes < 0 ||
        inotify_add_watch(s->changes, s->base, IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", s->base, strerror(errno));
    return 0;
}

int dp_mps_serve(const char *host_root)
{
    struct server s = { .host_root = host_root, .base = mps_path(host_root, NULL, NULL) };
    SW_ERR(err);
    LIST_INIT(&s.children);
    const int rc = open_server(&s, &err);
    if (rc < 0)
        sw_log(SW_LOG_ERROR, "MPS control daemons", "error", sw_err_text(&err), NULL);
    else
        sw_log(SW_LOG_INFO, "MPS control daemons", "folder", s.base, NULL);
    if (rc == 0)
        serve(&s);
    while (!LIST_EMPTY(&s.children)) { /* those that would not end have their signal */
        struct child *c = LIST_FIRST(&s.children);
        LIST_REMOVE(c, link);
        free(c->uid);
        free(c);
    }
    free(s.base);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
