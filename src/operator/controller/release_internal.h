#pragma once
/* What the files of releases share: release.c does the work, release_record.c makes a record. */
#include "operator/controller/internal.h"

#define DIGEST_LABEL "slipway.dev/digest"

/* One look at the records, and what is done about them. */
struct release_work {
    struct resource *r;
    struct lookups *lookups;
    const char *status;       /* to be recorded; NULL: only look */
    bool removing;            /* all of them go */
    int64_t version;          /* of the record that is written */
    struct json_object *list; /* records there are: {name, labels} */
    size_t next;              /* of them, that is put right */
    struct sw_kube_request *req;
};

/** The record as Helm writes it, of w->version and w->status.
 * @return 0 | SW_PENDING: a lookup, write_record() is called again | SW_INVALID: cannot be rendered
 */
int release_make(struct release_work *w, struct json_object **out, struct sw_err *err) SW_CHECKED;
/** How the hook @doc (as rendered) went last, as Helm writes it; NULL, or not seen: blank. The
 * caller's. */
struct json_object *release_run_of(const struct resource *r, struct json_object *doc);
/** The object that keeps @packed. */
struct json_object *release_object(const struct release_work *w, const char *packed);
