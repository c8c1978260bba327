#pragma once
/* install: put the custom resource definitions and a SpecialResource onto a cluster. */
struct json_object;
struct sw_connection;
struct sw_err;
struct sw_install;

typedef void sw_install_fn(int code, const struct sw_err *err, void *arg);

/** Install the definitions that the program carries, where SpecialResource is not served, and apply
 * @resource (borrowed until the end). @done is called once, never before this returned, then the
 * handle is dead. */
struct sw_install *sw_install_start(struct sw_connection *conn, struct json_object *resource,
                                    sw_install_fn *done, void *arg);
/** @done is not called. NULL is accepted. */
void sw_install_cancel(struct sw_install *install);
