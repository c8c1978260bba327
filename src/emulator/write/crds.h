#pragma once
/* crds: serves the kinds of CustomResourceDefinitions. A CRD is accepted, established and served in
 * the turn of the loop after it was created, as a cluster's controllers do it. */
#include "emulator/store/objects.h"

/** Holds a deleted CRD until its objects are gone. */
#define SW_CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

struct sw_crds;
/** Watch the CRDs of @store, which must outlive it. */
struct sw_crds *sw_crds_new(struct sw_store *store);
/** NULL is accepted. */
void sw_crds_free(struct sw_crds *crds);
