/* slipway diff: what applying a recipe would change on a cluster. Each manifest is applied as a dry
 * run, as the controller would apply it, and the answer is compared with the live object. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/cluster/shared_releases.h"
#include "cli/commands/commands.h"
#include "cli/recipe/preview.h"
#include "cli/recipe/preview_dropped.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"
#include "operator/engine/owner.h"

/* As diff(1). */
enum { NO_CHANGE = 0, SOME_CHANGE = 1, TROUBLE = 2 };

struct diff_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS_IN(offsetof(struct diff_opts, recipe),
                       "the SpecialResource's on the cluster, else the recipe's name"),
    SW_MIRROR_FLAG(offsetof(struct diff_opts, recipe.source)),
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct diff_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default: none)" },
    SW_CONNECT_FLAGS(struct diff_opts, connect),
    { 0 },
};

struct work {
    struct diff_opts opts;
    struct sw_preview preview;
    struct json_object *rendered; /* sw_preview_note() */
    bool colours, changed, failed;
    bool gave_up; /* the server does not answer, which was reported */
};

/* ---- output -------------------------------------------------------------------------------------
 */

/* Replace a Secret's values: @changed for those that differ from @other's. */
static void mask_values(struct json_object *doc, const char *field, struct json_object *other,
                        const char *changed)
{
    struct json_object *old = sw_json_get(doc, field);
    if (!json_object_is_type(old, json_type_object))
        return;
    struct json_object *masked = json_object_new_object();
    json_object_object_foreach(old, key, value)
    {
        bool same = sw_json_equal(value, sw_json_find(other, field, key, NULL));
        json_object_object_add(masked, key, json_object_new_string(same ? "***" : changed));
    }
    json_object_object_add(doc, field, masked);
}

/* Lines that no patch has. */
static void print_comment(const struct work *w, const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        (void)printf("%s# %.*s%s\n", w->colours ? "\033[33m" : "", (int)(end - text), text,
                     w->colours ? "\033[0m" : "");
    }
}

/* @live: NULL if the object does not exist; @wanted: NULL if it goes. Both are changed. @comment:
 * what is said above a difference; NULL: nothing. */
static void compare(struct work *w, struct json_object *live, struct json_object *wanted,
                    const char *comment)
{
    static const char *const secret_fields[] = { "data", "stringData" };
    static const struct {
        const char *start, *colour;
    } colours[] = { { "---", "\033[1m" }, { "+++", "\033[1m" }, { "@@", "\033[36m" },
                    { "-", "\033[31m" },  { "+", "\033[32m" },  { "", "" } };
    struct json_object *one = wanted ? wanted : live;
    SW_AUTO_CHARS *what = sw_printf("%s %s %s%s%s", sw_obj_api_version(one), sw_obj_kind(one),
                                    sw_obj_namespace(one), *sw_obj_namespace(one) ? "/" : "",
                                    sw_obj_name(one));
    sw_preview_strip(live);
    sw_preview_strip(wanted);
    if (sw_streq(sw_obj_kind(one), "Secret")) {
        SW_AUTO_JSON *unmasked = sw_json_copy(live);
        for (size_t i = 0; i < SW_COUNT(secret_fields); i++) {
            mask_values(live, secret_fields[i], wanted, "*** (before)");
            mask_values(wanted, secret_fields[i], unmasked, "*** (after)");
        }
    }
    SW_AUTO_CHARS *before = live ? sw_yaml_text(live, NULL) : sw_strdup("");
    SW_AUTO_CHARS *after = wanted ? sw_yaml_text(wanted, NULL) : sw_strdup("");
    SW_AUTO_CHARS *from = sw_printf("%s (%s)", what, live ? "live" : "not there");
    SW_AUTO_CHARS *to = sw_printf("%s (%s)", what, wanted ? "applied" : "deleted");
    SW_AUTO_CHARS *diff = sw_diff(before, after, from, to);
    w->changed = w->changed || diff;
    if (diff && comment)
        print_comment(w, comment);
    for (const char *line = diff; line && *line;) {
        size_t len = strcspn(line, "\n"), i = 0;
        while (!sw_starts_with(line, colours[i].start))
            i++;
        bool coloured = w->colours && *colours[i].colour;
        (void)printf("%s%.*s%s\n", coloured ? colours[i].colour : "", (int)len, line,
                     coloured ? "\033[0m" : "");
        line += len + (line[len] == '\n');
    }
}

/* ---- one manifest -------------------------------------------------------------------------------
 */

static void report_failure(struct work *w, const struct sw_manifest *m, const char *message)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "slipway diff: %s:%d: %s\n", m->path, m->line, message);
    w->failed = true;
}

/* A Namespace or CRD of somebody else's is used as it is. */
static void print_borrowed(const struct work *w, const struct sw_preview_change *change)
{
    SW_AUTO_CHARS *text = sw_printf("%s %s %s: it is used as it is, and never written",
                                    sw_obj_kind(change->live), sw_obj_name(change->live),
                                    change->foreign);
    print_comment(w, text);
}

/* A sw_preview_fn. */
static int diff_object(struct sw_preview *preview, const struct sw_preview_pass *pass,
                       const struct sw_manifest *m, void *arg, struct sw_err *err SW_UNUSED)
{
    struct work *w = arg;
    struct sw_preview_change change = { 0 };
    SW_ERR(why);
    int rc = sw_preview_apply(preview, pass, m, &change, &why);
    if (rc < 0) {
        report_failure(w, m, sw_err_text(&why));
    } else if (!change.has_run) {
        if (!change.is_served)
            (void)fprintf(stderr, "slipway diff: %s:%d: %s %s is not served yet\n", m->path,
                          m->line, sw_obj_api_version(change.wanted), sw_obj_kind(change.wanted));
        if (change.foreign && sw_owner_borrows(change.live))
            print_borrowed(w, &change);
        else
            compare(w, change.live, change.wanted,
                    change.foreign ? change.foreign
                    : change.is_remade
                        ? "it cannot be changed in place: it is deleted, and made anew"
                        : change.taken);
    }
    sw_preview_note(&w->rendered, preview, m, rc < 0 ? NULL : change.wanted);
    sw_preview_change_done(&change);
    w->gave_up = rc == SW_UNAVAILABLE || rc == SW_CANCELED;
    return w->gave_up ? SW_CANCELED : 0;
}

/* What the recipe does not have any more. */
static void diff_dropped(struct work *w)
{
    const struct sw_request_opts opts = { .retries = 2 };
    SW_AUTO_JSON *dropped = sw_preview_dropped(&w->preview, w->rendered);
    for (size_t i = 0; i < sw_json_len(dropped); i++) {
        struct json_object *entry = sw_json_at(dropped, i);
        const bool stays = sw_json_bool(entry, false, "keep", NULL) ||
                           sw_json_bool(entry, false, "adopted", NULL);
        SW_AUTO_JSON *live = NULL;
        SW_ERR(err);
        int rc = sw_cluster_find(&w->preview.conn, sw_json_str(entry, "", "apiVersion", NULL),
                                 sw_json_str(entry, "", "kind", NULL),
                                 sw_json_str(entry, "", "namespace", NULL),
                                 sw_json_str(entry, "", "name", NULL), &opts, &live, &err);
        if (rc < 0 && rc != SW_NOTFOUND) {
            (void)fflush(stdout);
            (void)fprintf(stderr, "slipway diff: %s\n", sw_err_text(&err));
            w->failed = true;
        } else if (rc == 0 && stays) {
            SW_AUTO_CHARS *text = sw_printf("%s %s is not in the recipe any more, and stays",
                                            sw_obj_kind(live), sw_obj_name(live));
            print_comment(w, text);
        } else if (rc == 0) {
            compare(w, live, NULL, NULL);
        }
    }
}

/* What is not applied since another one owns it, as lines that no patch has. */
static void print_shared(const struct work *w)
{
    const struct sw_preview *preview = &w->preview;
    SW_AUTO_JSON *shared = sw_preview_shared(preview);
    for (size_t i = 0; i < sw_json_len(shared); i++) {
        SW_AUTO_CHARS *line = sw_shared_release_line(sw_json_at(shared, i));
        print_comment(w, line);
    }
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int execute(const struct sw_call *call)
{
    struct work w = { .colours = sw_cli_colours(STDOUT_FILENO) };
    struct sw_operands rest;
    SW_ERR(err);
    w.opts.recipe.source.late = true;
    int rc = sw_cli_parse(call, &w.opts, 1, &rest);
    if (rc) {
        rc--;
    } else {
        rc = sw_preview_init(&w.preview, "diff", &w.opts.recipe, &w.opts.connect, rest.items[0],
                             w.opts.timeout_ms, &err);
        if (rc == 0)
            print_shared(&w);
        if (rc == 0)
            rc = sw_preview_each(&w.preview, diff_object, &w, &err);
        if (rc == 0)
            diff_dropped(&w);
        bool failed = w.failed || fflush(stdout) != 0 || ferror(stdout);
        if (rc < 0 && !w.gave_up) {
            (void)sw_cli_fail("diff", &err);
            failed = true;
        }
        rc = failed ? TROUBLE : w.changed ? SOME_CHANGE : NO_CHANGE;
    }
    json_object_put(w.rendered);
    sw_preview_done(&w.preview);
    sw_recipe_flags_done(&w.opts.recipe);
    return rc;
}

const struct sw_command sw_command_diff = {
    .name = "diff",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "show what applying a recipe would change on the cluster",
    .details = "Each manifest is applied as a dry run and compared with the live object. Templates "
               "see the version,\n"
               "the kinds and the facts of the cluster (or those of --facts), and look it up. The "
               "namespace is\n"
               "that of the SpecialResource on the cluster, else the recipe's name, unless "
               "--namespace is given. Objects that the recipe has no more are shown as deleted; "
               "lines that\n"
               "begin with # say whose fields are set, and what is left as it is.\n"
               "\n"
               "Exit status: 0 no change, 1 changes, 2 errors.",
    .flags = flags,
    .execute = execute,
};
