#pragma once
/* fetch: recipes got by another process, so that neither the network nor an archive is waited for
 * here, and what git and archives need is loaded there: `<helper> fetch -`. Some run at a time, the
 * others wait. */
#include <stddef.h>

struct json_object;
struct sw_controller;

/** @answer as chart/fetch/helper.h has it, borrowed; @bundle too, where its code is 0. */
typedef void fetch_fn(struct json_object *answer, const char *bundle, size_t len, void *arg);

struct fetch;
/** @request is taken. @done is called once, never before this returned. Without a helper it is done
 * in this process, which waits. */
struct fetch *fetch_start(struct sw_controller *c, struct json_object *request, fetch_fn *done,
                          void *arg);
/** @done is not called any more. What was begun goes on for itself and fills the cache. NULL is
 * accepted. */
void fetch_cancel(struct fetch *f);
/** Cancel all of @c; helpers that run are killed. */
void fetch_close_all(struct sw_controller *c);
