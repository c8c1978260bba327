#pragma once
/* recommend: whether recipes of NVIDIA's AI Cluster Runtime fit a cluster. */

/** Hold @source (a catalogue, a RecipeResult or a bundle) against the cluster of a snapshot that
 * aicr has taken, and print what `slipway recommend` prints. No cluster is asked.
 * @criteria: "intent=training,...", what a cluster does not decide; NULL: any
 * @output: "json": one document; else text
 * @return an enum sw_exit: SW_EXIT_FAILED where nothing fits */
int recommend_offline(const char *command, const char *source, const char *criteria,
                      const char *snapshot, const char *output);
