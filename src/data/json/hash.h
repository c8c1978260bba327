#pragma once
/* hash: SHA-256, of bytes and of documents. */
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#define SW_SHA256_LEN 32
#define SW_SHA256_HEX 65 /* with its NUL */

void sw_sha256(const void *bytes, size_t len_bytes, uint8_t out[static SW_SHA256_LEN]);
/** In lower-case hexadecimal. */
char *sw_sha256_hex(const void *bytes, size_t len_bytes, char out[static SW_SHA256_HEX]);
/** Of the document's compact JSON with sorted keys: equal documents, equal hashes. */
char *sw_json_sha256(struct json_object *doc, char out[static SW_SHA256_HEX]);
