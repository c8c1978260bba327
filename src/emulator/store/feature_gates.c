#include "emulator/store/feature_gates.h"

#include <string.h>

#include "base/base.h"
#include "emulator/store/store_internal.h"

static const struct {
    const char *name;
    int since, on_since; /* minor releases: it is known, it is on by default */
    int off_in;          /* a later one where it is off by default; 0: none */
} gates[SW_EMU_N_GATES] = {
    [SW_EMU_DRA_ADMIN_ACCESS] = { .name = "DRAAdminAccess", .since = 32, .on_since = 34 },
    [SW_EMU_DRA_CONSUMABLE_CAPACITY] = { .name = "DRAConsumableCapacity",
                                         .since = 34,
                                         .on_since = 36 },
    [SW_EMU_DRA_DEVICE_BINDING_CONDITIONS] = { .name = "DRADeviceBindingConditions",
                                               .since = 34,
                                               .on_since = 36 },
    [SW_EMU_DRA_DEVICE_TAINTS] = { .name = "DRADeviceTaints", .since = 33, .on_since = 36 },
    [SW_EMU_DRA_EXTENDED_RESOURCE] = { .name = "DRAExtendedResource", .since = 34, .on_since = 36 },
    [SW_EMU_DRA_PARTITIONABLE_DEVICES] = { .name = "DRAPartitionableDevices",
                                           .since = 33,
                                           .on_since = 36 },
    [SW_EMU_DRA_PRIORITIZED_LIST] = { .name = "DRAPrioritizedList", .since = 33, .on_since = 34 },
    [SW_EMU_WATCH_LIST] = { .name = "WatchList", .since = 27, .on_since = 32, .off_in = 33 },
};

static int parse_one(const char *item, int minor, struct sw_emu_gates *out, struct sw_err *err)
{
    const size_t len = strcspn(item, "=");
    const bool on = sw_streq(item + len, "=true");
    if (!on && !sw_streq(item + len, "=false"))
        return sw_err_set(err, SW_INVALID, "'%s': expected %.*s=true or %.*s=false", item, (int)len,
                          item, (int)len, item);
    for (size_t i = 0; i < SW_EMU_N_GATES; i++) {
        if (strlen(gates[i].name) != len || strncmp(gates[i].name, item, len) != 0)
            continue;
        if (minor < gates[i].since)
            return sw_err_set(err, SW_INVALID, "Kubernetes 1.%d has no %s, 1.%d has", minor,
                              gates[i].name, gates[i].since);
        out->on = on ? out->on | 1U << i : out->on & ~(1U << i);
        out->off = on ? out->off & ~(1U << i) : out->off | 1U << i;
        return 0;
    }
    return sw_err_set(err, SW_INVALID,
                      "the emulator has no feature gate '%.*s', only WatchList and those of "
                      "Dynamic Resource Allocation that the release knows "
                      "(DRAPartitionableDevices, say)",
                      (int)len, item);
}

int sw_emu_gates_parse(const char *text, int minor, struct sw_emu_gates *out, struct sw_err *err)
{
    int rc = 0;
    *out = (struct sw_emu_gates){ 0 };
    for (const char *at = text; at && *at && rc == 0; at += *at == ',') {
        SW_AUTO_CHARS *item = sw_strndup(at, strcspn(at, ","));
        rc = parse_one(item, minor, out, err);
        at += strlen(item);
    }
    return rc;
}

bool sw_store_gate(const struct sw_store *store, enum sw_emu_gate gate)
{
    if ((store->gates.on | store->gates.off) & 1U << gate)
        return store->gates.on & 1U << gate;
    return store->minor >= gates[gate].on_since && store->minor != gates[gate].off_in;
}

void sw_store_set_gates(struct sw_store *store, const struct sw_emu_gates *said)
{
    store->gates = *said;
}
