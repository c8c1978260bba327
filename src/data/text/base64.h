#pragma once
/* base64: as Go's base64.StdEncoding, padded. Line ends in the text are skipped when it is read. */
#include <stddef.h>

/** The bytes that @len_bytes of @text stand for, the caller's, with a NUL after them.
 * @return NULL: no base64; @*out_len is then the position of the byte that is wrong, as Go's
 * CorruptInputError has it. */
char *sw_base64_decode(const char *text, size_t len_bytes, size_t *out_len);

/** The text of @bytes, NUL-terminated, the caller's. */
char *sw_base64_encode(const char *bytes, size_t len_bytes, size_t *out_len);

/** The length of the text of @len_bytes. */
static inline size_t sw_base64_len(size_t len_bytes)
{
    return (len_bytes + 2) / 3 * 4;
}

/** Write the text of @bytes to @out, sw_base64_len() bytes. */
void sw_base64_write(char *out, const char *bytes, size_t len_bytes);
