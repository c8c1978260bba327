#include "slicing/deviceplugin/driver/worker.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

struct item {
    STAILQ_ENTRY(item) link;
    struct dp_job job;
    void *tag;
    char *dir, *name; /* set: a file to sync, no job */
};
STAILQ_HEAD(items, item);

struct dp_worker {
    struct dp_driver *driver;
    void (*done)(struct dp_job *job, void *tag, void *arg);
    void *arg;
    int fd; /* an eventfd: something has ended */
    struct event *readable;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    struct items todo, ended;
    bool stopping;
};

static void free_item(struct item *it)
{
    dp_job_done(&it->job);
    free(it->dir);
    free(it->name);
    free(it);
}

static void sync_path(const char *path, int flags)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0) /* it has gone meanwhile */
        return;
    (void)fsync(fd); /* a disk that fails now fails the next boot, where it is seen */
    (void)close(fd);
}

static void *work(void *arg)
{
    struct dp_worker *w = arg;
    (void)pthread_mutex_lock(&w->lock);
    for (;;) {
        while (STAILQ_EMPTY(&w->todo) && !w->stopping)
            (void)pthread_cond_wait(&w->more, &w->lock);
        if (w->stopping)
            break;
        struct item *it = STAILQ_FIRST(&w->todo);
        STAILQ_REMOVE_HEAD(&w->todo, link);
        (void)pthread_mutex_unlock(&w->lock);
        if (it->name) {
            SW_AUTO_CHARS *path = sw_printf("%s/%s", it->dir, it->name);
            sync_path(path, 0);
            sync_path(it->dir, O_DIRECTORY);
        } else {
            dp_driver_run(w->driver, &it->job);
        }
        (void)pthread_mutex_lock(&w->lock);
        STAILQ_INSERT_TAIL(&w->ended, it, link);
        (void)!write(w->fd, &(uint64_t){ 1 }, sizeof(uint64_t)); /* only full after 2^64 */
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

static struct item *take_ended(struct dp_worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    struct item *it = STAILQ_FIRST(&w->ended);
    if (it)
        STAILQ_REMOVE_HEAD(&w->ended, link);
    (void)pthread_mutex_unlock(&w->lock);
    return it;
}

static void on_ended(evutil_socket_t fd, short what SW_UNUSED, void *arg)
{
    struct dp_worker *w = arg;
    uint64_t n;
    struct item *it;
    (void)!read(fd, &n, sizeof n);
    while ((it = take_ended(w))) {
        if (!it->name)
            w->done(&it->job, it->tag, w->arg);
        free_item(it);
    }
}

struct dp_worker *dp_worker_new(struct sw_loop *loop, struct dp_driver *driver,
                                void (*done)(struct dp_job *job, void *tag, void *arg), void *arg)
{
    struct dp_worker *w = sw_zalloc(1, sizeof *w);
    w->driver = driver;
    w->done = done;
    w->arg = arg;
    STAILQ_INIT(&w->todo);
    STAILQ_INIT(&w->ended);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->more, NULL);
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->readable = event_new(sw_loop_base(loop), w->fd, EV_READ | EV_PERSIST, on_ended, w);
    pthread_attr_t attr;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, 512 * 1024);
    if (w->fd < 0 || event_add(w->readable, NULL) != 0 ||
        pthread_create(&w->thread, &attr, work, w) != 0)
        abort(); /* out of memory ends the process, as everywhere */
    (void)pthread_attr_destroy(&attr);
    return w;
}

static void drop(struct items *items)
{
    struct item *it;
    while ((it = STAILQ_FIRST(items))) {
        STAILQ_REMOVE_HEAD(items, link);
        free(it->tag);
        free_item(it);
    }
}

void dp_worker_free(struct dp_worker *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stopping = true;
    (void)pthread_cond_signal(&w->more);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    drop(&w->todo);
    drop(&w->ended);
    event_free(w->readable);
    (void)close(w->fd);
    (void)pthread_mutex_destroy(&w->lock);
    (void)pthread_cond_destroy(&w->more);
    free(w);
}

static void queue(struct dp_worker *w, struct item *it)
{
    (void)pthread_mutex_lock(&w->lock);
    STAILQ_INSERT_TAIL(&w->todo, it, link);
    (void)pthread_cond_signal(&w->more);
    (void)pthread_mutex_unlock(&w->lock);
}

void dp_worker_run(struct dp_worker *w, const struct dp_job *job, void *tag)
{
    struct item *it = sw_zalloc(1, sizeof *it);
    it->job = *job;
    it->tag = tag;
    queue(w, it);
}

void dp_worker_sync(struct dp_worker *w, const char *dir, const char *name)
{
    struct item *it = sw_zalloc(1, sizeof *it);
    it->dir = sw_strdup(dir);
    it->name = sw_strdup(name);
    queue(w, it);
}
