/* Configurations of devices, in claims and DeviceClasses: those of NVIDIA's DRA driver, as far as
 * there is nothing to be done for them. */
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
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

/* Containers that share a device take turns in any case, of the length that the driver chooses. */
static int check_sharing(struct json_object *sharing, struct sw_err *err)
{
    static const char *const keys[] = { "strategy", "timeSlicingConfig", NULL };
    static const char *const of_slicing[] = { "interval", NULL };
    const char *strategy = sw_json_str(sharing, "", "strategy", NULL);
    if (strcmp(strategy, "MPS") == 0)
        return sw_err_set(err, SW_INVALID, "sharing.strategy: MPS is not carried out here");
    int rc = only(sharing, keys, "sharing", err);
    if (rc < 0)
        return rc;
    if (strcmp(strategy, "TimeSlicing") != 0)
        return sw_err_set(err, SW_INVALID, "sharing.strategy: '%.64s' is not TimeSlicing",
                          strategy);
    struct json_object *config = sw_json_get(sharing, "timeSlicingConfig");
    const char *interval = sw_json_str(config, "Default", "interval", NULL);
    rc = config ? only(config, of_slicing, "sharing.timeSlicingConfig", err) : 0;
    if (rc == 0 && strcmp(interval, "Default") != 0)
        rc = sw_err_set(err, SW_INVALID,
                        "sharing.timeSlicingConfig.interval: '%.64s' is not carried out here, "
                        "only Default",
                        interval);
    return rc;
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
    return rc == 0 && sharing ? check_sharing(sharing, err) : rc;
}
