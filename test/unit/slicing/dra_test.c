/* What a node publishes for Dynamic Resource Allocation: devices, their order, ResourceSlices,
 * DeviceClasses. */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/selector/selector.h"
#include "slicing/dra/dra.h"

enum { MAX_GPUS = 16 };

static struct sw_dra_gpu gpus[MAX_GPUS];
static struct sw_mig_geometry *geometry;

static struct sw_dra_node node_of(const char *model, size_t n)
{
    geometry = sw_mig_geometry_of(sw_mig_model_find(model, 0));
    for (size_t i = 0; i < n; i++)
        gpus[i] = (struct sw_dra_gpu){ .uuid = "GPU-1",
                                       .product = "NVIDIA A100-PCIE-40GB",
                                       .brand = "Nvidia",
                                       .architecture = "Ampere",
                                       .pci_bus_id = "0000:10:00.0",
                                       .pcie_root = "pci0000:10",
                                       .numa_node = 0,
                                       .cuda_major = 8,
                                       .memory_mib = 40960,
                                       .geometry = geometry };
    return (struct sw_dra_node){ .name = "node-1",
                                 .uid = "7",
                                 .driver_version = "580.159.04",
                                 .cuda_version = "13.0",
                                 .gpus = gpus,
                                 .n_gpus = n };
}

static int tear_down(void **state)
{
    (void)state;
    sw_mig_geometry_unref(SW_TAKE(geometry));
    return 0;
}

static size_t n_places(const struct sw_mig_geometry *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_kinds; k++)
        n += g->kinds[k].n_places;
    return n;
}

static void a_device_for_each_place_of_each_profile(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 2);
    sw_dra_device *devices = NULL;
    assert_int_equal(sw_dra_devices(&node, &devices), 2 * n_places(geometry));
    free(devices);
}

static void a_slice_takes_the_counters_of_what_it_covers(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 1);
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 3);
    assert_int_equal(sw_json_len(slices), 2);
    struct json_object *devices = sw_json_find(sw_json_at(slices, 1), "spec", "devices", NULL);
    struct json_object *device = sw_json_find_by(devices, "name", "gpu-0-mig-3g20gb-4");
    SW_AUTO_CHARS *takes = sw_json_text(sw_json_get(device, "consumesCounters"), SW_JSON_SORTED,
                                        NULL);
    assert_string_equal(takes, "[{\"counterSet\":\"gpu-0\",\"counters\":{\"compute\":{\"value\":"
                               "\"3\"},\"memory-4\":{\"value\":\"1\"},\"memory-5\":{\"value\":"
                               "\"1\"},\"memory-6\":{\"value\":\"1\"},\"memory-7\":{\"value\":"
                               "\"1\"}}}]");
    SW_AUTO_CHARS *is = sw_json_text(sw_json_get(device, "attributes"), SW_JSON_SORTED, NULL);
    assert_string_equal(
        is, "{\"architecture\":{\"string\":\"Ampere\"},\"brand\":{\"string\":\"Nvidia\"},"
            "\"cudaComputeCapability\":{\"version\":\"8.0.0\"},\"cudaDriverVersion\":{\"version\":"
            "\"13.0.0\"},\"driverVersion\":{\"version\":\"580.159.4\"},\"index\":{\"int\":0},"
            "\"numaNode\":{\"int\":0},\"parentUUID\":{\"string\":\"GPU-1\"},\"placementSize\":{"
            "\"int\":4},\"placementStart\":{\"int\":4},\"productName\":{\"string\":\"NVIDIA "
            "A100-PCIE-40GB\"},\"profile\":{\"string\":\"3g.20gb\"},\"resource.kubernetes.io/"
            "numaNode\":{\"int\":0},\"resource.kubernetes.io/"
            "pciBusID\":{\"string\":\"0000:10:00.0\"},\"resource.kubernetes.io/pcieRoot\":{"
            "\"string\":\"pci0000:10\"},\"type\":{\"string\":\"mig\"}}");
}

static void a_pool_says_how_many_slices_it_has_and_of_which_generation(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 2);
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 3);
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        SW_AUTO_CHARS *pool = sw_json_text(
            sw_json_find(sw_json_at(slices, i), "spec", "pool", NULL), SW_JSON_SORTED, NULL);
        assert_string_equal(
            pool, "{\"generation\":3,\"name\":\"slipway/node-1\",\"resourceSliceCount\":2}");
    }
}

/* The limits of a server: 64 devices with counters in a slice, 8 sets of counters. */
static void slices_keep_to_the_limits_of_the_api(void **state)
{
    (void)state;
    size_t n_models;
    const struct sw_mig_model *models = sw_mig_models(&n_models);
    for (size_t m = 0; m < n_models; m++) {
        const struct sw_dra_node node = node_of(models[m].name, 12);
        SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
        size_t n_devices = 0, n_sets = 0;
        const char *before = "";
        for (size_t i = 0; i < sw_json_len(slices); i++) {
            struct json_object *doc = sw_json_at(slices, i), *spec = sw_json_get(doc, "spec");
            const size_t devices = sw_json_len(sw_json_get(spec, "devices"));
            const size_t sets = sw_json_len(sw_json_get(spec, "sharedCounters"));
            assert_true(devices <= 64 && sets <= 8 && !devices == !!sets);
            assert_int_equal(sw_json_int(spec, 0, "pool", "resourceSliceCount", NULL),
                             sw_json_len(slices));
            assert_true(strcmp(before, sw_obj_name(doc)) < 0); /* the order of the devices */
            before = sw_obj_name(doc);
            n_devices += devices;
            n_sets += sets;
        }
        assert_int_equal(n_sets, 12);
        assert_int_equal(n_devices, 12 * n_places(geometry));
        (void)tear_down(NULL);
    }
}

static void names_are_labels_and_lead_back_to_the_device(void **state)
{
    (void)state;
    size_t n_models;
    const struct sw_mig_model *models = sw_mig_models(&n_models);
    for (size_t m = 0; m < n_models; m++) {
        const struct sw_dra_node node = node_of(models[m].name, 2);
        sw_dra_device *devices = NULL, found;
        const size_t n = sw_dra_devices(&node, &devices);
        for (size_t i = 0; i < n; i++) {
            SW_AUTO_CHARS *name = sw_dra_device_name(&devices[i]);
            SW_ERR(err);
            assert_null(sw_dns_label_fault(name));
            assert_int_equal(sw_dra_device_find(&node, name, &found, &err), 0);
            assert_true(found.gpu == devices[i].gpu && found.kind == devices[i].kind &&
                        found.place.start == devices[i].place.start);
        }
        free(devices);
        (void)tear_down(NULL);
    }
}

static void a_name_that_no_device_has_is_refused(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A30-24GB", 1);
    sw_dra_device found;
    SW_ERR(err);
    assert_int_equal(sw_dra_device_find(&node, "gpu-1-mig-1g6gb-0", &found, &err), SW_NOTFOUND);
    assert_string_equal(sw_err_text(&err), "the node has no device 'gpu-1-mig-1g6gb-0'");
}

static void a_long_name_of_a_node_is_shortened_with_a_hash(void **state)
{
    (void)state;
    char name[254];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct sw_dra_node node = node_of("A30-24GB", 1);
    node.name = name;
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
    SW_AUTO_CHARS *first = sw_strdup(sw_obj_name(sw_json_at(slices, 0)));
    name[252] = 'm';
    SW_AUTO_JSON *others = sw_dra_slices(&node, 1);
    assert_true(strlen(first) <= 253);
    assert_string_not_equal(first, sw_obj_name(sw_json_at(others, 0)));
}

/* Whatever is taken: the first device of a profile that fits is where `packed` would put it. */
static void the_first_that_fits_is_the_place_that_packed_takes(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 300; round++) {
        const struct sw_dra_node node = node_of(round % 2 ? "A100-40GB" : "H200-141GB", 3);
        struct sw_mig_gpu places[3];
        for (size_t i = 0; i < 3; i++) {
            for (int k = 0; k < 4; k++) {
                const struct sw_mig_kind *kind =
                    &geometry
                         ->kinds[(seed = seed * 1103515245 + 12345) / 65536 % geometry->n_kinds];
                const struct sw_mig_place at = kind->places[k % kind->n_places];
                if (sw_mig_fits(geometry, &gpus[i].use, kind, at))
                    sw_mig_take(&gpus[i].use, kind, at);
            }
            places[i] = (struct sw_mig_gpu){ .geometry = geometry, .use = gpus[i].use };
        }
        sw_dra_device *devices = NULL;
        const size_t n = sw_dra_devices(&node, &devices);
        for (size_t k = 0; k < geometry->n_kinds; k++) {
            const struct sw_mig_kind *kind = &geometry->kinds[k];
            struct sw_mig_choice choice;
            size_t i = 0;
            while (i < n &&
                   (devices[i].kind != kind ||
                    !sw_mig_fits(geometry, &gpus[devices[i].gpu].use, kind, devices[i].place)))
                i++;
            if (sw_mig_place(places, 3, &kind->profile, 1, SW_MIG_PACKED, &choice, NULL) < 0) {
                assert_int_equal(i, n);
                continue;
            }
            assert_true(i < n && devices[i].gpu == choice.gpu &&
                        devices[i].place.start == choice.place.start);
        }
        free(devices);
        (void)tear_down(NULL);
    }
}

static void what_others_hold_is_in_no_counter(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 1);
    gpus[0].held.slices = 0x0f;
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
    struct json_object *sets = sw_json_find(sw_json_at(slices, 0), "spec", "sharedCounters", NULL);
    struct json_object *counters = sw_json_get(sw_json_at(sets, 0), "counters");
    assert_string_equal(sw_json_str(counters, "", "memory-3", "value", NULL), "0");
    assert_string_equal(sw_json_str(counters, "", "memory-4", "value", NULL), "1");
}

static void a_gpu_that_is_ill_is_not_published(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 2);
    gpus[0].barred = true;
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
    struct json_object *sets = sw_json_find(sw_json_at(slices, 0), "spec", "sharedCounters", NULL);
    assert_int_equal(sw_json_len(sets), 1);
    assert_string_equal(sw_json_str(sw_json_at(sets, 0), "", "name", NULL), "gpu-1");
}

static void a_gpu_without_mig_mode_is_one_device(void **state)
{
    (void)state;
    const struct sw_dra_node node = node_of("A100-40GB", 1);
    gpus[0].geometry = NULL;
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
    assert_int_equal(sw_json_len(slices), 1);
    struct json_object *devices = sw_json_find(sw_json_at(slices, 0), "spec", "devices", NULL);
    assert_int_equal(sw_json_len(devices), 1);
    struct json_object *device = sw_json_at(devices, 0);
    assert_string_equal(sw_json_str(device, "", "name", NULL), "gpu-0");
    assert_string_equal(sw_json_str(device, "", "attributes", "uuid", "string", NULL), "GPU-1");
    assert_null(sw_json_get(device, "consumesCounters"));
}

static void a_class_for_each_profile_by_the_names_of_nvidia_and_of_das(void **state)
{
    (void)state;
    (void)node_of("A100-40GB", 1);
    struct sw_mig_geometry *both[] = { geometry, geometry };
    SW_AUTO_JSON *classes = sw_dra_classes(both, 2);
    assert_int_equal(sw_json_len(classes), 2 + 2 * geometry->n_kinds); /* none twice */
    for (size_t i = 0; i < sw_json_len(classes); i++)
        assert_null(sw_dns_subdomain_fault(sw_obj_name(sw_json_at(classes, i))));
    struct json_object *last = NULL, *das = NULL;
    for (size_t i = 0; i < sw_json_len(classes); i++) {
        if (sw_streq(sw_obj_name(sw_json_at(classes, i)), "mig-1g.5gb.me.slipway.dev"))
            last = sw_json_at(classes, i);
        if (sw_streq(sw_obj_name(sw_json_at(classes, i)), "das-1g.5gb-plus-me.slipway.dev"))
            das = sw_json_at(classes, i);
    }
    assert_string_equal(sw_json_str(last, "", "spec", "extendedResourceName", NULL),
                        "nvidia.com/mig-1g.5gb.me");
    assert_string_equal(sw_json_str(das, "", "spec", "extendedResourceName", NULL),
                        "mig.das.com/1g.5gb-plus-me");
    struct json_object *selector = sw_json_at(sw_json_find(last, "spec", "selectors", NULL), 0);
    assert_string_equal(sw_json_str(selector, "", "cel", "expression", NULL),
                        "device.driver == \"mig.slipway.dev\" && "
                        "device.attributes[\"mig.slipway.dev\"].type == \"mig\" && "
                        "device.attributes[\"mig.slipway.dev\"].profile == \"1g.5gb+me\"");
}

/* ---- claims ------------------------------------------------------------------------------------
 */

static void configurations_are_read_field_by_field(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: taken */
    } cases[] = {
#define OF(kind, rest)                                                                             \
    "{\"apiVersion\":\"resource.nvidia.com/v1beta1\",\"kind\":\"" kind "\"" rest "}"
#define SHARING(rest) OF("MigDeviceConfig", ",\"sharing\":{" rest "}")
#define GPUS(rest) OF("GpuConfig", ",\"sharing\":{" rest "}")
#define TURNS(interval)                                                                            \
    "\"strategy\":\"TimeSlicing\",\"timeSlicingConfig\":{\"interval\":\"" interval "\"}"
#define SHARED(rest) "\"strategy\":\"MPS\",\"mpsConfig\":{" rest "}"
        { OF("GpuConfig", ""), NULL },
        { SHARING("\"strategy\":\"TimeSlicing\""), NULL },
        { GPUS("\"strategy\":\"TimeSlicing\""), NULL },
        { GPUS(TURNS("Default")), NULL },
        { GPUS(TURNS("Long")), NULL },
        { GPUS(TURNS("Longer")), "interval: 'Longer' is none of Default, Short, Medium, Long" },
        /* NVIDIA's driver has an interval for whole GPUs alone */
        { SHARING(TURNS("Default")), "sharing: 'timeSlicingConfig' is not known" },
        { GPUS("\"strategy\":\"TimeSlicing\",\"mpsConfig\":{}"),
          "sharing.mpsConfig: not with the strategy TimeSlicing" },
        { GPUS("\"strategy\":\"MPS\",\"timeSlicingConfig\":{}"),
          "sharing.timeSlicingConfig: not with the strategy MPS" },
        { SHARING("\"strategy\":\"MPS\""), NULL },
        { SHARING(
              SHARED("\"defaultActiveThreadPercentage\":50,"
                     "\"defaultPinnedDeviceMemoryLimit\":\"2Gi\","
                     "\"defaultPerDevicePinnedMemoryLimit\":{\"0\":\"1Gi\"},\"multiUser\":true")),
          NULL },
        { SHARING(SHARED("\"multiUser\":\"yes\"")), "multiUser: expected true or false" },
        /* it becomes a word of a line that a program reads */
        { SHARING(SHARED("\"defaultPerDevicePinnedMemoryLimit\":{\"0\\nquit\":\"1Gi\"}")),
          "expected a UUID, a number, or *" },
        { SHARING(SHARED("\"defaultActiveThreadPercentage\":101")), "expected 0 to 100" },
        { SHARING(SHARED("\"defaultPinnedDeviceMemoryLimit\":\"2Gx\"")),
          "sharing.mpsConfig.defaultPinnedDeviceMemoryLimit: " },
        { SHARING(SHARED("\"defaultPerDevicePinnedMemoryLimit\":{\"0\":\"1k\"}")),
          "defaultPerDevicePinnedMemoryLimit.0: expected 1Mi or more" },
        { SHARING(SHARED("\"other\":1")), "sharing.mpsConfig: 'other' is not known" },
        { SHARING("\"strategy\":\"Turns\""), "'Turns' is none of TimeSlicing, MPS" },
        { OF("GpuConfig", ",\"other\":1"), "GpuConfig: 'other' is not known" },
        { OF("VfioDeviceConfig", ""), "no GpuConfig or MigDeviceConfig" },
        { OF("GpuConfig", ",\"sharing\":7"), "sharing: expected an object" },
        { "[]", "no GpuConfig or MigDeviceConfig" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = NULL;
        assert_int_equal(sw_json_parse(cases[i].text, strlen(cases[i].text), NULL, &doc, &err), 0);
        struct sw_dra_sharing sharing;
        assert_int_equal(sw_dra_config_read(doc, &sharing, &err),
                         cases[i].message ? SW_INVALID : 0);
        if (cases[i].message)
            assert_non_null(strstr(sw_err_text(&err), cases[i].message));
        else
            sw_dra_sharing_done(&sharing);
    }
}

#define RESULT(request, device)                                                                    \
    "{\"request\":\"" request                                                                      \
    "\",\"driver\":\"mig.slipway.dev\",\"pool\":\"p\",\"device\":\"" device "\"}"
#define CONFIG(source, requests, kind, sharing)                                                    \
    "{\"source\":\"" source "\",\"requests\":[" requests "],\"opaque\":{\"driver\":"               \
    "\"mig.slipway.dev\",\"parameters\":{\"apiVersion\":\"resource.nvidia.com/"                    \
    "v1beta1\",\"kind\":\"" kind "\",\"sharing\":" sharing "}}}"
#define CLAIM(results, configs)                                                                    \
    "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"allocation\":{\"devices\":{\"results\":[" results \
    "],\"config\":[" configs "]}}}}"
#define MPS_OF(percent)                                                                            \
    "{\"strategy\":\"MPS\",\"mpsConfig\":{\"defaultActiveThreadPercentage\":" percent "}}"

static int read_claim(const char *text, struct sw_dra_result **out, size_t *n, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, err), 0);
    return sw_dra_results_read(doc, "u", "p", out, n, err);
}

static void the_last_configuration_for_a_request_counts(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_dra_result *r = NULL;
    size_t n = 0;
    /* the claim's before its DeviceClass's; "a" is for "a/first", too */
    static const char text[] = CLAIM(
        RESULT("a/first",
               "gpu-0-mig-1g5gb-0") "," RESULT("b", "gpu-0-mig-1g5gb-1") "," RESULT("c", "gpu-1"),
        CONFIG("FromClaim", "\"a\"", "MigDeviceConfig", MPS_OF("10")) "," CONFIG(
            "FromClaim", "\"a/first\"", "MigDeviceConfig",
            MPS_OF(
                "20")) "," CONFIG("FromClass", "", "MigDeviceConfig",
                                  MPS_OF(
                                      "30")) "," CONFIG("FromClass", "", "MigDeviceConfig",
                                                        MPS_OF(
                                                            "40")) "," CONFIG("FromClaim", "\"c\"",
                                                                              "GpuConfig",
                                                                              "{\"strategy\":"
                                                                              "\"TimeSlicing\","
                                                                              "\"timeSlicingConfig"
                                                                              "\":{\"interval\":"
                                                                              "\"Medium\"}}"));
    assert_int_equal(read_claim(text, &r, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_int_equal(r[0].sharing.threads, 20);
    assert_int_equal(r[1].sharing.threads, 40);
    assert_int_equal(r[0].config, 1);
    assert_int_equal(r[1].config, 3);
    assert_false(r[2].sharing.mps);
    assert_int_equal(r[2].sharing.interval, 2);
    sw_dra_results_free(r, n);
}

static void a_configuration_of_another_kind_of_device_counts_for_none(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_dra_result *r = NULL;
    size_t n = 0;
    /* unless it names the request: then it is a mistake */
    static const char passes[] = CLAIM(RESULT("a", "gpu-0-mig-1g5gb-0"),
                                       CONFIG("FromClass", "", "GpuConfig", MPS_OF("10")));
    assert_int_equal(read_claim(passes, &r, &n, &err), 0);
    assert_false(r[0].sharing.mps);
    assert_true(r[0].config == SIZE_MAX);
    sw_dra_results_free(r, n);
    static const char fails[] = CLAIM(RESULT("a", "gpu-0-mig-1g5gb-0"),
                                      CONFIG("FromClaim", "\"a\"", "GpuConfig", MPS_OF("10")));
    assert_int_equal(read_claim(fails, &r, &n, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "config[0]: GpuConfig is for whole GPUs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_device_for_each_place_of_each_profile, tear_down),
        cmocka_unit_test_teardown(a_slice_takes_the_counters_of_what_it_covers, tear_down),
        cmocka_unit_test_teardown(a_pool_says_how_many_slices_it_has_and_of_which_generation,
                                  tear_down),
        cmocka_unit_test(slices_keep_to_the_limits_of_the_api),
        cmocka_unit_test(names_are_labels_and_lead_back_to_the_device),
        cmocka_unit_test_teardown(a_name_that_no_device_has_is_refused, tear_down),
        cmocka_unit_test_teardown(a_long_name_of_a_node_is_shortened_with_a_hash, tear_down),
        cmocka_unit_test(the_first_that_fits_is_the_place_that_packed_takes),
        cmocka_unit_test_teardown(what_others_hold_is_in_no_counter, tear_down),
        cmocka_unit_test_teardown(a_gpu_that_is_ill_is_not_published, tear_down),
        cmocka_unit_test_teardown(a_gpu_without_mig_mode_is_one_device, tear_down),
        cmocka_unit_test_teardown(a_class_for_each_profile_by_the_names_of_nvidia_and_of_das,
                                  tear_down),
        cmocka_unit_test(configurations_are_read_field_by_field),
        cmocka_unit_test(the_last_configuration_for_a_request_counts),
        cmocka_unit_test(a_configuration_of_another_kind_of_device_counts_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
