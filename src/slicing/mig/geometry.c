/* Geometries: from the tables, from a NodeAccelerator, from discovered profiles; and occupancy. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/mig/mig.h"
#include "slicing/mig/models.h"

static uint16_t mask_of(struct sw_mig_place place)
{
    return (uint16_t)(((1u << place.size) - 1) << place.start);
}

/* ---- occupancy ---------------------------------------------------------------------------------
 */

bool sw_mig_fits(const struct sw_mig_geometry *g, const struct sw_mig_use *use,
                 const struct sw_mig_kind *kind, struct sw_mig_place place)
{
    return !(use->slices & mask_of(place)) && use->media + kind->n_media <= g->n_media &&
           use->ofa + kind->n_ofa <= g->n_ofa;
}

void sw_mig_take(struct sw_mig_use *use, const struct sw_mig_kind *kind, struct sw_mig_place place)
{
    use->slices |= mask_of(place);
    use->media = (uint8_t)(use->media + kind->n_media);
    use->ofa = (uint8_t)(use->ofa + kind->n_ofa);
}

void sw_mig_give(struct sw_mig_use *use, const struct sw_mig_kind *kind, struct sw_mig_place place)
{
    use->slices &= (uint16_t)~mask_of(place);
    use->media = use->media > kind->n_media ? (uint8_t)(use->media - kind->n_media) : 0;
    use->ofa = use->ofa > kind->n_ofa ? (uint8_t)(use->ofa - kind->n_ofa) : 0;
}

unsigned sw_mig_free_slices(const struct sw_mig_geometry *g, const struct sw_mig_use *use)
{
    return g->n_slices - (unsigned)__builtin_popcount(use->slices & ((1u << g->n_slices) - 1));
}

/* Places of one kind are of one size and in order, so taking the first that fits, again and again,
 * gives the most. */
unsigned sw_mig_room(const struct sw_mig_geometry *g, const struct sw_mig_use *use,
                     const struct sw_mig_kind *kind)
{
    struct sw_mig_use u = *use;
    unsigned n = 0;
    for (size_t i = 0; i < kind->n_places; i++)
        if (sw_mig_fits(g, &u, kind, kind->places[i])) {
            sw_mig_take(&u, kind, kind->places[i]);
            n++;
        }
    return n;
}

/* The places that are left, each weighed by its size: losing the one place of a large profile
 * counts as much as losing the small ones that it could be cut into. Of a dozen ways to count (room
 * instead of places, unweighted, expected number of further slices) this one came nearest to the
 * optimum; test/bench/mig.c measures it. */
static unsigned work_out_capability(const struct sw_mig_geometry *g, const struct sw_mig_use *use)
{
    unsigned sum = 0;
    for (size_t i = 0; i < g->n_kinds; i++)
        for (size_t p = 0; p < g->kinds[i].n_places; p++)
            if (sw_mig_fits(g, use, &g->kinds[i], g->kinds[i].places[p]))
                sum += g->kinds[i].places[p].size;
    return sum;
}

static size_t state_index(const struct sw_mig_geometry *g, const struct sw_mig_use *use)
{
    const size_t media = use->media < g->n_media ? use->media : g->n_media;
    const size_t ofa = use->ofa < g->n_ofa ? use->ofa : g->n_ofa;
    const size_t slices = use->slices & ((1u << g->n_slices) - 1);
    return ((media * (g->n_ofa + 1u) + ofa) << g->n_slices) | slices;
}

unsigned sw_mig_capability(const struct sw_mig_geometry *g, const struct sw_mig_use *use)
{
    return g->capability[state_index(g, use)];
}

/* ---- making one --------------------------------------------------------------------------------
 */

static int check_kind(const struct sw_mig_geometry *g, const struct sw_mig_kind *k,
                      struct sw_err *err)
{
    char name[SW_MIG_NAME_LEN];
    if (k->n_places == 0 || k->n_places > SW_MIG_MAX_PLACES)
        return sw_err_set(err, SW_INVALID, "%s: %u placements, expected 1 to %d",
                          sw_mig_profile_text(&k->profile, name), k->n_places, SW_MIG_MAX_PLACES);
    if (k->profile.gi > SW_MIG_MAX_SLICES)
        return sw_err_set(err, SW_INVALID, "%s: more than %d compute slices",
                          sw_mig_profile_text(&k->profile, name), SW_MIG_MAX_SLICES);
    for (size_t i = 0; i < k->n_places; i++) {
        const struct sw_mig_place at = k->places[i];
        if (!at.size || at.start + at.size > SW_MIG_MAX_SLICES || at.size != k->places[0].size ||
            (i && at.start <= k->places[i - 1].start))
            return sw_err_set(err, SW_INVALID,
                              "%s.placements[%zu]: {start %u, size %u} is beyond slice %d, out of "
                              "order or of another size",
                              sw_mig_profile_text(&k->profile, name), i, at.start, at.size,
                              SW_MIG_MAX_SLICES - 1);
    }
    for (size_t i = 0; i < g->n_kinds; i++)
        if (sw_mig_profile_same_gi(&g->kinds[i].profile, &k->profile))
            return sw_err_set(err, SW_INVALID, "%s is there twice",
                              sw_mig_profile_text(&k->profile, name));
    return 0;
}

/* Which engines can run out follows from the profiles' names. The optical flow engine: +me and
 * +me.all take the only one (the whole GPU has it, too, but leaves no memory slice to share). The
 * others: each slice has its share, so they never run out, unless +me.all can take all; then a
 * plain profile takes as many as it has slices, -me none.
 * Source: MIG user guide, "Hardware units" of each profile. */
static void share_engines(struct sw_mig_geometry *g)
{
    bool all_me = false;
    unsigned n_media =
        0; /* as many as the GPU has compute slices: so many of one kind fit at once */
    for (size_t i = 0; i < g->n_kinds; i++) {
        const unsigned n = g->kinds[i].profile.gi *
                           sw_mig_room(g, &(struct sw_mig_use){ 0 }, &g->kinds[i]);
        n_media = n > n_media ? n : n_media;
        all_me |= (g->kinds[i].profile.attrs & SW_MIG_ME_ALL) != 0;
    }
    if (!all_me)
        n_media = 0;
    else if (n_media > SW_MIG_MAX_SLICES)
        n_media = SW_MIG_MAX_SLICES;
    for (size_t i = 0; i < g->n_kinds; i++) {
        struct sw_mig_kind *k = &g->kinds[i];
        const uint8_t attrs = k->profile.attrs;
        k->n_ofa = (attrs & (SW_MIG_ME | SW_MIG_ME_ALL)) != 0;
        k->n_media = !all_me || (attrs & SW_MIG_NO_ME) ? 0
                     : (attrs & SW_MIG_ME_ALL)         ? (uint8_t)n_media
                                                       : k->profile.gi;
    }
    g->n_media = (uint8_t)n_media;
    g->n_ofa = 1;
}

int sw_mig_geometry_new(const struct sw_mig_kind *kinds, size_t n_kinds,
                        struct sw_mig_geometry **out, struct sw_err *err)
{
    if (n_kinds == 0 || n_kinds > SW_MIG_MAX_KINDS)
        return sw_err_set(err, SW_INVALID, "%zu MIG profiles, expected 1 to %d", n_kinds,
                          SW_MIG_MAX_KINDS);
    SW_AUTO(sw_mig_geometry) *g = sw_zalloc(1, sizeof *g);
    g->n_refs = 1;
    for (size_t i = 0; i < n_kinds; i++) {
        const int rc = check_kind(g, &kinds[i], err);
        if (rc < 0)
            return rc;
        g->kinds[g->n_kinds++] = kinds[i];
        for (size_t p = 0; p < kinds[i].n_places; p++) {
            const uint8_t end = (uint8_t)(kinds[i].places[p].start + kinds[i].places[p].size);
            g->n_slices = end > g->n_slices ? end : g->n_slices;
        }
    }
    share_engines(g);
    const size_t n_states = ((g->n_media + 1u) * (g->n_ofa + 1u)) << g->n_slices;
    g->capability = sw_zalloc(n_states, sizeof *g->capability);
    for (unsigned media = 0; media <= g->n_media; media++)
        for (unsigned ofa = 0; ofa <= g->n_ofa; ofa++)
            for (unsigned slices = 0; slices < 1u << g->n_slices; slices++) {
                const struct sw_mig_use use = { (uint16_t)slices, (uint8_t)media, (uint8_t)ofa };
                g->capability[state_index(g, &use)] = (uint16_t)work_out_capability(g, &use);
            }
    *out = SW_TAKE(g);
    return 0;
}

struct sw_mig_geometry *sw_mig_geometry_ref(struct sw_mig_geometry *g)
{
    g->n_refs++;
    return g;
}

void sw_mig_geometry_unref(struct sw_mig_geometry *g)
{
    if (!g || --g->n_refs)
        return;
    free(g->capability);
    free(g);
}

bool sw_mig_geometry_equal(const struct sw_mig_geometry *a, const struct sw_mig_geometry *b)
{
    if (a == b)
        return true;
    bool equal = a->n_kinds == b->n_kinds;
    for (size_t i = 0; equal && i < a->n_kinds; i++) {
        const struct sw_mig_kind *x = &a->kinds[i], *y = &b->kinds[i];
        equal = sw_mig_profile_equal(&x->profile, &y->profile) && x->n_places == y->n_places &&
                x->gi_profile == y->gi_profile && x->ci_profile == y->ci_profile &&
                x->ci_engine == y->ci_engine && x->gi_id == y->gi_id &&
                memcmp(x->places, y->places, x->n_places * sizeof x->places[0]) == 0;
    }
    return equal;
}

const struct sw_mig_kind *sw_mig_kind_find(const struct sw_mig_geometry *g,
                                           const struct sw_mig_profile *profile)
{
    for (size_t i = 0; g && i < g->n_kinds; i++)
        if (sw_mig_profile_same_gi(&g->kinds[i].profile, profile))
            return &g->kinds[i];
    return NULL;
}

struct sw_mig_geometry *sw_mig_geometry_of(const struct sw_mig_model *model)
{
    struct sw_mig_kind kinds[SW_MIG_MAX_KINDS] = { 0 };
    for (size_t i = 0; i < model->shape->n_rows; i++) {
        const struct sw_mig_layout_row *row = &model->shape->rows[i];
        struct sw_mig_kind *k = &kinds[i];
        const char *name = model->profiles[i];
        int rc = sw_mig_profile_parse(name, strlen(name), &k->profile, NULL);
        assert(rc == 0);
        (void)rc;
        k->gi_id = row->gi_id;
        k->gi_profile = row->gi_profile;
        k->ci_profile = row->ci_profile;
        for (unsigned start = 0; start < SW_MIG_MAX_SLICES; start++)
            if (row->starts >> start & 1)
                k->places[k->n_places++] = (struct sw_mig_place){ (uint8_t)start, row->size };
    }
    struct sw_mig_geometry *g = NULL;
    int rc = sw_mig_geometry_new(kinds, model->shape->n_rows, &g, NULL);
    assert(rc == 0); /* the tables are constant and tested */
    (void)rc;
    return g;
}

/* ---- NodeAccelerator ---------------------------------------------------------------------------
 */

static int read_id(struct json_object *doc, const char *name, const char *key, uint8_t *out,
                   struct sw_err *err)
{
    const int64_t id = sw_json_int(doc, 0, key, NULL);
    if (id < 0 || id > UINT8_MAX)
        return sw_err_set(err, SW_INVALID, "%s.%s: %lld, expected 0 to 255", name, key,
                          (long long)id);
    *out = (uint8_t)id;
    return 0;
}

static int read_kind(const char *name, struct json_object *doc, struct sw_mig_kind *k,
                     struct sw_err *err)
{
    struct json_object *list = sw_json_get(doc, "placements");
    const size_t n = sw_json_len(list);
    int rc = sw_mig_profile_parse(name, strlen(name), &k->profile, err);
    if (rc == 0 && (!json_object_is_type(list, json_type_array) || !n || n > SW_MIG_MAX_PLACES))
        rc = sw_err_set(err, SW_INVALID, "%s.placements: expected a list of 1 to %d", name,
                        SW_MIG_MAX_PLACES);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const int64_t start = sw_json_int(sw_json_at(list, i), 0, "start", NULL);
        const int64_t size = sw_json_int(sw_json_at(list, i), -1, "size", NULL);
        if (start < 0 || size <= 0 || start + size > SW_MIG_MAX_SLICES)
            return sw_err_set(err, SW_INVALID,
                              "%s.placements[%zu]: start %lld, size %lld: expected slices 0 to %d",
                              name, i, (long long)start, (long long)size, SW_MIG_MAX_SLICES - 1);
        k->places[k->n_places++] = (struct sw_mig_place){ (uint8_t)start, (uint8_t)size };
    }
    if (rc == 0)
        rc = read_id(doc, name, "giProfileId", &k->gi_profile, err);
    if (rc == 0)
        rc = read_id(doc, name, "ciProfileId", &k->ci_profile, err);
    if (rc == 0)
        rc = read_id(doc, name, "ciEngProfileId", &k->ci_engine, err);
    k->profile.ci = 0;
    k->gi_id = UINT8_MAX;
    return rc;
}

/* Kinds in one order whatever the map's, so that equal GPUs compare equal. */
static int kind_cmp(const void *a, const void *b)
{
    const struct sw_mig_kind *x = a, *y = b;
    if (x->profile.gi != y->profile.gi)
        return x->profile.gi - y->profile.gi;
    if (x->profile.gb != y->profile.gb)
        return x->profile.gb - y->profile.gb;
    return x->profile.attrs - y->profile.attrs;
}

int sw_mig_geometry_from_json(struct json_object *placement, struct sw_mig_geometry **out,
                              struct sw_err *err)
{
    if (!json_object_is_type(placement, json_type_object))
        return sw_err_set(err, SW_INVALID, "migPlacement is no map");
    struct sw_mig_kind kinds[SW_MIG_MAX_KINDS] = { 0 };
    size_t n = 0;
    json_object_object_foreach(placement, name, doc)
    {
        if (n == SW_MIG_MAX_KINDS)
            return sw_err_set(err, SW_INVALID, "migPlacement has more than %d profiles",
                              SW_MIG_MAX_KINDS);
        const int rc = read_kind(name, doc, &kinds[n++], err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "migPlacement");
    }
    qsort(kinds, n, sizeof kinds[0], kind_cmp);
    return sw_mig_geometry_new(kinds, n, out, err);
}

struct json_object *sw_mig_geometry_to_json(const struct sw_mig_geometry *g)
{
    struct json_object *doc = json_object_new_object();
    for (size_t i = 0; i < g->n_kinds; i++) {
        const struct sw_mig_kind *k = &g->kinds[i];
        struct json_object *places = json_object_new_array();
        for (size_t p = 0; p < k->n_places; p++) {
            struct json_object *place = json_object_new_object();
            json_object_object_add(place, "size", json_object_new_int(k->places[p].size));
            json_object_object_add(place, "start", json_object_new_int(k->places[p].start));
            json_object_array_add(places, place);
        }
        struct json_object *entry = json_object_new_object();
        json_object_object_add(entry, "placements", places);
        json_object_object_add(entry, "giProfileId", json_object_new_int(k->gi_profile));
        json_object_object_add(entry, "ciProfileId", json_object_new_int(k->ci_profile));
        json_object_object_add(entry, "ciEngProfileId", json_object_new_int(k->ci_engine));
        char name[SW_MIG_NAME_LEN];
        json_object_object_add(doc, sw_mig_profile_text(&k->profile, name), entry);
    }
    return doc;
}
