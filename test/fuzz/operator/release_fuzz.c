/* A release as Helm packs it: base64, gzip, JSON, each of them anything. */
#include "operator/release/record.h"

#include <json-c/json.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct json_object *release = NULL;
    SW_ERR(err);
    if (sw_release_unpack((const char *)data, len, 1 << 20, &release, &err) < 0)
        return 0;
    char *packed = sw_release_pack(release);
    json_object_put(release);
    free(packed);
    return 0;
}
