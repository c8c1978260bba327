/* trace: the last requests, for debugging. Paths contain names of objects; bodies, which can
 * contain secrets, are not stored. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "kube/internal.h"

enum { KEPT = 500, MAX_PATH = 300 };

struct sw_kube_trace {
    struct sw_kube_traced rows[KEPT]; /* a ring; path owned */
    uint64_t n;                       /* ever added */
};

struct sw_kube_trace *kube_trace_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_kube_trace));
}

void kube_trace_free(struct sw_kube_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < KEPT; i++)
        free((char *)t->rows[i].path);
    free(t);
}

void kube_trace_add(struct sw_kube *k, const char *verb, const char *path, int http_status,
                    int64_t sent_ms)
{
    struct sw_kube_traced *row = &k->trace->rows[k->trace->n++ % KEPT];
    free((char *)row->path);
    *row = (struct sw_kube_traced){
        .wall_ms = sw_loop_wall_ms(k->loop),
        .took_ms = sent_ms ? sw_loop_now_ms(k->loop) - sent_ms : 0,
        .verb = verb,
        .path = sw_strndup(path, strnlen(path, MAX_PATH)),
        .http_status = http_status,
    };
}

void sw_kube_each_traced(const struct sw_kube *k,
                         void (*each)(const struct sw_kube_traced *traced, void *arg), void *arg)
{
    const struct sw_kube_trace *t = k->trace;
    for (uint64_t i = t->n > KEPT ? t->n - KEPT : 0; i < t->n; i++)
        each(&t->rows[i % KEPT], arg);
}
