#pragma once
/* authorization: who may do what in the embedded cluster, by its Roles, ClusterRoles and bindings,
 * as kube-apiserver's RBAC authorizer decides it, in its words; and which rights may be given away.
 * Nobody is authenticated: who sends a request is for the caller to say. Source: Kubernetes "Using
 * RBAC Authorization"; k8s.io/kubernetes pkg/registry/rbac/validation; each text compared with a
 * kube-apiserver 1.20. Pinned by test/emulator/emulator/api_rbac_test.c. */
#include <json-c/json.h>
#include <stdbool.h>

struct sw_emu_kind;
struct sw_status;
struct sw_store;

/** The name of the administrator, as kubeadm has it. */
#define SW_ADMIN "kubernetes-admin"

/** Who sends a request. Zero is nobody; owned. */
struct sw_user {
    char *name;
    json_object *groups; /* a list of texts */
    char *node; /* of the pod that its token is bound to (authentication.kubernetes.io/node-name),
                   or NULL */
};
/** Free what it holds; harmless on a zeroed one. */
void sw_user_done(struct sw_user *user);
/** A user of this name, in the groups that the API server adds: a ServiceAccount's own, and
 * system:authenticated or system:unauthenticated. @groups: others, or NULL; taken. */
void sw_user_init(struct sw_user *user, const char *name, json_object *groups);
/** Whether the user is in @group. */
bool sw_user_is_in(const struct sw_user *user, const char *group);

/** What a user asks to do. Texts are borrowed; NULL is "". */
struct sw_attributes {
    const char *verb, *group, *resource, *subresource, *name, *ns;
    const char *path;   /* of what is no resource; NULL: it is one */
    const char *fields; /* the field selector of a list or watch */
};

/** Whether roles allow it, or, of a kubelet, what is on its node. @reason: what the API server says
 * of it, or NULL: nothing; the caller's; may itself be NULL. */
bool sw_rbac_allows(struct sw_store *store, const struct sw_user *user,
                    const struct sw_attributes *what, char **reason);
/** The 403 of a request that roles do not allow. @reason: of sw_rbac_allows(), or NULL.
 * @return SW_FORBIDDEN */
int sw_rbac_refuse(const struct sw_user *user, const struct sw_attributes *what, const char *reason,
                   struct sw_status *status);
/** Whether @verb of @what may be; else the status is the 403. @return 0 | SW_FORBIDDEN */
int sw_rbac_check(struct sw_store *store, const struct sw_user *user,
                  const struct sw_attributes *what, struct sw_status *status);

/** Nobody gives away rights that he does not have: @doc is a Role, ClusterRole or binding of @kind
 * as it would be stored, @old what it was, or NULL. All else is passed.
 * @return 0 | SW_FORBIDDEN | SW_NOTFOUND (the role of a binding) */
int sw_rbac_escalates(struct sw_store *store, const struct sw_user *user,
                      const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                      json_object *old, struct sw_status *status);

/** Fill in status.resourceRules and nonResourceRules of a SelfSubjectRulesReview: the rules of
 * @user in @ns. */
void sw_rbac_rules(struct sw_store *store, const struct sw_user *user, const char *ns,
                   json_object *doc);

struct sw_rbac;
/** Create the roles and bindings that a new cluster has, and keep aggregated ClusterRoles as their
 * selectors say. */
struct sw_rbac *sw_rbac_new(struct sw_store *store);
/** NULL is accepted. */
void sw_rbac_free(struct sw_rbac *rbac);
