/* Any bytes as YAML: they are read or refused, and what was read is written and reads back equal.
 */
#include <stdlib.h>

#include "data/json/json.h"
#include "data/yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    const struct sw_yaml_opts opts = { .file = "fuzz", .max_bytes = 1 << 16 };
    if (sw_yaml_parse_all((const char *)data, size, &opts, &docs, &err) < 0)
        return 0;
    for (size_t i = 0; i < docs.n_docs; i++) {
        size_t len;
        SW_AUTO_CHARS *text = sw_yaml_text(docs.docs[i].object, &len);
        SW_AUTO_JSON *again = NULL;
        if (sw_yaml_parse(text, len, NULL, &again, &err) < 0 ||
            !sw_json_equal(again, docs.docs[i].object))
            abort();
        SW_AUTO_CHARS *marshalled = NULL;
        if (sw_yaml_marshal(docs.docs[i].object, &marshalled, &len, &err) < 0)
            continue;
    }
    sw_yaml_docs_done(&docs);
    return 0;
}
