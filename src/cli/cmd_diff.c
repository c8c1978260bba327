/* slipway diff: what applying a recipe would change on a cluster. Each manifest is made into what
 * the controller would apply, applied as a dry run, and the answer compared with what is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/connect.h"
#include "cli/recipe_flags.h"
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
    bool colours, changed, failed;
};

/* ---- one question at a time ---------------------------------------------------------------------
 */

struct answer {
    struct sw_loop *loop;
    bool is_there;
    int code;
    struct json_object *object; /* owned */
    struct sw_err err;
};

static void answer_done(struct answer *a)
{
    json_object_put(a->object);
    sw_err_done(&a->err);
}

static void settle(struct answer *a, int code, const struct sw_err *err)
{
    a->is_there = true;
    a->code = code;
    if (code < 0)
        sw_err_set(&a->err, code, "%s", sw_err_text(err));
    sw_loop_stop(a->loop);
}

static void on_answer(const struct sw_kube_answer *got, void *arg)
{
    struct answer *a = arg;
    a->object = json_object_get(got->object);
    settle(a, got->code, got->err);
}

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    settle(arg, code, err);
}

/* @a waits for @req; a signal ends the waiting. @return the answer's code */
static int wait_for(struct work *w, struct answer *a, struct sw_kube_request *req)
{
    sw_loop_run(w->conn.loop);
    if (a->is_there)
        return a->code;
    sw_kube_cancel(req);
    return a->code = sw_err_set(&a->err, SW_CANCELED, "interrupted");
}

static int get(struct work *w, const struct sw_kind *kind, struct json_object *doc,
               struct answer *a)
{
    *a = (struct answer){ .loop = w->conn.loop };
    const char *ns = kind->namespaced ? sw_obj_namespace(doc) : NULL;
    return wait_for(w, a,
                    sw_kube_get(w->conn.kube, kind, ns, sw_obj_name(doc),
                                &(struct sw_request_opts){ .retries = RETRIES }, on_answer, a));
}

static int try_apply(struct work *w, const struct sw_kind *kind, struct json_object *doc,
                     struct answer *a)
{
    *a = (struct answer){ .loop = w->conn.loop };
    const char *ns = kind->namespaced ? sw_obj_namespace(doc) : NULL;
    const struct sw_request_opts opts = { .retries = RETRIES, .dry_run = true, .force = true };
    return wait_for(
        w, a, sw_kube_apply(w->conn.kube, kind, ns, sw_obj_name(doc), doc, &opts, on_answer, a));
}

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
    struct answer live, dry = { 0 };
    int rc = get(w, kind, doc, &live);
    bool is_new = rc == SW_NOTFOUND;
    if (rc == 0 || is_new)
        rc = try_apply(w, kind, doc, &dry);
    if (rc == 0)
        compare(w, live.object, dry.object);
    else if (is_new && rc == SW_NOTFOUND) /* its namespace is not there either */
        compare(w, NULL, doc);
    else
        complain(w, m, sw_err_text(dry.code < 0 ? &dry.err : &live.err));
    answer_done(&live);
    answer_done(&dry);
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

static int look_at(struct work *w, const struct sw_manifest *m)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = sw_json_copy(m->doc);
    const char *name = sw_obj_name(doc);
    const struct sw_kind *kind = sw_kube_kind_find(w->conn.kube, sw_obj_api_version(doc),
                                                   sw_obj_kind(doc));
    if (!m->from_crds && sw_hook_asked(doc, SW_KERNEL_AFFINE)) {
        (void)fprintf(
            stderr, "slipway diff: %s:%d: %s '%s' is applied once for each kernel; not compared\n",
            m->path, m->line, sw_obj_kind(doc), name);
        return 0;
    }
    struct sw_hook_env env = {
        .resource = w->resource,
        .ns = w->ns,
        .namespaced = kind ? kind->namespaced : *sw_obj_namespace(doc) != '\0',
        .from_crds = m->from_crds,
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
    struct answer a = { .loop = w->conn.loop };
    int rc = wait_for(w, &a, sw_kube_discover(w->conn.kube, "*", on_discovered, &a));
    if (rc == 0) {
        sw_kube_each_api(w->conn.kube, on_api, w);
        a = (struct answer){ .loop = w->conn.loop };
        rc = wait_for(w, &a, sw_kube_version(w->conn.kube, NULL, on_answer, &a));
    }
    if (rc == 0)
        w->version = sw_strdup(sw_json_str(a.object, "", "gitVersion", NULL));
    else
        sw_err_set(err, rc, "%s", sw_err_text(&a.err));
    answer_done(&a);
    return rc;
}

/* The resource whose objects these are: the cluster's, else one as `slipway run` would make it. */
static int find_resource(struct work *w, const char *name, const char *ns, struct sw_err *err)
{
    struct json_object *doc = w->resource = json_object_new_object();
    sw_json_set_str(doc, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    const struct sw_kind *kind = sw_kube_kind_find(w->conn.kube, sw_obj_api_version(doc),
                                                   sw_obj_kind(doc));
    if (kind) {
        struct answer a;
        int rc = get(w, kind, doc, &a);
        if (rc == 0) {
            json_object_put(w->resource);
            w->resource = json_object_get(a.object);
        } else if (rc != SW_NOTFOUND) {
            sw_err_set(err, rc, "%s", sw_err_text(&a.err));
        }
        answer_done(&a);
        if (rc < 0 && rc != SW_NOTFOUND)
            return rc;
    }
    if (ns || !*sw_json_str(w->resource, "", "spec", "namespace", NULL))
        sw_json_set_str(w->resource, ns ? ns : name, "spec", "namespace", NULL);
    w->ns = sw_json_str(w->resource, "", "spec", "namespace", NULL);
    return 0;
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
        rc = find_resource(w, flags->name ? flags->name : sw_recipe_name(o->recipe),
                           flags->namespace, err);
    if (rc < 0)
        return rc;
    o->env.namespace = w->ns;
    if (!flags->kube_version)
        o->env.kube_version = w->version;
    if (!flags->api_versions.n) {
        o->env.api_versions = w->apis;
        o->env.n_api_versions = w->n_apis;
        o->env.add_api_versions = false;
    }
    return sw_recipe_plan(o->recipe, o->values, &o->env, &o->plan, err);
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int diff(struct work *w, const char *source, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *rendered = NULL;
    int rc = prepare(w, source, err);
    if (rc == 0)
        rc = sw_recipe_render(w->opened.plan, &w->opened.env, SW_ALL_STATES, &rendered, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
        rc = is_applied(m) ? look_at(w, m) : 0;
    }
    return 0; /* what went wrong was said where it did */
}

static void work_done(struct work *w)
{
    sw_connection_done(&w->conn);
    sw_opened_recipe_done(&w->opened);
    sw_recipe_flags_done(&w->opts.recipe);
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
