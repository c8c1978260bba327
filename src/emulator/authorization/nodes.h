#pragma once
/* nodes: what kubelets may read and write: those objects that pods on their node use. Internal to
 * authorization. Source: Kubernetes "Using Node Authorization". */
#include "emulator/authorization/authorization.h"

/** Whether @user is a node that may do it. @reason: the caller's: why not, where it is NULL and
 * something is said; may itself be NULL. */
bool nodes_allow(struct sw_store *store, const struct sw_user *user,
                 const struct sw_attributes *what, char **reason);
