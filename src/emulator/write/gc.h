#pragma once
/* gc: what the API server's own background work does: dependents follow their owners
 * (ownerReferences, the finalizers of foreground and orphaning deletion), namespaces are emptied
 * when they are deleted and have their default ServiceAccount while they live. */
#include "emulator/store/objects.h"

struct sw_gc;
/** Follow the objects of @store, which must outlive it. */
struct sw_gc *sw_gc_new(struct sw_store *store);
/** NULL is accepted. */
void sw_gc_free(struct sw_gc *gc);
