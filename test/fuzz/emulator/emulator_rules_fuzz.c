/* A file of rules from anywhere: read or refused, nothing else. */
#include "emulator/rules/rules_internal.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
    SW_ERR(err);
    struct rule_set set;
    sw_rule_set_init(&set, NULL, NULL);
    int rc = sw_rule_set_load(&set, "fuzz.yaml", (const char *)data, len_bytes, &err);
    sw_rule_set_done(&set);
    if (rc < 0 && !*sw_err_text(&err))
        __builtin_trap(); /* refused without a word */
    return 0;
}
