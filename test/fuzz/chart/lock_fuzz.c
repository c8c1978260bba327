/* Chart.lock and slipway.lock: anything beside a chart whose dependency has to be got; and a
 * Chart.yaml whose dependency gets another version. */
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/pins.h"
#include "chart/recipe/recipe.h"

static int none(void *arg SW_UNUSED, const struct sw_recipe_ask *ask,
                struct sw_recipe_got *got SW_UNUSED, struct sw_err *err)
{
    return sw_err_set(err, SW_NOTFOUND, "%s %s %s", ask->url, ask->name, ask->version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char chart[] =
        "apiVersion: v2\nname: a\nversion: 1.0.0\n"
        "dependencies: [{name: dep, version: 1.x, repository: https://charts.example}]\n";
    const struct sw_recipe_file rows[][2] = {
        { { "Chart.yaml", chart, sizeof chart - 1 }, { "Chart.lock", (const char *)data, len } },
        { { "Chart.yaml", chart, sizeof chart - 1 }, { SW_DIGESTS_FILE, (const char *)data, len } },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_recipe) *recipe = NULL;
        SW_ERR(err);
        if (sw_recipe_from_files("fuzz", rows[i], 2, &(struct sw_recipe_opts){ .get = none },
                                 &recipe, &err) == 0)
            abort(); /* its dependency cannot be had */
    }
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, len), *pinned = NULL;
    SW_ERR(err);
    (void)!sw_chart_text_pinned("fuzz", text, "dep", "2.0.0", "3", &pinned, &err);
    return 0;
}
