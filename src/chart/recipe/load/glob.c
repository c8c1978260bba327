#include "chart/recipe/load/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/text/unicode.h"

/* The character at *s, which moves past it. */
static uint32_t next_rune(const char **s)
{
    uint32_t rune;
    *s += sw_rune_decode(*s, strnlen(*s, 4), &rune);
    return rune;
}

/* One end of a range in a class. */
static bool class_rune(const char **pattern, uint32_t *rune)
{
    if (**pattern == '-' || **pattern == ']' || !**pattern)
        return false;
    if (**pattern == '\\' && !*++*pattern)
        return false;
    *rune = next_rune(pattern);
    return **pattern != '\0'; /* the class must still be closed */
}

/* Match a class. @pattern is after '['; it moves to after ']'. */
static enum sw_glob match_class(const char **pattern, uint32_t rune)
{
    bool negated = **pattern == '^', found = false;
    *pattern += negated;
    for (size_t n = 0; **pattern != ']' || n == 0; n++) {
        uint32_t low, high;
        if (!class_rune(pattern, &low))
            return SW_GLOB_BAD;
        high = low;
        if (**pattern == '-') {
            ++*pattern;
            if (!class_rune(pattern, &high))
                return SW_GLOB_BAD;
        }
        found |= low <= rune && rune <= high;
    }
    ++*pattern;
    return found != negated ? SW_GLOB_YES : SW_GLOB_NO;
}

/* One item of the pattern, not '*', against the start of @name; both move past what matched. */
static enum sw_glob match_one(const char **pattern, const char **name)
{
    uint32_t rune = **name ? next_rune(name) : 0;
    if (**pattern == '[') {
        ++*pattern;
        enum sw_glob class = match_class(pattern, rune);
        return class == SW_GLOB_YES && (rune == 0 || rune == '/') ? SW_GLOB_NO : class;
    }
    if (**pattern == '?') {
        ++*pattern;
        return rune != 0 && rune != '/' ? SW_GLOB_YES : SW_GLOB_NO;
    }
    if (**pattern == '\\' && !*++*pattern)
        return SW_GLOB_BAD;
    return next_rune(pattern) == rune && rune != 0 ? SW_GLOB_YES : SW_GLOB_NO;
}

enum sw_glob sw_recipe_glob(const char *pattern, const char *name)
{
    /* where to try again when the rest after the last '*' did not match: '*' takes one more */
    const char *retry_pattern = NULL, *retry_name = NULL;
    while (*pattern || *name) {
        if (*pattern == '*') {
            retry_pattern = ++pattern;
            retry_name = name;
            continue;
        }
        if (*pattern) {
            enum sw_glob one = match_one(&pattern, &name);
            if (one == SW_GLOB_BAD)
                return one;
            if (one == SW_GLOB_YES)
                continue;
        }
        if (!retry_pattern || !*retry_name || *retry_name == '/')
            return SW_GLOB_NO;
        (void)next_rune(&retry_name);
        pattern = retry_pattern;
        name = retry_name;
    }
    return SW_GLOB_YES;
}
