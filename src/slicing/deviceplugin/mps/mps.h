#pragma once
/* mps: control daemons of NVIDIA's Multi-Process Service, one for each ResourceClaim whose
 * containers use a GPU at once. They run in a container of their own (slipway-device-plugin mps),
 * so that they go on when the plugin ends. Plugin and that process meet in a folder of the host
 * that does not outlive a boot:
 *
 *   /run/slipway/mps/UID.json    what is to run; the plugin makes and removes it
 *   /run/slipway/mps/UID/lock    is locked as long as something of it runs
 *   /run/slipway/mps/UID/ready   it takes clients
 *   /run/slipway/mps/UID/error   it does not: why
 *   /run/slipway/mps/UID/pipe    the clients' /tmp/nvidia-mps
 *   /run/slipway/mps/UID/log     what the daemon writes
 *   /dev/shm/slipway-mps-UID     the clients' and the daemon's /dev/shm
 *
 * Internal to deviceplugin.
 * Source: NVIDIA's "Multi-Process Service", chapters "Architecture" and "Appendix: Tools and
 * Interface Reference". Pinned by test/kubelet/dra_sharing_test.py. */
#include <json-c/json.h>

#include "slicing/deviceplugin/broker/broker.h"

/** The commands of this program: all daemons of the node, and (its child) that of one claim. */
#define DP_MPS "mps"
#define DP_MPS_DAEMON "mps-daemon"

/** What is to run for @grant, whose slices are made; the caller's. @return 0 | SW_INVALID: a limit
 * is for a device that it has not */
int dp_mps_config(const struct dp_grant *grant, struct json_object **out,
                  struct sw_err *err) SW_CHECKED;

/** Ask for the daemon of @grant; @host_root: where the host's files are. What was said of one
 * before is forgotten. @return 0 | SW_INVALID | SW_FORBIDDEN, SW_UNAVAILABLE: a folder */
int dp_mps_ask(const char *host_root, const struct dp_grant *grant, struct sw_err *err) SW_CHECKED;
/** @return 0: it takes clients | SW_PENDING: not yet | SW_UNAVAILABLE: it does not, and why */
int dp_mps_check(const char *host_root, const char *uid, struct sw_err *err) SW_CHECKED;
/** Give up the daemon of a claim, and remove what it had. @return 0: nothing of it is left |
 *         SW_PENDING: it is ending, ask again | SW_FORBIDDEN, SW_UNAVAILABLE: a folder */
int dp_mps_end(const char *host_root, const char *uid, struct sw_err *err) SW_CHECKED;

/** The process that runs the daemons of the node, until SIGTERM. @return an exit status */
int dp_mps_serve(const char *host_root);
/** The process of the daemon of the claim @uid, until SIGTERM. @return an exit status */
int dp_mps_daemon(const char *host_root, const char *uid);
