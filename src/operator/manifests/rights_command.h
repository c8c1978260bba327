#pragma once
/* rights_command: the command that prints the rights which a resource's account lacks. */
struct json_object;

/** Without spec.serviceAccountName a resource is walked as the account of this name and its own. */
#define SW_ACCOUNT_PREFIX "slipway-"

/** `slipway rbac ... | kubectl apply -f -` for @resource, whose namespace is @ns, and @account
 * ("system:serviceaccount:NAMESPACE:NAME"); the caller's. Pinned by
 * test/emulator/operator/run_plan_test.c. */
char *sw_rights_command(struct json_object *resource, const char *ns, const char *account);
