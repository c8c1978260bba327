#pragma once
/* recording: every event that engines got, the actions that they returned and the changes of their
 * node set, as lines of JSON. Engines are pure: the same events give the same actions, so a
 * recording made on a cluster is replayed without one (replay.h), step by step.
 *
 * Secrets are redacted (data/json/redact.h) before a line is written. The hashes of contents, which
 * stand on objects and in the status, are replaced by those of the redacted contents, so that what
 * was equal still is. Pinned by test/emulator/cli/recording_test.sh and
 * test/fuzz/operator/recording_fuzz.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operator/engine/engine.h"

struct sw_recording;

/** All but @max_bytes is needed; borrowed for the call, but for @arg. */
struct sw_recording_opts {
    const char *version; /* of the program */
    const char *salt;    /* random, for this recording alone */
    const struct sw_engine_opts *engine;
    size_t max_bytes; /* at which it ends with a line that says so; 0: 64 MiB */
    void (*write)(const char *line, size_t len, void *arg); /* with its newline */
    void *arg;
};

/** Start a recording: writes its first line. The caller's. */
struct sw_recording *sw_recording_new(const struct sw_recording_opts *opts);
void sw_recording_free(struct sw_recording *recording); /* NULL is accepted */

/* The functions below do nothing where @recording is NULL. */

/** A new engine, of @resource. @return its number in the recording */
uint64_t sw_recording_begin(struct sw_recording *recording, const char *resource);
/** The engine of that number is freed. */
void sw_recording_end(struct sw_recording *recording, uint64_t engine);
/** An event of an engine, and the actions that its step returned. */
void sw_recording_step(struct sw_recording *recording, uint64_t engine,
                       const struct sw_event *event, const struct sw_actions *actions);
/** Record each change of @nodes from here on; @recording is borrowed as long as they live. */
void sw_recording_observe(struct sw_recording *recording, struct sw_node_set *nodes);

/** An action as one line of JSON without newline; heap, the caller's. @brief: without documents,
 * which is how a recording has it. */
char *sw_action_json(const struct sw_action *action, bool brief);
/** "observed", "timer": as recordings have it; "?" for a number that is none. */
const char *sw_event_kind_name(enum sw_event_kind kind);
/** "apply", "watch"; likewise. */
const char *sw_action_kind_name(enum sw_action_kind kind);
