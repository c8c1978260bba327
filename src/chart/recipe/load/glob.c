#include "chart/recipe/load/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at *s, which moves past it. Bytes that are no UTF-8 stand for themselves. */
static uint32_t next_rune(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    size_t len = p[0] < 0xC0 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t rune = len == 1 ? p[0] : p[0] & (0xFFU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            *s += 1;
            return p[0];
        }
        rune = rune << 6 | (p[i] & 0x3FU);
    }
    *s += len;
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

/* @pattern stands behind '['; it moves behind ']'. */
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
    /* Where to go on when what follows the last '*' did not match: the '*' takes one more. */
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
