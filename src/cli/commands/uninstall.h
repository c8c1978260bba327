#pragma once
/* uninstall: internal to uninstall.c, uninstall_foreign.c, uninstall_left.c, uninstall_nodes.c and
 * uninstall_wait.c. */
#include "cli/cluster/connect.h"

struct json_object;
struct sw_kind;

/** The options of the command. */
struct uninstall_opts {
    struct sw_connect_opts connect;
    bool plan, yes, keep_operator, no_hooks;
    int64_t timeout_ms;
};

/** One run of the command. */
struct uninstall {
    struct uninstall_opts opts;
    struct sw_connection conn;
    const char *only;                /* one resource; NULL: all */
    struct json_object *resources;   /* all that there are; borrowed */
    size_t n_done, n_failed, n_kept; /* the last: resources */
};

/** Print one line for an action that is done or planned. @ns NULL: the kind has none; @why "": no
 * reason. */
void uninstall_say(struct uninstall *u, const char *verb, const char *kind, const char *ns,
                   const char *name, const char *why);
/** Print @err on stderr and count it. */
void uninstall_failed(struct uninstall *u, const struct sw_err *err);

/** Print which objects in the namespace @ns, which is planned to go, are neither slipway's nor what
 * every namespace has: kinds and names of some, and how many more. What may not be read is left
 * out. */
void uninstall_tell_foreign(struct uninstall *u, const char *ns);

/** @return whether the resource's objects stay when it is deleted (spec.deletionPolicy: orphan) */
bool uninstall_is_orphaning(struct json_object *resource);

/** The finalizer of @object that its own controller has to take off, borrowed; NULL: it has none
 * but Kubernetes' own (kubernetes.io, k8s.io, names without a domain). */
const char *uninstall_held_by(struct json_object *object);
/** Say that @object, which is being deleted and which uninstall_held_by() something, is waited for,
 * and wait until it has gone. @ns: NULL where the kind has none
 * @return 0 | SW_UNAVAILABLE: the time limit, or a signal; the message names object and finalizer
 */
int uninstall_await_gone(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                         struct json_object *object, struct sw_err *err) SW_CHECKED;

/** Remove from @node what @resource has set: labels, taints, the cordon of an upgrade; for an
 * orphaning resource only those of an upgrade. The labels are removed from the document, too. */
void uninstall_clear_node(struct uninstall *u, struct json_object *resource,
                          const struct sw_kind *node_kind, struct json_object *node);

/** What the resource @u->only, which does not exist any more, has left behind: a document of a
 * resource that has it in its status' inventory, what comes first to be removed last, and the
 * labels of @nodes among its states; the caller's. What other resources need is said to be kept. */
struct json_object *uninstall_left(struct uninstall *u, struct json_object *nodes);

/** No resource is left: take the label with the node's kernel off those nodes that have it from
 * slipway. Labels of Node Feature Discovery, and one that somebody else has set, stay. */
void uninstall_clear_kernels(struct uninstall *u, const struct sw_kind *node_kind);
