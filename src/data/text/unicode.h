#pragma once
/* unicode: the two character classes that orders and patterns need. */
#include <stdbool.h>
#include <stdint.h>

/** Go's unicode.IsLetter (categories L*) and unicode.IsDigit (Nd), Unicode 15.0. */
bool sw_unicode_is_letter(uint32_t rune);
bool sw_unicode_is_digit(uint32_t rune);
