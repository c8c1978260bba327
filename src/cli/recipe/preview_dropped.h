#pragma once
/* preview_dropped: the objects that a resource has on the cluster and its recipe does not have any
 * more. */

struct json_object;
struct sw_manifest;
struct sw_preview;

/** Add @manifest to @*rendered, a list that is made at need. @applied: as it would be applied, with
 * its namespace; NULL: it could not be tried. */
void sw_preview_note(struct json_object **rendered, const struct sw_preview *preview,
                     const struct sw_manifest *manifest, struct json_object *applied);

/** Entries of the resource's inventory that are not in @rendered (NULL: empty) and that a walk
 * deletes: a list, the caller's. What a state has that could not be rendered here is not among
 * them. */
struct json_object *sw_preview_dropped(const struct sw_preview *preview,
                                       struct json_object *rendered);
