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
    char *dir, *name;               /* set: a file to sync, no job */
    struct dp_instances *instances; /* set: to be read, no job */
    void (*read)(const struct dp_instances *found, void *arg);
    void *arg; /* of @read */
};
STAILQ_HEAD(items, item);

/* What is done one after another: the steps on one GPU, or what waits for the disk. */
struct lane {
    struct dp_worker *w;
    pthread_t thread;
    bool started; /* with the first that there is to do */
    pthread_cond_t more;
    struct items todo;
};

struct dp_worker {
    struct dp_driver *driver;
    void (*done)(struct dp_job *job, void *tag, void *arg);
    void *arg;
    int fd; /* an eventfd: something has ended */
    struct event *readable;
    size_t n_lanes;       /* one for each GPU, the last for the disk */
    pthread_mutex_t lock; /* of what follows, and what the lanes have to do */
    struct items ended;
    bool stopping;
    struct lane lanes[];
};

static void free_item(struct item *it)
{
    dp_job_done(&it->job);
    free(it->dir);
    free(it->name);
    if (it->instances)
        sw_err_done(&it->instances->err);
    free(it->instances);
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
    struct lane *lane = arg;
    struct dp_worker *w = lane->w;
    (void)pthread_mutex_lock(&w->lock);
    for (;;) {
        while (STAILQ_EMPTY(&lane->todo) && !w->stopping)
            (void)pthread_cond_wait(&lane->more, &w->lock);
        if (w->stopping)
            break;
        struct item *it = STAILQ_FIRST(&lane->todo);
        STAILQ_REMOVE_HEAD(&lane->todo, link);
        (void)pthread_mutex_unlock(&w->lock);
        if (it->name) {
            SW_AUTO_CHARS *path = sw_printf("%s/%s", it->dir, it->name);
            sync_path(path, 0);
            sync_path(it->dir, O_DIRECTORY);
        } else if (it->instances) {
            w->driver->ops->instances(w->driver, it->instances);
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
        if (it->instances)
            it->read(it->instances, it->arg);
        else if (!it->name)
            w->done(&it->job, it->tag, w->arg);
        free_item(it);
    }
}

struct dp_worker *dp_worker_new(struct sw_loop *loop, struct dp_driver *driver,
                                void (*done)(struct dp_job *job, void *tag, void *arg), void *arg)
{
    const size_t n_lanes = driver->n_gpus + 1;
    struct dp_worker *w = sw_zalloc(1, sizeof *w + n_lanes * sizeof *w->lanes);
    w->driver = driver;
    w->done = done;
    w->arg = arg;
    w->n_lanes = n_lanes;
    STAILQ_INIT(&w->ended);
    (void)pthread_mutex_init(&w->lock, NULL);
    for (size_t i = 0; i < n_lanes; i++) {
        w->lanes[i].w = w;
        STAILQ_INIT(&w->lanes[i].todo);
        (void)pthread_cond_init(&w->lanes[i].more, NULL);
    }
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->readable = event_new(sw_loop_base(loop), w->fd, EV_READ | EV_PERSIST, on_ended, w);
    if (w->fd < 0 || event_add(w->readable, NULL) != 0)
        abort(); /* out of memory ends the process, as everywhere */
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
    for (size_t i = 0; i < w->n_lanes; i++)
        (void)pthread_cond_signal(&w->lanes[i].more);
    (void)pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < w->n_lanes; i++) {
        struct lane *lane = &w->lanes[i];
        if (lane->started)
            (void)pthread_join(lane->thread, NULL);
        drop(&lane->todo);
        (void)pthread_cond_destroy(&lane->more);
    }
    drop(&w->ended);
    event_free(w->readable);
    (void)close(w->fd);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

static void start(struct lane *lane)
{
    pthread_attr_t attr;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, 512 * 1024);
    if (pthread_create(&lane->thread, &attr, work, lane) != 0)
        abort(); /* out of memory */
    (void)pthread_attr_destroy(&attr);
    lane->started = true;
}

static void queue(struct lane *lane, struct item *it)
{
    if (!lane->started)
        start(lane);
    (void)pthread_mutex_lock(&lane->w->lock);
    STAILQ_INSERT_TAIL(&lane->todo, it, link);
    (void)pthread_cond_signal(&lane->more);
    (void)pthread_mutex_unlock(&lane->w->lock);
}

void dp_worker_run(struct dp_worker *w, const struct dp_job *job, void *tag)
{
    struct item *it = sw_zalloc(1, sizeof *it);
    it->job = *job;
    it->tag = tag;
    const struct dp_gpu *gpu = dp_driver_gpu(w->driver, job->gpu);
    /* of a GPU that is gone the answer is an error, from any lane */
    queue(&w->lanes[gpu ? (size_t)(gpu - w->driver->gpus) : w->n_lanes - 1], it);
}

void dp_worker_sync(struct dp_worker *w, const char *dir, const char *name)
{
    struct item *it = sw_zalloc(1, sizeof *it);
    it->dir = sw_strdup(dir);
    it->name = sw_strdup(name);
    queue(&w->lanes[w->n_lanes - 1], it);
}

void dp_worker_instances(struct dp_worker *w, size_t gpu,
                         void (*done)(const struct dp_instances *found, void *arg), void *arg)
{
    struct item *it = sw_zalloc(1, sizeof *it);
    it->instances = sw_zalloc(1, sizeof *it->instances);
    it->instances->gpu = gpu;
    it->read = done;
    it->arg = arg;
    queue(&w->lanes[gpu], it);
}
