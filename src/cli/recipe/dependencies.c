#include "cli/recipe/dependencies.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chart/recipe/load/files.h"
#include "chart/recipe/load/pins.h"
#include "chart/recipe/package/pack.h"
#include "cli/recipe/fetched.h"
#include "cli/recipe/folder_lock.h"
#include "cli/recipe/source_flags.h"
#include "data/data.h"
#include "data/text/semver.h"

enum { MAX_YAML_BYTES = 1 << 20 };

int sw_dependency_empty(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                        struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    SW_AUTO_CHARS *text = sw_printf("apiVersion: v2\nname: %s\nversion: 0.0.0\n", ask->name);
    (void)arg;
    int rc = sw_files_copy(&files, "Chart.yaml", text, strlen(text), err);
    if (rc < 0) {
        sw_files_done(&files);
        return rc;
    }
    got->files = files.items;
    got->n_files = files.n;
    got->origin = sw_printf("%s/%s", ask->url, ask->name);
    got->digest = sw_strdup("");
    got->any_version = true;
    return 0;
}

/* ---- what Chart.yaml asks for -------------------------------------------------------------------
 */

static int read_yaml(const char *folder, const char *name, struct json_object **out,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", folder, name), *text = NULL;
    size_t len;
    int rc = sw_file_read(path, MAX_YAML_BYTES, &text, &len, err);
    return rc < 0 ? rc
                  : sw_yaml_parse(text, len,
                                  &(struct sw_yaml_opts){ .file = path, .allow_duplicate = true },
                                  out, err);
}

/* The list of dependencies, the caller's; that of a chart of apiVersion v1 is in a file of its own.
 * NULL: it has none. */
static int read_dependencies(const char *chart, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    int rc = read_yaml(chart, "Chart.yaml", &doc, err);
    if (rc == 0 && sw_streq(sw_json_str(doc, "", "apiVersion", NULL), "v1")) {
        json_object_put(SW_TAKE(doc));
        SW_AUTO_CHARS *path = sw_printf("%s/requirements.yaml", chart);
        rc = access(path, F_OK) == 0 ? read_yaml(chart, "requirements.yaml", &doc, err) : 0;
    }
    if (rc == 0)
        *out = json_object_get(sw_json_get(doc, "dependencies"));
    return rc;
}

/* ---- what is in charts/ -------------------------------------------------------------------------
 */

/* The names in the folder charts/ of @chart, sorted; the caller's. */
static char **names_in(const char *chart, size_t *n)
{
    SW_AUTO_CHARS *path = sw_printf("%s/charts", chart);
    struct dirent **all = NULL;
    int count = scandir(path, &all, NULL, alphasort);
    char **names = sw_zalloc((size_t)(count > 0 ? count : 0) + 1, sizeof *names);
    *n = 0;
    for (int i = 0; i < count; i++) {
        if (*all[i]->d_name != '.')
            names[(*n)++] = sw_strdup(all[i]->d_name);
        free(all[i]);
    }
    free(all);
    return names;
}

static void free_names(char **names)
{
    for (char **name = names; *name; name++)
        free(*name);
    free(names);
}

/* Chart.yaml of what is in charts/: a folder or an archive; the caller's. NULL: no chart. */
static struct json_object *metadata_of(const char *chart, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/charts/%s", chart, name);
    struct json_object *doc = NULL;
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_ERR(ignored);
    if (!sw_ends_with(name, ".tgz"))
        return read_yaml(path, "Chart.yaml", &doc, &ignored) < 0 ? NULL : doc;
    if (sw_recipe_open(path, &(struct sw_recipe_opts){ .get = sw_dependency_empty }, &recipe,
                       &ignored) < 0)
        return NULL;
    return json_object_get((struct json_object *)sw_recipe_metadata(recipe));
}

/* "" where the version is one that is asked for; else what is wrong. */
static const char *wrong_version(const char *asked, const char *version)
{
    struct sw_semver v;
    SW_AUTO(sw_semver_range) *range = NULL;
    SW_ERR(ignored);
    if (sw_streq(asked, version))
        return "";
    if (sw_semver_range_parse(asked, strlen(asked), &range, &ignored) < 0 ||
        sw_semver_parse(version, strlen(version), &v, &ignored) < 0)
        return "invalid version";
    return sw_semver_range_has(range, &v) ? "" : "wrong version";
}

/* Whether @name is "<dependency>-<version>.tgz". @strict: the version must be one. */
static bool is_archive_of(const char *name, const char *dependency, bool strict)
{
    size_t len = strlen(dependency), n = strlen(name);
    struct sw_semver v;
    SW_ERR(ignored);
    if (strncmp(name, dependency, len) != 0 || name[len] != '-' || !sw_ends_with(name, ".tgz"))
        return false;
    return !strict ||
           sw_semver_parse(name + len + 1, n - len - 1 - strlen(".tgz"), &v, &ignored) == 0;
}

static size_t count_archives(char **names, const char *dependency, bool strict, const char **found)
{
    size_t n = 0;
    for (; *names; names++)
        if (is_archive_of(*names, dependency, strict)) {
            *found = *names;
            n++;
        }
    return n;
}

static const char *archive_status(const char *chart, const char *archive, const char *name,
                                  const char *asked)
{
    SW_AUTO_JSON *doc = metadata_of(chart, archive);
    if (!doc)
        return "corrupt";
    if (!sw_streq(sw_json_str(doc, "", "name", NULL), name))
        return "misnamed";
    const char *wrong = wrong_version(asked, sw_json_str(doc, "", "version", NULL));
    return *wrong ? wrong : "ok";
}

static const char *status_of(const char *chart, char **names, const char *name, const char *asked)
{
    const char *archive = NULL;
    size_t n = count_archives(names, name, false, &archive);
    if (n > 1)
        n = count_archives(names, name, true, &archive);
    if (n > 1)
        return "too many matches";
    if (n == 1)
        return archive_status(chart, archive, name, asked);
    const char *status = "missing";
    for (; *names; names++) {
        SW_AUTO_JSON *doc = metadata_of(chart, *names);
        if (!sw_streq(sw_json_str(doc, "", "name", NULL), name))
            continue;
        const char *wrong = wrong_version(asked, sw_json_str(doc, "", "version", NULL));
        status = *wrong ? wrong : "unpacked";
    }
    return status;
}

static void add_unknown(const char *chart, char **names, struct json_object *deps,
                        struct json_object *unknown)
{
    for (; *names; names++) {
        SW_AUTO_CHARS *path = sw_printf("%s/charts/%s", chart, *names);
        struct stat st;
        if (stat(path, &st) < 0 || (!S_ISDIR(st.st_mode) && !sw_ends_with(*names, ".tgz")))
            continue;
        SW_AUTO_JSON *doc = metadata_of(chart, *names);
        const char *name = sw_json_str(doc, "", "name", NULL);
        bool is_known = *name && sw_json_find_by(deps, "name", name);
        SW_AUTO_CHARS *said = sw_printf("\"%s\" is not %s.", path,
                                        *name ? "in Chart.yaml" : "a chart");
        if (!is_known)
            (void)json_object_array_add(unknown, json_object_new_string(said));
    }
}

int sw_dependencies_list(const char *chart, struct json_object **list, struct json_object **unknown,
                         struct sw_err *err)
{
    SW_AUTO_JSON *deps = NULL;
    int rc = read_dependencies(chart, &deps, err);
    if (rc < 0)
        return rc;
    size_t n;
    char **names = names_in(chart, &n);
    *list = json_object_new_array();
    *unknown = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(deps); i++) {
        static const char *const fields[] = { "name", "version", "repository" };
        struct json_object *dep = sw_json_at(deps, i), *row = json_object_new_object();
        for (size_t f = 0; f < SW_COUNT(fields); f++)
            sw_json_set_str(row, sw_json_str(dep, "", fields[f], NULL), fields[f], NULL);
        sw_json_set_str(row,
                        status_of(chart, names, sw_json_str(dep, "", "name", NULL),
                                  sw_json_str(dep, "", "version", NULL)),
                        "status", NULL);
        (void)json_object_array_add(*list, row);
    }
    add_unknown(chart, names, deps, *unknown);
    free_names(names);
    return 0;
}

/* ---- getting them -------------------------------------------------------------------------------
 */

/* What is being written to charts/. */
struct getting {
    const struct sw_source_flags *source;
    const char *chart;
    const struct sw_recipe *recipe; /* with the dependencies that were got */
    struct json_object *deps;       /* of Chart.yaml */
    struct sw_fetched_charts kept;
    struct json_object *written; /* a map of the names of files */
    FILE *progress;
};

static int write_archive(const struct getting *g, const char *name, const char *version,
                         const char *bytes, size_t len, struct sw_err *err)
{
    SW_AUTO_CHARS *file = sw_printf("%s-%s.tgz", name, version),
                  *path = sw_printf("%s/charts/%s", g->chart, file);
    (void)json_object_object_add(g->written, file, NULL);
    return sw_file_rewrite(path, bytes, len, err);
}

/* With --verify: the signature that was checked, beside its archive. */
static int write_signature(const struct getting *g, const struct sw_pin *pin,
                           const struct sw_fetched_chart *one, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/charts/%s-%s.tgz.prov", g->chart, pin->name, pin->version);
    if (one->provenance)
        return sw_file_rewrite(path, one->provenance, strlen(one->provenance), err);
    (void)unlink(path); /* of another archive of that name */
    return 0;
}

/* A folder beside the chart is packed. */
static int write_folder(const struct getting *g, const char *repository, struct sw_err *err)
{
    struct sw_source_flags flags = { .cache_dir = g->source->cache_dir,
                                     .charts_dir = g->source->charts_dir };
    const char *folder = repository + strlen("file://");
    SW_AUTO_CHARS *path = *folder == '/' ? sw_strdup(folder) : sw_printf("%s/%s", g->chart, folder),
                  *bytes = NULL;
    SW_AUTO(sw_recipe) *recipe = NULL;
    size_t len = 0;
    int rc = sw_source_open(&flags, path, NULL, &recipe, NULL, err);
    if (rc == 0)
        rc = sw_recipe_pack(recipe, &bytes, &len, err);
    return rc < 0 ? rc
                  : write_archive(g, sw_recipe_name(recipe), sw_recipe_version(recipe), bytes, len,
                                  err);
}

static int write_pin(const struct getting *g, const struct sw_pin *pin, struct sw_err *err)
{
    const struct sw_fetched_chart *one = sw_fetched_charts_find(&g->kept, pin->repository,
                                                                pin->name, pin->version);
    if (!pin->version || !one || !one->len)
        return sw_err_set(err, SW_INVALID, "%s: %s %s: no archive of a version came of it",
                          g->chart, pin->name, pin->asked);
    (void)fprintf(g->progress, "Downloading %s from repo %s\n", pin->name, pin->repository);
    int rc = write_archive(g, pin->name, pin->version, one->bytes, one->len, err);
    return rc < 0 ? rc : write_signature(g, pin, one, err);
}

static int write_all(const struct getting *g, struct sw_err *err)
{
    size_t n;
    int rc = 0;
    SW_AUTO_CHARS *folder = sw_printf("%s/charts", g->chart);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", folder, strerror(errno));
    struct sw_pin *pins = sw_recipe_pins(g->recipe, &n);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (pins[i].is_own)
            rc = write_pin(g, &pins[i], err);
    free(pins);
    for (size_t i = 0; i < sw_json_len(g->deps) && rc == 0; i++) {
        const char *repository = sw_json_str(sw_json_at(g->deps, i), "", "repository", NULL);
        if (sw_starts_with(repository, "file://"))
            rc = write_folder(g, repository, err);
    }
    return rc;
}

/* Archives of dependencies that were not written now are of before. */
static void remove_older(const struct getting *g)
{
    size_t n;
    char **names = names_in(g->chart, &n);
    (void)fprintf(g->progress, "Deleting outdated charts\n");
    for (size_t i = 0; i < sw_json_len(g->deps); i++) {
        struct json_object *dep = sw_json_at(g->deps, i);
        for (char **name = names; *name && *sw_json_str(dep, "", "repository", NULL); name++)
            if (is_archive_of(*name, sw_json_str(dep, "", "name", NULL), true) &&
                !json_object_object_get_ex(g->written, *name, NULL)) {
                SW_AUTO_CHARS *path = sw_printf("%s/charts/%s", g->chart, *name),
                              *signature = sw_printf("%s.prov", path);
                (void)unlink(path); /* what stays is told by list */
                (void)unlink(signature);
            }
    }
    free_names(names);
}

/* A lock that says the same is left as it is, with its time. */
static int write_lock(const struct sw_recipe *recipe, const char *path, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL, *before = NULL;
    SW_AUTO_JSON *old = NULL;
    SW_AUTO_JSON *new = NULL;
    size_t len;
    SW_ERR(ignored);
    int rc = sw_recipe_lock_text(recipe, sw_build_time_s(time(NULL)), &text, err);
    if (rc < 0)
        return rc;
    const struct sw_yaml_opts opts = { .file = path };
    if (sw_file_read(path, MAX_YAML_BYTES, &before, &len, &ignored) == 0 &&
        sw_yaml_parse(before, len, &opts, &old, &ignored) == 0 &&
        sw_yaml_parse(text, strlen(text), &opts, &new, &ignored) == 0 &&
        sw_streq(sw_json_str(old, "", "digest", NULL), sw_json_str(new, "-", "digest", NULL)))
        return 0;
    return sw_file_rewrite(path, text, strlen(text), err);
}

static int get_all(const struct sw_source_flags *source, const char *chart, bool locked,
                   FILE *progress, struct sw_err *err)
{
    struct sw_source_flags flags = *source;
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *deps = NULL;
    SW_AUTO_JSON *written = json_object_new_object();
    SW_AUTO_CHARS *v2 = sw_printf("%s/Chart.lock", chart),
                  *v1 = sw_printf("%s/requirements.lock", chart);
    int rc = read_dependencies(chart, &deps, err);
    if (rc < 0 || !sw_json_len(deps))
        return rc;
    struct getting g = { source, chart, NULL, deps, { 0 }, written, progress };
    locked = locked && (access(v2, F_OK) == 0 || access(v1, F_OK) == 0);
    flags.version = NULL;
    flags.no_lock = !locked;
    flags.no_charts = true;
    flags.no_stand_ins = true;
    flags.verify_fetched_only = true;
    flags.on_got = sw_fetched_charts_add;
    flags.on_got_arg = &g.kept;
    rc = sw_source_open(&flags, chart, NULL, &recipe, NULL, err);
    g.recipe = recipe;
    if (rc == 0) {
        (void)fprintf(progress, "Saving %zu charts\n", sw_json_len(deps));
        rc = write_all(&g, err);
    }
    if (rc == 0)
        remove_older(&g);
    if (rc == 0 && !locked) {
        const struct json_object *metadata = sw_recipe_metadata(recipe);
        bool is_v1 = sw_streq(sw_json_str((struct json_object *)metadata, "", "apiVersion", NULL),
                              "v1");
        rc = write_lock(recipe, is_v1 ? v1 : v2, err);
    }
    sw_fetched_charts_done(&g.kept);
    return rc;
}

int sw_dependencies_get(const struct sw_source_flags *source, const char *chart, bool locked,
                        FILE *progress, struct sw_err *err)
{
    int fd = sw_folder_lock(chart, "dependency");
    int rc = get_all(source, chart, locked, progress, err);
    sw_folder_unlock(fd);
    return rc;
}

int sw_dependencies_get_missing(const struct sw_source_flags *source, const char *chart,
                                FILE *progress, struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_JSON *unknown = NULL;
    bool is_missing = false;
    int rc = sw_dependencies_list(chart, &list, &unknown, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        is_missing |= sw_streq(sw_json_str(sw_json_at(list, i), "", "status", NULL), "missing");
    return rc == 0 && is_missing ? sw_dependencies_get(source, chart, false, progress, err) : rc;
}
