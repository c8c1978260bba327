#pragma once
/* seed: the objects that every cluster has from the start. */
#include "emulator/store/objects.h"

/** Create them: namespaces, the Service kubernetes, priority classes. */
void sw_seed(struct sw_store *store);
