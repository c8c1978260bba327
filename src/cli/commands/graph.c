/* slipway graph: the states of a recipe and what they need, as a snapshot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/spawn.h"
#include "cli/commands/commands.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"

struct graph_opts {
    struct sw_recipe_flags recipe;
    const char *format;
};

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(offsetof(struct graph_opts, recipe)),
    SW_MIRROR_FLAG(offsetof(struct graph_opts, recipe.source)),
    { "output", 'o', SW_FLAG_STRING, offsetof(struct graph_opts, format), "FORMAT",
      "text|dot|mermaid|svg|json", "output format (default text; svg needs Graphviz's dot)" },
    { 0 },
};

/* ---- formats ------------------------------------------------------------------------------------
 */

/* One line for each state: its name, the states that it needs, and the release that it is of, if it
 * is another one than the recipe's. */
static void print_text(FILE *out, const struct sw_plan *plan)
{
    int width = 0;
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        int len = (int)strlen(sw_plan_state(plan, i)->name);
        width = len > width ? len : width;
    }
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        const struct sw_recipe_state *s = sw_plan_state(plan, i);
        if (!s->n_needs)
            (void)fprintf(out, "%s", s->name);
        else
            (void)fprintf(out, "%-*s  after", width, s->name);
        for (size_t k = 0; k < s->n_needs; k++)
            (void)fprintf(out, " %s", sw_plan_state(plan, s->needs[k])->name);
        if (s->release)
            (void)fprintf(out, " (release %s%s%s)", s->release->name,
                          s->release->namespace ? " of namespace " : "",
                          s->release->namespace ? s->release->namespace : "");
        (void)fputc('\n', out);
    }
}

/* A name in double quotes, for dot and Mermaid. */
static void print_quoted(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void print_dot(FILE *out, const struct sw_plan *plan)
{
    (void)fprintf(out, "digraph recipe {\n    rankdir=LR;\n"
                       "    node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        const struct sw_recipe_state *s = sw_plan_state(plan, i);
        (void)fprintf(out, "    s%zu [label=", i);
        print_quoted(out, s->name);
        (void)fprintf(out, "%s];\n", s->kernel_affine ? ", peripheries=2" : "");
    }
    for (size_t i = 0; i < sw_plan_n_states(plan); i++)
        for (size_t k = 0; k < sw_plan_state(plan, i)->n_needs; k++)
            (void)fprintf(out, "    s%zu -> s%zu;\n", sw_plan_state(plan, i)->needs[k], i);
    (void)fprintf(out, "}\n");
}

static void print_mermaid(FILE *out, const struct sw_plan *plan)
{
    (void)fprintf(out, "flowchart LR\n");
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        (void)fprintf(out, "    s%zu[", i);
        print_quoted(out, sw_plan_state(plan, i)->name);
        (void)fprintf(out, "]\n");
    }
    for (size_t i = 0; i < sw_plan_n_states(plan); i++)
        for (size_t k = 0; k < sw_plan_state(plan, i)->n_needs; k++)
            (void)fprintf(out, "    s%zu --> s%zu\n", sw_plan_state(plan, i)->needs[k], i);
}

static void print_json(FILE *out, const struct sw_plan *plan)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *states = sw_json_need_list(doc, "states", NULL);
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        const struct sw_recipe_state *s = sw_plan_state(plan, i);
        struct json_object *state = json_object_new_object();
        sw_json_set_str(state, s->name, "name", NULL);
        sw_json_set_str(state, s->chart, "chart", NULL);
        struct json_object *needs = sw_json_need_list(state, "needs", NULL);
        for (size_t k = 0; k < s->n_needs; k++)
            (void)json_object_array_add(
                needs, json_object_new_string(sw_plan_state(plan, s->needs[k])->name));
        struct json_object *templates = sw_json_need_list(state, "templates", NULL);
        for (size_t k = 0; k < s->n_templates; k++)
            (void)json_object_array_add(templates, json_object_new_string(s->templates[k]));
        sw_json_set(state, json_object_new_boolean(s->kernel_affine), "kernelAffine", NULL);
        sw_json_set(state, json_object_new_boolean(s->wait_all), "waitAll", NULL);
        if (s->label)
            sw_json_set_str(state, s->label, "label", NULL);
        if (s->release)
            sw_json_set_str(state, s->release->name, "release", "name", NULL);
        if (s->release && s->release->namespace)
            sw_json_set_str(state, s->release->namespace, "release", "namespace", NULL);
        (void)json_object_array_add(states, state);
    }
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PRETTY, NULL);
    (void)fprintf(out, "%s\n", text);
}

static const struct {
    const char *name;
    void (*print)(FILE *out, const struct sw_plan *plan);
} formats[] = {
    { "text", print_text },
    { "dot", print_dot },
    { "mermaid", print_mermaid },
    { "json", print_json },
};

/* ---- Graphviz -----------------------------------------------------------------------------------
 */

/* The plan through `dot -Tsvg`, which writes to this process's stdout. */
static int print_svg(const struct sw_plan *plan, struct sw_err *err)
{
    static const char *const argv[] = { "dot", "-Tsvg", NULL };
    char *text = NULL;
    size_t len = 0;
    int status;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return sw_err_set(err, SW_UNAVAILABLE, "dot: %s", strerror(errno));
    print_dot(out, plan);
    (void)fclose(out);
    const int code = sw_spawn_over(argv, text, len, -1, -1, &status);
    free(text);
    if (code == ENOENT)
        return sw_err_set(err, SW_UNAVAILABLE,
                          "svg needs Graphviz's dot, which is not installed; -o dot does not");
    if (code)
        return sw_err_set(err, SW_UNAVAILABLE, "dot: %s", strerror(code));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return sw_err_set(err, SW_UNAVAILABLE, "dot failed");
    return 0;
}

static int draw(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err)
{
    const struct graph_opts *o = opts;
    if (sw_streq(o->format, "svg"))
        return print_svg(recipe->plan, err);
    for (size_t i = 0; i < SW_COUNT(formats); i++)
        if (sw_streq(o->format, formats[i].name))
            formats[i].print(stdout, recipe->plan);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct graph_opts o = { .format = "text" };
    o.recipe.source.late = true;
    return sw_recipe_execute(call, &o, &o.recipe, 1, draw);
}

const struct sw_command sw_command_graph = {
    .name = "graph",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "draw the states of a recipe and what each needs",
    .flags = flags,
    .execute = execute,
};
