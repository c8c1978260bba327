#pragma once
/* run: walks of a resource that is on the cluster already, for commands that have changed it. */
#include "cli/command/cli.h"

struct json_object;
struct sw_connect_opts;
struct sw_connection;

/** Walk @resource, as the cluster has it, until it is Ready or has failed: by waiting for the
 * operator that leads, else in this process as `slipway run` does. @conn is closed then.
 * @timeout_ms: 0: none. @return an enum sw_exit, or 128 + signal */
int sw_walk(struct sw_connection *conn, const struct sw_connect_opts *opts,
            struct json_object *resource, int64_t timeout_ms);
