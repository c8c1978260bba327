/* trace: the last requests, for debugging. Paths contain names of objects; bodies, which can
 * contain secrets, are not stored. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "kube/internal.h"

enum { KEPT = 500, MAX_PATH = 300 };

struct sw_kube_trace {
    struct sw_kube_traced rows[KEPT]; /* a ring; path and as_user owned */
    uint64_t n;                       /* ever added */
};

struct sw_kube_trace *kube_trace_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_kube_trace));
}

static void row_done(struct sw_kube_traced *row)
{
    free((char *)row->path);
    free((char *)row->as_user);
}

void kube_trace_free(struct sw_kube_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < KEPT; i++)
        row_done(&t->rows[i]);
    free(t);
}

void kube_trace_add(struct sw_kube *k, const struct sw_kube_traced *what, int64_t sent_ms)
{
    struct sw_kube_traced *row = &k->trace->rows[k->trace->n++ % KEPT];
    row_done(row);
    *row = *what;
    row->wall_ms = sw_loop_wall_ms(k->loop);
    row->took_ms = sent_ms ? sw_loop_now_ms(k->loop) - sent_ms : 0;
    row->path = sw_strndup(what->path, strnlen(what->path, MAX_PATH));
    row->as_user = sw_strdup(what->as_user);
    if (k->opts.on_traced)
        k->opts.on_traced(row, k->opts.arg);
}

void sw_kube_each_traced(const struct sw_kube *k,
                         void (*each)(const struct sw_kube_traced *traced, void *arg), void *arg)
{
    const struct sw_kube_trace *t = k->trace;
    for (uint64_t i = t->n > KEPT ? t->n - KEPT : 0; i < t->n; i++)
        each(&t->rows[i % KEPT], arg);
}
