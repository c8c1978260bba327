#pragma once
/* A policy against the best that could have been done: seeded random arrivals and departures on a
 * few GPUs of a model; once placed by sw_mig_place(), once by every possible sequence of placements
 * at the same time (all configurations that can be reached are carried along). Both take whatever
 * fits when it comes; only where it is put differs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/mig/mig.h"

enum { MIG_RUN_LEN = 40, MIG_RUN_GPUS = 2, MIG_RUN_CONFIGS = 200000 };

struct mig_run {
    int n_gpus;
    struct sw_mig_geometry *g;
    uint8_t kind[MIG_RUN_LEN]; /* of each arrival */
    uint8_t ends[MIG_RUN_LEN]; /* leaves before this arrival */
};

struct mig_tally {
    long arrived, placed, slices; /* slices: of memory */
};

static uint64_t mig_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* @small: small profiles come more often; else all alike. */
static SW_UNUSED void mig_run_make(struct mig_run *r, struct sw_mig_geometry *g, int n_gpus,
                                   bool small, uint64_t *seed)
{
    r->g = g;
    r->n_gpus = n_gpus;
    const unsigned stay = 2 + (unsigned)(mig_random(seed) % 8) * (unsigned)n_gpus;
    for (int i = 0; i < MIG_RUN_LEN; i++) {
        do
            r->kind[i] = (uint8_t)(mig_random(seed) % g->n_kinds);
        while (small && mig_random(seed) % g->kinds[r->kind[i]].places[0].size != 0);
        const unsigned end = (unsigned)i + 1 + (unsigned)(mig_random(seed) % stay);
        r->ends[i] = (uint8_t)(end > MIG_RUN_LEN ? MIG_RUN_LEN : end);
    }
}

static SW_UNUSED struct mig_tally mig_run_policy(const struct mig_run *r, enum sw_mig_policy policy)
{
    struct mig_tally t = { 0 };
    struct sw_mig_gpu gpus[MIG_RUN_GPUS] = { { r->g, { 0 }, false, false },
                                             { r->g, { 0 }, false, false } };
    struct sw_mig_choice at[MIG_RUN_LEN] = { 0 };
    for (int i = 0; i < MIG_RUN_LEN; i++) {
        for (int j = 0; j < i; j++)
            if (r->ends[j] == i && at[j].kind)
                sw_mig_give(&gpus[at[j].gpu].use, at[j].kind, at[j].place);
        const struct sw_mig_kind *kind = &r->g->kinds[r->kind[i]];
        t.arrived++;
        if (sw_mig_place(gpus, (size_t)r->n_gpus, &kind->profile, 1, policy, &at[i], NULL) < 0)
            continue;
        sw_mig_take(&gpus[at[i].gpu].use, kind, at[i].place);
        t.placed++;
        t.slices += kind->places[0].size;
    }
    return t;
}

struct mig_config {
    uint8_t at[MIG_RUN_LEN]; /* 0: not there; else 1 + gpu * 16 + place's number */
    uint16_t placed, slices;
};

static int mig_config_cmp(const void *a, const void *b)
{
    const struct mig_config *x = a, *y = b;
    const int c = memcmp(x->at, y->at, sizeof x->at);
    return c ? c : (int)y->placed - (int)x->placed;
}

static struct sw_mig_use mig_config_use(const struct mig_run *r, const struct mig_config *c, int n,
                                        int gpu)
{
    struct sw_mig_use use = { 0 };
    for (int j = 0; j < n; j++)
        if (c->at[j] && (c->at[j] - 1) / 16 == gpu) {
            const struct sw_mig_kind *k = &r->g->kinds[r->kind[j]];
            sw_mig_take(&use, k, k->places[(c->at[j] - 1) % 16]);
        }
    return use;
}

static size_t mig_config_arrive(const struct mig_run *r, const struct mig_config *c, int i,
                                struct mig_config *out)
{
    const struct sw_mig_kind *kind = &r->g->kinds[r->kind[i]];
    size_t n = 0;
    struct sw_mig_use first = { 0 };
    for (int gpu = 0; gpu < r->n_gpus; gpu++) {
        const struct sw_mig_use use = mig_config_use(r, c, i, gpu);
        if (gpu == 0)
            first = use;
        else if (memcmp(&use, &first, sizeof use) == 0 && !use.slices)
            continue; /* both empty: the same again */
        for (int p = 0; p < kind->n_places; p++)
            if (sw_mig_fits(r->g, &use, kind, kind->places[p])) {
                out[n] = *c;
                out[n].at[i] = (uint8_t)(1 + gpu * 16 + p);
                out[n].placed++;
                out[n].slices = (uint16_t)(out[n].slices + kind->places[0].size);
                n++;
            }
    }
    if (n == 0)
        out[n++] = *c;
    return n;
}

/* @return false: too many configurations, nothing was found out */
static SW_UNUSED bool mig_run_optimum(const struct mig_run *r, struct mig_tally *best)
{
    struct mig_config *now = calloc(MIG_RUN_CONFIGS, sizeof *now);
    struct mig_config *next = calloc(MIG_RUN_CONFIGS, sizeof *next);
    size_t n = 1;
    bool ok = now && next;
    for (int i = 0; ok && i < MIG_RUN_LEN; i++) {
        size_t m = 0;
        for (size_t c = 0; ok && c < n; c++) {
            for (int j = 0; j < i; j++)
                if (r->ends[j] == i)
                    now[c].at[j] = 0;
            ok = m + 32 < MIG_RUN_CONFIGS;
            if (ok)
                m += mig_config_arrive(r, &now[c], i, next + m);
        }
        qsort(next, m, sizeof *next, mig_config_cmp);
        n = 0;
        for (size_t c = 0; c < m; c++)
            if (n == 0 || memcmp(now[n - 1].at, next[c].at, sizeof next[c].at) != 0)
                now[n++] = next[c];
    }
    *best = (struct mig_tally){ .arrived = MIG_RUN_LEN };
    for (size_t c = 0; ok && c < n; c++)
        if (now[c].placed > best->placed)
            best->placed = now[c].placed, best->slices = now[c].slices;
    free(now);
    free(next);
    return ok;
}
