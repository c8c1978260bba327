/* Whatever a registry puts into WWW-Authenticate is read to its end. */
#include "chart/registry/internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    struct challenge c = { 0 };
    challenge_read(text, &c);
    if (c.realm && !c.bearer)
        abort();
    challenge_done(&c);
    return 0;
}
