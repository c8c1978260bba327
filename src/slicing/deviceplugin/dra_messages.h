#pragma once
/* dra_messages: kubelet's protobuf messages about ResourceClaims as plain data. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/messages.h"

#define DP_DRA_HEALTH "/v1alpha1.DRAResourceHealth/NodeWatchResources"

/** PluginInfo: what is served at the socket @endpoint. */
struct dp_bytes dp_dra_info(const char *endpoint);
/** RegistrationStatus. @trouble: kubelet's error, "" where it has taken the registration; the
 * caller's. @return 0 | SW_INVALID */
int dp_dra_read_status(const uint8_t *bytes, size_t len, char **trouble,
                       struct sw_err *err) SW_CHECKED;

/** NodePrepareResourcesRequest, NodeUnprepareResourcesRequest: the claims, the caller's
 * (dp_refs_free()). @return 0 | SW_INVALID: no such message, or a claim without a name that could
 * be one */
int dp_dra_read_claims(const uint8_t *bytes, size_t len, struct dp_ref **out, size_t *n,
                       struct sw_err *err) SW_CHECKED;
/** With the array. NULL is accepted. */
void dp_refs_free(struct dp_ref *refs, size_t n);

/** The answer for one claim: what it has, or why not. */
struct dp_dra_answer {
    const char *uid;
    const struct dp_grant *grant; /* NULL: @error; of Unprepare always NULL */
    const char *error;            /* NULL: none */
};
/** NodePrepareResourcesResponse. */
struct dp_bytes dp_dra_prepared(const struct dp_dra_answer *answers, size_t n, const char *pool);
/** NodeUnprepareResourcesResponse. */
struct dp_bytes dp_dra_unprepared(const struct dp_dra_answer *answers, size_t n);

/** The health of a device. */
struct dp_dra_health {
    char *device;
    bool healthy;
    char *message; /* NULL: none */
};
/** NodeWatchResourcesResponse. @timeout_s: how long kubelet believes it. */
struct dp_bytes dp_dra_health(const struct dp_dra_health *devices, size_t n, const char *pool,
                              int64_t at_s, int64_t timeout_s);
