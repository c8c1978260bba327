#pragma once
/* place: positions in a text by line and column, for messages. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** A position in a text. */
struct sw_place {
    int line;   /* from 1 */
    int column; /* from 1, in characters */
};

/** The place of byte @offset of UTF-8 text. */
struct sw_place sw_place_at(const char *text, size_t len_bytes, size_t offset);

/** Put "file:line:column: " in front of @err's message; @file may be NULL. @return @code */
int sw_place_wrap(struct sw_err *err, int code, const char *file, struct sw_place place);

/** Whether the text contains a backslash followed by @c. Fast for text without backslashes. */
bool sw_has_escape(const char *text, size_t len_bytes, char c);
