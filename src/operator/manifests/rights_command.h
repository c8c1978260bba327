#pragma once
/* rights_command: the command that prints the rights which a resource's account lacks. */
struct json_object;

/** Without spec.serviceAccountName a resource is walked as the account of this name and its own. */
#define SW_ACCOUNT_PREFIX "slipway-"

/** What `slipway rbac` is told of @resource, whose namespace is @ns: the folder or archive that its
 * recipe is in, and options; the caller's. NULL: the recipe is no file that can be named so. */
char *sw_rights_recipe(struct json_object *resource, const char *ns);

/** `slipway rbac ... | kubectl apply -f -` for @resource, whose namespace is @ns, and @account
 * ("system:serviceaccount:NAMESPACE:NAME"); the caller's. Pinned by
 * test/emulator/operator/run_plan_test.c. */
char *sw_rights_command(struct json_object *resource, const char *ns, const char *account);
