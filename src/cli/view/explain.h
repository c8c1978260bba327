#pragma once
/* explain: why a resource is where it is, as a chain from the resource through its states, their
 * objects and pods down to the container, Event or finalizer that everything waits for. Asks the
 * cluster; nothing is remembered. */
#include <stdint.h>

struct json_object;
struct sw_connection;

/** @resource: the SpecialResource as it is. @state: only this one; NULL: all that are not Ready.
 * @return {"what", "is": "Ready|Waiting|Retrying|Failed", "why", "since", "hint", "because": [the
 * same...]}, keys without a value left out; the caller's. Where a request fails, its
 * message stands in "why". */
struct json_object *sw_explain(struct sw_connection *conn, struct json_object *resource,
                               const char *state);
