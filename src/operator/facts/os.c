/* Which operating system a node runs, in the form that recipes use ("rhel8.4"): by the os_release
 * labels of Node Feature Discovery, or without them by the one line of text in nodeInfo.osImage. */
#include "operator/facts/internal.h"

#include "base/base.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* osImage begins with; ID of /etc/os-release. Longer names before their prefixes. */
static const struct {
    const char *prefix, *id;
} systems[] = {
    { "Red Hat Enterprise Linux CoreOS", "rhcos" },
    { "Red Hat Enterprise Linux", "rhel" },
    { "CentOS Stream CoreOS", "scos" },
    { "CentOS", "centos" },
    { "Rocky Linux", "rocky" },
    { "AlmaLinux", "almalinux" },
    { "Oracle Linux", "ol" },
    { "Fedora", "fedora" },
    { "Ubuntu", "ubuntu" },
    { "Debian GNU/Linux", "debian" },
    { "SUSE Linux Enterprise", "sles" },
    { "openSUSE Leap", "opensuse-leap" },
    { "Amazon Linux", "amzn" },
    { "Flatcar Container Linux", "flatcar" },
    { "Container-Optimized OS", "cos" },
    { "Bottlerocket OS", "bottlerocket" },
    { "Talos", "talos" },
    { "Common Base Linux Mariner", "mariner" },
    { "Azure Linux", "azurelinux" },
};

void sw_os_done(struct sw_os *os)
{
    free(os->major);
    free(os->major_minor);
    free(os->decimal);
    free(os->build);
    *os = (struct sw_os){ 0 };
}

/* The id in lower case letters where nothing in the table fits: "Some Linux 3" -> "some". */
static char *guess_id(const char *image)
{
    for (size_t i = 0; i < SW_COUNT(systems); i++)
        if (sw_starts_with(image, systems[i].prefix))
            return sw_strdup(systems[i].id);
    size_t len = 0;
    while (isalnum((unsigned char)image[len]))
        len++;
    char *id = sw_strndup(image, len);
    for (char *c = id; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return id;
}

/* The first word that begins with a digit, or with v and a digit: "Ubuntu 22.04.3 LTS" ->
 * "22.04.3". SUSE writes "15 SP4" for 15.4. */
static char *guess_version(const char *image)
{
    const char *at = image;
    while (*at && !isdigit((unsigned char)*at))
        at++;
    size_t len = strcspn(at, " \t()");
    if (sw_starts_with(at + len, " SP") && isdigit((unsigned char)at[len + 3]))
        return sw_printf("%.*s.%c", (int)len, at, at[len + 3]);
    return sw_strndup(at, len);
}

/* RHCOS counts its builds, "410.84.202201251210-0": the second part is RHEL's version without its
 * dot. From OpenShift 4.19 on the build is RHEL's version itself, "9.6.20250523-0". */
static char *rhel_of_build(const char *build)
{
    const char *dot = strchr(build, '.');
    if (!dot)
        return sw_strdup("");
    size_t len = strcspn(dot + 1, ".-");
    if (dot - build < 3) /* 9.6.2025... */
        return sw_strndup(build, (size_t)(dot + 1 - build) + len);
    if (len < 2)
        return sw_strndup(dot + 1, len);
    return sw_printf("%c.%.*s", dot[1], (int)len - 1, dot + 2);
}

char *facts_major_minor(const char *version)
{
    size_t len = strcspn(version, ".");
    if (version[len])
        len += 1 + strcspn(version + len + 1, ".-");
    return sw_strndup(version, len);
}

static void compose(struct sw_os *os, const char *id, char *decimal, char *build)
{
    os->decimal = decimal;
    os->build = build;
    os->major_minor = sw_printf("%s%s", id, decimal);
    os->major = sw_printf("%s%.*s", id, (int)strcspn(decimal, "."), decimal);
}

void os_detect(const struct os_release *release, const char *os_image, struct sw_os *out)
{
    SW_AUTO_CHARS *id = release->id ? sw_strdup(release->id) : guess_id(os_image);
    SW_AUTO_CHARS *guessed = guess_version(os_image);
    if (sw_streq(id, "rhcos")) {
        const char *build = release->ostree_version ? release->ostree_version : guessed,
                   *rhel = release->rhel_version;
        compose(out, "rhel", rhel ? facts_major_minor(rhel) : rhel_of_build(build),
                sw_strdup(build));
    } else {
        compose(out, id, facts_major_minor(release->version_id ? release->version_id : guessed),
                sw_strdup(""));
    }
}

char *sw_kernel_label(const char *kernel)
{
    static const char ends[] = "-_.";
    SW_AUTO_CHARS *text = sw_strdup(kernel);
    for (char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(ends, *c))
            *c = '_';
    size_t from = strspn(text, ends), len = strlen(text);
    while (len > from && strchr(ends, text[len - 1]))
        len--;
    return sw_strndup(text + from, len - from);
}

char *sw_kernel_patch_version(const char *kernel)
{
    size_t len = strcspn(kernel, "-");
    if (kernel[len])
        len += 1 + strcspn(kernel + len + 1, ".-");
    return sw_strndup(kernel, len);
}
