#pragma once
/* cut: texts of others that are passed on have a bearable length. */
#include <stddef.h>

/** @text, or its beginning with "..." where it has more than @most bytes; no character of UTF-8 is
 * cut in two. Heap, the caller's. */
char *sw_text_cut(const char *text, size_t most);
/** The last line of @text that is not blank, with blanks for control characters, and cut as by
 * sw_text_cut(). Heap; NULL: there is none. */
char *sw_text_last_line(const char *text, size_t most);
