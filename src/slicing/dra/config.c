/* Configurations of devices, in claims and DeviceClasses: those of NVIDIA's DRA driver, as far as
 * there is nothing to be done for them. */
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/quantity.h"
#include "slicing/dra/dra.h"

#define API "resource.nvidia.com/v1beta1"

static int only(struct json_object *doc, const char *const *keys, const char *where,
                struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected an object", where);
    json_object_object_foreach(doc, key, value)
    {
        bool known = false;
        (void)value;
        for (size_t i = 0; keys[i] && !known; i++)
            known = strcmp(keys[i], key) == 0;
        if (!known)
            return sw_err_set(err, SW_INVALID, "%s: '%.64s' is not known", where, key);
    }
    return 0;
}

static int check_quantity(struct json_object *value, const char *where, struct sw_err *err)
{
    enum { MIB = 1024 * 1024 }; /* the control daemon is told a number of them */
    struct sw_quantity q;
    const int rc = sw_quantity_from_json(value, &q, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", where);
    return sw_quantity_value(&q) >= MIB
               ? 0
               : sw_err_set(err, SW_INVALID, "%s: expected 1Mi or more", where);
}

static int check_mps(struct json_object *config, struct sw_err *err)
{
#define MPS "sharing.mpsConfig"
    static const char *const keys[] = { "defaultActiveThreadPercentage",
                                        "defaultPinnedDeviceMemoryLimit",
                                        "defaultPerDevicePinnedMemoryLimit", NULL };
    struct json_object *threads = sw_json_get(config, keys[0]);
    struct json_object *limit = sw_json_get(config, keys[1]);
    struct json_object *limits = sw_json_get(config, keys[2]);
    int rc = config ? only(config, keys, MPS, err) : 0;
    if (rc < 0)
        return rc;
    const int64_t percent = sw_json_int(config, -1, keys[0], NULL);
    if (threads && (percent < 0 || percent > 100))
        return sw_err_set(err, SW_INVALID, MPS ".%s: expected 0 to 100", keys[0]);
    rc = limit ? check_quantity(limit, MPS ".defaultPinnedDeviceMemoryLimit", err) : 0;
    if (rc < 0 || !limits)
        return rc;
    if (!json_object_is_type(limits, json_type_object))
        return sw_err_set(err, SW_INVALID, MPS ".%s: expected an object", keys[2]);
    json_object_object_foreach(limits, device, value)
    {
        SW_AUTO_CHARS *where = sw_printf(MPS ".%s.%.64s", keys[2], device);
        rc = check_quantity(value, where, err);
        if (rc < 0)
            return rc;
    }
    return 0;
#undef MPS
}

static int check_interval(struct json_object *config, struct sw_err *err)
{
    static const char *const keys[] = { "interval", NULL };
    static const char *const intervals[] = { "Default", "Short", "Medium", "Long" };
    const int rc = config ? only(config, keys, "sharing.timeSlicingConfig", err) : 0;
    const char *interval = sw_json_str(config, intervals[0], "interval", NULL);
    bool known = false;
    if (rc < 0 || strcmp(interval, intervals[0]) == 0)
        return rc;
    for (size_t i = 0; i < SW_COUNT(intervals); i++)
        known |= strcmp(interval, intervals[i]) == 0;
    if (!known)
        return sw_err_set(err, SW_INVALID,
                          "sharing.timeSlicingConfig.interval: '%.64s' is none of Default, Short, "
                          "Medium, Long",
                          interval);
    return sw_err_set(err, SW_INVALID,
                      "sharing.timeSlicingConfig.interval: '%s' is not carried out here, only "
                      "Default: NVML has no call that sets it",
                      interval);
}

/* Containers that share a device take turns in any case, of the length that the driver chooses. */
static int check_sharing(struct json_object *sharing, bool slice, struct sw_err *err)
{
    static const char *const of_gpus[] = { "strategy", "mpsConfig", "timeSlicingConfig", NULL };
    static const char *const of_slices[] = { "strategy", "mpsConfig", NULL };
    struct json_object *mps = sw_json_get(sharing, "mpsConfig");
    struct json_object *turns = sw_json_get(sharing, "timeSlicingConfig");
    const char *strategy = sw_json_str(sharing, "", "strategy", NULL);
    int rc = only(sharing, slice ? of_slices : of_gpus, "sharing", err);
    if (rc < 0)
        return rc;
    const bool is_mps = strcmp(strategy, "MPS") == 0;
    if (!is_mps && strcmp(strategy, "TimeSlicing") != 0)
        return sw_err_set(err, SW_INVALID, "sharing.strategy: '%.64s' is none of TimeSlicing, MPS",
                          strategy);
    if (is_mps ? turns != NULL : mps != NULL)
        return sw_err_set(err, SW_INVALID, "sharing.%s: not with the strategy %s",
                          is_mps ? "timeSlicingConfig" : "mpsConfig", strategy);
    if (!is_mps)
        return check_interval(turns, err);
    rc = check_mps(mps, err);
    return rc < 0 ? rc
                  : sw_err_set(err, SW_INVALID,
                               "sharing.strategy: MPS is not carried out here (it takes a control "
                               "daemon for each claim): only TimeSlicing");
}

int sw_dra_config_check(struct json_object *parameters, struct sw_err *err)
{
    static const char *const keys[] = { "apiVersion", "kind", "sharing", NULL };
    const char *api = sw_json_str(parameters, "", "apiVersion", NULL);
    const char *kind = sw_json_str(parameters, "", "kind", NULL);
    if (strcmp(api, API) != 0 ||
        (strcmp(kind, "GpuConfig") != 0 && strcmp(kind, "MigDeviceConfig") != 0))
        return sw_err_set(err, SW_INVALID,
                          "'%.64s' '%.64s' is no GpuConfig or MigDeviceConfig of " API, api, kind);
    const int rc = only(parameters, keys, kind, err);
    struct json_object *sharing = sw_json_get(parameters, "sharing");
    return rc == 0 && sharing ? check_sharing(sharing, kind[0] == 'M', err) : rc;
}
