/* Records, CDI files, messages and the inventory: what is written is what is read, what is read is
 * checked. */
#include "slicing/deviceplugin/broker/journal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chart/recipe/schema/schema.h"
#include "chart/template/template.h"
#include "data/data.h"
#include "slicing/deviceplugin/deviceplugin.h"
#include "slicing/deviceplugin/inventory.h"
#include "slicing/deviceplugin/messages.h"

static struct dp_grant *grant_of(const char *profile, size_t n_slices)
{
    struct dp_grant *g = dp_grant_new();
    const char *ids[] = { "a-0", "a-1" };
    g->id = sw_strdup("00112233aabbccdd");
    g->state = DP_READY;
    g->boot_id = sw_strdup("5f1c-boot");
    g->container = sw_strdup("main");
    g->pod = (struct dp_ref){ sw_strdup("default"), sw_strdup("pod"), sw_strdup("1-2-3") };
    for (size_t i = 0; i < n_slices; i++) {
        struct dp_slice *s = dp_grant_add_slice(g);
        s->claim_ns = sw_strdup("das-operator");
        s->claim = sw_printf("1-2-3-node-main-%zu", i);
        s->gpu = sw_strdup("GPU-7");
        s->place = (struct sw_mig_place){ (uint8_t)(2 * i), 1 };
        s->step = DP_MADE;
        s->gi = (uint32_t)i + 7;
        s->ci = 3;
        s->uuid = sw_printf("MIG-%zu", i);
        (void)strcpy(s->profile, profile);
    }
    dp_grant_serve(g, profile, ids, n_slices < 2 ? n_slices : 2);
    return g;
}

static void test_a_record_is_read_as_it_was_written(void **state SW_UNUSED)
{
    SW_ERR(err);
    SW_AUTO(dp_grant) *g = grant_of("1g.5gb+me", 2);
    g->state = DP_MAKING;
    g->slices[1].step = DP_INTENT;
    free(SW_TAKE(g->slices[1].uuid));
    SW_AUTO_JSON *doc = dp_record_make(g);
    struct dp_grant *again = NULL;
    assert_int_equal(dp_record_read(doc, &again, &err), 0);
    SW_AUTO_JSON *doc2 = dp_record_make(again);
    assert_true(sw_json_equal(doc, doc2));
    assert_int_equal(again->slices[1].step, DP_INTENT);
    assert_int_equal(again->slices[0].gi, 7);
    assert_string_equal(again->served[0].ids[1], "a-1");
    dp_grant_free(again);
}

static void test_bad_records_are_refused_by_field(void **state SW_UNUSED)
{
    static const struct {
        const char *path[4], *value, *message;
    } cases[] = {
        { { "version" }, "2", "version" },
        { { "id" }, "\"../x\"", "id" },
        { { "id" }, "7", "id" },
        { { "state" }, "\"gone\"", "state: 'gone'" },
        { { "bootID" }, "\"\"", "bootID" },
        { { "container" }, "\"a/b\"", "container" },
        { { "pod", "uid" }, "null", "uid" },
        { { "slices" }, "[]", "slices: expected" },
        { { "slices" }, "{}", "slices: expected" },
        { { "slices" }, "[{}]", "slices[0]: namespace" },
        { { "served" }, "[{\"profile\":\"x\"}]", "served[0]" },
        { { "served" }, "[{\"profile\":\"1g.5gb\",\"ids\":[1]}]", "served[0].ids[0]" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO(dp_grant) *g = grant_of("1g.5gb", 1);
        SW_AUTO_JSON *doc = dp_record_make(g);
        struct json_object *value = NULL;
        struct dp_grant *out = NULL;
        assert_int_equal(sw_json_parse(cases[i].value, strlen(cases[i].value), NULL, &value, &err),
                         0);
        size_t n = 0;
        while (cases[i].path[n])
            n++;
        sw_json_set_at(doc, value, cases[i].path, n);
        assert_int_equal(dp_record_read(doc, &out, &err), SW_INVALID);
        if (!strstr(err.text, cases[i].message))
            fail_msg("%zu: %s", i, err.text);
    }
}

static void test_slices_are_checked_by_field(void **state SW_UNUSED)
{
    static const struct {
        const char *key, *value;
    } cases[] = {
        { "profile", "\"1g\"" }, { "gpu", "\"a b\"" },     { "start", "16" },
        { "size", "-1" },        { "step", "\"x\"" },      { "gi", "-1" },
        { "ci", "\"1\"" },       { "uuid", "\"../a\"" },   { "claim", "{}" },
        { "uuid", "null" },      { "step", "\"intent\"" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO(dp_grant) *g = grant_of("1g.5gb", 1);
        SW_AUTO_JSON *doc = dp_record_make(g);
        struct json_object *value = NULL;
        struct dp_grant *out = NULL;
        assert_int_equal(sw_json_parse(cases[i].value, strlen(cases[i].value), NULL, &value, &err),
                         0);
        sw_json_set(sw_json_at(sw_json_get(doc, "slices"), 0), value, cases[i].key, NULL);
        if (dp_record_read(doc, &out, &err) != SW_INVALID)
            fail_msg("%s: %s was taken", cases[i].key, cases[i].value);
        assert_non_null(strstr(err.text, "slices[0]"));
    }
}

static void test_cdi_files_keep_the_schema(void **state SW_UNUSED)
{
    static const char *const profiles[] = { "1g.5gb", "1g.5gb+me", "1g.24gb+me.all", "1g.24gb-me",
                                            "7g.141gb" };
    char *text;
    size_t len;
    SW_ERR(err);
    assert_int_equal(sw_file_read(SW_SOURCE_DIR "/test/unit/slicing/cdi_schema.json", 1 << 20,
                                  &text, &len, &err),
                     0);
    SW_AUTO(sw_schema) *schema = NULL;
    assert_int_equal(sw_schema_new("cdi", text, len, &schema, &err), 0);
    for (size_t i = 0; i < SW_COUNT(profiles); i++) {
        SW_AUTO(dp_grant) *g = grant_of(profiles[i], i + 1);
        SW_AUTO_JSON *doc = dp_cdi_make(g, NULL);
        struct sw_arena *arena = sw_arena_new();
        if (sw_schema_check(schema, sw_value_from_json(arena, doc), &err) < 0)
            fail_msg("%s: %s", profiles[i], sw_err_text(&err));
        sw_json_set_str(doc, "x", "devices", NULL); /* the schema does refuse */
        assert_int_equal(sw_schema_check(schema, sw_value_from_json(arena, doc), NULL), SW_INVALID);
        sw_arena_free(arena);
    }
    free(text);
}

static void test_cdi_names(void **state SW_UNUSED)
{
    SW_AUTO(dp_grant) *g = grant_of("1g.5gb+me", 2);
    SW_AUTO_CHARS *device = dp_cdi_device(g), *file = dp_cdi_file(g);
    SW_AUTO_CHARS *visible = dp_visible_devices(g), *cuda = dp_cuda_devices(g);
    assert_string_equal(device, "mig.das.com/c1g.5gb-plus-me=MIG-0");
    assert_string_equal(file, "c1g.5gb-plus-me_MIG-0.cdi.json");
    assert_string_equal(visible, "MIG-0,MIG-1");
    assert_string_equal(cuda, "0,1");
}

static int n_found, n_bad;
static void on_found(struct dp_grant *grant, void *arg SW_UNUSED)
{
    n_found++;
    dp_grant_free(grant);
}
static void on_bad(const char *path SW_UNUSED, const struct sw_err *err, void *arg SW_UNUSED)
{
    n_bad++;
    assert_non_null(err->text);
}
static bool keep_none(const char *device SW_UNUSED, void *arg SW_UNUSED)
{
    return false;
}

static size_t n_files(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.' || strstr(e->d_name, ".new") != NULL;
    if (d)
        (void)closedir(d);
    return n;
}

static void test_files_come_and_go_whole(void **state SW_UNUSED)
{
    char top[] = "/tmp/slipway-journal-XXXXXX";
    SW_ERR(err);
    assert_non_null(mkdtemp(top));
    SW_AUTO_CHARS *dir = sw_printf("%s/a/b", top), *cdi = sw_printf("%s/cdi", top);
    SW_AUTO_CHARS *torn = sw_printf("%s/torn.json", dir), *theirs = sw_printf("%s/x.cdi.json", cdi);
    SW_AUTO(dp_grant) *g = grant_of("1g.5gb", 1);
    n_found = n_bad = 0;
    assert_int_equal(dp_journal_load(dir, on_found, on_bad, NULL, &err), 0); /* makes it */
    assert_int_equal(dp_journal_write(dir, g, &err), 0);
    assert_int_equal(dp_journal_write(dir, g, &err), 0);
    assert_int_equal(sw_file_write(torn, "{", 1, &err), 0);
    assert_int_equal(dp_journal_load(dir, on_found, on_bad, NULL, &err), 0);
    assert_int_equal(n_found, 1);
    assert_int_equal(n_bad, 1);
    assert_int_equal(n_files(dir), 2);
    assert_int_equal(dp_journal_remove(dir, g->id, &err), 0);
    assert_int_equal(dp_journal_remove(dir, g->id, &err), 0);
    assert_int_equal(n_files(dir), 1);
    assert_int_equal(dp_cdi_sweep(cdi, keep_none, NULL, &err), 0);
    assert_int_equal(dp_cdi_write(cdi, g, NULL, &err), 0);
    static const char other[] =
        "{\"cdiVersion\":\"0.5.0\",\"kind\":\"nvidia.com/gpu\",\"devices\":[{\"name\":\"0\"}]}";
    assert_int_equal(sw_file_write(theirs, other, sizeof other - 1, &err), 0);
    assert_int_equal(n_files(cdi), 2);
    assert_int_equal(dp_cdi_sweep(cdi, keep_none, NULL, &err), 0);
    assert_int_equal(n_files(cdi), 1); /* somebody else's stays */
    (void)unlink(theirs);
    (void)unlink(torn);
    (void)rmdir(cdi);
    (void)rmdir(dir);
    SW_AUTO_CHARS *a = sw_printf("%s/a", top);
    (void)rmdir(a);
    assert_int_equal(rmdir(top), 0);
}

/* ---- DAS's files -------------------------------------------------------------------------------
 */

/* As its daemonset writes them, of two slices; @path, NULL: nothing, is replaced in the second
 * claim. */
static struct json_object *das_file(const char *path, const char *value)
{
    SW_AUTO_JSON *claims = json_object_new_array();
    for (int i = 0; i < 2; i++) {
        SW_AUTO_CHARS *text = sw_printf(
            "{\"metadata\":{\"name\":\"1-2-3-node-1-my-app-%d\",\"namespace\":\"das-operator\","
            "\"uid\":\"9-%d\"},\"spec\":{\"profile\":\"1g.5gb+me\",\"nodename\":\"node-1\","
            "\"gpuUUID\":\"GPU-7\",\"migPlacement\":{\"start\":%d,\"size\":1},\"podRef\":{"
            "\"namespace\":\"default\",\"name\":\"pod\",\"uid\":\"1-2-3\"}}}",
            i, i, i + 3);
        struct json_object *claim = NULL, *changed = NULL;
        assert_int_equal(sw_json_parse(text, strlen(text), NULL, &claim, NULL), 0);
        if (i && path) {
            assert_int_equal(sw_json_parse(value, strlen(value), NULL, &changed, NULL), 0);
            sw_json_set(claim, changed, "spec", path, NULL);
        }
        json_object_array_add(claims, claim);
    }
    SW_AUTO_CHARS *note = sw_json_text(claims, SW_JSON_PLAIN, NULL);
    struct json_object *doc = NULL;
    static const char text[] =
        "{\"cdiVersion\":\"0.8.0\",\"kind\":\"mig.das.com/c1g.5gb-plus-me\",\"devices\":[{\"name\":"
        "\"8c1f\",\"annotations\":{},\"containerEdits\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=MIG-a,"
        "MIG-b\",\"CUDA_VISIBLE_DEVICES=0,1\"]}}]}";
    assert_int_equal(sw_json_parse(text, sizeof text - 1, NULL, &doc, NULL), 0);
    sw_json_set_str(sw_json_at(sw_json_get(doc, "devices"), 0), note, "annotations",
                    "mig.das.com/allocation", NULL);
    return doc;
}

#define DAS_FILE "c1g.5gb-plus-me_8c1f.cdi.json"

static void test_a_file_of_das_becomes_a_record(void **state SW_UNUSED)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = das_file(NULL, NULL);
    struct dp_grant *g = NULL, *again = NULL;
    assert_int_equal(dp_cdi_inherit(DAS_FILE, doc, "boot", &g, &err), 0);
    SW_AUTO_JSON *record = dp_record_make(g);
    assert_int_equal(dp_record_read(record, &again, &err), 0);
    assert_string_equal(again->container, "my-app");
    assert_string_equal(again->pod.uid, "1-2-3");
    assert_int_equal(again->n_slices, 2);
    assert_int_equal(again->slices[1].place.start, 4);
    assert_string_equal(again->slices[1].claim, "1-2-3-node-1-my-app-1");
    SW_AUTO_CHARS *file = dp_cdi_file(again), *visible = dp_visible_devices(again);
    assert_string_equal(file, DAS_FILE); /* what kubelet remembers goes on */
    assert_string_equal(visible, "MIG-a,MIG-b");
    dp_grant_free(again);

    SW_AUTO_JSON *ours = dp_cdi_make(g, NULL); /* from now on it is slipway's */
    again = NULL;
    assert_int_equal(dp_cdi_inherit(DAS_FILE, ours, "boot", &again, &err), SW_NOTFOUND);
    dp_grant_free(g);
}

static void test_files_of_das_are_checked(void **state SW_UNUSED)
{
    static const struct {
        const char *file, *path, *value;
    } cases[] = {
        { "c1g.5gb_8c1f.cdi.json", NULL, NULL },
        { "other.cdi.json", NULL, NULL },
        { DAS_FILE, "profile", "\"1g\"" },
        { DAS_FILE, "gpuUUID", "\"../x\"" },
        { DAS_FILE, "migPlacement", "{\"start\":16,\"size\":1}" },
        { DAS_FILE, "migPlacement", "null" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = das_file(cases[i].path, cases[i].value);
        struct dp_grant *g = NULL;
        if (dp_cdi_inherit(cases[i].file, doc, "boot", &g, &err) != SW_INVALID)
            fail_msg("%zu: was taken", i);
    }
}

/* ---- inventory ---------------------------------------------------------------------------------
 */

static void test_every_model_has_its_resources(void **state SW_UNUSED)
{
    size_t n_models;
    const struct sw_mig_model *models = sw_mig_models(&n_models);
    for (size_t m = 0; m < n_models; m++) {
        SW_ERR(err);
        SW_AUTO(dp_driver) *d = NULL;
        assert_int_equal(dp_driver_emulate(models[m].name, 3, "node", &d, &err), 0);
        size_t n;
        struct dp_resource *r = dp_inventory_resources(d, &n);
        assert_true(n >= 5);
        for (size_t i = 0; i < n; i++) {
            assert_true(r[i].n_devices >= 3);
            assert_null(strchr(r[i].name, '+'));
        }
        SW_AUTO_JSON *doc = dp_inventory_document(d);
        assert_int_equal(sw_json_len(sw_json_get(doc, "nodeGpus")), 3);
        SW_AUTO(sw_mig_geometry) *g = NULL;
        assert_int_equal(sw_mig_geometry_from_json(sw_json_get(doc, "migPlacement"), &g, &err), 0);
        assert_int_equal(g->n_kinds, n);
        dp_inventory_resources_free(r, n);
    }
}

static void test_gpus_that_differ_say_so(void **state SW_UNUSED)
{
    SW_AUTO(dp_driver) *d = NULL, *other = NULL;
    assert_int_equal(dp_driver_emulate("A100-40GB", 2, "node", &d, NULL), 0);
    assert_int_equal(dp_driver_emulate("A30-24GB", 1, "node", &other, NULL), 0);
    struct sw_mig_geometry *swap = d->gpus[1].geometry;
    d->gpus[1].geometry = other->gpus[0].geometry;
    other->gpus[0].geometry = swap;
    SW_AUTO_JSON *doc = dp_inventory_document(d);
    struct json_object *gpus = sw_json_get(doc, "nodeGpus");
    assert_null(sw_json_get(sw_json_at(gpus, 0), "migPlacement"));
    assert_non_null(sw_json_find(sw_json_at(gpus, 1), "migPlacement", "1g.6gb", NULL));
    size_t n;
    struct dp_resource *r = dp_inventory_resources(d, &n);
    assert_int_equal(n, 7 + 5);
    dp_inventory_resources_free(r, n);
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static void test_answers_by_strategy(void **state SW_UNUSED)
{
    SW_AUTO(dp_grant) *g = grant_of("1g.5gb", 1);
    size_t empty = 0;
    for (unsigned list = 0; list < 8; list++) {
        struct dp_bytes b = dp_message_allocated(&g, "1g.5gb", 1, list);
        const bool env = memmem(b.bytes, b.len, "NVIDIA_VISIBLE_DEVICES", 22) != NULL;
        const bool note = memmem(b.bytes, b.len, "cdi.k8s.io/mig.das.com_1g.5gb", 29) != NULL;
        assert_int_equal(env, (list & SW_DEVICES_ENVVAR) != 0);
        assert_int_equal(note, (list & SW_DEVICES_CDI_ANNOTATIONS) != 0);
        if (!list)
            empty = b.len;
        assert_true(list ? b.len > empty : b.len <= 2);
        free(b.bytes);
    }
}

static void test_strategies_are_read(void **state SW_UNUSED)
{
    unsigned list = 0;
    SW_ERR(err);
    assert_int_equal(sw_device_list_parse("envvar,cdi-cri", &list, &err), 0);
    assert_int_equal(list, SW_DEVICES_ENVVAR | SW_DEVICES_CDI_CRI);
    assert_int_equal(sw_device_list_parse("cdi-annotations", &list, &err), 0);
    assert_int_equal(list, SW_DEVICES_CDI_ANNOTATIONS);
    assert_int_equal(sw_device_list_parse("envvar,", &list, &err), SW_INVALID);
    assert_int_equal(sw_device_list_parse("volume-mounts", &list, &err), SW_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_is_read_as_it_was_written),
        cmocka_unit_test(test_bad_records_are_refused_by_field),
        cmocka_unit_test(test_slices_are_checked_by_field),
        cmocka_unit_test(test_cdi_files_keep_the_schema),
        cmocka_unit_test(test_cdi_names),
        cmocka_unit_test(test_files_come_and_go_whole),
        cmocka_unit_test(test_a_file_of_das_becomes_a_record),
        cmocka_unit_test(test_files_of_das_are_checked),
        cmocka_unit_test(test_every_model_has_its_resources),
        cmocka_unit_test(test_gpus_that_differ_say_so),
        cmocka_unit_test(test_answers_by_strategy),
        cmocka_unit_test(test_strategies_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
