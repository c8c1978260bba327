/* CDI specifications: what a container runtime adds to a container that asks for a device by name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/cdi_claim.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/broker/journal.h"

#define VENDOR "mig.das.com"
#define ALLOCATION VENDOR "/allocation"
#define SUFFIX ".cdi.json"

char *dp_cdi_class(const struct dp_grant *grant)
{
    struct sw_mig_profile p = { 0 };
    char text[SW_MIG_NAME_LEN];
    const char *profile = grant->slices[0].profile;
    (void)!sw_mig_profile_parse(profile, strlen(profile), &p, NULL); /* it was read before */
    (void)sw_mig_resource_text(&p, text);
    return sw_printf("%s%s", isdigit((unsigned char)text[0]) ? "c" : "", text);
}

static const char *device_name(const struct dp_grant *grant)
{
    const struct dp_slice *s = &grant->slices[0];
    return grant->cdi ? grant->cdi : s->uuid ? s->uuid : s->old_uuid ? s->old_uuid : "";
}

char *dp_cdi_device(const struct dp_grant *grant)
{
    if (grant->claim.uid)
        return cdi_claim_identity(grant->claim.uid);
    SW_AUTO_CHARS *class = dp_cdi_class(grant);
    return sw_printf(VENDOR "/%s=%s", class, device_name(grant));
}

char *dp_cdi_file(const struct dp_grant *grant)
{
    if (grant->claim.uid)
        return sw_printf("claim_%s" SUFFIX, grant->claim.uid);
    if (!*device_name(grant))
        return NULL;
    SW_AUTO_CHARS *class = dp_cdi_class(grant);
    return sw_printf("%s_%s" SUFFIX, class, device_name(grant));
}

char *dp_visible_devices(const struct dp_grant *grant)
{
    char *list = sw_strdup("");
    for (size_t i = 0; i < grant->n_slices; i++)
        if (grant->slices[i].uuid)
            sw_append(&list, "%s%s", *list ? "," : "", grant->slices[i].uuid);
    return list;
}

char *dp_cuda_devices(const struct dp_grant *grant)
{
    char *list = sw_strdup("");
    for (size_t i = 0; i < grant->n_slices; i++)
        sw_append(&list, "%s%zu", i ? "," : "", i);
    return list;
}

/* The claims behind a device, as one text. */
static char *allocation(const struct dp_grant *grant)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < grant->n_slices; i++) {
        const struct dp_slice *s = &grant->slices[i];
        struct json_object *c = json_object_new_object();
        sw_json_set_str(c, s->claim, "metadata", "name", NULL);
        sw_json_set_str(c, s->claim_ns, "metadata", "namespace", NULL);
        sw_json_set_str(c, s->profile, "spec", "profile", NULL);
        sw_json_set_str(c, s->gpu, "spec", "gpuUUID", NULL);
        sw_json_set(c, json_object_new_int(s->place.size), "spec", "migPlacement", "size", NULL);
        sw_json_set(c, json_object_new_int(s->place.start), "spec", "migPlacement", "start", NULL);
        sw_json_set_str(c, grant->pod.ns, "spec", "podRef", "namespace", NULL);
        sw_json_set_str(c, grant->pod.name, "spec", "podRef", "name", NULL);
        sw_json_set_str(c, grant->pod.uid, "spec", "podRef", "uid", NULL);
        json_object_array_add(list, c);
    }
    return sw_json_text(list, SW_JSON_PLAIN, NULL);
}

static void add_env(struct json_object *list, const char *name, const char *value)
{
    SW_AUTO_CHARS *text = sw_printf("%s=%s", name, value);
    json_object_array_add(list, json_object_new_string(text));
}

struct json_object *dp_cdi_make(const struct dp_grant *grant, const struct dp_host *host)
{
    if (grant->claim.uid)
        return cdi_claim_make(grant, host);
    SW_AUTO_CHARS *class = dp_cdi_class(grant), *claims = allocation(grant);
    SW_AUTO_CHARS *kind = sw_printf(VENDOR "/%s", class);
    SW_AUTO_CHARS *visible = dp_visible_devices(grant), *cuda = dp_cuda_devices(grant);
    struct json_object *doc = json_object_new_object(), *device = json_object_new_object();
    sw_json_set_str(doc, "0.6.0", "cdiVersion", NULL); /* dots in a class, annotations */
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(device, device_name(grant), "name", NULL);
    struct json_object *notes = sw_json_need_map(device, "annotations", NULL);
    json_object_object_add(notes, ALLOCATION, json_object_new_string(claims));
    struct json_object *env = sw_json_need_list(device, "containerEdits", "env", NULL);
    add_env(env, "NVIDIA_VISIBLE_DEVICES", visible);
    add_env(env, "CUDA_VISIBLE_DEVICES", cuda);
    json_object_array_add(sw_json_need_list(doc, "devices", NULL), device);
    return doc;
}

int dp_cdi_read(struct json_object *doc, char **device, struct sw_err *err)
{
    const char *kind = sw_json_str(doc, "", "kind", NULL);
    struct json_object *devices = sw_json_get(doc, "devices");
    struct json_object *first = sw_json_at(devices, 0);
    if (!json_object_is_type(doc, json_type_object) ||
        !json_object_is_type(devices, json_type_array))
        return sw_err_set(err, SW_INVALID, "devices: expected a list");
    const char *claim = cdi_claim_uid(doc);
    if (claim) {
        *device = cdi_claim_identity(claim);
        return 0;
    }
    if (!sw_starts_with(kind, VENDOR "/") || sw_json_len(devices) != 1 ||
        !sw_json_find(first, "annotations", ALLOCATION, NULL))
        return sw_err_set(err, SW_NOTFOUND, "kind '%.64s' is not ours", kind);
    *device = sw_printf("%s=%s", kind, sw_json_str(first, "", "name", NULL));
    return 0;
}

int dp_cdi_write(const char *dir, const struct dp_grant *grant, const struct dp_host *host,
                 struct sw_err *err)
{
    SW_AUTO_JSON *doc = dp_cdi_make(grant, host);
    SW_AUTO_CHARS *name = dp_cdi_file(grant);
    /* it is written before the record says so, and looked after with each later record: mostly it
     * is as it should be, and replacing a file costs a disk more than reading one */
    return dp_file_is(dir, name, doc) ? 0 : dp_file_write(dir, name, doc, err);
}

/* ---- DAS's files -------------------------------------------------------------------------------
 */

/* The claims behind a device, if they are written as DAS does: whole, as they were read from the
 * API server. The caller's. */
static struct json_object *das_claims(struct json_object *doc)
{
    const char *text = sw_json_str(sw_json_at(sw_json_get(doc, "devices"), 0), "", "annotations",
                                   ALLOCATION, NULL);
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_CHARS *device = NULL;
    if (dp_cdi_read(doc, &device, NULL) < 0 ||
        sw_json_parse(text, strlen(text), NULL, &list, NULL) < 0 ||
        !*sw_obj_uid(sw_json_at(list, 0)))
        return NULL;
    return SW_TAKE(list);
}

/* "NVIDIA_VISIBLE_DEVICES=MIG-a,MIG-b": borrowed, the first of them. */
static const char *das_uuids(struct json_object *device)
{
    static const char name[] = "NVIDIA_VISIBLE_DEVICES=";
    struct json_object *env = sw_json_find(device, "containerEdits", "env", NULL);
    for (size_t i = 0; i < sw_json_len(env); i++) {
        const char *text = json_object_get_string(sw_json_at(env, i));
        if (text && sw_starts_with(text, name))
            return text + sizeof name - 1;
    }
    return "";
}

/* <podUID>-<node>-<container>-<n>: the container, the caller's. */
static char *das_container(struct json_object *claim)
{
    const char *name = sw_obj_name(claim), *end = strrchr(name, '-');
    SW_AUTO_CHARS *before = sw_printf("%s-%s-",
                                      sw_json_str(claim, "", "spec", "podRef", "uid", NULL),
                                      sw_json_str(claim, "", "spec", "nodename", NULL));
    const size_t n = strlen(before);
    return sw_starts_with(name, before) && end && end > name + n
               ? sw_strndup(name + n, (size_t)(end - name) - n)
               : sw_strdup("");
}

/* A slice's part of the record. The place alone says which instance it is. */
static struct json_object *das_slice(struct json_object *claim, const char **uuids)
{
    struct json_object *s = json_object_new_object();
    struct json_object *place = sw_json_find(claim, "spec", "migPlacement", NULL);
    const size_t len = strcspn(*uuids, ",");
    SW_AUTO_CHARS *uuid = sw_strndup(*uuids, len);
    *uuids += len + ((*uuids)[len] == ',');
    sw_json_set_str(s, sw_obj_namespace(claim), "claim", "namespace", NULL);
    sw_json_set_str(s, sw_obj_name(claim), "claim", "name", NULL);
    sw_json_set_str(s, sw_json_str(claim, "", "spec", "profile", NULL), "profile", NULL);
    sw_json_set_str(s, sw_json_str(claim, "", "spec", "gpuUUID", NULL), "gpu", NULL);
    sw_json_set(s, json_object_get(sw_json_get(place, "start")), "start", NULL);
    sw_json_set(s, json_object_get(sw_json_get(place, "size")), "size", NULL);
    sw_json_set_str(s, "intent", "step", NULL);
    sw_json_set_str(s, uuid, "uuid", NULL);
    return s;
}

int dp_cdi_inherit(const char *name, struct json_object *doc, const char *boot_id,
                   struct dp_grant **out, struct sw_err *err)
{
    SW_AUTO_JSON *claims = das_claims(doc), *record = json_object_new_object();
    struct json_object *first = sw_json_at(claims, 0);
    struct json_object *device = sw_json_at(sw_json_get(doc, "devices"), 0);
    if (!claims)
        return sw_err_set(err, SW_NOTFOUND, "not DAS's");
    SW_AUTO_CHARS *id = sw_printf("%016llx", (unsigned long long)sw_fnv64a(name, strlen(name)));
    SW_AUTO_CHARS *container = das_container(first);
    const char *uuids = das_uuids(device);
    sw_json_set(record, json_object_new_int(1), "version", NULL);
    sw_json_set_str(record, id, "id", NULL);
    sw_json_set_str(record, "ready", "state", NULL);
    sw_json_set_str(record, boot_id, "bootID", NULL);
    sw_json_set(record, json_object_get(sw_json_find(first, "spec", "podRef", NULL)), "pod", NULL);
    sw_json_set_str(record, container, "container", NULL);
    sw_json_set_str(record, sw_json_str(device, "", "name", NULL), "cdi", NULL);
    for (size_t i = 0; i < sw_json_len(claims); i++)
        json_object_array_add(sw_json_need_list(record, "slices", NULL),
                              das_slice(sw_json_at(claims, i), &uuids));
    struct dp_grant *g = NULL;
    int rc = dp_record_read(record, &g, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *file = dp_cdi_file(g);
    if (!sw_streq(file, name)) {
        dp_grant_free(g);
        return sw_err_set(err, SW_INVALID, "its name is not that of its device");
    }
    *out = g;
    return 0;
}

struct inheriting {
    const char *dir, *boot_id;
    void (*each)(struct dp_grant *grant, void *arg);
    void (*bad)(const char *path, const struct sw_err *err, void *arg);
    void *arg;
};

static void inherit_one(const char *name, struct json_object *doc, int rc,
                        const struct sw_err *why SW_UNUSED, void *arg)
{
    const struct inheriting *l = arg;
    SW_ERR(err);
    struct dp_grant *g = NULL;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", l->dir, name);
    if (rc < 0) /* another program's */
        return;
    rc = dp_cdi_inherit(name, doc, l->boot_id, &g, &err);
    if (rc == 0)
        l->each(g, l->arg);
    else if (rc != SW_NOTFOUND)
        l->bad(path, &err, l->arg);
}

int dp_cdi_load(const char *dir, const char *boot_id,
                void (*each)(struct dp_grant *grant, void *arg),
                void (*bad)(const char *path, const struct sw_err *err, void *arg), void *arg,
                struct sw_err *err)
{
    struct inheriting l = { dir, boot_id, each, bad, arg };
    const int rc = dp_dir_make(dir, err);
    return rc < 0 ? rc : dp_dir_each(dir, SUFFIX, inherit_one, &l, err);
}

/* ---- what is left over -------------------------------------------------------------------------
 */

struct sweeping {
    const char *dir;
    bool (*keep)(const char *device, void *arg);
    void *arg;
};

static void sweep_one(const char *name, struct json_object *doc, int rc,
                      const struct sw_err *why SW_UNUSED, void *arg)
{
    const struct sweeping *s = arg;
    SW_AUTO_CHARS *device = NULL;
    SW_AUTO_JSON *das = rc == 0 ? das_claims(doc) : NULL;
    if (rc == 0 && !das && dp_cdi_read(doc, &device, NULL) == 0 && !s->keep(device, s->arg))
        (void)!dp_file_remove(s->dir, name, NULL); /* the next start tries again */
}

int dp_cdi_sweep(const char *dir, bool (*keep)(const char *device, void *arg), void *arg,
                 struct sw_err *err)
{
    struct sweeping s = { dir, keep, arg };
    const int rc = dp_dir_make(dir, err);
    return rc < 0 ? rc : dp_dir_each(dir, SUFFIX, sweep_one, &s, err);
}
