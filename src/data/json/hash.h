#pragma once
/* hash: SHA-256, of bytes and of documents. */
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#define SW_SHA256_LEN 32
#define SW_SHA256_HEX 65 /* with its NUL */

/** The SHA-256 digest of @bytes (FIPS 180-4), written to @out. Never fails. */
void sw_sha256(const void *bytes, size_t len_bytes, uint8_t out[static SW_SHA256_LEN]);
/** The SHA-256 digest of @bytes in lower-case hexadecimal, NUL-terminated. @return @out */
char *sw_sha256_hex(const void *bytes, size_t len_bytes, char out[static SW_SHA256_HEX]);
/** The SHA-256 digest of the document's compact JSON with sorted keys, in hexadecimal: documents
 * that differ only in the order of keys have the same hash. @return @out */
char *sw_json_sha256(struct json_object *doc, char out[static SW_SHA256_HEX]);
