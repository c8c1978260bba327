#pragma once
/* awaited_labels: which states of a recipe choose nodes by labels of Node Feature Discovery that no
 * node has yet, where the recipe itself installs that: `slipway plan` cannot foresee their nodes.
 */
#include "cli/recipe/preview.h"

/** What is known of a recipe so far; sw_awaited_labels_done(). Zeroed: nothing. */
struct sw_awaited_labels {
    struct json_object *states; /* {state: [labels]}, owned; NULL: none */
    struct json_object *from;   /* names of states that install Node Feature Discovery; owned */
};
void sw_awaited_labels_done(struct sw_awaited_labels *awaited);
/** @m is rendered. */
void sw_awaited_labels_take(struct sw_awaited_labels *awaited, const struct sw_preview *preview,
                            const struct sw_manifest *m);
/** [{"state", "labels": ["KEY=VALUE" or "KEY"]}] in the order of the states; the caller's. Empty
 * where the recipe does not install Node Feature Discovery. */
struct json_object *sw_awaited_labels_list(const struct sw_awaited_labels *awaited);
/** The same for people: a line, or nothing; heap. */
char *sw_awaited_labels_text(const struct sw_awaited_labels *awaited);
