#pragma once
/* merge: patches of documents. No function changes the target; each returns a new document that
 * shares nothing with target and patch. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/* ---- RFC 7386, application/merge-patch+json ----------------------------------------------------
 */

/** @target with @patch merged into it; the caller owns the result. Never fails. */
struct json_object *sw_merge_apply(struct json_object *target,
                                   struct json_object *patch) SW_CHECKED;

/** The smallest merge patch that turns @from into @to, an empty map if they are equal. A merge
 * patch cannot set a field to null; such fields of @to are left out. The caller owns the result. */
struct json_object *sw_merge_create(struct json_object *from, struct json_object *to) SW_CHECKED;

/* ---- RFC 6902, application/json-patch+json ------------------------------------------------------
 */

/** Apply a JSON patch (a list of operations), all or nothing.
 * @return 0 | SW_INVALID (the patch is malformed) | SW_NOTFOUND (a path is missing) | SW_CONFLICT
 * (a test failed); the message names the operation's index, its op and path. */
int sw_jsonpatch_apply(struct json_object *target, struct json_object *patch,
                       struct json_object **out, struct sw_err *err) SW_CHECKED;

/* ---- application/strategic-merge-patch+json -----------------------------------------------------
 */

/** Kubernetes' strategic merge: lists that have a merge key in the core kinds (containers by name,
 * ports by containerPort, ...) merge by it, other lists are replaced. `$patch:
 * delete|replace|merge`,
 * `$retainKeys`, `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>` are honoured.
 * @kind: of the object, as in "Pod". A real server refuses such patches of custom resources;
 * the caller checks that.
 * @return 0 | SW_INVALID "spec.containers[1]: no merge key 'name'"
 * Source: Kubernetes "sig-api-machinery/strategic-merge-patch.md" and the patchMergeKey and
 * patchStrategy notes of the API reference. Pinned by test/unit/data/data_strategic_test.c. */
int sw_strategic_apply(struct json_object *target, struct json_object *patch, const char *kind,
                       struct json_object **out, struct sw_err *err) SW_CHECKED;
