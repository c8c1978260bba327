/* CDI specifications: what a container runtime adds to a container that asks for a device by name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
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

static const char *first_uuid(const struct dp_grant *grant)
{
    const struct dp_slice *s = &grant->slices[0];
    return s->uuid ? s->uuid : s->old_uuid ? s->old_uuid : "";
}

char *dp_cdi_device(const struct dp_grant *grant)
{
    SW_AUTO_CHARS *class = dp_cdi_class(grant);
    return sw_printf(VENDOR "/%s=%s", class, first_uuid(grant));
}

char *dp_cdi_file(const struct dp_grant *grant)
{
    SW_AUTO_CHARS *class = dp_cdi_class(grant);
    return sw_printf("%s_%s" SUFFIX, class, first_uuid(grant));
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

struct json_object *dp_cdi_make(const struct dp_grant *grant)
{
    SW_AUTO_CHARS *class = dp_cdi_class(grant), *claims = allocation(grant);
    SW_AUTO_CHARS *kind = sw_printf(VENDOR "/%s", class);
    SW_AUTO_CHARS *visible = dp_visible_devices(grant), *cuda = dp_cuda_devices(grant);
    struct json_object *doc = json_object_new_object(), *device = json_object_new_object();
    sw_json_set_str(doc, "0.6.0", "cdiVersion", NULL); /* dots in a class, annotations */
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(device, first_uuid(grant), "name", NULL);
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
    if (!sw_starts_with(kind, VENDOR "/") || sw_json_len(devices) != 1 ||
        !sw_json_find(first, "annotations", ALLOCATION, NULL))
        return sw_err_set(err, SW_NOTFOUND, "kind '%.64s' is not ours", kind);
    *device = sw_printf("%s=%s", kind, sw_json_str(first, "", "name", NULL));
    return 0;
}

int dp_cdi_write(const char *dir, const struct dp_grant *grant, struct sw_err *err)
{
    SW_AUTO_JSON *doc = dp_cdi_make(grant);
    SW_AUTO_CHARS *name = dp_cdi_file(grant);
    /* it is written before the record says so, and looked after with each later record: mostly it
     * is as it should be, and replacing a file costs a disk more than reading one */
    return dp_file_is(dir, name, doc) ? 0 : dp_file_write(dir, name, doc, err);
}

int dp_cdi_remove(const char *dir, const struct dp_grant *grant, struct sw_err *err)
{
    SW_AUTO_CHARS *name = dp_cdi_file(grant);
    return *first_uuid(grant) ? dp_file_remove(dir, name, err) : 0;
}

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
    if (rc == 0 && dp_cdi_read(doc, &device, NULL) == 0 && !s->keep(device, s->arg))
        (void)!dp_file_remove(s->dir, name, NULL); /* the next start tries again */
}

int dp_cdi_sweep(const char *dir, bool (*keep)(const char *device, void *arg), void *arg,
                 struct sw_err *err)
{
    struct sweeping s = { dir, keep, arg };
    const int rc = dp_dir_make(dir, err);
    return rc < 0 ? rc : dp_dir_each(dir, SUFFIX, sweep_one, &s, err);
}
