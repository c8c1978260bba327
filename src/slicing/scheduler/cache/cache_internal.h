#pragma once
/* What the files of the picture share: cache.c has its tables and the pods, nodes.c the
 * nodes and what is taken of their GPUs, accelerators.c which GPUs they have,
 * claims.c the claims, reservations.c slices that are taken before a claim says so. */
#include "slicing/scheduler/cache/cache.h"

/** cache.c: an entry of one of the tables, borrowed, or NULL. */
void *cache_lookup(struct lh_table *table, const char *key);
/** cache.c: @key is borrowed as long as the entry is there. */
void cache_insert(struct lh_table *table, const char *key, void *value);
/** cache.c: the pod of that uid, made where it is new. */
struct pod *cache_need_pod(struct cache *p, const char *uid, const char *ns, const char *name);
/** cache.c: forget it where nothing refers to it and nothing is said of it. */
void cache_maybe_forget_pod(struct cache *p, struct pod *pod);

/** disruption_budgets.c: @map: metadata.labels, NULL: none. */
void cache_set_labels(struct cache *p, struct pod *pod, struct json_object *map);
void cache_free_budgets(struct cache *p);

/** nodes.c: the node of that name, made where it is new. */
struct node *cache_need_node(struct cache *p, const char *name);
void cache_free_node(struct node *n);
/** nodes.c: what was worked out of its room holds no more. */
void cache_room_changed(struct node *n);
/** nodes.c: forget it where nothing refers to it and nothing is said of it. */
void cache_maybe_forget_node(struct cache *p, struct node *n);
void cache_free_gpus(struct node *n);
/** nodes.c: the number of its GPU of that UUID; one that nobody knew gets the next. */
size_t cache_need_gpu(struct node *n, const char *uuid);
/** nodes.c: work out anew what is taken of a GPU. */
void cache_count_use(struct node *n, size_t gpu);

/** claims.c: a new one of that name, reserved until it is seen; it takes nothing yet. */
struct claim *cache_new_claim(struct cache *p, const char *name, struct node *node, struct pod *pod,
                              int64_t now_ms);
/** claims.c: it takes @place of that GPU, and no more what it took before. */
void cache_place_claim(struct claim *c, const char *uuid, const struct sw_mig_profile *profile,
                       struct sw_mig_place place);
void cache_free_claim(struct claim *c);
