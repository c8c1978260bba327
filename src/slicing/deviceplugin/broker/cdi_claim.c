#include "slicing/deviceplugin/broker/cdi_claim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/journal.h"

#define KIND "mig.slipway.dev/claim"

char *cdi_claim_identity(const char *uid)
{
    return sw_printf(KIND "=%s", uid);
}

char *dp_cdi_group(const struct dp_grant *grant, const char *group)
{
    return sw_printf(KIND "=%s%s%s", grant->claim.uid, group ? "-" : "", group ? group : "");
}

static const char *uuid_of(const struct dp_grant *grant, const struct dp_device *d)
{
    const char *uuid = d->slice == DP_NO_SLICE ? d->gpu : grant->slices[d->slice].uuid;
    return uuid ? uuid : "";
}

/* Whether a device before @i has the same UUID: of a GPU, several requests may look at it. */
static bool had(const struct dp_grant *grant, const char *group, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if ((!group || strcmp(grant->devices[k].group, group) == 0) &&
            strcmp(uuid_of(grant, &grant->devices[k]), uuid_of(grant, &grant->devices[i])) == 0)
            return true;
    return false;
}

/* "SLIPWAY_DEVICE_GPU_0_MIG_1G5GB_4=MIG-...": no other device of the node has that variable. */
static void add_own_variable(struct json_object *env, const struct dp_device *d, const char *uuid)
{
    SW_AUTO_CHARS *text = sw_printf("SLIPWAY_DEVICE_%s", d->name);
    for (char *c = text; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
    sw_append(&text, "=%s", uuid);
    json_object_array_add(env, json_object_new_string(text));
}

/* Where NVIDIA's runtime looks for UUIDs before it looks at the variable, if it is told to
 * (accept-nvidia-visible-devices-as-volume-mounts). */
static void add_mount(struct json_object *mounts, const char *uuid)
{
    static const char *const options[] = { "ro", "nosuid", "nodev", "bind" };
    struct json_object *mount = json_object_new_object();
    SW_AUTO_CHARS *path = sw_printf("/var/run/nvidia-container-devices/%s", uuid);
    sw_json_set_str(mount, "/dev/null", "hostPath", NULL);
    sw_json_set_str(mount, path, "containerPath", NULL);
    struct json_object *list = sw_json_need_list(mount, "options", NULL);
    for (size_t i = 0; i < SW_COUNT(options); i++)
        json_object_array_add(list, json_object_new_string(options[i]));
    json_object_array_add(mounts, mount);
}

/* @group NULL: all. */
static void add_device(struct json_object *devices, const struct dp_grant *grant, const char *group)
{
    struct json_object *device = json_object_new_object();
    SW_AUTO_CHARS *id = dp_cdi_group(grant, group);
    SW_AUTO_CHARS *visible = sw_strdup("NVIDIA_VISIBLE_DEVICES=");
    sw_json_set_str(device, strchr(id, '=') + 1, "name", NULL);
    struct json_object *own = json_object_new_array(), *mounts = json_object_new_array();
    size_t n = 0;
    for (size_t i = 0; i < grant->n_devices; i++) {
        const struct dp_device *d = &grant->devices[i];
        const char *uuid = uuid_of(grant, d);
        if ((group && strcmp(d->group, group) != 0) || had(grant, group, i))
            continue;
        sw_append(&visible, "%s%s", n++ ? "," : "", uuid);
        add_own_variable(own, d, uuid);
        add_mount(mounts, uuid);
    }
    struct json_object *env = sw_json_need_list(device, "containerEdits", "env", NULL);
    json_object_array_add(env, json_object_new_string(visible));
    for (size_t i = 0; i < sw_json_len(own); i++)
        json_object_array_add(env, json_object_get(sw_json_at(own, i)));
    (void)json_object_put(own);
    sw_json_set(device, mounts, "containerEdits", "mounts", NULL);
    json_object_array_add(devices, device);
}

bool dp_device_leads(const struct dp_grant *grant, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(grant->devices[k].request, grant->devices[i].request) == 0)
            return false;
    return true;
}

size_t dp_grant_n_groups(const struct dp_grant *grant)
{
    size_t n = 0;
    for (size_t i = 0; i < grant->n_devices; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(grant->devices[k].group, grant->devices[i].group) != 0;
        n += first;
    }
    return n;
}

struct json_object *cdi_claim_make(const struct dp_grant *grant)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "0.6.0", "cdiVersion", NULL); /* annotations */
    sw_json_set_str(doc, KIND, "kind", NULL);
    struct json_object *notes = sw_json_need_map(doc, "annotations", NULL);
    json_object_object_add(notes, KIND, json_object_new_string(grant->claim.uid));
    struct json_object *devices = sw_json_need_list(doc, "devices", NULL);
    for (size_t i = 0; i < grant->n_devices; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(grant->devices[k].group, grant->devices[i].group) != 0;
        if (first)
            add_device(devices, grant, grant->devices[i].group);
    }
    if (dp_grant_n_groups(grant) > 1)
        add_device(devices, grant, NULL);
    return doc;
}

const char *cdi_claim_uid(struct json_object *doc)
{
    const char *uid = sw_json_str(doc, "", "annotations", KIND, NULL);
    return strcmp(sw_json_str(doc, "", "kind", NULL), KIND) == 0 && *uid ? uid : NULL;
}
