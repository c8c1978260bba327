#include "slicing/scheduler/devices/harm.h"

#include "data/data.h"

#include <stdlib.h>
#include <string.h>

void victims_done(struct victims *v)
{
    free(v->list);
    *v = (struct victims){ 0 };
}

int victims_by_importance(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return strcmp(x->uid, y->uid);
}

static int64_t sum_of(const struct victims *v)
{
    int64_t sum = 0; /* each counts, whatever its priority */
    for (size_t i = 0; i < v->n; i++)
        sum += (int64_t)v->list[i]->priority + INT32_MAX + 1;
    return sum;
}

bool victims_better(const struct victims *a, const struct victims *b)
{
    if (a->n_violations != b->n_violations)
        return a->n_violations < b->n_violations;
    const struct pod *x = a->list[0], *y = b->list[0];
    if (x->priority != y->priority)
        return x->priority < y->priority;
    if (sum_of(a) != sum_of(b))
        return sum_of(a) < sum_of(b);
    if (a->n != b->n)
        return a->n < b->n;
    return x->created_ms > y->created_ms;
}

bool node_is_lost(struct json_object *taints)
{
    static const char *const keys[] = { "node.kubernetes.io/unreachable",
                                        "node.kubernetes.io/not-ready",
                                        "node.kubernetes.io/out-of-service" };
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        if (sw_json_find_by(taints, "key", keys[i]))
            return true;
    return false;
}
