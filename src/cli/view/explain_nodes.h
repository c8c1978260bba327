#pragma once
/* explain_nodes: what an operator is at on which node. Some operators go through nodes one by one
 * and note in a label of the node how far they are, while their custom resource says no more than
 * that it is not ready. */

struct json_object;
struct sw_connection;

/** The nodes on which the operator of the custom resource @object is at work, or has given up, a
 * link of the chain each (sw_explain()): an array, the caller's; NULL: the operator notes nothing,
 * there is none, or nodes cannot be read. */
struct json_object *sw_explain_nodes(struct sw_connection *conn, struct json_object *object);
