#pragma once
/* root: programs of the NVIDIA driver, run as children in its root: the host's, or that of the
 * container which brought the driver. Internal to deviceplugin.
 * Pinned by test/kubelet/dra_sharing_test.py. */
#include <sys/types.h>

#include "base/base.h"

/** The command of this program that runs another one in a root: "in-root ROOT PROGRAM ARG...". */
#define DP_IN_ROOT "in-root"

/** Where the driver's programs are: "@host_root/run/nvidia/driver" where that has nvidia-smi, else
 * @host_root. The caller's. Source: NVIDIA's GPU operator. */
char *dp_driver_root(const char *host_root) SW_CHECKED;

/** Run a program in @root to its end; it reads @text. At most @timeout_ms, then it is killed.
 * @return 0 | SW_NOTFOUND: it is not there | SW_INVALID: it says no; the message is its last line |
 *         SW_PENDING: timed out | SW_UNAVAILABLE */
int dp_root_run(const char *root, const char *const *argv, const char *text, int timeout_ms,
                struct sw_err *err) SW_CHECKED;
/** As dp_root_run(), but it goes on running: @pid, with stdout and stderr to @out (-1: here). @env:
 * more variables, "NAME=VALUE", ended by NULL; or NULL. @return 0 | SW_UNAVAILABLE */
int dp_root_start(const char *root, const char *const *argv, const char *const *env, int out,
                  pid_t *pid, struct sw_err *err) SW_CHECKED;
/** Wait for a child. @status: as of waitpid(). @return 0 | SW_PENDING: it still runs */
int dp_child_wait(pid_t pid, int timeout_ms, int *status) SW_CHECKED;
/** The last line that is not empty of what is in the file @fd; the caller's. NULL: none. */
char *dp_last_line(int fd) SW_CHECKED;

/** The command itself: change into argv[0] and become the program argv[1], or end as a shell does
 * where there is none. */
_Noreturn void dp_in_root(int argc, char **argv);
