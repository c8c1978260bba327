/* One file of a layer that is streamed. libarchive blocks while it reads, so it runs on a thread of
 * its own; the loop puts pieces into a small queue between the two. */
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/loop.h"
#include "chart/archive/libarchive.h"
#include "chart/registry/internal.h"

enum { QUEUE_BYTES = 256 << 10, MAX_ENTRIES = 2000000 };

struct layer {
    char *path, *whiteout;
    size_t max_bytes;
    void (*on_room)(void *arg);
    void (*on_result)(const struct layer_result *result, void *arg);
    void *arg;
    int wake_fd; /* the thread writes, the loop reads */
    struct event *wake;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock: */
    char *queue, *piece; /* piece: what libarchive reads from; as large */
    size_t n_queued;
    bool ended;    /* no more is fed */
    bool aborted;  /* layer_close() was called */
    bool starving; /* layer_feed() was refused */
    bool done;     /* code, err, bytes are set; the rest of the layer is only hashed */
    int code;
    struct sw_err err;
    char *bytes;
    size_t len;
    /* used on the loop only: */
    bool answered; /* on_result was called */
};

/* ---- the thread --------------------------------------------------------------------------------
 */

static void wake(struct layer *l)
{
    uint64_t one = 1;
    (void)!write(l->wake_fd, &one, sizeof one);
}

/* libarchive reads all that is queued, and waits if that is nothing. 0: the end. */
static la_ssize_t next_piece(struct archive *a SW_UNUSED, void *arg, const void **out)
{
    struct layer *l = arg;
    pthread_mutex_lock(&l->lock);
    while (!l->n_queued && !l->ended && !l->aborted)
        pthread_cond_wait(&l->changed, &l->lock);
    size_t n = l->aborted ? 0 : l->n_queued;
    char *full = l->queue;
    l->queue = l->piece;
    l->piece = full;
    l->n_queued = 0;
    if (l->starving)
        wake(l);
    pthread_mutex_unlock(&l->lock);
    *out = full;
    return (la_ssize_t)n;
}

static void settle(struct layer *l, int code, const char *message, char *bytes, size_t len)
{
    pthread_mutex_lock(&l->lock);
    l->done = true;
    l->code = code;
    if (message)
        (void)sw_err_set(&l->err, code, "%s", message);
    l->bytes = bytes;
    l->len = len;
    l->n_queued = 0;
    wake(l);
    pthread_mutex_unlock(&l->lock);
}

static void read_file(struct layer *l, struct archive *a)
{
    size_t len = 0, cap = 4096;
    char *bytes = sw_alloc(cap + 1);
    for (;;) {
        if (len == cap) {
            cap *= 2;
            bytes = sw_realloc(bytes, cap + 1, 1);
        }
        la_ssize_t n = sw_archive.read_data(a, bytes + len, cap - len);
        len += n > 0 ? (size_t)n : 0;
        if (n < 0 || len > l->max_bytes) {
            free(bytes);
            settle(l, SW_INVALID, n < 0 ? sw_archive.error_string(a) : "the file is too large",
                   NULL, 0);
            return;
        }
        if (n == 0)
            break;
    }
    bytes[len] = '\0';
    settle(l, 0, NULL, bytes, len);
}

/* "./etc/x" and "/etc/x" are "etc/x". */
static const char *plain_name(const char *name)
{
    for (;;) {
        if (name[0] == '/')
            name++;
        else if (name[0] == '.' && name[1] == '/')
            name += 2;
        else
            return name;
    }
}

static void search(struct layer *l, struct archive *a)
{
    struct archive_entry *entry;
    int rc = ARCHIVE_OK;
    for (int n = 0; n < MAX_ENTRIES; n++) {
        rc = sw_archive.read_header(a, &entry);
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
            break;
        const char *name = sw_archive.entry_pathname(entry);
        name = plain_name(name ? name : "");
        if (sw_streq(name, l->path) && sw_archive.entry_filetype(entry) == AE_IFREG) {
            read_file(l, a);
            return;
        }
        if (sw_streq(name, l->whiteout)) {
            settle(l, SW_GONE, "the layer deletes the file", NULL, 0);
            return;
        }
    }
    if (rc == ARCHIVE_EOF)
        settle(l, SW_NOTFOUND, "the layer has no such file", NULL, 0);
    else
        settle(l, SW_INVALID,
               sw_archive.error_string(a) ? sw_archive.error_string(a) : "too many files", NULL, 0);
}

static void *work(void *arg)
{
    struct layer *l = arg;
    struct archive *a = sw_archive.read_new();
    (void)sw_archive.read_tar(a);
    (void)sw_archive.read_empty(a);
    (void)sw_archive.read_gzip(a);
    (void)sw_archive.read_zstd(a);
    if (sw_archive.read_open(a, l, NULL, next_piece, NULL) != ARCHIVE_OK)
        settle(l, SW_INVALID, sw_archive.error_string(a), NULL, 0);
    else
        search(l, a);
    (void)sw_archive.read_free(a);
    return NULL;
}

/* ---- the loop's side ---------------------------------------------------------------------------
 */

static void on_wake(evutil_socket_t fd, short what SW_UNUSED, void *arg)
{
    struct layer *l = arg;
    uint64_t n;
    (void)!read(fd, &n, sizeof n);
    pthread_mutex_lock(&l->lock);
    bool room = l->starving && (l->done || l->n_queued < QUEUE_BYTES);
    bool answer = l->done && (l->ended || l->code == SW_INVALID) && !l->answered;
    l->starving &= !room;
    l->answered |= answer;
    struct layer_result r = { l->code, sw_err_text(&l->err), l->bytes, l->len };
    pthread_mutex_unlock(&l->lock);
    if (answer)
        l->on_result(&r, l->arg); /* @l may be gone */
    else if (room)
        l->on_room(l->arg);
}

struct layer *layer_open(struct sw_loop *loop, const char *path, size_t max_bytes,
                         void (*on_room)(void *arg),
                         void (*on_result)(const struct layer_result *result, void *arg), void *arg)
{
    struct layer *l = sw_zalloc(1, sizeof *l);
    path = plain_name(path);
    const char *slash = strrchr(path, '/');
    int folder_len = slash ? (int)(slash + 1 - path) : 0;
    *l = (struct layer){ .path = sw_strdup(path),
                         .whiteout = sw_printf("%.*s.wh.%s", folder_len, path, path + folder_len),
                         .max_bytes = max_bytes,
                         .on_room = on_room,
                         .on_result = on_result,
                         .arg = arg,
                         .queue = sw_alloc(QUEUE_BYTES),
                         .piece = sw_alloc(QUEUE_BYTES),
                         .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_cond_init(&l->changed, NULL);
    l->wake = event_new(sw_loop_base(loop), l->wake_fd, EV_READ | EV_PERSIST, on_wake, l);
    (void)event_add(l->wake, NULL);
    bool is_loaded = sw_archive_load();
    if (!is_loaded || pthread_create(&l->thread, NULL, work, l) != 0) {
        l->thread = 0;
        settle(l, SW_INVALID,
               is_loaded ? "no thread to read it with" : "libarchive is not installed", NULL, 0);
    }
    return l;
}

int layer_feed(struct layer *l, const char *bytes, size_t len)
{
    int rc = 0;
    pthread_mutex_lock(&l->lock);
    size_t room = QUEUE_BYTES - l->n_queued;
    if (l->done) {
        /* found or not, the rest is only hashed */
    } else if (len > room) {
        l->starving = true;
        rc = SW_PENDING;
    } else {
        memcpy(l->queue + l->n_queued, bytes, len);
        l->n_queued += len;
        pthread_cond_signal(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return rc;
}

void layer_end(struct layer *l)
{
    pthread_mutex_lock(&l->lock);
    l->ended = true;
    pthread_cond_signal(&l->changed);
    if (l->done)
        wake(l);
    pthread_mutex_unlock(&l->lock);
}

void layer_close(struct layer *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->aborted = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (l->thread)
        (void)pthread_join(l->thread, NULL);
    event_free(l->wake);
    (void)close(l->wake_fd);
    (void)pthread_mutex_destroy(&l->lock);
    (void)pthread_cond_destroy(&l->changed);
    sw_err_done(&l->err);
    free(l->bytes);
    free(l->queue);
    free(l->piece);
    free(l->path);
    free(l->whiteout);
    free(l);
}
