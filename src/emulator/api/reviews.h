#pragma once
/* reviews: who a token is (TokenReview), and what he may do (SubjectAccessReview). The cluster
 * authenticates no request and has no RBAC for objects: everybody may do everything with them.
 * Tokens that it made itself are known, and paths that are no resources ("/metrics") are for those
 * whom ClusterRoles and their bindings let. Internal to api. */
#include <stdint.h>

struct json_object;
struct sw_store;

/** The text of a token of a ServiceAccount; @uid makes it another one each time. The caller's. */
char *sw_reviews_token(const char *ns, const char *name, int64_t expires_s, const char *uid);

/** Fill in the status of a TokenReview: the token is one of sw_reviews_token() that has not
 * expired, and its ServiceAccount is there. */
void sw_reviews_token_review(struct json_object *doc, struct sw_store *store);
/** Fill in the status of a SubjectAccessReview. Pinned by
 * test/emulator/emulator/api_reviews_test.c. */
void sw_reviews_access_review(struct json_object *doc, struct sw_store *store);
/** The same of a SelfSubjectAccessReview: he may do everything. */
void sw_reviews_self_access_review(struct json_object *doc, struct sw_store *store);
