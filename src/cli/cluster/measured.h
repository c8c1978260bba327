#pragma once
/* measured: what a cluster is, as facts of chart/aicr/constraints.h: its version, what its nodes
 * run and who provides them, the releases of Helm in it. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** Read them; @*out is the caller's. @*note: what could not be read and why, the caller's; NULL:
 * all could. @return 0 | as sw_cluster_find() of the nodes */
int sw_cluster_measured(struct sw_connection *conn, struct json_object **out, char **note,
                        struct sw_err *err) SW_CHECKED;
