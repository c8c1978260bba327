/* Two JSON values, one after the other: document and patch. Each kind of patch is applied. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/patch/merge.h"

/* @text up to the byte 0xff (which no JSON holds), and what is behind it. */
static bool split(const uint8_t *data, size_t size, struct json_object **a, struct json_object **b)
{
    const uint8_t *mark = size ? memchr(data, 0xff, size) : NULL;
    if (!mark)
        return false;
    size_t n = (size_t)(mark - data);
    SW_ERR(err);
    return sw_json_parse((const char *)data, n, NULL, a, &err) == 0 &&
           sw_json_parse((const char *)mark + 1, size - n - 1, NULL, b, &err) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    SW_AUTO_JSON *a = NULL;
    SW_AUTO_JSON *b = NULL;
    if (!split(data, size, &a, &b))
        return 0;
    SW_AUTO_JSON *merged = sw_merge_apply(a, b);
    SW_AUTO_JSON *again = sw_merge_apply(merged, b);
    SW_AUTO_JSON *merge = sw_merge_create(a, b);
    (void)merge;
    if (!sw_json_equal(merged, again))
        abort(); /* applying twice is applying once */

    SW_AUTO_JSON *patched = NULL;
    SW_AUTO_JSON *strategic = NULL;
    (void)!sw_jsonpatch_apply(a, b, &patched, &err);
    (void)!sw_strategic_apply(a, b, "Pod", &strategic, &err);
    return 0;
}
