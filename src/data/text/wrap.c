#include "data/text/wrap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* How many columns @len bytes take: characters of UTF-8, of one column each. */
static size_t width(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void sw_text_wrap(FILE *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*(text += strspn(text, " \n"))) {
        size_t len = strcspn(text, " \n"), wide = width(text, len);
        if (!first && column + 1 + wide > SW_WRAP_COLUMNS) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        (void)fprintf(out, "%s%.*s", first ? "" : " ", (int)len, text);
        column += wide + !first;
        first = false;
        text += len;
    }
    (void)fputc('\n', out);
}

/* Is any line of the paragraph, which is @len bytes long, indented? */
static bool is_laid_out(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == ' ' && (i == 0 || text[i - 1] == '\n'))
            return true;
    return false;
}

void sw_text_wrap_all(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        SW_AUTO_CHARS *paragraph = sw_strndup(text, len);
        if (is_laid_out(text, len)) {
            char *rest = NULL;
            for (char *line = strtok_r(paragraph, "\n", &rest); line;
                 line = strtok_r(NULL, "\n", &rest)) {
                size_t indent = strspn(line, " ");
                (void)fprintf(out, "%*s", (int)indent, "");
                if (width(line, strlen(line)) > SW_WRAP_COLUMNS)
                    sw_text_wrap(out, line, indent, indent + 4);
                else
                    (void)fprintf(out, "%s\n", line + indent);
            }
        } else {
            sw_text_wrap(out, paragraph, 0, 0);
        }
        text += len;
        text += strspn(text, "\n");
        if (*text)
            (void)fputc('\n', out);
    }
}
