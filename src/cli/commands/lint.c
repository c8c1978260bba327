/* slipway lint: errors and warnings about a recipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chart/aicr/aicr.h"
#include "cli/commands/commands.h"
#include "cli/lint/fix.h"
#include "cli/lint/lint.h"
#include "cli/lint/random.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"

struct lint_opts {
    struct sw_recipe_flags recipe;
    const char *format;
    bool strict, fix;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(offsetof(struct lint_opts, recipe)),
    SW_MIRROR_FLAG(offsetof(struct lint_opts, recipe.source)),
    { "output", 'o', SW_FLAG_STRING, offsetof(struct lint_opts, format), "FORMAT", "text|json",
      "output format (default text)" },
    { "strict", 0, SW_FLAG_BOOL, offsetof(struct lint_opts, strict), NULL, NULL,
      "warnings make the command fail, too" },
    { "fix", 0, SW_FLAG_BOOL, offsetof(struct lint_opts, fix), NULL, NULL,
      "change in the recipe's files what can only be meant in one way, and print it" },
    { 0 },
};

static void add_row(struct json_object *list, const char *path, int line, const char *level,
                    const char *text)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, path, "file", NULL);
    sw_json_set(doc, json_object_new_int(line), "line", NULL);
    sw_json_set_str(doc, level, "level", NULL);
    sw_json_set_str(doc, text, "text", NULL);
    (void)json_object_array_add(list, doc);
}

static void print(const struct sw_fixes *fixes, const struct sw_problems *found, bool json)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < fixes->n; i++) {
        const struct sw_fix *f = &fixes->items[i];
        if (json)
            add_row(list, f->path, f->line, "fixed", f->text);
        else
            (void)printf("%s:%d: fixed: %s\n", f->path, f->line, f->text);
    }
    for (size_t i = 0; i < found->n; i++) {
        const struct sw_problem *p = &found->items[i];
        const char *level = p->is_error ? "error" : p->is_note ? "note" : "warning";
        if (json) {
            add_row(list, p->path, p->line, level, p->text);
        } else if (*p->path && p->line) {
            (void)printf("%s:%d: %s: %s\n", p->path, p->line, level, p->text);
        } else {
            (void)printf("%s%s%s: %s\n", p->path, *p->path ? ": " : "", level, p->text);
        }
    }
    if (json)
        (void)sw_cli_print_json(list); /* main() checks stdout for errors */
}

/* ---- places ------------------------------------------------------------------------------------
 */

/* Line @n of @text, from 1; its length in @len. NULL: there is none. */
static const char *line_at(const char *text, size_t size, int n, size_t *len)
{
    const char *end = text + size;
    for (; n > 1 && text; n--) {
        text = memchr(text, '\n', (size_t)(end - text));
        text = text ? text + 1 : NULL;
    }
    if (!text || text >= end)
        return NULL;
    const char *nl = memchr(text, '\n', (size_t)(end - text));
    *len = (size_t)((nl ? nl : end) - text);
    return text;
}

/* The only line of @source that begins with @want, or is equal to it; 0: there is none, or several.
 */
static int only_line(const char *source, size_t size, const char *want, size_t want_len,
                     bool is_whole)
{
    int found = 0;
    size_t len;
    const char *line;
    for (int n = 1; (line = line_at(source, size, n, &len)); n++) {
        if (len < want_len || (is_whole && len != want_len) || memcmp(line, want, want_len) != 0)
            continue;
        if (found)
            return 0;
        found = n;
    }
    return found;
}

/* Which line of the template line @n of @rendered comes from: the one at the same place, if it is
 * the same, else the only one that is, else the only one with its key. 0: not known. */
static int source_line(const struct sw_rendered_file *rendered, int n, const char *source,
                       size_t size)
{
    size_t len, same_len;
    const char *line = line_at(rendered->text, rendered->len, n, &len);
    const char *same = line_at(source, size, n, &same_len);
    if (!line || !len)
        return 0;
    if (same && same_len == len && memcmp(same, line, len) == 0)
        return n;
    int found = only_line(source, size, line, len, true);
    const char *colon = memchr(line, ':', len);
    return found || !colon ? found
                           : only_line(source, size, line, (size_t)(colon - line) + 1, false);
}

static const struct sw_rendered_file *find_rendered(const struct sw_rendered *files,
                                                    const char *path)
{
    for (size_t i = 0; files && i < sw_rendered_n_files(files); i++)
        if (sw_streq(sw_rendered_file(files, i)->path, path))
            return sw_rendered_file(files, i);
    return NULL;
}

/* Make the path of @p that of the file below the folder @source, where it is, and its line that of
 * the file. @files: what was rendered, where the line is of that. */
static void place(struct sw_problem *p, const char *source, const char *recipe,
                  const struct sw_rendered *files)
{
    size_t len = strlen(recipe), dir_len = strlen(source);
    if (!sw_starts_with(p->path, recipe) || p->path[len] != '/')
        return;
    while (dir_len > 1 && source[dir_len - 1] == '/')
        dir_len--;
    SW_AUTO_CHARS *path = dir_len == 1 && *source == '.'
                              ? sw_strdup(p->path + len + 1)
                              : sw_printf("%.*s/%s", (int)dir_len, source, p->path + len + 1);
    SW_AUTO_CHARS *text = NULL;
    size_t size;
    SW_ERR(none); /* it is no file there: a chart elsewhere, or in an archive */
    if (sw_file_read(path, 16 << 20, &text, &size, &none) < 0) {
        sw_err_done(&none);
        return;
    }
    const struct sw_rendered_file *rendered = find_rendered(files, p->path);
    int line = rendered && p->line ? source_line(rendered, p->line, text, size) : p->line;
    if (p->line && !line) {
        SW_AUTO_CHARS *more = sw_printf("%s (the line is that of the rendered template)", p->text);
        sw_text_set(&p->text, more);
        line = p->line;
    }
    p->line = line;
    sw_text_set(&p->path, path);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Problems from @n_before on have lines of what is rendered, if @is_rendered. */
static void place_all(const char *source, const struct sw_opened_recipe *opened, size_t n_before,
                      bool is_rendered, struct sw_problems *found)
{
    SW_AUTO(sw_rendered) *files = NULL;
    SW_ERR(ignored);
    if (!opened->recipe || !is_folder(source))
        return;
    if (is_rendered && found->n > n_before &&
        sw_recipe_render_files(opened->plan, &opened->env, SW_ALL_STATES, &files, &ignored) < 0)
        sw_err_done(&ignored);
    for (size_t i = 0; i < found->n; i++)
        place(&found->items[i], source, sw_recipe_name(opened->recipe),
              i >= n_before ? files : NULL);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static bool is_library(const struct sw_recipe *recipe)
{
    struct json_object *doc = (struct json_object *)sw_recipe_metadata(recipe);
    return sw_streq(sw_json_str(doc, "", "type", NULL), "library");
}

/* A file of the recipe that is no manifest: what is wrong with its YAML, or else why. */
static void on_fault(void *arg, const struct sw_rendered_file *file, const char *text)
{
    struct sw_problems *found = arg;
    if (!sw_lint_file(file, found))
        sw_lint_failure(text, found);
}

/* @return 0 | why the recipe or the file of manifests cannot be read */
static int find(struct lint_opts *o, const char *source, struct sw_problems *found,
                struct sw_err *err)
{
    struct sw_opened_recipe opened = { 0 };
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_ERR(why);
    bool is_yaml = sw_ends_with(source, ".yaml") || sw_ends_with(source, ".yml");
    if (is_yaml && !o->recipe.source.repo && !strstr(source, "://")) {
        SW_AUTO_CHARS *text = NULL;
        size_t len;
        int failure = sw_file_read(source, 16 << 20, &text, &len, err);
        const bool is_recipe = failure == 0 && sw_aicr_is_result(text, len);
        if (failure == 0 && !is_recipe)
            sw_lint_manifests(source, text, len, found);
        if (!is_recipe)
            return failure;
    }
    o->recipe.sample = true;
    int rc = sw_recipe_flags_open(&o->recipe, source, false, &opened, &why);
    if (opened.recipe) {
        sw_lint_charts(opened.recipe, found);
        sw_lint_base(opened.recipe, found);
        SW_AUTO_JSON *set = opened.values ? sw_values_json(opened.values) : NULL;
        sw_lint_values(opened.recipe, set, found);
    }
    size_t n_before = found->n;
    bool is_rendered = true;
    opened.env.is_lint = true;
    opened.env.on_fault = on_fault;
    opened.env.fault_arg = found;
    if (rc == 0)
        rc = sw_recipe_render(opened.plan, &opened.env, SW_ALL_STATES, &rendered, &why);
    if (rc == 0) {
        sw_lint(opened.plan, rendered,
                o->recipe.name ? o->recipe.name : sw_recipe_name(opened.recipe),
                found->n == n_before, found);
        sw_lint_random(opened.plan, &opened.env, rendered, found);
    } else if (rc == SW_INVALID && opened.recipe && !opened.plan && is_library(opened.recipe)) {
        rc = 0; /* there is nothing to apply, which is no mistake */
    } else if (rc == SW_INVALID) {
        sw_lint_failure(sw_err_text(&why), found);
        is_rendered = false;
    }
    place_all(source, &opened, n_before, is_rendered, found);
    if (opened.recipe) { /* its lines are those of the files */
        sw_lint_helm(opened.recipe, rendered,
                     opened.env.kube_version ? opened.env.kube_version : sw_recipe_kube_version,
                     found);
        place_all(source, &opened, found->n, false, found);
    }
    sw_opened_recipe_done(&opened);
    return rc < 0 && rc != SW_INVALID ? sw_err_move(err, &why) : 0;
}

/* Change the files first: what is told then is what is left. @return 0 | why not */
static int fix(const struct lint_opts *o, const char *source, struct sw_fixes *fixes,
               struct sw_err *err)
{
    struct stat st;
    const char *version = o->recipe.kube_version ? o->recipe.kube_version : sw_recipe_kube_version;
    const char *dot = strchr(version, '.');
    if (o->recipe.source.repo || stat(source, &st) < 0 ||
        (!S_ISDIR(st.st_mode) && !sw_ends_with(source, ".yaml") && !sw_ends_with(source, ".yml")))
        return sw_err_set(err, SW_INVALID,
                          "--fix changes a folder or a file of manifests, and '%s' is neither",
                          source);
    return sw_fix_files(source, dot ? (int)strtol(dot + 1, NULL, 10) : 0, fixes, err);
}

static int execute(const struct sw_call *call)
{
    struct lint_opts o = { .format = "text" };
    struct sw_problems found = { 0 };
    struct sw_fixes fixes = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc) {
        rc--;
    } else if (o.fix && fix(&o, rest.items[0], &fixes, &err) < 0) {
        print(&fixes, &found, false); /* what has been changed before is changed */
        rc = sw_cli_fail("lint", &err);
    } else if (find(&o, rest.items[0], &found, &err) < 0) {
        rc = sw_cli_fail("lint", &err);
    } else {
        print(&fixes, &found, sw_streq(o.format, "json"));
        for (size_t i = 0; i < found.n; i++)
            if (found.items[i].is_error || (o.strict && !found.items[i].is_note))
                rc = SW_EXIT_FAILED;
    }
    sw_problems_done(&found);
    sw_fixes_done(&fixes);
    sw_recipe_flags_done(&o.recipe);
    return rc;
}

const struct sw_command sw_command_lint = {
    .name = "lint",
    .args = "RECIPE|FILE.yaml",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "report errors and warnings about a recipe, or about manifests",
    .details =
        "No cluster is used. Files are named as the recipe was given, and lines are those of "
        "the template; where it\n"
        "cannot be told which that is, of what it renders to, which is said then. A file of "
        "manifests\n"
        "(SpecialResources and others) can be given as well.\n"
        "\n"
        "--fix changes lines of the files, and nothing else of them: API versions that Kubernetes "
        "has given up\n"
        "for those with the same fields, annotations that are misspelt and near to one, durations "
        "such as\n"
        "'5 minutes', numbers and booleans where text must be, misspelt fields of "
        "SpecialResources, "
        "tabs, and a\n"
        "last line without its end. Charts in charts/ that come from a repository are left alone. "
        "What is printed after the changes is left to you.",
    .flags = flags,
    .execute = execute,
};
