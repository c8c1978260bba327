/* slipway diff: what applying a recipe would change on a cluster. Each manifest is made into what
 * the controller would apply, applied as a dry run, and the answer compared with what is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/recipe/preview.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/manifests/hooks.h"

/* As diff(1). */
enum { NO_CHANGE = 0, SOME_CHANGE = 1, TROUBLE = 2 };

enum { RETRIES = 3 };

struct diff_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(offsetof(struct diff_opts, recipe)),
    SW_CONNECT_FLAGS(struct diff_opts, connect),
    { 0 },
};

struct work {
    struct diff_opts opts;
    struct sw_preview preview;
    bool colours, changed, failed, gave_up;
};

/* ---- showing ------------------------------------------------------------------------------------
 */

/* What differs from write to write, what is the cluster's own, and what the engine writes beside
 * the manifest to know its objects again. */
static void strip(struct json_object *doc)
{
    static const char *const noise[] = { "managedFields",     "resourceVersion", "uid",
                                         "creationTimestamp", "generation",      "selfLink" };
    static const char *const marks[] = { SW_SRO_PREFIX "hash", "slipway.dev/resource",
                                         "slipway.dev/adopted" };
    for (size_t i = 0; i < SW_COUNT(noise); i++)
        (void)sw_json_del(doc, "metadata", noise[i], NULL);
    for (size_t i = 0; i < SW_COUNT(marks); i++)
        (void)sw_json_del(doc, "metadata", "annotations", marks[i], NULL);
    if (sw_json_len(sw_json_find(doc, "metadata", "annotations", NULL)) == 0)
        (void)sw_json_del(doc, "metadata", "annotations", NULL);
    (void)sw_json_del(doc, "status", NULL);
}

/* A Secret's values are not for the terminal; that one changes is. */
static void mask_values(struct json_object *doc, const char *field, struct json_object *other,
                        const char *words)
{
    struct json_object *old = sw_json_get(doc, field), *masked = json_object_new_object();
    if (!old || !json_object_is_type(old, json_type_object)) {
        json_object_put(masked);
        return;
    }
    json_object_object_foreach(old, key, value)
    {
        bool same = sw_json_equal(value, sw_json_find(other, field, key, NULL));
        json_object_object_add(masked, key, json_object_new_string(same ? "***" : words));
    }
    json_object_object_add(doc, field, masked);
}

static void mask(struct json_object *from, struct json_object *to)
{
    static const char *const fields[] = { "data", "stringData" };
    SW_AUTO_JSON *before = sw_json_copy(from);
    for (size_t i = 0; i < SW_COUNT(fields); i++) {
        mask_values(from, fields[i], to, "*** (before)");
        mask_values(to, fields[i], before, "*** (after)");
    }
}

static void print_diff(const struct work *w, const char *text)
{
    static const struct {
        const char *start, *colour;
    } colours[] = { { "---", "\033[1m" }, { "+++", "\033[1m" }, { "@@", "\033[36m" },
                    { "-", "\033[31m" },  { "+", "\033[32m" },  { "", "" } };
    for (size_t len; *text; text += len) {
        len = strcspn(text, "\n");
        size_t i = 0;
        while (!sw_starts_with(text, colours[i].start))
            i++;
        bool coloured = w->colours && *colours[i].colour;
        (void)printf("%s%.*s%s\n", coloured ? colours[i].colour : "", (int)len, text,
                     coloured ? "\033[0m" : "");
        len += text[len] == '\n';
    }
}

/* @live: NULL where the object is not there. Both are changed. */
static void compare(struct work *w, struct json_object *live, struct json_object *wanted)
{
    SW_AUTO_CHARS *what = sw_printf("%s %s %s%s%s", sw_obj_api_version(wanted), sw_obj_kind(wanted),
                                    sw_obj_namespace(wanted), *sw_obj_namespace(wanted) ? "/" : "",
                                    sw_obj_name(wanted));
    strip(live);
    strip(wanted);
    if (sw_streq(sw_obj_kind(wanted), "Secret"))
        mask(live, wanted);
    SW_AUTO_CHARS *before = live ? sw_yaml_text(live, NULL) : sw_strdup("");
    SW_AUTO_CHARS *after = sw_yaml_text(wanted, NULL);
    SW_AUTO_CHARS *from = sw_printf("%s (%s)", what, live ? "live" : "not there");
    SW_AUTO_CHARS *to = sw_printf("%s (applied)", what);
    SW_AUTO_CHARS *diff = sw_diff(before, after, from, to);
    if (!diff)
        return;
    w->changed = true;
    print_diff(w, diff);
}

/* ---- one manifest -------------------------------------------------------------------------------
 */

static void report_failure(struct work *w, const struct sw_manifest *m, const char *words)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "slipway diff: %s:%d: %s\n", m->path, m->line, words);
    w->failed = true;
}

/* @return 0, or a code after which there is no use in asking on */
static int compare_served(struct work *w, const struct sw_manifest *m, const struct sw_kind *kind,
                          struct json_object *doc)
{
    SW_ERR(err);
    SW_AUTO_JSON *live = NULL;
    SW_AUTO_JSON *dry = NULL;
    const char *ns = kind->namespaced ? sw_obj_namespace(doc) : NULL, *name = sw_obj_name(doc);
    const struct sw_request_opts look = { .retries = RETRIES },
                                 try = { .retries = RETRIES, .dry_run = true, .force = true };
    int rc = sw_cluster_get(&w->preview.conn, kind, ns, name, &look, &live, &err);
    bool is_new = rc == SW_NOTFOUND;
    if (rc == 0 || is_new)
        rc = sw_cluster_apply(&w->preview.conn, kind, ns, name, doc, &try, &dry, &err);
    if (rc == 0)
        compare(w, live, dry);
    else if (is_new && rc == SW_NOTFOUND) /* its namespace is not there either */
        compare(w, NULL, doc);
    else
        report_failure(w, m, sw_err_text(&err));
    return rc == SW_UNAVAILABLE || rc == SW_CANCELED ? rc : 0;
}

static int diff_object(struct sw_preview *preview, const struct sw_preview_pass *pass,
                       const struct sw_manifest *m, void *arg, struct sw_err *err SW_UNUSED)
{
    struct work *w = arg;
    SW_ERR(why);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_kind *kind;
    if (sw_preview_object(preview, pass, m, &doc, &kind, &why) < 0) {
        report_failure(w, m, sw_err_text(&why));
        return 0;
    }
    if (kind) {
        w->gave_up = compare_served(w, m, kind, doc) < 0; /* what went wrong was said there */
        return w->gave_up ? SW_CANCELED : 0;
    }
    (void)fprintf(stderr, "slipway diff: %s:%d: %s %s is not served yet\n", m->path, m->line,
                  sw_obj_api_version(doc), sw_obj_kind(doc));
    compare(w, NULL, doc);
    return 0;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int diff(struct work *w, const char *source, struct sw_err *err)
{
    int rc = sw_preview_init(&w->preview, "diff", &w->opts.recipe, &w->opts.connect, source, 0,
                             err);
    if (rc == 0)
        rc = sw_preview_each(&w->preview, diff_object, w, err);
    return w->gave_up ? 0 : rc;
}

static int execute(const struct sw_call *call)
{
    struct work w = { .colours = sw_cli_colours(STDOUT_FILENO) };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &w.opts, 1, &rest);
    if (rc) {
        rc--;
    } else if (diff(&w, rest.items[0], &err) < 0) {
        (void)sw_cli_fail("diff", &err);
        rc = TROUBLE;
    } else {
        bool written = fflush(stdout) == 0 && !ferror(stdout);
        rc = w.failed || !written ? TROUBLE : w.changed ? SOME_CHANGE : NO_CHANGE;
    }
    sw_preview_done(&w.preview);
    sw_recipe_flags_done(&w.opts.recipe);
    return rc;
}

const struct sw_command sw_command_diff = {
    .name = "diff",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "show what applying a recipe would change on the cluster",
    .details =
        "Each manifest is applied as a dry run and compared with what is there. Templates see the\n"
        "cluster's version and kinds; lookups find nothing, and the controller's runtime values "
        "are\n"
        "those of --facts. The namespace is the SpecialResource's on the cluster, else of the "
        "recipe's\n"
        "name, unless --namespace is given.\n\n"
        "Exit status: 0 no change, 1 changes, 2 errors.",
    .flags = flags,
    .execute = execute,
};
