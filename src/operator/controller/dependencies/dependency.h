#pragma once
/* dependencies: spec.dependencies, other resources that have to be Ready first. dependency.c
 * follows them, dependency_child.c makes those that are not there, dependency_owners.c keeps
 * their owner references. */
#include "operator/controller/core.h"

#define ANN_PARENT "slipway.dev/dependency-of"
#define ANN_DIGEST "slipway.dev/dependency-digest"

struct creation;

struct dependencies {
    struct prerequisite creation_fault; /* why a child could not be made, until the next try */
    char *reported;         /* dependencies whose values others decide, as reported last; or NULL */
    bool releases_children; /* it stops being an owner of its children */
    struct creation *creation; /* a child that is being made, or NULL */
    int64_t creation_due_ms;   /* no child is to be made before */
};

static inline struct dependencies *dependencies_of(const struct resource *r)
{
    return r->state[CAPABILITY_dependencies];
}

/** The chart of an entry of spec.dependencies; borrowed. */
struct json_object *depend_chart(struct json_object *entry);
/** "" where it has none. */
const char *depend_name(struct json_object *entry);
/** Has @r an entry of that name? */
bool depend_needs(const struct resource *r, const char *name);
void depend_fault_done(struct prerequisite *o);

/** dependency_owners.c: see that @r is one of the owners of @child, which was made for a
 * dependency.
 */
void depend_own(struct resource *r, struct resource *child);
/** See that @r owns no child that it has no entry for any more; one that nobody else needs goes. */
void depend_prune(struct resource *r);

/** dependency_child.c: make the child of @entry, or bring it to @digest (of the entry), where
 * that is not being done already; what fails stands in dependencies_of(r)->creation_fault until the
 * next try. */
void depend_create_child(struct resource *r, struct json_object *entry, const char *digest);
/** Give up, where nothing is on its way to the server yet. */
void depend_stop_creating(struct resource *r);
/** dependency_owners.c: everything of @r is removed or left behind. With deletionPolicy orphan,
 * so are the children that were made for its dependencies. @return false: finalize_done() will be
 * called */
bool depend_finalize(struct resource *r);
