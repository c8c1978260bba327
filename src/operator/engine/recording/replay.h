#pragma once
/* replay: a recording (recording.h) is given to new engines, event by event, and their actions are
 * compared with the recorded ones. Pinned by test/emulator/cli/recording_test.sh and
 * test/fuzz/operator/recording_fuzz.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct sw_engine;

/** One step of a replay. Borrowed for the call. */
struct sw_replay_step {
    int line; /* of the recording */
    int64_t now_ms;
    const char *resource, *event; /* name, kind of event */
    struct sw_engine *engine;     /* that of the resource, after this step */
    size_t n_actions;
    const char *const *actions; /* as sw_action_json(..., true) */
    /** The first action that is not as recorded. SIZE_MAX: all are; n_actions: the recording has
     * more actions than that. */
    size_t differs;
    const char *recorded; /* instead of actions[differs]; NULL: the recording has none there */
};

/** What came of a replay. */
struct sw_replay_result {
    size_t n_steps, n_actions, n_different; /* n_different: steps with other actions */
    int first_different;                    /* line; 0: none */
    int64_t began_ms, ended_ms;             /* times of the first and the last step */
    bool full;                              /* the recording ended at its size limit */
};

/** Is @text the beginning of a recording? */
bool sw_recording_is(const char *text, size_t len);

/** Replay the recording @text; @name is that of its file, for messages. @each (may be NULL) is
 * called for every step.
 * @return 0, whether actions differ or not | SW_INVALID "name:line: ..." */
int sw_replay(const char *text, size_t len, const char *name,
              void (*each)(const struct sw_replay_step *step, void *arg), void *arg,
              struct sw_replay_result *result, struct sw_err *err) SW_CHECKED;
