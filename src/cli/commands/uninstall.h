#pragma once
/* uninstall: what the parts of the command share. Internal to uninstall.c and
 * uninstall_nodes.c. */
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
    size_t n_done, n_failed, n_kept; /* the last: resources */
};

/** One line of what is done, or would be; @ns NULL: the kind has none; @why "": nothing to add. */
void uninstall_say(struct uninstall *u, const char *verb, const char *kind, const char *ns,
                   const char *name, const char *why);
/** Print @err on stderr and count it. */
void uninstall_failed(struct uninstall *u, const struct sw_err *err);

/** @return whether the resource's objects stay when it is deleted (spec.deletionPolicy: orphan) */
bool uninstall_is_orphaning(struct json_object *resource);

/** Take off @node what @resource has set on it: labels, taints, an upgrade's cordon; of one that
 * leaves all behind only an upgrade's. Its labels are taken out of @node, too. */
void uninstall_clear_node(struct uninstall *u, struct json_object *resource,
                          const struct sw_kind *node_kind, struct json_object *node);
