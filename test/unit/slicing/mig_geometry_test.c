/* The tables of GPUs, and geometries from NodeAccelerators. */
#include "slicing/mig/mig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

/* "Number of instances" in NVIDIA's MIG user guide, in the order of the tables. */
static void as_many_fit_as_the_guide_says(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        unsigned n[11];
    } rows[] = {
        { "A30-24GB", { 4, 1, 2, 1, 1 } },
        { "A100-40GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "A100-80GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "H100-80GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "H100-94GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "H100-96GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "H200-141GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "B200-180GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "GB200-186GB", { 7, 1, 4, 3, 2, 1, 1 } },
        { "RTX-PRO-6000-96GB", { 4, 1, 4, 1, 4, 2, 2, 1, 2, 1, 1 } },
    };
    size_t n_models;
    (void)sw_mig_models(&n_models);
    assert_int_equal(n_models, SW_COUNT(rows));
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find(rows[i].model, 0));
        for (size_t k = 0; k < g->n_kinds; k++)
            assert_int_equal(sw_mig_room(g, &(struct sw_mig_use){ 0 }, &g->kinds[k]), rows[i].n[k]);
    }
}

/* A kind as `nvidia-smi mig -lgipp` prints it, with NVML's numbers of its profiles. */
static char *print_kind(const struct sw_mig_kind *k)
{
    char name[SW_MIG_NAME_LEN], places[64] = "";
    for (size_t i = 0, n = 0; i < k->n_places; i++)
        n += (size_t)snprintf(places + n, sizeof places - n, "%s%u", i ? "," : "",
                              k->places[i].start);
    return sw_printf("%s: %u {%s}:%u gi %u ci %u", sw_mig_profile_text(&k->profile, name), k->gi_id,
                     places, k->places[0].size, k->gi_profile, k->ci_profile);
}

static void places_and_ids_are_those_of_the_guide(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *kinds[11];
    } rows[] = {
        { "A30-24GB",
          { "1g.6gb: 14 {0,1,2,3}:1 gi 0 ci 0", "1g.6gb+me: 21 {0,1,2,3}:1 gi 7 ci 0",
            "2g.12gb: 5 {0,2}:2 gi 1 ci 1", "2g.12gb+me: 6 {0,2}:2 gi 8 ci 1",
            "4g.24gb: 0 {0}:4 gi 3 ci 3" } },
        { "A100-40GB",
          { "1g.5gb: 19 {0,1,2,3,4,5,6}:1 gi 0 ci 0", "1g.5gb+me: 20 {0,1,2,3,4,5,6}:1 gi 7 ci 0",
            "1g.10gb: 15 {0,2,4,6}:2 gi 9 ci 0", "2g.10gb: 14 {0,2,4}:2 gi 1 ci 1",
            "3g.20gb: 9 {0,4}:4 gi 2 ci 2", "4g.20gb: 5 {0}:4 gi 3 ci 3",
            "7g.40gb: 0 {0}:8 gi 4 ci 4" } },
        { "RTX-PRO-6000-96GB",
          { "1g.24gb: 14 {0,3,6,9}:3 gi 0 ci 0", "1g.24gb+me: 21 {0,3,6,9}:3 gi 7 ci 0",
            "1g.24gb+gfx: 47 {0,3,6,9}:3 gi 10 ci 0", "1g.24gb+me.all: 65 {0,3,6,9}:3 gi 15 ci 0",
            "1g.24gb-me: 67 {0,3,6,9}:3 gi 13 ci 0", "2g.48gb: 5 {0,6}:6 gi 1 ci 1",
            "2g.48gb+gfx: 35 {0,6}:6 gi 11 ci 1", "2g.48gb+me.all: 64 {0,6}:6 gi 16 ci 1",
            "2g.48gb-me: 66 {0,6}:6 gi 14 ci 1", "4g.96gb: 0 {0}:12 gi 3 ci 3",
            "4g.96gb+gfx: 32 {0}:12 gi 12 ci 3" } },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find(rows[i].model, 0));
        for (size_t k = 0; k < g->n_kinds; k++) {
            SW_AUTO_CHARS *text = print_kind(&g->kinds[k]);
            assert_string_equal(text, rows[i].kinds[k]);
        }
    }
}

/* The others with 7 compute slices lie as the A100 does; what differs is how much memory that is.
 */
static void profiles_are_those_of_the_guide(void **state)
{
    (void)state;
    static const struct {
        const char *model, *memory[6]; /* of 1g, 1g with twice the memory, 2g, 3g, 4g, 7g */
    } rows[] = {
        { "A100-40GB", { "5", "10", "10", "20", "20", "40" } },
        { "A100-80GB", { "10", "20", "20", "40", "40", "80" } },
        { "H100-80GB", { "10", "20", "20", "40", "40", "80" } },
        { "H100-94GB", { "12", "24", "24", "47", "47", "94" } },
        { "H100-96GB", { "12", "24", "24", "48", "48", "96" } },
        { "H200-141GB", { "18", "35", "35", "71", "71", "141" } },
        { "B200-180GB", { "23", "45", "45", "90", "90", "180" } },
        { "GB200-186GB", { "23", "47", "47", "93", "93", "186" } },
    };
    static const char *const slices[] = { "1g", "1g", "2g", "3g", "4g", "7g" };
    SW_AUTO(sw_mig_geometry) *a100 = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find(rows[i].model, 0));
        assert_int_equal(g->n_kinds, 7);
        for (size_t k = 0; k < 7; k++) {
            const size_t at = k ? k - 1 : 0; /* the second is the first with +me */
            SW_AUTO_CHARS *name = sw_printf("%s.%sgb%s", slices[at], rows[i].memory[at],
                                            k == 1 ? "+me" : "");
            struct sw_mig_profile p;
            assert_int_equal(sw_mig_profile_parse(name, strlen(name), &p, NULL), 0);
            const struct sw_mig_kind *kind = sw_mig_kind_find(g, &p);
            assert_ptr_equal(kind, &g->kinds[k]);
            assert_int_equal(kind->n_places, a100->kinds[k].n_places);
            assert_memory_equal(kind->places, a100->kinds[k].places, sizeof kind->places);
        }
    }
}

static void knows_products_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *product;
        uint32_t memory_mib;
        const char *model;
    } rows[] = {
        { "NVIDIA A100-SXM4-40GB", 0, "A100-40GB" },
        { "NVIDIA-A100-PCIE-40GB", 40960, "A100-40GB" },
        { "NVIDIA A100 80GB PCIe", 81920, "A100-80GB" },
        { "NVIDIA A800-SXM4-80GB", 0, "A100-80GB" },
        { "NVIDIA A100", 81251, "A100-80GB" },
        { "A100-80GB", 0, "A100-80GB" },
        { "NVIDIA A30", 24258, "A30-24GB" },
        { "NVIDIA H100 80GB HBM3", 81559, "H100-80GB" },
        { "NVIDIA H100 PCIe", 0, "H100-80GB" },
        { "NVIDIA H100 NVL", 95830, "H100-94GB" },
        { "NVIDIA H100", 97871, "H100-96GB" },
        { "NVIDIA GH200 480GB", 97871, "H100-96GB" },
        { "NVIDIA GH200 144G HBM3e", 0, NULL },
        { "NVIDIA H20", 0, "H100-96GB" },
        { "NVIDIA H200", 143771, "H200-141GB" },
        { "NVIDIA-H200-NVL", 0, "H200-141GB" },
        { "NVIDIA B200", 183359, "B200-180GB" },
        { "NVIDIA GB200", 189471, "GB200-186GB" },
        { "NVIDIA RTX PRO 6000 Blackwell Server Edition", 0, "RTX-PRO-6000-96GB" },
        { "NVIDIA H200", 24576, NULL }, /* name and memory disagree */
        { "NVIDIA L40S", 0, NULL },
        { "Tesla T4", 0, NULL },
        { "", 0, NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const struct sw_mig_model *m = sw_mig_model_find(rows[i].product, rows[i].memory_mib);
        if (!sw_streq(m ? m->name : NULL, rows[i].model))
            fail_msg("%s: %s", rows[i].product, m ? m->name : "(none)");
    }
    size_t n;
    const struct sw_mig_model *models = sw_mig_models(&n);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(sw_mig_model_find(models[i].product, models[i].memory_mib), &models[i]);
}

static void places_lie_on_the_gpu_and_never_take_more_than_its_compute(void **state)
{
    (void)state;
    size_t n;
    const struct sw_mig_model *models = sw_mig_models(&n);
    for (size_t i = 0; i < n; i++) {
        SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(&models[i]);
        unsigned most = 0;
        for (size_t k = 0; k < g->n_kinds; k++) {
            most = g->kinds[k].profile.gi > most ? g->kinds[k].profile.gi : most;
            for (size_t p = 0; p < g->kinds[k].n_places; p++)
                assert_true(g->kinds[k].places[p].start + g->kinds[k].places[p].size <=
                            g->n_slices);
        }
        /* every memory slice carries at most its share: compute slices up to any slice's end */
        for (size_t k = 0; k < g->n_kinds; k++)
            for (size_t p = 0; p < g->kinds[k].n_places; p++)
                for (size_t l = 0; l < g->n_kinds; l++)
                    for (size_t q = 0; q < g->kinds[l].n_places; q++) {
                        struct sw_mig_use use = { 0 };
                        sw_mig_take(&use, &g->kinds[k], g->kinds[k].places[p]);
                        if (sw_mig_fits(g, &use, &g->kinds[l], g->kinds[l].places[q]))
                            assert_true(g->kinds[k].profile.gi + g->kinds[l].profile.gi <= most);
                    }
    }
}

static const char *const accelerator =
    "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":0},{\"size\":1,\"start\":1},"
    "{\"size\":1,\"start\":2},{\"size\":1,\"start\":3},{\"size\":1,\"start\":4},"
    "{\"size\":1,\"start\":5},{\"size\":1,\"start\":6}],"
    "\"giProfileId\":0,\"ciProfileId\":0,\"ciEngProfileId\":0},"
    "\"1g.5gb+me\":{\"placements\":[{\"size\":1,\"start\":0},{\"size\":1,\"start\":1}],"
    "\"giProfileId\":7,\"ciProfileId\":0,\"ciEngProfileId\":0},"
    "\"3g.20gb\":{\"placements\":[{\"size\":4,\"start\":0},{\"size\":4,\"start\":4}],"
    "\"giProfileId\":2,\"ciProfileId\":2,\"ciEngProfileId\":0},"
    "\"7g.40gb\":{\"placements\":[{\"size\":8,\"start\":0}],\"giProfileId\":4,\"ciProfileId\":4}}";

static struct sw_mig_geometry *read_placement(const char *text, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, NULL), 0);
    struct sw_mig_geometry *g = NULL;
    const int rc = sw_mig_geometry_from_json(doc, &g, err);
    assert_int_equal(rc, g ? 0 : SW_INVALID);
    return g;
}

static void reads_a_node_accelerator(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO(sw_mig_geometry) *g = read_placement(accelerator, &err);
    assert_non_null(g);
    assert_int_equal(g->n_slices, 8);
    assert_int_equal(g->n_kinds, 4);
    const struct sw_mig_kind *k = sw_mig_kind_find(g, &(struct sw_mig_profile){ 0, 3, 20, 0 });
    assert_non_null(k);
    assert_int_equal(k->gi_profile, 2);
    assert_int_equal(k->places[1].start, 4);
    /* a compute instance of part of it is cut from the same GPU instance */
    assert_ptr_equal(sw_mig_kind_find(g, &(struct sw_mig_profile){ 1, 3, 20, 0 }), k);
    assert_null(sw_mig_kind_find(g, &(struct sw_mig_profile){ 0, 2, 10, 0 }));
}

/* Nobody has to list the profile of the whole GPU: as many fit as there are places. */
static void a_list_of_some_profiles_is_enough(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned n[2]; /* in the order of sizes and names */
    } rows[] = {
        { "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":0},{\"size\":1,\"start\":1},"
          "{\"size\":1,\"start\":2}]}}",
          { 3 } },
        { "{\"3g.20gb\":{\"placements\":[{\"size\":4,\"start\":0},{\"size\":4,\"start\":4}]}}",
          { 2 } },
        { "{\"1g.24gb\":{\"placements\":[{\"size\":3,\"start\":0},{\"size\":3,\"start\":3}]},"
          "\"1g.24gb+me.all\":{\"placements\":[{\"size\":3,\"start\":0},{\"size\":3,\"start\":3}]}"
          "}",
          { 2, 1 } },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_mig_geometry) *g = read_placement(rows[i].text, NULL);
        assert_non_null(g);
        for (size_t k = 0; k < g->n_kinds; k++)
            assert_int_equal(sw_mig_room(g, &(struct sw_mig_use){ 0 }, &g->kinds[k]), rows[i].n[k]);
    }
    /* and the one with the engine goes beside them */
    SW_AUTO(sw_mig_geometry) *g = read_placement(
        "{\"3g.20gb\":{\"placements\":[{\"size\":4,\"start\":0}]},"
        "\"1g.5gb+me\":{\"placements\":[{\"size\":1,\"start\":5}]}}",
        NULL);
    struct sw_mig_use use = { 0 };
    sw_mig_take(&use, &g->kinds[0], g->kinds[0].places[0]);
    assert_true(sw_mig_fits(g, &use, &g->kinds[1], g->kinds[1].places[0]));
}

static void what_is_written_reads_back_equal(void **state)
{
    (void)state;
    SW_AUTO(sw_mig_geometry) *g = read_placement(accelerator, NULL);
    SW_AUTO_JSON *doc = sw_mig_geometry_to_json(g);
    SW_AUTO(sw_mig_geometry) *again = NULL;
    assert_int_equal(sw_mig_geometry_from_json(doc, &again, NULL), 0);
    assert_true(sw_mig_geometry_equal(g, again));
    SW_AUTO(sw_mig_geometry) *other = sw_mig_geometry_of(sw_mig_model_find("A30", 0));
    assert_false(sw_mig_geometry_equal(g, other));
}

static void refuses_bad_placements_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "[]", "no map" },
        { "{}", "0 MIG profiles" },
        { "{\"5gb\":{\"placements\":[{\"size\":1}]}}", "'5gb'" },
        { "{\"1g.5gb\":{}}", "1g.5gb.placements: expected a list" },
        { "{\"1g.5gb\":{\"placements\":[]}}", "1g.5gb.placements" },
        { "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":-1}]}}", "placements[0]" },
        { "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":0},{\"size\":1,\"start\":16}]}}",
          "placements[1]" },
        { "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":1},{\"size\":1,\"start\":1}]}}",
          "out of order" },
        { "{\"1g.5gb\":{\"placements\":[{\"size\":1,\"start\":0}],\"giProfileId\":300}}",
          "giProfileId: 300" },
        { "{\"1g.5gb\":7}", "placements" },
        { "{\"255g.5gb+me.all\":{\"placements\":[{\"size\":1,\"start\":0}]}}",
          "255g.5gb+me.all: more" },
        { "{\"2g.10gb\":{\"placements\":[{\"size\":2}]},"
          "\"1c.2g.10gb\":{\"placements\":[{\"size\":2}]}}",
          "twice" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        assert_null(read_placement(rows[i].text, &err));
        if (!strstr(sw_err_text(&err), rows[i].words))
            fail_msg("%s: %s", rows[i].text, sw_err_text(&err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_fit_as_the_guide_says),
        cmocka_unit_test(places_and_ids_are_those_of_the_guide),
        cmocka_unit_test(profiles_are_those_of_the_guide),
        cmocka_unit_test(knows_products_by_name),
        cmocka_unit_test(places_lie_on_the_gpu_and_never_take_more_than_its_compute),
        cmocka_unit_test(reads_a_node_accelerator),
        cmocka_unit_test(a_list_of_some_profiles_is_enough),
        cmocka_unit_test(what_is_written_reads_back_equal),
        cmocka_unit_test(refuses_bad_placements_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
