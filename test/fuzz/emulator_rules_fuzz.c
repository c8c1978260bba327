/* A file of rules from anywhere: read or refused, nothing else. */
#include "emulator/rules.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
    SW_ERR(err);
    (void)sw_rules_check("fuzz.yaml", (const char *)data, len_bytes, &err);
    return 0;
}
