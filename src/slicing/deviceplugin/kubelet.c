/* kubelet's folder: at its start kubelet empties it and creates its socket again. */
#include "slicing/deviceplugin/kubelet.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slicing/deviceplugin/endpoint.h"

enum { CHECK_AGAIN_MS = 5000, SETTLE_MS = 50 };

struct dp_kubelet {
    struct sw_device_plugin *p;
    int fd; /* inotify */
    int watch;
    struct event *readable;
    struct sw_timer *check;
    ino_t inode;          /* of kubelet's socket */
    struct timespec made; /* the same number may come again */
    char *trouble;
};

static void say(struct dp_kubelet *k, const char *message)
{
    if (message && !sw_streq(k->trouble, message))
        sw_log(SW_LOG_WARN, "kubelet's folder", "error", message, NULL);
    sw_text_set(&k->trouble, message);
}

/* Whether kubelet's socket is there; another one than before makes us begin anew. */
static bool find_socket(struct dp_kubelet *k)
{
    struct stat st;
    SW_AUTO_CHARS *path = sw_printf("%s/kubelet.sock", k->p->plugins_dir);
    const bool there = stat(path, &st) == 0;
    const bool same = there && st.st_ino == k->inode && st.st_ctim.tv_sec == k->made.tv_sec &&
                      st.st_ctim.tv_nsec == k->made.tv_nsec;
    if (same)
        return true;
    if (k->inode)
        sw_log(SW_LOG_INFO, there ? "kubelet has restarted" : "kubelet is away", NULL);
    k->inode = there ? st.st_ino : 0;
    k->made = there ? st.st_ctim : (struct timespec){ 0 };
    for (size_t i = 0; i < k->p->n_resources; i++)
        dp_endpoint_forget(k->p->endpoints[i]);
    return there;
}

void dp_kubelet_check(struct dp_kubelet *k)
{
    if (!k)
        return;
    struct sw_device_plugin *p = k->p;
    if (k->watch < 0)
        k->watch = inotify_add_watch(k->fd, p->plugins_dir,
                                     IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM |
                                         IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
    const int why = errno;
    const bool there = k->watch >= 0 && find_socket(k);
    SW_ERR(err);
    if (k->watch < 0) {
        SW_AUTO_CHARS *message = sw_printf("%s: %s", p->plugins_dir, strerror(why));
        say(k, message);
    }
    bool ok = k->watch >= 0;
    for (size_t i = 0; p->face == DP_FACE_DRA && i < p->n_resources; i++)
        dp_endpoint_leave(p->endpoints[i]);
    const bool serves = p->open && p->face == DP_FACE_DEVICE_PLUGIN;
    for (size_t i = 0; ok && serves && i < p->n_resources; i++) {
        ok = dp_endpoint_listen(p->endpoints[i], &err) == 0;
        if (ok && there)
            dp_endpoint_register(p->endpoints[i]);
    }
    if (k->watch >= 0)
        say(k, ok ? NULL : sw_err_text(&err));
    if (ok)
        sw_timer_stop(k->check);
    else
        sw_timer_set(k->check, CHECK_AGAIN_MS);
}

static void on_check(void *arg)
{
    dp_kubelet_check(arg);
}

static void on_change(evutil_socket_t fd, short what SW_UNUSED, void *arg)
{
    struct dp_kubelet *k = arg;
    char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        for (const char *at = buf; at < buf + n;) {
            const struct inotify_event *e = (const struct inotify_event *)at;
            if (e->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF))
                k->watch = -1; /* the folder itself has gone */
            at += sizeof *e + e->len;
        }
    sw_timer_set(k->check, SETTLE_MS); /* kubelet deletes and makes several: look once */
}

struct dp_kubelet *dp_kubelet_new(struct sw_device_plugin *p)
{
    struct dp_kubelet *k = sw_zalloc(1, sizeof *k);
    k->p = p;
    k->watch = -1;
    k->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    k->check = sw_timer_new(p->loop, on_check, k);
    if (k->fd < 0) {
        sw_log(SW_LOG_ERROR, "inotify", "error", strerror(errno), NULL);
        return k;
    }
    k->readable = event_new(sw_loop_base(p->loop), k->fd, EV_READ | EV_PERSIST, on_change, k);
    (void)event_add(k->readable, NULL);
    return k;
}

void dp_kubelet_free(struct dp_kubelet *k)
{
    if (!k)
        return;
    if (k->readable)
        event_free(k->readable);
    if (k->fd >= 0)
        (void)close(k->fd);
    sw_timer_free(k->check);
    free(k->trouble);
    free(k);
}
