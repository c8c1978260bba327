/* Charts at hand: a folder that is looked into before a chart is fetched, as on a site without a
 * network, or for a chart that is being worked on; and stand-ins, to try a recipe with. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/sources.h"
#include "chart/recipe/load/chart.h"
#include "chart/recipe/load/files.h"
#include "data/json/json.h"
#include "data/text/semver.h"

/* The version in "<name>-<version>.tgz"; heap. NULL: @file is not called so. */
static char *version_of(const char *file, const char *name)
{
    size_t len = strlen(name), all = strlen(file);
    if (strncmp(file, name, len) != 0 || file[len] != '-' || !sw_ends_with(file, ".tgz") ||
        all <= len + strlen("-.tgz"))
        return NULL;
    return sw_strndup(file + len + 1, all - len - strlen("-.tgz"));
}

/* Is the version @text in @range and above @best, or the first? */
static bool is_better(const char *text, const char *range, const char *best)
{
    struct sw_semver v, b;
    SW_AUTO(sw_semver_range) *r = NULL;
    if (sw_semver_parse(text, strlen(text), &v, NULL) < 0)
        return false;
    bool is_in = sw_streq(text, range) || !*range ||
                 (sw_semver_range_parse(range, strlen(range), &r, NULL) == 0 &&
                  sw_semver_range_has(r, &v));
    return is_in && (!best || (sw_semver_parse(best, strlen(best), &b, NULL) == 0 &&
                               sw_semver_compare(&v, &b) > 0));
}

/* The highest version in @range of the packed charts in @dir; heap, NULL: there is none. */
static int find_packed(const char *dir, const struct sw_recipe_ask *ask, char **version,
                       struct sw_err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_NOTFOUND, "%s: %s", dir,
                          strerror(errno));
    const char *range = ask->version ? ask->version : "";
    for (struct dirent *e; (e = readdir(d));) {
        SW_AUTO_CHARS *found = version_of(e->d_name, ask->name);
        if (!found || !is_better(found, range, *version))
            continue;
        free(*version);
        *version = SW_TAKE(found);
    }
    (void)closedir(d);
    return 0;
}

static int take_packed(struct sw_fetcher *f, const struct sw_recipe_ask *ask, char *version,
                       struct sw_recipe_got *got, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s-%s.tgz", f->opts.charts_dir, ask->name, version);
    char *bytes = NULL;
    size_t len;
    int rc = sw_file_read(path, f->opts.max_bytes, &bytes, &len, err);
    if (rc == 0)
        rc = fetch_take_archive(path, "", bytes, len, got, err);
    if (rc == 0)
        got->version = version;
    else
        free(version);
    return rc;
}

/* Hand @files over, if @rc says that they are there, as a chart of whatever version. */
static int give(struct sw_files *files, int rc, char *origin, struct sw_recipe_got *got)
{
    if (rc < 0) {
        free(origin);
        sw_files_done(files);
        return rc;
    }
    got->files = files->items;
    got->n_files = files->n;
    got->origin = origin;
    got->digest = sw_strdup("");
    got->any_version = true;
    return 0;
}

/* A folder has whatever version is being worked on. */
static int take_folder(const char *dir, struct sw_recipe_got *got, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    int rc = sw_files_read_dir(&files, dir, err);
    return give(&files, rc, sw_strdup(dir), got);
}

/* The chart of that name in the folder. */
static int take_from_folder(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                            struct sw_recipe_got *got, struct sw_err *err)
{
    SW_AUTO_CHARS *dir = sw_printf("%s/%s", f->opts.charts_dir, ask->name);
    SW_AUTO_CHARS *chart = sw_printf("%s/Chart.yaml", dir);
    char *version = NULL;
    int rc = find_packed(f->opts.charts_dir, ask, &version, err);
    if (rc < 0)
        return rc == SW_NOTFOUND
                   ? sw_err_set(err, SW_INVALID, "the folder of charts: %s", sw_err_text(err))
                   : rc;
    if (version)
        return take_packed(f, ask, version, got, err);
    if (access(chart, R_OK) != 0)
        return SW_NOTFOUND;
    SW_AUTO_CHARS *shown = sw_url_shown(ask->url);
    sw_log(SW_LOG_WARN, "chart of a folder, of whatever version", "chart", ask->name, "from", dir,
           "instead", ask->version ? ask->version : "", "of", shown, NULL);
    return take_folder(dir, got, err);
}

/* The stand-in of that name. */
static int take_stand_in(const struct sw_embedded *stand_ins, const char *name,
                         struct sw_recipe_got *got, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    size_t len = strlen(name);
    int rc = 0;
    for (const struct sw_embedded *e = stand_ins; rc == 0 && e->name; e++)
        if (strncmp(e->name, name, len) == 0 && e->name[len] == '/')
            rc = sw_files_copy(&files, e->name + len + 1, e->text, e->len_bytes, err);
    if (rc == 0 && !files.n)
        rc = SW_NOTFOUND;
    got->is_stand_in = rc == 0;
    return give(&files, rc, sw_strdup(name), got);
}

int fetch_at_hand(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                  struct sw_err *err)
{
    int rc = f->opts.charts_dir ? take_from_folder(f, ask, got, err) : SW_NOTFOUND;
    return rc == SW_NOTFOUND && f->opts.stand_ins
               ? take_stand_in(f->opts.stand_ins, ask->name, got, err)
               : rc;
}

/* ---- what cannot be had ------------------------------------------------------------------------
 */

int fetch_missing(const struct sw_recipe_ask *ask, const char *why, struct sw_recipe_got *got,
                  struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    struct sw_semver exact;
    const char *version = ask->version ? ask->version : "";
    bool is_exact = sw_semver_parse(version, strlen(version), &exact, NULL) == 0;
    SW_AUTO_CHARS *chart = sw_printf("apiVersion: v2\nname: %s\nversion: \"%s\"\n", ask->name,
                                     is_exact ? version : "0.0.0");
    int rc = sw_files_copy(&files, "Chart.yaml", chart, strlen(chart), err);
    if (rc == 0)
        rc = sw_files_copy(&files, SW_NOT_FETCHED_FILE, why, strlen(why), err);
    if (rc == 0) /* a template, so that its state is one of the plan */
        rc = sw_files_copy(&files, "templates/not-fetched.yaml", "", 0, err);
    return give(&files, rc, sw_url_shown(ask->url), got);
}
