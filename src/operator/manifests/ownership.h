#pragma once
/* ownership: what marks an object as a resource's, and how it is removed from an object that is
 * left behind (deletionPolicy: orphan), so that neither the garbage collector nor a later resource
 * takes the object for its own. Pod templates keep the label: running pods are not replaced. And
 * whose the fields of an object are that SRO or DAS wrote. */
#include <stdbool.h>

struct json_object;

/** The ownerReferences of @object without those of @uid: a new list, the caller's. NULL: @uid is
 * not an owner. */
struct json_object *sw_owners_without(struct json_object *object, const char *uid);
/** A merge patch that removes slipway's marks from @live, which the resource of @uid owned; the
 * caller's. NULL: there are none (any more). */
struct json_object *sw_ownership_release(struct json_object *live, const char *uid);

/** Annotation of a definition: the shared release that it was of when it was left behind. */
#define SW_KEPT_NOTE "slipway.dev/kept"
/** The same of a definition of the shared release @release, which stays for who installs that
 * again; never NULL. */
struct json_object *sw_ownership_keep(struct json_object *live, const char *uid,
                                      const char *release);
/** A merge patch that makes @live, which the resource of @uid owned, one of @heir's ({"name",
 * "uid"}, a SpecialResource); the caller's. NULL: it is not @uid's (any more). */
struct json_object *sw_ownership_hand_over(struct json_object *live, const char *uid,
                                           const char *name, struct json_object *heir);

/** Is the entry of metadata.managedFields one of SRO's or DAS's, about anything but the status? */
bool sw_entry_is_of_predecessor(struct json_object *entry);
/** Make @to the union of both sets of fields (fieldsV1), which are maps of maps. @from: or NULL. */
void sw_fields_add(struct json_object *to, struct json_object *from);
/** A JSON patch that makes the fields of those entries of metadata.managedFields for which
 * @is_theirs says so fields that @manager has applied, with those that it has applied already: what
 * it leaves out of its next apply goes then. The patch, the caller's, is refused (SW_CONFLICT) by
 * an object that has changed since @live was read. NULL: there is no such entry. Fields of the
 * status stay out: servers without entries for subresources have them in the object's. Source:
 * Kubernetes "Server-Side Apply", transferring ownership; client-go's csaupgrade. */
struct json_object *sw_ownership_take_fields(struct json_object *live,
                                             bool (*is_theirs)(struct json_object *entry),
                                             const char *manager);
