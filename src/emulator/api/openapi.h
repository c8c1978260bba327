#pragma once
/* openapi: as much of the API's description as kubectl needs: that field validation is the
 * server's, that patches of custom resources are merge patches, and the schemas of custom resources
 * for `kubectl explain`. */
#include "emulator/api/request.h"

/** "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", heap. */
char *sw_openapi_path(const struct sw_emu_kind *kind, const char *version);
/** Answer /openapi/v2, as JSON or protobuf. */
void sw_openapi_v2(struct sw_req *req);
/** Answer /openapi/v3 and what lies under it. */
void sw_openapi_v3(struct sw_req *req);
