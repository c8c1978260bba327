#pragma once
/* cluster_facts: the facts of a cluster that the controller would pass to templates, for commands
 * that write nothing. */
#include "base/base.h"
#include "operator/facts/facts.h"

struct json_object;
struct sw_connection;
struct sw_recipe;

/** Nodes and facts; sw_cluster_facts_done(). */
struct sw_cluster_facts {
    struct sw_facts *facts;
    struct sw_node_set *node_set; /* all nodes */
    struct sw_groups groups;      /* of the nodes that the resource takes */
};

/** Read the nodes and the single objects that facts come from; objects that cannot be read are
 * left out. @resource: its nodeSelector and tolerations select nodes, and what @recipe tolerates
 * (NULL: not known). sw_cluster_facts_done() in any case.
 * @return 0 | as sw_cluster_find() of the nodes */
int sw_cluster_facts_read(struct sw_connection *conn, struct json_object *resource,
                          const struct sw_recipe *recipe, struct sw_cluster_facts *out,
                          struct sw_err *err) SW_CHECKED;
/** Add the server's feature gates, if @recipe asks for them; they are left out if they cannot be
 * found out. */
void sw_cluster_facts_read_gates(struct sw_connection *conn, const struct sw_recipe *recipe,
                                 struct sw_cluster_facts *facts);
/** Free what @facts holds; it is empty then. */
void sw_cluster_facts_done(struct sw_cluster_facts *facts);
