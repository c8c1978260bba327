/* Any bytes as a body in protobuf: what is read is a document that can be written as JSON. */
#include <json-c/json.h>
#include <stdlib.h>

#include "data/data.h"
#include "emulator/formats/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_JSON *again = NULL;
    size_t len;
    if (sw_protobuf_read((const char *)data, size, &doc, &err) < 0)
        return 0;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    if (sw_json_parse(text, len, NULL, &again, &err) < 0)
        abort();
    return 0;
}
