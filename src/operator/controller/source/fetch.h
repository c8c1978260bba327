#pragma once
/* fetch: recipes fetched by a child process, `<helper> fetch -`, so that neither the network nor an
 * archive blocks the event loop, and the libraries for git and archives are loaded there. Four run
 * at a time, the others wait. */
#include <stddef.h>

struct json_object;
struct sw_loop;

/** @answer as chart/fetch/helper.h has it, borrowed; @bundle too, where its code is 0. */
typedef void fetch_fn(struct json_object *answer, const char *bundle, size_t len, void *arg);

struct fetch;
struct fetch_queue;

/** @helper: the program, copied; NULL: recipes are fetched in this process, which waits. */
struct fetch_queue *fetch_queue_new(struct sw_loop *loop, const char *helper);
/** Cancel all fetches; helpers that run are killed. */
void fetch_queue_free(struct fetch_queue *q);

/** @request is taken. @done is called once, never before this returned. */
struct fetch *fetch_start(struct fetch_queue *q, struct json_object *request, fetch_fn *done,
                          void *arg);
/** @done is not called any more. A helper that runs goes on and fills the cache. NULL is accepted.
 */
void fetch_cancel(struct fetch *f);
