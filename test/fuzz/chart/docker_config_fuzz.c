/* A docker config.json gives logins or one message; looking for one reads nothing else. */
#include "chart/registry/registry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO(sw_logins) *logins = sw_logins_new();
    struct sw_login l;
    SW_ERR(err);
    if (sw_logins_add(logins, "f", (const char *)data, size, &err) < 0 && !err.text)
        abort();
    if (sw_logins_find(logins, "quay.io", "a/b", &l) && !l.source)
        abort();
    return 0;
}
