#pragma once
/* farewell: what comes before and after a resource's objects are removed, as the resource is
 * deleted or its managementState is Removed: Helm's hooks of a deletion, then the end of Helm's
 * records, or with `deletionPolicy: orphan` letting them go on without the resource.
 *
 * The hooks are those of the newest record of the release. Which have succeeded is noted on the
 * record before anything follows from it, so a controller that is killed in between runs none of
 * them twice. */
#include "operator/controller/internal.h"

/** The resource is being deleted, or removed (each time that it is seen to be another).
 * @return whether the engine may be told: else that is done when it is known what is to run */
bool deletion_begin(struct resource *r);
/** What the engine is to be told of it. */
void deletion_spec(const struct resource *r, struct sw_spec *spec);
/** All but the namespace is removed. */
void deletion_emptied(struct resource *r);
/** All is removed: what is left to do before the finalizer goes. */
void deletion_finalize(struct resource *r);
void deletion_close(struct resource *r);
