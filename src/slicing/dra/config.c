/* Configurations of devices, in claims and DeviceClasses: those of NVIDIA's DRA driver. */
#include <ctype.h>
#include <stdlib.h>
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

enum { MIB = 1024 * 1024 }; /* the control daemon is told a number of them */

void sw_dra_sharing_done(struct sw_dra_sharing *sharing)
{
    for (size_t i = 0; i < sharing->n_limits; i++)
        free(sharing->limits[i].device);
    free(sharing->limits);
    *sharing = (struct sw_dra_sharing){ .threads = -1 };
}

/* A limit of the memory that a client has pinned on @device. */
static int read_limit(struct json_object *value, const char *device, const char *where,
                      struct sw_dra_sharing *out, struct sw_err *err)
{
    struct sw_quantity q;
    const int rc = sw_quantity_from_json(value, &q, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", where);
    const int64_t mib = sw_quantity_value(&q) / MIB;
    if (mib < 1)
        return sw_err_set(err, SW_INVALID, "%s: expected 1Mi or more", where);
    out->limits = sw_realloc(out->limits, out->n_limits + 1, sizeof *out->limits);
    out->limits[out->n_limits++] = (struct sw_dra_limit){ sw_strdup(device), mib };
    return 0;
}

/* Whom a limit is for: a UUID, a number among the devices, all. It is handed to a program as a word
 * of a line. */
static bool is_device(const char *device)
{
    const size_t len = strlen(device);
    bool ok = len > 0 && len <= 64;
    for (size_t i = 0; i < len && ok; i++)
        ok = isalnum((unsigned char)device[i]) || device[i] == '-';
    return ok || strcmp(device, SW_DRA_ALL) == 0;
}

static int read_mps(struct json_object *config, struct sw_dra_sharing *out, struct sw_err *err)
{
#define MPS "sharing.mpsConfig"
    static const char *const keys[] = { "defaultActiveThreadPercentage",
                                        "defaultPinnedDeviceMemoryLimit",
                                        "defaultPerDevicePinnedMemoryLimit", "multiUser", NULL };
    struct json_object *limit = sw_json_get(config, keys[1]);
    struct json_object *limits = sw_json_get(config, keys[2]),
                       *users = sw_json_get(config, keys[3]);
    int rc = config ? only(config, keys, MPS, err) : 0;
    if (rc < 0)
        return rc;
    const int64_t percent = sw_json_int(config, -1, keys[0], NULL);
    if (sw_json_get(config, keys[0]) && (percent < 0 || percent > 100))
        return sw_err_set(err, SW_INVALID, MPS ".%s: expected 0 to 100", keys[0]);
    if (users && !json_object_is_type(users, json_type_boolean))
        return sw_err_set(err, SW_INVALID, MPS ".%s: expected true or false", keys[3]);
    out->threads = (int)percent;
    out->multi_user = sw_json_bool(config, false, keys[3], NULL);
    rc = limit ? read_limit(limit, SW_DRA_ALL, MPS ".defaultPinnedDeviceMemoryLimit", out, err) : 0;
    if (rc < 0 || !limits)
        return rc;
    if (!json_object_is_type(limits, json_type_object))
        return sw_err_set(err, SW_INVALID, MPS ".%s: expected an object", keys[2]);
    json_object_object_foreach(limits, device, value)
    {
        SW_AUTO_CHARS *where = sw_printf(MPS ".%s.%.64s", keys[2], device);
        rc = is_device(device) ? read_limit(value, device, where, out, err)
                               : sw_err_set(err, SW_INVALID,
                                            "%s: expected a UUID, a number, or " SW_DRA_ALL, where);
        if (rc < 0)
            return rc;
    }
    return 0;
#undef MPS
}

static int read_interval(struct json_object *config, struct sw_dra_sharing *out, struct sw_err *err)
{
    static const char *const keys[] = { "interval", NULL };
    static const char *const intervals[] = { "Default", "Short", "Medium", "Long" };
    const int rc = config ? only(config, keys, "sharing.timeSlicingConfig", err) : 0;
    const char *interval = sw_json_str(config, intervals[0], "interval", NULL);
    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < SW_COUNT(intervals); i++)
        if (strcmp(interval, intervals[i]) == 0) {
            out->interval = i;
            return 0;
        }
    return sw_err_set(err, SW_INVALID,
                      "sharing.timeSlicingConfig.interval: '%.64s' is none of Default, Short, "
                      "Medium, Long",
                      interval);
}

/* Containers that share a device take turns in any case, of the length that the driver chooses. */
static int read_sharing(struct json_object *sharing, bool slice, struct sw_dra_sharing *out,
                        struct sw_err *err)
{
    static const char *const of_gpus[] = { "strategy", "mpsConfig", "timeSlicingConfig", NULL };
    static const char *const of_slices[] = { "strategy", "mpsConfig", NULL };
    struct json_object *mps = sw_json_get(sharing, "mpsConfig");
    struct json_object *turns = sw_json_get(sharing, "timeSlicingConfig");
    const char *strategy = sw_json_str(sharing, "", "strategy", NULL);
    int rc = only(sharing, slice ? of_slices : of_gpus, "sharing", err);
    if (rc < 0)
        return rc;
    out->mps = strcmp(strategy, "MPS") == 0;
    if (!out->mps && strcmp(strategy, "TimeSlicing") != 0)
        return sw_err_set(err, SW_INVALID, "sharing.strategy: '%.64s' is none of TimeSlicing, MPS",
                          strategy);
    if (out->mps ? turns != NULL : mps != NULL)
        return sw_err_set(err, SW_INVALID, "sharing.%s: not with the strategy %s",
                          out->mps ? "timeSlicingConfig" : "mpsConfig", strategy);
    return out->mps ? read_mps(mps, out, err) : read_interval(turns, out, err);
}

int sw_dra_config_read(struct json_object *parameters, struct sw_dra_sharing *out,
                       struct sw_err *err)
{
    static const char *const keys[] = { "apiVersion", "kind", "sharing", NULL };
    const char *api = sw_json_str(parameters, "", "apiVersion", NULL);
    const char *kind = sw_json_str(parameters, "", "kind", NULL);
    if (strcmp(api, API) != 0 ||
        (strcmp(kind, "GpuConfig") != 0 && strcmp(kind, "MigDeviceConfig") != 0))
        return sw_err_set(err, SW_INVALID,
                          "'%.64s' '%.64s' is no GpuConfig or MigDeviceConfig of " API, api, kind);
    struct sw_dra_sharing found = { .of_slices = kind[0] == 'M', .threads = -1 };
    struct json_object *sharing = sw_json_get(parameters, "sharing");
    int rc = only(parameters, keys, kind, err);
    if (rc == 0 && sharing)
        rc = read_sharing(sharing, found.of_slices, &found, err);
    if (rc == 0)
        *out = found;
    else
        sw_dra_sharing_done(&found);
    return rc;
}
