/* src/nvml against the NVML without a GPU (test/nvml): what a GPU says, what is made and destroyed,
 * and what goes wrong. */
#include "slicing/nvml/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LIBRARY SW_SOURCE_DIR "/build/test/libnvidia-ml.so"

static char state_file[64], fail_file[80], xid_file[80];

static int set_up(void **state SW_UNUSED)
{
    (void)snprintf(state_file, sizeof state_file, "/tmp/slipway-nvml-%d", (int)getpid());
    (void)snprintf(fail_file, sizeof fail_file, "%s-fail", state_file);
    (void)snprintf(xid_file, sizeof xid_file, "%s-xid", state_file);
    (void)unlink(state_file);
    (void)setenv("SLIPWAY_NVML_STATE", state_file, 1);
    (void)setenv("SLIPWAY_NVML_FAIL", fail_file, 1);
    (void)setenv("SLIPWAY_NVML_XID", xid_file, 1);
    (void)unsetenv("SLIPWAY_NVML_MODE");
    (void)unsetenv("SLIPWAY_NVML_OLD");
    return 0;
}

static int tear_down(void **state SW_UNUSED)
{
    (void)unlink(state_file);
    (void)unlink(fail_file);
    (void)unlink(xid_file);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
}

static struct sw_nvml *open_it(struct sw_nvml_gpu *gpu)
{
    SW_ERR(err);
    struct sw_nvml *n = NULL;
    if (sw_nvml_open(LIBRARY, &n, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_int_equal(sw_nvml_gpu(n, 1, gpu, &err), 0);
    return n;
}

static void test_gpus_are_found(void **state SW_UNUSED)
{
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    assert_int_equal(sw_nvml_n_gpus(n), 2);
    assert_string_equal(gpu.uuid, "GPU-00000000-0000-0000-0000-000000000001");
    assert_int_equal(gpu.memory_mib, 40960);
    assert_true(gpu.mig);
    assert_int_equal(sw_nvml_gpu(n, 2, &gpu, NULL), SW_NOTFOUND);
}

/* What is discovered is what the tables say, with names from the library or worked out. */
static void test_the_geometry_is_that_of_the_tables(void **state SW_UNUSED)
{
    for (int old = 0; old < 2; old++) {
        if (old)
            (void)setenv("SLIPWAY_NVML_OLD", "1", 1);
        struct sw_nvml_gpu gpu;
        SW_AUTO(sw_nvml) *n = open_it(&gpu);
        SW_AUTO(sw_mig_geometry) *g = NULL;
        SW_AUTO(sw_mig_geometry) *table = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
        SW_ERR(err);
        assert_int_equal(sw_nvml_geometry(n, &gpu, &g, &err), 0);
        assert_int_equal(g->n_kinds, table->n_kinds);
        for (size_t i = 0; i < table->n_kinds; i++) {
            const struct sw_mig_kind *t = &table->kinds[i], *k = sw_mig_kind_find(g, &t->profile);
            assert_non_null(k);
            assert_int_equal(k->gi_id, t->gi_id);
            assert_int_equal(k->gi_profile, t->gi_profile);
            assert_int_equal(k->ci_profile, t->ci_profile);
            assert_int_equal(k->n_places, t->n_places);
            assert_memory_equal(k->places, t->places, t->n_places * sizeof t->places[0]);
        }
    }
}

static void test_instances_come_and_go(void **state SW_UNUSED)
{
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    SW_AUTO(sw_mig_geometry) *g = NULL;
    SW_ERR(err);
    assert_int_equal(sw_nvml_geometry(n, &gpu, &g, &err), 0);
    const struct sw_mig_kind *three = sw_mig_kind_find(
        g, &(struct sw_mig_profile){ .gi = 3, .gb = 20 });
    const struct sw_mig_kind *one = sw_mig_kind_find(g,
                                                     &(struct sw_mig_profile){ .gi = 1, .gb = 5 });
    const struct sw_mig_place at = { 4, 4 }, inside = { 5, 1 }, beside = { 3, 1 };
    uint32_t gi = 0, ci = 0, other = 0;
    bool same = false;
    char uuid[SW_NVML_TEXT];
    assert_int_equal(sw_nvml_gi_find(n, &gpu, at, &gi, &same, &err), SW_NOTFOUND);
    assert_int_equal(sw_nvml_gi_create(n, &gpu, three, at, &gi, &err), 0);
    assert_int_equal(sw_nvml_gi_create(n, &gpu, one, inside, &other, &err), SW_CONFLICT);
    assert_int_equal(sw_nvml_gi_find(n, &gpu, at, &other, &same, &err), 0);
    assert_true(other == gi && same);
    assert_int_equal(sw_nvml_gi_find(n, &gpu, inside, &other, &same, &err), 0);
    assert_false(same);
    assert_int_equal(sw_nvml_gi_find(n, &gpu, beside, &other, &same, &err), SW_NOTFOUND);
    assert_int_equal(sw_nvml_ci_find(n, &gpu, gi, &ci, &err), SW_NOTFOUND);
    assert_int_equal(sw_nvml_ci_create(n, &gpu, gi, 3, &ci, &err), 0);
    assert_int_equal(sw_nvml_ci_find(n, &gpu, gi, &other, &err), 0);
    assert_int_equal(other, ci);
    assert_int_equal(sw_nvml_mig_uuid(n, &gpu, gi, ci, uuid, &err), 0);
    assert_true(sw_starts_with(uuid, "MIG-"));
    assert_int_equal(sw_nvml_mig_uuid(n, &gpu, gi, ci + 1, uuid, &err), SW_NOTFOUND);
    assert_int_equal(sw_nvml_gi_destroy(n, &gpu, gi, &err), SW_CONFLICT); /* it is not empty */
    assert_int_equal(sw_nvml_ci_destroy(n, &gpu, gi, ci, &err), 0);
    assert_int_equal(sw_nvml_ci_destroy(n, &gpu, gi, ci, &err), SW_NOTFOUND);
    assert_int_equal(sw_nvml_gi_destroy(n, &gpu, gi, &err), 0);
    assert_int_equal(sw_nvml_gi_destroy(n, &gpu, gi, &err), SW_NOTFOUND);
}

static void test_all_instances_are_listed(void **state SW_UNUSED)
{
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    SW_AUTO(sw_mig_geometry) *g = NULL;
    SW_ERR(err);
    assert_int_equal(sw_nvml_geometry(n, &gpu, &g, &err), 0);
    const struct sw_mig_kind *three = sw_mig_kind_find(
        g, &(struct sw_mig_profile){ .gi = 3, .gb = 20 });
    struct sw_nvml_gi list[SW_MIG_MAX_SLICES];
    size_t count = 1;
    uint32_t gi[2];
    assert_int_equal(sw_nvml_gi_list(n, &gpu, g, list, &count, &err), 0);
    assert_int_equal(count, 0);
    for (uint8_t i = 0; i < 2; i++)
        assert_int_equal(sw_nvml_gi_create(n, &gpu, three,
                                           (struct sw_mig_place){ (uint8_t)(4 * i), 4 }, &gi[i],
                                           &err),
                         0);
    assert_int_equal(sw_nvml_gi_list(n, &gpu, g, list, &count, &err), 0);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(list[i].id, gi[i]);
        assert_ptr_equal(list[i].kind, three);
        assert_int_equal(list[i].place.start, 4 * i);
        assert_int_equal(list[i].place.size, 4);
    }
}

static void test_errors_say_what_to_do(void **state SW_UNUSED)
{
    static const struct {
        int nvml, code;
    } cases[] = { { 4, SW_FORBIDDEN },    { 3, SW_INVALID },   { 6, SW_NOTFOUND },
                  { 10, SW_PENDING },     { 19, SW_CONFLICT }, { 15, SW_UNAVAILABLE },
                  { 999, SW_UNAVAILABLE } };
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    SW_AUTO(sw_mig_geometry) *g = NULL;
    assert_int_equal(sw_nvml_geometry(n, &gpu, &g, NULL), 0);
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        char line[32], words[32];
        uint32_t gi;
        (void)snprintf(line, sizeof line, "gi_create %d\n", cases[i].nvml);
        (void)snprintf(words, sizeof words, "NVML error %d", cases[i].nvml);
        write_file(fail_file, line);
        assert_int_equal(sw_nvml_gi_create(n, &gpu, &g->kinds[0], g->kinds[0].places[0], &gi, &err),
                         cases[i].code);
        assert_non_null(strstr(err.text, words));
        assert_non_null(strstr(err.text, gpu.uuid));
    }
}

static void test_no_library_no_driver(void **state SW_UNUSED)
{
    struct sw_nvml *n = NULL;
    SW_ERR(err);
    assert_int_equal(sw_nvml_open("/nowhere/libnvidia-ml.so.1", &n, &err), SW_NOTFOUND);
    assert_non_null(strstr(err.text, "/nowhere/libnvidia-ml.so.1"));
    (void)setenv("SLIPWAY_NVML_MODE", "none", 1);
    assert_int_equal(sw_nvml_open(LIBRARY, &n, &err), SW_NOTFOUND);
    assert_non_null(strstr(err.text, "Driver Not Loaded"));
    assert_int_equal(sw_nvml_open("libc.so.6", &n, &err), SW_INVALID);
    assert_non_null(strstr(err.text, "has no nvmlInit_v2"));
}

static void test_without_mig_mode(void **state SW_UNUSED)
{
    (void)setenv("SLIPWAY_NVML_MODE", "off", 1);
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    assert_false(gpu.mig);
}

static void test_critical_errors_are_heard(void **state SW_UNUSED)
{
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    size_t index;
    uint64_t xid;
    assert_int_equal(sw_nvml_listen(n, NULL), 0);
    assert_int_equal(sw_nvml_next_xid(n, 0, &index, &xid, NULL), SW_PENDING);
    write_file(xid_file, "1 79");
    assert_int_equal(sw_nvml_next_xid(n, 0, &index, &xid, NULL), 0);
    assert_int_equal(index, 1);
    assert_int_equal(xid, 79);
    assert_int_equal(sw_nvml_next_xid(n, 0, &index, &xid, NULL), SW_PENDING);
}

static void test_the_compute_mode_is_set(void **state SW_UNUSED)
{
    SW_ERR(err);
    struct sw_nvml_gpu gpu;
    SW_AUTO(sw_nvml) *n = open_it(&gpu);
    assert_int_equal(sw_nvml_set_exclusive(n, &gpu, true, &err), 0);
    assert_int_equal(sw_nvml_set_exclusive(n, &gpu, false, &err), 0);
    write_file(fail_file, "compute_mode 4\n");
    assert_int_equal(sw_nvml_set_exclusive(n, &gpu, true, &err), SW_FORBIDDEN);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_gpus_are_found),          TEST(test_the_geometry_is_that_of_the_tables),
        TEST(test_instances_come_and_go),   TEST(test_all_instances_are_listed),
        TEST(test_errors_say_what_to_do),   TEST(test_no_library_no_driver),
        TEST(test_without_mig_mode),        TEST(test_critical_errors_are_heard),
        TEST(test_the_compute_mode_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
