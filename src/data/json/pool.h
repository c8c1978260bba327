#pragma once
/* pool: documents that are kept and never changed share the maps and lists in which they are equal.
 * Ten thousand pods of one DaemonSet differ in a dozen strings: what is equal is there once. */
#include <json-c/json.h>

#include "base/base.h"

/** Maps and lists, each there once. They are counted as any document: what nobody holds any more
 * leaves the pool by itself. */
struct sw_json_pool;

/** An empty pool; sw_json_pool_free() frees it. */
struct sw_json_pool *sw_json_pool_new(void);
/** Free the pool. Documents that are in it stay good. NULL is accepted. */
void sw_json_pool_free(struct sw_json_pool *pool);
SW_DEFINE_AUTO(sw_json_pool, sw_json_pool_free)

/** Replace what is in the map or list @doc by what the pool has that is equal: keys and items in
 * the same order, numbers with the same text. What it does not have yet it gets from @doc, shrunk
 * to its size as by sw_json_pack(). @doc itself, and strings and numbers directly in it, stay as
 * they are. Pointers into @doc from before are not good any more; what is in it may no longer be
 * changed. Maps and lists have no user data of others. */
void sw_json_pool_share(struct sw_json_pool *pool, json_object *doc);
/** How many maps and lists are in the pool. */
size_t sw_json_pool_count(const struct sw_json_pool *pool);
/** About how much memory they take, in bytes. */
size_t sw_json_pool_bytes(const struct sw_json_pool *pool);
/** About how much memory the map or list @doc takes for itself, without the maps and lists in it,
 * in bytes. */
size_t sw_json_own_bytes(json_object *doc);
