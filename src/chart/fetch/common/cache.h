#pragma once
/* cache: downloads by their digests, in a folder that several processes share. A file appears whole
 * or not at all; what is read is checked against its digest, and a damaged file counts as missing.
 * A folder that cannot be written is no error: then nothing is cached. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_cache;

/** @dir: created at the first write; NULL or "": nothing is cached. @scope: what is cached under it
 * is found under it alone; NULL: what everybody may have. All scopes of a folder have @max_bytes.
 */
struct sw_cache *sw_cache_new(const char *dir, const char *scope, size_t max_bytes);
/** The files stay. NULL is accepted. */
void sw_cache_free(struct sw_cache *cache);

/** The bytes with @digest ("sha256:<hex>"). @*out is the caller's, NUL-terminated. @return false:
 * missing or damaged */
bool sw_cache_get(struct sw_cache *cache, const char *digest, char **out, size_t *len);
/** Add @bytes, and remove the least recently used files where the cache gets too large. */
void sw_cache_put(struct sw_cache *cache, const char *digest, const void *bytes, size_t len);

/** The note under @key, such as a URL's digest and ETag; the caller's. NULL: there is none. */
struct json_object *sw_cache_note(struct sw_cache *cache, const char *key);
/** Write the note; at most 64 KiB of it are read again. */
void sw_cache_set_note(struct sw_cache *cache, const char *key, struct json_object *note);

/** Its folder, which is made; NULL: it has none. Borrowed. */
const char *sw_cache_dir(struct sw_cache *cache);
/** Create an empty folder in the cache, or in $TMPDIR where nothing is cached; heap.
 * @return 0 | SW_UNAVAILABLE, SW_FORBIDDEN */
int sw_cache_temp(struct sw_cache *cache, char **dir, struct sw_err *err) SW_CHECKED;
/** Remove a folder and all that is in it. */
void sw_cache_remove(const char *dir);

/** "sha256:<hex>", heap. */
char *sw_digest_of(const void *bytes, size_t len);
