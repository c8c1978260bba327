#pragma once
/* gpu_slices: what cli/cluster/gpu_slices.h reads, as text. Pure. */
struct json_object;

/** A line for each slice, and for each stretch of a GPU that is free; then the pods that wait.
 * Heap. Pinned by test/emulator/cli/slices_test.sh. */
char *sw_gpu_slices_table(struct json_object *doc);
/** Each GPU as a row of memory slices, drawn to scale; then the pods that wait. Heap. */
char *sw_gpu_slices_drawing(struct json_object *doc);
