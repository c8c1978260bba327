#pragma once
/* crds: serves what CustomResourceDefinitions declare. A CRD is accepted, established and served in
 * the turn of the loop after it was created, as a cluster's controllers do it. */
#include "emulator/store/objects.h"

struct sw_crds;
/** Follow the CRDs of @store, which must outlive it. */
struct sw_crds *sw_crds_new(struct sw_store *store);
/** NULL is accepted. */
void sw_crds_free(struct sw_crds *crds);
