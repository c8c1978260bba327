#pragma once
/* index: index.yaml, the list of charts that a Helm repository has. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** A chart of an index. All is borrowed from it. */
struct sw_index_entry {
    const char *version;
    const char *url;    /* the first one; relative to the repository's, or absolute */
    const char *digest; /* "<hex>" or "sha256:<hex>"; "" where the index has none */
};

/** Read one. @name is for messages. @*out is the caller's.
 * @return 0 | SW_INVALID: no YAML, not an index, over 64 MiB
 * Source: Helm 3.7.1 pkg/repo LoadIndex. Pinned by test/unit/chart/fetch_sources_test.c. */
int sw_index_parse(const char *name, const char *text, size_t len, struct json_object **out,
                   struct sw_err *err) SW_CHECKED;

/** The entry of chart @name that has exactly @version, else the newest that @version, a range, has
 * ("" or NULL: the newest that is no prerelease).
 * @return 0 | SW_NOTFOUND: no such chart, or no such version of it, with those that are there |
 *         SW_INVALID: the entry is not usable
 * Source: Helm 3.7.1 pkg/repo IndexFile.Get. */
int sw_index_find(struct json_object *index, const char *name, const char *version,
                  struct sw_index_entry *out, struct sw_err *err) SW_CHECKED;

/** Of @n versions the one that is exactly @want, else the newest in that range. @return its place,
 * or -1 */
int sw_version_choose(const char *const *versions, size_t n, const char *want);
