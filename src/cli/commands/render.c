/* slipway render: the manifests that a recipe gives, as `helm template` prints them. */
#include "base/output.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chart/recipe/load/glob.h"
#include "cli/recipe/recipe_flags.h"

struct render_opts {
    struct sw_recipe_flags recipe;
    bool include_crds, no_hooks, skip_tests, is_upgrade;
    struct sw_list_arg show_only;
    const char *output_dir;
    const char *wait;
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
    { "is-upgrade", 0, SW_FLAG_BOOL, FIELD(is_upgrade), NULL, NULL,
      "templates see an upgrade instead of an install" },
    { "show-only", 's', SW_FLAG_LIST, FIELD(show_only), "TEMPLATE", NULL,
      "print only the output of a template: templates/x.yaml, or a pattern; can be repeated" },
    { "output-dir", 0, SW_FLAG_STRING, FIELD(output_dir), "DIR", NULL,
      "write the output of each template to a file in this folder, exactly as rendered" },
    { "wait", 0, SW_FLAG_STRING, FIELD(wait), "ordered", "ordered",
      "mark where resource groups start and end" },
    { 0 },
};

/* ---- printing -----------------------------------------------------------------------------------
 */

static bool is_shown(const struct render_opts *o, const struct sw_rendered_doc *d)
{
    if (d->hook_events && o->no_hooks)
        return false;
    return !(o->skip_tests && (d->hook_events & SW_HOOK_TEST));
}

static void print_mark(const char *mark, const struct sw_rendered_doc *d)
{
    const char *chart = d->chart; /* "parent/charts/sub" is printed as "parent/sub" */
    (void)printf("## %s resource-group: ", mark);
    for (const char *next; (next = strstr(chart, "/charts/")); chart = next + strlen("/charts"))
        (void)printf("%.*s", (int)(next - chart), chart);
    (void)printf("%s %s\n", chart, d->group);
}

static void print_doc(const struct sw_rendered_doc *d)
{
    sw_output_as_it_is(true);
    (void)printf("---\n# Source: %s\n", d->path);
    (void)fwrite(d->text, 1, d->len, stdout); /* main() checks stdout for errors */
    (void)putchar('\n');
}

static bool is_grouped(const struct sw_rendered_doc *d)
{
    return d->group && !d->hook_events && !d->from_crds;
}

static void print_all(const struct render_opts *o, const struct sw_rendered *r)
{
    const struct sw_rendered_doc *open = NULL; /* the first of the group that was started */
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        if (!is_shown(o, d))
            continue;
        if (open && (open->state != d->state || !is_grouped(d))) {
            print_mark("END", open);
            open = NULL;
        }
        if (o->wait && !open && is_grouped(d)) {
            print_mark("START", d);
            open = d;
        }
        print_doc(d);
    }
    if (open)
        print_mark("END", open);
}

/* @return 0 | SW_NOTFOUND: nothing is rendered from the template */
static int print_only(const struct render_opts *o, const struct sw_rendered *r, const char *pattern,
                      struct sw_err *err)
{
    bool found = false;
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        const char *slash = strchr(d->path, '/');
        if (!is_shown(o, d) || !slash || sw_recipe_glob(pattern, slash + 1) != SW_GLOB_YES)
            continue;
        print_doc(d);
        found = true;
    }
    return found ? 0 : sw_err_set(err, SW_NOTFOUND, "nothing is rendered from '%s'", pattern);
}

static int print(const struct render_opts *o, const struct sw_opened_recipe *recipe,
                 struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render(recipe->plan, &recipe->env, SW_ALL_STATES, &r, err);
    if (rc < 0)
        return rc;
    if (!o->show_only.n)
        print_all(o, r);
    for (size_t i = 0; i < o->show_only.n && rc == 0; i++)
        rc = print_only(o, r, o->show_only.items[i], err);
#ifndef SW_TEST /* tests free all memory, to find leaks */
    if (rc == 0 && fflush(stdout) == 0 && !ferror(stdout))
        _exit(SW_EXIT_OK); /* free() would take a tenth of the time of the command */
#endif
    return rc;
}

/* ---- writing files ------------------------------------------------------------------------------
 */

/* Write a file and the folders that it is in. */
static int write_out(const char *dir, const struct sw_rendered_file *f, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
    int rc = sw_file_write(path, f->text, f->len, err);
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
    return rc;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int render(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err)
{
    const struct render_opts *o = opts;
    recipe->env.is_upgrade = o->is_upgrade;
    recipe->env.no_crds = !o->include_crds;
    return o->output_dir ? write_files(o, recipe, err) : print(o, recipe, err);
}

static int execute(const struct sw_call *call)
{
    static char buffer[1 << 16]; /* most recipes in one write */
    struct render_opts o = { 0 };
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int rc = sw_recipe_execute(call, &o, &o.recipe, 2, render);
    sw_list_arg_done(&o.show_only);
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
