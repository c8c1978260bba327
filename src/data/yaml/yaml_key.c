/* The order in which yaml.v2 prints a map's keys. Source: yaml.v2 2.4.0, sorter.go. */
#include "data/text/unicode.h"
#include "data/text/utf8.h"
#include "data/yaml/yaml.h"

/* The value of the run of digits at @p (wrapping, as Go's int64), moving @p past it. */
static int64_t read_run(const char **p, const char *end, int64_t value, size_t *n_digits)
{
    while (*p < end) {
        uint32_t rune;
        size_t n = sw_utf8_decode(*p, end, &rune, NULL);
        if (!sw_rune_is_digit(rune))
            break;
        value = (int64_t)((uint64_t)value * 10 + (uint64_t)(int64_t)((int32_t)rune - '0'));
        *p += n;
        ++*n_digits;
    }
    return value;
}

/* Whether the digits right before @p, back to @text, are a number other than zero: then a '0' that
 * follows is one of its digits, not a leading zero. */
static bool after_nonzero(const char *text, const char *p)
{
    while (p > text) {
        const char *back = p;
        do
            back--;
        while (back > text && ((unsigned char)*back & 0xc0) == 0x80);
        uint32_t rune;
        (void)sw_utf8_decode(back, p, &rune, NULL);
        if (!sw_rune_is_digit(rune))
            return false;
        if (rune != '0')
            return true;
        p = back;
    }
    return false;
}

/* Both texts are the same up to @pa and @pb, where the runes @ra and @rb differ. */
static int compare_rest(const char *text, const char *pa, const char *a_end, uint32_t ra,
                        const char *pb, const char *b_end, uint32_t rb)
{
    bool a_letter = sw_rune_is_letter(ra), b_letter = sw_rune_is_letter(rb);
    int by_rune = ra < rb ? -1 : 1;
    if (a_letter && b_letter)
        return by_rune;
    if (a_letter || b_letter)
        return b_letter ? -1 : 1;
    int64_t lead = (ra == '0' || rb == '0') && after_nonzero(text, pa);
    size_t a_digits = 0, b_digits = 0;
    int64_t a_value = read_run(&pa, a_end, lead, &a_digits);
    int64_t b_value = read_run(&pb, b_end, lead, &b_digits);
    if (a_value != b_value)
        return a_value < b_value ? -1 : 1;
    if (a_digits != b_digits)
        return a_digits < b_digits ? -1 : 1;
    return by_rune;
}

int sw_yaml_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const char *pa = a, *pb = b, *a_end = a + a_len, *b_end = b + b_len;
    while (pa < a_end && pb < b_end) {
        uint32_t ra, rb;
        size_t na = sw_utf8_decode(pa, a_end, &ra, NULL);
        size_t nb = sw_utf8_decode(pb, b_end, &rb, NULL);
        if (ra != rb)
            return compare_rest(a, pa, a_end, ra, pb, b_end, rb);
        pa += na;
        pb += nb;
    }
    return (pa < a_end) - (pb < b_end);
}
