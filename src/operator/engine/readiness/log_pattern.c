/* Log patterns are Go's regular expressions in SRO's recipes and POSIX extended ones here: what the
 * two write differently is translated, and what could take the controller's time or memory is
 * refused. */
#include <stdlib.h>
#include <string.h>

#include <json-c/printbuf.h>

#include "base/base.h"
#include "operator/engine/readiness/log_pattern.h"

#define MAX_PATTERN 512
#define MAX_INTERVALS 2
#define MAX_REPEATS 1000 /* of all intervals together: each repetition is a copy */

/* What \d and the like are outside and inside of brackets. */
static const struct {
    char letter;
    const char *outside, *inside;
} classes[] = {
    { 'd', "[0-9]", "0-9" },
    { 'D', "[^0-9]", NULL },
    { 's', "[[:space:]]", "[:space:]" },
    { 'S', "[^[:space:]]", NULL },
    { 'w', "[[:alnum:]_]", "[:alnum:]_" },
    { 'W', "[^[:alnum:]_]", NULL },
};

/* The larger bound of the interval at @text. */
static unsigned long bound_of(const char *text)
{
    char *end;
    unsigned long low = strtoul(text + 1, &end, 10);
    unsigned long high = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
    return high > low ? high : low;
}

/* @return what is wrong, or NULL. */
static const char *rewrite(const char *text, struct printbuf *out)
{
    bool inside = false;
    int intervals = 0;
    unsigned long repeats = 1;
    for (const char *c = text; *c; c++) {
        if (*c == '\\') {
            const char *instead = NULL;
            c++;
            for (size_t i = 0; i < SW_COUNT(classes); i++)
                if (classes[i].letter == *c)
                    instead = inside ? classes[i].inside : classes[i].outside;
            if (*c == '\0')
                return "ends in a backslash";
            if (!inside && *c >= '1' && *c <= '9')
                return "has a back-reference";
            if (instead)
                sprintbuf(out, "%s", instead);
            else
                sprintbuf(out, inside ? "%c" : "\\%c", *c);
            continue;
        }
        inside = *c == '[' || (inside && *c != ']');
        if (!inside && *c == '{') {
            unsigned long bound = bound_of(c);
            if (++intervals > MAX_INTERVALS)
                return "has too many {...}";
            if (bound > MAX_REPEATS || (repeats *= bound ? bound : 1) > MAX_REPEATS)
                return "has a {...} that is too large";
        }
        sprintbuf(out, "%c", *c);
    }
    return NULL;
}

int pattern_compile(const char *text, regex_t *out, struct sw_err *err)
{
    struct printbuf *posix = printbuf_new();
    if (!posix)
        abort();
    const char *fault = strlen(text) > MAX_PATTERN ? "is too long" : rewrite(text, posix);
    char why[128];
    if (!fault) {
        int rc = regcomp(out, posix->buf, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
        if (rc) {
            regerror(rc, out, why, sizeof why);
            fault = why;
        }
    }
    printbuf_free(posix);
    return fault ? sw_err_set(err, SW_INVALID, "'%s': %s", text, fault) : 0;
}
