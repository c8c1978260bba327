#pragma once
/* ctl_reasons: why no node fits a pod, with the counts and the texts of kube-scheduler. */
#include <stddef.h>

/** Reasons, each with its number of nodes. Zero-initialise. */
struct sw_reasons {
    struct sw_reason {
        char *text;
        size_t n;
    } * items;
    size_t n, cap;
};
/** Count @times more nodes for this reason. */
void sw_reasons_add(struct sw_reasons *reasons, size_t times, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** "0/5 nodes are available: 1 Insufficient cpu, 4 ...". The caller's. */
char *sw_reasons_text(struct sw_reasons *reasons, size_t n_nodes);
/** Free the reasons; they are empty then. */
void sw_reasons_done(struct sw_reasons *reasons);
