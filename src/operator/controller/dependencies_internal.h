#pragma once
/* What the files of dependencies share: dependencies.c follows them, dependencies_child.c makes
 * what is not there, dependencies_parents.c sees that it goes with those who need it. */
#include "operator/controller/internal.h"

#define ANN_PARENT "slipway.dev/dependency-of"
#define ANN_DIGEST "slipway.dev/dependency-digest"

/** Of an entry of spec.dependencies; borrowed. */
struct json_object *depend_chart(struct json_object *entry);
/** "" where it has none. */
const char *depend_name(struct json_object *entry);
/** Has @r an entry of that name? */
bool depend_needs(const struct resource *r, const char *name);
void depend_outcome_done(struct depend_outcome *o);

/** dependencies_parents.c: see that @r is one of the owners of @child, which was made for a
 * dependency.
 */
void depend_own(struct resource *r, struct resource *child);
/** See that @r owns no child that it has no entry for any more; one that nobody else needs goes. */
void depend_prune(struct resource *r);

/** dependencies_child.c: make the child of @entry, or bring it to @digest (of the entry), where
 * that is not being done already; what fails stands in r->making_fault until the next try. */
void depend_make_child(struct resource *r, struct json_object *entry, const char *digest);
/** Give up, where nothing is on its way to the server yet. */
void depend_stop_making(struct resource *r);
