#pragma once
/* reviews: who a token is (TokenReview), and what he may do (SubjectAccessReview and its kin).
 * Tokens that the cluster made itself are known. Without RBAC everybody may do everything with
 * objects, and paths that are no resources ("/metrics") are for those whom ClusterRoles and their
 * bindings let. Internal to api. Pinned by test/emulator/emulator/api_reviews_test.c,
 * api_rbac_test.c. */
#include "emulator/api/request.h"

/** The text of a token of a ServiceAccount; @uid makes it another one each time, or is that of the
 * pod that it is bound to (@bound). The caller's. */
char *sw_reviews_token(const char *ns, const char *name, int64_t expires_s, const char *uid,
                       bool bound);
/** The ServiceAccount of a token of sw_reviews_token() that has not expired; @user becomes its user
 * name, @node the node of the pod that it is bound to, or NULL; the caller's.
 * @return borrowed; NULL: it is none, or the account or that pod is gone */
json_object *sw_reviews_account(struct sw_store *store, const char *token, char **user,
                                char **node);

/** Fill in the status of a review, by the kind of the request. */
void sw_reviews_answer(struct sw_req *req, json_object *doc);
