#pragma once
/* tape: everything that engines are told, and what they want done about it, as lines of JSON: what
 * a controller lived through on a cluster can be played again without one, step by step. Engines
 * are pure, so the same events give the same actions; where they do not, the program is another
 * one. Secrets are redacted (data/json/redact.h) before anything is written: content hashes that
 * stand on objects and in the status are changed along, so that what was equal still is. Pinned by
 * test/emulator/cli/recording_test.sh, test/fuzz/operator/recording_fuzz.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_action;
struct sw_actions;
struct sw_engine_opts;
struct sw_event;
struct sw_node_set_facts;
struct sw_recording;

/* ---- recording (recording_write.c)
 * ------------------------------------------------------------------
 */

/** All but @max_bytes is needed; borrowed for the call but for @arg. */
struct sw_recording_opts {
    const char *version; /* of the program */
    const char *salt;    /* random, for this tape alone */
    const struct sw_engine_opts *engine;
    size_t max_bytes; /* then it ends, and says so; 0: 64 MiB */
    void (*write)(const char *line, size_t len, void *arg); /* with its newline */
    void *arg;
};
struct sw_recording *sw_recording_new(const struct sw_recording_opts *opts);
void sw_recording_free(struct sw_recording *tape); /* NULL is accepted */

/* What follows is nothing where @tape is NULL. */

/** A new engine. @return its number on the tape */
uint64_t sw_recording_begin(struct sw_recording *tape, const char *resource);
void sw_recording_end(struct sw_recording *tape, uint64_t engine);
void sw_recording_step(struct sw_recording *tape, uint64_t engine, const struct sw_event *event,
                       const struct sw_actions *actions);

/* Of the roster: sw_node_set_tap() has it told. */
void sw_recording_put(struct sw_recording *tape, const struct sw_node_set_facts *facts);
void sw_recording_put_labels(struct sw_recording *tape, uint32_t node, struct json_object *labels,
                             uint64_t version);
void sw_recording_put_taints(struct sw_recording *tape, uint32_t node, struct json_object *taints,
                             const char *record);
void sw_recording_remove(struct sw_recording *tape, const char *node);

/* ---- playing (replay.c) ---------------------------------------------------------------------
 */

/** One step as it was played. Borrowed for the call. */
struct sw_recording_played {
    int line;
    int64_t now_ms;
    const char *resource, *event; /* name, kind of event */
    size_t n_actions;
    const char *const *actions; /* as sw_action_json(..., true) */
    /** What is on the tape instead of actions[differs]; NULL where it ends. @differs is n_actions
     * where only the tape has more; SIZE_MAX: they are the same. */
    size_t differs;
    const char *taped;
};

struct sw_recording_end {
    size_t n_steps, n_actions, n_different;
    int first_different; /* line; 0: none */
    int64_t began_ms, ended_ms;
    bool full; /* recording ended because there was no more room */
};

/** Is this the beginning of a tape? */
bool sw_recording_is(const char *text, size_t len);
/** Play it. @each (may be NULL) is told of every step.
 * @return 0, whether decisions differ or not | SW_INVALID "name:line: ..." */
int sw_recording_play(const char *text, size_t len, const char *name,
                      void (*each)(const struct sw_recording_played *step, void *arg), void *arg,
                      struct sw_recording_end *end, struct sw_err *err) SW_CHECKED;
