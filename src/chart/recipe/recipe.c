/* A recipe from any source. */
#include "chart/recipe/recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/aicr/aicr.h"
#include "chart/recipe/load/chart.h"
#include "chart/recipe/plan/plan.h"
#include "chart/recipe/schema/schema.h"
#include "data/json/hash.h"
#include "data/text/url.h"

void sw_recipe_free(struct sw_recipe *recipe)
{
    if (!recipe)
        return;
    for (size_t i = 0; i < recipe->n_charts; i++) {
        (void)json_object_put(recipe->charts[i]->meta);
        sw_schema_free(recipe->charts[i]->schema);
    }
    for (size_t i = 0; i < recipe->n_sources; i++)
        sw_files_done(&recipe->sources[i]);
    sw_template_cache_unref(recipe->templates);
    free(recipe->charts);
    free(recipe->sources);
    sw_arena_free(recipe->arena);
    free(recipe);
}

/* ---- recipes of NVIDIA's AI Cluster Runtime -----------------------------------------------------
 */

/* What was made becomes the files. */
static int take_made(struct sw_files *files, const struct sw_aicr_made *made, struct sw_err *err)
{
    int rc = 0;
    sw_files_done(files);
    for (size_t i = 0; rc == 0 && i < made->n_files; i++)
        rc = sw_files_copy(files, made->files[i].name, made->files[i].bytes, made->files[i].len,
                           err);
    return rc < 0 ? rc : sw_files_sort(files, err);
}

/* Files that are no chart but a recipe of AICR become a chart. */
static int convert(struct sw_files *files, const char *origin, struct sw_err *err)
{
    const char *dir = files->limits.aicr_data, *criteria = files->limits.aicr_criteria;
    struct sw_aicr_files from = sw_files_aicr(files), data = { 0 };
    struct sw_aicr_made made = { 0 };
    struct sw_files catalog = { .limits = files->limits };
    struct sw_aicr_opts opts = { .criteria = criteria };
    int rc = 0;
    if (sw_aicr_is_source(&from)) {
        rc = dir ? sw_files_read_dir(&catalog, dir, err) : 0;
        data = sw_files_aicr(&catalog);
        opts.data = dir ? &data : NULL;
        if (rc == 0)
            rc = sw_aicr_make(origin, &from, &opts, &made, err);
        if (rc == 0)
            rc = take_made(files, &made, err);
    } else if (dir || criteria) {
        rc = sw_err_set(err, SW_INVALID,
                        "%s is no recipe of NVIDIA's AI Cluster Runtime, for which criteria and "
                        "data are",
                        origin);
    }
    sw_aicr_made_done(&made);
    sw_files_done(&catalog);
    free((struct sw_aicr_file *)from.items);
    free((struct sw_aicr_file *)data.items);
    return rc;
}

/* Load the chart in @files, which is taken, with its subcharts. @rc: of reading the files. */
static int finish(const struct sw_recipe_opts *opts, const struct sw_chart_place *place,
                  struct sw_files files, int rc, struct sw_recipe **out, struct sw_err *err)
{
    if (rc == 0)
        rc = convert(&files, place->origin, err);
    if (rc < 0) {
        sw_files_done(&files);
        return rc;
    }
    SW_AUTO(sw_recipe) *recipe = sw_zalloc(1, sizeof *recipe);
    recipe->arena = sw_arena_new();
    recipe->limits = sw_files_init(opts).limits;
    recipe->limits.chart = recipe->limits.version = NULL; /* of the root only */
    recipe->limits.aicr_criteria = recipe->limits.aicr_data = NULL;
    SW_GROW(recipe->sources, recipe->n_sources, recipe->cap_sources);
    recipe->sources[recipe->n_sources++] = files;
    rc = sw_chart_load_root(recipe, place, &files, err);
    if (rc < 0)
        return rc;
    recipe->limits.get = NULL; /* the caller's: only valid until this returns */
    recipe->limits.get_arg = NULL;
    *out = SW_TAKE(recipe);
    return 0;
}

/* ---- sources ------------------------------------------------------------------------------------
 */

/* A RecipeResult whose file is @path; its catalogue may be where it is. @bytes are taken. */
static int open_result(const char *path, struct sw_files files, char *bytes, size_t len,
                       struct sw_recipe **out, struct sw_err *err)
{
    const char *slash = strrchr(path, '/');
    SW_AUTO_CHARS *dir = slash ? sw_strndup(path, (size_t)(slash - path) + 1) : sw_strdup("./");
    SW_AUTO_CHARS *registry = sw_printf("%sregistry.yaml", dir);
    if (!files.limits.aicr_data && access(registry, F_OK) == 0)
        files.limits.aicr_data = dir;
    int rc = sw_files_add(&files, "recipe.yaml", bytes, len, err);
    const struct sw_recipe_opts opts = files.limits;
    return finish(&opts, &(struct sw_chart_place){ .origin = path }, files, rc, out, err);
}

static int open_path(const char *path, const struct sw_recipe_opts *opts, struct sw_recipe **out,
                     struct sw_err *err)
{
    struct stat st;
    const struct sw_folders *folders = opts ? opts->folders : NULL;
    int fd = folders ? sw_folders_open(folders, path, err) : -1;
    if (folders && fd < 0)
        return fd;
    if ((fd < 0 ? stat(path, &st) : fstat(fd, &st)) < 0) {
        if (fd >= 0)
            (void)close(fd);
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_NOTFOUND, "%s: %s", path,
                          strerror(errno));
    }
    if (fd >= 0)
        (void)close(fd); /* what it is, is known */
    struct sw_files files = sw_files_init(opts);
    if (S_ISDIR(st.st_mode)) {
        SW_AUTO_CHARS *dir = sw_strndup(path, sw_before_slashes(path, strlen(path), 1));
        int rc = sw_files_read_dir(&files, dir, err);
        return finish(opts, &(struct sw_chart_place){ .origin = dir, .dir = dir }, files, rc, out,
                      err);
    }
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    const bool may_be_result = sw_ends_with(path, ".yaml") || sw_ends_with(path, ".yml");
    if (opts && opts->no_archives && !may_be_result)
        return sw_err_set(err, SW_PENDING, "%s: a packaged chart", path);
    int rc = folders ? sw_folders_read(folders, path, files.limits.max_bytes, &bytes, &len, err)
                     : sw_file_read(path, files.limits.max_bytes, &bytes, &len, err);
    if (rc == 0 && may_be_result && sw_aicr_is_result(bytes, len))
        return open_result(path, files, SW_TAKE(bytes), len, out, err);
    return rc < 0 ? rc : sw_recipe_from_archive(path, bytes, len, opts, out, err);
}

int sw_recipe_open(const char *source, const struct sw_recipe_opts *opts, struct sw_recipe **out,
                   struct sw_err *err)
{
    const char *colon = strstr(source, "://");
    bool is_url = colon && !memchr(source, '/', (size_t)(colon - source));
    if (sw_starts_with(source, "file://"))
        return open_path(source + strlen("file://"), opts, out, err);
    if (!is_url)
        return open_path(source, opts, out, err);
    SW_AUTO_CHARS *shown = sw_url_shown(source);
    if (!opts || !opts->get)
        return sw_err_set(err, SW_INVALID, "%s: recipes cannot be read from %.*s", shown,
                          (int)(colon + 3 - source), source);
    struct sw_recipe_got got = { 0 };
    struct sw_recipe_ask ask = { .url = source, .name = opts->chart, .version = opts->version };
    int rc = opts->get(opts->get_arg, &ask, &got, err);
    struct sw_files files = sw_files_init(opts);
    if (rc == 0)
        rc = sw_files_take_got(&files, &got, err);
    SW_AUTO(sw_recipe) *recipe = NULL;
    rc = finish(opts, &(struct sw_chart_place){ .origin = got.origin, .base = got.origin }, files,
                rc, &recipe, err);
    if (rc == 0)
        rc = sw_chart_check_got(recipe->root, got.version ? opts->chart : NULL, got.version, err);
    sw_recipe_got_done(&got);
    if (rc == 0)
        *out = SW_TAKE(recipe);
    return rc;
}

int sw_recipe_from_files(const char *origin, const struct sw_recipe_file *files, size_t n_files,
                         const struct sw_recipe_opts *opts, struct sw_recipe **out,
                         struct sw_err *err)
{
    struct sw_files copies = sw_files_init(opts);
    int rc = 0;
    for (size_t i = 0; i < n_files && rc == 0; i++)
        rc = sw_files_copy(&copies, files[i].name, files[i].bytes, files[i].len, err);
    if (rc == 0)
        rc = sw_files_sort(&copies, err);
    if (rc < 0)
        rc = sw_err_wrap(err, rc, "%s", origin);
    return finish(opts, &(struct sw_chart_place){ .origin = origin }, copies, rc, out, err);
}

/* The packed recipe in a bundle of `slipway bundle`, whose digest has to be the one in the bundle's
 * list; NULL: @files is none. Borrowed. */
static int find_in_bundle(const struct sw_files *files, const struct sw_recipe_file **out,
                          struct sw_err *err)
{
    const struct sw_recipe_file *sums = sw_files_find(files->items, files->n, SW_BUNDLE_CHECKSUMS);
    char sum[SW_SHA256_HEX];
    *out = NULL;
    if (sw_files_find(files->items, files->n, "Chart.yaml") ||
        !sw_files_find(files->items, files->n, SW_BUNDLE_IMAGES))
        return 0;
    for (size_t i = 0; i < files->n && !*out; i++)
        if (!strchr(files->items[i].name, '/') && sw_ends_with(files->items[i].name, ".tgz"))
            *out = &files->items[i];
    if (!*out)
        return sw_err_set(err, SW_INVALID, "a bundle without a recipe");
    SW_AUTO_CHARS *line = sw_printf("%s  %s\n", sw_sha256_hex((*out)->bytes, (*out)->len, sum),
                                    (*out)->name);
    if (sums && !strstr(sums->bytes, line))
        return sw_err_set(err, SW_INVALID, "%s: its digest is not the one in " SW_BUNDLE_CHECKSUMS,
                          (*out)->name);
    return 0;
}

int sw_recipe_from_archive(const char *origin, const void *bytes, size_t len,
                           const struct sw_recipe_opts *opts, struct sw_recipe **out,
                           struct sw_err *err)
{
    struct sw_files files = sw_files_init(opts);
    const struct sw_recipe_file *inner = NULL;
    int rc = sw_files_read_archive(&files, origin, bytes, len, err);
    if (rc == 0 && (rc = find_in_bundle(&files, &inner, err)) < 0)
        rc = sw_err_wrap(err, rc, "%s", origin);
    if (inner && rc == 0) {
        struct sw_files packed = files;
        SW_AUTO_CHARS *name = sw_printf("%s: %s", origin, inner->name);
        files = sw_files_init(opts);
        rc = sw_files_read_archive(&files, name, inner->bytes, inner->len, err);
        sw_files_done(&packed);
    }
    return finish(opts, &(struct sw_chart_place){ .origin = origin }, files, rc, out, err);
}

int sw_recipe_from_bundle(const char *origin, const void *bytes, size_t len,
                          const struct sw_recipe_opts *opts, struct sw_recipe **out,
                          struct sw_err *err)
{
    struct sw_files files = sw_files_init(opts);
    int rc = sw_files_read_bundle(&files, bytes, len, err);
    if (rc < 0)
        rc = sw_err_wrap(err, rc, "%s", origin);
    return finish(opts, &(struct sw_chart_place){ .origin = origin }, files, rc, out, err);
}

/* ---- its contents -------------------------------------------------------------------------------
 */

const char *sw_recipe_name(const struct sw_recipe *recipe)
{
    return recipe->root->name;
}

const char *sw_recipe_origin(const struct sw_recipe *recipe)
{
    return recipe->root->origin;
}

const char *sw_recipe_version(const struct sw_recipe *recipe)
{
    return recipe->root->version;
}

const struct json_object *sw_recipe_metadata(const struct sw_recipe *recipe)
{
    return recipe->root->meta;
}

const struct sw_recipe_file *sw_recipe_find_file(const struct sw_recipe *recipe, const char *path)
{
    const struct sw_files *files = &recipe->sources[0];
    return sw_starts_with(path, "charts/") ? NULL : sw_files_find(files->items, files->n, path);
}

size_t sw_recipe_n_charts(const struct sw_recipe *recipe)
{
    return recipe->n_charts;
}

const struct sw_recipe_file *sw_recipe_chart_file(const struct sw_recipe *recipe, size_t i,
                                                  const char *path)
{
    const struct sw_chart *chart = recipe->charts[i];
    return sw_files_find(chart->in, chart->n_in, path);
}

struct sw_recipe_chart sw_recipe_chart(const struct sw_recipe *recipe, size_t i)
{
    const struct sw_chart *chart = recipe->charts[i];
    const struct sw_recipe_file *file = sw_files_find(chart->in, chart->n_in, "Chart.yaml");
    return (struct sw_recipe_chart){
        .origin = chart->origin, .text = file->bytes, .len = file->len, .metadata = chart->meta
    };
}

bool sw_recipe_mentions(const struct sw_recipe *recipe, const char *word)
{
    for (size_t i = 0; i < recipe->n_charts; i++) {
        const struct sw_chart *chart = recipe->charts[i];
        for (size_t t = 0; t < chart->n_templates; t++)
            if (memmem(chart->templates[t].bytes, chart->templates[t].len, word, strlen(word)))
                return true;
    }
    return false;
}

/* Is there a @word in @text that none of @after, ended by NULL, follows? */
static bool has_other(const char *text, size_t len, const char *word, const char *const *after)
{
    const char *end = text + len, *at = text;
    while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
        at += strlen(word);
        const char *const *a = after;
        while (*a && !((size_t)(end - at) >= strlen(*a) && memcmp(at, *a, strlen(*a)) == 0))
            a++;
        if (!*a)
            return true;
    }
    return false;
}

bool sw_recipe_sees_all_versions(const struct sw_recipe *recipe)
{
    static const char *const member[] = { ".", NULL }, *const has[] = { ".Has \"", ".Has `", NULL },
                             *const none[] = { NULL };
    const char *text;
    size_t len;
    for (size_t i = 0; sw_recipe_template_text(recipe, i, &text, &len); i++)
        if (has_other(text, len, ".Capabilities", member) ||
            has_other(text, len, "APIVersions", has))
            return true;
    for (size_t i = 0; i < recipe->n_charts; i++) { /* values may be templates, too */
        const struct sw_chart *chart = recipe->charts[i];
        const struct sw_recipe_file *values = sw_files_find(chart->in, chart->n_in, "values.yaml");
        if (values && has_other(values->bytes, values->len, "APIVersions", none))
            return true;
    }
    return false;
}

bool sw_recipe_template_text(const struct sw_recipe *recipe, size_t i, const char **text,
                             size_t *len)
{
    for (size_t k = 0; k < recipe->n_charts; k++) {
        const struct sw_chart *chart = recipe->charts[k];
        if (i < chart->n_templates) {
            *text = chart->templates[i].bytes;
            *len = chart->templates[i].len;
            return true;
        }
        i -= chart->n_templates;
    }
    return false;
}
