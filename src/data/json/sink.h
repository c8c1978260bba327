#pragma once
/* sink: a document as a sequence of events. The JSON and YAML readers and the json-c walker call
 * one; the json-c builder, the JSON and YAML writers are one, and so can be any other tree. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** What a sink does with each event. All are set. Texts are borrowed for the call, are UTF-8, may
 * hold NULs and are not NUL-terminated. A negative code ends the reading: the reader returns it,
 * with the place put in front of @err's words. The same key may come twice in one map (YAML's
 * merges, or duplicates where the caller allowed them): the last one wins. */
struct sw_sink_ops {
    int (*null)(void *arg, struct sw_err *err);
    int (*boolean)(void *arg, bool value, struct sw_err *err);
    int (*integer)(void *arg, int64_t value, struct sw_err *err);
    /** Only for what is larger than INT64_MAX. */
    int (*natural)(void *arg, uint64_t value, struct sw_err *err);
    /** @text: the JSON number as it was written, or NULL where there is no text. Also for integers
     * beyond 64 bits and for "-0". Always finite. */
    int (*real)(void *arg, double value, const char *text, size_t len_bytes, struct sw_err *err);
    int (*string)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*begin_map)(void *arg, struct sw_err *err);
    int (*key)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*end_map)(void *arg, struct sw_err *err);
    int (*begin_list)(void *arg, struct sw_err *err);
    int (*end_list)(void *arg, struct sw_err *err);
};

struct sw_sink {
    const struct sw_sink_ops *ops;
    void *arg;
};
