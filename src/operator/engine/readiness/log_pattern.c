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
#define MAX_SIZE 4000    /* characters, with all copies: "a+" is "aa*", "(a+)+" twice that */
#define MAX_DEPTH 32     /* of groups */

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

/* How large the pattern is once its repetitions are copies. */
struct size {
    unsigned long total[MAX_DEPTH], last; /* of each group that is open, of what came last */
    int depth;
};

static const char *repeat(struct size *s, unsigned long times)
{
    if (__builtin_mul_overflow(s->last, times, &s->last) || s->last > MAX_SIZE)
        return "is too large, with its repetitions";
    s->total[s->depth] += s->last;
    return s->total[s->depth] > MAX_SIZE ? "is too large, with its repetitions" : NULL;
}

static const char *open_group(struct size *s)
{
    if (++s->depth == MAX_DEPTH)
        return "has too many groups in each other";
    s->total[s->depth] = 0;
    return NULL;
}

static void close_group(struct size *s)
{
    if (s->depth == 0)
        return; /* the compiler says what is wrong */
    s->last = s->total[s->depth--];
    s->total[s->depth] += s->last;
}

/* What the character @c, which is not escaped and not inside of brackets, adds. */
static const char *measure(struct size *s, const char *c, unsigned long bound)
{
    switch (*c) {
    case '(':
        return open_group(s);
    case ')':
        close_group(s);
        return NULL;
    case '+':
        return repeat(s, 2);
    case '{':
        return repeat(s, bound ? bound : 1);
    case '*':
    case '?':
        return NULL;
    default:
        s->last = 1;
        s->total[s->depth]++;
        return NULL;
    }
}

/* What came last, where a repetition may follow. */
enum last { ONCE, REPEATED, LAZILY };

/* As in Go, a repetition is not repeated ("a**"), but for a "?" behind it, which says that as
 * little as possible is to match: whether it matches is the same without. @c is not inside of
 * brackets.
 * @return what is wrong, or NULL; @drop: @c is such a "?" */
static const char *check_repetition(enum last *last, const char *c, bool *drop)
{
    const bool repeats = strchr("*+?", *c) || (*c == '{' && c[1] >= '0' && c[1] <= '9');
    *drop = *c == '?' && *last == REPEATED;
    if (!repeats)
        *last = *c == '{' || *c == '}' ? *last : ONCE;
    else if (*last == ONCE)
        *last = REPEATED;
    else if (*drop)
        *last = LAZILY;
    else
        return "repeats a repetition";
    return NULL;
}

/* @return what is wrong, or NULL. */
static const char *rewrite(const char *text, struct printbuf *out)
{
    bool inside = false, drop = false, in_interval = false;
    enum last last = ONCE;
    int intervals = 0;
    unsigned long repeats = 1;
    struct size size = { 0 };
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
            size.last = 1;
            size.total[size.depth] += !inside;
            last = ONCE;
            continue;
        }
        const bool was_inside = inside;
        inside = *c == '[' || (inside && *c != ']');
        if (!inside && !was_inside) {
            const char *fault = in_interval ? NULL : check_repetition(&last, c, &drop);
            in_interval = *c == '{' || (in_interval && *c != '}');
            if (fault)
                return fault;
            if (drop) {
                drop = false;
                continue;
            }
        } else {
            last = ONCE;
        }
        if (!inside && *c == '{') {
            unsigned long bound = bound_of(c);
            if (++intervals > MAX_INTERVALS)
                return "has too many {...}";
            if (bound > MAX_REPEATS || (repeats *= bound ? bound : 1) > MAX_REPEATS)
                return "has a {...} that is too large";
        }
        const char *fault = was_inside ? NULL : measure(&size, c, *c == '{' ? bound_of(c) : 0);
        if (fault)
            return fault;
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
