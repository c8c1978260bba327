#pragma once
/* dependencies: spec.dependencies, other resources that have to be Ready first. dependency.c checks
 * them, dependency_child.c creates those that do not exist, dependency_owners.c keeps their
 * ownerReferences, dependency_map.c SRO's list of parents. */
#include "operator/controller/core.h"
#include "operator/manifests/dependency.h"

#define ANN_DIGEST "slipway.dev/dependency-digest"

struct creation;

struct dependencies {
    struct prerequisite creation_fault; /* why a child could not be created, until the next try */
    char *reported;         /* dependencies whose values others decide, as reported last; or NULL */
    bool releases_children; /* it is being removed from the owners of its children */
    bool finalizing; /* finalize_done() is due when that, and its entries' removal, is over */
    struct creation *creation;  /* a child that is being created, or NULL */
    int64_t creation_due_ms;    /* no child is created before */
    struct json_object *mapped; /* names of children that depend_map_complete() has seen to */
};

static inline struct dependencies *dependencies_of(const struct resource *r)
{
    return r->state[CAPABILITY_dependencies];
}

/** Has @r an entry of that name? */
bool depend_needs(const struct resource *r, const char *name);

/** dependency_owners.c: make @r one of the owners of @child, which was created for a dependency. */
void depend_own(struct resource *r, struct resource *child);
/** Remove @r from the owners of children that it has no entry for any more; delete those that no
 * resource needs. */
void depend_prune(struct resource *r);

/** dependency_child.c: create the child of @entry, or update it to @digest (of the entry), unless
 * that is under way. A failure is in dependencies_of(r)->creation_fault until the next try. */
void depend_create_child(struct resource *r, struct json_object *entry, const char *digest);
/** @code: 0 or an error, of which @message says more. */
typedef void depend_map_done(int code, const char *message, void *arg);
/** dependency_map.c: name @parent in SRO's ConfigMap special-resource-dependencies as the parent of
 * @child. Where the resource goes before that is done, @drop gets @arg in the place of @done. */
void depend_map_write(struct resource *parent, const char *child, depend_map_done *done,
                      void (*drop)(void *arg), void *arg);
/** The same for a child that is there already, once, and only where no parent is named. */
void depend_map_complete(struct resource *parent, const char *child);
/** Remove the entry of @child (NULL: all entries) where it names @parent; another resource that
 * needs the child is named then. A failure is logged. */
void depend_map_forget(struct resource *parent, const char *child);
/** Is that under way? */
bool depend_map_is_forgetting(const struct resource *parent);

/** Cancel it, unless a request was sent. */
void depend_stop_creating(struct resource *r);
/** dependency_owners.c: finalize(). SRO's ConfigMap loses @r; with deletionPolicy orphan, children
 * that were created for dependencies of @r lose it as an owner. @return false: finalize_done() will
 * be called */
bool depend_finalize(struct resource *r);
/** Call finalize_done() if it is due and nothing is under way any more. */
void depend_finalized(struct resource *r);
