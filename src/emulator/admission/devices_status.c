/* The status of ResourceClaims: what was allocated, for whom, and what drivers say of the devices.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "emulator/admission/devices_internal.h"
#include "emulator/store/status.h"

enum { MAX_RESERVED = 256 };
/* Of a device. Source: resource.k8s.io/v1, AllocatedDeviceStatus and NetworkDeviceData. */
enum { MAX_CONDITIONS = 8, MAX_DATA = 10 * 1024 };
enum { MAX_INTERFACE = 256, MAX_HARDWARE = 128, MAX_IPS = 16 };

static bool is_same(json_object *a, json_object *b)
{
    static const char *const keys[] = { "driver", "pool", "device", "shareID" };
    bool same = true;
    for (size_t k = 0; k < SW_COUNT(keys); k++)
        same &= sw_streq(sw_json_str(a, "", keys[k], NULL), sw_json_str(b, "", keys[k], NULL));
    return same;
}

/* Whether one of the first @n of @list is that device. */
static bool has(json_object *list, size_t n, json_object *device)
{
    for (size_t i = 0; i < n; i++)
        if (is_same(device, sw_json_at(list, i)))
            return true;
    return false;
}

static void check_length(json_object *owner, const char *key, size_t most, const char *path,
                         struct sw_field_errors *e)
{
    SW_AUTO_CHARS *field = sw_printf("%s.%s", path, key);
    if (strlen(sw_json_str(owner, "", key, NULL)) > most)
        sw_field_error(e, SW_FIELD_TOO_LONG, field, NULL, "may not be more than %zu bytes", most);
}

/* An address with the length of its prefix. */
static bool is_interface_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    const char *slash = strchr(text, '/');
    SW_AUTO_CHARS *address = slash ? sw_strndup(text, (size_t)(slash - text)) : NULL;
    char *end;
    const long len = slash ? strtol(slash + 1, &end, 10) : -1;
    if (len < 0 || !slash[1] || *end)
        return false;
    return (inet_pton(AF_INET, address, bytes) == 1 && len <= 32) ||
           (inet_pton(AF_INET6, address, bytes) == 1 && len <= 128);
}

static void check_network(json_object *network, const char *path, struct sw_field_errors *e)
{
    json_object *ips = sw_json_get(network, "ips");
    SW_AUTO_CHARS *all = sw_printf("%s.ips", path);
    check_length(network, "interfaceName", MAX_INTERFACE, path, e);
    check_length(network, "hardwareAddress", MAX_HARDWARE, path, e);
    sw_device_too_many(ips, MAX_IPS, all, e);
    for (size_t i = 0; i < sw_json_len(ips); i++) {
        const char *ip = json_object_get_string(sw_json_at(ips, i));
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", all, i);
        bool taken = false;
        for (size_t k = 0; k < i && !taken; k++)
            taken = sw_streq(json_object_get_string(sw_json_at(ips, k)), ip);
        if (!ip || !is_interface_address(ip))
            sw_field_error_str(e, SW_FIELD_INVALID, at, ip ? ip : "",
                               "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
                               "2001:db8::1/64)");
        else if (taken)
            sw_field_error_str(e, SW_FIELD_DUPLICATE, at, ip, NULL);
    }
}

/* Any object, which no server looks into, of a limited size. */
static void check_data(json_object *data, const char *path, struct sw_field_errors *e)
{
    size_t len = 0;
    SW_AUTO_CHARS *text = data ? sw_json_text(data, 0, &len) : NULL;
    if (text && len > MAX_DATA)
        sw_field_error(e, SW_FIELD_TOO_LONG, path, NULL, "may not be more than %d bytes", MAX_DATA);
    else if (data && !json_object_is_type(data, json_type_object))
        sw_field_error_raw(e, SW_FIELD_INVALID, path, "\"<value omitted>\"",
                           "must be a valid JSON object");
}

static void check_device(json_object *devices, size_t i, json_object *results,
                         struct sw_field_errors *e)
{
    json_object *d = sw_json_at(devices, i);
    SW_AUTO_CHARS *at = sw_printf("status.devices[%zu]", i);
    SW_AUTO_CHARS *conditions = sw_printf("%s.conditions", at), *data = sw_printf("%s.data", at);
    SW_AUTO_CHARS *network = sw_printf("%s.networkData", at), *key = sw_printf("%s.deviceID", at);
    SW_AUTO_CHARS *id = sw_printf("%s/%s/%s", sw_json_str(d, "", "driver", NULL),
                                  sw_json_str(d, "", "pool", NULL),
                                  sw_json_str(d, "", "device", NULL));
    if (!has(results, sw_json_len(results), d))
        sw_field_error_str(e, SW_FIELD_INVALID, at, id, "must be an allocated device in the claim");
    sw_device_too_many(sw_json_get(d, "conditions"), MAX_CONDITIONS, conditions, e);
    check_data(sw_json_get(d, "data"), data, e);
    check_network(sw_json_get(d, "networkData"), network, e);
    if (has(devices, i, d))
        sw_field_error_str(e, SW_FIELD_DUPLICATE, key, id, NULL);
}

void sw_device_status_check(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *status = sw_json_get(w->doc, "status");
    json_object *was = sw_json_find(w->old, "status", "allocation", NULL);
    json_object *is = sw_json_get(status, "allocation"), *devices = sw_json_get(status, "devices");
    json_object *reserved = sw_json_get(status, "reservedFor");
    json_object *results = sw_json_find(is, "devices", "results", NULL);
    sw_device_too_many(reserved, MAX_RESERVED, "status.reservedFor", e);
    sw_device_check_unique(reserved, "uid", "status.reservedFor", e);
    for (size_t i = 0; i < sw_json_len(devices); i++)
        check_device(devices, i, results, e);
    if (sw_json_len(reserved) && !is)
        sw_field_error_raw(e, SW_FIELD_FORBIDDEN, "status.reservedFor", NULL,
                           "may not be specified when `allocated` is not set");
    if (was && is && !sw_json_equal(was, is))
        sw_field_error(e, SW_FIELD_INVALID, "status.allocation", is, "field is immutable");
}
