/* A recipe as one piece of bytes, for caches and for another process: it is read and written
 * without a library, and not compressed. */
#include "chart/recipe/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/chart.h"
#include "chart/recipe/load/files.h"

static const char magic[] = "slipway bundle 1\n";

/* ---- files <-> bytes ---------------------------------------------------------------------------
 */

enum { HEAD_MAX = 64 }; /* of a file, without its name */

void sw_files_to_bundle(const struct sw_files *files, char **bytes, size_t *len)
{
    size_t room = sizeof magic;
    for (size_t i = 0; i < files->n; i++)
        room += HEAD_MAX + strlen(files->items[i].name) + files->items[i].len;
    char *out = *bytes = sw_alloc(room), *at = stpcpy(out, magic);
    for (size_t i = 0; i < files->n; i++) {
        const struct sw_recipe_file *file = &files->items[i];
        at += sprintf(at, "%zu %zu\n", strlen(file->name), file->len);
        at = stpcpy(at, file->name);
        if (file->len)
            at = mempcpy(at, file->bytes, file->len);
        *at++ = '\n';
    }
    *at = '\0';
    *len = (size_t)(at - out);
}

struct reading {
    const char *at, *end;
};

static bool read_size(struct reading *r, char after, size_t *out)
{
    size_t value = 0;
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(*r->at - '0'), &value))
            return false;
    *out = value;
    return r->at > start && r->at < r->end && *r->at++ == after;
}

static bool read_bytes(struct reading *r, size_t len, const char **out)
{
    *out = r->at;
    if (len > (size_t)(r->end - r->at))
        return false;
    r->at += len;
    return true;
}

/* Relative, with no part that is empty, "." or "..". */
static bool is_inside(const char *name, size_t len)
{
    if (len == 0 || memchr(name, '\0', len))
        return false;
    for (size_t at = 0; at <= len;) {
        const char *slash = memchr(name + at, '/', len - at);
        size_t part = slash ? (size_t)(slash - name) - at : len - at;
        if (part == 0 || (part <= 2 && memcmp(name + at, "..", part) == 0))
            return false;
        at += part + 1;
    }
    return true;
}

int sw_files_read_bundle(struct sw_files *files, const void *bytes, size_t len, struct sw_err *err)
{
    struct reading r = { bytes, (const char *)bytes + len };
    const char *text;
    if (!read_bytes(&r, strlen(magic), &text) || memcmp(text, magic, strlen(magic)) != 0)
        return sw_err_set(err, SW_INVALID, "not a bundle");
    while (r.at < r.end) {
        size_t name_len, file_len;
        const char *name, *file;
        if (!read_size(&r, ' ', &name_len) || !read_size(&r, '\n', &file_len) ||
            !read_bytes(&r, name_len, &name) || !read_bytes(&r, file_len, &file) || r.at == r.end ||
            *r.at++ != '\n')
            return sw_err_set(err, SW_INVALID, "a damaged bundle");
        if (!is_inside(name, name_len))
            return sw_err_set(err, SW_INVALID, "'%.*s': a path that leads outside", (int)name_len,
                              name);
        SW_AUTO_CHARS *copy = sw_strndup(name, name_len);
        int rc = sw_files_copy(files, copy, file, file_len, err);
        if (rc < 0)
            return rc;
    }
    return sw_files_sort(files, err);
}

int sw_files_take_got(struct sw_files *files, struct sw_recipe_got *got, struct sw_err *err)
{
    if (got->archive)
        return sw_files_read_archive(files, got->origin, got->archive, got->archive_len, err);
    for (size_t i = 0; i < got->n_files; i++) {
        struct sw_recipe_file *f = &got->files[i];
        int rc = sw_files_add(files, f->name, (char *)SW_TAKE(f->bytes), f->len, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s", got->origin);
    }
    return sw_files_sort(files, err);
}

/* ---- a recipe -> bytes -------------------------------------------------------------------------
 */

static int flatten(struct sw_files *to, const struct sw_chart *chart, const char *prefix,
                   struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < chart->n_in && rc == 0; i++) {
        const struct sw_recipe_file *f = &chart->in[i];
        if (sw_starts_with(f->name, "charts/") && !sw_ends_with(f->name, ".prov") &&
            !sw_streq(f->name, SW_NOT_FETCHED_FILE))
            continue;
        SW_AUTO_CHARS *name = sw_printf("%s%s", prefix, f->name);
        rc = sw_files_copy(to, name, f->bytes, f->len, err);
    }
    if (rc == 0 && chart->any_version) {
        SW_AUTO_CHARS *mark = sw_printf("%s" SW_ANY_VERSION_FILE, prefix);
        rc = sw_files_copy(to, mark, "", 0, err);
    }
    bool plain = true; /* sorting by name keeps the order, else numbers before the names do */
    for (size_t i = 1; i < chart->n_charts; i++)
        plain &= strcmp(chart->charts[i - 1]->name, chart->charts[i]->name) < 0;
    for (size_t i = 0; i < chart->n_charts && rc == 0; i++) {
        const char *name = chart->charts[i]->name;
        SW_AUTO_CHARS *inner = plain ? sw_printf("%scharts/%s/", prefix, name)
                                     : sw_printf("%scharts/%03zu-%s/", prefix, i, name);
        rc = flatten(to, chart->charts[i], inner, err);
    }
    return rc;
}

int sw_recipe_to_bundle(const struct sw_recipe *recipe, char **bytes, size_t *len,
                        struct sw_err *err)
{
    struct sw_files files = sw_files_init(&recipe->limits);
    int rc = flatten(&files, recipe->root, "", err);
    if (rc == 0)
        rc = sw_files_sort(&files, err);
    if (rc == 0)
        sw_files_to_bundle(&files, bytes, len);
    sw_files_done(&files);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", recipe->root->origin) : 0;
}
