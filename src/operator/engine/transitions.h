#pragma once
/* The table of transitions, for the engine and for the tests that walk it. */
#include "operator/engine/internal.h"

struct table_row {
    enum phase in;
    enum signal on;
    enum phase to;
    void (*act)(struct sw_engine *e, struct state *s);
    const char *event; /* reason of the Kubernetes Event; NULL: not worth one */
    const char *why;
};

extern const struct table_row table_rows[];
extern const size_t table_n_rows;
#ifdef SW_TEST
extern unsigned long table_taken[]; /* how often each row was taken in this process */
#endif
