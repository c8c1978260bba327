/* A manifest is read or refused with words; what is chosen from an index is a digest. */
#include "chart/registry/internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_object *doc = NULL;
    enum manifest_form form;
    const char *digest;
    SW_ERR(err);
    int rc = manifest_read((const char *)data, size, NULL, &doc, &form, &err);
    if (rc < 0 && (doc || !err.text))
        abort();
    if (rc == 0 && form == MANIFEST_INDEX &&
        manifest_choose(doc, "linux/arm/v7", &digest, NULL) == 0 &&
        !sw_image_digest_is_valid(digest))
        abort();
    json_object_put(doc);
    return 0;
}
