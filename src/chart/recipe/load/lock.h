#pragma once
/* lock: what the dependencies of a chart are pinned to. Chart.lock, which is Helm's, has the chosen
 * version of each; slipway.lock, which Helm does not know, the digests of their archives. */
#include <stdbool.h>
#include <stddef.h>

#include "chart/recipe/load/chart.h"

struct json_object;

/** Of one chart. Zero-initialise; sw_lock_done(). */
struct sw_lock {
    bool is_read;
    struct json_object *doc;     /* owned; NULL: the chart has none */
    struct json_object *digests; /* owned; NULL: the chart has none */
    bool is_stale;               /* doc is of other dependencies than Chart.yaml has */
};

/** Read the chart's Chart.lock (requirements.lock of apiVersion v1), where it has one, and check
 * its digest against what Chart.yaml asks for; and its digests of archives. @allow_stale: one of
 * other dependencies is read, too.
 * @return 0 | SW_INVALID: malformed, or of other dependencies: file and reason
 * Source: Helm 3.7.1 internal/resolver HashReq and HashV2Req, pkg/downloader Manager.Build. Pinned
 * by test/unit/chart/recipe_elsewhere_test.c. */
int sw_lock_read(struct sw_lock *lock, const struct sw_chart *chart, bool allow_stale,
                 struct sw_err *err) SW_CHECKED;
/** Free it. Twice is harmless. */
void sw_lock_done(struct sw_lock *lock);

/** The version of dependency @i in Chart.lock; "": it is not in there. Borrowed. */
const char *sw_lock_entry(const struct sw_lock *lock, const struct sw_chart *chart, size_t i);
/** The version of dependency @i: the locked one, else what Chart.yaml asks for. In a lock that is
 * stale one counts that Chart.yaml still asks for. Borrowed. */
const char *sw_lock_version(const struct sw_lock *lock, const struct sw_chart *chart, size_t i);
/** The digest that the archive of @dep in @version must have; "": any. NULL: there are digests of
 * other versions of it alone, as where something else than slipway has written Chart.lock.
 * Borrowed. */
const char *sw_lock_digest(const struct sw_lock *lock, const struct sw_dependency *dep,
                           const char *version);

/** The digest in Chart.lock, "sha256:<hex>", where @asked are the dependencies in Chart.yaml and
 * @locked those in the lock; the caller's. */
char *sw_lock_digest_of(struct json_object *asked, struct json_object *locked);
