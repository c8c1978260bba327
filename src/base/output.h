#pragma once
/* output: what is printed, harmless to a terminal. Names and messages come from clusters, charts
 * and servers; what a terminal would act on (escape sequences, carriage returns, text that runs
 * backwards) is printed as "\u001b" instead, as JSON writes it. */
#include <stdbool.h>
#include <stddef.h>

struct printbuf;

/** Append @bytes to @out. As it is stays: UTF-8, tabs, line ends, and with @colours the sequences
 * of cli/view for colours. Else control characters, U+0080 to U+009F, and what changes the
 * direction of text become "\u009b"; bytes that are no UTF-8 become "\x9b". Pinned by
 * test/unit/base/base_output_test.c. */
void sw_output_put(struct printbuf *out, const char *bytes, size_t len_bytes, bool colours);

/** From now on all that is written to stdout and stderr goes through sw_output_put(). */
void sw_output_guard(void);
/** What is written to stdout from now on is a document or meant for a program: it goes out as it
 * is, unless stdout is a terminal. Until it is switched off. */
void sw_output_as_it_is(bool on);
/** Whether nothing has been written to stdout since sw_output_guard(). */
bool sw_output_is_empty(void);
/** What was last written to stderr: the last line that begins with "slipway", without the program's
 * name, and the lines after it. The caller's; "": nothing was. */
char *sw_output_last_message(void);
/** Before the program ends: write what is left of a character that is not complete. */
void sw_output_end(void);
