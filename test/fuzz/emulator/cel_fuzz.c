/* An expression of a matchCondition, over a request. */
#include <assert.h>

#include "data/cel/cel.h"
#include "data/data.h"

static const char request[] = "{\"request\":{\"operation\":\"CREATE\",\"userInfo\":{\"username\":"
                              "\"jane\",\"groups\":[\"a\",\"b\"]}},\"object\":{\"metadata\":{"
                              "\"name\":\"x\",\"labels\":{\"app\":\"y\"}}},\"oldObject\":null}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    SW_AUTO_JSON *root = NULL;
    SW_ERR(err);
    assert(sw_json_parse(request, sizeof request - 1, NULL, &root, &err) == 0);
    const int rc = sw_cel_holds(text, root, &err);
    assert(rc == 0 || rc == 1 || rc == SW_INVALID || rc == SW_NOTFOUND);
    return 0;
}
