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

struct sw_jsonpath;

/** @return 0 | SW_INVALID with the column and what was expected.
 * Source: Kubernetes "JSONPath Support" and k8s.io/client-go/util/jsonpath. Pinned by
 * test/unit/data/data_jsonpath_test.c. */
int sw_jsonpath_compile(const char *text, struct sw_jsonpath **out, struct sw_err *err) SW_CHECKED;
void sw_jsonpath_free(struct sw_jsonpath *path);
SW_DEFINE_AUTO(sw_jsonpath, sw_jsonpath_free)

/** The values found, in order, each borrowed from the document, or from the path where it is one of
 * its literals (NULL: null). The array is owned. Zero-initialise. */
struct sw_json_list {
    struct json_object **values;
    size_t n_values;
    size_t cap;
};
void sw_json_list_done(struct sw_json_list *list);

/** All values that the path's expressions find (text between them and `range` aside); none is no
 * error. @out is replaced. What is missing or of another shape finds nothing; slices are cut to the
 * list. @return 0 | SW_INVALID: more than 100,000 values */
int sw_jsonpath_find(const struct sw_jsonpath *path, struct json_object *doc,
                     struct sw_json_list *out, struct sw_err *err) SW_CHECKED;

/** The first value found, borrowed, or NULL. */
struct json_object *sw_jsonpath_first(const struct sw_jsonpath *path, struct json_object *doc);

/** As `kubectl get -o jsonpath=`: the values' text, several of one expression separated by a space,
 * strings bare, maps and lists as JSON, with the text between. NUL-terminated, the caller's.
 * @allow_missing: a key that nothing has prints nothing; else it is SW_NOTFOUND.
 * @return 0 | SW_NOTFOUND | SW_INVALID: an index out of range, a list expected and none found */
int sw_jsonpath_print(const struct sw_jsonpath *path, struct json_object *doc, bool allow_missing,
                      char **out, struct sw_err *err) SW_CHECKED;

/* ---- conditions --------------------------------------------------------------------------------
 */

/** "{.phase} == Running": a path (braces may be left out), one of ==, !=, <, <=, >, >=, and a value
 * (bare, quoted, a number, true, false, null). Equality of a text is by its bytes; order is by
 * value where both are numbers or quantities ("80Gi"), else by bytes.
 * @return 0 | SW_INVALID. Pinned by test/unit/data/data_jsonpath_test.c.
 * Source: HIP-0025, readiness-success and readiness-failure. */
struct sw_condition;
int sw_condition_compile(const char *text, struct sw_condition **out,
                         struct sw_err *err) SW_CHECKED;
void sw_condition_free(struct sw_condition *condition);
SW_DEFINE_AUTO(sw_condition, sw_condition_free)

/** True if any value that the path finds satisfies it; nothing found satisfies nothing, not even
 * !=.
 */
bool sw_condition_holds(const struct sw_condition *condition, struct json_object *doc);
/** As it was written. Borrowed. */
const char *sw_condition_text(const struct sw_condition *condition);
