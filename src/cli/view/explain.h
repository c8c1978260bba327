#pragma once
/* explain: why a resource is not Ready, as a chain from the resource through its states, their
 * objects and pods down to the container, Event or finalizer that everything waits for. */
#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct sw_connection;
struct sw_style;

/** Explain @resource, a SpecialResource. @state: only this one; NULL: all that are not Ready.
 * @return {"what", "is": "Ready|Waiting|Retrying|Failed", "why", "since", "hint", "because": [the
 * same...]} without empty keys; the caller's. If a request fails, its message is in "why". */
struct json_object *sw_explain(struct sw_connection *conn, struct json_object *resource,
                               const char *state);

/** The workloads of @resource, which is Ready, that it does not wait for and that are not ready: a
 * line each with why not, then a hint. Heap; NULL: there are none, or it could not be read. */
char *sw_explain_unawaited(struct sw_connection *conn, struct json_object *resource);

/** The chain for people, a line a link, indented; no line is cut. @now_ms: since the epoch. Heap.
 */
char *sw_explain_text(struct json_object *chain, const struct sw_style *style, int64_t now_ms);

/** Whether a Pod is Ready or has succeeded. */
bool sw_pod_is_well(struct json_object *pod);
