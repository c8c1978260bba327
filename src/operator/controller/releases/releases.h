#pragma once
/* releases: Helm's records of what is deployed. releases.c reads and writes them, record.c makes
 * one, hook_results.c keeps how hooks of an install or an upgrade ended. */
#include "operator/controller/core.h"
#include "operator/release/record.h"

#define DIGEST_LABEL "slipway.dev/digest"

/* What Helm's records say about a resource. */
struct releases {
    bool known; /* the rest is */
    bool asked; /* the recipe renders differently for it */
    int64_t version;
    bool was_deployed, is_upgrade;
    char digest[SW_SHA256_HEX];
    char *done;             /* digest and status that were recorded last */
    struct sw_timer *timer; /* to try again */
    char *seen;             /* the engine's revision for which all was settled... */
    int seen_phase;         /* ... and how */
    struct release_work *work;
    bool begun;               /* something is applied in its namespace */
    struct json_object *runs; /* hooks that were seen to end, and how; or NULL */
};

static inline struct releases *releases_of(const struct resource *r)
{
    return r->state[CAPABILITY_releases];
}

/* One look at the records, and what is done about them. */
struct release_work {
    struct resource *r;
    struct lookups *lookups;
    const char *status;       /* to be recorded; NULL: they are only read */
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
/** An object of the resource is seen (NULL: gone): if it is a hook that has ended, the release's
 * record will say how. */
void release_saw(struct resource *r, struct json_object *object);
