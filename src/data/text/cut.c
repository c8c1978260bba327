#include "data/text/cut.h"

#include <ctype.h>
#include <stdlib.h>
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

static bool names_cause(const char *line, size_t len)
{
    static const char *const marks[] = { "error:",  "fatal",     "panic:",        "unable to",
                                         "no such", "not found", "no match",      "could not",
                                         "denied",  "undefined", "out of memory", "no space",
                                         "cannot ", "can't ",    "killed",        "refused" };
    SW_AUTO_CHARS *lower = sw_strndup(line, len);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (size_t i = 0; i < SW_COUNT(marks); i++)
        if (strstr(lower, marks[i]))
            return true;
    return false;
}

char *sw_text_failure(const char *text, size_t most)
{
    enum { LINES = 20 };
    char *last = sw_text_last_line(text, most);
    size_t end = strlen(text);
    const char *cause = NULL;
    size_t cause_len = 0;
    while (end && isspace((unsigned char)text[end - 1]))
        end--;
    for (int n = 0; end && n <= LINES; n++) {
        size_t begin = end;
        while (begin && text[begin - 1] != '\n' && text[begin - 1] != '\r')
            begin--;
        if (n > 0 && names_cause(text + begin, end - begin)) { /* the last line is shown anyway */
            cause = text + begin;
            cause_len = end - begin;
        }
        end = begin ? begin - 1 : 0;
    }
    if (!cause)
        return last;
    SW_AUTO_CHARS *line = sw_strndup(cause, cause_len);
    SW_AUTO_CHARS *first = sw_text_last_line(line, most);
    if (!first || sw_streq(first, last))
        return last;
    char *both = sw_printf("%s ... %s", first, last);
    free(last);
    return both;
}
