#include "data/utf8.h"

#include "data/buffer.h"

bool sw_utf8_valid(const char *text, size_t len_bytes)
{
    const char *end = text + len_bytes;
    uint32_t rune;
    bool valid = true;
    while (text < end && valid)
        text += (unsigned char)*text < 0x80 ? 1 : sw_utf8_decode(text, end, &rune, &valid);
    return valid;
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
