#pragma once
/* percent: %XX, as in URLs. Source: RFC 3986, 2.1. */
#include <stddef.h>

/** The value of a hexadecimal digit; -1: it is none. */
static inline int sw_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/** What a name or value in a path or query needs not have encoded: RFC 3986's unreserved characters
 * besides letters and digits. */
#define SW_PERCENT_UNRESERVED "-._~"

/** @text with each byte as %XX that is no ASCII letter, no digit and none of @keep; the caller's.
 */
char *sw_percent_encode(const char *text, const char *keep);

/** Decode @len bytes of @text into @out, which has room for @len + 1 and may be @text, and ends in
 * a NUL. What is no %XX stays as it is, and so does %00, which would end the text.
 * @return the length of @out */
size_t sw_percent_decode(const char *text, size_t len, char *out);
