#pragma once
/* index: index.yaml, the list of charts in a Helm repository. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** One version of a chart in an index. All is borrowed from the index. */
struct sw_index_entry {
    const char *version;
    const char *url;    /* the first one; relative to the repository's, or absolute */
    const char *digest; /* "<hex>" or "sha256:<hex>"; "" where the index has none */
};

/** Read an index. @name is for messages. @*out is the caller's.
 * @return 0 | SW_INVALID: no YAML, not an index, over 64 MiB
 * Source: Helm 3.7.1 pkg/repo LoadIndex. Pinned by test/unit/chart/fetch_sources_test.c. */
int sw_index_parse(const char *name, const char *text, size_t len, struct json_object **out,
                   struct sw_err *err) SW_CHECKED;

/** The entry of chart @name with exactly @version, else the newest in the range @version ("" or
 * NULL: the newest that is no prerelease).
 * @return 0 | SW_NOTFOUND: no such chart, or no such version of it; the message lists the others |
 *         SW_INVALID: the entry is not usable
 * Source: Helm 3.7.1 pkg/repo IndexFile.Get. */
int sw_index_find(struct json_object *index, const char *name, const char *version,
                  struct sw_index_entry *out, struct sw_err *err) SW_CHECKED;

/** Of @n versions the one that is exactly @want, else the newest in the range @want.
 * @return its index, or -1 */
int sw_version_choose(const char *const *versions, size_t n, const char *want);
