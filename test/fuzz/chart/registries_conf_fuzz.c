/* A registries.conf is read whole or not at all; whatever it says, an image has a place to be
 * pulled from, or is blocked. */
#include "chart/registry/registry.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    struct sw_image_ref ref = { 0 };
    struct sw_pull_sources sources = { 0 };
    SW_ERR(err);
    if (sw_mirrors_add_conf(m, "f", (const char *)data, size, &err) < 0 && !err.text)
        abort();
    if (sw_image_ref_parse("quay.io/a/b:c", &ref, NULL) < 0)
        abort();
    int rc = sw_mirrors_sources(m, &ref, &sources, NULL);
    if (rc != SW_FORBIDDEN && (rc < 0 || !sources.n))
        abort();
    sw_pull_sources_done(&sources);
    sw_image_ref_done(&ref);
    return 0;
}
