#pragma once
/* Runes: UTF-8 as Go decodes it, and the classes and cases of Unicode 15.0.0, which Go has. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/text/utf8.h" /* SW_RUNE_ERROR, sw_utf8_valid(), sw_utf8_encode() */

#define SW_RUNE_MAX 0x10FFFF

/** Runes from @lo to @hi. */
struct sw_rune_range {
    uint32_t lo, hi;
};

/** A set of runes: sorted ranges that do not touch. */
struct sw_rune_class {
    const char *name;
    const struct sw_rune_range *ranges;
    size_t n;
    const struct sw_rune_range
        *alternating; /* of these every second rune is in it, @lo and @hi are */
    size_t n_alternating;
};

/** @lo..@hi, every @stride-th, move by @delta. */
struct sw_rune_shift {
    uint32_t lo, hi;
    int32_t delta;
    uint32_t stride;
};

/** The next rune in a circle of runes that fold to the same one. */
struct sw_rune_orbit {
    uint32_t rune, next;
};

/* unicode_tables.c */
/** The general categories ("Lu"; not their groups, such as "L"), then the scripts ("Greek"). */
extern const struct sw_rune_class sw_rune_classes[];
/** All of them; the categories, which are the first. */
extern const size_t sw_rune_classes_n, sw_rune_categories_n;
/** Letters: lower case, modifiers, other, title case, upper case. */
extern const struct sw_rune_class sw_rune_ll, sw_rune_lm, sw_rune_lo, sw_rune_lt, sw_rune_lu;
/** Decimal digits. */
extern const struct sw_rune_class sw_rune_nd;
/** The cases of runes, sorted; title case only where it is not upper case. */
extern const struct sw_rune_shift sw_rune_to_upper[], sw_rune_to_lower[], sw_rune_to_title[];
/** How many rows these have. */
extern const size_t sw_rune_to_upper_n, sw_rune_to_lower_n, sw_rune_to_title_n;
/** What the case tables do not give of folding, sorted by rune. */
extern const struct sw_rune_orbit sw_rune_orbits[];
/** How many rows it has. */
extern const size_t sw_rune_orbits_n;

/** The rune at the start of @s. An invalid byte is SW_RUNE_ERROR of width 1; an empty @s, width 0.
 * @return the width */
size_t sw_rune_decode(const char *s, size_t len, uint32_t *rune);
/** The last rune of @s, likewise. */
size_t sw_rune_decode_last(const char *s, size_t len, uint32_t *rune);
/** Runes in @s, an invalid byte counting as one. */
size_t sw_rune_count(const char *s, size_t len);
/** Where rune number @n begins, or @len. */
size_t sw_rune_offset(const char *s, size_t len, size_t n);

/** Whether @rune is in @class. */
bool sw_rune_in(uint32_t rune, const struct sw_rune_class *class);
/** Go's unicode.IsLetter. */
bool sw_rune_is_letter(uint32_t rune);
/** Go's unicode.IsDigit. */
bool sw_rune_is_digit(uint32_t rune);
/** Go's unicode.IsUpper. */
bool sw_rune_is_upper(uint32_t rune);
/** Go's unicode.IsLower. */
bool sw_rune_is_lower(uint32_t rune);
/** Go's unicode.IsSpace. */
bool sw_rune_is_space(uint32_t rune);
/** Go's unicode.IsPrint: graphic characters and the ASCII space. */
bool sw_rune_is_print(uint32_t rune);
/** Go's unicode.ToUpper. */
uint32_t sw_rune_upper_of(uint32_t rune);
/** Go's unicode.ToLower. */
uint32_t sw_rune_lower_of(uint32_t rune);
/** Go's unicode.ToTitle. */
uint32_t sw_rune_title_of(uint32_t rune);
/** Go's unicode.SimpleFold: the next larger rune that folds alike, or the smallest. */
uint32_t sw_rune_fold(uint32_t rune);
/** Whether @rune is in a category of a group: 'L' for "Lu", "Ll", ... */
bool sw_rune_in_group(uint32_t rune, char group);
