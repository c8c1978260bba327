#pragma once
/* upgrade_graph: the release image of a version of OpenShift, by the update service. */
#include "base/base.h"

struct sw_http;
struct sw_upgrade_graph;

/** @code: 0, with the @image | SW_NOTFOUND: the version is in none of the channels |
 * SW_UNAVAILABLE. Borrowed for the call. */
typedef void sw_upgrade_graph_fn(int code, const char *message, const char *image, void *arg);

/** Ask for the release image of @version in the channels stable, fast and candidate. @base: the URL
 * of the service; NULL: $SLIPWAY_UPGRADE_GRAPH_URL, else Red Hat's. Answers once, never before it
 * returned. Source: the Cincinnati protocol of OpenShift's update service.
 * Pinned by test/emulator/operator/run_module_test.c. */
struct sw_upgrade_graph *sw_upgrade_graph_open(struct sw_http *http, const char *base,
                                               const char *version, sw_upgrade_graph_fn *fn,
                                               void *arg);
/** No callback of it runs from here on; needed after the answer, too. NULL is accepted. */
void sw_upgrade_graph_close(struct sw_upgrade_graph *graph);
