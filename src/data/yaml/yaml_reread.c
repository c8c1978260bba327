#include "data/yaml/yaml_reread.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/buffer.h"
#include "data/text/utf8.h"

static bool is_nel(const char *p, const char *end)
{
    return end - p > 1 && p[0] == '\xc2' && p[1] == '\x85';
}

/* ASCII without DEL. In other text may be what JSON does not escape and YAML does not allow: DEL,
 * C1, U+FFFE, U+FFFF, bytes that are not UTF-8. */
static bool is_ordinary(const char *text, const char *end)
{
    for (const unsigned char *p = (const unsigned char *)text; p < (const unsigned char *)end; p++)
        if (*p >= 0x7f)
            return false;
    return true;
}

/* U+0085 is a line break, and folds in a quoted scalar: one is a space, more are one line end less;
 * the blanks around go. */
static int fold(const char *text, const char *end, struct sw_buffer *out, struct sw_err *err)
{
    for (const char *p = text; p < end;) {
        size_t blanks = 0, breaks = 0;
        const char *q = p;
        while (q < end && (*q == ' ' || is_nel(q, end))) {
            if (*q == ' ') {
                blanks++;
                q++;
                continue;
            }
            breaks++;
            q += 2;
            if (end - q > 3 && (memcmp(q, "---", 3) == 0 || memcmp(q, "...", 3) == 0) &&
                (q[3] == ' ' || is_nel(q + 3, end)))
                return sw_err_set(err, SW_INVALID, "yaml: found unexpected document indicator");
        }
        if (breaks == 0)
            sw_buffer_fill(out, ' ', blanks);
        else if (breaks == 1)
            sw_buffer_char(out, ' ');
        else
            sw_buffer_fill(out, '\n', breaks - 1);
        p = q;
        if (p < end)
            sw_buffer_char(out, *p++);
    }
    return 0;
}

/* Characters that the text takes in Go's JSON, without its quotes. */
static size_t json_len(const char *text, const char *end)
{
    size_t n = 0;
    while (text < end) {
        uint32_t rune;
        bool valid;
        text += sw_utf8_decode(text, end, &rune, &valid);
        if (rune == '"' || rune == '\\' || rune == '\n' || rune == '\r' || rune == '\t' ||
            rune == '\b' || rune == '\f')
            n += 2;
        else if (rune < 0x20 || rune == '<' || rune == '>' || rune == '&' || rune == 0x2028 ||
                 rune == 0x2029 || !valid)
            n += 6;
        else
            n++;
    }
    return n;
}

int sw_yaml_reread(const char **text, size_t *len_bytes, bool is_key, char **heap,
                   struct sw_err *err)
{
    const char *p = *text, *end = p + *len_bytes;
    if (is_key) { /* the ':' must be on the key's line and within 1024 characters */
        bool long_key = end - p > 1024 / 6 && json_len(p, end) + 2 > 1024;
        if (long_key || memmem(p, *len_bytes, "\xc2\x85", 2))
            return sw_err_set(err, SW_INVALID, "yaml: a key is %s",
                              long_key ? "longer than 1024 characters" : "longer than a line");
    }
    if (is_ordinary(p, end))
        return 0;
    if (!sw_utf8_valid(p, *len_bytes)) {
        *heap = sw_utf8_mend(p, *len_bytes, len_bytes);
        *text = p = *heap;
        end = p + *len_bytes;
    }
    for (const char *at = p; at < end;) {
        uint32_t rune;
        at += sw_utf8_decode(at, end, &rune, NULL);
        if ((rune >= 0x7f && rune < 0xa0 && rune != 0x85) || rune == 0xfffe || rune == 0xffff)
            return sw_err_set(err, SW_INVALID, "yaml: control characters are not allowed: U+%04X",
                              rune);
    }
    if (!memmem(p, *len_bytes, "\xc2\x85", 2))
        return 0;
    struct sw_buffer out = { 0 };
    int rc = fold(p, end, &out, err);
    free(*heap);
    *heap = sw_buffer_take(&out, len_bytes);
    *text = *heap;
    return rc;
}
