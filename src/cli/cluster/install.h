#pragma once
/* install: put the custom resource definitions and a SpecialResource onto a cluster. */
/** Field managers of what `slipway run` and `slipway rollback` write of a resource. */
#define SW_RUN_MANAGER "slipway-run"
#define SW_ROLLBACK_MANAGER "slipway-rollback"

struct json_object;
struct sw_connection;
struct sw_err;
struct sw_install;

/** @code: 0 | as the requests; @err is borrowed for the call. */
typedef void sw_install_fn(int code, const struct sw_err *err, void *arg);

/** Apply @resource (borrowed until the end) and, if the kind SpecialResource is not served, the
 * definitions that the program carries. What a rollback has set in the resource, and @resource has
 * not, goes. @done is called once, after this function has returned;
 * the handle is invalid then. */
struct sw_install *sw_install_start(struct sw_connection *conn, struct json_object *resource,
                                    sw_install_fn *done, void *arg);
/** The kinds that the program carries definitions of, but for SpecialResource: {kind: false}, the
 * caller's. */
struct json_object *sw_install_kinds(void);
/** Right after the start: of those, apply only the definitions of kinds that are true in @kinds
 * (borrowed until the end); else all of them are applied. */
void sw_install_limit(struct sw_install *install, struct json_object *kinds);
/** Stop without a call of the function. NULL is accepted. */
void sw_install_cancel(struct sw_install *install);
