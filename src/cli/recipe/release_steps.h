#pragma once
/* release_steps: what happens to the releases of a recipe's subcharts (slipway.dev/releases) when
 * it is walked: in which steps each is installed or goes to another version. */
#include "cli/recipe/preview.h"

/** Add what applying @m does to the list @releases, where it is of a release of its own:
 * [{"name", "namespace", "from", "to", "steps": [{"name", "objects": [{"kind", "name",
 * "change"}]}]}]. "from" is the version that is there; without it the release is new. "change" is
 * "new", "changed" or "same"; a hook has none: it runs. @return 0 | as sw_preview_apply() */
int sw_release_steps_add(struct json_object *releases, struct sw_preview *preview,
                         const struct sw_preview_pass *pass, const struct sw_manifest *m,
                         struct sw_err *err) SW_CHECKED;
/** Those of the list that change, or go to another version; the caller's. */
struct json_object *sw_release_steps_changed(struct json_object *releases);
/** They, for people: some lines, heap; with "record" (sw_aicr_upgrade()) and "vanishedValues"
 * (vanished_values.h), where they have them. */
char *sw_release_steps_text(struct json_object *releases);
