#pragma once
/* managed_fields: metadata.managedFields: which manager owns which field. An update's changes go to
 * its manager and are taken from all others; a server-side apply owns the fields that it sets. */
#include "emulator/store/change.h"

/** Remove from a set the fields without an owner (apiVersion, metadata.name...). Takes @set; may
 * give NULL. */
json_object *sw_managed_strip(json_object *set);
/** The entry of managedFields with this identity; borrowed, NULL: none. */
json_object *sw_managed_find(json_object *doc, const char *manager, const char *operation,
                             const char *api_version, const char *subresource);
/** Set (takes @fields; NULL: remove) the entry's fields. */
void sw_managed_set(struct sw_write *w, const char *operation, json_object *fields);
/** Take @fields from every entry but the one of this write. */
void sw_managed_take(struct sw_write *w, const char *operation, json_object *fields);
/** Is @entry the one of this write? An apply's does not depend on the version it was made in. */
bool sw_managed_is_own(const struct sw_write *w, const char *operation, json_object *entry);
