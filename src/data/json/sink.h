#pragma once
/* sink: a document as a sequence of events. The JSON and YAML readers and sw_json_walk() call a
 * sink; the json-c builder, the JSON writer and the YAML writer are sinks. Trees of other types can
 * be built by sinks of their own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** The functions that receive the events; all must be set. Texts are borrowed for the call; they
 * are UTF-8, may contain NULs and are not NUL-terminated. A negative return value ends the reading:
 * the reader returns it and puts the place in front of @err's message. The same key may occur twice
 * in one map (by YAML's merges, or where the caller allows duplicates): the last one wins. */
struct sw_sink_ops {
    int (*null)(void *arg, struct sw_err *err);
    int (*boolean)(void *arg, bool value, struct sw_err *err);
    int (*integer)(void *arg, int64_t value, struct sw_err *err);
    /** Only for integers larger than INT64_MAX. */
    int (*natural)(void *arg, uint64_t value, struct sw_err *err);
    /** @value is finite. @text: the number as the JSON text has it; NULL if the number does not
     * come from JSON. Integers of more than 64 bits and "-0" are reported here too. */
    int (*real)(void *arg, double value, const char *text, size_t len_bytes, struct sw_err *err);
    int (*string)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*begin_map)(void *arg, struct sw_err *err);
    int (*key)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*end_map)(void *arg, struct sw_err *err);
    int (*begin_list)(void *arg, struct sw_err *err);
    int (*end_list)(void *arg, struct sw_err *err);
};

/** A sink; the owner of @arg defines how long it is valid. */
struct sw_sink {
    const struct sw_sink_ops *ops;
    void *arg;
};
