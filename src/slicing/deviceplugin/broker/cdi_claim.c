#include "slicing/deviceplugin/broker/cdi_claim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/text/semver.h"
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

static const struct dp_slice *slice_of(const struct dp_grant *grant, const struct dp_device *d)
{
    return d->slice == DP_NO_SLICE ? NULL : &grant->slices[d->slice];
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

/* @mode: "ro", "rw" */
static void add_mount(struct json_object *mounts, const char *from, const char *to,
                      const char *mode)
{
    const char *const options[] = { mode, "nosuid", "nodev", "bind" };
    struct json_object *mount = json_object_new_object();
    sw_json_set_str(mount, from, "hostPath", NULL);
    sw_json_set_str(mount, to, "containerPath", NULL);
    struct json_object *list = sw_json_need_list(mount, "options", NULL);
    for (size_t i = 0; i < SW_COUNT(options); i++)
        json_object_array_add(list, json_object_new_string(options[i]));
    json_object_array_add(mounts, mount);
}

/* Where NVIDIA's runtime looks for UUIDs before it looks at the variable, if it is told to
 * (accept-nvidia-visible-devices-as-volume-mounts). */
static void add_visible(struct json_object *mounts, const char *uuid)
{
    SW_AUTO_CHARS *path = sw_printf("/var/run/nvidia-container-devices/%s", uuid);
    add_mount(mounts, "/dev/null", path, "ro");
}

/* What makes programs clients of the claim's control daemon. Source: NVIDIA's "Multi-Process
 * Service", chapter "Environment Variables"; NVIDIA's DRA driver (the paths in the container). */
static void add_mps(struct json_object *env, struct json_object *mounts, const char *uid)
{
    SW_AUTO_CHARS *pipe = sw_printf(DP_MPS_DIR "/%s/pipe", uid);
    SW_AUTO_CHARS *shm = sw_printf(DP_MPS_SHM "%s", uid);
    json_object_array_add(env, json_object_new_string("CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps"));
    add_mount(mounts, pipe, "/tmp/nvidia-mps", "rw");
    add_mount(mounts, shm, "/dev/shm", "rw");
}

/* @group NULL: all. @whole: nothing is left to NVIDIA's runtime. */
static void add_device(struct json_object *devices, const struct dp_grant *grant, const char *group,
                       const struct dp_host *host, bool whole)
{
    struct json_object *device = json_object_new_object();
    SW_AUTO_CHARS *id = dp_cdi_group(grant, group), *uuids = sw_strdup("");
    SW_AUTO_JSON *own = json_object_new_array(), *mounts = json_object_new_array();
    SW_AUTO_JSON *nodes = json_object_new_array();
    bool mps = false;
    for (size_t i = 0; i < grant->n_devices; i++) {
        const struct dp_device *d = &grant->devices[i];
        const char *uuid = uuid_of(grant, d);
        if (group && strcmp(d->group, group) != 0)
            continue;
        mps |= d->mps;
        if (had(grant, group, i))
            continue;
        sw_append(&uuids, "%s%s", *uuids ? "," : "", uuid);
        add_own_variable(own, d, uuid);
        if (!whole)
            add_visible(mounts, uuid);
        if (host)
            (void)dp_device_nodes(host, d->gpu, slice_of(grant, d), nodes);
    }
    SW_AUTO_CHARS *visible = sw_printf("NVIDIA_VISIBLE_DEVICES=%s", whole ? "void" : uuids);
    sw_json_set_str(device, strchr(id, '=') + 1, "name", NULL);
    struct json_object *env = sw_json_need_list(device, "containerEdits", "env", NULL);
    json_object_array_add(env, json_object_new_string(visible));
    for (size_t i = 0; i < sw_json_len(own); i++)
        json_object_array_add(env, json_object_get(sw_json_at(own, i)));
    if (mps && host) /* where GPUs are made up nobody runs the daemon */
        add_mps(env, mounts, grant->claim.uid);
    if (sw_json_len(mounts))
        sw_json_set(device, SW_TAKE(mounts), "containerEdits", "mounts", NULL);
    if (sw_json_len(nodes))
        sw_json_set(device, SW_TAKE(nodes), "containerEdits", "deviceNodes", NULL);
    json_object_array_add(devices, device);
}

/* Whether the device nodes of all devices are known. */
static bool has_all_nodes(const struct dp_grant *grant, const struct dp_host *host)
{
    SW_AUTO_JSON *nodes = json_object_new_array();
    bool all = true;
    for (size_t i = 0; i < grant->n_devices && all; i++)
        all = dp_device_nodes(host, grant->devices[i].gpu, slice_of(grant, &grant->devices[i]),
                              nodes);
    return all;
}

/* The newer one of two versions of the format. */
static const char *newer(const char *a, const char *b)
{
    struct sw_semver x, y;
    return sw_semver_parse(b, strlen(b), &y, NULL) == 0 &&
                   sw_semver_parse(a, strlen(a), &x, NULL) == 0 && sw_semver_compare(&x, &y) < 0
               ? b
               : a;
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

struct json_object *cdi_claim_make(const struct dp_grant *grant, const struct dp_host *host)
{
    static const char version[] = "0.6.0"; /* annotations */
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *of_edits = NULL;
    struct json_object *edits = host && has_all_nodes(grant, host)
                                    ? dp_toolkit_edits(host, &of_edits)
                                    : NULL;
    sw_json_set_str(doc, edits ? newer(version, of_edits) : version, "cdiVersion", NULL);
    sw_json_set_str(doc, KIND, "kind", NULL);
    struct json_object *notes = sw_json_need_map(doc, "annotations", NULL);
    json_object_object_add(notes, KIND, json_object_new_string(grant->claim.uid));
    struct json_object *devices = sw_json_need_list(doc, "devices", NULL);
    for (size_t i = 0; i < grant->n_devices; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(grant->devices[k].group, grant->devices[i].group) != 0;
        if (first)
            add_device(devices, grant, grant->devices[i].group, host, edits != NULL);
    }
    if (dp_grant_n_groups(grant) > 1)
        add_device(devices, grant, NULL, host, edits != NULL);
    if (edits)
        sw_json_set(doc, edits, "containerEdits", NULL);
    return doc;
}

const char *cdi_claim_uid(struct json_object *doc)
{
    const char *uid = sw_json_str(doc, "", "annotations", KIND, NULL);
    return strcmp(sw_json_str(doc, "", "kind", NULL), KIND) == 0 && *uid ? uid : NULL;
}
