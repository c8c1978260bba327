/* slipway render: the manifests that a recipe gives, as `helm template` prints them. */
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
    { "include-crds", 0, SW_FLAG_BOOL, FIELD(include_crds), NULL, NULL,
      "print what is in crds/ as well" },
    { "no-hooks", 0, SW_FLAG_BOOL, FIELD(no_hooks), NULL, NULL, "leave Helm's hooks out" },
    { "skip-tests", 0, SW_FLAG_BOOL, FIELD(skip_tests), NULL, NULL, "leave test hooks out" },
    { "is-upgrade", 0, SW_FLAG_BOOL, FIELD(is_upgrade), NULL, NULL,
      "let templates see an upgrade, not an install" },
    { "show-only", 's', SW_FLAG_LIST, FIELD(show_only), "TEMPLATE", NULL,
      "print only what comes from this template (templates/x.yaml, a pattern)" },
    { "output-dir", 0, SW_FLAG_STRING, FIELD(output_dir), "DIR", NULL,
      "write each template's output to a file, exactly as rendered" },
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

/* "parent/sub" for "parent/charts/sub". */
static void print_chart(const char *path)
{
    for (const char *next; (next = strstr(path, "/charts/")); path = next + strlen("/charts"))
        (void)printf("%.*s", (int)(next - path), path);
    (void)printf("%s", path);
}

static void print_mark(const char *word, const struct sw_rendered_doc *d)
{
    (void)printf("## %s resource-group: ", word);
    print_chart(d->chart);
    (void)printf(" %s\n", d->group);
}

static void print_doc(const struct sw_rendered_doc *d)
{
    (void)printf("---\n# Source: %s\n", d->path);
    (void)fwrite(d->text, 1, d->len, stdout); /* a failure stays with stdout and is asked for */
    (void)putchar('\n');
}

static bool is_grouped(const struct sw_rendered_doc *d)
{
    return d->group && !d->hook_events && !d->from_crds;
}

static void print_all(const struct render_opts *o, const struct sw_rendered *r)
{
    const struct sw_rendered_doc *open = NULL; /* of the group that was started */
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

/* @return 0, or SW_NOTFOUND where nothing comes from the template */
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

/* What was rendered is out: the kernel takes the memory back at once, where free() would go through
 * a tenth of the time of the whole. Tests free, to see what nobody owns. */
static void leave_when_written(void)
{
#ifndef SW_TEST
    if (fflush(stdout) == 0 && !ferror(stdout))
        _exit(SW_EXIT_OK);
#endif
}

static int print(const struct render_opts *o, const struct sw_plan *plan,
                 const struct sw_render_env *env, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render(plan, env, SW_ALL_STATES, &r, err);
    if (rc < 0)
        return rc;
    if (!o->show_only.n)
        print_all(o, r);
    for (size_t i = 0; i < o->show_only.n && rc == 0; i++)
        rc = print_only(o, r, o->show_only.items[i], err);
    if (rc == 0)
        leave_when_written();
    return rc;
}

/* ---- writing files ------------------------------------------------------------------------------
 */

static int make_dirs(char *path, struct sw_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
    return 0;
}

static int write_out(const char *dir, const char *path, const char *text, size_t len,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *full = sw_printf("%s/%s", dir, path);
    int rc = make_dirs(full, err);
    if (rc == 0)
        rc = sw_file_write(full, text, len, 0644, err);
    if (rc == 0)
        (void)printf("wrote %s\n", full);
    return rc;
}

static bool is_chosen(const struct render_opts *o, const char *path)
{
    const char *slash = strchr(path, '/');
    bool chosen = !o->show_only.n;
    for (size_t i = 0; slash && i < o->show_only.n; i++)
        chosen |= sw_recipe_glob(o->show_only.items[i], slash + 1) == SW_GLOB_YES;
    return chosen;
}

static int write_files(const struct render_opts *o, const struct sw_plan *plan,
                       const struct sw_render_env *env, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render_files(plan, env, SW_ALL_STATES, &r, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_files(r); i++) {
        const struct sw_rendered_file *f = sw_rendered_file(r, i);
        if (is_chosen(o, f->path))
            rc = write_out(o->output_dir, f->path, f->text, f->len, err);
    }
    return rc;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int render(const struct render_opts *o, const char *source, struct sw_opened_recipe *r,
                  struct sw_err *err)
{
    int rc = sw_recipe_flags_open(&o->recipe, source, false, r, err);
    if (rc < 0)
        return rc;
    r->env.is_upgrade = o->is_upgrade;
    r->env.no_crds = !o->include_crds;
    return o->output_dir ? write_files(o, r->plan, &r->env, err) : print(o, r->plan, &r->env, err);
}

static int execute(const struct sw_call *call)
{
    static char buffer[1 << 16]; /* most recipes in one write */
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    struct render_opts o = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 2, &rest);
    if (rc) {
        rc--;
    } else {
        struct sw_opened_recipe opened = { 0 };
        SW_ERR(err);
        if (rest.n == 2) /* as in helm template NAME CHART */
            o.recipe.name = rest.items[0];
        rc = render(&o, rest.items[rest.n - 1], &opened, &err) < 0 ? sw_cli_fail("render", &err)
                                                                   : SW_EXIT_OK;
        sw_opened_recipe_done(&opened);
    }
    sw_recipe_flags_done(&o.recipe);
    sw_list_arg_done(&o.show_only);
    return rc;
}

const struct sw_command sw_command_render = {
    .name = "render",
    .args = "[NAME] RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "print the manifests that a recipe gives",
    .details = "As `helm template`, in the order in which slipway applies them.",
    .flags = flags,
    .execute = execute,
};
