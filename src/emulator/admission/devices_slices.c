#include "emulator/admission/devices_internal.h"
#include "emulator/store/feature_gates.h"
#include "emulator/store/objects.h"
#include "emulator/store/status.h"

/* Of a ResourceSlice: fewer devices where one of them has a taint or takes counters. */
enum {
    MAX_DEVICES = 128,
    MAX_ADVANCED = 64,
    MAX_SETS = 8,
    MAX_COUNTERS = 32,
    MAX_CONSUMED = 2,
    MAX_TAINTS = 16,
    MAX_CONDITIONS = 4,
    MAX_ATTRIBUTES = 32,
};

/* Whether a field says something: false, "", {} and [] do not. */
static bool is_set(json_object *value)
{
    if (json_object_is_type(value, json_type_boolean))
        return json_object_get_boolean(value);
    if (json_object_is_type(value, json_type_string))
        return json_object_get_string_len(value) > 0;
    return !sw_doc_is_empty(value);
}

/* The counters of a set, or those that a device takes of it. */
static void check_counters(json_object *holder, const char *name_key, const char *at,
                           struct sw_field_errors *e)
{
    SW_AUTO_CHARS *name = sw_printf("%s.%s", at, name_key);
    SW_AUTO_CHARS *counters = sw_printf("%s.counters", at);
    const int n = json_object_is_type(sw_json_get(holder, "counters"), json_type_object)
                      ? json_object_object_length(sw_json_get(holder, "counters"))
                      : 0;
    SW_AUTO_CHARS *shown = sw_printf("%d", n);
    SW_AUTO_CHARS *most = sw_printf("must have at most %d items", MAX_COUNTERS);
    if (!*sw_json_str(holder, "", name_key, NULL))
        sw_field_error_raw(e, SW_FIELD_REQUIRED, name, NULL, NULL);
    if (!n)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, counters, NULL, NULL);
    if (n > MAX_COUNTERS)
        sw_field_error_raw(e, SW_FIELD_TOO_MANY, counters, shown, most);
}

static void check_consumed(json_object *device, const char *at, struct sw_field_errors *e)
{
    json_object *list = sw_json_get(device, "consumesCounters");
    SW_AUTO_CHARS *all = sw_printf("%s.consumesCounters", at);
    sw_device_too_many(list, MAX_CONSUMED, all, e);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *one = sw_printf("%s[%zu]", all, i);
        check_counters(sw_json_at(list, i), "counterSet", one, e);
    }
    sw_device_check_unique(list, "counterSet", all, e);
}

static void check_taints(json_object *device, const char *at, struct sw_field_errors *e)
{
    json_object *list = sw_json_get(device, "taints");
    SW_AUTO_CHARS *all = sw_printf("%s.taints", at);
    sw_device_too_many(list, MAX_TAINTS, all, e);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *effect = sw_json_str(sw_json_at(list, i), "", "effect", NULL);
        SW_AUTO_CHARS *field = sw_printf("%s[%zu].effect", all, i);
        SW_AUTO_CHARS *key = sw_printf("%s[%zu].key", all, i);
        if (!*sw_json_str(sw_json_at(list, i), "", "key", NULL))
            sw_field_error_raw(e, SW_FIELD_REQUIRED, key, NULL, "name part must be non-empty");
        if (!*effect)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
        else if (!sw_streq(effect, "NoSchedule") && !sw_streq(effect, "NoExecute") &&
                 !sw_streq(effect, "None"))
            sw_field_error_str(e, SW_FIELD_NOT_SUPPORTED, field, effect,
                               "supported values: \"NoExecute\", \"NoSchedule\", \"None\"");
    }
}

/* A device has a place of its own where its slice says so, and only there. */
static void check_own_place(json_object *device, bool own, const char *at,
                            struct sw_field_errors *e)
{
    const int n = is_set(sw_json_get(device, "nodeName")) +
                  is_set(sw_json_get(device, "nodeSelector")) +
                  is_set(sw_json_get(device, "allNodes"));
    if (own && !n)
        sw_field_error_raw(
            e, SW_FIELD_REQUIRED, at, NULL,
            "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required "
            "when `perDeviceNodeSelection` is set to true in the ResourceSlice spec");
    if (!own && n)
        sw_field_error_raw(e, SW_FIELD_INVALID, at, "null",
                           "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                           "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
}

static void check_binding(json_object *device, const char *at, struct sw_field_errors *e)
{
    json_object *conditions = sw_json_get(device, "bindingConditions");
    json_object *failures = sw_json_get(device, "bindingFailureConditions");
    SW_AUTO_CHARS *first = sw_printf("%s.bindingConditions", at);
    SW_AUTO_CHARS *second = sw_printf("%s.bindingFailureConditions", at);
    sw_device_too_many(conditions, MAX_CONDITIONS, first, e);
    sw_device_too_many(failures, MAX_CONDITIONS, second, e);
    if (!sw_json_len(conditions) && sw_json_len(failures))
        sw_field_error_raw(e, SW_FIELD_INVALID, first, "[]",
                           "bindingConditions are required to use bindingFailureConditions");
    if (sw_json_len(conditions) && !sw_json_len(failures))
        sw_field_error_raw(e, SW_FIELD_INVALID, second, "[]",
                           "bindingFailureConditions are required to use bindingConditions");
}

static void check_device(json_object *devices, size_t i, bool own, struct sw_field_errors *e)
{
    SW_AUTO_CHARS *at = sw_printf("spec.devices[%zu]", i);
    json_object *device = sw_json_at(devices, i), *attributes = sw_json_get(device, "attributes");
    json_object *capacity = sw_json_get(device, "capacity");
    const int n = (attributes ? json_object_object_length(attributes) : 0) +
                  (capacity ? json_object_object_length(capacity) : 0);
    SW_AUTO_CHARS *shown = sw_printf("%d", n);
    sw_device_check_name(devices, i, at, e);
    if (n > MAX_ATTRIBUTES)
        sw_field_error_raw(e, SW_FIELD_INVALID, at, shown,
                           "the total number of attributes and capacities must not exceed 32");
    check_taints(device, at, e);
    check_consumed(device, at, e);
    check_own_place(device, own, at, e);
    check_binding(device, at, e);
    if (!json_object_is_type(attributes, json_type_object))
        return;
    json_object_object_foreach(attributes, name, value)
    {
        SW_AUTO_CHARS *field = sw_printf("%s.attributes[%s]", at, name);
        if (sw_json_len(value) == 0)
            sw_field_error_str(e, SW_FIELD_INVALID, field, "",
                               "exactly one value must be specified");
        else if (sw_json_len(value) > 1)
            sw_field_error(e, SW_FIELD_INVALID, field, value,
                           "exactly one value must be specified");
    }
}

/* Which nodes can get at the devices. */
static void check_place(json_object *spec, struct sw_field_errors *e)
{
    static const char *const ways[] = { "nodeName", "nodeSelector", "allNodes",
                                        "perDeviceNodeSelection" };
    const char *only = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                       "`perDeviceNodeSelection` is required";
    SW_AUTO_CHARS *set = NULL;
    size_t n = 0;
    for (size_t i = 0; i < SW_COUNT(ways); i++) {
        if (is_set(sw_json_get(spec, ways[i])))
            sw_append(&set, "%s`%s`", n++ ? ", " : "", ways[i]);
    }
    if (n == 0)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec", NULL, only);
    SW_AUTO_CHARS *shown = sw_printf("{%s}", set ? set : "");
    SW_AUTO_CHARS *detail = sw_printf("%s, but multiple fields are set", only);
    if (n > 1)
        sw_field_error_str(e, SW_FIELD_INVALID, "spec", shown, detail);
}

static void frozen(struct sw_write *w, const char *field, const char *const *path,
                   struct sw_field_errors *e)
{
    json_object *was = sw_json_get(w->old, "spec"), *is = sw_json_get(w->doc, "spec");
    for (size_t i = 0; path[i]; i++) {
        was = sw_json_get(was, path[i]);
        is = sw_json_get(is, path[i]);
    }
    if (w->op == SW_OP_UPDATE && !sw_json_equal(was, is))
        sw_field_error(e, SW_FIELD_INVALID, field, is, "field is immutable");
}

/* Counter sets, or devices. */
static void check_sets(json_object *spec, struct sw_field_errors *e)
{
    json_object *sets = sw_json_get(spec, "sharedCounters");
    if (sets && sw_json_get(spec, "devices"))
        sw_field_error_str(e, SW_FIELD_INVALID, "spec", "",
                           "only one of `sharedCounters` or `devices` is allowed");
    sw_device_too_many(sets, MAX_SETS, "spec.sharedCounters", e);
    for (size_t i = 0; i < sw_json_len(sets); i++) {
        SW_AUTO_CHARS *at = sw_printf("spec.sharedCounters[%zu]", i);
        check_counters(sw_json_at(sets, i), "name", at, e);
    }
    sw_device_check_unique(sets, "name", "spec.sharedCounters", e);
}

/* Whether a device of them has a taint or takes counters. */
static bool is_advanced(json_object *devices)
{
    for (size_t i = 0; i < sw_json_len(devices); i++)
        if (sw_json_len(sw_json_get(sw_json_at(devices, i), "taints")) ||
            sw_json_len(sw_json_get(sw_json_at(devices, i), "consumesCounters")))
            return true;
    return false;
}

void sw_device_slice_default(struct sw_write *w)
{
    static const struct {
        const char *field;
        enum sw_emu_gate gate;
    } of_devices[] = {
        { "consumesCounters", SW_EMU_DRA_PARTITIONABLE_DEVICES },
        { "nodeName", SW_EMU_DRA_PARTITIONABLE_DEVICES },
        { "nodeSelector", SW_EMU_DRA_PARTITIONABLE_DEVICES },
        { "allNodes", SW_EMU_DRA_PARTITIONABLE_DEVICES },
        { "taints", SW_EMU_DRA_DEVICE_TAINTS },
        { "bindsToNode", SW_EMU_DRA_DEVICE_BINDING_CONDITIONS },
        { "bindingConditions", SW_EMU_DRA_DEVICE_BINDING_CONDITIONS },
        { "bindingFailureConditions", SW_EMU_DRA_DEVICE_BINDING_CONDITIONS },
        { "allowMultipleAllocations", SW_EMU_DRA_CONSUMABLE_CAPACITY },
    };
    json_object *spec = sw_json_get(w->doc, "spec"), *devices = sw_json_get(spec, "devices");
    if (spec && !sw_store_gate(w->store, SW_EMU_DRA_PARTITIONABLE_DEVICES)) {
        json_object_object_del(spec, "sharedCounters");
        json_object_object_del(spec, "perDeviceNodeSelection");
    }
    for (size_t k = 0; k < SW_COUNT(of_devices); k++)
        for (size_t i = 0; i < sw_json_len(devices) && !sw_store_gate(w->store, of_devices[k].gate);
             i++)
            json_object_object_del(sw_json_at(devices, i), of_devices[k].field);
}

void sw_device_slice_check(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *spec = sw_json_get(w->doc, "spec"), *devices = sw_json_get(spec, "devices");
    const char *driver = sw_json_str(spec, "", "driver", NULL);
    frozen(w, "spec.pool.name", (const char *const[]){ "pool", "name", NULL }, e);
    frozen(w, "spec.driver", (const char *const[]){ "driver", NULL }, e);
    frozen(w, "spec.nodeName", (const char *const[]){ "nodeName", NULL }, e);
    if (!*driver)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.driver", NULL, NULL);
    else if (sw_dns_subdomain_fault(driver))
        sw_field_error_str(e, SW_FIELD_INVALID, "spec.driver", driver,
                           sw_dns_subdomain_fault(driver));
    if (!*sw_json_str(spec, "", "pool", "name", NULL))
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.pool.name", NULL, NULL);
    json_object *n = sw_json_find(spec, "pool", "resourceSliceCount", NULL);
    if (json_object_get_int64(n) <= 0)
        sw_field_error_raw(e, SW_FIELD_INVALID, "spec.pool.resourceSliceCount",
                           n ? json_object_get_string(n) : "0", "must be greater than zero");
    check_place(spec, e);
    json_object *term = sw_json_find(spec, "nodeSelector", "nodeSelectorTerms", NULL);
    if (sw_json_get(spec, "nodeSelector") && sw_json_len(term) != 1)
        sw_field_error(e, SW_FIELD_INVALID, "spec.nodeSelector.nodeSelectorTerms", term,
                       "must have exactly one node selector term");
    check_sets(spec, e);
    sw_device_too_many(devices, is_advanced(devices) ? MAX_ADVANCED : MAX_DEVICES, "spec.devices",
                       e);
    const bool own = sw_json_bool(spec, false, "perDeviceNodeSelection", NULL);
    for (size_t i = 0; i < sw_json_len(devices); i++)
        check_device(devices, i, own, e);
    sw_device_check_unique(devices, "name", "spec.devices", e);
}
