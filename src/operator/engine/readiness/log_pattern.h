#pragma once
#include <regex.h>

#include "base/base.h"

/** A regular expression for the end of a log. @return 0: @out is the caller's to regfree() |
 * SW_INVALID: what is wrong with it */
int pattern_compile(const char *text, regex_t *out, struct sw_err *err) SW_CHECKED;
