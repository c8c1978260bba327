/* Fault plans as a file brings them. */
#include "data/yaml/yaml.h"
#include "emulator/faults/faults.h"

#include <json-c/json.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    SW_ERR(err);
    struct json_object *doc = NULL;
    struct sw_faults *faults = NULL;
    if (sw_yaml_parse((const char *)data, len, &(struct sw_yaml_opts){ .file = "plan" }, &doc,
                      &err) == 0 &&
        sw_faults_new(doc, "plan", &faults, &err) == 0)
        sw_faults_free(faults);
    json_object_put(doc);
    return 0;
}
