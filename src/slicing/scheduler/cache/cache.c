/* The cache's tables. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>

struct cache *cache_new(enum sw_mig_policy policy, bool any_node)
{
    struct cache *p = sw_zalloc(1, sizeof *p);
    p->policy = policy;
    p->any_node = any_node;
    p->nodes = lh_kchar_table_new(64, NULL);
    p->pods = lh_kchar_table_new(64, NULL);
    p->claims = lh_kchar_table_new(64, NULL);
    p->budgets = lh_kchar_table_new(16, NULL);
    p->labels = lh_kchar_table_new(16, NULL);
    return p;
}

void cache_free(struct cache *p)
{
    if (!p)
        return;
    for (struct lh_entry *e = lh_table_head(p->claims); e; e = e->next)
        cache_free_claim(lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next)
        cache_free_pod(p, lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->nodes); e; e = e->next)
        cache_free_node(lh_entry_v(e));
    lh_table_free(p->claims);
    lh_table_free(p->pods);
    lh_table_free(p->nodes);
    cache_free_budgets(p);
    free(p);
}
