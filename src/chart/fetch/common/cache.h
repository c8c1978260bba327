#pragma once
/* cache: what was downloaded, by its digest, in a folder that several processes share. A file
 * appears whole or not at all; what is read is checked against its name, and is as good as not
 * there where it is damaged. That nothing can be written is no error: then nothing is kept. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_cache;

/** @dir NULL or "": a cache that keeps nothing. Made at the first write. */
struct sw_cache *sw_cache_new(const char *dir, size_t max_bytes);
void sw_cache_free(struct sw_cache *cache);

/** What has @digest ("sha256:<hex>"). @*out is the caller's, NUL-terminated. @return whether it is
 * there, and whole */
bool sw_cache_get(struct sw_cache *cache, const char *digest, char **out, size_t *len);
/** Keep it, and let the least recently used go where that makes too much of it. */
void sw_cache_put(struct sw_cache *cache, const char *digest, const void *bytes, size_t len);

/** What is remembered about @key: which digest an address had, its ETag. NULL: nothing. The
 * caller's. */
struct json_object *sw_cache_note(struct sw_cache *cache, const char *key);
void sw_cache_set_note(struct sw_cache *cache, const char *key, struct json_object *note);

/** A new empty folder in it, or in $TMPDIR where nothing is kept; heap.
 * @return 0 | SW_UNAVAILABLE, SW_FORBIDDEN */
int sw_cache_temp(struct sw_cache *cache, char **dir, struct sw_err *err) SW_CHECKED;
/** Remove a folder with all that is in it. */
void sw_cache_remove(const char *dir);

/** "sha256:<hex>", heap. */
char *sw_digest_of(const void *bytes, size_t len);
/** "sha256:" and 64 hexadecimal digits? */
bool sw_digest_valid(const char *digest);
