#pragma once
/* discovery: which kinds are served, for discovery.c (one document for each group and version) and
 * discovery_aggregated.c (two documents for all). */
#include "emulator/api/request.h"

/** A group's versions, the preferred first. */
struct sw_api_group {
    const char *name;
    const char *versions[16];
    size_t n;
};
/** The served versions of the group @name, which is borrowed. */
struct sw_api_group sw_discovery_group(struct sw_store *store, const char *name);
/** Whether the kind at index @at is served and the first of its group, so that a walk over the
 * kinds meets each group once. */
bool sw_discovery_is_first(struct sw_store *store, size_t at);
/** The `resources` of an APIResourceList, subresources too; the caller's. @omitted: a kind to leave
 * out, or NULL */
json_object *sw_discovery_resources(struct sw_store *store, const char *group, const char *version,
                                    const struct sw_emu_kind *omitted);

/** Answer /api (@core) or /apis with all kinds in one document, where the client accepts that and
 * the release has it (1.27: v2beta1, 1.30: v2). @return false: not answered */
bool sw_discovery_aggregated(struct sw_req *req, bool core);

/** Answer what is no resource: discovery, OpenAPI, /version, /healthz. @return false: no such path
 */
bool sw_rest_nonresource(struct sw_req *req);
