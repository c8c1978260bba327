/* Which driver toolkit is for which kernel. OpenShift tags it with the build of RHCOS that it
 * belongs to; where no tag is that of the node, the files in the images say it. */
#include "operator/facts/internal.h"

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOOLKIT_BYTES = 64 << 10 };

int sw_toolkit_parse(const char *text, size_t len_bytes, struct json_object **doc,
                     struct sw_toolkit *toolkit, struct sw_err *err)
{
    SW_AUTO_JSON *read = NULL;
    struct sw_json_opts opts = { .file = SW_TOOLKIT_FILE, .max_bytes = MAX_TOOLKIT_BYTES };
    int rc = sw_json_parse(text, len_bytes, &opts, &read, err);
    if (rc < 0)
        return rc;
    struct sw_toolkit t = { .kernel = sw_json_str(read, "", "KERNEL_VERSION", NULL),
                            .rt_kernel = sw_json_str(read, "", "RT_KERNEL_VERSION", NULL),
                            .os_version = sw_json_str(read, "", "RHEL_VERSION", NULL) };
    if (!*t.kernel && !*t.rt_kernel)
        return sw_err_set(err, SW_INVALID, "%s names no KERNEL_VERSION", SW_TOOLKIT_FILE);
    *toolkit = t;
    *doc = SW_TAKE(read);
    return 0;
}

/* "5.14.0-70.el9" of a toolkit is "5.14.0-70.el9.x86_64" of a node. */
static bool is_same_kernel(const char *said, const char *kernel)
{
    static const char *const machines[] = { "x86_64", "aarch64", "ppc64le", "s390x" };
    size_t len = strlen(said);
    if (!len || !sw_starts_with(kernel, said))
        return false;
    if (!kernel[len])
        return true;
    for (size_t i = 0; i < SW_COUNT(machines); i++)
        if (kernel[len] == '.' && sw_starts_with(kernel + len + 1, machines[i]))
            return true;
    return false;
}

bool sw_toolkit_fits(const struct sw_toolkit *toolkit, const char *kernel)
{
    return is_same_kernel(toolkit->kernel, kernel) || is_same_kernel(toolkit->rt_kernel, kernel);
}

static bool info_fits(struct json_object *info, const char *kernel)
{
    struct sw_toolkit t = { .kernel = sw_json_str(info, "", "kernel", NULL),
                            .rt_kernel = sw_json_str(info, "", "rtKernel", NULL) };
    return sw_toolkit_fits(&t, kernel);
}

static struct json_object *info_of(const struct sw_facts *facts, struct json_object *image)
{
    return sw_json_get(facts->cluster.toolkits, json_object_get_string(image));
}

const char *toolkit_find(const struct sw_facts *facts, const struct sw_group *g,
                         struct json_object **info)
{
    struct json_object *tags = facts->cluster.toolkit_tags, *image = NULL;
    *info = NULL;
    if (!g || !tags)
        return "";
    if (*g->os.build)
        image = sw_json_get(tags, g->os.build);
    if (!image) {
        json_object_object_foreach(tags, tag, candidate)
        {
            (void)tag;
            if (!image && info_fits(info_of(facts, candidate), g->kernel))
                image = candidate;
        }
    }
    if (!image) { /* the newest, unless it is known to be for another kernel */
        struct json_object *latest = sw_json_get(tags, "latest");
        image = latest && !sw_json_get(info_of(facts, latest), "kernel") ? latest : NULL;
    }
    *info = image ? info_of(facts, image) : NULL;
    return image ? json_object_get_string(image) : "";
}

const char *sw_facts_unknown_toolkit(const struct sw_facts *facts, const struct sw_groups *groups)
{
    bool needed = false;
    for (size_t i = 0; i < groups->n; i++) {
        const struct sw_group *g = groups->items[i];
        struct json_object *info;
        const char *image = toolkit_find(facts, g, &info);
        bool tagged = *g->os.build && sw_json_get(facts->cluster.toolkit_tags, g->os.build);
        needed = needed || !(tagged || (*image && info_fits(info, g->kernel)));
    }
    if (!needed || !facts->cluster.toolkit_tags)
        return NULL;
    json_object_object_foreach(facts->cluster.toolkit_tags, tag, image)
    {
        (void)tag;
        if (!info_of(facts, image))
            return json_object_get_string(image);
    }
    return NULL;
}

bool sw_facts_put_toolkit(struct sw_facts *facts, const char *image,
                          const struct sw_toolkit *toolkit, const char *why)
{
    struct json_object *info = json_object_new_object(), *old;
    if (!facts->cluster.toolkits)
        facts->cluster.toolkits = json_object_new_object();
    if (toolkit) {
        sw_json_set_str(info, toolkit->kernel, "kernel", NULL);
        sw_json_set_str(info, toolkit->rt_kernel, "rtKernel", NULL);
        sw_json_set_str(info, toolkit->os_version, "osVersion", NULL);
    } else {
        sw_json_set_str(info, why, "why", NULL);
    }
    old = sw_json_get(facts->cluster.toolkits, image);
    bool changed = !old || !sw_json_equal(old, info);
    (void)json_object_object_add(facts->cluster.toolkits, image, info);
    return changed;
}

void sw_facts_forget_toolkits(struct sw_facts *facts)
{
    if (!facts->cluster.toolkits)
        return;
    SW_AUTO_JSON *kept = json_object_new_object();
    json_object_object_foreach(facts->cluster.toolkits, image,
                               info) if (sw_json_get(info, "kernel"))(void)
        json_object_object_add(kept, image, json_object_get(info));
    json_object_put(facts->cluster.toolkits);
    facts->cluster.toolkits = SW_TAKE(kept);
}

char *sw_facts_lacks_toolkit(const struct sw_facts *facts, const struct sw_group *group)
{
    struct json_object *info;
    struct json_object *tags = facts->cluster.toolkit_tags;
    if (!tags || !json_object_object_length(tags) || *toolkit_find(facts, group, &info))
        return NULL;
    char *text = sw_printf("no driver toolkit is for kernel %s; ImageStream "
                           "openshift/driver-toolkit has",
                           group->kernel);
    int n = 0;
    json_object_object_foreach(tags, tag, image)
    {
        struct json_object *i = info_of(facts, image);
        const char *kernel = sw_json_str(i, NULL, "kernel", NULL);
        const char *why = sw_json_str(i, "not looked into", "why", NULL);
        char *longer = sw_printf("%s%s tag %s (%s%s)", text, n++ ? "," : "", tag,
                                 kernel ? "kernel " : "", kernel ? kernel : why);
        free(text);
        text = longer;
    }
    return text;
}
