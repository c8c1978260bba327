#pragma once
/* jmespath: JMESPath expressions, compiled once and evaluated often, and trees of assertions made
 * of them, as Chainsaw tests have them.
 *
 * What is supported is the JMESPath specification (jmespath.org): identifiers, "quoted" ones,
 * indices, slices, projections (`[*]`, `*`, `[]`, `[?...]`), `||`, `&&`, `!`, comparisons, pipes,
 * multi-selects, literals (`1`, 'text'), `@`, `&` and its functions. What others have added
 * (arithmetic, `$bindings`, functions of Kyverno) is refused by name. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/** A compiled expression; never changed, so that it can be evaluated any number of times. */
struct sw_jmespath;

/** Compile @text. @*out is the caller's: sw_jmespath_free().
 * @return 0 | SW_INVALID with the column and what was expected.
 * Source: the grammar of jmespath.org. Pinned by test/unit/data/data_jmespath_test.c. */
int sw_jmespath_compile(const char *text, struct sw_jmespath **out, struct sw_err *err) SW_CHECKED;
/** Free the expression and its literals. NULL is allowed. */
void sw_jmespath_free(struct sw_jmespath *path);
SW_DEFINE_AUTO(sw_jmespath, sw_jmespath_free)

/** Evaluate it for @doc, which may be NULL (null). @*out: the result, a reference that is the
 * caller's; parts of it are shared with the document and must not be changed. NULL: null.
 * @return 0 | SW_INVALID: a function's argument has another type than it takes, or 1,000,000 values
 * had to be visited */
int sw_jmespath_search(const struct sw_jmespath *path, struct json_object *doc,
                       struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The left side of an expression that is a comparison, else NULL: what was compared. It is
 * borrowed; evaluated as its parent is. */
const struct sw_jmespath *sw_jmespath_compared(const struct sw_jmespath *path);

/* ---- assertions --------------------------------------------------------------------------------
 */

/** What a document must have: a tree of maps and lists. Each field of a map must be there and be as
 * it says; others do not matter. Lists have the same length, element by element. A key in
 * parentheses is an expression, evaluated for the value that has the key; so is a text in
 * parentheses, which gives the value to be equal to. "~.(expression)" and "~.field" say the same of
 * each element of a list, or each value of a map. */
struct sw_assertion;
/** Compile @tree; a copy is kept. @*out is the caller's: sw_assertion_free().
 * @return 0 | SW_INVALID: an expression, with its place in the tree.
 * Source: Chainsaw's assertion trees (kyverno-json). Pinned by
 * test/unit/data/data_assertion_test.c. */
int sw_assertion_compile(struct json_object *tree, struct sw_assertion **out,
                         struct sw_err *err) SW_CHECKED;
/** NULL is allowed. */
void sw_assertion_free(struct sw_assertion *assertion);
SW_DEFINE_AUTO(sw_assertion, sw_assertion_free)
/** Does it hold for @doc? @why (may be NULL) is set where it does not: "status.phase is Pending,
 * not Running", the caller's. @hides: values that are found may be secret, and are left out. */
bool sw_assertion_holds(const struct sw_assertion *assertion, struct json_object *doc, bool hides,
                        char **why);
