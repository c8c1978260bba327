#pragma once
/* quota: LimitRanges and ResourceQuotas of a namespace. */
#include "emulator/store/change.h"

/** Admission: default and check the resources of containers by the namespace's LimitRanges. */
int sw_limit_ranger(struct sw_write *w);
/** Admission: refuse a create that would exceed a ResourceQuota of the namespace. */
int sw_resource_quota(struct sw_write *w);
/** What is used of each resource that a ResourceQuota limits, for its `.status.used`; the caller's.
 */
json_object *sw_quota_used(struct sw_store *store, json_object *quota);
