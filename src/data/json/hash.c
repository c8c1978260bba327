#include "data/json/hash.h"

#include <stdlib.h>

#include "base/base.h"
#include "data/json/json.h"

char *sw_sha256_hex(const void *bytes, size_t len_bytes, char out[static SW_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum[SW_SHA256_LEN];
    sw_sha256(bytes, len_bytes, sum);
    for (size_t i = 0; i < SW_SHA256_LEN; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[SW_SHA256_HEX - 1] = '\0';
    return out;
}

char *sw_json_sha256(struct json_object *doc, char out[static SW_SHA256_HEX])
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, &len);
    return sw_sha256_hex(text, len, out);
}
