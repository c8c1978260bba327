#pragma once
/* ranges: the addresses of the cluster's services and pods, which no source of recipes may be at.
 * They are what nodes (podCIDRs), ServiceCIDRs and OpenShift's Network say. Where the cluster names
 * no range of services, it is taken to be around the address of the Service default/kubernetes. */
#include <stdbool.h>

struct json_object;
struct ranges;
struct sw_kube;
struct sw_loop;

/** @known: called from the loop when ranges_are_known() has become true. */
struct ranges *ranges_new(struct sw_loop *loop, struct sw_kube *kube, void (*known)(void *arg),
                          void *arg);
void ranges_free(struct ranges *r); /* NULL is accepted */
/** What a Node says. */
void ranges_add_node(struct ranges *r, struct json_object *node);
/** Whether they have been read, not long ago. If not, they are read now. What cannot be read is
 * logged, and counts as read. */
bool ranges_are_known(struct ranges *r);
/** As a list of CIDRs: a new document, the caller's. */
struct json_object *ranges_to_json(const struct ranges *r);
