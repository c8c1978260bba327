#pragma once
/* kinds: custom resources that are watched and written. They are constants, so that a watch waits
 * for a CRD that is not there yet. Internal to deviceplugin. */
#include "kube/kube.h"

extern const struct sw_kind dp_kind_claim, dp_kind_accelerator;
