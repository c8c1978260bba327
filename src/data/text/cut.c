#include "data/text/cut.h"

#include <ctype.h>
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

char *sw_text_last_line(const char *text, size_t most)
{
    size_t end = strlen(text);
    while (end && isspace((unsigned char)text[end - 1]))
        end--;
    size_t begin = end;
    while (begin && text[begin - 1] != '\n' && text[begin - 1] != '\r')
        begin--;
    if (begin == end)
        return NULL;
    SW_AUTO_CHARS *line = sw_strndup(text + begin, end - begin);
    char *cut = sw_text_cut(line, most);
    for (char *c = cut; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return cut;
}
