#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/reach/reach.h"

enum { V4_BITS = 96 }; /* of ::ffff:0:0/96 */

static bool bit_of(const struct in6_addr *address, unsigned i)
{
    return address->s6_addr[i / 8] >> (7 - i % 8) & 1;
}

static void clear_from(struct in6_addr *address, unsigned n_bits)
{
    for (unsigned i = n_bits; i < 128; i++)
        address->s6_addr[i / 8] &= (unsigned char)~(1U << (7 - i % 8));
}

static bool parse_address(const char *text, struct in6_addr *out, unsigned *most_bits)
{
    struct in_addr v4;
    *most_bits = 128;
    if (inet_pton(AF_INET6, text, out) == 1)
        return true;
    if (inet_pton(AF_INET, text, &v4) != 1)
        return false;
    *out = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
    memcpy(out->s6_addr + 12, &v4, sizeof v4);
    *most_bits = 32;
    return true;
}

bool sw_range_parse(const char *text, struct sw_range *out)
{
    struct sw_range range;
    const char *slash = strchr(text, '/');
    SW_AUTO_CHARS *address = sw_strndup(text, slash ? (size_t)(slash - text) : strlen(text));
    unsigned most, n = 0;
    if (!parse_address(address, &range.base, &most))
        return false;
    const char *digit = slash ? slash + 1 : "";
    for (; *digit >= '0' && *digit <= '9' && n <= most; digit++)
        n = n * 10 + (unsigned)(*digit - '0');
    if (slash && (*digit || digit == slash + 1 || n > most))
        return false;
    range.n_bits = (slash ? n : most) + 128 - most;
    clear_from(&range.base, range.n_bits);
    *out = range;
    return true;
}

bool sw_range_has(const struct sw_range *range, const struct in6_addr *address)
{
    for (unsigned i = 0; i < range->n_bits; i++)
        if (bit_of(&range->base, i) != bit_of(address, i))
            return false;
    return true;
}

char *sw_range_text(const struct sw_range *range)
{
    char text[INET6_ADDRSTRLEN];
    bool v4 = range->n_bits >= V4_BITS && IN6_IS_ADDR_V4MAPPED(&range->base);
    const void *address = v4 ? range->base.s6_addr + 12 : range->base.s6_addr;
    (void)inet_ntop(v4 ? AF_INET : AF_INET6, address, text, sizeof text);
    return sw_printf("%s/%u", text, range->n_bits - (v4 ? V4_BITS : 0));
}

/* ---- sets --------------------------------------------------------------------------------------
 */

void sw_ranges_done(struct sw_ranges *set)
{
    free(set->items);
    *set = (struct sw_ranges){ 0 };
}

bool sw_ranges_have(const struct sw_ranges *set, const struct in6_addr *address)
{
    for (size_t i = 0; i < set->n; i++)
        if (sw_range_has(&set->items[i], address))
            return true;
    return false;
}

/* The other half of a range that is twice as large. */
static bool is_sibling(const struct sw_range *a, const struct sw_range *b)
{
    struct sw_range whole = *a;
    if (a->n_bits != b->n_bits || a->n_bits == 0)
        return false;
    clear_from(&whole.base, --whole.n_bits);
    return sw_range_has(&whole, &b->base);
}

void sw_ranges_add(struct sw_ranges *set, struct sw_range range)
{
    for (size_t i = 0; i < set->n;) {
        struct sw_range *other = &set->items[i];
        if (other->n_bits <= range.n_bits && sw_range_has(other, &range.base))
            return;
        bool sibling = is_sibling(other, &range);
        if (!sibling && !(range.n_bits < other->n_bits && sw_range_has(&range, &other->base))) {
            i++;
            continue;
        }
        *other = set->items[--set->n];
        if (sibling) { /* the whole may have a sibling, too */
            clear_from(&range.base, --range.n_bits);
            i = 0;
        }
    }
    SW_GROW(set->items, set->n, set->cap);
    set->items[set->n++] = range;
}
