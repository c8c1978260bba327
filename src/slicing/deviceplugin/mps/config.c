/* What a control daemon is told, and what became of it: the plugin's side of the folder. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/mps/folder.h"
#include "slicing/deviceplugin/mps/mps.h"

enum { MAX_MESSAGE = 4096 };

/* ---- what it is told ---------------------------------------------------------------------------
 */

/* The devices of the daemon: UUIDs, in the order of the claim's. */
static struct json_object *devices_of(const struct dp_grant *g)
{
    struct json_object *uuids = json_object_new_array();
    for (size_t i = 0; i < g->n_devices; i++) {
        const struct dp_device *d = &g->devices[i];
        const char *uuid = d->slice == DP_NO_SLICE ? d->gpu : g->slices[d->slice].uuid;
        if (d->mps && uuid && !sw_json_has_text(uuids, uuid))
            json_object_array_add(uuids, json_object_new_string(uuid));
    }
    return uuids;
}

static bool is_number(const char *text)
{
    const size_t len = strlen(text);
    return len > 0 && len < 4 && strspn(text, "0123456789") == len;
}

/* Whether a limit is for device @i. */
static bool is_of(const char *device, size_t i, const char *uuid)
{
    return strcmp(device, "*") == 0 || strcmp(device, uuid) == 0 ||
           (is_number(device) && strtoul(device, NULL, 10) == i);
}

int dp_mps_config(const struct dp_grant *grant, struct json_object **out, struct sw_err *err)
{
    const struct dp_mps *m = &grant->mps;
    SW_AUTO_JSON *doc = json_object_new_object(), *uuids = devices_of(grant);
    struct json_object *commands = sw_json_need_list(doc, "commands", NULL);
    bool *used = sw_zalloc(m->n_limits + 1, sizeof *used);
    int rc = 0;
    if (m->threads >= 0) {
        SW_AUTO_CHARS *line = sw_printf("set_default_active_thread_percentage %d", m->threads);
        json_object_array_add(commands, json_object_new_string(line));
    }
    for (size_t i = 0; i < sw_json_len(uuids); i++) {
        const char *uuid = json_object_get_string(sw_json_at(uuids, i));
        int64_t mib = 0;
        for (size_t k = 0; k < m->n_limits; k++)
            if (is_of(m->limits[k].device, i, uuid)) {
                used[k] = true;
                mib = m->limits[k].mib;
            }
        if (!mib)
            continue;
        SW_AUTO_CHARS *line = sw_printf("set_default_device_pinned_mem_limit %s %lldM", uuid,
                                        (long long)mib);
        json_object_array_add(commands, json_object_new_string(line));
    }
    for (size_t k = 0; k < m->n_limits && rc == 0; k++)
        if (!used[k])
            rc = sw_err_set(err, SW_INVALID,
                            "defaultPerDevicePinnedMemoryLimit.%s: the claim shares %zu devices by "
                            "MPS, and none of them is that",
                            m->limits[k].device, sw_json_len(uuids));
    free(used);
    if (rc < 0)
        return rc;
    sw_json_set(doc, json_object_get(uuids), "devices", NULL);
    sw_json_set(doc, json_object_new_boolean(m->multi_user), "multiUser", NULL);
    *out = SW_TAKE(doc);
    return 0;
}

/* ---- the folder --------------------------------------------------------------------------------
 */

char *mps_path(const char *host_root, const char *uid, const char *name)
{
    const char *root = strcmp(host_root, "/") == 0 ? "" : host_root;
    return sw_printf("%s" DP_MPS_DIR "%s%s%s%s", root, uid ? "/" : "", uid ? uid : "",
                     name ? "/" : "", name ? name : "");
}

char *mps_shm(const char *host_root, const char *uid)
{
    return sw_printf("%s" DP_MPS_SHM "%s", strcmp(host_root, "/") == 0 ? "" : host_root, uid);
}

void mps_say(const char *host_root, const char *uid, const char *message)
{
    SW_AUTO_CHARS *path = mps_path(host_root, uid, "error");
    SW_ERR(err);
    if (sw_file_write(path, message, strlen(message), &err) < 0)
        sw_log(SW_LOG_ERROR, "MPS control daemon", "claim", uid, "error", sw_err_text(&err), NULL);
}

int mps_lock(const char *host_root, const char *uid)
{
    SW_AUTO_CHARS *path = mps_path(host_root, uid, "lock");
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Of what is in the folder @fd, which is taken. */
static void remove_all(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    if (!dir) {
        (void)close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(dirfd(dir), name, 0) == 0)
            continue;
        const int in = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (in >= 0)
            remove_all(in);
        (void)unlinkat(dirfd(dir), name, AT_REMOVEDIR);
    }
    (void)closedir(dir);
}

/* Clients write to some of the folders: no link there is followed. */
void mps_remove(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        remove_all(fd);
    (void)rmdir(path);
}

int dp_mps_ask(const char *host_root, const struct dp_grant *grant, struct sw_err *err)
{
    const char *uid = grant->claim.uid;
    SW_AUTO_CHARS *base = mps_path(host_root, NULL, NULL), *dir = mps_path(host_root, uid, NULL);
    SW_AUTO_CHARS *file = sw_printf("%s.json", uid);
    SW_AUTO_JSON *doc = NULL;
    int rc = dp_mps_config(grant, &doc, err);
    if (rc == 0)
        rc = dp_dir_make(dir, err);
    if (rc == 0)
        rc = dp_file_remove(dir, "error", err);
    return rc == 0 && !dp_file_is(base, file, doc) ? dp_file_write(base, file, doc, err) : rc;
}

int dp_mps_check(const char *host_root, const char *uid, struct sw_err *err)
{
    SW_AUTO_CHARS *ready = mps_path(host_root, uid, "ready"), *text = NULL;
    SW_AUTO_CHARS *error = mps_path(host_root, uid, "error");
    size_t len;
    if (access(ready, F_OK) == 0) { /* or it was, and has been killed */
        const int fd = mps_lock(host_root, uid);
        if (fd < 0)
            return 0;
        (void)close(fd);
    }
    return sw_file_read(error, MAX_MESSAGE, &text, &len, NULL) == 0
               ? sw_err_set(err, SW_UNAVAILABLE, "%s", text)
               : SW_PENDING;
}

int dp_mps_end(const char *host_root, const char *uid, struct sw_err *err)
{
    SW_AUTO_CHARS *base = mps_path(host_root, NULL, NULL), *file = sw_printf("%s.json", uid);
    SW_AUTO_CHARS *dir = mps_path(host_root, uid, NULL), *shm = mps_shm(host_root, uid);
    int rc = dp_file_remove(base, file, err);
    if (rc < 0 || access(dir, F_OK) != 0)
        return rc;
    const int fd = mps_lock(host_root, uid);
    if (fd < 0)
        return SW_PENDING;
    mps_remove(shm);
    mps_remove(dir);
    (void)close(fd);
    return access(dir, F_OK) == 0 ? SW_PENDING : 0; /* it was about to start */
}
