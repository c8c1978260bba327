#include "emulator/admission/devices_internal.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/feature_gates.h"
#include "emulator/store/objects.h"
#include "emulator/store/status.h"
#include "kube/allocator/allocator.h"

/* Of a class and a claim. */
enum { MAX_SELECTORS = 32, MAX_REQUESTS = 32, MAX_CONSTRAINTS = 32 };

#define ADMIN_LABEL "resource.kubernetes.io/admin-access"

/* ---- helpers ------------------------------------------------------------------------------------
 */

void sw_device_too_many(json_object *list, size_t most, const char *field,
                        struct sw_field_errors *e)
{
    if (sw_json_len(list) <= most)
        return;
    SW_AUTO_CHARS *n = sw_printf("%zu", sw_json_len(list));
    SW_AUTO_CHARS *detail = sw_printf("must have at most %zu items", most);
    sw_field_error_raw(e, SW_FIELD_TOO_MANY, field, n, detail);
}

void sw_device_check_name(json_object *list, size_t i, const char *at, struct sw_field_errors *e)
{
    const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
    SW_AUTO_CHARS *field = sw_printf("%s.name", at);
    if (sw_dns_label_fault(name))
        sw_field_error_str(e, SW_FIELD_INVALID, field, name, sw_dns_label_fault(name));
}

void sw_device_check_unique(json_object *list, const char *key, const char *path,
                            struct sw_field_errors *e)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", key, NULL);
        bool taken = false;
        for (size_t k = 0; *name && k < i && !taken; k++)
            taken = sw_streq(sw_json_str(sw_json_at(list, k), "", key, NULL), name);
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        if (taken)
            sw_field_error_str(e, SW_FIELD_DUPLICATE, at, name, NULL);
    }
}

static void check_selector(json_object *text, const char *field, struct sw_field_errors *e)
{
    SW_ERR(why);
    const struct sw_cel *cel = NULL;
    if (sw_allocator_compile(text, &cel, &why) < 0)
        sw_field_error_str(e, SW_FIELD_INVALID, field, json_object_get_string(text),
                           sw_err_text(&why));
}

static void check_selectors(json_object *owner, const char *path, struct sw_field_errors *e)
{
    json_object *list = sw_json_get(owner, "selectors");
    SW_AUTO_CHARS *all = sw_printf("%s.selectors", path);
    sw_device_too_many(list, MAX_SELECTORS, all, e);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *cel = sw_json_get(sw_json_at(list, i), "cel");
        SW_AUTO_CHARS *field = sw_printf("%s[%zu].cel%s", all, i, cel ? ".expression" : "");
        if (!cel)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
        else if (!*sw_json_str(cel, "", "expression", NULL))
            sw_field_error_str(e, SW_FIELD_INVALID, field, "", "compilation failed");
        else
            check_selector(sw_json_get(cel, "expression"), field, e);
    }
}

/* ---- classes ------------------------------------------------------------------------------------
 */

void sw_device_class_default(struct sw_write *w)
{
    json_object *spec = sw_json_get(w->doc, "spec");
    if (spec && !sw_store_gate(w->store, SW_EMU_DRA_EXTENDED_RESOURCE))
        json_object_object_del(spec, "extendedResourceName");
}

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

/* What belongs to a feature gate that is off is not stored. */
static void drop_disabled(struct sw_write *w, json_object *request)
{
    if (request && !sw_store_gate(w->store, SW_EMU_DRA_DEVICE_TAINTS))
        json_object_object_del(request, "tolerations");
    if (request && !sw_store_gate(w->store, SW_EMU_DRA_CONSUMABLE_CAPACITY))
        json_object_object_del(request, "capacity");
}

void sw_device_claim_default(struct sw_write *w)
{
    json_object *requests = sw_json_find(claim_spec(w), "devices", "requests", NULL);
    const bool list = sw_store_gate(w->store, SW_EMU_DRA_PRIORITIZED_LIST);
    const bool admin = sw_store_gate(w->store, SW_EMU_DRA_ADMIN_ACCESS);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        json_object *request = sw_json_at(requests, i);
        json_object *exactly = sw_json_get(request, "exactly");
        if (!list)
            json_object_object_del(request, "firstAvailable");
        if (!admin && exactly)
            json_object_object_del(exactly, "adminAccess");
        json_object *choices = sw_json_get(request, "firstAvailable");
        default_request(sw_json_get(request, "exactly"));
        drop_disabled(w, sw_json_get(request, "exactly"));
        for (size_t k = 0; k < sw_json_len(choices); k++) {
            default_request(sw_json_at(choices, k));
            drop_disabled(w, sw_json_at(choices, k));
        }
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
        sw_device_check_name(choices, i, at, e);
        check_wish(sw_json_at(choices, i), at, e);
    }
    sw_device_check_unique(choices, "name", first, e);
}

static void check_claim(struct sw_write *w, const char *path, struct sw_field_errors *e)
{
    json_object *requests = sw_json_find(claim_spec(w), "devices", "requests", NULL);
    SW_AUTO_CHARS *all = sw_printf("%s.devices.requests", path);
    json_object *was = sw_json_get(w->old, "spec"), *is = sw_json_get(w->doc, "spec");
    if (w->op == SW_OP_UPDATE && !sw_json_equal(was, is))
        sw_field_error(e, SW_FIELD_INVALID, "spec", is, "field is immutable");
    check_admin(w, requests, e);
    sw_device_too_many(requests, MAX_REQUESTS, all, e);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", all, i);
        sw_device_check_name(requests, i, at, e);
        check_request(sw_json_at(requests, i), at, e);
    }
    sw_device_check_unique(requests, "name", all, e);
}

/* A constraint is one of two kinds. */
static void check_constraints(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *list = sw_json_find(claim_spec(w), "devices", "constraints", NULL);
    sw_device_too_many(list, MAX_CONSTRAINTS, "spec.devices.constraints", e);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *c = sw_json_at(list, i);
        SW_AUTO_CHARS *at = sw_printf("spec.devices.constraints[%zu]", i);
        if (!sw_json_get(c, "matchAttribute") && !sw_json_get(c, "distinctAttribute"))
            sw_field_error_raw(
                e, SW_FIELD_REQUIRED, at, NULL,
                "exactly one of `matchAttribute` or `distinctAttribute` is required");
    }
}

void sw_device_claim_check(struct sw_write *w, struct sw_field_errors *e)
{
    if (sw_streq(w->subresource, "status")) {
        sw_device_status_check(w, e);
        return;
    }
    check_claim(w, "spec", e);
    check_constraints(w, e);
}

void sw_device_template_check(struct sw_write *w, struct sw_field_errors *e)
{
    check_claim(w, "spec.spec", e);
}
