/* slipway render: the manifests that a recipe gives, as `helm template` prints them. */
#include "base/output.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chart/recipe/load/glob.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/recipe/post_renderer.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"

struct render_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
    const char *dry_run;
    bool include_crds, no_hooks, skip_tests, is_upgrade, notes, subchart_notes;
    struct sw_list_arg show_only;
    const char *output_dir;
    const char *wait;
    bool generate_name;
    const char *post_renderer;
    struct sw_list_arg post_renderer_args;
};

#define FIELD(name) offsetof(struct render_opts, name)

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(FIELD(recipe)),
    SW_MIRROR_FLAG(FIELD(recipe.source)),
    { "include-crds", 0, SW_FLAG_BOOL, FIELD(include_crds), NULL, NULL,
      "print the CRDs in crds/, too" },
    { "no-hooks", 0, SW_FLAG_BOOL, FIELD(no_hooks), NULL, NULL, "leave out Helm's hooks" },
    { "skip-tests", 0, SW_FLAG_BOOL, FIELD(skip_tests), NULL, NULL, "leave out test hooks" },
    { "skip-schema-validation", 0, SW_FLAG_BOOL, FIELD(recipe.no_schema), NULL, NULL,
      "values need not fit the charts' values.schema.json" },
    { "dependency-update", 0, SW_FLAG_BOOL, FIELD(recipe.dependency_update), NULL, NULL,
      "first put what charts/ lacks into it, and write Chart.lock" },
    { "is-upgrade", 0, SW_FLAG_BOOL, FIELD(is_upgrade), NULL, NULL,
      "templates see an upgrade instead of an install" },
    { "show-only", 's', SW_FLAG_LIST, FIELD(show_only), "TEMPLATE", NULL,
      "print only the output of a template: templates/x.yaml, or a pattern; can be repeated" },
    { "output-dir", 0, SW_FLAG_STRING, FIELD(output_dir), "DIR", NULL,
      "write the output of each template to a file in this folder, exactly as rendered" },
    { "dry-run", 0, SW_FLAG_CHOICE, FIELD(dry_run), "client", "client|server|true|false|none",
      "server: lookups of templates ask the cluster (default client: they find nothing); true is "
      "client, false and none are server" },
    SW_CONNECT_FLAGS(struct render_opts, connect),
    { "generate-name", 'g', SW_FLAG_BOOL, FIELD(generate_name), NULL, NULL,
      "make up a name for the release, of the recipe's and the time" },
    { "notes", 0, SW_FLAG_BOOL, FIELD(notes), NULL, NULL,
      "after the manifests print what the recipe's NOTES.txt gives" },
    { "render-subchart-notes", 0, SW_FLAG_BOOL, FIELD(subchart_notes), NULL, NULL,
      "with --notes: those of its charts, too" },
    { "post-renderer", 0, SW_FLAG_STRING, FIELD(post_renderer), "PROGRAM", NULL,
      "print what this program makes of the manifests, which it reads; hooks do not go through "
      "it" },
    { "post-renderer-args", 0, SW_FLAG_LIST, FIELD(post_renderer_args), "ARG", NULL,
      "an argument for that program; can be repeated" },
    { "wait", 0, SW_FLAG_STRING, FIELD(wait), "ordered", "ordered",
      "mark where resource groups start and end" },
    { 0 },
};

/* ---- printing -----------------------------------------------------------------------------------
 */

/* Which documents are printed, and where: a post-renderer reads those that are no hooks. */
struct printer {
    const struct render_opts *o;
    FILE *to;
    enum { ALL, NO_HOOKS, HOOKS } part;
};

static bool is_shown(const struct printer *p, const struct sw_rendered_doc *d)
{
    if (d->hook_events ? p->o->no_hooks || p->part == NO_HOOKS : p->part == HOOKS)
        return false;
    return !(p->o->skip_tests && (d->hook_events & SW_HOOK_TEST));
}

static void print_mark(const struct printer *p, const char *mark, const struct sw_rendered_doc *d)
{
    const char *chart = d->chart; /* "parent/charts/sub" is printed as "parent/sub" */
    (void)fprintf(p->to, "## %s resource-group: ", mark);
    for (const char *next; (next = strstr(chart, "/charts/")); chart = next + strlen("/charts"))
        (void)fprintf(p->to, "%.*s", (int)(next - chart), chart);
    (void)fprintf(p->to, "%s %s\n", chart, d->group);
}

static void print_doc(const struct printer *p, const struct sw_rendered_doc *d)
{
    sw_output_as_it_is(true);
    (void)fprintf(p->to, "---\n# Source: %s\n", d->path);
    (void)fwrite(d->text, 1, d->len, p->to); /* main() checks stdout for errors */
    (void)fputc('\n', p->to);
}

/* A file of crds/ as it is, as Helm prints it: with its first document. */
static void print_crds(const struct printer *p, const struct sw_rendered *r, size_t i)
{
    const char *path = sw_rendered_doc(r, i)->path;
    if (i > 0 && sw_rendered_doc(r, i - 1)->path == path)
        return;
    for (size_t f = 0; f < sw_rendered_n_files(r); f++) {
        const struct sw_rendered_file *file = sw_rendered_file(r, f);
        if (file->path != path)
            continue;
        sw_output_as_it_is(true);
        (void)fprintf(p->to, "---\n# Source: %s\n", path);
        (void)fwrite(file->text, 1, file->len, p->to);
        (void)fputc('\n', p->to);
    }
}

static bool is_grouped(const struct sw_rendered_doc *d)
{
    return d->group && !d->hook_events && !d->from_crds;
}

static void print_all(const struct printer *p, const struct sw_rendered *r)
{
    const struct sw_rendered_doc *open = NULL; /* the first of the group that was started */
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        if (!is_shown(p, d))
            continue;
        if (open && (open->state != d->state || !is_grouped(d))) {
            print_mark(p, "END", open);
            open = NULL;
        }
        if (p->o->wait && !open && is_grouped(d)) {
            print_mark(p, "START", d);
            open = d;
        }
        if (d->from_crds)
            print_crds(p, r, i);
        else
            print_doc(p, d);
    }
    if (open)
        print_mark(p, "END", open);
}

/* @return whether anything is rendered from the template, hook or not */
static bool print_only(const struct printer *p, const struct sw_rendered *r, const char *pattern)
{
    const struct printer any = { p->o, p->to, ALL };
    bool found = false;
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        const char *slash = strchr(d->path, '/');
        if (!is_shown(&any, d) || !slash || sw_recipe_glob(pattern, slash + 1) != SW_GLOB_YES)
            continue;
        if (is_shown(p, d))
            print_doc(p, d);
        found = true;
    }
    return found;
}

/* @return 0 | SW_NOTFOUND: nothing is rendered from a template that was asked for */
static int print_chosen(const struct printer *p, const struct sw_rendered *r, struct sw_err *err)
{
    const struct sw_list_arg *chosen = &p->o->show_only;
    if (!chosen->n)
        print_all(p, r);
    for (size_t i = 0; i < chosen->n; i++)
        if (!print_only(p, r, chosen->items[i]))
            return sw_err_set(err, SW_NOTFOUND, "nothing is rendered from '%s'", chosen->items[i]);
    return 0;
}

/* As Helm: what is no hook goes through the post-renderer, the hooks come after it. */
static int print_through(const struct render_opts *o, const struct sw_rendered *r,
                         struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL, *made = NULL;
    size_t len = 0, made_len = 0;
    struct printer p = { o, open_memstream(&text, &len), NO_HOOKS };
    if (!p.to)
        return sw_err_set(err, SW_UNAVAILABLE, "%s", strerror(errno));
    int rc = print_chosen(&p, r, err);
    (void)fclose(p.to);
    if (rc == 0)
        rc = sw_post_render(o->post_renderer, &o->post_renderer_args, text, len, &made, &made_len,
                            err);
    if (rc != 0)
        return rc;
    const char *from = made + strspn(made, " \t\r\n"); /* as Helm prints it */
    while (made_len > 0 && strchr(" \t\r\n", made[made_len - 1]))
        made[--made_len] = '\0';
    (void)printf("%s\n", made_len ? from : "");
    return print_chosen(&(struct printer){ o, stdout, HOOKS }, r, err);
}

/* In the form of `helm install`. */
static void print_notes(const struct render_opts *o, const struct sw_rendered *r)
{
    SW_AUTO_CHARS *text = sw_rendered_notes(r, o->subchart_notes);
    sw_output_as_it_is(true);
    if (*text)
        (void)printf("NOTES:\n%s\n", text);
}

static int print(const struct render_opts *o, const struct sw_opened_recipe *recipe,
                 struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render(recipe->plan, &recipe->env, SW_ALL_STATES, &r, err);
    if (rc < 0)
        return rc;
    rc = o->post_renderer ? print_through(o, r, err)
                          : print_chosen(&(struct printer){ o, stdout, ALL }, r, err);
    if (rc == 0 && o->notes)
        print_notes(o, r);
#ifndef SW_TEST /* tests free all memory, to find leaks */
    if (rc == 0 && fflush(stdout) == 0 && !ferror(stdout))
        _exit(SW_EXIT_OK); /* free() would take a tenth of the time of the command */
#endif
    return rc;
}

/* ---- writing files ------------------------------------------------------------------------------
 */

static int write_out(const char *dir, const struct sw_rendered_file *f, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->path);
    int rc = sw_file_write_deep(path, f->text, f->len, err);
    if (rc == 0)
        (void)printf("wrote %s\n", path);
    return rc;
}

static int write_files(const struct render_opts *o, const struct sw_opened_recipe *recipe,
                       struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render_files(recipe->plan, &recipe->env, SW_ALL_STATES, &r, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_files(r); i++) {
        const struct sw_rendered_file *f = sw_rendered_file(r, i);
        const char *slash = strchr(f->path, '/');
        bool chosen = !o->show_only.n;
        for (size_t k = 0; slash && k < o->show_only.n; k++)
            chosen |= sw_recipe_glob(o->show_only.items[k], slash + 1) == SW_GLOB_YES;
        if (chosen)
            rc = write_out(o->output_dir, f, err);
    }
    if (rc == 0 && o->notes)
        print_notes(o, r);
    return rc;
}

/* ---- lookups ------------------------------------------------------------------------------------
 */

/* The cluster that templates ask, connected to at the first lookup. */
struct server {
    const struct sw_connect_opts *opts;
    struct sw_connection conn;
    bool is_open;
};

/* A sw_recipe_lookup_fn. */
static int lookup(void *arg, const char *api_version, const char *kind, const char *ns,
                  const char *name, struct json_object **out, struct sw_err *err)
{
    struct server *s = arg;
    int rc = s->is_open ? 0 : sw_connection_init(&s->conn, "render", s->opts, err);
    if (rc == 0 && !s->is_open)
        rc = sw_cluster_kinds(&s->conn, err);
    s->is_open = s->is_open || rc == 0;
    if (rc < 0)
        return sw_err_wrap(err, rc, "lookup of %s '%s'", kind, name);
    return sw_cluster_lookup(&s->conn, api_version, kind, ns, name, out, err);
}

/* ---- the command --------------------------------------------------------------------------------
 */

/* As helm template: what is neither "client" nor "true" is looked up. */
static bool asks_server(const char *dry_run)
{
    return dry_run && !sw_streq(dry_run, "client") && !sw_streq(dry_run, "true");
}

static int render(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err)
{
    const struct render_opts *o = opts;
    char name[128];
    if (o->generate_name && recipe->env.release)
        return sw_err_set(err, SW_INVALID, "--generate-name: the release has a name already, '%s'",
                          recipe->env.release);
    if (o->generate_name) {
        (void)snprintf(name, sizeof name, "%s-%lld", sw_recipe_name(recipe->recipe),
                       (long long)time(NULL));
        recipe->env.release = name;
    }
    recipe->env.is_upgrade = o->is_upgrade;
    recipe->env.no_crds = !o->include_crds;
    recipe->env.keep_notes = o->notes;
    recipe->env.any_manifest = true; /* they are printed, not applied */
    struct server server = { .opts = &o->connect };
    if (asks_server(o->dry_run)) {
        recipe->env.lookup = lookup;
        recipe->env.lookup_arg = &server;
    }
    int rc = o->output_dir ? write_files(o, recipe, err) : print(o, recipe, err);
    if (server.is_open)
        sw_connection_done(&server.conn);
    return rc;
}

static int execute(const struct sw_call *call)
{
    static char buffer[1 << 16]; /* most recipes in one write */
    struct render_opts o = { 0 };
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int rc = sw_recipe_execute(call, &o, &o.recipe, 2, render);
    sw_list_arg_done(&o.show_only);
    sw_list_arg_done(&o.post_renderer_args);
    return rc;
}

const struct sw_command sw_command_render = {
    .name = "render",
    .args = "[NAME] RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "print the manifests of a recipe",
    .details = "As `helm template`, in the order in which slipway applies them.",
    .flags = flags,
    .execute = execute,
};
