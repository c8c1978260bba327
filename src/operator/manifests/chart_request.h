#pragma once
/* chart_request: the request for the fetch helper (chart/fetch/helper.h) that follows from a
 * resource's spec.chart, and from the Secrets and ConfigMaps that it names. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;

/** The field that asks for verified signatures, as messages name it. */
#define SW_CHART_VERIFY "spec.chart.verify"

/** What the request is made of, besides the resource. */
struct sw_chart_request {
    const char *from;           /* the chart itself: sw_fetch_chart_url() */
    struct json_object *secret; /* of spec.chart.repository.secretRef; NULL: none */
    struct json_object *keys;   /* the Secret of spec.chart.verify: keyrings; NULL: not verified */
    struct json_object *maps;   /* the ConfigMaps that were read for it */
};
/** The request for the chart of @doc, a resource or module; the caller's. Caches, mirrors and
 * limits are left to the caller.
 * @return 0 | SW_INVALID: the Secret of spec.chart.verify holds no key */
int sw_chart_request_make(struct json_object *doc, const struct sw_chart_request *parts,
                          struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The place of @url, cm://<namespace>/<name>[/...], the caller's. @return 0 | SW_INVALID */
int sw_chart_map_split(const char *url, char **ns, char **name, struct sw_err *err) SW_CHECKED;
/** What stands in the request for a ConfigMap that does not exist, the caller's. */
struct json_object *sw_chart_map_missing(const char *ns, const char *name);
