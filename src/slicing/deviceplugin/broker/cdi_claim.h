#pragma once
/* internal to the broker's sources: the CDI specification of a ResourceClaim. Its devices are
 * called by the claim's UID, so that kubelet's answer stays true after a boot, when instances have
 * other UUIDs. */
#include <json-c/json.h>

#include "slicing/deviceplugin/broker/broker.h"
#include "slicing/deviceplugin/broker/device_nodes.h"

/** What the file stands for: "mig.slipway.dev/claim=UID". The caller's. */
char *cdi_claim_identity(const char *uid);
/** The document, the caller's: a device for each group of the claim's devices, and where there are
 * several groups one of all. With @host each has its device nodes; where nothing is missing there
 * and the toolkit's libraries are known the file has these, too, and NVIDIA's runtime has nothing
 * to do
 * ("void"). Else that finds the devices by their UUIDs. */
struct json_object *cdi_claim_make(const struct dp_grant *grant,
                                   const struct dp_host *host) SW_CHECKED;
/** The UID in such a document, borrowed; NULL: it is none. */
const char *cdi_claim_uid(struct json_object *doc);
