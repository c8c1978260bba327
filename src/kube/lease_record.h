#pragma once
/* lease_record: reads the spec of a Lease and writes it into a copy of the document, so that
 * unknown fields are kept. */
#include <stdbool.h>
#include <stdint.h>

struct json_object;

/** The fields of a Lease's spec; strings are borrowed from the document. */
struct lease_record {
    const char *holder;  /* holderIdentity; "": none */
    int64_t lease_ms;    /* leaseDurationSeconds */
    const char *renewed; /* renewTime, by the holder's clock: only compared for equality */
    int64_t transitions;
};

/** Read a Lease. */
struct lease_record lease_record_read(struct json_object *lease);

/** The Lease to write: a copy of @lease (NULL: a new one), held by @identity from @now_ms on; one
 * held by it already is only renewed. The caller's. */
struct json_object *lease_record_hold(struct json_object *lease, const char *ns, const char *name,
                                      const char *identity, int64_t lease_ms, int64_t now_ms);
/** The Lease to write for giving it up. The caller's. */
struct json_object *lease_record_release(struct json_object *lease, int64_t now_ms);
