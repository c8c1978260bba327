#pragma once
/* discovery: what is served, for discovery.c (one document for each question) and
 * discovery_aggregated.c (all of it in two). */
#include "emulator/api/request.h"

/** A group's versions, the preferred first. */
struct sw_api_group {
    const char *name;
    const char *versions[16];
    size_t n;
};
/** The served versions of the group @name, which is borrowed. */
struct sw_api_group sw_discovery_group(struct sw_store *store, const char *name);
/** Is this kind the first of its group? So that each group comes once. */
bool sw_discovery_is_first(struct sw_store *store, size_t at);
/** The `resources` of an APIResourceList, subresources too; the caller's. @but: this kind is not
 * listed; NULL: all are */
json_object *sw_discovery_resources(struct sw_store *store, const char *group, const char *version,
                                    const struct sw_emu_kind *but);

/** Answer /api (@core) or /apis with all kinds in it, where the client takes that and the release
 * has it (1.27: v2beta1, 1.30: v2). @return false: it is to be answered as ever */
bool sw_discovery_aggregated(struct sw_req *req, bool core);

/** Everything that is no resource: discovery, OpenAPI, /version, /healthz. @return false: no such
 * path */
bool sw_rest_nonresource(struct sw_req *req);
