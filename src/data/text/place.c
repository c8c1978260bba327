#include "data/text/place.h"

#include <string.h>

struct sw_place sw_place_at(const char *text, size_t len_bytes, size_t offset)
{
    struct sw_place place = { .line = 1, .column = 1 };
    for (size_t i = 0; i < offset && i < len_bytes; i++) {
        if (text[i] == '\n')
            place = (struct sw_place){ .line = place.line + 1, .column = 1 };
        else if (((unsigned char)text[i] & 0xc0) != 0x80)
            place.column++;
    }
    return place;
}

int sw_place_wrap(struct sw_err *err, int code, const char *file, struct sw_place place)
{
    if (file)
        return sw_err_wrap(err, code, "%s:%d:%d", file, place.line, place.column);
    return sw_err_wrap(err, code, "%d:%d", place.line, place.column);
}

bool sw_has_escape(const char *text, size_t len_bytes, char c)
{
    const char *end = text + len_bytes;
    for (const char *p = text; p < end && (p = memchr(p, '\\', (size_t)(end - p)));) {
        p++;
        if (p < end && *p == c)
            return true;
    }
    return false;
}
