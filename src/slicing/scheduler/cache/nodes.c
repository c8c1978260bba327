/* Nodes, and what of their GPUs is taken. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

struct node *cache_find_node(const struct cache *p, const char *name)
{
    return sw_table_find(p->nodes, name);
}

struct node *cache_find_node_n(const struct cache *p, const char *name, size_t len_bytes)
{
    enum { MAX_NAME = 253 }; /* of any object */
    char text[MAX_NAME + 1];
    if (len_bytes > MAX_NAME || memchr(name, '\0', len_bytes))
        return NULL;
    memcpy(text, name, len_bytes);
    text[len_bytes] = '\0';
    return cache_find_node(p, text);
}

struct node *cache_need_node(struct cache *p, const char *name)
{
    struct node *n = cache_find_node(p, name);
    if (n)
        return n;
    n = sw_zalloc(1, sizeof *n);
    n->name = sw_strdup(name);
    cache_insert(p->nodes, n->name, n);
    return n;
}

void cache_has_grown(struct cache *p, struct node *n)
{
    n->grown = true;
    n->woken = false;
    p->any_grown = true;
}

void cache_free_gpus(struct node *n)
{
    for (size_t i = 0; i < n->n_gpus; i++) {
        sw_mig_geometry_unref((struct sw_mig_geometry *)n->gpus[i].geometry);
        free(n->uuids[i]);
    }
    free(n->gpus);
    free(n->uuids);
    n->gpus = NULL;
    n->uuids = NULL;
    n->n_gpus = 0;
}

static void release(struct cache *p, struct node *node)
{
    if (!node || !node->nominee)
        return;
    node->nominee->nominated = NULL;
    node->nominee = NULL;
    cache_has_grown(p, node);
}

void cache_nominate(struct cache *p, struct pod *pod, struct node *node, uint64_t gpus,
                    int64_t now_ms)
{
    release(p, pod->nominated);
    release(p, node);
    pod->nominated = node;
    pod->follows = false;
    if (!node)
        return;
    node->nominee = pod;
    node->held_gpus = gpus;
    node->nominated_ms = now_ms;
}

void cache_observe_nomination(struct pod *pod, const char *name, int64_t now_ms)
{
    if (sw_streq(pod->nominated_name ? pod->nominated_name : "", name))
        return;
    sw_text_set(&pod->nominated_name, *name ? name : NULL);
    pod->nominated_ms = now_ms;
}

struct node *cache_nominated(const struct cache *p, const struct pod *pod, int64_t now_ms)
{
    struct node *n = pod->nominated;
    if (!n && pod->nominated_name && now_ms - pod->nominated_ms < CACHE_NOMINATED_MS)
        n = cache_find_node(p, pod->nominated_name);
    return n && !n->lost && (n->labelled || p->any_node) ? n : NULL;
}

void cache_mark_begun(const struct node *node, const struct pod *pod, struct sw_mig_gpu *gpus)
{
    for (const struct claim *c = node->claims; c; c = c->next)
        if (c->pod != pod && c->state < SW_CLAIM_IN_USE && c->gpu < node->n_gpus)
            gpus[c->gpu].begun = true;
}

void cache_bar_held(const struct node *node, const struct pod *pod, struct sw_mig_gpu *gpus)
{
    const struct pod *first = node->nominee;
    if (!first || first == pod || pod->priority > first->priority)
        return;
    for (size_t i = 0; i < node->n_gpus && i < 64; i++)
        gpus[i].barred |= node->held_gpus >> i & 1;
}

void cache_free_node(struct node *n)
{
    if (n->nominee)
        n->nominee->nominated = NULL;
    cache_free_gpus(n);
    free(n->unready);
    free(n->name);
    free(n);
}

void cache_maybe_forget_node(struct cache *p, struct node *n)
{
    if (n->labelled || n->is_mig || n->unready || n->claims)
        return;
    (void)lh_table_delete(p->nodes, n->name);
    cache_free_node(n);
}

size_t cache_need_gpu(struct node *n, const char *uuid)
{
    for (size_t i = 0; i < n->n_gpus; i++)
        if (strcmp(n->uuids[i], uuid) == 0)
            return i;
    n->gpus = sw_realloc(n->gpus, n->n_gpus + 1, sizeof *n->gpus);
    n->uuids = sw_realloc(n->uuids, n->n_gpus + 1, sizeof *n->uuids);
    n->gpus[n->n_gpus] = (struct sw_mig_gpu){ 0 };
    n->uuids[n->n_gpus] = sw_strdup(uuid);
    return n->n_gpus++;
}

/* A slice whose profile its GPU does not know takes its place all the same. */
static const struct sw_mig_kind *kind_of(const struct claim *c)
{
    static const struct sw_mig_kind unknown;
    return c->kind ? c->kind : &unknown;
}

void cache_room_changed(struct node *n)
{
    n->room_known = false;
    n->scored = 0;
}

/* What is taken is worked out anew: claims may overlap, and then giving one back must not free what
 * the other has. */
void cache_count_use(struct node *n, size_t gpu)
{
    cache_room_changed(n);
    n->gpus[gpu].use = (struct sw_mig_use){ 0 };
    for (const struct claim *c = n->claims; c; c = c->next)
        if (c->gpu == gpu)
            sw_mig_take(&n->gpus[gpu].use, kind_of(c), c->place);
}

_Static_assert(SW_MIG_MAX_KINDS <= 32, "a bit each");

uint32_t cache_room(struct node *n)
{
    const struct sw_mig_geometry *g = n->common;
    if (n->room_known || !g)
        return n->room;
    n->room = 0;
    n->room_known = true;
    for (size_t i = 0; i < n->n_gpus; i++)
        for (size_t k = 0; k < g->n_kinds && n->gpus[i].geometry && !n->gpus[i].barred; k++)
            if (!(n->room >> k & 1) && sw_mig_room(g, &n->gpus[i].use, &g->kinds[k]))
                n->room |= 1u << k;
    return n->room;
}

void cache_observe_node(struct cache *p, const char *name, bool labelled, bool avoided)
{
    struct node *n = labelled ? cache_need_node(p, name) : cache_find_node(p, name);
    if (!n)
        return;
    if (labelled && !n->labelled)
        cache_has_grown(p, n);
    n->labelled = labelled;
    n->avoided = avoided;
    if (!labelled && !p->any_node)
        release(p, n);
    cache_maybe_forget_node(p, n);
}

void cache_observe_lost(struct cache *p, const char *name, bool lost)
{
    struct node *n = cache_find_node(p, name);
    if (!n)
        return;
    if (n->lost && !lost)
        cache_has_grown(p, n);
    n->lost = lost;
    if (lost)
        release(p, n);
}

void cache_observe_epoch(struct cache *p, const char *name, const char *epoch, int64_t now_ms)
{
    struct node *n = cache_find_node(p, name);
    const uint64_t hash = *epoch ? sw_fnv64a(epoch, strlen(epoch)) : 0;
    if (!n || n->epoch == hash)
        return;
    n->epoch = hash;
    n->touched_ms = now_ms;
}

void cache_without(const struct node *node, const struct pod *const *pods, size_t n_pods,
                   struct sw_mig_gpu *gpus)
{
    bool any = false;
    if (node->n_gpus)
        memcpy(gpus, node->gpus, node->n_gpus * sizeof *gpus);
    for (size_t i = 0; i < n_pods; i++)
        any |= pods[i]->claims != NULL;
    if (!any)
        return;
    for (size_t i = 0; i < node->n_gpus; i++)
        gpus[i].use = (struct sw_mig_use){ 0 };
    for (const struct claim *c = node->claims; c; c = c->next) {
        bool out = false;
        for (size_t i = 0; i < n_pods; i++)
            out |= c->pod == pods[i];
        if (!out)
            sw_mig_take(&gpus[c->gpu].use, kind_of(c), c->place);
    }
}
