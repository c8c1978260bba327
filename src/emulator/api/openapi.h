#pragma once
/* openapi: the parts of the API's description that kubectl needs: the server validates fields,
 * patches of custom resources are merge patches, and the schemas of custom resources for `kubectl
 * explain`. */
#include "emulator/api/request.h"

/** "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", heap. */
char *sw_openapi_path(const struct sw_emu_kind *kind, const char *version);
/** The description's `info`: title and version; the caller's. */
json_object *sw_openapi_info(const struct sw_req *req);
/** Answer /openapi/v2, as JSON or protobuf. */
void sw_openapi_v2(struct sw_req *req);
/** Answer /openapi/v3 and the paths below it. */
void sw_openapi_v3(struct sw_req *req);
