#pragma once
/* absent_charts: the vendors' charts of a recipe (slipway.dev/releases) that walking it does not
 * install, and what is there instead. A state of such a chart has no objects and is Ready at once,
 * which is not to be taken for one that works. */
#include "cli/recipe/preview.h"

/** Of an item of status.states: whose its release is, or who has brought what the chart would
 * install. @status: of the resource. Heap; NULL: its chart is installed, or it has none, or it is
 * not Ready. */
char *sw_chart_note(struct json_object *status, struct json_object *state);
/** All of a resource on the cluster but those that another one has: as sw_absent_charts_new(). */
struct json_object *sw_absent_charts_of(struct json_object *resource);

/** All charts of the recipe's releases: [{"state", "release", "namespace", "why", "shared"}]; the
 * caller's. */
struct json_object *sw_absent_charts_new(const struct sw_preview *preview);
/** @m is rendered: a chart that it is of is installed. What its state has instead of a chart below
 * it becomes that one's "why". */
void sw_absent_charts_take(struct json_object *list, const struct sw_preview *preview,
                           const struct sw_manifest *m);
/** Drop those that another resource has, which sw_preview_shared() tells of: @shared. */
void sw_absent_charts_drop_shared(struct json_object *list, struct json_object *shared);
/** They, for people: some lines, heap. */
char *sw_absent_charts_text(struct json_object *list);
