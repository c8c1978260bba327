#pragma once
/* fetching: recipes, and what images say, fetched by a child process, `<helper> fetch -`: neither
 * the network nor an archive blocks the event loop, what strangers send is unpacked there, and the
 * libraries for git and archives are loaded there. A few run at a time, the others wait; the one
 * whose resource had a fetch the longest time ago is next, and those that take long make room for
 * those that do not. */
#include <stddef.h>

struct json_object;
struct sw_kept;
struct sw_kube;
struct sw_loop;
struct sw_renderers;

/** @answer as chart/fetch/helper.h has it, borrowed. @bundle is the callee's, and there where the
 * code is 0. */
typedef void sw_fetch_fn(struct json_object *answer, struct sw_kept *bundle, void *arg);

/** The memory that a helper may have, and one for which that is not enough. */
enum { SW_FETCH_BYTES = 6 << 20, SW_FETCH_MOST_BYTES = 50 << 20 };

struct sw_fetch;
struct sw_fetch_queue;
struct sw_embedded;

/** @helper: the program, copied; NULL: recipes are fetched in this process, which waits. @allowed:
 * what helpers may reach (chart/fetch/reach/reach.h), copied; the ranges of the cluster's services
 * and pods are asked from @kube, borrowed. NULL: everything. @renderers: whose place a large fetch
 * takes; borrowed. */
struct sw_fetch_queue *sw_fetch_queue_new(struct sw_loop *loop, struct sw_kube *kube,
                                          struct sw_renderers *renderers, const char *helper,
                                          const char *allowed, const struct sw_embedded *stand_ins);
/** What a Node says about the ranges of pods. */
void sw_fetch_queue_add_node(struct sw_fetch_queue *q, struct json_object *node);
/** Cancel all fetches; helpers that run are killed. */
void sw_fetch_queue_free(struct sw_fetch_queue *q);

/** @key: of the resource that it is for, copied. @request is taken. @done is called once, never
 * before this returned. */
struct sw_fetch *sw_fetch_start(struct sw_fetch_queue *q, const char *key,
                                struct json_object *request, sw_fetch_fn *done, void *arg);
/** @done is not called any more. A helper that fetches a recipe goes on and fills the cache. NULL
 * is accepted. */
void sw_fetch_cancel(struct sw_fetch *f);
