/* A file of rules from anywhere: read or refused, nothing else. */
#include "emulator/rules/rules.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
    SW_ERR(err);
    int rc = sw_rules_check("fuzz.yaml", (const char *)data, len_bytes, &err);
    if (rc < 0 && !*sw_err_text(&err))
        __builtin_trap(); /* refused without a word */
    return 0;
}
