/* Whether a recipe speaks of something. */
#include <string.h>

#include "recipe/chart.h"

bool sw_recipe_mentions(const struct sw_recipe *recipe, const char *word)
{
    for (size_t c = 0; c < recipe->n_charts; c++) {
        const struct sw_chart *chart = recipe->charts[c];
        for (size_t i = 0; i < chart->n_templates; i++)
            if (memmem(chart->templates[i].bytes, chart->templates[i].len, word, strlen(word)))
                return true;
    }
    return false;
}
