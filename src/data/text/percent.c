#include "data/text/percent.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"

char *sw_percent_encode(const char *text, const char *keep)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = sw_alloc(3 * strlen(text) + 1), *at = out;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x80 && (isalnum(*c) || strchr(keep, *c))) {
            *at++ = (char)*c;
            continue;
        }
        *at++ = '%';
        *at++ = hex[*c >> 4];
        *at++ = hex[*c & 15];
    }
    *at = '\0';
    return out;
}

size_t sw_percent_decode(const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? sw_hex_digit(text[i + 1]) : -1;
        int low = high >= 0 ? sw_hex_digit(text[i + 2]) : -1;
        bool is_encoded = low >= 0 && (high || low);
        out[n++] = is_encoded ? (char)(high * 16 + low) : text[i];
        i += is_encoded ? 2 : 0;
    }
    out[n] = '\0';
    return n;
}
