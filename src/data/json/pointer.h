#pragma once
/* pointer: JSON pointers (RFC 6901), split into their tokens. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** A parsed JSON pointer; sw_pointer_done() frees it. */
struct sw_pointer {
    char **tokens; /* unescaped, owned */
    size_t n, cap;
};

/** Split a JSON pointer into its tokens. @out is untouched after an error.
 * @return 0 | SW_INVALID: @text is not empty and does not begin with '/', or has a '~' that is not
 * "~0" or "~1" */
int sw_pointer_parse(const char *text, struct sw_pointer *out, struct sw_err *err);
/** Free the tokens. */
void sw_pointer_done(struct sw_pointer *pointer);

/** Read a token as the index of a list's element: digits without leading zeros.
 * @return false: @token is not an index */
bool sw_pointer_index(const char *token, size_t *index);
