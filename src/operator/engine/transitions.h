#pragma once
/* The table of transitions, for transitions.c and for the tests that walk it. */
#include "operator/engine/internal.h"

/** A transition. */
struct table_row {
    enum phase in;
    enum signal on;
    enum phase to;
    void (*act)(struct sw_engine *e, struct state *s); /* or NULL */
    const char *event; /* reason of the Kubernetes Event; NULL: none */
    const char *why;   /* its message, where the state has none */
};

/** Of one phase the first row whose signal is there is taken. */
extern const struct table_row table_rows[];
/** How many there are. */
extern const size_t table_n_rows;
#ifdef SW_TEST
extern unsigned long table_taken[]; /* how often each row was taken in this process */
#endif
