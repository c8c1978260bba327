/* slipway diff: what applying a recipe would change on a cluster. Each manifest is made into what
 * the controller would apply, applied as a dry run, and the answer compared with what is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster_facts.h"
#include "cli/connect.h"
#include "cli/recipe_flags.h"
#include "cli/resource.h"
#include "cli/talk.h"
#include "controller/hooks.h"
#include "data/data.h"
#include "kube/kube.h"

/* As diff(1). */
enum { NO_CHANGE = 0, SOME_CHANGE = 1, TROUBLE = 2 };

enum { RETRIES = 3 };

struct diff_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
};

const struct sw_flag sw_flags_diff[] = {
    SW_RECIPE_FLAGS(offsetof(struct diff_opts, recipe)),
    SW_CONNECT_FLAGS(struct diff_opts, connect),
    { 0 },
};

struct work {
    struct diff_opts opts;
    struct sw_connection conn;
    struct sw_opened_recipe opened;
    struct json_object *resource; /* the SpecialResource that the objects would belong to */
    const char *ns;               /* of it, borrowed */
    char *version;                /* of the server */
    const char **apis;            /* what it serves; strings owned */
    size_t n_apis, cap_apis;
    struct sw_cluster_facts facts; /* nothing where --facts was given */
    bool colours, changed, failed, gave_up;
};

/* Of all that is rendered at once. */
struct pass {
    const struct sw_group *group; /* NULL: no node's kernel is known */
    struct json_object *values;
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

static void complain(struct work *w, const struct sw_manifest *m, const char *words)
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
    int rc = sw_talk_get(&w->conn, kind, ns, name, &look, &live, &err);
    bool is_new = rc == SW_NOTFOUND;
    if (rc == 0 || is_new)
        rc = sw_talk_apply(&w->conn, kind, ns, name, doc, &try, &dry, &err);
    if (rc == 0)
        compare(w, live, dry);
    else if (is_new && rc == SW_NOTFOUND) /* its namespace is not there either */
        compare(w, NULL, doc);
    else
        complain(w, m, sw_err_text(&err));
    return rc == SW_UNAVAILABLE || rc == SW_CANCELED ? rc : 0;
}

/* Hooks of other occasions than an install are not applied, nor what is only looked at or tried. */
static bool is_applied(const struct sw_manifest *m)
{
    if (sw_hook_asked(m->doc, SW_OBSERVE) || sw_hook_asked(m->doc, SW_DRY_RUN))
        return false;
    unsigned events = SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL | SW_HOOK_PRE_UPGRADE |
                      SW_HOOK_POST_UPGRADE;
    return !m->hook_events || (m->hook_events & events);
}

/* @pass: what the manifest was rendered with */
static int look_at(struct work *w, const struct sw_manifest *m, const struct pass *pass)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = sw_json_copy(m->doc);
    const struct sw_kind *kind = sw_kube_kind_find(w->conn.kube, sw_obj_api_version(doc),
                                                   sw_obj_kind(doc));
    SW_AUTO_JSON *selector = pass->group ? sw_facts_selector(w->facts.facts, pass->group) : NULL;
    struct sw_hook_env env = {
        .resource = w->resource,
        .ns = w->ns,
        .namespaced = kind ? kind->namespaced : *sw_obj_namespace(doc) != '\0',
        .from_crds = m->from_crds,
        .group = pass->group,
        .selector = selector,
        .values = pass->values,
    };
    if (sw_hooks_apply(doc, &env, &err) < 0) {
        complain(w, m, sw_err_text(&err));
        return 0;
    }
    if (kind)
        return compare_served(w, m, kind, doc);
    (void)fprintf(stderr, "slipway diff: %s:%d: %s %s is not served yet\n", m->path, m->line,
                  sw_obj_api_version(doc), sw_obj_kind(doc));
    compare(w, NULL, doc);
    return 0;
}

/* ---- the cluster --------------------------------------------------------------------------------
 */

static void on_api(const char *api, void *arg)
{
    struct work *w = arg;
    SW_GROW(w->apis, w->n_apis, w->cap_apis);
    w->apis[w->n_apis++] = sw_strdup(api);
}

static int discover(struct work *w, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *version = NULL;
    size_t len;
    int rc = sw_talk_kinds(&w->conn, err);
    if (rc == 0)
        rc = sw_talk_path(&w->conn, "/version", &text, &len, err);
    if (rc == 0)
        rc = sw_json_parse(text, len, NULL, &version, err);
    if (rc < 0)
        return rc;
    sw_kube_each_api(w->conn.kube, on_api, w);
    w->version = sw_strdup(sw_json_str(version, "", "gitVersion", NULL));
    return 0;
}

/* The resource as `slipway run` would make it, over the one that is there. */
static int make_resource(struct work *w, const char *source, struct sw_err *err)
{
    const struct sw_recipe_flags *flags = &w->opts.recipe;
    const struct sw_opened_recipe *o = &w->opened;
    const struct sw_resource_opts opts = {
        .recipe = source,
        .source = &flags->source,
        .connect = &w->opts.connect,
        .name = flags->name,
        .ns = flags->namespace,
        .values = { .files = o->files.items,
                    .n_files = o->files.n,
                    .json = flags->set_json.items,
                    .n_json = flags->set_json.n,
                    .set = flags->set.items,
                    .n_set = flags->set.n,
                    .string = flags->set_string.items,
                    .n_string = flags->set_string.n,
                    .file = flags->set_file.items,
                    .n_file = flags->set_file.n },
    };
    SW_AUTO_JSON *made = NULL;
    SW_AUTO_JSON *live = NULL;
    int rc = sw_resource_make(&opts, &made, err);
    const struct sw_kind *kind = sw_kube_kind_find(w->conn.kube, "sro.openshift.io/v1beta1",
                                                   "SpecialResource");
    const struct sw_request_opts look = { .retries = RETRIES };
    if (rc == 0 && kind)
        rc = sw_talk_get(&w->conn, kind, NULL, sw_obj_name(made), &look, &live, err);
    if (rc < 0 && rc != SW_NOTFOUND)
        return rc;
    w->resource = live ? sw_merge_apply(live, made) : json_object_get(made);
    w->ns = sw_json_str(w->resource, sw_obj_name(w->resource), "spec", "namespace", NULL);
    return 0;
}

/* What templates are told: of the cluster and @group (NULL: its first one), or by --facts. */
static struct json_object *values_for(struct work *w, const struct sw_group *group)
{
    if (w->opened.facts)
        return json_object_get(w->opened.facts);
    return sw_facts_values(w->facts.facts, &(struct sw_facts_ask){ .groups = &w->facts.groups,
                                                                   .group = group,
                                                                   .resource = w->resource });
}

static int prepare(struct work *w, const char *source, struct sw_err *err)
{
    const struct sw_recipe_flags *flags = &w->opts.recipe;
    struct sw_opened_recipe *o = &w->opened;
    int rc = sw_recipe_flags_open(flags, source, true, o, err);
    if (rc == 0)
        rc = sw_connection_init(&w->conn, "diff", &w->opts.connect, err);
    if (rc == 0)
        rc = discover(w, err);
    if (rc == 0)
        rc = make_resource(w, source, err);
    if (rc == 0 && !flags->facts)
        rc = sw_cluster_facts_read(&w->conn, w->resource, &w->facts, err);
    struct json_object *set = sw_json_find(w->resource, "spec", "set", NULL);
    SW_AUTO(sw_values) *told = sw_values_new();
    if (rc == 0 && set)
        rc = sw_values_add_json(told, set, err);
    if (rc < 0)
        return rc;
    o->env.release = sw_obj_name(w->resource);
    o->env.namespace = w->ns;
    if (!flags->kube_version)
        o->env.kube_version = w->version;
    if (!flags->api_versions.n) {
        o->env.api_versions = w->apis;
        o->env.n_api_versions = w->n_apis;
        o->env.add_api_versions = false;
    }
    SW_AUTO_JSON *values = values_for(w, NULL);
    o->env.facts = values;
    return sw_recipe_plan(o->recipe, told, &o->env, &o->plan, err);
}

/* ---- the command --------------------------------------------------------------------------------
 */

/* All of the recipe, as nodes of one kernel would have it; of what is the same for all kernels only
 * in the first pass. */
static int look_at_all(struct work *w, const struct sw_group *group, bool first, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_AUTO_JSON *values = values_for(w, group);
    const struct pass pass = { group, values };
    w->opened.env.facts = values;
    int rc = sw_recipe_render(w->opened.plan, &w->opened.env, SW_ALL_STATES, &rendered, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
        bool affine = !m->from_crds && sw_hook_asked(m->doc, SW_KERNEL_AFFINE);
        if (!is_applied(m) || (affine ? !group : !first))
            continue;
        if (look_at(w, m, &pass) < 0) { /* what went wrong was said where it did */
            w->gave_up = true;
            break;
        }
    }
    return rc;
}

static int diff(struct work *w, const char *source, struct sw_err *err)
{
    const struct sw_groups *groups = &w->facts.groups;
    int rc = prepare(w, source, err);
    for (size_t i = 0; rc == 0 && !w->gave_up && (i == 0 || i < groups->n); i++)
        rc = look_at_all(w, groups->n ? groups->items[i] : NULL, i == 0, err);
    return rc;
}

static void work_done(struct work *w)
{
    sw_connection_done(&w->conn);
    sw_opened_recipe_done(&w->opened);
    sw_recipe_flags_done(&w->opts.recipe);
    sw_cluster_facts_done(&w->facts);
    json_object_put(w->resource);
    for (size_t i = 0; i < w->n_apis; i++)
        free((char *)w->apis[i]);
    free(w->apis);
    free(w->version);
}

int sw_cmd_diff(int argc, char **argv)
{
    struct work w = { .colours = sw_cli_colours(STDOUT_FILENO) };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse("diff", argc, argv, &w.opts, 1, &rest);
    if (rc) {
        rc--;
    } else if (rest.n < 1) {
        rc = sw_cli_usage("diff", "which recipe? A directory or a packaged chart is needed");
    } else if (diff(&w, rest.items[0], &err) < 0) {
        (void)sw_cli_fail("diff", &err);
        rc = TROUBLE;
    } else {
        bool written = fflush(stdout) == 0 && !ferror(stdout);
        rc = w.failed || !written ? TROUBLE : w.changed ? SOME_CHANGE : NO_CHANGE;
    }
    work_done(&w);
    return rc;
}
