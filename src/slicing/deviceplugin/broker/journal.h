#pragma once
/* journal: the grants' records, one small file each in a folder of the node's, and the CDI files
 * that go with them. A record is written before each step it speaks of. Internal to deviceplugin.
 * Pinned by test/unit/slicing/deviceplugin_journal_test.c. */
#include <json-c/json.h>

#include "slicing/deviceplugin/broker/broker.h"
#include "slicing/deviceplugin/broker/device_nodes.h"

/** The caller's. */
struct json_object *dp_record_make(const struct dp_grant *grant) SW_CHECKED;
/** @return 0 | SW_INVALID "slices[1].gpu: ..." */
int dp_record_read(struct json_object *doc, struct dp_grant **out, struct sw_err *err) SW_CHECKED;

/** Write the record whole: readers, and a later process, see the old or the new one. To survive a
 * power cut it needs dp_worker_sync(). */
int dp_journal_write(const char *dir, const struct dp_grant *grant, struct sw_err *err) SW_CHECKED;
/** The file's name; the caller's. */
char *dp_journal_file(const struct dp_grant *grant);
/** Remove the record, if it is there. */
int dp_journal_remove(const char *dir, const char *grant_id, struct sw_err *err) SW_CHECKED;
/** All records, each given to @each (taken); one that cannot be read is reported to @bad and left.
 * The folder is made where it is missing. */
int dp_journal_load(const char *dir, void (*each)(struct dp_grant *grant, void *arg),
                    void (*bad)(const char *path, const struct sw_err *err, void *arg), void *arg,
                    struct sw_err *err) SW_CHECKED;

/* ---- CDI ---------------------------------------------------------------------------------------
 */

/** The names that the files and answers use of a grant with made slices: class "c1g.5gb", device
 * "MIG-...". Source: DAS (a class may not begin with a digit). The caller's. */
char *dp_cdi_class(const struct dp_grant *grant);
char *dp_cdi_device(const struct dp_grant *grant); /* "mig.das.com/c1g.5gb=MIG-..." */
/* "c1g.5gb_MIG-....cdi.json"; NULL: no slice of it has ever been made */
char *dp_cdi_file(const struct dp_grant *grant);
/** Of a ResourceClaim: the name of the CDI device for the devices of one group, or with NULL for
 * all of several groups: "mig.slipway.dev/claim=UID-GROUP", "mig.slipway.dev/claim=UID". The
 * caller's. */
char *dp_cdi_group(const struct dp_grant *grant, const char *group);
/** How many groups its devices are of. */
size_t dp_grant_n_groups(const struct dp_grant *grant);
/** Whether device @i is the first one of its request: it carries the name of the group's CDI
 * device, so that a container has it once. */
bool dp_device_leads(const struct dp_grant *grant, size_t i);
/** "MIG-a,MIG-b", and "0,1". The caller's. */
char *dp_visible_devices(const struct dp_grant *grant);
/** "0,1": the indices of the grant's devices in its container. The caller's. */
char *dp_cuda_devices(const struct dp_grant *grant);

/** A CDI specification, the caller's. @host: NULL: GPUs that are made up, or whose device nodes are
 * not known; of a container that holds devices as a device plugin's it is not needed.
 * Source: CDI specification 0.6.0. */
struct json_object *dp_cdi_make(const struct dp_grant *grant,
                                const struct dp_host *host) SW_CHECKED;
/** Read one of slipway's CDI files; @device: the name of its device, the caller's.
 * @return 0 | SW_NOTFOUND (another program's) | SW_INVALID (no CDI) */
int dp_cdi_read(struct json_object *doc, char **device, struct sw_err *err) SW_CHECKED;
/** The grant behind a CDI file that DAS's daemonset wrote, which keeps no records; its container is
 * in use. @name: of the file; @boot_id: of this boot, which the folder does not outlive.
 * @return 0 | SW_NOTFOUND (another program's, or slipway's) | SW_INVALID
 * Source: DAS's pkg/daemonset/deviceplugins/server.go. */
int dp_cdi_inherit(const char *name, struct json_object *doc, const char *boot_id,
                   struct dp_grant **out, struct sw_err *err) SW_CHECKED;
/** All of those, as dp_journal_load() does with records. */
int dp_cdi_load(const char *dir, const char *boot_id,
                void (*each)(struct dp_grant *grant, void *arg),
                void (*bad)(const char *path, const struct sw_err *err, void *arg), void *arg,
                struct sw_err *err) SW_CHECKED;
/** Write the grant's CDI file. @return 0 | SW_UNAVAILABLE, SW_FORBIDDEN (the folder) */
int dp_cdi_write(const char *dir, const struct dp_grant *grant, const struct dp_host *host,
                 struct sw_err *err) SW_CHECKED;
/** Remove slipway's files, not DAS's, whose device is not known. @keep: whether it is. */
int dp_cdi_sweep(const char *dir, bool (*keep)(const char *device, void *arg), void *arg,
                 struct sw_err *err) SW_CHECKED;
