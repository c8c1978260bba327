/* The files that say which mirrors this machine uses. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "chart/registry/registry.h"

enum { MAX_FILE_BYTES = 4 << 20 };

static int add_conf(struct sw_mirrors *m, const char *path, bool must, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    SW_ERR(why);
    int rc = sw_file_read(path, MAX_FILE_BYTES, &text, &len, &why);
    if (rc == SW_NOTFOUND && !must)
        return 0;
    return rc < 0 ? sw_err_move(err, &why) : sw_mirrors_add_conf(m, path, text, len, err);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_conf_dir(struct sw_mirrors *m, const char *dir, struct sw_err *err)
{
    struct dirent **entries = NULL;
    int rc = 0, n = scandir(dir, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, entries[i]->d_name);
        if (rc == 0 && sw_ends_with(path, ".conf"))
            rc = add_conf(m, path, false, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int sw_mirrors_add_machine(struct sw_mirrors *m, const char *conf, struct sw_err *err)
{
    if (conf)
        return add_conf(m, conf, true, err);
    int rc = add_conf(m, "/etc/containers/registries.conf", false, err);
    if (rc == 0)
        rc = add_conf_dir(m, "/etc/containers/registries.conf.d", err);
    if (rc == 0)
        rc = add_conf(m, "/mnt/host/registries.conf", false, err);
    return rc;
}
