#pragma once
/* worker: what blocks (steps on GPUs, waiting for a disk), on threads of its own: one for each GPU,
 * which does that GPU's steps one after another, and one for the disk. The end of steps is reported
 * on the loop. Internal to deviceplugin. */
#include "base/loop.h"
#include "slicing/deviceplugin/driver/driver.h"

struct dp_worker;
/** @done runs on the loop; @job is borrowed for it. */
struct dp_worker *dp_worker_new(struct sw_loop *loop, struct dp_driver *driver,
                                void (*done)(struct dp_job *job, void *tag, void *arg), void *arg);
/** Waits for the steps under way; what waits behind it is dropped (its tags are freed). */
void dp_worker_free(struct dp_worker *w);
/** See that a file that was written survives a power cut. Its end is not reported: what it is for
 * begins with a boot. */
void dp_worker_sync(struct dp_worker *w, const char *dir, const char *name);
/** Read which GPU instances GPU number @gpu has, after the steps on it that wait already; @done
 * runs on the loop, @found is borrowed for it. Only where the driver can tell. */
void dp_worker_instances(struct dp_worker *w, size_t gpu,
                         void (*done)(const struct dp_instances *found, void *arg), void *arg);
/** @job is taken (its own fields), @tag is heap and the worker's until @done gets it. */
void dp_worker_run(struct dp_worker *w, const struct dp_job *job, void *tag);
