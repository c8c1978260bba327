#pragma once
/* utf8: decoding as Go does it. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** U+FFFD: the result of decoding invalid UTF-8. */
enum { SW_RUNE_ERROR = 0xfffd };

/** Decode the rune at @text (@text < @end). An invalid byte is SW_RUNE_ERROR of length 1 and clears
 * @valid, which may be NULL. @return the length in bytes */
static inline size_t sw_utf8_decode(const char *text, const char *end, uint32_t *rune, bool *valid)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t left = (size_t)(end - text), n = 1;
    uint32_t r = p[0], least = 0;
    if (r >= 0x80) {
        n = r >= 0xf0 ? 4 : r >= 0xe0 ? 3 : 2;
        least = n == 4 ? 0x10000 : n == 3 ? 0x800 : 0x80;
        r &= n == 4 ? 0x07 : n == 3 ? 0x0f : 0x1f;
        bool ok = p[0] >= 0xc2 && p[0] <= 0xf4 && left >= n;
        for (size_t i = 1; ok && i < n; i++) {
            ok = (p[i] & 0xc0) == 0x80;
            r = r << 6 | (p[i] & 0x3f);
        }
        if (!ok || r < least || r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff)) {
            if (valid)
                *valid = false;
            *rune = SW_RUNE_ERROR;
            return 1;
        }
    }
    if (valid)
        *valid = true;
    *rune = r;
    return n;
}

/** The number of bytes before the first one that is not valid UTF-8. */
size_t sw_utf8_valid_len(const char *text, size_t len_bytes);

/** Whether the whole text is valid UTF-8. */
bool sw_utf8_valid(const char *text, size_t len_bytes);

/** Encode @rune; a value that is not a rune (such as half a surrogate pair) is encoded as
 * SW_RUNE_ERROR. @return the number of bytes */
size_t sw_utf8_encode(uint32_t rune, char out[static 4]);

/** A copy in which U+FFFD replaces each byte that is not valid UTF-8; NUL-terminated, the caller
 * frees it. */
char *sw_utf8_mend(const char *text, size_t len_bytes, size_t *out_len);

/** "UTF-16LE" or "UTF-16BE" where a file begins as one in that encoding: with its byte order mark,
 * or with a NUL in one of the first two bytes alone. NULL: it does not. Pinned by
 * test/unit/chart/recipe_load_test.c. */
const char *sw_utf16_name(const char *text, size_t len_bytes);
