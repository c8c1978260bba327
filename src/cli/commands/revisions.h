#pragma once
/* revisions: the revisions of a resource, from Helm's records of its release. */
#include "operator/release/record.h"

struct json_object;
struct sw_connection;

/** One of them. */
struct sw_revision {
    int64_t number;
    struct json_object *record;  /* the ConfigMap or Secret; owned */
    struct json_object *release; /* what is in it; owned. NULL: it cannot be read */
    struct json_object *origin;  /* SW_RELEASE_ORIGIN; owned. NULL: it has none */
    enum sw_record_trust trust;
};
/** The oldest first. */
struct sw_revisions {
    struct sw_revision *items; /* owned */
    size_t n, cap;
};

/** Read those of @resource; sw_revisions_done() in any case. @return 0 | as requests.h */
int sw_revisions_read(struct sw_connection *conn, struct json_object *resource,
                      struct sw_revisions *out, struct sw_err *err) SW_CHECKED;
/** Free them. */
void sw_revisions_done(struct sw_revisions *all);
/** The one of that number, borrowed; NULL: there is none. */
struct sw_revision *sw_revisions_find(struct sw_revisions *all, int64_t number);
/** When it was begun, as the record says it; borrowed. */
const char *sw_revision_time(const struct sw_revision *r);
/** deployed, superseded, failed, pending-...: as the record says it; borrowed. */
const char *sw_revision_status(const struct sw_revision *r);
/** Which program wrote the resource that @r is of; "the recipe" where the resource is as in
 * @before, which may be NULL: what its source leads to has changed. "": not known. Borrowed. */
const char *sw_revision_by(const struct sw_revision *r, const struct sw_revision *before);
