/* Any bytes as a snapshot of AICR, and as constraints that are held against it and against facts
 * that are known. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/constraints.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, len);
    SW_AUTO_JSON *facts = NULL, *constraints = NULL;
    SW_ERR(err);
    bool met;
    (void)!sw_aicr_is_met(text, "v1.2.3-x", &met, &err);
    (void)!sw_aicr_is_met(">= 1.2", text, &met, &err);
    if (sw_aicr_snapshot_read("fuzz", text, len, &facts, &err) < 0)
        facts = NULL;
    if (sw_yaml_parse(text, len, NULL, &constraints, &err) < 0)
        return 0;
    struct json_object *list = json_object_is_type(constraints, json_type_array)
                                   ? constraints
                                   : sw_json_get(constraints, "constraints");
    SW_AUTO_JSON *outcomes = sw_aicr_constraints_check(list, facts);
    for (size_t i = 0; i < sw_json_len(outcomes); i++) {
        SW_AUTO_CHARS *shown = sw_aicr_outcome_text(sw_json_at(outcomes, i));
        if (!*shown)
            abort();
    }
    return 0;
}
