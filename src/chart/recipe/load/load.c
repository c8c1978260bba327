/* From files to charts: templates, subcharts, and dependencies that are not in charts/. */
#include "chart/recipe/load/chart.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/recipe/load/lock.h"
#include "chart/recipe/load/pins.h"
#include "chart/recipe/schema/schema.h"
#include "data/json/path.h"
#include "data/text/url.h"
#include "data/text/utf8.h"

enum { MAX_NESTING = 16 }; /* charts in charts */

/* Charts being loaded, innermost first: to find a chart that depends on itself. */
struct frame {
    const struct frame *up;
    const char *name; /* the folder's or chart's, for the message */
    const char *dir;  /* NULL: not a directory of its own */
    const char *base; /* the URL that it was fetched from, or NULL */
    int depth;
};

/* The files of one chart and where they are from; see struct sw_chart. */
struct input {
    const char *origin;
    const char *dir;
    const struct sw_recipe_file *files;
    size_t n;
    const char *base;
};

/* Whether a dependency of this name can be had elsewhere than in charts/. */
static bool has_repository(const struct sw_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->n_deps; i++)
        if (sw_streq(chart->deps[i].name, name) && *chart->deps[i].repository)
            return true;
    return false;
}

/* Leave out of charts/ what is to be had anew. */
static void drop_subcharts(struct sw_chart *chart)
{
    size_t n = 0;
    for (size_t i = 0; i < chart->n_charts; i++)
        if (!has_repository(chart, chart->charts[i]->name))
            chart->charts[n++] = chart->charts[i];
    chart->n_charts = n;
}

static int load_chart(struct sw_recipe *recipe, const struct frame *up, const struct input *in,
                      struct sw_chart **out, struct sw_err *err);

/* An empty table for one more source, with the rest of the limits. */
static struct sw_files new_source(const struct sw_recipe *recipe)
{
    struct sw_files files = { .limits = recipe->limits };
    for (size_t i = 0; i < recipe->n_sources; i++) {
        files.limits.max_bytes -= recipe->sources[i].bytes;
        files.limits.max_files -= recipe->sources[i].n;
    }
    return files;
}

/* Load the chart in @files, which the recipe takes. @rc: of reading them. */
static int load_source(struct sw_recipe *recipe, const struct frame *up, const char *origin,
                       const char *dir, const char *base, struct sw_files files, int rc,
                       struct sw_chart **out, struct sw_err *err)
{
    SW_GROW(recipe->sources, recipe->n_sources, recipe->cap_sources);
    recipe->sources[recipe->n_sources++] = files;
    struct input in = { origin, dir, files.items, files.n, base };
    return rc < 0 ? rc : load_chart(recipe, up, &in, out, err);
}

static void add_chart(struct sw_recipe *recipe, struct sw_chart *chart, struct sw_chart *sub)
{
    struct sw_chart **charts = sw_arena_alloc(recipe->arena,
                                              (chart->n_charts + 1) * sizeof *charts);
    if (chart->n_charts)
        memcpy(charts, chart->charts, chart->n_charts * sizeof *charts);
    charts[chart->n_charts++] = sub;
    chart->charts = charts;
}

/* ---- subcharts in charts/ -----------------------------------------------------------------------
 */

static int load_subcharts(struct sw_recipe *recipe, const struct frame *frame,
                          struct sw_chart *chart, const struct input *in, struct sw_err *err)
{
    static const char folder[] = "charts/";
    size_t n;
    for (size_t i = 0; i < in->n; i += n) {
        const char *name = in->files[i].name;
        n = 1;
        if (!sw_starts_with(name, folder) || strchr("._", name[strlen(folder)]))
            continue;
        const char *slash = strchr(name + strlen(folder), '/');
        if (!slash && !sw_ends_with(name, ".tgz") && !sw_ends_with(name, ".tar.gz") &&
            !sw_ends_with(name, ".tar.zst"))
            continue;
        size_t prefix = slash ? (size_t)(slash + 1 - name) : 0;
        int len = slash ? (int)prefix - 1 : (int)strlen(name);
        const char *origin = sw_arena_printf(recipe->arena, "%s/%.*s", in->origin, len, name);
        const char *dir = in->dir && slash
                              ? sw_arena_printf(recipe->arena, "%s/%.*s", in->dir, len, name)
                              : NULL;
        struct sw_chart *sub;
        while (slash && i + n < in->n && strncmp(name, in->files[i + n].name, prefix) == 0)
            n++; /* in the same folder */
        int rc;
        if (slash) {
            struct sw_recipe_file *files = sw_arena_alloc(recipe->arena, n * sizeof *files);
            for (size_t k = 0; k < n; k++) {
                files[k] = in->files[i + k];
                files[k].name += prefix;
            }
            rc = load_chart(recipe, frame, &(struct input){ origin, dir, files, n, NULL }, &sub,
                            err);
        } else if (recipe->limits.no_archives) {
            rc = sw_err_set(err, SW_PENDING, "%s: a packaged chart", origin);
        } else {
            struct sw_files files = new_source(recipe);
            rc = sw_files_read_archive(&files, origin, in->files[i].bytes, in->files[i].len, err);
            rc = load_source(recipe, frame, origin, NULL, NULL, files, rc, &sub, err);
        }
        if (rc != 0)
            return rc;
        add_chart(recipe, chart, sub);
    }
    return 0;
}

/* ---- dependencies elsewhere ---------------------------------------------------------------------
 */

bool sw_chart_fits(const struct sw_chart *chart, const char *range)
{
    return chart->any_version || !*range || sw_version_in_range(range, chart->version);
}

struct sw_chart *sw_chart_of_dependency(const struct sw_chart *chart,
                                        const struct sw_dependency *dep)
{
    struct sw_chart *found = NULL;
    for (size_t i = 0; i < chart->n_charts; i++) {
        struct sw_chart *sub = chart->charts[i];
        if (!sw_streq(sub->name, dep->name))
            continue;
        found = sub;
        if (sw_chart_fits(sub, dep->version))
            break;
    }
    return found;
}

/* Whether the chart at @real, a path or URL, is being loaded already. realpath() takes a system
 * call a folder: this is for dependencies outside of charts/ only. */
static int check_cycle(const struct frame *up, const char *real, const char *name,
                       struct sw_err *err)
{
    const struct frame *f;
    for (f = up; f; f = f->up) {
        SW_AUTO_CHARS *own = f->dir ? realpath(f->dir, NULL) : NULL;
        if (sw_streq(own ? own : f->base, real))
            break;
    }
    if (!f)
        return 0;
    SW_AUTO_CHARS *chain = sw_strdup(name);
    for (const struct frame *g = up;; g = g->up) {
        char *longer = sw_printf("%s -> %s", g->name, chain);
        sw_chars_auto(&chain);
        chain = longer;
        if (g == f)
            break;
    }
    return sw_err_set(err, SW_INVALID, "charts depend on each other: %s", chain);
}

static int load_file_dependency(struct sw_recipe *recipe, const struct frame *frame,
                                struct sw_chart *chart, const struct sw_dependency *dep,
                                struct sw_err *err)
{
    const char *path = dep->repository + strlen("file://");
    SW_AUTO_CHARS *shown = sw_url_shown(dep->repository);
    if (!chart->dir) /* a chart from the network may not read files of this machine */
        return sw_err_set(err, SW_INVALID,
                          "%s cannot be read for a chart that lies in no directory; "
                          "put it in charts/",
                          shown);
    const char *dir = *path == '/' ? sw_arena_strdup(recipe->arena, path)
                                   : sw_arena_printf(recipe->arena, "%s/%s", chart->dir, path);
    const struct sw_folders *folders = recipe->limits.folders;
    int fd = folders ? sw_folders_open(folders, dir, err) : -1;
    if (fd >= 0)
        (void)close(fd);
    else if (folders)
        return fd;
    char *real = realpath(dir, NULL);
    if (!real)
        return sw_err_set(err, SW_INVALID, "%s: there is no directory '%s'", shown, dir);
    const char *kept = sw_arena_strdup(recipe->arena, real);
    free(real);
    int rc = check_cycle(frame, kept, dep->name, err);
    if (rc < 0)
        return rc;
    struct sw_chart *sub;
    struct sw_files files = new_source(recipe);
    rc = sw_files_read_dir(&files, dir, err);
    rc = load_source(recipe, frame, dir, dir, NULL, files, rc, &sub, err);
    if (rc < 0)
        return rc;
    if (!sw_streq(sub->name, dep->name))
        return sw_err_set(err, SW_INVALID, "%s holds chart '%s'", shown, sub->name);
    add_chart(recipe, chart, sub);
    return 0;
}

int sw_chart_check_got(const struct sw_chart *chart, const char *name, const char *version,
                       struct sw_err *err)
{
    if (name && !sw_streq(chart->name, name))
        return sw_err_set(err, SW_INVALID, "%s holds chart '%s', expected '%s'", chart->origin,
                          chart->name, name);
    if (version && !sw_streq(chart->version, version))
        return sw_err_set(err, SW_INVALID, "%s holds version %s, expected %s", chart->origin,
                          chart->version, version);
    return 0;
}

/* Does slipway.dev/releases of @chart name @dep? It may be a template, so it is only searched. */
static bool is_own_release(const struct sw_chart *chart, const struct sw_dependency *dep)
{
    const char *releases = sw_chart_annotation(chart, SW_ANN_RELEASES);
    SW_AUTO_CHARS *key = sw_printf("%s:", *dep->alias ? dep->alias : dep->name);
    const char *at = releases ? strstr(releases, key) : NULL;
    return at && (at == releases || !strchr("-_.", at[-1]));
}

/* What is fetched has the digest that was locked, unless it stands for another chart. @want: of
 * sw_lock_digest(). */
static int check_digest(const struct sw_recipe_got *got, const char *want, struct sw_err *err)
{
    if (got->any_version || (want && (!*want || sw_streq(got->digest, want))))
        return 0;
    if (!want)
        return sw_err_set(err, SW_INVALID,
                          "%s: " SW_DIGESTS_FILE " has digests of other versions alone: slipway "
                          "vendor lock takes this one",
                          got->origin);
    return sw_err_set(err, SW_INVALID,
                      "%s: its digest is %s, and " SW_DIGESTS_FILE " has %s: what "
                      "was published has changed; look at it, and slipway vendor lock "
                      "--accept-changed takes it",
                      got->origin, *got->digest ? got->digest : "not known", want);
}

/* A dependency that opts->get fetches. */
static int get_dependency(struct sw_recipe *recipe, const struct frame *frame,
                          struct sw_chart *chart, const struct sw_dependency *dep,
                          const char *version, const char *digest, struct sw_err *err)
{
    struct sw_recipe_got got = { 0 };
    struct sw_recipe_ask ask = { dep->repository, dep->name, version, chart->base,
                                 is_own_release(chart, dep) };
    struct sw_chart *sub;
    int rc = recipe->limits.get(recipe->limits.get_arg, &ask, &got, err);
    const char *origin = rc == 0 ? sw_arena_strdup(recipe->arena, got.origin) : NULL;
    const char *kept = rc == 0 && got.digest && *got.digest
                           ? sw_arena_strdup(recipe->arena, got.digest)
                           : NULL;
    if (rc == 0)
        rc = check_digest(&got, digest, err);
    if (rc == 0)
        rc = check_cycle(frame, origin, dep->name, err);
    if (rc == 0) {
        struct sw_files files = new_source(recipe);
        rc = sw_files_take_got(&files, &got, err);
        rc = load_source(recipe, frame, origin, NULL, origin, files, rc, &sub, err);
    }
    if (rc == 0)
        rc = sw_chart_check_got(sub, dep->name, got.version, err);
    if (rc == 0) {
        sub->any_version |= got.any_version;
        sub->digest = kept;
    }
    sw_recipe_got_done(&got);
    if (rc == 0)
        add_chart(recipe, chart, sub);
    return rc;
}

static int is_missing(const struct sw_dependency *dep, struct sw_err *err)
{
    SW_AUTO_CHARS *shown = sw_url_shown(dep->repository);
    return sw_err_set(err, SW_INVALID, "not in charts/, where it is to be put%s%s",
                      *shown ? " from " : "", shown);
}

/* Is @dep of the root chart looked at in another version than the one that is asked for? */
static bool is_instead(const struct sw_recipe *recipe, const struct frame *frame,
                       const struct sw_dependency *dep)
{
    return !frame->up && recipe->limits.of_dependency &&
           sw_streq(dep->name, recipe->limits.of_dependency);
}

/* Load a dependency that is not in charts/, in the version and of the digest that are locked. */
static int load_dependency(struct sw_recipe *recipe, const struct frame *frame,
                           struct sw_chart *chart, const struct sw_lock *lock, size_t i,
                           const char **version, struct sw_err *err)
{
    const struct sw_dependency *dep = &chart->deps[i];
    *version = is_instead(recipe, frame, dep) ? dep->version : sw_lock_version(lock, chart, i);
    if (sw_starts_with(dep->repository, "file://") && !(chart->base && recipe->limits.get))
        return load_file_dependency(recipe, frame, chart, dep, err);
    if (!*dep->repository || !recipe->limits.get)
        return is_missing(dep, err);
    const char *digest = sw_lock_digest(lock, dep, *version);
    if (!digest && is_instead(recipe, frame, dep))
        digest = ""; /* it is another one than the locked one */
    return get_dependency(recipe, frame, chart, dep, *version, digest, err);
}

static int load_dependencies(struct sw_recipe *recipe, const struct frame *frame,
                             struct sw_chart *chart, struct sw_err *err)
{
    struct sw_lock lock = { .is_read = !frame->up && recipe->limits.no_lock };
    size_t n_own = chart->n_charts; /* subcharts from charts/; those after them were fetched */
    int rc = 0;
    for (size_t i = 0; i < chart->n_deps && rc == 0; i++) {
        struct sw_dependency *dep = &chart->deps[i];
        if (is_instead(recipe, frame, dep))
            dep->version = recipe->limits.instead_version;
        const char *version = dep->version;
        const struct sw_chart *sub = sw_chart_of_dependency(chart, dep);
        bool is_present = sub && sw_chart_fits(sub, dep->version);
        for (size_t k = 0; k < n_own; k++)
            is_present |= chart->charts[k] == sub; /* in charts/, of any version */
        if (!is_present) {
            rc = lock.is_read ? 0
                              : sw_lock_read(&lock, chart, recipe->limits.allow_stale_lock, err);
            if (rc == 0)
                rc = load_dependency(recipe, frame, chart, &lock, i, &version, err);
        }
        sub = sw_chart_of_dependency(chart, dep);
        if (rc == 0 && !sw_chart_fits(sub, version))
            rc = sw_err_set(err, SW_INVALID, "version '%s' is asked for, %s is %s", version,
                            sub->origin, sub->version);
        if (rc == 0 && is_instead(recipe, frame, dep)) {
            dep->version = sub->any_version ? dep->version : sub->version;
            sw_json_set_str(dep->doc, dep->version, "version", NULL);
        }
        if (rc < 0)
            sw_err_wrap(err, rc, "%s/Chart.yaml: dependencies[%zu] '%s'", chart->origin, i,
                        dep->name);
    }
    sw_lock_done(&lock);
    return rc;
}

bool sw_recipe_is_crd(const char *name)
{
    return sw_starts_with(name, "crds/") &&
           (sw_ends_with(name, ".yaml") || sw_ends_with(name, ".yml") ||
            sw_ends_with(name, ".json"));
}

int sw_chart_schema(const struct sw_chart *chart, const struct sw_schema **out, struct sw_err *err)
{
    if (chart->schema_text && !chart->schema) {
        struct sw_chart *c = (struct sw_chart *)chart; /* read at the first use */
        SW_AUTO_CHARS *name = sw_printf("%s/%s", c->origin, c->schema_text->name);
        int rc = sw_schema_new(name, c->schema_text->bytes, c->schema_text->len, &c->schema, err);
        if (rc < 0)
            return rc;
    }
    *out = chart->schema;
    return 0;
}

/* ---- one chart ----------------------------------------------------------------------------------
 */

/* Annotations that are found in the text, before anything is rendered. */
static const struct annotation {
    const char *before, *behind; /* the slash */
    bool is_key;                 /* of a map within something: quoted or not, and no comment */
    uint8_t mark;
} annotations[] = {
    { "specialresource.openshift.io", "kernel-affine", true, SW_MARK_KERNEL_AFFINE },
    { "helm.sh", "resource-group", false, SW_MARK_GROUP },
};

/* Whether @at to @end is a key: with text before it on its line, no comment; a colon after it. */
static bool is_key(const struct sw_recipe_file *file, const char *at, const char *end)
{
    const char *line = at, *last = file->bytes + file->len;
    while (line > file->bytes && line[-1] != '\n')
        line--;
    if (line == at)
        return false;
    while (*line == ' ' || *line == '\t')
        line++;
    if (end < last && (*end == '"' || *end == '\''))
        end++;
    return *line != '#' && end < last && *end == ':';
}

/* Whether the annotation stands around @slash. */
static bool is_at(const struct annotation *a, const struct sw_recipe_file *file, const char *slash)
{
    size_t before = strlen(a->before), behind = strlen(a->behind);
    const char *from = slash - before;
    return (size_t)(slash - file->bytes) >= before &&
           (size_t)(file->bytes + file->len - slash - 1) >= behind &&
           memcmp(slash + 1, a->behind, behind) == 0 && memcmp(from, a->before, before) == 0 &&
           (!a->is_key || is_key(file, from, slash + 1 + behind));
}

/* The annotations in the text, searched by their slash, which is rare: templates are large. */
static uint8_t marks_of(const struct sw_recipe_file *file)
{
    const char *at = file->bytes, *end = file->bytes + file->len;
    uint8_t marks = 0;
    for (; at < end && (at = memchr(at, '/', (size_t)(end - at))); at++)
        for (size_t i = 0; i < SW_COUNT(annotations); i++)
            if (is_at(&annotations[i], file, at))
                marks |= annotations[i].mark;
    return marks;
}

/* Files that are neither templates nor in .Files. */
static bool is_handled(const char *name, bool v1)
{
    return sw_streq(name, "Chart.yaml") || sw_streq(name, "Chart.lock") ||
           ((sw_streq(name, "requirements.yaml") || sw_streq(name, "requirements.lock")) && !v1) ||
           (sw_starts_with(name, "charts/") && !sw_ends_with(name, ".prov"));
}

/* Of what editors write, text/template reads UTF-8 alone. */
static int check_encoding(const struct sw_chart *chart, const struct sw_recipe_file *file,
                          struct sw_err *err)
{
    const char *encoding = sw_utf16_name(file->bytes, file->len);
    return encoding ? sw_err_set(err, SW_INVALID,
                                 "%s/%s: the file is in %s; a template must be in UTF-8",
                                 chart->origin, file->name, encoding)
                    : 0;
}

static int sort_files(struct sw_recipe *recipe, struct sw_chart *chart, const struct input *in,
                      struct sw_err *err)
{
    struct sw_arena *arena = recipe->arena;
    chart->templates = sw_arena_alloc(arena, in->n * sizeof *chart->templates);
    chart->marks = sw_arena_alloc(arena, in->n);
    chart->files = sw_arena_alloc(arena, in->n * sizeof *chart->files);
    chart->template_files = sw_arena_alloc(arena, in->n * sizeof *chart->template_files);
    bool v1 = sw_streq(sw_json_str(chart->meta, "", "apiVersion", NULL), "v1");
    const struct sw_recipe_file *values = NULL;
    int rc = 0;
    for (size_t i = 0; i < in->n && rc == 0; i++) {
        const struct sw_recipe_file *file = &in->files[i];
        if (sw_streq(file->name, "values.yaml")) {
            values = file;
        } else if (sw_streq(file->name, "values.schema.json")) {
            chart->schema_text = file;
        } else if (sw_starts_with(file->name, "templates/")) {
            rc = check_encoding(chart, file, err);
            chart->marks[chart->n_templates] = marks_of(file);
            chart->templates[chart->n_templates++] = *file;
        } else if (!is_handled(file->name, v1)) {
            chart->files[chart->n_files] = *file;
            chart->template_files[chart->n_files++] =
                (struct sw_template_file){ file->name, file->bytes, file->len };
        }
    }
    if (rc < 0 || !values)
        return rc;
    SW_AUTO_CHARS *name = sw_printf("%s/%s", chart->origin, values->name);
    sw_arena_limit(arena, SW_VALUES_BYTES); /* of all charts of the recipe together */
    rc = sw_value_from_yaml(arena, name, values->bytes, values->len, &chart->values, err);
    sw_arena_limit(arena, SIZE_MAX);
    if (rc < 0)
        return rc;
    if (sw_value_is_nil(chart->values))
        chart->values = sw_value_map(sw_map_new(arena));
    return sw_value_is_map(chart->values) ? 0 : sw_err_set(err, SW_INVALID, "%s: not a map", name);
}

static int load_chart(struct sw_recipe *recipe, const struct frame *up, const struct input *in,
                      struct sw_chart **out, struct sw_err *err)
{
    struct frame frame = { .up = up, .name = in->origin, .depth = up ? up->depth + 1 : 0 };
    if (frame.depth > MAX_NESTING)
        return sw_err_set(err, SW_INVALID, "%s: more than %d charts in each other", in->origin,
                          MAX_NESTING);
    struct sw_chart *chart = sw_arena_alloc(recipe->arena, sizeof *chart);
    SW_GROW(recipe->charts, recipe->n_charts, recipe->cap_charts);
    recipe->charts[recipe->n_charts++] = chart;
    chart->origin = sw_arena_strdup(recipe->arena, in->origin);
    chart->dir = in->dir;
    chart->base = in->base;
    chart->any_version = sw_files_find(in->files, in->n, SW_ANY_VERSION_FILE);
    const struct sw_recipe_file *why = sw_files_find(in->files, in->n, SW_NOT_FETCHED_FILE);
    chart->not_fetched = why ? sw_arena_strndup(recipe->arena, why->bytes, why->len) : NULL;
    chart->in = in->files;
    chart->n_in = in->n;
    chart->values = sw_value_map(sw_map_new(recipe->arena));
    int rc = sw_chart_read_metadata(recipe, chart, in->files, in->n, err);
    if (rc < 0)
        return rc;
    frame.name = chart->name;
    frame.dir = in->dir;
    frame.base = in->base;
    rc = sort_files(recipe, chart, in, err);
    if (rc == 0)
        rc = load_subcharts(recipe, &frame, chart, in, err);
    if (rc == 0 && !up && recipe->limits.no_charts)
        drop_subcharts(chart);
    if (rc == 0)
        rc = load_dependencies(recipe, &frame, chart, err);
    if (rc == 0)
        *out = chart;
    return rc;
}

int sw_chart_load_root(struct sw_recipe *recipe, const struct sw_chart_place *place,
                       const struct sw_files *files, struct sw_err *err)
{
    struct sw_arena *arena = recipe->arena;
    struct input in = { place->origin, place->dir ? sw_arena_strdup(arena, place->dir) : NULL,
                        files->items, files->n,
                        place->base ? sw_arena_strdup(arena, place->base) : NULL };
    return load_chart(recipe, NULL, &in, &recipe->root, err);
}
