#include "data/text/utf8.h"

#include <string.h>

#include "data/text/buffer.h"

size_t sw_utf8_valid_len(const char *text, size_t len_bytes)
{
    const char *p = text, *end = text + len_bytes;
    uint32_t rune;
    bool valid = true;
    while (p < end) {
        const size_t n = (unsigned char)*p < 0x80 ? 1 : sw_utf8_decode(p, end, &rune, &valid);
        if (!valid)
            break;
        p += n;
    }
    return (size_t)(p - text);
}

bool sw_utf8_valid(const char *text, size_t len_bytes)
{
    return sw_utf8_valid_len(text, len_bytes) == len_bytes;
}

size_t sw_utf8_encode(uint32_t rune, char out[static 4])
{
    const bool is_rune = rune <= 0x10ffff && !(rune >= 0xd800 && rune <= 0xdfff);
    const uint32_t r = is_rune ? rune : SW_RUNE_ERROR;
    if (r < 0x80) {
        out[0] = (char)r;
        return 1;
    }
    if (r < 0x800) {
        out[0] = (char)(0xC0 | r >> 6);
        out[1] = (char)(0x80 | (r & 0x3F));
        return 2;
    }
    if (r < 0x10000) {
        out[0] = (char)(0xE0 | r >> 12);
        out[1] = (char)(0x80 | (r >> 6 & 0x3F));
        out[2] = (char)(0x80 | (r & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | r >> 18);
    out[1] = (char)(0x80 | (r >> 12 & 0x3F));
    out[2] = (char)(0x80 | (r >> 6 & 0x3F));
    out[3] = (char)(0x80 | (r & 0x3F));
    return 4;
}

char *sw_utf8_mend(const char *text, size_t len_bytes, size_t *out_len)
{
    struct sw_buffer out = { 0 };
    const char *end = text + len_bytes;
    while (text < end) {
        uint32_t rune;
        bool valid;
        size_t n = sw_utf8_decode(text, end, &rune, &valid);
        if (valid)
            sw_buffer_put(&out, text, n);
        else
            sw_buffer_put(&out, "\xef\xbf\xbd", 3);
        text += n;
    }
    return sw_buffer_take(&out, out_len);
}

const char *sw_utf16_name(const char *text, size_t len)
{
    if (len < 2)
        return NULL;
    if (memcmp(text, "\xff\xfe", 2) == 0 || (text[0] && !text[1]))
        return "UTF-16LE";
    return memcmp(text, "\xfe\xff", 2) == 0 || (!text[0] && text[1]) ? "UTF-16BE" : NULL;
}
