#include "base/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, MAX_LINKS = 40 };

struct sw_folders {
    char **paths; /* owned; without '/' at the end */
    size_t n, cap;
};

int sw_folders_new(const char *list, struct sw_folders **out, struct sw_err *err)
{
    SW_AUTO(sw_folders) *f = sw_zalloc(1, sizeof *f);
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");
        if (len && *at != '/')
            return sw_err_set(err, SW_INVALID, "'%.*s' is not an absolute path", (int)len, at);
        if (len) {
            SW_GROW(f->paths, f->n, f->cap);
            f->paths[f->n++] = sw_strndup(at, sw_before_slashes(at, len, 0));
        }
        at += len + (at[len] == ',');
    }
    *out = SW_TAKE(f);
    return 0;
}

void sw_folders_free(struct sw_folders *folders)
{
    if (!folders)
        return;
    for (size_t i = 0; i < folders->n; i++)
        free(folders->paths[i]);
    free(folders->paths);
    free(folders);
}

char *sw_folders_text(const struct sw_folders *folders)
{
    char *list = sw_strdup("");
    for (size_t i = 0; i < folders->n; i++)
        sw_append(&list, "%s%s", i ? "," : "", *folders->paths[i] ? folders->paths[i] : "/");
    return list;
}

/* ---- a walk ------------------------------------------------------------------------------------
 */

/* The way from the folder to where the walk is. */
struct walk {
    const char *path; /* for messages */
    int fds[MAX_DEPTH];
    int n;
    int n_links;
    char *rest; /* names to go; owned */
};

/* One answer for all that lies elsewhere, whether it is there or not. */
static int refuse(const char *path, struct sw_err *err)
{
    return sw_err_set(err, SW_FORBIDDEN,
                      "%s: files are read below the folders of --allowed-files alone", path);
}

static int fail(const struct walk *w, struct sw_err *err)
{
    int e = errno;
    int code = e == ENOENT || e == ENOTDIR ? SW_NOTFOUND
               : e == EACCES || e == EPERM ? SW_FORBIDDEN
                                           : SW_INVALID;
    return sw_err_set(err, code, "%s: %s", w->path, strerror(e));
}

/* The next name of w->rest; "": there is none. The caller's. */
static char *next_name(struct walk *w)
{
    size_t from = strspn(w->rest, "/"), len = strcspn(w->rest + from, "/");
    char *name = sw_strndup(w->rest + from, len);
    char *rest = sw_strdup(w->rest + from + len);
    free(w->rest);
    w->rest = rest;
    return name;
}

static bool is_at_end(const struct walk *w)
{
    return w->rest[strspn(w->rest, "/")] == '\0';
}

/* @fd: the link, opened by O_PATH. */
static int follow(struct walk *w, int fd, struct sw_err *err)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(fd, "", target, sizeof target - 1);
    if (len < 0)
        return fail(w, err);
    target[len] = '\0';
    if (++w->n_links > MAX_LINKS)
        return sw_err_set(err, SW_INVALID, "%s: too many links", w->path);
    if (*target == '/')
        return refuse(w->path, err);
    char *rest = sw_printf("%s/%s", target, w->rest);
    free(w->rest);
    w->rest = rest;
    return 0;
}

/* Open for reading what @fd, opened by O_PATH, is. */
static int reopen(const struct walk *w, int fd, struct sw_err *err)
{
    SW_AUTO_CHARS *self = sw_printf("/proc/self/fd/%d", fd);
    int out = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return out < 0 ? fail(w, err) : out;
}

/* Go to @name. @*out: what was asked for, when it is the last. */
static int step(struct walk *w, const char *name, int *out, struct sw_err *err)
{
    if (strcmp(name, "..") == 0) {
        if (w->n == 1)
            return refuse(w->path, err);
        (void)close(w->fds[--w->n]);
        return 0;
    }
    if (strcmp(name, ".") == 0)
        return 0;
    int fd = openat(w->fds[w->n - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    int rc = fd < 0 || fstat(fd, &st) < 0 ? fail(w, err) : 0;
    if (rc == 0 && S_ISDIR(st.st_mode)) {
        if (w->n < MAX_DEPTH) {
            w->fds[w->n++] = fd;
            return 0;
        }
        rc = sw_err_set(err, SW_INVALID, "%s: folders are more than %d deep", w->path, MAX_DEPTH);
    } else if (rc == 0 && S_ISLNK(st.st_mode)) {
        rc = follow(w, fd, err);
    } else if (rc == 0 && !S_ISREG(st.st_mode)) {
        rc = sw_err_set(err, SW_INVALID, "%s: not a regular file", w->path);
    } else if (rc == 0 && !is_at_end(w)) {
        errno = ENOTDIR;
        rc = fail(w, err);
    } else if (rc == 0) {
        *out = rc = reopen(w, fd, err);
        rc = rc < 0 ? rc : 0;
    }
    if (fd >= 0)
        (void)close(fd); /* nothing was read by it */
    return rc;
}

static int walk(struct walk *w, const char *folder, struct sw_err *err)
{
    int out = -1;
    w->fds[0] = open(*folder ? folder : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    w->n = w->fds[0] >= 0;
    int rc = w->n ? 0 : fail(w, err);
    while (rc == 0 && out < 0) {
        SW_AUTO_CHARS *name = next_name(w);
        if (!*name)
            rc = out = reopen(w, w->fds[w->n - 1], err);
        else
            rc = step(w, name, &out, err);
    }
    while (w->n)
        (void)close(w->fds[--w->n]);
    return rc < 0 ? rc : out;
}

/* @path without "//", "." and "..", as its names alone say it (filepath.Clean of Go): a chart's
 * file://../../states/nfd may lead from one folder to another. The caller's. */
static char *clean(const char *path)
{
    char *out = sw_strdup(path), *end = out;
    for (const char *at = path + strspn(path, "/"); *at; at += strspn(at, "/")) {
        size_t len = strcspn(at, "/");
        if (len == 2 && memcmp(at, "..", 2) == 0) {
            while (end > out && *--end != '/')
                continue;
        } else if (len != 1 || *at != '.') {
            *end++ = '/';
            memmove(end, at, len);
            end += len;
        }
        at += len;
    }
    *end = '\0';
    return out;
}

int sw_folders_open(const struct sw_folders *folders, const char *path, struct sw_err *err)
{
    int rc = refuse(path, err);
    SW_AUTO_CHARS *cleaned = clean(path);
    for (size_t i = 0; i < folders->n && rc == SW_FORBIDDEN; i++) {
        const char *folder = folders->paths[i];
        size_t len = strlen(folder);
        if (*path != '/' || strncmp(cleaned, folder, len) != 0 ||
            (cleaned[len] && cleaned[len] != '/'))
            continue;
        struct walk w = { .path = path, .rest = sw_strdup(cleaned + len) };
        rc = walk(&w, folder, err);
        free(w.rest);
    }
    return rc;
}

int sw_folders_read(const struct sw_folders *folders, const char *path, size_t max_bytes,
                    char **out, size_t *len_bytes, struct sw_err *err)
{
    int fd = sw_folders_open(folders, path, err);
    if (fd < 0)
        return fd;
    SW_AUTO_CHARS *self = sw_printf("/proc/self/fd/%d", fd);
    SW_ERR(why);
    int rc = sw_file_read(self, max_bytes, out, len_bytes, &why);
    (void)close(fd); /* read only: nothing to lose */
    return rc < 0 ? sw_err_set(err, rc, "%s%s", path, sw_err_text(&why) + strlen(self)) : 0;
}
