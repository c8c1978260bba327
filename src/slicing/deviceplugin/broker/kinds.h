#pragma once
/* kinds: what is watched and written, known beforehand: a CRD that is not there yet makes the watch
 * wait, not fail. Internal to deviceplugin. */
#include "kube/kube.h"

extern const struct sw_kind dp_kind_pod, dp_kind_node, dp_kind_claim, dp_kind_event,
    dp_kind_accelerator;
