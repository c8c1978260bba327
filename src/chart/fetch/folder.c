/* Folders of charts, as the repositories of SpecialResources may be. */
#include <string.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/fetch/fetch.h"

static const char scheme[] = "file://";

static bool exists(const struct sw_folders *folders, const char *dir, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    if (!folders)
        return access(path, R_OK) == 0;
    int fd = sw_folders_open(folders, path, NULL);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

char *sw_fetch_chart_url(const char *url, const char *name, const char *version,
                         const struct sw_folders *folders)
{
    if (!sw_starts_with(url, scheme))
        return sw_strdup(url);
    const char *root = url + strlen(scheme);
    SW_AUTO_CHARS *packed = sw_printf("%s-%s.tgz", name, version);
    SW_AUTO_CHARS *unpacked = sw_printf("%s/Chart.yaml", name);
    SW_AUTO_CHARS *versioned = sw_printf("%s-%s/Chart.yaml", name, version);
    if (exists(folders, root, "Chart.yaml") || !*name)
        return sw_strdup(url);
    if (exists(folders, root, packed))
        return sw_printf("%s/%s", url, packed);
    if (exists(folders, root, versioned))
        return sw_printf("%s/%s-%s", url, name, version);
    if (exists(folders, root, unpacked))
        return sw_printf("%s/%s", url, name);
    return sw_strdup(url);
}
