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
/** Print what is written until a signal comes or the resource is gone.
 * @return 0 | as sw_cluster_resource() | SW_INVALID */
int sw_logs_follow(struct sw_connection *conn, const struct sw_logs_choice *choice,
                   struct sw_err *err) SW_CHECKED;
