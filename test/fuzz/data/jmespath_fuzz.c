/* Any bytes as a JMESPath and, where they are JSON, as a tree of assertions, for a fixed document.
 */
#include <stdlib.h>
#include <string.h>

#include "data/jmespath/jmespath.h"
#include "data/json/json.h"

static const char text[] = "{\"a\":[{\"b\":1,\"c\":\"x\"},{\"b\":2.5,\"c\":null},[1,2,3],\"s\"],"
                           "\"b\":{\"a\":{\"b\":true},\"c.d\":\"1Gi\"},"
                           "\"c\":\"Ready\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *source = sw_strndup((const char *)data, size);
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL, *found = NULL, *tree = NULL;
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        abort();
    SW_AUTO(sw_jmespath) *path = NULL;
    if (sw_jmespath_compile(source, &path, &err) == 0 &&
        sw_jmespath_search(path, doc, &found, &err) == 0) {
        SW_AUTO_CHARS *printed = sw_json_text(found, SW_JSON_PLAIN, NULL);
        if (!printed)
            abort();
    }
    SW_AUTO(sw_assertion) *assertion = NULL;
    SW_AUTO_CHARS *why = NULL;
    if (sw_json_parse(source, size, NULL, &tree, &err) == 0 &&
        sw_assertion_compile(tree, &assertion, &err) == 0 &&
        sw_assertion_holds(assertion, doc, size % 2, &why) != (why == NULL))
        abort();
    return 0;
}
