/* Finding places. First by the policy, one slice after another, the hardest to place first. Where
 * that places not all of them, every combination is tried; occupancies that led nowhere are
 * remembered. */
#include <stdlib.h>
#include <string.h>

#include "slicing/mig/mig.h"

/* Occupancies tried before the search ends. A combination that needs more than a few hundred has
 * not been seen outside of adversarial tests; the bound keeps a scheduler answering. */
enum { MAX_TRIES = 1 << 16 };

static const char *const policies[] = { "packed", "spread", "dense-node", "first-fit" };

int sw_mig_policy_parse(const char *text, enum sw_mig_policy *out, struct sw_err *err)
{
    for (size_t i = 0; i < SW_COUNT(policies); i++)
        if (strcmp(text, policies[i]) == 0) {
            *out = (enum sw_mig_policy)i;
            return 0;
        }
    return sw_err_set(err, SW_INVALID, "'%s' is no policy: packed, spread, dense-node or first-fit",
                      text);
}

/* ---- one slice ---------------------------------------------------------------------------------
 */

/* How bad a place is: first by GPU as @policy wants it, then by the capability that is lost, then
 * by the free slices of the GPU. */
static uint32_t cost_of(const struct sw_mig_gpu *gpus, size_t i, const struct sw_mig_use *use,
                        const struct sw_mig_kind *kind, struct sw_mig_place place,
                        enum sw_mig_policy policy)
{
    const struct sw_mig_geometry *g = gpus[i].geometry;
    struct sw_mig_use after = *use;
    if (policy == SW_MIG_FIRST_FIT)
        return (uint32_t)gpus[i].begun << 24 | (uint32_t)i << 8 | (uint32_t)place.start;
    sw_mig_take(&after, kind, place);
    const uint32_t free_slices = sw_mig_free_slices(g, use);
    const uint32_t loss = sw_mig_capability(g, use) - sw_mig_capability(g, &after);
    const uint32_t load = policy == SW_MIG_SPREAD       ? SW_MIG_MAX_SLICES - free_slices
                          : policy == SW_MIG_DENSE_NODE ? free_slices
                                                        : 0;
    return load << 24 | loss << 8 | free_slices; /* loss has 16 bits, as capabilities have */
}

static bool place_one(const struct sw_mig_gpu *gpus, size_t n_gpus, const struct sw_mig_use *uses,
                      const struct sw_mig_profile *request, enum sw_mig_policy policy,
                      struct sw_mig_choice *out)
{
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < n_gpus; i++) {
        const struct sw_mig_geometry *g = gpus[i].geometry;
        const struct sw_mig_kind *kind = gpus[i].barred ? NULL : sw_mig_kind_find(g, request);
        /* from the end: of equal places the last leaves the beginning, where large profiles go */
        for (size_t p = kind ? kind->n_places : 0; p-- > 0;) {
            if (!sw_mig_fits(g, &uses[i], kind, kind->places[p]))
                continue;
            const uint32_t cost = cost_of(gpus, i, &uses[i], kind, kind->places[p], policy);
            if (cost >= best)
                continue;
            best = cost;
            *out = (struct sw_mig_choice){ i, kind, kind->places[p] };
        }
    }
    return best < UINT32_MAX;
}

/* ---- all combinations --------------------------------------------------------------------------
 */

struct search {
    const struct sw_mig_gpu *gpus;
    size_t n_gpus;
    struct sw_mig_use *uses; /* what is taken so far */
    const struct sw_mig_profile *requests;
    const uint16_t *order; /* indices of requests, the hardest first */
    size_t n_requests;
    struct sw_mig_choice *choices; /* by request */
    uint64_t *dead;                /* hashes of (next request, occupancies) without a solution */
    unsigned n_tries;
};

enum { DEAD_SLOTS = MAX_TRIES * 2 };

/* FNV's last bytes hardly mix: added up, two GPUs that swap them would look the same. (The finisher
 * of splitmix64.) */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* GPUs with the same geometry are interchangeable: a sum over them sees the same dead end whatever
 * their order. 64 bits: a collision is less likely than a broken memory cell. */
static uint64_t state_hash(const struct search *s, size_t next)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct {
            const void *geometry;
            uint16_t slices;
            uint8_t media, ofa, barred, pad[3];
        } key = { s->gpus[i].geometry, s->uses[i].slices, s->uses[i].media,
                  s->uses[i].ofa,      s->gpus[i].barred, { 0 } };
        sum += mix(sw_fnv64a(&key, sizeof key));
    }
    const uint64_t both[2] = { next, sum };
    return sw_fnv64a(both, sizeof both) | 1;
}

/* @return the slot of @hash: it holds it, or is 0. */
static uint64_t *dead_slot(const struct search *s, uint64_t hash)
{
    size_t at = hash % DEAD_SLOTS;
    while (s->dead[at] && s->dead[at] != hash)
        at = (at + 1) % DEAD_SLOTS;
    return &s->dead[at];
}

static bool try_from(struct search *s, size_t next);

static bool try_gpu(struct search *s, size_t next, size_t gpu)
{
    const uint16_t request = s->order[next];
    const struct sw_mig_geometry *g = s->gpus[gpu].geometry;
    const struct sw_mig_kind *kind = s->gpus[gpu].barred
                                         ? NULL
                                         : sw_mig_kind_find(g, &s->requests[request]);
    for (size_t p = 0; kind && p < kind->n_places; p++) {
        if (!sw_mig_fits(g, &s->uses[gpu], kind, kind->places[p]))
            continue;
        const struct sw_mig_use before = s->uses[gpu];
        sw_mig_take(&s->uses[gpu], kind, kind->places[p]);
        s->choices[request] = (struct sw_mig_choice){ gpu, kind, kind->places[p] };
        if (try_from(s, next + 1))
            return true;
        s->uses[gpu] = before;
    }
    return false;
}

static bool try_from(struct search *s, size_t next)
{
    if (next == s->n_requests)
        return true;
    const uint64_t hash = state_hash(s, next);
    if (*dead_slot(s, hash) || s->n_tries >= MAX_TRIES)
        return false;
    s->n_tries++;
    for (size_t i = 0; i < s->n_gpus; i++)
        if (try_gpu(s, next, i))
            return true;
    *dead_slot(s, hash) = hash; /* the table is twice MAX_TRIES: there is room */
    return false;
}

static void reset_uses(struct search *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        s->uses[i] = s->gpus[i].use;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* The requests, those with large and with few places first; SW_MIG_FIRST_FIT: as they come. */
static void put_in_order(const struct sw_mig_gpu *gpus, size_t n_gpus,
                         const struct sw_mig_profile *requests, size_t n_requests,
                         enum sw_mig_policy policy, uint16_t *order)
{
    uint32_t hard[SW_MIG_MAX_REQUESTS];
    for (size_t i = 0; i < n_requests; i++) {
        hard[i] = 0;
        for (size_t k = 0; k < n_gpus && policy != SW_MIG_FIRST_FIT; k++) {
            const struct sw_mig_kind *kind = sw_mig_kind_find(gpus[k].geometry, &requests[i]);
            if (kind) {
                hard[i] = kind->places[0].size * 1024u + kind->n_media * 64u + kind->n_ofa * 32u +
                          SW_MIG_MAX_PLACES - kind->n_places;
                break;
            }
        }
        size_t at = i; /* insertion keeps equal ones in the caller's order */
        for (; at > 0 && hard[order[at - 1]] < hard[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)i;
    }
}

/* Whether each profile has room by itself, as often as it is wanted. @return 0 or why not. */
static int check_room(const struct sw_mig_gpu *gpus, size_t n_gpus,
                      const struct sw_mig_profile *requests, size_t n_requests, struct sw_err *err)
{
    for (size_t i = 0; i < n_requests; i++) {
        char name[SW_MIG_NAME_LEN];
        unsigned room = 0, n_known = 0, wanted = 0;
        for (size_t k = 0; k < n_gpus; k++) {
            const struct sw_mig_kind *kind = sw_mig_kind_find(gpus[k].geometry, &requests[i]);
            n_known += kind != NULL;
            if (kind && !gpus[k].barred)
                room += sw_mig_room(gpus[k].geometry, &gpus[k].use, kind);
        }
        for (size_t w = 0; w < n_requests; w++)
            wanted += sw_mig_profile_same_gi(&requests[w], &requests[i]);
        (void)sw_mig_profile_text(&requests[i], name);
        if (!n_known)
            return sw_err_set(err, SW_INVALID, "no GPU here can be cut into %s", name);
        if (room < wanted)
            return sw_err_set(err, SW_PENDING, "room for %u of %u x %s", room, wanted, name);
    }
    return 0;
}

static bool place_greedily(struct search *s, enum sw_mig_policy policy)
{
    reset_uses(s);
    for (size_t i = 0; i < s->n_requests; i++) {
        struct sw_mig_choice *c = &s->choices[s->order[i]];
        if (!place_one(s->gpus, s->n_gpus, s->uses, &s->requests[s->order[i]], policy, c))
            return false;
        sw_mig_take(&s->uses[c->gpu], c->kind, c->place);
    }
    return true;
}

int sw_mig_place(const struct sw_mig_gpu *gpus, size_t n_gpus,
                 const struct sw_mig_profile *requests, size_t n_requests,
                 enum sw_mig_policy policy, struct sw_mig_choice *out, struct sw_err *err)
{
    if (n_requests > SW_MIG_MAX_REQUESTS)
        return sw_err_set(err, SW_INVALID, "%zu slices for one pod, at most %d", n_requests,
                          SW_MIG_MAX_REQUESTS);
    if (n_requests == 1) { /* nearly always: nothing to allocate, nothing to combine */
        struct sw_mig_choice one;
        struct sw_mig_use uses[16];
        if (n_gpus <= SW_COUNT(uses)) {
            for (size_t i = 0; i < n_gpus; i++)
                uses[i] = gpus[i].use;
            if (!place_one(gpus, n_gpus, uses, requests, policy, &one))
                return check_room(gpus, n_gpus, requests, 1, err);
            *out = one;
            return 0;
        }
    }
    uint16_t order[SW_MIG_MAX_REQUESTS];
    put_in_order(gpus, n_gpus, requests, n_requests, policy, order);
    struct sw_mig_choice *choices = sw_zalloc(n_requests + 1, sizeof *choices);
    struct sw_mig_use *uses = sw_zalloc(n_gpus + 1, sizeof *uses);
    struct search s = { .gpus = gpus,
                        .n_gpus = n_gpus,
                        .uses = uses,
                        .requests = requests,
                        .order = order,
                        .n_requests = n_requests,
                        .choices = choices };
    int rc = 0;
    if (!place_greedily(&s, policy)) {
        rc = check_room(gpus, n_gpus, requests, n_requests, err);
        if (rc == 0) {
            char name[SW_MIG_NAME_LEN];
            reset_uses(&s);
            s.dead = sw_zalloc(DEAD_SLOTS, sizeof *s.dead);
            if (!try_from(&s, 0))
                rc = sw_err_set(err, SW_PENDING,
                                "no room for all %zu slices together, %s among them", n_requests,
                                sw_mig_profile_text(&requests[0], name));
            free(s.dead);
        }
    }
    if (rc == 0)
        memcpy(out, choices, n_requests * sizeof *out);
    free(choices);
    free(uses);
    return rc;
}

unsigned sw_mig_node_score(const struct sw_mig_gpu *gpus, size_t n_gpus,
                           const struct sw_mig_choice *choices, size_t n_choices,
                           enum sw_mig_policy policy)
{
    unsigned slices = 0, free_slices = 0, whole = 0, loss = 0;
    for (size_t i = 0; i < n_gpus; i++) {
        const struct sw_mig_geometry *g = gpus[i].geometry;
        if (!g)
            continue;
        struct sw_mig_use after = gpus[i].use;
        for (size_t c = 0; c < n_choices; c++)
            if (choices[c].gpu == i)
                sw_mig_take(&after, choices[c].kind, choices[c].place);
        slices += g->n_slices;
        free_slices += sw_mig_free_slices(g, &gpus[i].use);
        if (after.slices == gpus[i].use.slices)
            continue; /* loss counts only where something is put */
        whole += sw_mig_capability(g, &(struct sw_mig_use){ 0 });
        loss += sw_mig_capability(g, &gpus[i].use) - sw_mig_capability(g, &after);
    }
    if (!slices || !whole)
        return 0;
    switch (policy) {
    case SW_MIG_SPREAD:
    case SW_MIG_FIRST_FIT:
        return free_slices * 100 / slices;
    case SW_MIG_DENSE_NODE:
        return 100 - free_slices * 100 / slices;
    case SW_MIG_PACKED:
        break;
    }
    return 100 - (loss > whole ? whole : loss) * 100 / whole;
}
