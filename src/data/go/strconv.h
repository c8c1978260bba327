#pragma once
/* Numbers and quoted strings as Go's strconv reads and writes them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/text/percent.h" /* sw_hex_digit() */

struct sw_arena;
struct text;

/** As Go's strconv.FormatFloat(f, verb, prec, 64): verb one of e E f g G b x X; @prec -1: shortest.
 */
void sw_float_format(struct text *out, double f, char verb, int prec);

/** SW_QUOTE_ASCII: escape all that is not ASCII, as %+q does. */
enum sw_quote_flags { SW_QUOTE_ASCII = 1 };
/** strconv.Quote: in double quotes, with Go's escapes. */
void sw_quote(struct text *out, const char *s, size_t len, unsigned flags);
/** The same as a NUL-terminated string in @arena, without flags. */
const char *sw_quoted(struct sw_arena *arena, const char *s, size_t len);
/** The same as a string of the caller's. */
char *sw_quote_dup(const char *s, size_t len);
/** As package time quotes what it could not parse: bytes that are not ASCII as "\xe2". The
 * caller's. Source: Go 1.26 time, quote(). */
char *sw_time_quote_dup(const char *s, size_t len);
/** A rune in single quotes. */
void sw_quote_rune(struct text *out, uint32_t rune, unsigned flags);
/** strconv.CanBackquote */
bool sw_can_backquote(const char *s, size_t len);

/** strconv.Unquote of @s, which stands in double or back quotes. @out has room for three bytes for
 * each of @len.
 * @return bytes written, or -1: invalid syntax */
long sw_unquote(const char *s, size_t len, char *out);
/** strconv.UnquoteChar: one character or escape. @return bytes read, or -1 */
long sw_unquote_char(const char *s, size_t len, char quote, uint32_t *rune, bool *multibyte);

/** What is wrong with a number: strconv.ErrSyntax, strconv.ErrRange. */
enum sw_parse_error { SW_PARSE_OK, SW_PARSE_SYNTAX, SW_PARSE_RANGE };
/** strconv.ParseUint / ParseInt. Base 0: from the prefix, underscores allowed.
 * On SW_PARSE_RANGE @out holds the nearest value. */
enum sw_parse_error sw_parse_uint(const char *s, size_t len, int base, uint64_t *out);
/** The same for a number with a sign. */
enum sw_parse_error sw_parse_int(const char *s, size_t len, int base, int64_t *out);
/** strconv.ParseFloat(s, 64). */
enum sw_parse_error sw_parse_float(const char *s, size_t len, double *out);
