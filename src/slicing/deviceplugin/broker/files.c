#include "slicing/deviceplugin/broker/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data.h"

static int fail(struct sw_err *err, const char *path)
{
    const int code = errno == ENOENT                     ? SW_NOTFOUND
                     : errno == EACCES || errno == EPERM ? SW_FORBIDDEN
                                                         : SW_UNAVAILABLE;
    return sw_err_set(err, code, "%s: %s", path, strerror(errno));
}

/* The name of what is being written begins with a dot: no reader takes it. */
int dp_file_write(const char *dir, const char *name, struct json_object *doc, struct sw_err *err)
{
    size_t len;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name), *tmp = sw_printf("%s/.%s.new", dir, name);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PRETTY, &len);
    const int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(err, tmp);
    bool ok = write(fd, text, len) == (ssize_t)len;
    ok = close(fd) == 0 && ok && rename(tmp, path) == 0;
    if (ok)
        return 0;
    const int rc = fail(err, path);
    (void)unlink(tmp);
    return rc;
}

bool dp_file_is(const char *dir, const char *name, struct json_object *doc)
{
    size_t len, there_len;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name), *there = NULL;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PRETTY, &len);
    return sw_file_read(path, len + 1, &there, &there_len, NULL) == 0 && there_len == len &&
           memcmp(there, text, len) == 0;
}

int dp_file_remove(const char *dir, const char *name, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    return unlink(path) == 0 || errno == ENOENT ? 0 : fail(err, path);
}

int dp_dir_make(const char *dir, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_strdup(dir);
    for (char *p = path + 1; *path && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return fail(err, path);
        *p = '/';
    }
    return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : fail(err, path);
}

int dp_dir_lock(const char *dir, bool wait, int *fd, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/.lock", dir);
    const int rc = dp_dir_make(dir, err);
    if (rc < 0)
        return rc;
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0)
        return fail(err, path);
    int got;
    while ((got = flock(lock, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) < 0 && errno == EINTR)
        ;
    if (got == 0) {
        *fd = lock;
        return 0;
    }
    const int code = errno == EWOULDBLOCK ? sw_err_set(err, SW_CONFLICT, "%s is locked", path)
                                          : fail(err, path);
    (void)close(lock);
    return code;
}

int dp_dir_each(const char *dir, const char *suffix,
                void (*each)(const char *, struct json_object *, int, const struct sw_err *,
                             void *),
                void *arg, struct sw_err *err)
{
    struct dirent **entries;
    const int n = scandir(dir, &entries, NULL, alphasort); /* whole first: @each may remove */
    if (n < 0)
        return fail(err, dir);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && sw_ends_with(name, suffix)) {
            SW_ERR(why);
            SW_AUTO_JSON *doc = NULL;
            SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name), *text = NULL;
            size_t len;
            int rc = sw_file_read(path, DP_RECORD_BYTES, &text, &len, &why);
            if (rc == 0)
                rc = sw_json_parse(
                    text, len, &(struct sw_json_opts){ .file = path, .max_depth = 32 }, &doc, &why);
            each(name, doc, rc, &why, arg);
        }
        free(entries[i]);
    }
    free(entries);
    return 0;
}
