#include "data/text/unicode.h"

#include <string.h>

size_t sw_rune_decode(const char *s, size_t len, uint32_t *rune)
{
    *rune = SW_RUNE_ERROR;
    return len ? sw_utf8_decode(s, s + len, rune, NULL) : 0;
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

/* The range that @rune is in, or NULL. */
static const struct sw_rune_range *find(const struct sw_rune_range *ranges, size_t n, uint32_t rune)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (rune > ranges[mid].hi)
            lo = mid + 1;
        else if (rune < ranges[mid].lo)
            hi = mid;
        else
            return &ranges[mid];
    }
    return NULL;
}

bool sw_rune_in(uint32_t rune, const struct sw_rune_class *class)
{
    if (find(class->ranges, class->n, rune))
        return true;
    const struct sw_rune_range *r = find(class->alternating, class->n_alternating, rune);
    return r && (rune - r->lo) % 2 == 0;
}

bool sw_rune_in_group(uint32_t rune, char group)
{
    for (size_t i = 0; i < sw_rune_categories_n; i++) {
        if (sw_rune_classes[i].name[0] == group && sw_rune_in(rune, &sw_rune_classes[i]))
            return true;
    }
    return false;
}

bool sw_rune_is_letter(uint32_t r)
{
    if (r < 0x80)
        return (r | 0x20) >= 'a' && (r | 0x20) <= 'z';
    return sw_rune_in(r, &sw_rune_lo) || sw_rune_in(r, &sw_rune_ll) || sw_rune_in(r, &sw_rune_lu) ||
           sw_rune_in(r, &sw_rune_lm) || sw_rune_in(r, &sw_rune_lt);
}

bool sw_rune_is_digit(uint32_t r)
{
    return r < 0x80 ? r >= '0' && r <= '9' : sw_rune_in(r, &sw_rune_nd);
}

bool sw_rune_is_upper(uint32_t r)
{
    return r < 0x80 ? r >= 'A' && r <= 'Z' : sw_rune_in(r, &sw_rune_lu);
}

bool sw_rune_is_lower(uint32_t r)
{
    return r < 0x80 ? r >= 'a' && r <= 'z' : sw_rune_in(r, &sw_rune_ll);
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
    for (size_t i = 0; i < sw_rune_categories_n; i++) {
        char group = sw_rune_classes[i].name[0];
        if (group != 'C' && group != 'Z' && sw_rune_in(r, &sw_rune_classes[i]))
            return true;
    }
    return false;
}

/* Where the table moves @r to. @return false: it does not have @r, *@to is @r */
static bool shift(uint32_t r, const struct sw_rune_shift *table, size_t n, uint32_t *to)
{
    size_t lo = 0, hi = n;
    *to = r;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct sw_rune_shift *s = &table[mid];
        if (r > s->hi) {
            lo = mid + 1;
        } else if (r < s->lo) {
            hi = mid;
        } else {
            bool has = (r - s->lo) % s->stride == 0;
            *to = has ? r + (uint32_t)s->delta : r;
            return has;
        }
    }
    return false;
}

uint32_t sw_rune_upper_of(uint32_t r)
{
    if (r < 0x80)
        return r >= 'a' && r <= 'z' ? r - 32 : r;
    (void)shift(r, sw_rune_to_upper, sw_rune_to_upper_n, &r);
    return r;
}

uint32_t sw_rune_lower_of(uint32_t r)
{
    if (r < 0x80)
        return r >= 'A' && r <= 'Z' ? r + 32 : r;
    (void)shift(r, sw_rune_to_lower, sw_rune_to_lower_n, &r);
    return r;
}

uint32_t sw_rune_title_of(uint32_t r)
{
    uint32_t title;
    return shift(r, sw_rune_to_title, sw_rune_to_title_n, &title) ? title : sw_rune_upper_of(r);
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
