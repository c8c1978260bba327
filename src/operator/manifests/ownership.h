#pragma once
/* ownership: what marks an object as a resource's, and how it is removed from an object that is
 * left behind (deletionPolicy: orphan), so that neither the garbage collector nor a later resource
 * takes the object for its own. Pod templates keep the label: running pods are not replaced. */

struct json_object;

/** The ownerReferences of @object without those of @uid: a new list, the caller's. NULL: @uid is
 * not an owner. */
struct json_object *sw_owners_without(struct json_object *object, const char *uid);
/** A merge patch that removes slipway's marks from @live, which the resource of @uid owned; the
 * caller's. NULL: there are none (any more). */
struct json_object *sw_ownership_release(struct json_object *live, const char *uid);
