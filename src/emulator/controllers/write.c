#include "emulator/write/write.h"
#include "emulator/controllers/core.h"

#include <stdarg.h>
#include <string.h>

/* The index follows a write of a pod at once. */
static void update_index(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc)
{
    if (kind == ctl->kinds.pod)
        sw_ctl_refresh_pod(ctl, sw_obj_namespace(doc), sw_obj_name(doc));
}

int sw_ctl_create(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  json_object *about)
{
    SW_AUTO_CHARS *why = NULL;
    return sw_ctl_create_told(ctl, kind, doc, about, &why);
}

int sw_ctl_create_told(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                       json_object *about, char **why)
{
    *why = NULL;
    SW_STATUS(status);
    json_object *out = NULL;
    int rc = sw_store_create(ctl->store, kind, sw_obj_namespace(doc), doc, NULL, &out, &status);
    if (rc == 0)
        update_index(ctl, kind, out);
    else if (about)
        sw_ctl_event(ctl, about, "Warning", "FailedCreate", "Error creating: %s",
                     status.message ? status.message : "unknown");
    if (rc < 0)
        *why = sw_strdup(status.message ? status.message : "unknown");
    json_object_put(out);
    json_object_put(doc);
    return rc;
}

int sw_ctl_delete(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc, bool now)
{
    struct sw_store_opts opts = { .if_uid = sw_obj_uid(doc), .grace_set = now };
    json_object_get(doc); /* the store may hold the only other reference */
    int rc = sw_store_delete(ctl->store, kind, sw_obj_namespace(doc), sw_obj_name(doc), &opts, NULL,
                             NULL);
    if (rc == 0)
        update_index(ctl, kind, doc);
    json_object_put(doc);
    return rc;
}

static int replace_status(json_object *doc, void *arg)
{
    json_object_object_add(doc, "status", json_object_get(arg));
    return 0;
}

void sw_ctl_put_status(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                       json_object *status)
{
    if (!sw_doc_same(sw_json_get(doc, "status"), status))
        (void)sw_ctl_modify(ctl, kind, doc, "status", replace_status, status);
    json_object_put(status);
}

int sw_ctl_modify(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  const char *subresource, int (*edit)(json_object *doc, void *arg), void *arg)
{
    struct sw_store_opts opts = { .subresource = subresource };
    json_object_get(doc);
    int rc = sw_store_modify(ctl->store, kind, sw_obj_namespace(doc), sw_obj_name(doc), &opts, edit,
                             arg, NULL);
    if (rc == 0)
        update_index(ctl, kind, doc);
    json_object_put(doc);
    return rc;
}

/* ---- events -------------------------------------------------------------------------------------
 */

static int count_again(json_object *doc, void *arg)
{
    struct sw_ctl *ctl = arg;
    json_object_object_add(doc, "count", sw_int(sw_json_int(doc, 1, "count", NULL) + 1));
    json_object_object_add(doc, "lastTimestamp", sw_time(sw_ctl_now(ctl)));
    return 0;
}

void sw_ctl_event(struct sw_ctl *ctl, json_object *about, const char *type, const char *reason,
                  const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *message = sw_vprintf(fmt, ap);
    va_end(ap);
    const char *ns = sw_obj_namespace(about);
    ns = *ns ? ns : "default";
    uint64_t hash = sw_fnv64a(message, strlen(message)) ^ sw_fnv64a(reason, strlen(reason)) * 31;
    SW_AUTO_CHARS *name = sw_printf("%.200s.%016llx", sw_obj_name(about), (unsigned long long)hash);
    int rc = sw_store_modify(ctl->store, ctl->kinds.event, ns, name, NULL, count_again, ctl, NULL);
    if (rc != SW_NOTFOUND)
        return;
    bool scheduling = sw_streq(reason, "FailedScheduling") || sw_streq(reason, "Scheduled");
    const char *component = scheduling                            ? "default-scheduler"
                            : sw_streq(sw_obj_kind(about), "Pod") ? "kubelet"
                                                                  : "controller-manager";
    json_object *involved = sw_doc_new(
        "apiVersion", sw_str(sw_obj_api_version(about)), "kind", sw_str(sw_obj_kind(about)), "name",
        sw_str(sw_obj_name(about)), "namespace",
        *sw_obj_namespace(about) ? sw_str(sw_obj_namespace(about)) : NULL, "uid",
        sw_str(sw_obj_uid(about)), NULL);
    json_object *doc = sw_doc_new(
        "apiVersion", sw_str("v1"), "kind", sw_str("Event"), "metadata",
        sw_doc_new("name", sw_str(name), "namespace", sw_str(ns), NULL), "involvedObject", involved,
        "type", sw_str(type), "reason", sw_str(reason), "message", sw_str(message), "source",
        sw_doc_new("component", sw_str(component), NULL), "count", sw_int(1), "firstTimestamp",
        sw_time(sw_ctl_now(ctl)), "lastTimestamp", sw_time(sw_ctl_now(ctl)), NULL);
    (void)sw_ctl_create(ctl, ctl->kinds.event, doc, NULL); /* an Event may be lost */
}
