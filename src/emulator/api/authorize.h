#pragma once
/* authorize: who sends a request, and whether roles let him. A bearer token of a ServiceAccount is
 * that account, that of the kubeconfig is the administrator. Whoever brings none is anonymous, or,
 * where the kubeconfig has none, the administrator. All may impersonate others where they may.
 * Internal to api. */
#include "emulator/api/request.h"

/** Fill in req->user, and with req->rbac check that he may do what the request asks. @return false:
 * 401 or 403 was sent */
bool sw_rest_authorize(struct sw_req *req);
/** A server-side apply that creates its object needs that right, too. @return 0 | SW_FORBIDDEN */
int sw_rest_may_create(struct sw_req *req, struct sw_status *status);
/** A guard of writes (store.h), with the request as @arg: no right is given away that he who sends
 * it has not; what a ResourceClaim is allocated is written with the right to
 * resourceclaims/binding, what became of its devices with that to resourceclaims/driver. */
int sw_rest_guard(const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                  json_object *old, struct sw_status *status, void *arg);
/** Who sends the request, for admission: {username, groups}; new. */
json_object *sw_rest_review_user(const struct sw_req *req);
/** Whether roles allow what an expression of admission asks, with the request as @arg (store.h). */
bool sw_rest_allows(const struct sw_cel_question *question, char **reason, void *arg);
