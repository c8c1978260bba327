#pragma once
/* preview_fields: internal to the previews: the fields that go when slipway has taken over those of
 * SRO and DAS, which a dry run of an apply does not show: theirs are still theirs then. */
#include <stdbool.h>

struct json_object;

/** Remove from @applied, the answer to an apply, the fields that only SRO or DAS own by its
 * metadata.managedFields. @return whether there were any.
 * Source: Kubernetes "Server-Side Apply", merge strategy; structured-merge-diff's Prune. Pinned by
 * test/unit/cli/preview_fields_test.c and run_takeover_test.c. */
bool preview_fields_drop(struct json_object *applied);

/** The fields that other managers have in @live and not any more in @applied, the answer to an
 * apply by force: a line a manager. Heap; "" if there are none. */
char *preview_fields_taken(struct json_object *live, struct json_object *applied);
