#include "data/text/base64.h"

#include <stdbool.h>
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

static size_t skip_newlines(const char *s, size_t len, size_t at)
{
    while (at < len && (s[at] == '\n' || s[at] == '\r'))
        at++;
    return at;
}

struct quantum {
    size_t digits; /* 4, or fewer at the end */
    uint32_t bits;
    bool last;
};

/* Up to four digits. @return the position of what is wrong, or -1 */
static long read_quantum(const char *s, size_t len, size_t *at, struct quantum *q)
{
    *q = (struct quantum){ 0 };
    while (q->digits < 4) {
        *at = skip_newlines(s, len, *at);
        if (*at == len) {
            q->last = true;
            return q->digits == 0 ? -1 : (long)(*at - q->digits);
        }
        char c = s[(*at)++];
        int d = value_of(c);
        if (d >= 0) {
            q->bits |= (uint32_t)d << (18 - 6 * q->digits++);
            continue;
        }
        if (c != '=' || q->digits < 2)
            return (long)*at - 1;
        q->last = true;
        *at = skip_newlines(s, len, *at);
        if (q->digits == 2) { /* a second '=' */
            if (*at == len)
                return (long)len;
            if (s[*at] != '=')
                return (long)*at - 1;
            *at = skip_newlines(s, len, *at + 1);
        }
        return *at < len ? (long)*at : -1;
    }
    return -1;
}

char *sw_base64_decode(const char *text, size_t len_bytes, size_t *out_len)
{
    char *out = sw_alloc(len_bytes / 4 * 3 + 4);
    struct quantum q = { 0 };
    size_t n = 0, at = 0;
    while (!q.last) {
        long bad = read_quantum(text, len_bytes, &at, &q);
        if (bad >= 0) {
            free(out);
            *out_len = (size_t)bad;
            return NULL;
        }
        for (size_t i = 0; i + 1 < q.digits; i++)
            out[n++] = (char)(q.bits >> (16 - 8 * i));
    }
    out[n] = '\0';
    *out_len = n;
    return out;
}

void sw_base64_write(char *out, const char *bytes, size_t len_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)bytes;
    for (size_t i = 0; i < len_bytes; i += 3) {
        size_t n = len_bytes - i < 3 ? len_bytes - i : 3;
        uint32_t bits = (uint32_t)in[i] << 16;
        if (n > 1)
            bits |= (uint32_t)in[i + 1] << 8;
        if (n > 2)
            bits |= in[i + 2];
        *out++ = digits[bits >> 18];
        *out++ = digits[bits >> 12 & 63];
        *out++ = n > 1 ? digits[bits >> 6 & 63] : '=';
        *out++ = n > 2 ? digits[bits & 63] : '=';
    }
}

char *sw_base64_encode(const char *bytes, size_t len_bytes, size_t *out_len)
{
    *out_len = sw_base64_len(len_bytes);
    char *out = sw_alloc(*out_len + 1);
    sw_base64_write(out, bytes, len_bytes);
    out[*out_len] = '\0';
    return out;
}
