/* A recipe as a packaged chart, written by libarchive in memory. */
#include "chart/recipe/package/pack.h"

#include <stdlib.h>
#include <string.h>

#include "chart/archive/libarchive.h"
#include "chart/recipe/load/chart.h"
#include "chart/recipe/plan/plan.h"

/* ---- which files --------------------------------------------------------------------------------
 */

static int add_files(struct sw_files *to, const struct sw_recipe_file *files, size_t n,
                     const char *prefix, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        SW_AUTO_CHARS *name = sw_printf("%s%s", prefix, files[i].name);
        rc = sw_files_copy(to, name, files[i].bytes, files[i].len, err);
    }
    return rc;
}

/* The folder of @sub below @chart's charts/; NULL: it is elsewhere. */
static const char *own_folder(const struct sw_chart *chart, const struct sw_chart *sub)
{
    SW_AUTO_CHARS *charts = sw_printf("%s/charts/", chart->dir);
    if (!sw_starts_with(sub->dir, charts))
        return NULL;
    const char *folder = sub->dir + strlen(charts);
    return strchr(folder, '/') || *folder == '.' || *folder == '_' ? NULL : folder;
}

/* The subcharts of @chart that do not lie in it; its own files are in @to already. */
static int add_dependencies(struct sw_files *to, const struct sw_chart *chart, const char *prefix,
                            struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < chart->n_charts && rc == 0; i++) {
        const struct sw_chart *sub = chart->charts[i];
        if (!sub->dir && !sub->base) /* out of an archive: complete */
            continue;
        const char *folder = sub->dir ? own_folder(chart, sub) : NULL;
        SW_AUTO_CHARS *inner = sw_printf("%scharts/%s/", prefix, folder ? folder : sub->name);
        if (!sub->dir) {
            rc = add_files(to, sub->in, sub->n_in, inner, err);
        } else if (!folder) {
            struct sw_files files = sw_files_init(&to->limits);
            rc = sw_files_read_dir(&files, sub->dir, err);
            if (rc == 0)
                rc = add_files(to, files.items, files.n, inner, err);
            sw_files_done(&files);
        }
        if (rc == 0 && sub->any_version &&
            !sw_files_find(sub->in, sub->n_in, SW_ANY_VERSION_FILE)) {
            SW_AUTO_CHARS *mark = sw_printf("%s" SW_ANY_VERSION_FILE, inner);
            rc = sw_files_copy(to, mark, "", 0, err);
        }
        if (rc == 0)
            rc = add_dependencies(to, sub, inner, err);
    }
    return rc;
}

static int rank_of(const char *name)
{
    static const char *const first[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                         "values.schema.json" };
    int n = (int)SW_COUNT(first);
    for (int i = 0; i < n; i++)
        if (sw_streq(name, first[i]))
            return i;
    return sw_starts_with(name, "templates/") ? n : sw_starts_with(name, "charts/") ? n + 2 : n + 1;
}

static int by_rank(const void *pa, const void *pb)
{
    const char *a = ((const struct sw_recipe_file *)pa)->name,
               *b = ((const struct sw_recipe_file *)pb)->name;
    while (sw_starts_with(a, "charts/") && sw_starts_with(b, "charts/")) {
        size_t folder = strlen("charts/") + strcspn(a + strlen("charts/"), "/");
        if (a[folder] != '/' || strncmp(a, b, folder + 1) != 0)
            break;
        a += folder + 1; /* in the same subchart: as in a chart of its own */
        b += folder + 1;
    }
    int order = rank_of(a) - rank_of(b);
    return order ? order : strcmp(a, b);
}

static int list_chart(const struct sw_chart *chart, const struct sw_recipe_file *own, size_t n,
                      struct sw_files *files, struct sw_err *err)
{
    int rc = add_files(files, own, n, "", err);
    if (rc == 0)
        rc = add_dependencies(files, chart, "", err);
    if (rc == 0)
        rc = sw_files_sort(files, err); /* nothing twice */
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", chart->origin);
    qsort(files->items, files->n, sizeof *files->items, by_rank);
    return 0;
}

int sw_recipe_list_files(const struct sw_recipe *recipe, struct sw_files *files, struct sw_err *err)
{
    return list_chart(recipe->root, recipe->sources[0].items, recipe->sources[0].n, files, err);
}

int sw_plan_list_files(const struct sw_plan *plan, const char *chart, struct sw_files *files,
                       const struct json_object **metadata, struct sw_err *err)
{
    const struct sw_plan_chart *at = sw_plan_chart_at(plan, chart);
    if (!at)
        return sw_err_set(err, SW_NOTFOUND, "the plan has no chart '%s'", chart);
    *metadata = at->loaded->meta;
    return list_chart(at->loaded, at->loaded->in, at->loaded->n_in, files, err);
}

/* ---- the archive --------------------------------------------------------------------------------
 */

struct output {
    char *bytes; /* owned */
    size_t len, cap;
};

static ssize_t on_bytes(struct archive *a SW_UNUSED, void *arg, const void *bytes, size_t len)
{
    struct output *out = arg;
    if (out->cap - out->len < len) {
        out->cap = out->cap * 2 + len;
        out->bytes = sw_realloc(out->bytes, out->cap, 1);
    }
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
    return (ssize_t)len;
}

int64_t sw_build_time_s(int64_t otherwise_s)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH"); /* set by reproducible builds */
    char *end = NULL;
    long long seconds = epoch ? strtoll(epoch, &end, 10) : 0;
    return !epoch || end == epoch || *end || seconds < 0 ? otherwise_s : seconds;
}

static bool write_file(struct archive *a, const char *folder, const struct sw_recipe_file *f)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", folder, f->name);
    struct archive_entry *e = sw_archive.entry_new();
    if (!e)
        return false;
    int64_t seconds = sw_build_time_s(315532800); /* 1980, which every archive format can hold */
    sw_archive.entry_set_pathname(e, path);
    sw_archive.entry_set_filetype(e, AE_IFREG);
    sw_archive.entry_set_perm(e, 0644);
    sw_archive.entry_set_size(e, (int64_t)f->len);
    sw_archive.entry_set_mtime(e, (time_t)seconds, 0);
    bool ok = sw_archive.write_header(a, e) == ARCHIVE_OK &&
              sw_archive.write_data(a, f->bytes, f->len) == (ssize_t)f->len;
    sw_archive.entry_free(e);
    return ok;
}

static bool write_all(struct archive *a, const char *folder, const struct sw_files *files,
                      struct output *out)
{
    /* BINARY keeps names in UTF-8 whatever the locale. Each file then has a header that GNU tar
     * warns about: it is set for names that are not ASCII only. */
    bool ascii = true;
    for (size_t i = 0; i < files->n; i++)
        for (const char *c = files->items[i].name; *c; c++)
            ascii &= (unsigned char)*c < 0x80;
    bool ok = sw_archive.write_pax(a) == ARCHIVE_OK &&
              (ascii ||
               sw_archive.write_format_option(a, NULL, "hdrcharset", "BINARY") == ARCHIVE_OK) &&
              sw_archive.write_gzip(a) == ARCHIVE_OK &&
              sw_archive.write_filter_option(a, "gzip", "timestamp", NULL) == ARCHIVE_OK &&
              sw_archive.write_filter_option(a, "gzip", "compression-level", "9") == ARCHIVE_OK &&
              sw_archive.write_last_block(a, 1) == ARCHIVE_OK &&
              sw_archive.write_open(a, out, NULL, on_bytes, NULL) == ARCHIVE_OK;
    for (size_t i = 0; i < files->n && ok; i++)
        ok = write_file(a, folder, &files->items[i]);
    return ok && sw_archive.write_close(a) == ARCHIVE_OK;
}

char *sw_recipe_archive_name(const struct sw_recipe *recipe)
{
    return sw_printf("%s-%s.tgz", sw_recipe_name(recipe), sw_recipe_version(recipe));
}

int sw_files_pack(const struct sw_files *files, const char *folder, char **bytes, size_t *len,
                  struct sw_err *err)
{
    if (!sw_archive_load())
        return sw_err_set(err, SW_UNAVAILABLE, "packing needs libarchive (libarchive.so.13)");
    struct output out = { 0 };
    struct archive *a = sw_archive.write_new();
    int rc = 0;
    if (!a || !write_all(a, folder, files, &out)) {
        const char *why = a ? sw_archive.error_string(a) : NULL;
        rc = sw_err_set(err, SW_UNAVAILABLE, "%s: cannot be packed: %s", folder,
                        why ? why : "no memory");
    }
    if (a)
        (void)sw_archive.write_free(a); /* closed above, or not worth closing */
    if (rc < 0) {
        free(out.bytes);
        return rc;
    }
    *bytes = out.bytes;
    *len = out.len;
    return 0;
}

int sw_recipe_pack(const struct sw_recipe *recipe, char **bytes, size_t *len, struct sw_err *err)
{
    struct sw_files files = sw_files_init(&recipe->limits);
    int rc = sw_recipe_list_files(recipe, &files, err);
    if (rc == 0)
        rc = sw_files_pack(&files, sw_recipe_name(recipe), bytes, len, err);
    sw_files_done(&files);
    return rc;
}
