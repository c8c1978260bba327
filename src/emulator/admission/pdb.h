#pragma once
/* pdb: PodDisruptionBudgets, as far as the Eviction API needs them. */
#include "emulator/store/objects.h"

/** Whether @pod may be evicted now. @return 0 | SW_UNAVAILABLE (429: its budget is used up; 500: it
 * has more than one) */
int sw_pdb_allow(struct sw_store *store, json_object *pod, struct sw_status *status);
