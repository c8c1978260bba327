#pragma once
/* ctl_spread: required pod affinity and anti-affinity of a pod that is to be placed. What the pods
 * already placed ask for is not looked at, nor are preferred terms and topologySpreadConstraints.
 */
#include "emulator/controllers/core.h"

struct sw_spread;
/** @return NULL where the pod asks for nothing of the kind (every node does). */
struct sw_spread *sw_spread_new(struct sw_ctl *ctl, const struct sw_pod *pod);
void sw_spread_free(struct sw_spread *spread);
/** @return NULL: the node does; else why not (static). */
const char *sw_spread_check(const struct sw_spread *spread, const struct sw_node *node);
