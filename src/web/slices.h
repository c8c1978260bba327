#pragma once
/* slices: what the page shows of GPUs and of the pods that wait for their slices, made of what the
 * watches tell, as `slipway slices` makes it. It does no I/O. Internal to web.
 *
 * What would make room for a pod is searched for one pod a turn, with a rest after each that is ten
 * times as long: the page is served by the controller, too. */
#include <stdbool.h>

#include "slicing/scheduler/devices/dra_view.h"

struct json_object;
struct sw_loop;
struct sw_watch_event;
struct web_slices;

/** The kinds that it is told of, besides those of the view. */
enum {
    WEB_SLICES_PODS = DRA_N_KINDS,
    WEB_SLICES_BUDGETS,
    WEB_SLICES_ACCELERATORS,
    WEB_SLICES_ALLOCATIONS, /* AllocationClaims */
    WEB_SLICES_NONE,
};

/** @doc is shown as the object @key of @kind ("gpu", "waiting") from now on, and borrowed for the
 * call; NULL: nothing is. */
typedef void web_slices_fn(const char *kind, const char *key, struct json_object *doc, void *arg);

/** The caller's; @loop is borrowed. */
struct web_slices *web_slices_new(struct sw_loop *loop, web_slices_fn *show, void *arg);
/** NULL is accepted. */
void web_slices_free(struct web_slices *s);
/** @which: an enum dra_kind or one of those above. An event of an object, not SYNCED or ERROR. */
void web_slices_observe(struct web_slices *s, int which, const struct sw_watch_event *e);
/** Forget all pods: they are told of again. */
void web_slices_forget_pods(struct web_slices *s);
/** Whether it has been told of all that there is: else nothing is said about moves, which would be
 * wrong. */
void web_slices_set_complete(struct web_slices *s, bool complete);
/** Whether all that it was told of is shown. */
bool web_slices_is_done(const struct web_slices *s);
