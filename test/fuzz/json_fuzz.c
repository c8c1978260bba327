/* Any bytes as JSON: they are read or refused, and what was read is written and reads back equal.
 */
#include <stdlib.h>
#include <string.h>

#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned styles[] = { SW_JSON_PLAIN, SW_JSON_SORTED | SW_JSON_HTML,
                                       SW_JSON_PRETTY };
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_json_opts opts = { .file = "fuzz", .refuse_duplicate = size % 2 };
    if (sw_json_parse((const char *)data, size, &opts, &doc, &err) < 0)
        return 0;
    for (size_t i = 0; i < SW_COUNT(styles); i++) {
        size_t len;
        SW_AUTO_CHARS *text = sw_json_text(doc, styles[i], &len);
        SW_AUTO_JSON *again = NULL;
        if (strlen(text) != len || sw_json_parse(text, len, NULL, &again, &err) < 0 ||
            !sw_json_equal(doc, again))
            abort();
    }
    return 0;
}
