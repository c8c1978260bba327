#pragma once
/* gc: the garbage collector and the namespace controller. Dependents are deleted after their owners
 * (ownerReferences, the finalizers of foreground and orphaning deletion), deleted namespaces are
 * emptied, and others have their default ServiceAccount and root CA. */
#include "emulator/store/objects.h"

/** The finalizers by which a deletion's propagation policy is kept in the owner. */
#define SW_GC_FOREGROUND "foregroundDeletion"
#define SW_GC_ORPHAN "orphan"

struct sw_gc;
/** Watch the objects of @store, which must outlive it. */
struct sw_gc *sw_gc_new(struct sw_store *store);
/** NULL is accepted. */
void sw_gc_free(struct sw_gc *gc);
