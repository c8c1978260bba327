#pragma once
/* seed: what every cluster has from its first moment on. */
#include "emulator/store/store_internal.h"

void sw_seed(struct sw_store *store);
