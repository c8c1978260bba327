#pragma once
/* extender: the scheduler's extender protocol, from bytes to bytes. placement.h decides; nothing
 * here reads a socket or a clock. Internal to scheduler. Source: k8s.io/kube-scheduler/extender/v1
 * (ExtenderArgs and so on: no JSON tags, so fields go by their Go names; readers take them in
 * either case). */
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "slicing/scheduler/cache/cache.h"

struct printbuf;

struct extender;
/** @p is borrowed. @preempts: pods may be evicted for the slices of pods of higher priority.
 * @nodes_to_score: at most so many nodes that fit are named, the best ones, where the pod has no
 * preferences of its own (0: all). */
struct extender *extender_new(struct cache *p, bool preempts, size_t nodes_to_score);
/** NULL is accepted. */
void extender_free(struct extender *x);
SW_DEFINE_AUTO(extender, extender_free)

/** What an answer says, for logs and metrics. */
struct extender_outcome {
    const struct pod *pod; /* borrowed from the cache; NULL: no pod in the request */
    size_t n_asked, n_fit; /* nodes in the request, and those that fit */
    char why[160];         /* of one that does not fit; "" */
    /* Nodes of the request where pods of lower priority may be evicted, or pods end anyway; of many
     * nodes only some. Borrowed until the next request. */
    struct node *const *likely;
    size_t n_likely;
    /* A node with room that is not in the request, where no node of the request has room: in a big
     * cluster kube-scheduler asks about a sample only. NULL: none */
    struct node *elsewhere;
};

/** Each appends its answer to @out.
 * @return 0 | SW_INVALID (no JSON, or no such request: nothing was appended)
 * Pinned by test/unit/slicing/scheduler_extender_test.c. */
int extender_filter(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                    struct printbuf *out, struct extender_outcome *outcome,
                    struct sw_err *err) SW_CHECKED;
int extender_prioritize(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                        struct printbuf *out, struct extender_outcome *outcome,
                        struct sw_err *err) SW_CHECKED;
int extender_preempt(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                     struct printbuf *out, struct extender_outcome *outcome,
                     struct sw_err *err) SW_CHECKED;

/** The arguments of the verb bind; the texts are owned. */
struct extender_bind {
    char *ns, *pod, *uid, *node;
};
/** Read ExtenderBindingArgs; @out is the caller's. @return 0 | SW_INVALID */
int extender_read_bind(struct extender *x, const char *body, size_t len_bytes,
                       struct extender_bind *out, struct sw_err *err) SW_CHECKED;
/** Free its texts. */
void extender_bind_done(struct extender_bind *bind);
/** {"Error": "..."}, as every request but prioritize takes it; NULL: none. */
void extender_put_error(struct printbuf *out, const char *why);
