#pragma once
/* pointer: the parts of a JSON pointer. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct sw_pointer {
    char **tokens; /* unescaped, owned */
    size_t n, cap;
};

/** @return 0 | SW_INVALID: not empty and not beginning with '/', or a bad '~' */
int sw_pointer_parse(const char *text, struct sw_pointer *out, struct sw_err *err);
void sw_pointer_done(struct sw_pointer *pointer);

/** A token as a list's index: digits without leading zeros. @return false: it is none */
bool sw_pointer_index(const char *token, size_t *index);
