#include "data/text/cut.h"

#include <string.h>

#include "base/base.h"

char *sw_text_cut(const char *text, size_t most)
{
    static const char dots[] = "...";
    const size_t n_dots = sizeof dots - 1;
    if (strnlen(text, most + 1) <= most)
        return sw_strdup(text);
    size_t len = most > n_dots ? most - n_dots : 0;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return sw_printf("%.*s%s", (int)len, text, dots);
}
