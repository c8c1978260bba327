#pragma once
/* watch_operator: until the operator that leads has walked a SpecialResource. */
#include <stdint.h>

struct json_object;
struct sw_connection;

/** Wait until the operator has walked the generation that @resource has, and print what it waits
 * for, when that changes, and the phase at the end. Errored is believed when it stays so: it is
 * what the resource was before, and stays until what is tried again is ready. @timeout_ms: 0: none
 * @return an enum sw_exit; 128 + n: signal n */
int sw_watch_operator(struct sw_connection *conn, struct json_object *resource, int64_t timeout_ms);
