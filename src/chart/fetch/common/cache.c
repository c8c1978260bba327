#include "chart/fetch/common/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chart/registry/registry.h"
#include "data/json/hash.h"
#include "data/json/json.h"

/* <dir>/sha256/<hex>, with a scope <hex>-<its hash>; <dir>/notes/<hash of the key>, likewise,
 * <dir>/tmp/<folder>, <dir>/lock */
struct sw_cache {
    char *dir;   /* NULL: nothing is cached */
    char *scope; /* "-<hash>"; "" where there is none */
    size_t max_bytes;
    bool made;
};

enum { NOTE_MAX = 64 << 10, STALE_S = 3600 };

struct sw_cache *sw_cache_new(const char *dir, const char *scope, size_t max_bytes)
{
    struct sw_cache *cache = sw_zalloc(1, sizeof *cache);
    char hex[SW_SHA256_HEX];
    dir = sw_text_or(dir, NULL);
    cache->scope = scope ? sw_printf("-%s", sw_sha256_hex(scope, strlen(scope), hex))
                         : sw_strdup("");
    cache->dir = sw_strdup(dir);
    cache->max_bytes = max_bytes;
    return cache;
}

void sw_cache_free(struct sw_cache *cache)
{
    if (!cache)
        return;
    free(cache->dir);
    free(cache->scope);
    free(cache);
}

char *sw_digest_of(const void *bytes, size_t len)
{
    char hex[SW_SHA256_HEX];
    return sw_printf("sha256:%s", sw_sha256_hex(bytes, len, hex));
}

/* Whether @digest is "sha256:" and 64 hexadecimal digits, so that it can be a file's name. */
static bool is_sha256(const char *digest)
{
    return sw_starts_with(digest, "sha256:") && sw_image_digest_is_valid(digest);
}

/* ---- folders -----------------------------------------------------------------------------------
 */

/* Create the folder and those above it. */
static bool make_dirs(const char *path)
{
    for (const char *end = path; *end;) {
        end += 1 + strcspn(end + 1, "/");
        SW_AUTO_CHARS *dir = sw_strndup(path, (size_t)(end - path));
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* Whether the cache's folders exist; they are created at the first call. */
static bool is_made(struct sw_cache *cache)
{
    static const char *const folders[] = { "sha256", "notes", "tmp" };
    if (!cache->dir || cache->made)
        return cache->dir;
    bool ok = true;
    for (size_t i = 0; i < SW_COUNT(folders) && ok; i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", cache->dir, folders[i]);
        ok = make_dirs(path);
    }
    if (!ok) {
        sw_log(SW_LOG_DEBUG, "no cache", "dir", cache->dir, "error", strerror(errno), NULL);
        free(SW_TAKE(cache->dir));
    }
    cache->made = ok;
    return ok;
}

const char *sw_cache_dir(struct sw_cache *cache)
{
    return is_made(cache) ? cache->dir : NULL;
}

static int remove_one(const char *path, const struct stat *st SW_UNUSED, int type SW_UNUSED,
                      struct FTW *at SW_UNUSED)
{
    (void)remove(path); /* the caller has no use for the error */
    return 0;
}

void sw_cache_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int sw_cache_temp(struct sw_cache *cache, char **dir, struct sw_err *err)
{
    SW_AUTO_CHARS *path = is_made(cache) ? sw_printf("%s/tmp/XXXXXX", cache->dir)
                                         : sw_printf("%s/slipway-XXXXXX",
                                                     sw_text_or(getenv("TMPDIR"), "/tmp"));
    if (!mkdtemp(path))
        return sw_err_set(err, errno == EACCES || errno == EROFS ? SW_FORBIDDEN : SW_UNAVAILABLE,
                          "%s: %s", path, strerror(errno));
    *dir = SW_TAKE(path);
    return 0;
}

/* ---- blobs -------------------------------------------------------------------------------------
 */

static char *path_of(const struct sw_cache *cache, const char *digest)
{
    return sw_printf("%s/sha256/%s%s", cache->dir, digest + strlen("sha256:"), cache->scope);
}

/* The time of a file is that of its last use. */
static void touch(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}

bool sw_cache_get(struct sw_cache *cache, const char *digest, char **out, size_t *len)
{
    if (!cache->dir || !is_sha256(digest))
        return false;
    SW_AUTO_CHARS *path = path_of(cache, digest);
    SW_AUTO_CHARS *bytes = NULL;
    size_t n;
    if (sw_file_read(path, SIZE_MAX / 4, &bytes, &n, NULL) < 0)
        return false;
    SW_AUTO_CHARS *is = sw_digest_of(bytes, n);
    if (!sw_streq(is, digest)) {
        (void)unlink(path);
        return false;
    }
    touch(path);
    *out = SW_TAKE(bytes);
    *len = n;
    return true;
}

struct cached_file {
    char *path; /* owned */
    size_t bytes;
    struct timespec used;
};

struct listing {
    struct cached_file *items;
    size_t n, cap, bytes;
};

static void list_folder(const char *dir, struct listing *l)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, e->d_name);
        struct stat st;
        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        SW_GROW(l->items, l->n, l->cap);
        l->items[l->n++] = (struct cached_file){ SW_TAKE(path), (size_t)st.st_size, st.st_mtim };
        l->bytes += (size_t)st.st_size;
    }
    if (d)
        (void)closedir(d);
}

/* Remove temporary folders of processes that were killed. */
static void remove_stale(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, e->d_name);
        struct stat st;
        if (e->d_name[0] != '.' && lstat(path, &st) == 0 && st.st_mtime < time(NULL) - STALE_S)
            sw_cache_remove(path);
    }
    if (d)
        (void)closedir(d);
}

static int by_use(const void *pa, const void *pb)
{
    const struct cached_file *a = pa, *b = pb;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Remove the least recently used files. A process that reads one has it open, or downloads it
 * again.
 */
static void shrink(struct sw_cache *cache)
{
    struct listing l = { 0 };
    SW_AUTO_CHARS *blobs = sw_printf("%s/sha256", cache->dir);
    SW_AUTO_CHARS *notes = sw_printf("%s/notes", cache->dir);
    SW_AUTO_CHARS *tmp = sw_printf("%s/tmp", cache->dir);
    list_folder(blobs, &l);
    list_folder(notes, &l);
    remove_stale(tmp);
    if (l.n)
        qsort(l.items, l.n, sizeof *l.items, by_use);
    for (size_t i = 0; i < l.n; i++) {
        if (l.bytes > cache->max_bytes && unlink(l.items[i].path) == 0)
            l.bytes -= l.items[i].bytes;
        free(l.items[i].path);
    }
    free(l.items);
}

void sw_cache_put(struct sw_cache *cache, const char *digest, const void *bytes, size_t len)
{
    if (!is_sha256(digest) || len > cache->max_bytes || !is_made(cache))
        return;
    SW_AUTO_CHARS *path = path_of(cache, digest);
    SW_ERR(err);
    if (sw_file_write(path, bytes, len, &err) < 0) {
        sw_log(SW_LOG_DEBUG, "not cached", "file", path, "error", sw_err_text(&err), NULL);
        return;
    }
    SW_AUTO_CHARS *lock = sw_printf("%s/lock", cache->dir);
    int fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) /* one process at a time */
        shrink(cache);
    (void)close(fd); /* unlocks it */
}

/* ---- notes -------------------------------------------------------------------------------------
 */

static char *note_path(const struct sw_cache *cache, const char *key)
{
    char hex[SW_SHA256_HEX];
    return sw_printf("%s/notes/%s%s", cache->dir, sw_sha256_hex(key, strlen(key), hex),
                     cache->scope);
}

struct json_object *sw_cache_note(struct sw_cache *cache, const char *key)
{
    if (!cache->dir)
        return NULL;
    SW_AUTO_CHARS *path = note_path(cache, key);
    SW_AUTO_CHARS *text = NULL;
    struct json_object *note = NULL;
    size_t len;
    SW_ERR(err);
    if (sw_file_read(path, NOTE_MAX, &text, &len, &err) < 0 ||
        sw_json_parse(text, len, NULL, &note, &err) < 0)
        return NULL;
    touch(path);
    return note;
}

void sw_cache_set_note(struct sw_cache *cache, const char *key, struct json_object *note)
{
    if (!is_made(cache))
        return;
    size_t len;
    SW_AUTO_CHARS *path = note_path(cache, key);
    SW_AUTO_CHARS *text = sw_json_text(note, SW_JSON_SORTED, &len);
    SW_ERR(err);
    if (sw_file_write(path, text, len, &err) < 0) /* no note is no error */
        sw_log(SW_LOG_DEBUG, "not cached", "file", path, "error", sw_err_text(&err), NULL);
}
