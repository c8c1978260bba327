#pragma once
/* internal to mps: the folder in which plugin and daemons meet (mps.h). */

/** A path there; @uid NULL: the folder of all; @name NULL: that of the claim. The caller's. */
char *mps_path(const char *host_root, const char *uid, const char *name);
/** The claim's part of /dev/shm; the caller's. */
char *mps_shm(const char *host_root, const char *uid);
/** Say why it takes no clients. */
void mps_say(const char *host_root, const char *uid, const char *message);
/** @return a descriptor which has the lock, the caller's; -1: another process has it, or there is
 * no folder */
int mps_lock(const char *host_root, const char *uid);
/** Remove the folder @path with all that is in it. */
void mps_remove(const char *path);
