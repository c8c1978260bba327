#include "slicing/deviceplugin/broker/device_nodes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "data/data.h"

enum { MOST_BYTES = 1024 * 1024, CAP_MODE = 0444 };

/* ---- device nodes ------------------------------------------------------------------------------
 */

static bool has_path(struct json_object *nodes, const char *path)
{
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        if (sw_streq(sw_json_str(sw_json_at(nodes, i), "", "path", NULL), path))
            return true;
    return false;
}

static void set_number(struct json_object *node, const char *key, int64_t value)
{
    sw_json_set(node, json_object_new_int64(value), key, NULL);
}

static void add_char_device(struct json_object *node, unsigned device_major, unsigned device_minor,
                            unsigned mode)
{
    sw_json_set_str(node, "c", "type", NULL);
    set_number(node, "major", device_major);
    set_number(node, "minor", device_minor);
    set_number(node, "fileMode", mode);
}

/* With its numbers, so that a runtime need not find it: it may be in the driver's container only,
 * and in this one. @cap_major: of one that the driver has, but no program has made yet.
 * @return whether it is there */
static bool add_node(const struct dp_host *host, const char *name, unsigned cap_major,
                     unsigned cap_minor, struct json_object *nodes)
{
    SW_AUTO_CHARS *at = sw_printf("%s/%s", host->dev_dir, name);
    SW_AUTO_CHARS *path = sw_printf("/dev/%s", name);
    struct stat s;
    const bool there = stat(at, &s) == 0;
    if (!there && !cap_major)
        return false;
    if (has_path(nodes, path))
        return true;
    struct json_object *node = json_object_new_object();
    sw_json_set_str(node, path, "path", NULL);
    if (!there)
        add_char_device(node, cap_major, cap_minor, CAP_MODE);
    else if (S_ISCHR(s.st_mode))
        add_char_device(node, major(s.st_rdev), minor(s.st_rdev), s.st_mode & 0777);
    else if (strcmp(at, path) != 0)
        sw_json_set_str(node, at, "hostPath", NULL);
    json_object_array_add(nodes, node);
    return true;
}

static char *read_proc(const struct dp_host *host, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", host->proc_dir, name);
    char *text = NULL;
    size_t len;
    return sw_file_read(path, MOST_BYTES, &text, &len, NULL) == 0 ? text : NULL;
}

/* "237 nvidia-caps" of /proc/devices. 0: the driver has none. */
static unsigned cap_major_of(const struct dp_host *host)
{
    SW_AUTO_CHARS *text = read_proc(host, "devices");
    unsigned number;
    char name[64];
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (sscanf(line, "%9u %63s", &number, name) == 2 && strcmp(name, "nvidia-caps") == 0)
            return number;
    return 0;
}

/* "gpu0/gi1/ci0/access 13" of mig-minors, where a GPU has the number of its device node. */
static bool cap_minor_of(const char *minors, const char *access, unsigned *out)
{
    const size_t len = strlen(access);
    for (const char *line = minors; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, access, len) == 0 && sscanf(line + len, " %9u", out) == 1)
            return true;
    return false;
}

static bool add_cap(const struct dp_host *host, const char *minors, unsigned cap_major,
                    const char *access, struct json_object *nodes)
{
    unsigned n;
    char name[64];
    if (!minors || !cap_minor_of(minors, access, &n))
        return false;
    (void)snprintf(name, sizeof name, "nvidia-caps/nvidia-cap%u", n);
    return add_node(host, name, cap_major, n, nodes);
}

static bool add_caps(const struct dp_host *host, int gpu_minor, const struct dp_slice *slice,
                     struct json_object *nodes)
{
    SW_AUTO_CHARS *minors = read_proc(host, "driver/nvidia-caps/mig-minors");
    SW_AUTO_CHARS *gi = sw_printf("gpu%d/gi%u/access", gpu_minor, slice->gi);
    SW_AUTO_CHARS *ci = sw_printf("gpu%d/gi%u/ci%u/access", gpu_minor, slice->gi, slice->ci);
    const unsigned cap_major = cap_major_of(host);
    const bool has_gi = add_cap(host, minors, cap_major, gi, nodes);
    return add_cap(host, minors, cap_major, ci, nodes) && has_gi;
}

bool dp_device_nodes(const struct dp_host *host, const char *gpu, const struct dp_slice *slice,
                     struct json_object *nodes)
{
    const int n = host->minor_of(gpu, host->arg);
    char name[32];
    if (n < 0)
        return false;
    (void)snprintf(name, sizeof name, "nvidia%d", n);
    bool all = add_node(host, name, 0, 0, nodes);
    all &= !slice || add_caps(host, n, slice, nodes);
    all &= add_node(host, "nvidiactl", 0, 0, nodes);
    all &= add_node(host, "nvidia-uvm", 0, 0, nodes);
    (void)add_node(host, "nvidia-uvm-tools", 0, 0, nodes); /* for debuggers and profilers */
    return all;
}

/* ---- the toolkit's file ------------------------------------------------------------------------
 */

/* A file of an older driver names libraries that are not there any more. */
static bool is_of_driver(const struct dp_host *host, struct json_object *edits)
{
    struct json_object *mounts = sw_json_get(edits, "mounts");
    if (!host->driver_version)
        return false;
    SW_AUTO_CHARS *end = sw_printf(".so.%s", host->driver_version);
    for (size_t i = 0; i < sw_json_len(mounts); i++)
        if (sw_ends_with(sw_json_str(sw_json_at(mounts, i), "", "hostPath", NULL), end))
            return true;
    return false;
}

static struct json_object *without_devices(struct json_object *edits)
{
    struct json_object *env = sw_json_get(edits, "env");
    for (size_t i = sw_json_len(env); i-- > 0;)
        if (sw_starts_with(sw_text_or(json_object_get_string(sw_json_at(env, i)), ""),
                           "NVIDIA_VISIBLE_DEVICES="))
            (void)json_object_array_del_idx(env, i, 1);
    if (env && !sw_json_len(env))
        json_object_object_del(edits, "env");
    return edits;
}

static struct json_object *edits_of_file(const struct dp_host *host, const char *path,
                                         char **version)
{
    /* of nvidia-ctk and nvidia-cdi-refresh; of NVIDIA's device plugin */
    static const char *const kinds[] = { "nvidia.com/gpu", "k8s.device-plugin.nvidia.com/gpu" };
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len;
    if (sw_file_read(path, MOST_BYTES, &text, &len, NULL) < 0 ||
        sw_yaml_parse(text, len, NULL, &doc, NULL) < 0)
        return NULL;
    bool known = false;
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        known |= sw_streq(sw_json_str(doc, "", "kind", NULL), kinds[i]);
    struct json_object *edits = sw_json_get(doc, "containerEdits");
    if (!known || !is_of_driver(host, edits))
        return NULL;
    *version = sw_strdup(sw_json_str(doc, "", "cdiVersion", NULL));
    return without_devices(json_object_get(edits));
}

static int is_candidate(const struct dirent *d)
{
    return strstr(d->d_name, "nvidia") &&
           (sw_ends_with(d->d_name, ".yaml") || sw_ends_with(d->d_name, ".json"));
}

static struct json_object *edits_in(const struct dp_host *host, const char *dir, char **version)
{
    struct dirent **entries = NULL;
    struct json_object *edits = NULL;
    const int n = dir ? scandir(dir, &entries, is_candidate, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, entries[i]->d_name);
        edits = edits ? edits : edits_of_file(host, path, version);
        free(entries[i]);
    }
    free(entries);
    return edits;
}

struct json_object *dp_toolkit_edits(const struct dp_host *host, char **version)
{
    struct json_object *edits = edits_in(host, host->cdi_dir, version);
    return edits ? edits : edits_in(host, host->toolkit_dir, version);
}
