#pragma once
/* What the files of the cache share. nodes.c and disruption_budgets.c stand lowest, pods.c on them,
 * then claims.c, accelerators.c and reservations.c; cache.c opens and frees all. */
#include <json-c/linkhash.h>
#include <stdlib.h>

#include "data/json/table.h"
#include "slicing/scheduler/cache/cache.h"

/** @key is borrowed as long as the entry is there. */
static inline void cache_insert(struct lh_table *table, const char *key, void *value)
{
    if (lh_table_insert(table, key, value) != 0)
        abort(); /* no memory */
}

/** pods.c: the pod of that uid, made where it is new. */
struct pod *cache_need_pod(struct cache *p, const char *uid, const char *ns, const char *name);
/** pods.c: free it unless it is known or something refers to it. */
void cache_maybe_forget_pod(struct cache *p, struct pod *pod);

/** pods.c: it is in no table any more. */
void cache_free_pod(struct cache *p, struct pod *pod);

/** disruption_budgets.c: set the pod's labels. @map: metadata.labels; NULL: none. */
void cache_set_labels(struct cache *p, struct pod *pod, struct json_object *map);
/** disruption_budgets.c: free both of its tables. */
void cache_free_budgets(struct cache *p);

/** nodes.c: the node of that name, made where it is new. */
struct node *cache_need_node(struct cache *p, const char *name);
/** nodes.c: it is in no table any more. */
void cache_free_node(struct node *n);
/** nodes.c: its room and scores must be computed again. */
void cache_room_changed(struct node *n);
/** nodes.c: free it unless something is known of it or refers to it. */
void cache_maybe_forget_node(struct cache *p, struct node *n);
/** nodes.c: all its GPUs, before they are read again. */
void cache_free_gpus(struct node *n);
/** nodes.c: the index of its GPU of that UUID, which is added where it is new. */
size_t cache_need_gpu(struct node *n, const char *uuid);
/** nodes.c: compute again what is taken of a GPU. */
void cache_count_use(struct node *n, size_t gpu);

/** claims.c: a new one of that name, reserved until the API server reports it; it takes nothing
 * yet.
 */
struct claim *cache_new_claim(struct cache *p, const char *name, struct node *node, struct pod *pod,
                              int64_t now_ms);
/** claims.c: it takes @place of that GPU instead of what it took before. */
void cache_place_claim(struct claim *c, const char *uuid, const struct sw_mig_profile *profile,
                       struct sw_mig_place place);
/** claims.c: it is in no table and no list any more. */
void cache_free_claim(struct claim *c);
