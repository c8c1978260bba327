#pragma once
/* recorder: the option --record: a recording of the engine
 * (operator/engine/recording/recording.h) in a file. */
#include <stdint.h>

#include "base/base.h"

struct sw_recorder;
struct sw_recording;

/** The options, and their rows for a command's table of flags. */
struct sw_record_opts {
    const char *file;
    int64_t max_mib; /* 0: 64 */
};
#define SW_RECORD_FLAGS(type, member)                                                              \
    SW_FLAG_ROW("record", 0, SW_FLAG_STRING, offsetof(type, member.file), "FILE",                  \
                "record what is observed and decided, without secrets, for 'slipway replay'"),     \
        SW_FLAG_ROW("record-size", 0, SW_FLAG_COUNT, offsetof(type, member.max_mib), "MIB",        \
                    "size limit of the recording in MiB (default 64)")

/** Create the file, which only its owner may read. @*out: the caller's, NULL if no file is named.
 * @return 0 | as opening a file does */
int sw_recorder_open(const struct sw_record_opts *opts, struct sw_recorder **out,
                     struct sw_err *err) SW_CHECKED;
/** @return borrowed from @recorder; NULL for NULL */
struct sw_recording *sw_recorder_recording(const struct sw_recorder *recorder);
/** NULL is accepted. */
void sw_recorder_close(struct sw_recorder *recorder);
