/* A chart's directory as a source. */
#include "chart/recipe/load/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/recipe/load/ignore.h"

enum { MAX_DEPTH = 32 }; /* of nested folders: a link to a folder above would never end */

/** The state of a walk through a chart's folder. */
struct walk {
    struct sw_files *files;
    const char *dir;          /* the chart's, as given */
    struct sw_ignore *ignore; /* owned */
    char *path;               /* of the current entry, relative to the chart; owned */
    size_t len, cap;
    int depth;
};

/* ---- files --------------------------------------------------------------------------------------
 */

static int fail(const struct walk *w, struct sw_err *err)
{
    int e = errno;
    int code = e == ENOENT || e == ENOTDIR ? SW_NOTFOUND
               : e == EACCES || e == EPERM ? SW_FORBIDDEN
                                           : SW_INVALID;
    return sw_err_set(err, code, "%s%s%s: %s", w->dir, w->len ? "/" : "", w->path, strerror(e));
}

static ssize_t read_some(int fd, char *to, size_t room)
{
    ssize_t n;
    do
        n = read(fd, to, room);
    while (n < 0 && errno == EINTR);
    return n;
}

/* -ftrivial-auto-var-init is not to zero a buffer this large for each file. */
#if __has_attribute(uninitialized)
#define FILLED_BY_READ __attribute__((uninitialized))
#else
#define FILLED_BY_READ
#endif

/* Most files fit into the first read, which then is the only one: a short read is the end of a
 * regular file. */
static int read_file(struct walk *w, int fd, struct sw_err *err)
{
    char first[32768] FILLED_BY_READ;
    ssize_t n = read_some(fd, first, sizeof first);
    if (n < 0)
        return fail(w, err);
    size_t len = (size_t)n, cap = len < sizeof first ? len : 4 * sizeof first;
    SW_AUTO_CHARS *bytes = sw_alloc(cap + 1);
    memcpy(bytes, first, len);
    for (bool more = len == sizeof first; more;) {
        n = read_some(fd, bytes + len, cap - len);
        if (n < 0)
            return fail(w, err);
        len += (size_t)n;
        int rc = sw_files_check(w->files, len, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s/%s", w->dir, w->path);
        more = len == cap;
        if (more)
            bytes = sw_realloc(bytes, (cap *= 2) + 1, 1);
    }
    bytes[len] = '\0';
    int rc = sw_files_add(w->files, w->path, SW_TAKE(bytes), len, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s/%s", w->dir, w->path) : 0;
}

/* ---- folders ------------------------------------------------------------------------------------
 */

static int walk_dir(struct walk *w, int fd, struct sw_err *err);

/* An entry whose type its folder does not say: a link, or another file system. @fd is taken. */
static int walk_unknown(struct walk *w, int fd, struct sw_err *err)
{
    struct stat st;
    int rc;
    if (fstat(fd, &st) < 0)
        rc = fail(w, err);
    else if (sw_ignore_match(w->ignore, w->path, S_ISDIR(st.st_mode)))
        rc = 0;
    else if (S_ISDIR(st.st_mode))
        return walk_dir(w, fd, err);
    else if (!S_ISREG(st.st_mode))
        rc = sw_err_set(err, SW_INVALID, "%s/%s: not a regular file", w->dir, w->path);
    else
        rc = read_file(w, fd, err);
    (void)close(fd); /* read only: nothing to lose */
    return rc;
}

/* @parent: the folder that holds it. O_NONBLOCK: opening a pipe does not wait for its writer. What
 * may be a link is found from the folder on in which files may be read. */
static int walk_entry(struct walk *w, int parent, const struct dirent64 *e, struct sw_err *err)
{
    bool is_dir = e->d_type == DT_DIR, is_file = e->d_type == DT_REG;
    if ((is_dir || is_file) && sw_ignore_match(w->ignore, w->path, is_dir))
        return 0;
    const struct sw_folders *folders = w->files->limits.folders;
    int fd = -1;
    if (folders && !is_dir && !is_file) {
        SW_AUTO_CHARS *full = sw_printf("%s/%s", w->dir, w->path);
        fd = sw_folders_open(folders, full, err);
        if (fd < 0)
            return fd;
    } else {
        fd = openat(parent, e->d_name,
                    O_RDONLY | O_CLOEXEC | O_NONBLOCK | (folders ? O_NOFOLLOW : 0));
        if (fd < 0)
            return fail(w, err);
    }
    if (is_dir)
        return walk_dir(w, fd, err);
    if (!is_file)
        return walk_unknown(w, fd, err);
    int rc = read_file(w, fd, err);
    (void)close(fd); /* read only: nothing to lose */
    return rc;
}

/* Walk one entry with its name behind the path. */
static int walk_name(struct walk *w, int fd, const struct dirent64 *e, struct sw_err *err)
{
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return 0;
    size_t before = w->len, len = strlen(e->d_name), need = before + len + 2;
    if (need > w->cap) {
        w->cap = need * 2;
        w->path = sw_realloc(w->path, w->cap, 1);
    }
    if (w->len)
        w->path[w->len++] = '/';
    memcpy(w->path + w->len, e->d_name, len + 1);
    w->len += len;
    int rc = walk_entry(w, fd, e, err);
    if (rc < 0)
        return rc; /* w->path is not restored: messages name it */
    w->len = before;
    w->path[before] = '\0';
    return 0;
}

/* All entries of the folder, the caller's. opendir() would take two more system calls. */
static int list(const struct walk *w, int fd, char **entries, size_t *len, struct sw_err *err)
{
    enum { LONGEST = sizeof(struct dirent64) + sizeof(ino_t) };
    size_t cap = 4096;
    SW_AUTO_CHARS *p = sw_alloc(cap);
    for (*len = 0;;) {
        ssize_t n = getdents64(fd, p + *len, cap - *len);
        if (n < 0)
            return fail(w, err);
        if (n == 0)
            break;
        *len += (size_t)n;
        if (cap - *len < LONGEST) {
            cap *= 2;
            p = sw_realloc(p, cap, 1);
        }
    }
    *entries = SW_TAKE(p);
    return 0;
}

/* Walk all entries of a folder. @fd is taken. */
static int walk_dir(struct walk *w, int fd, struct sw_err *err)
{
    SW_AUTO_CHARS *entries = NULL;
    size_t len = 0;
    int rc = ++w->depth > MAX_DEPTH
                 ? sw_err_set(err, SW_INVALID, "%s/%s: folders are more than %d deep", w->dir,
                              w->path, MAX_DEPTH)
                 : list(w, fd, &entries, &len, err);
    for (size_t at = 0; rc == 0 && entries && at < len;) {
        const struct dirent64 *e = (const void *)(entries + at);
        rc = walk_name(w, fd, e, err);
        at += e->d_reclen;
    }
    w->depth--;
    (void)close(fd); /* read only: nothing to lose */
    return rc;
}

/* ---- the chart ----------------------------------------------------------------------------------
 */

int sw_files_read_dir(struct sw_files *files, const char *dir, struct sw_err *err)
{
    struct walk w = { .files = files, .dir = dir, .cap = 256 };
    w.path = sw_zalloc(w.cap, 1);
    const struct sw_folders *folders = files->limits.folders;
    int fd = folders ? sw_folders_open(folders, dir, err)
                     : open(dir, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    int rc = fd >= 0 ? 0 : folders ? fd : fail(&w, err);
    SW_AUTO_CHARS *rules = sw_printf("%s/.helmignore", dir);
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    SW_ERR(why);
    if (rc == 0) {
        rc = folders ? sw_folders_read(folders, rules, 1U << 20, &text, &len, &why)
                     : sw_file_read(rules, 1U << 20, &text, &len, &why);
        rc = rc == SW_NOTFOUND ? 0 : rc;
        if (rc < 0)
            (void)sw_err_move(err, &why);
    }
    if (rc == 0)
        rc = sw_ignore_new(rules, text, len, &w.ignore, err);
    if (rc == 0)
        rc = walk_dir(&w, fd, err);
    else if (fd >= 0)
        (void)close(fd);
    free(w.path);
    sw_ignore_free(w.ignore);
    return rc < 0 ? rc : sw_files_sort(files, err);
}
