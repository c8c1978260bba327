#pragma once
/* jsonpath: kubectl's JSONPath, compiled once and evaluated often, and conditions over it.
 *
 * What is supported is what kubectl documents: `{.spec.nodeName}`, `['quoted key']`, `\.` in names,
 * `[2]`, `[-1]`, `[1:3]`, `[::2]`, `[0,2]`, `['a','b']`, `*`, `..name`, filters
 * `[?(@.type=="Ready")]` with ==, !=, <, <=, >, >=, and `[?(@.field)]`; several expressions and
 * text between them; `{range .items[*]}...{end}`. Braces may be left out around a single expression
 * (".spec.nodeName"), as `kubectl wait --for=jsonpath` allows. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/** A compiled JSONPath; never changed, so that it can be evaluated any number of times. */
struct sw_jsonpath;

/** Compile @text. @*out is the caller's: sw_jsonpath_free().
 * @return 0 | SW_INVALID with the column and what was expected.
 * Source: Kubernetes "JSONPath Support" and k8s.io/client-go/util/jsonpath. Pinned by
 * test/unit/data/data_jsonpath_test.c. */
int sw_jsonpath_compile(const char *text, struct sw_jsonpath **out, struct sw_err *err) SW_CHECKED;
/** Free the path and its literals. NULL is allowed. */
void sw_jsonpath_free(struct sw_jsonpath *path);
SW_DEFINE_AUTO(sw_jsonpath, sw_jsonpath_free)

/** The values found, in order, each borrowed from the document, or from the path where it is one of
 * its literals (NULL: null). The array is owned. Zero-initialise. */
struct sw_json_list {
    struct json_object **values;
    size_t n_values;
    size_t cap;
};
/** Free the array; the values are borrowed. */
void sw_json_list_done(struct sw_json_list *list);

/** Find all values of the path's expressions; text between expressions and `range` are ignored.
 * @out is replaced. It is not an error to find no value: missing keys and values of another type
 * are skipped, slices are limited to the length of the list.
 * @return 0 | SW_INVALID: more than 100,000 values, or 2,000,000 had to be looked at */
int sw_jsonpath_find(const struct sw_jsonpath *path, struct json_object *doc,
                     struct sw_json_list *out, struct sw_err *err) SW_CHECKED;

/** The first value found, borrowed, or NULL. */
struct json_object *sw_jsonpath_first(const struct sw_jsonpath *path, struct json_object *doc);

/** Print @doc as `kubectl get -o jsonpath=` does: several values of one expression are separated by
 * a space, strings are not quoted, maps and lists are JSON. @*out is NUL-terminated; the caller
 * frees it. @allow_missing: a missing key prints nothing; otherwise it is SW_NOTFOUND.
 * @return 0 | SW_NOTFOUND | SW_INVALID: an index out of range, a list expected and none found */
int sw_jsonpath_print(const struct sw_jsonpath *path, struct json_object *doc, bool allow_missing,
                      char **out, struct sw_err *err) SW_CHECKED;

/* ---- conditions --------------------------------------------------------------------------------
 */

/** "{.phase} == Running": a path (its braces are optional), one of ==, !=, <, <=, >, >=, and a
 * value (a bare or quoted string, a number, true, false, null). == and != compare strings by bytes;
 * the order is numeric if both sides are numbers or quantities ("80Gi"), else by bytes. */
struct sw_condition;
/** Compile a condition. @*out is the caller's: sw_condition_free().
 * @return 0 | SW_INVALID. Pinned by test/unit/data/data_jsonpath_test.c.
 * Source: HIP-0025, readiness-success and readiness-failure. */
int sw_condition_compile(const char *text, struct sw_condition **out,
                         struct sw_err *err) SW_CHECKED;
/** Free the condition. NULL is allowed. */
void sw_condition_free(struct sw_condition *condition);
SW_DEFINE_AUTO(sw_condition, sw_condition_free)

/** Whether at least one value that the path finds satisfies the condition. If the path finds no
 * value, the condition does not hold, also for !=. */
bool sw_condition_holds(const struct sw_condition *condition, struct json_object *doc);
/** The text that the condition was compiled from, borrowed. */
const char *sw_condition_text(const struct sw_condition *condition);
