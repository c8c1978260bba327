#pragma once
/* affinity_hint: a pod fits nowhere, but would if other pods' slices lay elsewhere: which would
 * have to move. A running pod's slices cannot move: it must be deleted and created again, which is
 * for people to decide. Reads the cache and changes nothing. Internal to scheduler. */
#include "slicing/scheduler/cache/cache.h"

enum { ADVICE_MAX_MOVES = 8 };

/** Moves that would make room for a pod. All is borrowed from the cache. */
struct advice {
    const struct node *node; /* where the pod would fit then */
    const struct claim *moves[ADVICE_MAX_MOVES];
    const struct node *to[ADVICE_MAX_MOVES]; /* where there is room for each: it may be the same */
    size_t n;
};

/** A quick check before the search: how many slices @pod requests and how many are free on @node.
 * @return false: it can never fit there, or requests more than is searched for */
bool advice_count(const struct cache *p, const struct node *node, const struct pod *pod,
                  unsigned *wanted, unsigned *free_slices);
/** The fewest moves found that make room on @node; those that move fit beside the pod afterwards,
 * on the node or on others of @others (NULLs in it are passed over). Each move is looked for by
 * itself: what only a chain of moves would give is not found.
 * @return false: no way was found */
bool advice_find(const struct cache *p, const struct node *node, const struct pod *pod,
                 struct node *const *others, size_t n_others, struct advice *out);
/** "would fit if these moved: ns/name (1g.5gb) to another GPU of the node, ..."; the caller's. */
char *advice_text(const struct advice *a);
