#pragma once
/* What the files of the extender share: extender.c reads requests and answers prioritize and bind,
 * extender_filter.c filter, extender_preempt.c preempt. */
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/extender_args.h"

struct extender_outcome;
struct printbuf;

enum { MAX_LIKELY = 64 };

/** The decision about one node of a request. */
struct node_fit {
    struct node *node; /* NULL: not known */
    int code;
    const char *why;  /* of the answer's texts */
    bool special;     /* it says more of its node than of others */
    bool passed_over; /* fits, and is none of the best */
    uint8_t rank;     /* of one that fits: the less the better */
};

/* Requests come one at a time: memory is kept for the next one. */
struct extender {
    struct cache *cache;
    struct sw_projection *projection;
    struct extender_args args;
    struct node_fit *node_fits;
    size_t n_fits;
    size_t nodes_to_score; /* named at most, of those that fit; 0: all */
    bool preempts;         /* pods may be evicted for slices */
    size_t turn;           /* the index where the next bounded search begins */
    size_t stamp;          /* of the request; its nodes are marked with it */
    struct node *likely[MAX_LIKELY];
};

/** extender.c: the pod of the request, added to the cache where it is new. */
int extender_read_pod(struct extender *x, int64_t now_ms, struct pod **out,
                      struct sw_err *err) SW_CHECKED;
/** extender.c: a request about a pod and some nodes; its answer clears it. */
int extender_read_args(struct extender *x, const char *body, size_t len, int64_t now_ms,
                       struct extender_outcome *outcome, struct pod **pod,
                       struct sw_err *err) SW_CHECKED;
/** extender.c: text as it is. */
void extender_put(struct printbuf *out, const char *text);
/** extender.c: bytes, mostly few, without a call for each. */
void extender_put_bytes(struct printbuf *out, const char *bytes, size_t len);
/** extender.c: a JSON string. */
void extender_put_string(struct printbuf *out, const char *text);
/** extender.c: the request's node number @i, as a JSON string. */
void extender_put_name(struct printbuf *out, const struct extender_args *q, size_t i);
