#pragma once
/* gpu_slices_internal: what gpu_slices.c and gpu_waiting.c share. */
#include "slicing/scheduler/devices/dra_view.h"

struct json_object;

/** Append to @waiting (a list) each pod of @pods (a list) that waits for a slice, and what would
 * have to move for it. The view has been told of all. */
void gpu_waiting_add(const struct dra_view *v, struct json_object *pods,
                     struct json_object *waiting);
