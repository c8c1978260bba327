/* index.yaml: anything as a repository's index. */
#include "chart/fetch/index.h"
#include "data/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const wants[] = { "", "^1", "1.2.3", ">1-0 <3 || 5.x" };
    SW_AUTO_JSON *index = NULL;
    SW_ERR(err);
    if (sw_index_parse("index.yaml", (const char *)data, len, &index, &err) < 0)
        return 0;
    struct sw_index_entry entry;
    for (size_t i = 0; i < SW_COUNT(wants); i++)
        if (sw_index_find(index, "a", wants[i], &entry, &err) < 0)
            sw_err_done(&err);
    return 0;
}
