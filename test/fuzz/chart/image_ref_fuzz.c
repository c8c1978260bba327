/* A reference is taken apart or refused; put together again it means the same. */
#include "chart/registry/registry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    struct sw_image_ref a = { 0 }, b = { 0 };
    SW_ERR(err);
    if (sw_image_ref_parse(text, &a, &err) < 0) {
        if (!err.text || a.host)
            abort();
        return 0;
    }
    SW_AUTO_CHARS *again = sw_image_ref_text(&a);
    if (sw_image_ref_parse(again, &b, NULL) < 0 || !sw_streq(a.host, b.host) ||
        !sw_streq(a.repo, b.repo) || !sw_streq(a.tag, b.tag) || !sw_streq(a.digest, b.digest))
        abort();
    sw_image_ref_done(&a);
    sw_image_ref_done(&b);
    return 0;
}
