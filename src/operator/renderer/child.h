#pragma once
/* child: one renderer process, as the controller sees it. */
#include <stdbool.h>
#include <stddef.h>

#include "operator/renderer/renderer.h"

struct child;
struct sw_kept;
/** What a child tells; none is called from a function below. After @ended the child is only to be
 * freed. */
struct child_events {
    void (*message)(char type, const char *text, size_t len, void *arg);
    /** It is not there any more. @why, borrowed: for people. @over: it went over a limit. */
    void (*ended)(const char *why, bool over, void *arg);
    /** It had no work for idle_ms. */
    void (*idle)(void *arg);
    void *arg;
};
/** Start one. @opts with defaults filled in, borrowed. NULL: it cannot be started. */
struct child *child_start(struct sw_loop *loop, const struct sw_renderers_opts *opts,
                          const struct child_events *events);
/** Kill it. NULL is accepted. */
void child_free(struct child *child);
/** Send a message: @text, and after it @bytes, which get a reference, or NULL. Its clock starts. */
void child_send(struct child *child, char type, const char *text, size_t text_len,
                struct sw_kept *bytes);
/** Its clock stops: it waits for the controller. @idle: it has no work. */
void child_rests(struct child *child, bool idle);
