#pragma once
/* ctl_spread: required pod affinity and anti-affinity of a pod that is to be bound. The terms of
 * bound pods, preferred terms and topologySpreadConstraints are ignored. */
#include "emulator/controllers/core.h"

struct sw_spread;
/** Read the pod's terms; the caller frees them. @return NULL: it has none, any node fits */
struct sw_spread *sw_spread_new(struct sw_ctl *ctl, const struct sw_pod *pod);
/** Free the terms. NULL is accepted. */
void sw_spread_free(struct sw_spread *spread);
/** @return NULL: the node fits; else the reason why not (static). @spread may be NULL */
const char *sw_spread_check(const struct sw_spread *spread, const struct sw_node *node);
