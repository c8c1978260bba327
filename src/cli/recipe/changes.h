#pragma once
/* changes: what a recipe has more, less and otherwise with another version of a chart in it. */
#include "base/base.h"
#include "cli/recipe/recipe_flags.h"

struct json_object;
struct sw_pin;

/** A recipe with one of the charts in it. All is borrowed. */
struct sw_changes_of {
    const struct sw_opened_recipe *recipe; /* planned */
    const struct sw_pin *pin;              /* of that chart */
};

/** Compare @before, whose recipe may be NULL for none, with @after: a map of sections, each with
 * the maps "added", "removed" (key to text) and "changed" (key to [before, after]); what does not
 * change is left out.
 *
 *   values       what the chart's templates see, by path
 *   unknown      values that the recipe sets, and that only the chart before has a default for
 *   definitions  CustomResourceDefinitions by version: "served, stored"
 *   fields       of versions that both have: their types
 *   images       what the manifests name
 *   rights       rules of roles: their verbs; bindings: who has them
 *   objects      kind, namespace and name of all
 *
 * @*out is the caller's. @return 0 | as sw_recipe_render() */
int sw_changes(const struct sw_changes_of *before, const struct sw_changes_of *after,
               struct json_object **out, struct sw_err *err) SW_CHECKED;

/** The same for two of Helm's records of a release, unpacked: the sections values (what is set),
 * objects, and
 *
 *   chart        its name, version and where it came from
 *   files        templates, other files and values.yaml, by digest
 *   content      of objects that both have: their leaves. Values of Secrets, and those that are
 *                named like secrets, are told apart by digest only
 *
 * @return the caller's */
struct json_object *sw_changes_of_releases(struct json_object *before, struct json_object *after);

/** Print them for people, a line a change: "+ added", "- removed", "~ changed". */
void sw_changes_print(struct json_object *changes, bool in_colour);
