#include "data/text/base64.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

char *sw_base64_decode(const char *text, size_t len_bytes, size_t *out_len)
{
    char *out = sw_alloc(len_bytes / 4 * 3 + 4);
    size_t n = 0;
    uint32_t bits = 0;
    int digits = 0, pads = 0; /* in the group of four */
    bool ended = false, good = true;
    for (size_t i = 0; i < len_bytes && good; i++) {
        if (text[i] == '\r' || text[i] == '\n')
            continue;
        int v = value_of(text[i]);
        pads += text[i] == '=';
        good = !ended && (v >= 0 ? pads == 0 : pads > 0 && text[i] == '=' && digits >= 2);
        bits = bits << 6 | (v > 0 ? (uint32_t)v : 0);
        if (++digits < 4)
            continue;
        for (int k = 0; k < 3 - pads; k++)
            out[n++] = (char)(bits >> (16 - 8 * k));
        ended = pads > 0;
        bits = 0;
        digits = 0;
    }
    if (!good || digits != 0) {
        free(out);
        return NULL;
    }
    out[n] = '\0';
    *out_len = n;
    return out;
}

char *sw_base64_encode(const char *bytes, size_t len_bytes, size_t *out_len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)bytes;
    char *out = sw_alloc((len_bytes + 2) / 3 * 4 + 1), *p = out;
    for (size_t i = 0; i < len_bytes; i += 3) {
        size_t n = len_bytes - i < 3 ? len_bytes - i : 3;
        uint32_t bits = (uint32_t)in[i] << 16;
        if (n > 1)
            bits |= (uint32_t)in[i + 1] << 8;
        if (n > 2)
            bits |= in[i + 2];
        *p++ = digits[bits >> 18];
        *p++ = digits[bits >> 12 & 63];
        *p++ = n > 1 ? digits[bits >> 6 & 63] : '=';
        *p++ = n > 2 ? digits[bits & 63] : '=';
    }
    *p = '\0';
    *out_len = (size_t)(p - out);
    return out;
}
