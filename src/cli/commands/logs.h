#pragma once
/* logs: what the sources of the command logs share. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** Which containers of a resource. Borrowed. */
struct sw_logs_choice {
    const char *name;      /* of the resource */
    const char *state;     /* NULL: all */
    const char *container; /* NULL: all */
    int tail;              /* lines of what has run before; 0: all */
};

/** 0 | SW_INVALID: the resource has no such state (NULL: any). */
int sw_logs_check_state(struct json_object *resource, const char *state,
                        struct sw_err *err) SW_CHECKED;
/** A line of a container, without its end. */
void sw_logs_print(const char *pod, const char *container, const char *line, size_t len);

/** The log of one instance of a container, printed as it is written. Where it breaks off it is
 * taken up again, until the pod is gone (logs_stream.c). */
struct sw_logs_stream;
/** @tail: lines of what was written before; 0: all. @before: of the instance before, or NULL: where
 * that one has broken off, it may have printed some of this one's lines, and ends. */
struct sw_logs_stream *sw_logs_stream_new(struct sw_connection *conn, const char *ns,
                                          const char *pod, const char *container, int tail,
                                          struct sw_logs_stream *before);
/** Does the container run, as its pod has it? What has ended while it does may be a server's stop.
 */
void sw_logs_stream_set_running(struct sw_logs_stream *stream, bool runs);
/** Is nothing to come any more? */
bool sw_logs_stream_is_over(const struct sw_logs_stream *stream);
/** NULL is accepted. */
void sw_logs_stream_free(struct sw_logs_stream *stream);

/** Print what is written until a signal comes or the resource is gone.
 * @return 0 | as sw_cluster_resource() | SW_INVALID */
int sw_logs_follow(struct sw_connection *conn, const struct sw_logs_choice *choice,
                   struct sw_err *err) SW_CHECKED;
