#pragma once
/* managed_fields: metadata.managedFields: which manager owns which field. An update's changes go to
 * its manager and are taken from all others; a server-side apply owns the fields that it sets. */
#include "emulator/store/change.h"

/** Remove from a set the fields that have no owner (apiVersion, metadata.name...). Takes @set.
 * @return NULL: no field is left */
json_object *sw_managed_strip(json_object *set);
/** The fields of this write's entry in @doc; borrowed, NULL: it has no entry. */
json_object *sw_managed_find(const struct sw_write *w, json_object *doc, const char *operation);
/** Set the fields of this write's entry (takes @fields; NULL: remove the entry). */
void sw_managed_set(struct sw_write *w, const char *operation, json_object *fields);
/** Remove @fields from every entry but the one of this write. */
void sw_managed_take(struct sw_write *w, const char *operation, json_object *fields);
/** Whether @entry is the one of this write. That of an apply is so in any API version. */
bool sw_managed_is_own(const struct sw_write *w, const char *operation, json_object *entry);
