/* slipway lint: what is wrong or doubtful in a recipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lint/lint.h"
#include "cli/recipe/recipe_flags.h"
#include "data/json/json.h"

struct lint_opts {
    struct sw_recipe_flags recipe;
    const char *format;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(offsetof(struct lint_opts, recipe)),
    { "output", 'o', SW_FLAG_STRING, offsetof(struct lint_opts, format), "FORMAT", "text|json",
      "how to print what was found (default text)" },
    { 0 },
};

static const char *level(const struct sw_problem *p)
{
    return p->is_error ? "error" : "warning";
}

static void print_text(const struct sw_problems *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct sw_problem *p = &found->items[i];
        if (*p->path && p->line)
            (void)printf("%s:%d: %s: %s\n", p->path, p->line, level(p), p->text);
        else
            (void)printf("%s%s%s: %s\n", p->path, *p->path ? ": " : "", level(p), p->text);
    }
}

static void print_json(const struct sw_problems *found)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < found->n; i++) {
        const struct sw_problem *p = &found->items[i];
        struct json_object *doc = json_object_new_object();
        json_object_object_add(doc, "file", json_object_new_string(p->path));
        json_object_object_add(doc, "line", json_object_new_int(p->line));
        json_object_object_add(doc, "level", json_object_new_string(level(p)));
        json_object_object_add(doc, "text", json_object_new_string(p->text));
        (void)json_object_array_add(list, doc);
    }
    (void)sw_cli_print_json(list); /* main() checks what was written */
}

/* Why a recipe did not render. Where its templates did: what is wrong with the YAML of each. */
static void find_failures(const struct sw_opened_recipe *opened, const char *why, size_t n_before,
                          struct sw_problems *found)
{
    SW_AUTO(sw_rendered) *files = NULL;
    SW_ERR(ignored);
    if (opened->plan &&
        sw_recipe_render_files(opened->plan, &opened->env, SW_ALL_STATES, &files, &ignored) == 0)
        sw_lint_files(files, found);
    if (found->n == n_before)
        sw_lint_failure(why, found);
}

/* Not a chart, but what is applied beside it. */
static bool is_manifest(const char *source)
{
    return sw_ends_with(source, ".yaml") || sw_ends_with(source, ".yml");
}

static int find_in_file(const char *path, struct sw_problems *found, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, 16 << 20, &text, &len, err);
    if (rc == 0)
        sw_lint_manifests(path, text, len, found);
    return rc;
}

/* @return 0, or why there is nothing to look at */
static int find(const struct lint_opts *o, const char *source, struct sw_problems *found,
                struct sw_err *err)
{
    struct sw_opened_recipe opened = { 0 };
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_ERR(why);
    if (!o->recipe.source.repo && is_manifest(source) && !strstr(source, "://"))
        return find_in_file(source, found, err);
    int rc = sw_recipe_flags_open(&o->recipe, source, false, &opened, &why);
    if (opened.recipe) {
        sw_lint_charts(opened.recipe, found);
        sw_lint_base(opened.recipe, found);
    }
    size_t n_before = found->n;
    if (rc == 0)
        rc = sw_recipe_render(opened.plan, &opened.env, SW_ALL_STATES, &rendered, &why);
    if (rc == 0)
        sw_lint(opened.plan, rendered,
                o->recipe.name ? o->recipe.name : sw_recipe_name(opened.recipe), found);
    else if (rc == SW_INVALID)
        find_failures(&opened, sw_err_text(&why), n_before, found);
    sw_opened_recipe_done(&opened);
    return rc < 0 && rc != SW_INVALID ? sw_err_move(err, &why) : 0;
}

static int lint(const struct lint_opts *o, const char *source)
{
    struct sw_problems found = { 0 };
    SW_ERR(err);
    int rc = SW_EXIT_OK;
    if (find(o, source, &found, &err) < 0) {
        rc = sw_cli_fail("lint", &err);
    } else {
        if (sw_streq(o->format, "json"))
            print_json(&found);
        else
            print_text(&found);
        for (size_t i = 0; i < found.n; i++)
            if (found.items[i].is_error)
                rc = SW_EXIT_FAILED;
    }
    sw_problems_done(&found);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct lint_opts o = { .format = "text" };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        rc--;
    else
        rc = lint(&o, rest.items[0]);
    sw_recipe_flags_done(&o.recipe);
    return rc;
}

const struct sw_command sw_command_lint = {
    .name = "lint",
    .args = "RECIPE|FILE.yaml",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "say what is wrong or doubtful in a recipe, or in manifests",
    .details = "Nothing is asked of a cluster. Lines are those of what a template renders to; of a "
               "file of\n"
               "manifests (SpecialResources and what stands beside them) those of the file.",
    .flags = flags,
    .execute = execute,
};
