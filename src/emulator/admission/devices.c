#include "emulator/admission/devices.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/status.h"

/* Of a ResourceSlice, a class and a claim. */
enum { MAX_DEVICES = 128, MAX_SELECTORS = 32, MAX_REQUESTS = 32 };

#define ADMIN_LABEL "resource.kubernetes.io/admin-access"

/* ---- helpers ------------------------------------------------------------------------------------
 */

static void too_many(json_object *list, size_t most, const char *field, struct sw_field_errors *e)
{
    if (sw_json_len(list) <= most)
        return;
    SW_AUTO_CHARS *n = sw_printf("%zu", sw_json_len(list));
    SW_AUTO_CHARS *detail = sw_printf("must have at most %zu items", most);
    sw_field_error_raw(e, SW_FIELD_TOO_MANY, field, n, detail);
}

/* The name of the item at index @i of @list: a DNS label. */
static void check_name(json_object *list, size_t i, const char *at, struct sw_field_errors *e)
{
    const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
    SW_AUTO_CHARS *field = sw_printf("%s.name", at);
    if (sw_dns_label_fault(name))
        sw_field_error_str(e, SW_FIELD_INVALID, field, name, sw_dns_label_fault(name));
}

/* No two items of @list, which is at @path, have one name. */
static void check_unique(json_object *list, const char *path, struct sw_field_errors *e)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        bool taken = false;
        for (size_t k = 0; *name && k < i && !taken; k++)
            taken = sw_streq(sw_json_str(sw_json_at(list, k), "", "name", NULL), name);
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        if (taken)
            sw_field_error_str(e, SW_FIELD_DUPLICATE, at, name, NULL);
    }
}

static void check_selectors(json_object *owner, const char *path, struct sw_field_errors *e)
{
    json_object *list = sw_json_get(owner, "selectors");
    SW_AUTO_CHARS *all = sw_printf("%s.selectors", path);
    too_many(list, MAX_SELECTORS, all, e);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *cel = sw_json_get(sw_json_at(list, i), "cel");
        SW_AUTO_CHARS *field = sw_printf("%s[%zu].cel%s", all, i, cel ? ".expression" : "");
        if (!cel)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
        else if (!*sw_json_str(cel, "", "expression", NULL))
            sw_field_error_str(e, SW_FIELD_INVALID, field, "", "compilation failed");
    }
}

/* ---- classes ------------------------------------------------------------------------------------
 */

void sw_device_class_check(struct sw_write *w, struct sw_field_errors *e)
{
    check_selectors(sw_json_get(w->doc, "spec"), "spec", e);
}

/* ---- claims -------------------------------------------------------------------------------------
 */

static json_object *claim_spec(struct sw_write *w)
{
    json_object *spec = sw_json_get(w->doc, "spec");
    return sw_streq(w->kind->kind, "ResourceClaim") ? spec : sw_json_get(spec, "spec");
}

static void default_request(json_object *request)
{
    if (!request)
        return;
    if (!sw_json_get(request, "allocationMode"))
        sw_json_set_str(request, "ExactCount", "allocationMode", NULL);
    if (!sw_json_get(request, "count") &&
        sw_streq(sw_json_str(request, "", "allocationMode", NULL), "ExactCount"))
        sw_json_set(request, sw_int(1), "count", NULL);
}

void sw_device_claim_default(struct sw_write *w)
{
    json_object *requests = sw_json_find(claim_spec(w), "devices", "requests", NULL);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        json_object *request = sw_json_at(requests, i);
        json_object *choices = sw_json_get(request, "firstAvailable");
        default_request(sw_json_get(request, "exactly"));
        for (size_t k = 0; k < sw_json_len(choices); k++)
            default_request(sw_json_at(choices, k));
    }
}

/* What is asked for: `exactly`, or one of `firstAvailable`. */
static void check_wish(json_object *wish, const char *path, struct sw_field_errors *e)
{
    SW_AUTO_CHARS *class = sw_printf("%s.deviceClassName", path);
    SW_AUTO_CHARS *count = sw_printf("%s.count", path);
    SW_AUTO_CHARS *mode = sw_printf("%s.allocationMode", path);
    const char *how = sw_json_str(wish, "", "allocationMode", NULL);
    json_object *n = sw_json_get(wish, "count");
    if (!*sw_json_str(wish, "", "deviceClassName", NULL))
        sw_field_error_raw(e, SW_FIELD_REQUIRED, class, NULL, NULL);
    check_selectors(wish, path, e);
    if (sw_streq(how, "All")) {
        if (json_object_get_int64(n))
            sw_field_error(e, SW_FIELD_INVALID, count, n,
                           "must not be specified when allocationMode is 'All'");
    } else if (!sw_streq(how, "ExactCount")) {
        sw_field_error_str(e, SW_FIELD_NOT_SUPPORTED, mode, how,
                           "supported values: \"All\", \"ExactCount\"");
    } else if (json_object_get_int64(n) <= 0) {
        sw_field_error(e, SW_FIELD_INVALID, count, n, "must be greater than zero");
    }
}

/* Who looks into the devices of others must be in a namespace that is meant for it. */
static void check_admin(struct sw_write *w, json_object *requests, struct sw_field_errors *e)
{
    json_object *ns = sw_store_get(w->store, sw_store_kind(w->store, "", "Namespace"), NULL, w->ns);
    const bool may = sw_streq(sw_json_str(ns, "", "metadata", "labels", ADMIN_LABEL, NULL), "true");
    for (size_t i = 0; w->op == SW_OP_CREATE && !may && i < sw_json_len(requests); i++) {
        SW_AUTO_CHARS *field = sw_printf("spec.devices.requests[%zu].adminAccess", i);
        if (sw_json_bool(sw_json_at(requests, i), false, "exactly", "adminAccess", NULL))
            sw_field_error_raw(e, SW_FIELD_FORBIDDEN, field, NULL,
                               "admin access to devices requires the `" ADMIN_LABEL
                               ": true` label on the containing namespace");
    }
}

static void check_request(json_object *request, const char *path, struct sw_field_errors *e)
{
    json_object *one = sw_json_get(request, "exactly");
    json_object *choices = sw_json_get(request, "firstAvailable");
    const char *only = "exactly one of `exactly` or `firstAvailable` is required";
    SW_AUTO_CHARS *detail = sw_printf("%s, but multiple fields are set", only);
    SW_AUTO_CHARS *exactly = sw_printf("%s.exactly", path);
    SW_AUTO_CHARS *first = sw_printf("%s.firstAvailable", path);
    if (one && sw_json_len(choices)) {
        sw_field_error_raw(e, SW_FIELD_INVALID, path, "null", detail);
        return;
    }
    if (!one && !sw_json_len(choices))
        sw_field_error_raw(e, SW_FIELD_REQUIRED, path, NULL, only);
    if (one)
        check_wish(one, exactly, e);
    for (size_t i = 0; i < sw_json_len(choices); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", first, i);
        check_name(choices, i, at, e);
        check_wish(sw_json_at(choices, i), at, e);
    }
    check_unique(choices, first, e);
}

static void check_claim(struct sw_write *w, const char *path, struct sw_field_errors *e)
{
    json_object *requests = sw_json_find(claim_spec(w), "devices", "requests", NULL);
    SW_AUTO_CHARS *all = sw_printf("%s.devices.requests", path);
    json_object *was = sw_json_get(w->old, "spec"), *is = sw_json_get(w->doc, "spec");
    if (w->op == SW_OP_UPDATE && !sw_json_equal(was, is))
        sw_field_error(e, SW_FIELD_INVALID, "spec", is, "field is immutable");
    check_admin(w, requests, e);
    too_many(requests, MAX_REQUESTS, all, e);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", all, i);
        check_name(requests, i, at, e);
        check_request(sw_json_at(requests, i), at, e);
    }
    check_unique(requests, all, e);
}

void sw_device_claim_check(struct sw_write *w, struct sw_field_errors *e)
{
    check_claim(w, "spec", e);
}

void sw_device_template_check(struct sw_write *w, struct sw_field_errors *e)
{
    check_claim(w, "spec.spec", e);
}

/* ---- slices -------------------------------------------------------------------------------------
 */

static void check_device(json_object *devices, size_t i, struct sw_field_errors *e)
{
    SW_AUTO_CHARS *at = sw_printf("spec.devices[%zu]", i);
    json_object *device = sw_json_at(devices, i), *attributes = sw_json_get(device, "attributes");
    check_name(devices, i, at, e);
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

/* Whether a field says something: false, "", {} and [] do not. */
static bool is_set(json_object *value)
{
    if (json_object_is_type(value, json_type_boolean))
        return json_object_get_boolean(value);
    if (json_object_is_type(value, json_type_string))
        return json_object_get_string_len(value) > 0;
    return !sw_doc_is_empty(value);
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
    too_many(devices, MAX_DEVICES, "spec.devices", e);
    for (size_t i = 0; i < sw_json_len(devices); i++)
        check_device(devices, i, e);
    check_unique(devices, "spec.devices", e);
}
