#pragma once
/* Regular expressions as Go's regexp has them (RE2's syntax, Perl's leftmost-first choice), in time
 * linear in the text: no expression hangs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct sw_regex;

/** @return 0 | SW_INVALID: "error parsing regexp: missing closing ): `(`", as in Go.
 * Source: Go's regexp/syntax documentation. Pinned by test/unit/chart/template_regex_test.c. */
int sw_regex_compile(const char *expr, size_t len, struct sw_regex **out,
                     struct sw_err *err) SW_CHECKED;
/** @re may be NULL. */
void sw_regex_free(struct sw_regex *re);
SW_DEFINE_AUTO(sw_regex, sw_regex_free)

/** Groups, the whole match included. */
size_t sw_regex_n_groups(const struct sw_regex *re);
/** The number of the first group of that name that is in the match @spans, or -1. */
long sw_regex_group(const struct sw_regex *re, const char *name, size_t len, const long *spans);
/** The instructions that the expression became; for limits. */
size_t sw_regex_size(const struct sw_regex *re);
/** Bytes that a search takes while it runs; for limits. */
size_t sw_regex_search_bytes(const struct sw_regex *re);

/** The first match in @s at or after @from. @spans: two for each group, begin and end, -1 where it
 * took no part in the match. @return whether there is a match */
bool sw_regex_find(const struct sw_regex *re, const char *s, size_t len, size_t from, long *spans);
/** The same, with at most @*work: a unit for each instruction that a character is held against.
 * What the search took is subtracted. @return false also where that was not enough; @*work is 0
 * then */
bool sw_regex_find_within(const struct sw_regex *re, const char *s, size_t len, size_t from,
                          long *spans, uint64_t *work);
