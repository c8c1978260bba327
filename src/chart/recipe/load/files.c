#include "chart/recipe/load/files.h"

#include <stdlib.h>
#include <string.h>

struct sw_files sw_files_init(const struct sw_recipe_opts *opts)
{
    struct sw_files files = { 0 };
    if (opts)
        files.limits = *opts;
    if (!files.limits.max_bytes)
        files.limits.max_bytes = 64U << 20;
    if (!files.limits.max_files)
        files.limits.max_files = 10000;
    return files;
}

void sw_files_free(struct sw_recipe_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)files[i].name);
        free((char *)files[i].bytes);
    }
    free(files);
}

void sw_files_done(struct sw_files *files)
{
    sw_files_free(files->items, files->n);
    *files = (struct sw_files){ .limits = files->limits };
}

int sw_files_check(const struct sw_files *files, size_t len, struct sw_err *err)
{
    if (files->n >= files->limits.max_files)
        return sw_err_set(err, SW_INVALID, "more than %zu files", files->limits.max_files);
    if (len > files->limits.max_bytes || files->bytes > files->limits.max_bytes - len)
        return sw_err_set(err, SW_INVALID, "more than %zu bytes in all", files->limits.max_bytes);
    return 0;
}

int sw_files_add(struct sw_files *files, const char *name, char *bytes, size_t len,
                 struct sw_err *err)
{
    int rc = sw_files_check(files, len, err);
    if (rc < 0) {
        free(bytes);
        return rc;
    }
    if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        len -= 3;
        memmove(bytes, bytes + 3, len + 1);
    }
    SW_GROW(files->items, files->n, files->cap);
    files->items[files->n++] = (struct sw_recipe_file){ sw_strdup(name), bytes, len };
    files->bytes += len;
    return 0;
}

int sw_files_copy(struct sw_files *files, const char *name, const char *bytes, size_t len,
                  struct sw_err *err)
{
    int rc = sw_files_check(files, len, err);
    return rc < 0 ? rc : sw_files_add(files, name, sw_strndup(bytes, len), len, err);
}

const struct sw_recipe_file *sw_files_find(const struct sw_recipe_file *files, size_t n,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sw_streq(files[i].name, name))
            return &files[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sw_recipe_file *)a)->name,
                  ((const struct sw_recipe_file *)b)->name);
}

int sw_files_sort(struct sw_files *files, struct sw_err *err)
{
    if (files->n > 0)
        qsort(files->items, files->n, sizeof *files->items, by_name);
    for (size_t i = 1; i < files->n; i++)
        if (sw_streq(files->items[i - 1].name, files->items[i].name))
            return sw_err_set(err, SW_INVALID, "%s: a file that is there twice",
                              files->items[i].name);
    return 0;
}

void sw_recipe_got_done(struct sw_recipe_got *got)
{
    sw_files_free(got->files, got->n_files);
    free(got->archive);
    free(got->origin);
    free(got->digest);
    free(got->version);
    free(got->provenance);
    *got = (struct sw_recipe_got){ 0 };
}

struct sw_aicr_files sw_files_aicr(const struct sw_files *files)
{
    struct sw_aicr_file *items = sw_zalloc(files->n + 1, sizeof *items);
    for (size_t i = 0; i < files->n; i++)
        items[i] = (struct sw_aicr_file){ files->items[i].name, files->items[i].bytes,
                                          files->items[i].len };
    return (struct sw_aicr_files){ items, files->n };
}
