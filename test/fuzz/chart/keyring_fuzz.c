/* Keyrings in ASCII armour. */
#include <stdint.h>
#include <stdlib.h>

#include "chart/fetch/keyring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len;
    char *bytes = sw_keyring_unpack((const char *)data, size, &len);
    if (bytes && len > size)
        abort();
    free(bytes);
    return 0;
}
