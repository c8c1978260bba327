/* A RecipeResult of AICR: refused, or written as it is read, and made into a recipe or refused; a
 * bundle whose files are all these bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "data/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    SW_AUTO_JSON *result = NULL, *again = NULL;
    SW_AUTO_CHARS *bytes = sw_strndup((const char *)data, len);
    SW_ERR(err);
    const struct sw_aicr_file items[] = {
        { "001-a/Chart.yaml", bytes, len },
        { "001-a/charts/x.tgz", bytes, len },
        { "001-a/upstream.env", bytes, len },
        { "001-a/values.yaml", bytes, len },
        { "002-a-post/templates/a", bytes, len },
        { "checksums.txt", bytes, len },
        { "recipe.yaml", bytes, len },
    };
    const struct sw_aicr_files files = { items, SW_COUNT(items) };
    const struct sw_aicr_opts opts = { .name = "fuzz" };
    struct sw_aicr_made made = { 0 };
    (void)!sw_aicr_make("fuzz", &files, &opts, &made, &err);
    sw_aicr_made_done(&made);
    /* without the checksums, which no bytes fulfil that are a RecipeResult, too */
    struct sw_aicr_file unchecked[SW_COUNT(items)];
    memcpy(unchecked, items, sizeof items);
    unchecked[5].name = "other.txt";
    const struct sw_aicr_files rest = { unchecked, SW_COUNT(unchecked) };
    (void)!sw_aicr_make("fuzz", &rest, &opts, &made, &err);
    sw_aicr_made_done(&made);
    if (sw_aicr_result_read("fuzz", bytes, len, &result, &err) < 0)
        return 0;
    SW_AUTO_CHARS *text = sw_aicr_result_text(result);
    if (sw_aicr_result_read("fuzz", text, strlen(text), &again, &err) < 0)
        abort();
    return 0;
}
