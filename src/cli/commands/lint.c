/* slipway lint: errors and warnings about a recipe. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/lint/lint.h"
#include "cli/lint/random.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"

struct lint_opts {
    struct sw_recipe_flags recipe;
    const char *format;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(offsetof(struct lint_opts, recipe)),
    SW_MIRROR_FLAG(offsetof(struct lint_opts, recipe.source)),
    { "output", 'o', SW_FLAG_STRING, offsetof(struct lint_opts, format), "FORMAT", "text|json",
      "output format (default text)" },
    { 0 },
};

static void print(const struct sw_problems *found, bool json)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < found->n; i++) {
        const struct sw_problem *p = &found->items[i];
        const char *level = p->is_error ? "error" : "warning";
        if (json) {
            struct json_object *doc = json_object_new_object();
            sw_json_set_str(doc, p->path, "file", NULL);
            sw_json_set(doc, json_object_new_int(p->line), "line", NULL);
            sw_json_set_str(doc, level, "level", NULL);
            sw_json_set_str(doc, p->text, "text", NULL);
            (void)json_object_array_add(list, doc);
        } else if (*p->path && p->line) {
            (void)printf("%s:%d: %s: %s\n", p->path, p->line, level, p->text);
        } else {
            (void)printf("%s%s%s: %s\n", p->path, *p->path ? ": " : "", level, p->text);
        }
    }
    if (json)
        (void)sw_cli_print_json(list); /* main() checks stdout for errors */
}

/* @return 0 | why the recipe or the file of manifests cannot be read */
static int find(struct lint_opts *o, const char *source, struct sw_problems *found,
                struct sw_err *err)
{
    struct sw_opened_recipe opened = { 0 };
    SW_AUTO(sw_rendered) *rendered = NULL, *files = NULL;
    SW_ERR(why);
    SW_ERR(ignored);
    bool is_yaml = sw_ends_with(source, ".yaml") || sw_ends_with(source, ".yml");
    if (is_yaml && !o->recipe.source.repo && !strstr(source, "://")) {
        SW_AUTO_CHARS *text = NULL;
        size_t len;
        int failure = sw_file_read(source, 16 << 20, &text, &len, err);
        if (failure == 0)
            sw_lint_manifests(source, text, len, found);
        return failure;
    }
    o->recipe.sample = true;
    int rc = sw_recipe_flags_open(&o->recipe, source, false, &opened, &why);
    if (opened.recipe) {
        sw_lint_charts(opened.recipe, found);
        sw_lint_base(opened.recipe, found);
    }
    size_t n_before = found->n;
    if (rc == 0)
        rc = sw_recipe_render(opened.plan, &opened.env, SW_ALL_STATES, &rendered, &why);
    if (rc == 0) {
        sw_lint(opened.plan, rendered,
                o->recipe.name ? o->recipe.name : sw_recipe_name(opened.recipe), found);
        sw_lint_random(opened.plan, &opened.env, rendered, found);
    } else if (rc == SW_INVALID) { /* what is wrong with the YAML of each template, or else why */
        if (opened.plan &&
            sw_recipe_render_files(opened.plan, &opened.env, SW_ALL_STATES, &files, &ignored) == 0)
            sw_lint_files(files, found);
        if (found->n == n_before)
            sw_lint_failure(sw_err_text(&why), found);
    }
    sw_opened_recipe_done(&opened);
    return rc < 0 && rc != SW_INVALID ? sw_err_move(err, &why) : 0;
}

static int execute(const struct sw_call *call)
{
    struct lint_opts o = { .format = "text" };
    struct sw_problems found = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc) {
        rc--;
    } else if (find(&o, rest.items[0], &found, &err) < 0) {
        rc = sw_cli_fail("lint", &err);
    } else {
        print(&found, sw_streq(o.format, "json"));
        for (size_t i = 0; i < found.n; i++)
            if (found.items[i].is_error)
                rc = SW_EXIT_FAILED;
    }
    sw_problems_done(&found);
    sw_recipe_flags_done(&o.recipe);
    return rc;
}

const struct sw_command sw_command_lint = {
    .name = "lint",
    .args = "RECIPE|FILE.yaml",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "report errors and warnings about a recipe, or about manifests",
    .details = "No cluster is used. The lines are those of the rendered templates; of a file of "
               "manifests\n"
               "(SpecialResources and others) those of the file.",
    .flags = flags,
    .execute = execute,
};
