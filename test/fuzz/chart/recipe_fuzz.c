/* A whole recipe out of one text: files are parted by lines "== name", and go through loading,
 * values, schema, graph and rendering. */
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/recipe.h"

enum { MAX_FILES = 16 };

static size_t cut(char *text, struct sw_recipe_file *files)
{
    size_t n = 0;
    for (char *at = strstr(text, "== "); at && n < MAX_FILES; n++) {
        char *name = at + 3, *end = strchr(name, '\n');
        if (!end)
            break;
        *end = '\0';
        at = strstr(end + 1, "\n== ");
        size_t len = at ? (size_t)(at + 1 - (end + 1)) : strlen(end + 1);
        files[n] = (struct sw_recipe_file){ name, end + 1, len };
        at = at ? at + 1 : NULL;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct sw_recipe_file files[MAX_FILES];
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, len);
    size_t n = cut(text, files);
    struct sw_render_env env = { .fuel = 20000, .now_ns = 1 };
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_plan) *plan = NULL;
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_ERR(err);
    if (sw_recipe_from_files("fuzz", files, n, NULL, &recipe, &err) == 0 &&
        sw_recipe_plan(recipe, NULL, &env, &plan, &err) == 0 &&
        sw_recipe_render(plan, &env, SW_ALL_STATES, &rendered, &err) < 0)
        return 0;
    return 0;
}
