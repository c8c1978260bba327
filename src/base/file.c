#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int code_of_errno(int e)
{
    switch (e) {
    case ENOENT:
    case ENOTDIR:
        return SW_NOTFOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return SW_FORBIDDEN;
    default:
        return SW_UNAVAILABLE;
    }
}

static int fail(struct sw_err *err, const char *path)
{
    int e = errno;
    return sw_err_set(err, code_of_errno(e), "%s: %s", path, strerror(e));
}

void sw_close_from(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
        return;
    for (int fd = first; fd < 1024; fd++) /* before Linux 5.9, or where that is not allowed */
        (void)close(fd);
}

int sw_file_unnamed(void)
{
    const char *dir = getenv("TMPDIR");
    int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("slipway", MFD_CLOEXEC);
}

/* @size, from stat, is a hint: pipes and /proc say 0, and a file may grow. Only where it comes true
 * is the end not asked for. */
static int read_all(int fd, const char *path, size_t size, size_t max_bytes, char **out,
                    size_t *len_bytes, struct sw_err *err)
{
    size_t cap = size && size <= max_bytes ? size + 1 : 4096, len = 0;
    SW_AUTO_CHARS *p = sw_alloc(cap + 1);
    for (;;) {
        if (len == cap) {
            cap *= 2;
            p = sw_realloc(p, cap + 1, 1);
        }
        ssize_t n = read(fd, p + len, cap - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, path);
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > max_bytes)
            return sw_err_set(err, SW_INVALID, "%s: larger than %zu bytes", path, max_bytes);
        if (len == size)
            break;
    }
    p[len] = '\0';
    *len_bytes = len;
    *out = SW_TAKE(p);
    return 0;
}

int sw_fd_fill(int fd, const char *text, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0;
}

int sw_fd_read(int fd, const char *name, size_t max_bytes, char **out, size_t *len_bytes,
               struct sw_err *err)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", name, strerror(errno));
    return read_all(fd, name, (size_t)size, max_bytes, out, len_bytes, err);
}

int sw_file_read(const char *path, size_t max_bytes, char **out, size_t *len_bytes,
                 struct sw_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, path);
    struct stat st = { 0 };
    int rc;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        rc = sw_err_set(err, SW_INVALID, "%s: is a directory", path);
    else
        rc = read_all(fd, path, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, max_bytes, out,
                      len_bytes, err);
    (void)close(fd); /* read only: nothing to lose */
    return rc;
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return fsync(fd);
}

/* Set owner and mode of @fd as those of the file @path; where there is none, as the umask has it.
 */
static int take_on(int fd, const char *path)
{
    const mode_t mask = umask(077); /* it cannot be read otherwise */
    (void)umask(mask);
    struct stat old;
    if (stat(path, &old) < 0)
        return fchmod(fd, 0666 & ~mask);
    if (fchown(fd, old.st_uid, old.st_gid) < 0) /* not root: it is the user's own now */
        old.st_mode &= ~(mode_t)(S_ISUID | S_ISGID);
    return fchmod(fd, old.st_mode & 07777);
}

#define RANDOM_END "XXXXXX" /* of mkostemp() */

/* What a file that replaces @path is called until then, before RANDOM_END; heap. */
static char *new_prefix(const char *path)
{
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path) + 1 : 0;
    return sw_printf("%.*s.%s.slipway-", len, path, path + len);
}

/* Remove what such writers have left that were killed: those who live hold a lock. */
static void remove_left(const char *prefix)
{
    const char *slash = strrchr(prefix, '/'), *start = slash ? slash + 1 : prefix;
    SW_AUTO_CHARS *folder = slash ? sw_printf("%.*s", (int)(slash - prefix) + 1, prefix)
                                  : sw_strdup(".");
    const size_t len = strlen(start);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, start, len) ||
            strlen(entry->d_name) != len + sizeof RANDOM_END - 1)
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0); /* if it cannot: it is as before */
        (void)close(fd);
    }
    if (dir)
        (void)closedir(dir);
}

/* A new file, 0600, that remove_left() leaves alone until it is closed. *@name: heap */
static int open_new(const char *prefix, char **name)
{
    for (;;) {
        struct stat st;
        *name = sw_printf("%s" RANDOM_END, prefix);
        int fd = mkostemp(*name, O_CLOEXEC);
        if (fd < 0)
            return fd;
        while (flock(fd, LOCK_EX) < 0 && errno == EINTR) /* without locks nothing is removed */
            ;
        if (fstat(fd, &st) < 0 || st.st_nlink > 0)
            return fd;
        (void)close(fd); /* it was removed before it was locked */
        free(SW_TAKE(*name));
    }
}

static int write_file(const char *path, const void *bytes, size_t len_bytes, bool is_shared,
                      struct sw_err *err)
{
    SW_AUTO_CHARS *tmp = NULL, *prefix = is_shared ? new_prefix(path) : sw_printf("%s.", path);
    if (is_shared)
        remove_left(prefix);
    int fd = open_new(prefix, &tmp);
    if (fd < 0)
        return fail(err, path);
    bool ok = (!is_shared || take_on(fd, path) == 0) && write_all(fd, bytes, len_bytes) == 0 &&
              rename(tmp, path) == 0;
    int saved = errno;
    if (!ok)
        (void)unlink(tmp); /* the error to report is the first one */
    (void)close(fd);       /* what it would tell, fsync() has */
    errno = saved;
    return ok ? 0 : fail(err, path);
}

int sw_file_write(const char *path, const void *bytes, size_t len_bytes, struct sw_err *err)
{
    return write_file(path, bytes, len_bytes, false, err);
}

int sw_file_rewrite(const char *path, const void *bytes, size_t len_bytes, struct sw_err *err)
{
    return write_file(path, bytes, len_bytes, true, err);
}

int sw_file_write_deep(const char *path, const void *bytes, size_t len_bytes, struct sw_err *err)
{
    SW_AUTO_CHARS *folder = sw_strdup(path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) < 0 && errno != EEXIST)
            return fail(err, folder);
        *slash = '/';
    }
    return sw_file_write(path, bytes, len_bytes, err);
}
