#pragma once
/* ctl_reasons: why nodes do not take a pod, counted and worded as kube-scheduler does. */
#include <stddef.h>

struct sw_reasons {
    struct sw_reason {
        char *text;
        size_t n;
    } * items;
    size_t n, cap;
};
/** One (@times) more node for this reason. */
void sw_reasons_add(struct sw_reasons *reasons, size_t times, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** "0/5 nodes are available: 1 Insufficient cpu, 4 ...". The caller's. */
char *sw_reasons_text(struct sw_reasons *reasons, size_t n_nodes);
void sw_reasons_done(struct sw_reasons *reasons);
