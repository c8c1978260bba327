#pragma once
/* gpu_slices: the slices of all GPUs as they lie, who holds them, and which pods wait for one: of
 * nodes that publish ResourceSlices and of those that have NodeAccelerators, in one document. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** Read it from the cluster; @*out is the caller's. @node: only its GPUs; NULL: all.
 *
 *     {"gpus": [...], "waiting": [...]}
 *
 * as gpu_slices_gpus(), gpu_slices_waiting() and gpu_slices_explain() make them.
 * @return 0 | as sw_cluster_find(). Pinned by test/emulator/cli/slices_test.sh. */
int sw_gpu_slices_read(struct sw_connection *conn, const char *node, struct json_object **out,
                       struct sw_err *err) SW_CHECKED;
