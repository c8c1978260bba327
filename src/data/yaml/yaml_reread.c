#include "data/yaml/yaml_reread.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/buffer.h"
#include "data/text/utf8.h"

static bool is_nel(const char *p, const char *end)
{
    return end - p > 1 && p[0] == '\xc2' && p[1] == '\x85';
}

/* Anything that JSON writes bare and YAML does not read so: DEL, C1, U+FFFE, U+FFFF, no UTF-8. */
static bool is_ordinary(const char *text, const char *end)
{
    for (const unsigned char *p = (const unsigned char *)text; p < (const unsigned char *)end; p++)
        if (*p >= 0x7f)
            return false;
    return true;
}

static bool is_refused(uint32_t rune)
{
    return rune == 0x7f || (rune >= 0x80 && rune < 0xa0 && rune != 0x85) || rune == 0xfffe ||
           rune == 0xffff;
}

static int check_runes(const char *text, const char *end, struct sw_err *err)
{
    while (text < end) {
        uint32_t rune;
        text += sw_utf8_decode(text, end, &rune, NULL);
        if (is_refused(rune))
            return sw_err_set(err, SW_INVALID, "yaml: control characters are not allowed: U+%04X",
                              rune);
    }
    return 0;
}

static bool is_marker(const char *p, const char *end)
{
    if (end - p < 4 || (memcmp(p, "---", 3) != 0 && memcmp(p, "...", 3) != 0))
        return false;
    return p[3] == ' ' || is_nel(p + 3, end);
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
            if (is_marker(q, end))
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

/* In "key": the ':' must be on the key's line and within 1024 characters. */
static int check_key(const char *text, const char *end, struct sw_err *err)
{
    bool long_key = end - text > 1024 / 6 && json_len(text, end) + 2 > 1024;
    if (!long_key && !memmem(text, (size_t)(end - text), "\xc2\x85", 2))
        return 0;
    return sw_err_set(err, SW_INVALID, "yaml: a key is %s",
                      long_key ? "longer than 1024 characters" : "longer than a line");
}

int sw_yaml_reread(const char **text, size_t *len_bytes, bool is_key, char **heap,
                   struct sw_err *err)
{
    const char *p = *text, *end = p + *len_bytes;
    if (is_key) {
        int rc = check_key(p, end, err);
        if (rc < 0)
            return rc;
    }
    if (is_ordinary(p, end))
        return 0;
    if (!sw_utf8_valid(p, *len_bytes)) {
        *heap = sw_utf8_mend(p, *len_bytes, len_bytes);
        *text = p = *heap;
        end = p + *len_bytes;
    }
    int rc = check_runes(p, end, err);
    if (rc < 0 || !memmem(p, *len_bytes, "\xc2\x85", 2))
        return rc;
    struct sw_buffer out = { 0 };
    rc = fold(p, end, &out, err);
    free(*heap);
    *heap = sw_buffer_take(&out, len_bytes);
    *text = *heap;
    return rc;
}
