/* Patterns of schemas are RE2, those of the C library POSIX. The differences that matter in CRDs
 * are escapes and groups; they are translated. */
#include <json-c/printbuf.h>
#include <regex.h>
#include <string.h>

#include "base/base.h"
#include "data/cel/pattern.h"

static const struct {
    char letter;
    const char *set; /* its characters, inside brackets */
} classes[] = {
    { 'd', "0-9" },
    { 'w', "A-Za-z0-9_" },
    { 's', " \t\n\r\f" },
};

static const char *class_of(char letter)
{
    for (size_t i = 0; i < SW_COUNT(classes); i++)
        if (classes[i].letter == letter)
            return classes[i].set;
    return NULL;
}

/* Translate a bracket expression; @p is after its '['. In POSIX a backslash is no escape there: ']'
 * has to come first and '-' last. @return the text after it; NULL: it does not end */
static const char *translate_brackets(const char *p, struct printbuf *out)
{
    struct printbuf *set = printbuf_new();
    bool closing = false, dash = false, negated = *p == '^';
    p += negated;
    for (bool first = true; *p && (*p != ']' || first); p++, first = false) {
        if (*p != '\\') {
            if (*p == ']')
                closing = true;
            else
                printbuf_memappend_fast(set, p, 1);
            continue;
        }
        if (!*++p)
            break;
        const char *class = class_of(*p);
        if (class)
            printbuf_memappend(set, class, (int)strlen(class));
        else if (*p == ']')
            closing = true;
        else if (*p == '-')
            dash = true;
        else
            printbuf_memappend_fast(set, p, 1);
    }
    sprintbuf(out, "[%s%s%.*s%s]", negated ? "^" : "", closing ? "]" : "", set->bpos, set->buf,
              dash ? "-" : "");
    printbuf_free(set);
    return *p == ']' ? p + 1 : NULL;
}

/* Translate an escape; @c follows the backslash. */
static void translate_escape(char c, struct printbuf *out)
{
    const char *class = class_of(c), *upper = class_of((char)(c | 0x20));
    if (class)
        sprintbuf(out, "[%s]", class);
    else if (upper && c >= 'A' && c <= 'Z')
        sprintbuf(out, "[^%s]", upper);
    else if (c == 'A' || c == 'z')
        printbuf_memappend_fast(out, c == 'A' ? "^" : "$", 1);
    else
        sprintbuf(out, "\\%c", c);
}

/* The POSIX pattern; NULL: there is none. */
static char *translate(const char *p)
{
    struct printbuf *out = printbuf_new();
    while (p && *p) {
        if (*p == '[') {
            p = translate_brackets(p + 1, out);
        } else if (*p == '\\' && p[1]) {
            translate_escape(p[1], out);
            p += 2;
        } else if (strncmp(p, "(?:", 3) == 0) {
            printbuf_memappend_fast(out, "(", 1);
            p += 3;
        } else if (strncmp(p, "(?", 2) == 0) {
            p = NULL; /* look-ahead, flags: not in POSIX */
        } else {
            bool lazy = strchr("*+?}", *p) && p[1] == '?';
            printbuf_memappend_fast(out, p, 1);
            p += lazy ? 2 : 1;
        }
    }
    char *text = p ? sw_strndup(out->buf, (size_t)out->bpos) : NULL;
    printbuf_free(out);
    return text;
}

bool sw_pattern_matches(const char *pattern, const char *text)
{
    regex_t regex;
    SW_AUTO_CHARS *posix = translate(pattern);
    if (!posix || regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB) != 0)
        return true;
    bool matches = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return matches;
}
