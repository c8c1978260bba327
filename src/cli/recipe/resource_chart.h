#pragma once
/* resource_chart: the recipe of a resource or module from where its spec.chart says, as an operator
 * takes it, with the Secrets and ConfigMaps that it names. */
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_connection;
struct sw_recipe;

/** How to take it. Strings are borrowed. */
struct sw_resource_chart {
    struct sw_connection *conn; /* the cluster with the Secrets and ConfigMaps */
    const char *operator_ns;    /* where Secrets without a namespace are, and ConfigMaps are read
                                   without @account */
    const char *account;        /* who reads them; NULL: the user of @conn */
    const char *url;            /* instead of spec.chart.repository.url; NULL: that */
    int64_t timeout_ms;         /* of each fetch */
};
/** Open the recipe of @doc; the caller's.
 * @return 0 | SW_INVALID: a field of spec.chart, by its name | as the requests for Secrets and
 * ConfigMaps | as sw_fetcher_open() and sw_recipe_from_bundle() */
int sw_resource_chart_open(const struct sw_resource_chart *c, struct json_object *doc,
                           struct sw_recipe **out, struct sw_err *err) SW_CHECKED;
