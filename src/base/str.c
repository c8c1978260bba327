#include "base/base.h"

#include <string.h>

bool sw_streq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const char *sw_text_or(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

bool sw_starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool sw_ends_with(const char *s, const char *suffix)
{
    size_t ls = strlen(s), lx = strlen(suffix);
    return ls >= lx && memcmp(s + ls - lx, suffix, lx) == 0;
}

size_t sw_before_slashes(const char *text, size_t len, size_t least)
{
    while (len > least && text[len - 1] == '/')
        len--;
    return len;
}

uint64_t sw_fnv64a(const void *bytes, size_t len_bytes)
{
    const unsigned char *p = bytes;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < len_bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}
