/* A chart's directory as a source. */
#include "recipe/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recipe/ignore.h"

enum { MAX_DEPTH = 32 }; /* folders in each other; a link to a folder above would go on for ever */

struct walk {
    struct sw_files *files;
    const char *dir; /* the chart's, as given */
    struct sw_ignore *ignore;
    int depth;
};

static int code_of(int error)
{
    return error == ENOENT || error == ENOTDIR ? SW_NOTFOUND
           : error == EACCES                   ? SW_FORBIDDEN
                                               : SW_INVALID;
}

static int walk_dir(struct walk *w, const char *path, struct sw_err *err);

static int walk_file(struct walk *w, const char *full, const char *path, struct sw_err *err)
{
    char *bytes;
    size_t len;
    size_t room = w->files->limits.max_bytes - w->files->bytes;
    int rc = sw_file_read(full, room, &bytes, &len, err);
    return rc < 0 ? rc : sw_files_add(w->files, path, bytes, len, err);
}

static int walk_entry(struct walk *w, const char *path, struct sw_err *err)
{
    SW_AUTO_CHARS *full = sw_printf("%s/%s", w->dir, path);
    struct stat st;
    if (stat(full, &st) < 0)
        return sw_err_set(err, code_of(errno), "%s: %s", full, strerror(errno));
    if (sw_ignore_match(w->ignore, path, S_ISDIR(st.st_mode)))
        return 0;
    if (S_ISDIR(st.st_mode))
        return walk_dir(w, path, err);
    if (!S_ISREG(st.st_mode))
        return sw_err_set(err, SW_INVALID, "%s: not a regular file", full);
    return walk_file(w, full, path, err);
}

static int not_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* @path: relative to the chart, "" for the chart itself. */
static int walk_dir(struct walk *w, const char *path, struct sw_err *err)
{
    if (++w->depth > MAX_DEPTH)
        return sw_err_set(err, SW_INVALID, "%s/%s: folders are more than %d deep", w->dir, path,
                          MAX_DEPTH);
    SW_AUTO_CHARS *full = sw_printf("%s%s%s", w->dir, *path ? "/" : "", path);
    struct dirent **names = NULL;
    int n = scandir(full, &names, not_dots, NULL);
    if (n < 0)
        return sw_err_set(err, code_of(errno), "%s: %s", full, strerror(errno));
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        SW_AUTO_CHARS *child = sw_printf("%s%s%s", path, *path ? "/" : "", names[i]->d_name);
        rc = walk_entry(w, child, err);
    }
    free_names(names, n);
    w->depth--;
    return rc;
}

int sw_files_read_dir(struct sw_files *files, const char *dir, struct sw_err *err)
{
    SW_AUTO_CHARS *rules = sw_printf("%s/.helmignore", dir);
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    SW_ERR(none);
    int rc = sw_file_read(rules, 1U << 20, &text, &len, &none);
    if (rc < 0 && rc != SW_NOTFOUND)
        return sw_err_move(err, &none);
    SW_AUTO(sw_ignore) *ignore = NULL;
    rc = sw_ignore_new(rules, text, len, &ignore, err);
    if (rc < 0)
        return rc;
    struct walk w = { .files = files, .dir = dir, .ignore = ignore };
    rc = walk_dir(&w, "", err);
    return rc < 0 ? rc : sw_files_sort(files, err);
}
