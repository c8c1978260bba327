#pragma once
/* node_restriction: the admission controller NodeRestriction: what a kubelet may write. Who has the
 * name system:node:NAME and is in the group system:nodes is that node. It acts where roles say who
 * may do what. Source: Kubernetes "Using Node Authorization", "Admission Controllers". Pinned by
 * test/emulator/emulator/node_rights_test.sh. */
#include "emulator/store/change.h"

/** The node that a user is; borrowed from @name. NULL: none. */
const char *sw_node_identity(const char *name, json_object *groups);

/** The mutating controller: creates and updates. @return 0 | SW_FORBIDDEN | SW_NOTFOUND */
int sw_node_restriction(struct sw_write *w);
/** The same for deletions. */
int sw_node_restriction_delete(struct sw_write *w);
/** Whether @user ({username, groups}) may evict @pod. @return 0 | SW_FORBIDDEN */
int sw_node_may_evict(struct sw_store *store, json_object *user, json_object *pod,
                      struct sw_status *status);
/** Whether @user may get the token that @request (a TokenRequest) asks for, of the ServiceAccount
 * @name in @ns. @return 0 | SW_FORBIDDEN | SW_NOTFOUND */
int sw_node_may_request_token(struct sw_store *store, json_object *user, const char *ns,
                              const char *name, json_object *request, struct sw_status *status);
