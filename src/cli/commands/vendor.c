/* slipway vendor: the vendors' charts that a recipe's states install: which versions it is pinned
 * to, what another one would change, and the files that lock them. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chart/recipe/load/pins.h"
#include "chart/recipe/package/pack.h"
#include "cli/commands/commands.h"
#include "cli/recipe/changes.h"
#include "cli/recipe/dependencies.h"
#include "cli/recipe/folder_lock.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"

enum { MAX_CHARTS = 64 };

struct vendor_opts {
    struct sw_recipe_flags recipe;
    const char *format;
    bool dry_run, newest, accept_changed;
};

#define FIELD(member) offsetof(struct vendor_opts, member)

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(FIELD(recipe)),
    SW_MIRROR_FLAG(FIELD(recipe.source)),
    { "newest", 0, SW_FLAG_BOOL, FIELD(newest), NULL, NULL,
      "list: look up the newest version of each chart, too" },
    { "dry-run", 0, SW_FLAG_BOOL, FIELD(dry_run), NULL, NULL, "lock, update: write nothing" },
    { "accept-changed", 0, SW_FLAG_BOOL, FIELD(accept_changed), NULL, NULL,
      "lock: take an archive whose digest is not the one that is locked for its version" },
    { "output", 'o', SW_FLAG_STRING, FIELD(format), "FORMAT", "text|json",
      "output format (default text)" },
    { 0 },
};

static bool is_json(const struct vendor_opts *o)
{
    return sw_streq(o->format, "json");
}

/* What is locked lies in a folder. */
static int check_folder(const char *chart, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/Chart.yaml", chart);
    return access(path, R_OK) == 0
               ? 0
               : sw_err_set(err, SW_INVALID, "%s: the folder of a chart is needed", chart);
}

/* ---- list --------------------------------------------------------------------------------------
 */

static int add_newest(const struct vendor_opts *o, const struct sw_pin *pin,
                      struct json_object *entry, struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    struct sw_source_flags source = o->recipe.source;
    source.repo = pin->repository;
    source.version = NULL;
    int rc = sw_source_open(&source, pin->name, NULL, &recipe, NULL, err);
    if (rc == 0)
        sw_json_set_str(entry, sw_recipe_version(recipe), "newest", NULL);
    return rc;
}

/* Open the chart in the folder @chart, with nothing fetched. */
static int open_empty(const char *chart, struct sw_recipe **recipe, struct sw_err *err)
{
    const struct sw_recipe_opts opts = { .get = sw_dependency_empty, .allow_stale_lock = true };
    return sw_recipe_open(chart, &opts, recipe, err);
}

/* Nothing is fetched by a stale lock: how to get out of that. */
static void warn_of_stale(const struct sw_pin *pin)
{
    (void)fprintf(stderr,
                  "slipway vendor: warning: %s: Chart.lock or " SW_DIGESTS_FILE
                  " is of other versions than Chart.yaml has (%s %s): slipway vendor lock %s "
                  "locks these, and slipway vendor update %s %s goes on with an update that was "
                  "interrupted\n",
                  pin->in, pin->name, pin->asked, pin->in, pin->in, pin->name);
}

static int list_chart(const struct vendor_opts *o, const char *chart, struct json_object *list,
                      struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    size_t n = 0;
    int rc = check_folder(chart, err);
    if (rc == 0)
        rc = open_empty(chart, &recipe, err);
    struct sw_pin *pins = rc == 0 ? sw_recipe_pins(recipe, &n) : NULL;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct sw_pin *pin = &pins[i];
        bool is_locked = *pin->locked && !pin->is_stale;
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, pin->in, "chart", NULL);
        sw_json_set_str(entry, pin->name, "name", NULL);
        sw_json_set_str(entry, is_locked ? pin->locked : pin->asked, "version", NULL);
        sw_json_set_str(entry, pin->repository, "repository", NULL);
        sw_json_set_str(entry, is_locked ? pin->locked_digest : "", "digest", NULL);
        (void)json_object_object_add(entry, "locked", json_object_new_boolean(is_locked));
        (void)json_object_object_add(entry, "stale", json_object_new_boolean(pin->is_stale));
        if (pin->is_stale)
            warn_of_stale(pin);
        (void)json_object_array_add(list, entry);
        if (o->newest)
            rc = add_newest(o, pin, entry, err);
    }
    free(pins);
    return rc;
}

/* How wide the column of @field has to be. */
static int width_of(struct json_object *list, const char *field, const char *title)
{
    size_t width = strlen(title);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t len = strlen(sw_json_str(sw_json_at(list, i), "", field, NULL));
        width = len > width ? len : width;
    }
    return (int)width;
}

static void print_list(struct json_object *list, bool with_newest)
{
    static const struct {
        const char *field, *title;
    } columns[] = { { "chart", "CHART" },
                    { "name", "DEPENDENCY" },
                    { "version", "VERSION" },
                    { "newest", "NEWEST" },
                    { "repository", "REPOSITORY" } };
    for (size_t row = 0; row <= sw_json_len(list); row++) {
        struct json_object *one = row ? sw_json_at(list, row - 1) : NULL;
        for (size_t c = 0; c < SW_COUNT(columns); c++)
            if (with_newest || !sw_streq(columns[c].field, "newest"))
                (void)printf("%-*s  ", width_of(list, columns[c].field, columns[c].title),
                             one ? sw_json_str(one, "", columns[c].field, NULL) : columns[c].title);
        const char *digest = sw_json_str(one, "", "digest", NULL);
        bool is_locked = sw_json_bool(one, false, "locked", NULL),
             is_stale = sw_json_bool(one, false, "stale", NULL);
        (void)printf("%s\n", !one        ? "LOCKED"
                             : *digest   ? digest
                             : is_locked ? "its version"
                             : is_stale  ? "stale"
                                         : "no");
    }
}

static int list(const struct vendor_opts *o, const struct sw_operands *rest, struct sw_err *err)
{
    SW_AUTO_JSON *all = json_object_new_array();
    for (size_t i = 1; i < rest->n; i++) {
        int rc = list_chart(o, rest->items[i], all, err);
        if (rc < 0)
            return rc;
    }
    if (is_json(o))
        return sw_cli_print_json(all);
    print_list(all, o->newest);
    return SW_EXIT_OK;
}

/* ---- lock --------------------------------------------------------------------------------------
 */

/* Write @text (NULL: no such file) to a file of the chart, and its name to @written. */
static int write_file(const char *chart, const char *name, const char *text,
                      struct json_object *written, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", chart, name);
    if (!text) {
        (void)unlink(path);
        return 0;
    }
    (void)json_object_array_add(written, json_object_new_string(path));
    return sw_file_rewrite(path, text, strlen(text), err);
}

/* Write the files that lock @recipe, which is in the folder @chart. */
static int write_locks(const struct sw_recipe *recipe, const char *chart,
                       struct json_object *written, struct sw_err *err)
{
    SW_AUTO_CHARS *lock = NULL, *digests = sw_recipe_digests_text(recipe);
    int rc = sw_recipe_lock_text(recipe, sw_build_time_s(time(NULL)), &lock, err);
    if (rc == 0)
        rc = write_file(chart, "Chart.lock", lock, written, err);
    return rc == 0 ? write_file(chart, SW_DIGESTS_FILE, digests, written, err) : rc;
}

/* A digest is known of what was fetched, not of what is at hand. */
static void warn_of_unknown(const struct sw_recipe *recipe)
{
    size_t n;
    struct sw_pin *pins = sw_recipe_pins(recipe, &n);
    for (size_t i = 0; i < n; i++)
        if (pins[i].is_own && !*pins[i].digest && !*pins[i].known_digest)
            (void)fprintf(stderr,
                          "slipway vendor: warning: %s %s: taken from a folder, or from a source "
                          "without archives: no digest is locked\n",
                          pins[i].name, pins[i].version ? pins[i].version : pins[i].asked);
    free(pins);
}

/* The same version has other bytes: that is taken only where it is said. */
static int check_changed(const struct vendor_opts *o, const struct sw_recipe *recipe,
                         struct sw_err *err)
{
    size_t n;
    int rc = 0;
    struct sw_pin *pins = sw_recipe_pins(recipe, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sw_pin *pin = &pins[i];
        if (!pin->is_own || !*pin->digest || !*pin->known_digest ||
            sw_streq(pin->digest, pin->known_digest))
            continue;
        SW_AUTO_CHARS *said = sw_printf("%s: %s %s: its digest is %s, and " SW_DIGESTS_FILE
                                        " has %s: what was published has changed",
                                        pin->in, pin->name, pin->version, pin->digest,
                                        pin->known_digest);
        if (o->accept_changed)
            (void)fprintf(stderr, "slipway vendor: warning: %s; locked as it is now\n", said);
        else if (rc == 0)
            rc = sw_err_set(err, SW_INVALID,
                            "%s; look at it, and slipway vendor lock --accept-changed takes it",
                            said);
    }
    free(pins);
    return rc;
}

static void print_written(struct json_object *written)
{
    for (size_t i = 0; i < sw_json_len(written); i++)
        (void)printf("wrote %s\n", json_object_get_string(sw_json_at(written, i)));
}

static int lock_one(const struct vendor_opts *o, const char *chart, struct json_object *written,
                    struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    int rc = check_folder(chart, err), fd = rc == 0 ? sw_folder_lock(chart, "vendor") : -1;
    if (rc == 0)
        rc = sw_source_open(&o->recipe.source, chart, NULL, &recipe, NULL, err);
    if (rc == 0)
        rc = check_changed(o, recipe, err);
    if (rc == 0)
        warn_of_unknown(recipe);
    if (rc == 0 && !o->dry_run)
        rc = write_locks(recipe, chart, written, err);
    sw_folder_unlock(fd);
    return rc;
}

static int lock(struct vendor_opts *o, const struct sw_operands *rest, struct sw_err *err)
{
    SW_AUTO_JSON *written = json_object_new_array();
    o->recipe.source.no_lock = true;
    for (size_t i = 1; i < rest->n; i++) {
        int rc = lock_one(o, rest->items[i], written, err);
        if (rc < 0)
            return rc;
    }
    if (is_json(o))
        return sw_cli_print_json(written);
    print_written(written);
    return SW_EXIT_OK;
}

/* ---- update ------------------------------------------------------------------------------------
 */

/* The recipe as it is, and as it would be. */
struct update {
    struct vendor_opts *opts;
    const char *chart;
    char *interrupted; /* of find_dependency(); owned */
    struct sw_opened_recipe before, after;
    struct sw_pin *pins_before, *pins_after;
    size_t n_before, n_after;
    const struct sw_pin *from, *to;
};

static void update_done(struct update *u)
{
    free(u->pins_before);
    free(u->pins_after);
    free(u->interrupted);
    sw_opened_recipe_done(&u->before);
    sw_opened_recipe_done(&u->after);
}

/* The pin of the root chart's dependency @name; NULL: its only one. */
static const struct sw_pin *find_pin(const struct sw_pin *pins, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (pins[i].is_own && (!name || sw_streq(pins[i].name, name)))
            return &pins[i];
    return NULL;
}

/* The dependency that is meant: its name, and where its lock is stale the version that is locked,
 * from which an update that was interrupted came, else NULL. Both are the caller's. */
static int find_dependency(const char *chart, const char *wanted, char **name, char **interrupted,
                           struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_CHARS *names = NULL;
    size_t n, n_own = 0;
    int rc = open_empty(chart, &recipe, err);
    if (rc < 0)
        return rc;
    struct sw_pin *pins = sw_recipe_pins(recipe, &n);
    for (size_t i = 0; i < n; i++) {
        if (!pins[i].is_own)
            continue;
        n_own++;
        sw_append(&names, "%s%s", names ? ", " : "", pins[i].name);
    }
    const struct sw_pin *found = find_pin(pins, n, wanted);
    if (!found && wanted)
        rc = sw_err_set(err, SW_INVALID, "%s has no dependency '%s' that is fetched; it has: %s",
                        chart, wanted, names ? names : "none");
    else if (!found || (!wanted && n_own > 1))
        rc = sw_err_set(err, SW_INVALID, "%s: which dependency? It has: %s", chart,
                        names ? names : "none that is fetched");
    else {
        *name = sw_strdup(found->name);
        *interrupted = found->is_stale && *found->locked ? sw_strdup(found->locked) : NULL;
    }
    free(pins);
    return rc;
}

/* Open both; that the version from which one comes cannot be had any more is no reason to stay. */
static int open_both(struct update *u, const char *name, const char *version, struct sw_err *err)
{
    struct sw_recipe_flags *recipe = &u->opts->recipe;
    recipe->source.version = NULL;
    recipe->source.allow_stale_lock = true;
    recipe->source.of_dependency = u->interrupted ? name : NULL;
    recipe->source.instead_version = u->interrupted;
    SW_ERR(why);
    if (sw_recipe_flags_open(recipe, u->chart, false, &u->before, &why) < 0) {
        (void)fprintf(stderr, "slipway vendor: warning: %s; compared with nothing\n",
                      sw_err_text(&why));
        sw_opened_recipe_done(&u->before);
    } else {
        u->pins_before = sw_recipe_pins(u->before.recipe, &u->n_before);
        u->from = find_pin(u->pins_before, u->n_before, name);
    }
    recipe->source.of_dependency = name;
    recipe->source.instead_version = version;
    int rc = sw_recipe_flags_open(recipe, u->chart, false, &u->after, err);
    if (rc == 0) {
        u->pins_after = sw_recipe_pins(u->after.recipe, &u->n_after);
        u->to = find_pin(u->pins_after, u->n_after, name);
    }
    if (rc == 0 && !u->to->version)
        rc = sw_err_set(
            err, SW_INVALID,
            "%s: what is at hand has no version of its own; say which one with --version", name);
    return rc;
}

static const char *without_v(const char *version)
{
    return version + (*version == 'v');
}

/* The chart's appVersion, if it follows the one of the dependency; the caller's. NULL: it does not.
 */
static char *new_app(const struct update *u)
{
    const char *own = sw_json_str((struct json_object *)sw_recipe_metadata(u->after.recipe), "",
                                  "appVersion", NULL);
    bool follows = u->from && *u->from->app && *u->to->app &&
                   sw_streq(without_v(own), without_v(u->from->app));
    return follows ? sw_printf("%s%s", *own == 'v' ? "v" : "", without_v(u->to->app)) : NULL;
}

static int write_update(const struct update *u, struct json_object *written, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/Chart.yaml", u->chart), *old = NULL, *text = NULL,
                  *app = new_app(u);
    size_t len;
    int rc = sw_file_read(path, 1U << 20, &old, &len, err);
    if (rc == 0)
        rc = sw_chart_text_pinned(path, old, u->to->name, u->to->version, app, &text, err);
    if (rc == 0 && !u->opts->dry_run)
        rc = write_file(u->chart, "Chart.yaml", text, written, err);
    return rc == 0 && !u->opts->dry_run ? write_locks(u->after.recipe, u->chart, written, err) : rc;
}

static struct json_object *report_of(const struct update *u, struct json_object *changes)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, u->chart, "chart", NULL);
    sw_json_set_str(doc, u->to->name, "name", NULL);
    sw_json_set_str(doc, u->to->repository, "repository", NULL);
    if (u->from && u->from->version)
        sw_json_set_str(doc, u->from->version, "from", NULL);
    sw_json_set_str(doc, u->to->version, "to", NULL);
    sw_json_set_str(doc, u->to->digest, "digest", NULL);
    (void)json_object_object_add(doc, "changes", changes);
    return doc;
}

static void print_update(struct json_object *doc)
{
    struct json_object *changes = sw_json_get(doc, "changes");
    const char *from = sw_json_str(doc, "", "from", NULL);
    (void)printf("%s: %s %s%s%s (%s)\n", sw_json_str(doc, "", "chart", NULL),
                 sw_json_str(doc, "", "name", NULL), from, *from ? " -> " : "",
                 sw_json_str(doc, "", "to", NULL), sw_json_str(doc, "", "repository", NULL));
    if (json_object_object_length(changes) == 0)
        (void)printf("nothing of what it installs changes\n");
    sw_changes_print(changes, sw_cli_colours(STDOUT_FILENO));
    print_written(sw_json_get(doc, "written"));
}

static int update_one(struct update *u, const char *name, const char *version, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct json_object *changes = NULL;
    int rc = open_both(u, name, version, err);
    if (rc == 0)
        rc = sw_changes(&(struct sw_changes_of){ u->from ? &u->before : NULL, u->from },
                        &(struct sw_changes_of){ &u->after, u->to }, &changes, err);
    if (rc < 0)
        return rc;
    doc = report_of(u, changes);
    struct json_object *written = sw_json_need_list(doc, "written", NULL);
    if (!is_json(u->opts))
        print_update(doc); /* before anything is written */
    rc = write_update(u, written, err);
    if (rc < 0)
        return rc;
    warn_of_unknown(u->after.recipe);
    if (is_json(u->opts))
        return sw_cli_print_json(doc);
    print_written(written);
    return SW_EXIT_OK;
}

static int update(struct vendor_opts *o, const struct sw_operands *rest, struct sw_err *err)
{
    struct update u = { .opts = o, .chart = rest->items[1] };
    SW_AUTO_CHARS *name = NULL;
    const char *version = o->recipe.source.version;
    int rc = check_folder(u.chart, err), fd = rc == 0 ? sw_folder_lock(u.chart, "vendor") : -1;
    if (rc == 0)
        rc = find_dependency(u.chart, rest->n > 2 ? rest->items[2] : NULL, &name, &u.interrupted,
                             err);
    if (rc == 0)
        rc = update_one(&u, name, version ? version : "", err);
    sw_folder_unlock(fd);
    update_done(&u);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int execute(const struct sw_call *call)
{
    struct vendor_opts o = { .format = "text", .recipe.source.no_stand_ins = true };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, MAX_CHARTS, &rest);
    if (rc) {
        rc--;
    } else {
        const char *what = rest.items[0];
        bool is_update = sw_streq(what, "update"), is_list = sw_streq(what, "list");
        if (!is_update && !is_list && !sw_streq(what, "lock"))
            rc = sw_cli_usage("vendor", "'%s': list, lock or update is needed", what);
        else if (rest.n < 2)
            rc = sw_cli_usage("vendor", "%s: which chart? Its folder is needed", what);
        else if (is_update && rest.n > 3)
            rc = sw_cli_usage("vendor", "update: one chart and one of its dependencies are needed");
        else if ((!is_list || o.newest) && sw_source_stand_ins(o.recipe.source.stand_ins))
            rc = sw_cli_usage("vendor", "--stand-ins: only the vendors' own charts are pinned");
        else if (o.accept_changed && (is_list || is_update))
            rc = sw_cli_usage("vendor", "--accept-changed: of lock alone");
        else if (o.recipe.source.repo)
            rc = sw_cli_usage("vendor", "--repo: what is pinned is a folder");
        else
            rc = is_update ? update(&o, &rest, &err)
                 : is_list ? list(&o, &rest, &err)
                           : lock(&o, &rest, &err);
        if (rc < 0)
            rc = sw_cli_fail("vendor", &err);
    }
    sw_recipe_flags_done(&o.recipe);
    return rc;
}

const struct sw_command sw_command_vendor = {
    .name = "vendor",
    .args = "list|lock|update CHART [DEPENDENCY]",
    .missing = "list, lock or update is needed, and the folder of a chart",
    .summary = "pin the charts that a recipe depends on: list, lock or update them",
    .details =
        "list CHART...                 which charts are fetched, in which version, and whether "
        "they are locked\n"
        "lock CHART...                 fetch them, and write Chart.lock and slipway.lock, the "
        "digests of their\n"
        "                              archives: what is fetched from then on has these digests\n"
        "update CHART [DEPENDENCY]     show what its newest version, or that of --version, "
        "changes: values,\n"
        "                              definitions, images, rights, objects; then pin and lock "
        "it. --dry-run\n"
        "                              only shows it\n"
        "\n"
        "A CHART is a folder, such as states/nfd; list looks into the folders that it depends on, "
        "too.",
    .flags = flags,
    .execute = execute,
};
