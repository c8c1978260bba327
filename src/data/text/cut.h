#pragma once
/* cut: texts of others that are passed on have a bearable length. */
#include <stddef.h>

/** @text, or its beginning with "..." where it has more than @most bytes; no character of UTF-8 is
 * cut in two. Heap, the caller's. */
char *sw_text_cut(const char *text, size_t most);
/** The last line of @text that is not blank, with blanks for control characters, and cut as by
 * sw_text_cut(). Heap; NULL: there is none. */
char *sw_text_last_line(const char *text, size_t most);
/** What the end of a log says of a failure: its last line, as sw_text_last_line(), and before it,
 * with " ... " between them, the first of the 20 lines before that names a cause ("Unable to find a
 * match: kernel-devel", where the last is "error: build error"). Each is cut to @most bytes. Heap;
 * NULL: there is no line. Pinned by test/unit/data/data_cut_test.c. */
char *sw_text_failure(const char *text, size_t most);
