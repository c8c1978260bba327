#pragma once
/* lease_record: what a Lease says, read from and written into the document, so that fields unknown
 * here survive. */
#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct lease_record {
    const char *holder;  /* "": nobody. Borrowed from the document */
    int64_t lease_ms;    /* how long the holder's word counts */
    const char *renewed; /* only compared, never reckoned with: it is the holder's clock */
    int64_t transitions;
};

struct lease_record lease_record_read(struct json_object *lease);

/** The Lease to write: a copy of @lease (NULL: a new one), held by @identity from @now_ms on; one
 * held by it already is only renewed. The caller's. */
struct json_object *lease_record_hold(struct json_object *lease, const char *ns, const char *name,
                                      const char *identity, int64_t lease_ms, int64_t now_ms);
/** The Lease to write for giving it up. The caller's. */
struct json_object *lease_record_release(struct json_object *lease, int64_t now_ms);
