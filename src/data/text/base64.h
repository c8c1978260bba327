#pragma once
/* base64: as Go's base64.StdEncoding. Internal to data. */
#include <stddef.h>

/** The bytes, the caller's, with a NUL after them; line ends are skipped. NULL: no base64. */
char *sw_base64_decode(const char *text, size_t len_bytes, size_t *out_len);

/** The text, padded, NUL-terminated, the caller's. */
char *sw_base64_encode(const char *bytes, size_t len_bytes, size_t *out_len);
