#pragma once
/* quota_scopes: which objects a ResourceQuota with scopes counts. */
#include <json-c/json_object.h>
#include <stdbool.h>

#include "emulator/store/store.h"

/** Whether @quota counts @doc, which is of @kind: of scopes all have to match, and an object that
 * is no pod matches none. Source: Kubernetes "Resource Quotas", quota scopes; the pod evaluator's
 * podMatchesScopeFunc() of kube-apiserver 1.36. */
bool sw_quota_counts(json_object *quota, const struct sw_emu_kind *kind, json_object *doc);
