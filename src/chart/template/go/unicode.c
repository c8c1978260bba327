#include "chart/template/go/unicode.h"

#include <string.h>

size_t sw_rune_decode(const char *str, size_t len, uint32_t *rune)
{
    const unsigned char *s = (const unsigned char *)str;
    *rune = SW_RUNE_ERROR;
    if (len == 0)
        return 0;
    unsigned char c = s[0];
    if (c < 0x80) {
        *rune = c;
        return 1;
    }
    size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || len < n)
        return 1;
    uint32_t r = c & (0x7F >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 1;
        r = r << 6 | (s[i] & 0x3F);
    }
    if ((n == 3 && (r < 0x800 || (r >= 0xD800 && r <= 0xDFFF))) ||
        (n == 4 && (r < 0x10000 || r > SW_RUNE_MAX)))
        return 1;
    *rune = r;
    return n;
}

size_t sw_rune_decode_last(const char *s, size_t len, uint32_t *rune)
{
    if (len == 0) {
        *rune = SW_RUNE_ERROR;
        return 0;
    }
    for (size_t back = 1; back <= 4 && back <= len; back++) {
        if (((unsigned char)s[len - back] & 0xC0) == 0x80)
            continue;
        if (sw_rune_decode(s + len - back, back, rune) == back)
            return back;
        break;
    }
    *rune = SW_RUNE_ERROR;
    return 1;
}

size_t sw_rune_count(const char *s, size_t len)
{
    size_t n = 0;
    uint32_t r;
    for (size_t i = 0; i < len; n++)
        i += (unsigned char)s[i] < 0x80 ? 1 : sw_rune_decode(s + i, len - i, &r);
    return n;
}

size_t sw_rune_offset(const char *s, size_t len, size_t n)
{
    size_t i = 0;
    uint32_t r;
    for (; i < len && n > 0; n--)
        i += sw_rune_decode(s + i, len - i, &r);
    return i;
}

bool sw_rune_in(uint32_t rune, const struct sw_rune_class *class)
{
    size_t lo = 0, hi = class->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (rune > class->ranges[mid].hi)
            lo = mid + 1;
        else if (rune < class->ranges[mid].lo)
            hi = mid;
        else
            return true;
    }
    return false;
}

bool sw_rune_is_letter(uint32_t r)
{
    if (r < 0x80)
        return (r | 0x20) >= 'a' && (r | 0x20) <= 'z';
    return sw_rune_in(r, &sw_rune_letter);
}

bool sw_rune_is_digit(uint32_t r)
{
    if (r < 0x80)
        return r >= '0' && r <= '9';
    return sw_rune_in(r, &sw_rune_digit);
}

bool sw_rune_is_upper(uint32_t r)
{
    if (r < 0x80)
        return r >= 'A' && r <= 'Z';
    return sw_rune_in(r, &sw_rune_upper);
}

bool sw_rune_is_lower(uint32_t r)
{
    if (r < 0x80)
        return r >= 'a' && r <= 'z';
    return sw_rune_in(r, &sw_rune_lower);
}

bool sw_rune_is_space(uint32_t r)
{
    switch (r) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case ' ':
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
        return true;
    default:
        return r >= 0x2000 && r <= 0x200A;
    }
}

bool sw_rune_is_print(uint32_t r)
{
    if (r < 0x80)
        return r >= 0x20 && r < 0x7F;
    return sw_rune_in(r, &sw_rune_print);
}

static uint32_t shifted(uint32_t r, const struct sw_rune_shift *table, size_t n)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct sw_rune_shift *s = &table[mid];
        if (r > s->hi)
            lo = mid + 1;
        else if (r < s->lo)
            hi = mid;
        else
            return (r - s->lo) % s->stride == 0 ? r + (uint32_t)s->delta : r;
    }
    return r;
}

uint32_t sw_rune_upper_of(uint32_t r)
{
    if (r < 0x80)
        return r >= 'a' && r <= 'z' ? r - 32 : r;
    return shifted(r, sw_rune_to_upper, sw_rune_to_upper_n);
}

uint32_t sw_rune_lower_of(uint32_t r)
{
    if (r < 0x80)
        return r >= 'A' && r <= 'Z' ? r + 32 : r;
    return shifted(r, sw_rune_to_lower, sw_rune_to_lower_n);
}

uint32_t sw_rune_title_of(uint32_t r)
{
    if (r < 0x80)
        return r >= 'a' && r <= 'z' ? r - 32 : r;
    return shifted(r, sw_rune_to_title, sw_rune_to_title_n);
}

uint32_t sw_rune_fold(uint32_t r)
{
    size_t lo = 0, hi = sw_rune_orbits_n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (sw_rune_orbits[mid].rune == r)
            return sw_rune_orbits[mid].next;
        if (sw_rune_orbits[mid].rune < r)
            lo = mid + 1;
        else
            hi = mid;
    }
    uint32_t l = sw_rune_lower_of(r);
    return l != r ? l : sw_rune_upper_of(r);
}

const struct sw_rune_class *sw_rune_class_find(const char *name, size_t len)
{
    size_t lo = 0, hi = sw_rune_classes_n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const char *have = sw_rune_classes[mid].name;
        size_t have_len = strlen(have); /* @name may hold NULs */
        int c = memcmp(name, have, len < have_len ? len : have_len);
        if (c == 0)
            c = (len > have_len) - (len < have_len);
        if (c == 0)
            return &sw_rune_classes[mid];
        if (c > 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}
