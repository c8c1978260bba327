/* The versions of a kind. Most differ in name only: a stored document is served with another
 * apiVersion. Here are the conversions of those whose fields differ. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/convert.h"
#include "emulator/store/document.h"

/* ---- events: core's v1 and events.k8s.io's ------------------------------------------------------
 */

static const struct {
    const char *core, *events;
} event_fields[] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static json_object *rename_event(json_object *doc, bool to_core)
{
    json_object *out = json_object_new_object();
    json_object_object_foreach(doc, key, value)
    {
        const char *name = key;
        for (size_t i = 0; i < SW_COUNT(event_fields); i++)
            if (strcmp(key, to_core ? event_fields[i].events : event_fields[i].core) == 0)
                name = to_core ? event_fields[i].core : event_fields[i].events;
        json_object_object_add(out, name, json_object_get(value));
    }
    json_object_put(doc);
    return out;
}

char *sw_rest_stored_field(const struct sw_emu_kind *kind, const char *field)
{
    size_t len = strcspn(field, ".");
    for (size_t i = 0; kind->stored_as && i < SW_COUNT(event_fields); i++)
        if (strlen(event_fields[i].events) == len &&
            strncmp(event_fields[i].events, field, len) == 0)
            return sw_printf("%s%s", event_fields[i].core, field + len);
    return sw_strdup(field);
}

/* ---- autoscaling: v1 has one metric -------------------------------------------------------------
 */

static json_object *autoscaler_from_v1(json_object *doc)
{
    json_object *target = sw_json_find(doc, "spec", "targetCPUUtilizationPercentage", NULL);
    if (!target)
        return doc;
    json_object *out = sw_json_copy(doc), *metric = json_object_new_object();
    sw_json_set_str(metric, "Resource", "type", NULL);
    sw_json_set_str(metric, "cpu", "resource", "name", NULL);
    sw_json_set_str(metric, "Utilization", "resource", "target", "type", NULL);
    sw_json_set(metric, json_object_get(target), "resource", "target", "averageUtilization", NULL);
    json_object_array_add(sw_json_need_list(out, "spec", "metrics", NULL), metric);
    (void)sw_json_del(out, "spec", "targetCPUUtilizationPercentage", NULL);
    json_object_put(doc);
    return out;
}

static json_object *autoscaler_to_v1(json_object *doc)
{
    json_object *metrics = sw_json_find(doc, "spec", "metrics", NULL);
    json_object *out = sw_json_copy(doc);
    for (size_t i = 0; i < sw_json_len(metrics); i++) {
        json_object *use = sw_json_find(sw_json_at(metrics, i), "resource", "target",
                                        "averageUtilization", NULL);
        if (use)
            sw_json_set(out, json_object_get(use), "spec", "targetCPUUtilizationPercentage", NULL);
    }
    (void)sw_json_del(out, "spec", "metrics", NULL);
    json_object_put(doc);
    return out;
}

/* ---- resource.k8s.io: v1beta1 has the fields of requests and devices elsewhere
 * ------------------- Source: Kubernetes' API reference, DeviceRequest and Device of v1beta1, and
 * its conversions.
 */

static const char *const exact_fields[] = { "deviceClassName", "selectors",   "allocationMode",
                                            "count",           "adminAccess", "tolerations",
                                            "capacity" };

static void move_fields(json_object *from, json_object *to, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_object *value = sw_json_get(from, names[i]);
        if (!value)
            continue;
        json_object_object_add(to, names[i], json_object_get(value));
        json_object_object_del(from, names[i]);
    }
}

/* Neither an empty text nor 0: such fields say nothing. */
static bool says_something(json_object *value)
{
    return json_object_is_type(value, json_type_string) ? *json_object_get_string(value) != '\0'
           : json_object_is_type(value, json_type_int)  ? json_object_get_int64(value) != 0
                                                        : value != NULL;
}

static void request_from_v1beta1(json_object *request)
{
    json_object *exactly = json_object_new_object();
    bool any = false;
    move_fields(request, exactly, exact_fields, SW_COUNT(exact_fields));
    json_object_object_foreach(exactly, field, value)
    {
        (void)field;
        any |= says_something(value);
    }
    if (any)
        json_object_object_add(request, "exactly", exactly);
    else
        json_object_put(exactly);
}

static void request_to_v1beta1(json_object *request)
{
    SW_AUTO_JSON *exactly = json_object_get(sw_json_get(request, "exactly"));
    json_object_object_del(request, "exactly");
    move_fields(exactly, request, exact_fields, SW_COUNT(exact_fields));
    if (!sw_json_get(request, "deviceClassName")) /* which is never left out there */
        sw_json_set_str(request, "", "deviceClassName", NULL);
}

/* All but the name. */
static void device_from_v1beta1(json_object *device)
{
    SW_AUTO_JSON *basic = json_object_get(sw_json_get(device, "basic"));
    json_object_object_del(device, "basic");
    if (!json_object_is_type(basic, json_type_object))
        return;
    json_object_object_foreach(basic, key, value)
    {
        json_object_object_add(device, key, json_object_get(value));
    }
}

static void device_to_v1beta1(json_object *device)
{
    json_object *basic = json_object_new_object();
    json_object_object_foreach(device, key, value)
    {
        if (strcmp(key, "name") != 0)
            json_object_object_add(basic, key, json_object_get(value));
    }
    json_object_object_foreach(basic, field, unused)
    {
        (void)unused;
        json_object_object_del(device, field);
    }
    json_object_object_add(device, "basic", basic);
}

static bool is_devices_v1beta1(const struct sw_emu_kind *kind, const char *version)
{
    return kind->builtin && strcmp(kind->group, "resource.k8s.io") == 0 &&
           strcmp(version, "v1beta1") == 0;
}

/* @doc (taken) with each request or device changed by @claim or @slice. */
static json_object *convert_devices(const struct sw_emu_kind *kind, json_object *doc,
                                    void (*claim)(json_object *), void (*slice)(json_object *))
{
    json_object *out = sw_json_copy(doc), *spec = sw_json_get(out, "spec");
    json_object *list = strcmp(kind->kind, "ResourceSlice") == 0 ? sw_json_get(spec, "devices")
                        : strcmp(kind->kind, "ResourceClaim") == 0
                            ? sw_json_find(spec, "devices", "requests", NULL)
                            : sw_json_find(spec, "spec", "devices", "requests", NULL);
    for (size_t i = 0; json_object_is_type(list, json_type_array) && i < sw_json_len(list); i++)
        if (json_object_is_type(sw_json_at(list, i), json_type_object))
            (strcmp(kind->kind, "ResourceSlice") == 0 ? slice : claim)(sw_json_at(list, i));
    json_object_put(doc);
    return out;
}

/* ---- conversion ---------------------------------------------------------------------------------
 */

static bool is_autoscaler_v1(const struct sw_emu_kind *kind, const char *version)
{
    return strcmp(kind->kind, "HorizontalPodAutoscaler") == 0 && kind->builtin &&
           strcmp(version, "v1") == 0 && strcmp(kind->storage_version, "v1") != 0;
}

bool sw_rest_is_converted(const struct sw_emu_kind *kind, const char *version)
{
    return kind->stored_as || is_autoscaler_v1(kind, version) || is_devices_v1beta1(kind, version);
}

/* @doc (taken) with another apiVersion. */
static json_object *with_version(json_object *doc, const char *api_version)
{
    if (strcmp(sw_obj_api_version(doc), api_version) == 0)
        return doc;
    json_object *out = sw_doc_shallow_copy(doc);
    json_object_object_add(out, "apiVersion", json_object_new_string(api_version));
    json_object_put(doc);
    return out;
}

json_object *sw_rest_to_version(const struct sw_emu_kind *kind, const char *version,
                                json_object *doc)
{
    SW_AUTO_CHARS *api_version = sw_kind_api_version(kind, version);
    if (kind->stored_as)
        doc = rename_event(doc, false);
    else if (is_autoscaler_v1(kind, version))
        doc = autoscaler_to_v1(doc);
    else if (is_devices_v1beta1(kind, version))
        doc = convert_devices(kind, doc, request_to_v1beta1, device_to_v1beta1);
    return with_version(doc, api_version);
}

json_object *sw_rest_from_version(const struct sw_emu_kind *kind, const char *version,
                                  json_object *doc)
{
    const struct sw_emu_kind *stored = kind->stored_as ? kind->stored_as : kind;
    SW_AUTO_CHARS *api_version = sw_kind_api_version(stored, NULL);
    if (!json_object_is_type(doc, json_type_object))
        return doc;
    if (kind->stored_as)
        doc = rename_event(doc, true);
    else if (is_autoscaler_v1(kind, version))
        doc = autoscaler_from_v1(doc);
    else if (is_devices_v1beta1(kind, version))
        doc = convert_devices(kind, doc, request_from_v1beta1, device_from_v1beta1);
    return with_version(doc, api_version);
}

static void append(struct printbuf *out, const char *text, size_t len)
{
    (void)printbuf_memappend(out, text, (int)len);
}

void sw_render(struct sw_req *req, struct sw_version *v, bool typed, struct printbuf *out)
{
    size_t len;
    if (sw_rest_is_converted(req->kind, req->version)) {
        json_object *doc = sw_rest_to_version(req->kind, req->version, json_object_get(v->doc));
        if (!typed) {
            json_object_object_del(doc, "apiVersion");
            json_object_object_del(doc, "kind");
        }
        SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
        json_object_put(doc);
        append(out, text, len);
        return;
    }
    /* {"apiVersion":"apps/v1","kind":"Deployment","metadata":...: the first two are replaced. */
    const char *text = sw_version_text(req->store, v, &len), *rest = strstr(text, ",\"metadata\":");
    if (!rest) {
        append(out, text, len);
        return;
    }
    if (typed || req->kind->crd) {
        SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
        sprintbuf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\"", api_version, req->kind->kind);
        append(out, rest, len - (size_t)(rest - text));
    } else {
        append(out, "{", 1);
        append(out, rest + 1, len - (size_t)(rest + 1 - text));
    }
}
