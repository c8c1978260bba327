/* Any bytes as a JSONPath and as a condition, on a fixed document. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/jsonpath/jsonpath.h"

static const char text[] = "{\"a\":[{\"b\":1,\"c\":\"x\"},{\"b\":2.5,\"c\":null},[1,2,3],\"s\"],"
                           "\"b\":{\"a\":{\"b\":true},\"c.d\":\"1Gi\"},"
                           "\"c\":\"Ready\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *source = sw_strndup((const char *)data, size);
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        abort();
    SW_AUTO(sw_jsonpath) *path = NULL;
    if (sw_jsonpath_compile(source, &path, &err) == 0) {
        struct sw_json_list found = { 0 };
        SW_AUTO_CHARS *printed = NULL;
        (void)!sw_jsonpath_find(path, doc, &found, &err);
        sw_json_list_done(&found);
        (void)!sw_jsonpath_print(path, doc, size % 2, &printed, &err);
    }
    SW_AUTO(sw_condition) *condition = NULL;
    if (sw_condition_compile(source, &condition, &err) == 0)
        (void)sw_condition_holds(condition, doc);
    return 0;
}
