#pragma once
/* lock: Chart.lock, the chosen version of each dependency. */
#include <stdbool.h>
#include <stddef.h>

#include "chart/recipe/load/chart.h"

struct json_object;

/** Of one chart. Zero-initialise; sw_lock_done(). */
struct sw_lock {
    bool is_read;
    struct json_object *doc; /* owned; NULL: the chart has none */
};

/** Read the chart's Chart.lock (requirements.lock of apiVersion v1), where it has one, and check
 * its digest against what Chart.yaml asks for.
 * @return 0 | SW_INVALID: malformed, or of other dependencies: file and reason
 * Source: Helm 3.7.1 internal/resolver HashReq and HashV2Req, pkg/downloader Manager.Build. Pinned
 * by test/unit/chart/recipe_elsewhere_test.c. */
int sw_lock_read(struct sw_lock *lock, const struct sw_chart *chart, struct sw_err *err) SW_CHECKED;
/** Free it. Twice is harmless. */
void sw_lock_done(struct sw_lock *lock);

/** The version of dependency @i: the locked one, else what Chart.yaml asks for. Borrowed. */
const char *sw_lock_version(const struct sw_lock *lock, const struct sw_chart *chart, size_t i);
