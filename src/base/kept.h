#pragma once
/* kept: bytes that are kept for long and read now and then: recipes, manifests. Large ones are in
 * files without names (sw_file_unnamed()), mapped, so that they take no memory while nobody reads
 * them, unless that file is in memory. */
#include <stddef.h>

#include "base/base.h"

struct sw_kept;

/** Keep a copy of @bytes. */
struct sw_kept *sw_kept_new(const char *bytes, size_t len);
/** Keep what is in the file @fd, from its beginning; it is closed in any case. Nobody must change
 * the file any more. @return 0 | SW_INVALID: there are more than @most bytes in it | SW_UNAVAILABLE
 */
int sw_kept_take_file(int fd, size_t most, struct sw_kept **out, struct sw_err *err) SW_CHECKED;
/** Its first @n bytes do not belong to it any more. */
void sw_kept_skip(struct sw_kept *kept, size_t n);
/** One more reference: each is given back by sw_kept_free(). */
struct sw_kept *sw_kept_ref(struct sw_kept *kept);
/** NULL is accepted. */
void sw_kept_free(struct sw_kept *kept);
SW_DEFINE_AUTO(sw_kept, sw_kept_free)

/** Borrowed, not NUL-terminated. They count as memory until sw_kept_rest(). */
const char *sw_kept_bytes(const struct sw_kept *kept);
size_t sw_kept_len(const struct sw_kept *kept);
/** They are not needed in memory for some time. */
void sw_kept_rest(const struct sw_kept *kept);
/** The same of @len bytes at @bytes, which are a part of what is kept. */
void sw_kept_rest_range(const struct sw_kept *kept, const char *bytes, size_t len);
/** Are these the bytes? */
bool sw_kept_equal(const struct sw_kept *kept, const char *bytes, size_t len);
/** Is it kept elsewhere than in memory? */
bool sw_kept_is_away(const struct sw_kept *kept);
