#pragma once
/* How far any policy can come that does not know the future. Slices arrive one at a time, drawn
 * from a known distribution, and each leaves with the same chance before every arrival. Over that
 * process dynamic programming, over all configurations of one GPU or two, finds the best policy
 * that knows all of this but not what is drawn; and the same sums with sw_mig_place() in its place
 * say what that gives. Exact: nothing is sampled. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/mig/mig.h"

enum { ONLINE_MAX_CONFIGS = 4096, ONLINE_MAX_SLICES = 8, ONLINE_SLOTS = 1 << 14 };

/* Which slices a GPU holds: kind * 16 + place, in order. */
struct online_config {
    uint8_t n, in[ONLINE_MAX_SLICES];
    struct sw_mig_use use;
};

struct online {
    struct sw_mig_geometry *g;
    int n_gpus; /* 1 or 2 */
    int n;      /* configurations of one GPU */
    struct online_config *configs;
    int *slots;                                        /* hash table: 1 + number */
    int (*added)[SW_MIG_MAX_KINDS][SW_MIG_MAX_PLACES]; /* -1: does not fit */
    int **left;                                        /* by who leaves, bit by bit */
    double *before, *after, *half;                     /* an arrival; values by state */
    int *chosen; /* by state and kind: what sw_mig_place() makes of it; -1: no room */
};

static int online_cmp(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* The number of a configuration, a new one if need be. */
static int online_number(struct online *o, struct online_config *c)
{
    qsort(c->in, c->n, 1, online_cmp);
    size_t at = sw_fnv64a(c->in, c->n) % ONLINE_SLOTS;
    for (; o->slots[at]; at = (at + 1) % ONLINE_SLOTS) {
        const struct online_config *there = &o->configs[o->slots[at] - 1];
        if (there->n == c->n && memcmp(there->in, c->in, c->n) == 0)
            return o->slots[at] - 1;
    }
    if (o->n == ONLINE_MAX_CONFIGS)
        abort();
    o->configs[o->n] = *c;
    o->slots[at] = ++o->n;
    return o->n - 1;
}

static void online_add(struct online *o, int c, int kind)
{
    const struct sw_mig_kind *k = &o->g->kinds[kind];
    for (int p = 0; p < SW_MIG_MAX_PLACES; p++) {
        o->added[c][kind][p] = -1;
        if (p >= k->n_places || !sw_mig_fits(o->g, &o->configs[c].use, k, k->places[p]))
            continue;
        struct online_config next = o->configs[c];
        next.in[next.n++] = (uint8_t)(kind * 16 + p);
        sw_mig_take(&next.use, k, k->places[p]);
        o->added[c][kind][p] = online_number(o, &next);
    }
}

static void online_leave(struct online *o, int c)
{
    const struct online_config from = o->configs[c];
    o->left[c] = sw_alloc(sizeof(int) << from.n);
    for (unsigned gone = 0; gone < 1u << from.n; gone++) {
        struct online_config to = { 0 };
        for (int i = 0; i < from.n; i++)
            if (!(gone >> i & 1)) {
                const struct sw_mig_kind *k = &o->g->kinds[from.in[i] / 16];
                to.in[to.n++] = from.in[i];
                sw_mig_take(&to.use, k, k->places[from.in[i] % 16]);
            }
        o->left[c][gone] = online_number(o, &to);
    }
}

/* ---- states: a configuration for each GPU ------------------------------------------------------
 */

static size_t online_n_states(const struct online *o)
{
    return o->n_gpus == 2 ? (size_t)o->n * (size_t)o->n : (size_t)o->n;
}

/* The state in which that GPU has another configuration. */
static size_t online_with(const struct online *o, size_t s, int gpu, int config)
{
    const size_t n = (size_t)o->n;
    if (o->n_gpus == 1)
        return (size_t)config;
    return gpu == 0 ? (size_t)config * n + s % n : s / n * n + (size_t)config;
}

static int online_of(const struct online *o, size_t s, int gpu)
{
    if (o->n_gpus == 1)
        return (int)s;
    return gpu == 0 ? (int)(s / (size_t)o->n) : (int)(s % (size_t)o->n);
}

static void online_ask_policy(struct online *o, size_t s, int kind)
{
    struct sw_mig_gpu gpus[2] = { { .geometry = o->g }, { .geometry = o->g } };
    struct sw_mig_choice c;
    const struct sw_mig_kind *k = &o->g->kinds[kind];
    int *chosen = &o->chosen[s * o->g->n_kinds + (size_t)kind];
    for (int i = 0; i < o->n_gpus; i++)
        gpus[i].use = o->configs[online_of(o, s, i)].use;
    *chosen = -1;
    if (sw_mig_place(gpus, (size_t)o->n_gpus, &k->profile, 1, SW_MIG_PACKED, &c, NULL) < 0)
        return;
    int p = 0;
    while (k->places[p].start != c.place.start)
        p++;
    *chosen = (int)online_with(o, s, (int)c.gpu, o->added[online_of(o, s, (int)c.gpu)][kind][p]);
}

/* Instead of sw_mig_place(): what fits first in one order of all places, whatever is taken, as
 * kube-scheduler takes devices. */
static SW_UNUSED void online_take_first(struct online *o, const struct sw_mig_choice *order,
                                        size_t n_order)
{
    for (size_t s = 0; s < online_n_states(o); s++)
        for (int kind = 0; kind < o->g->n_kinds; kind++) {
            int *chosen = &o->chosen[s * o->g->n_kinds + (size_t)kind];
            *chosen = -1;
            for (size_t i = 0; i < n_order && *chosen < 0; i++) {
                const int gpu = (int)order[i].gpu, config = online_of(o, s, gpu);
                int p = 0;
                if (order[i].kind != &o->g->kinds[kind])
                    continue;
                while (o->g->kinds[kind].places[p].start != order[i].place.start)
                    p++;
                if (o->added[config][kind][p] >= 0)
                    *chosen = (int)online_with(o, s, gpu, o->added[config][kind][p]);
            }
        }
}

static SW_UNUSED struct online *online_new(struct sw_mig_geometry *g, int n_gpus)
{
    struct online *o = sw_zalloc(1, sizeof *o);
    struct online_config empty = { 0 };
    o->g = g;
    o->n_gpus = n_gpus;
    o->configs = sw_zalloc(ONLINE_MAX_CONFIGS, sizeof *o->configs);
    o->slots = sw_zalloc(ONLINE_SLOTS, sizeof *o->slots);
    o->added = sw_zalloc(ONLINE_MAX_CONFIGS, sizeof *o->added);
    o->left = sw_zalloc(ONLINE_MAX_CONFIGS, sizeof *o->left);
    (void)online_number(o, &empty);
    for (int c = 0; c < o->n; c++)
        for (int k = 0; k < g->n_kinds; k++)
            online_add(o, c, k);
    for (int c = 0; c < o->n; c++)
        online_leave(o, c);
    const size_t n = online_n_states(o);
    o->before = sw_zalloc(n, sizeof *o->before);
    o->after = sw_zalloc(n, sizeof *o->after);
    o->half = sw_zalloc(n, sizeof *o->half);
    o->chosen = sw_zalloc(n * g->n_kinds, sizeof *o->chosen);
    for (size_t s = 0; s < n; s++)
        for (int k = 0; k < g->n_kinds; k++)
            online_ask_policy(o, s, k);
    return o;
}

static SW_UNUSED void online_free(struct online *o)
{
    for (int c = 0; c < o->n; c++)
        free(o->left[c]);
    free(o->configs);
    free(o->slots);
    free(o->added);
    free(o->left);
    free(o->before);
    free(o->after);
    free(o->half);
    free(o->chosen);
    free(o);
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* What is placed from here on when @kind comes now. */
static double online_arrive(const struct online *o, size_t s, int kind, bool best)
{
    double value = -1;
    if (!best) {
        const int to = o->chosen[s * o->g->n_kinds + (size_t)kind];
        return to < 0 ? o->after[s] : 1 + o->after[to];
    }
    for (int gpu = 0; gpu < o->n_gpus; gpu++)
        for (int p = 0; p < o->g->kinds[kind].n_places; p++) {
            const int c = o->added[online_of(o, s, gpu)][kind][p];
            const double v = c < 0 ? -1 : 1 + o->after[online_with(o, s, gpu, c)];
            value = v > value ? v : value;
        }
    return value < 0 ? o->after[s] : value; /* what fits is taken */
}

/* Everybody on one GPU leaves with chance @q: from values @in to values @out. */
static void online_departures(const struct online *o, int gpu, double q, const double *in,
                              double *out)
{
    const size_t n = online_n_states(o);
    for (size_t s = 0; s < n; s++) {
        const int c = online_of(o, s, gpu);
        const int n_slices = o->configs[c].n;
        double sum = 0;
        for (unsigned gone = 0; gone < 1u << n_slices; gone++) {
            double chance = 1;
            for (int i = 0; i < n_slices; i++)
                chance *= gone >> i & 1 ? q : 1 - q;
            sum += chance * in[online_with(o, s, gpu, o->left[c][gone])];
        }
        out[s] = sum;
    }
}

/* Slices placed of @n_arrivals, from empty GPUs: by the best policy, or by sw_mig_place().
 * @chances: of each kind. */
static SW_UNUSED double online_placed(struct online *o, const double *chances, double q,
                                      int n_arrivals, bool best)
{
    const size_t n = online_n_states(o);
    memset(o->after, 0, n * sizeof *o->after);
    for (int i = 0; i < n_arrivals; i++) {
        for (size_t s = 0; s < n; s++) {
            o->before[s] = 0;
            for (int k = 0; k < o->g->n_kinds; k++)
                o->before[s] += chances[k] * online_arrive(o, s, k, best);
        }
        online_departures(o, 0, q, o->before, o->n_gpus == 2 ? o->half : o->after);
        if (o->n_gpus == 2)
            online_departures(o, 1, q, o->half, o->after);
    }
    return o->before[0];
}

/* The distributions of mig_run_make(): all kinds alike, or the small ones more often. */
static SW_UNUSED void online_chances(const struct sw_mig_geometry *g, bool small, double *chances)
{
    double sum = 0;
    for (int k = 0; k < g->n_kinds; k++)
        sum += chances[k] = small ? 1.0 / g->kinds[k].places[0].size : 1;
    for (int k = 0; k < g->n_kinds; k++)
        chances[k] /= sum;
}
