#pragma once
/* seed: what every cluster has from its first moment on. */
#include "emulator/store/objects.h"

void sw_seed(struct sw_store *store);
