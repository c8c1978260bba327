#pragma once
/* place: where in a text something is, for messages. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct sw_place {
    int line;   /* from 1 */
    int column; /* from 1, in characters */
};

/** The place of byte @offset of UTF-8 text. */
struct sw_place sw_place_at(const char *text, size_t len_bytes, size_t offset);

/** Put "file:line:column: " in front of @err's words (@file may be NULL). @return @code. */
int sw_place_wrap(struct sw_err *err, int code, const char *file, struct sw_place place);

/** Whether a backslash before @c is anywhere in the text: most have no backslash at all. */
bool sw_has_escape(const char *text, size_t len_bytes, char c);
