/* Groups of nodes that one set of values fits, and the labels by which a DaemonSet finds them. */
#include "operator/facts/internal.h"

#include "base/base.h"
#include "data/json/path.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define OS_VERSION_LABEL "feature.node.kubernetes.io/system-os_release.VERSION_ID"

/* Does the kernel's name say the architecture? Red Hat's end in the machine's name, Debian's in
 * Go's. */
static bool names_arch(const char *kernel, const char *arch)
{
    static const struct {
        const char *arch, *machine;
    } names[] = { { "amd64", "x86_64" }, { "arm64", "aarch64" }, { "ppc64le", "ppc64le" },
                  { "s390x", "s390x" },  { "arm64", "arm64" },   { "amd64", "amd64" } };
    for (size_t i = 0; i < SW_COUNT(names); i++)
        if (sw_streq(arch, names[i].arch) && strstr(kernel, names[i].machine))
            return true;
    return !*arch;
}

char *sw_group_suffix(const char *os_decimal, const char *kernel, const char *arch)
{
    bool add_arch = !names_arch(kernel, arch) && !sw_streq(arch, "amd64");
    SW_AUTO_CHARS *text = sw_printf("%s-%s%s%s", os_decimal, kernel, add_arch ? "-" : "",
                                    add_arch ? arch : "");
    size_t start = strlen(os_decimal) + 1;
    for (char *c = text + start; c < text + start + strlen(kernel); c++)
        if (*c == '_')
            *c = '-';
    return sw_printf("%016llx", (unsigned long long)sw_fnv64a(text, strlen(text)));
}

char *sw_group_id(const struct sw_node *node)
{
    const char *kernel = node->kernel, *system = node->os.major_minor, *arch = node->arch;
    if (!*kernel)
        return sw_strdup("");
    /* Red Hat's kernels are built for one release and say so (".el8_4", ".fc38") */
    bool say_system = *system && !strstr(kernel, ".el") && !strstr(kernel, ".fc");
    bool say_arch = !names_arch(kernel, arch) && !sw_streq(arch, "amd64");
    return sw_printf("%s%s%s%s%s", kernel, say_system ? " " : "", say_system ? system : "",
                     say_arch ? " " : "", say_arch ? arch : "");
}

void group_free(struct sw_group *g)
{
    free(g->id);
    free(g->kernel);
    free(g->arch);
    free(g->kernel_label);
    free(g->version_id);
    free(g->suffix);
    sw_os_done(&g->os);
    free(g);
}

/* By id: kernel first, then system, then architecture. */
static size_t place_of(const struct sw_facts *facts, const char *id)
{
    size_t at = 0;
    while (at < facts->n_groups && strcmp(facts->groups[at]->id, id) < 0)
        at++;
    return at;
}

struct sw_group *group_join(struct sw_facts *facts, const struct sw_node *node)
{
    SW_AUTO_CHARS *id = sw_group_id(node);
    if (!*id)
        return NULL;
    size_t at = place_of(facts, id);
    if (at == facts->n_groups || !sw_streq(facts->groups[at]->id, id)) {
        SW_GROW(facts->groups, facts->n_groups, facts->groups_cap);
        memmove(facts->groups + at + 1, facts->groups + at,
                (facts->n_groups - at) * sizeof *facts->groups);
        const char *version_id = sw_node_label(node, OS_VERSION_LABEL);
        struct sw_group *g = sw_zalloc(1, sizeof *g);
        *g = (struct sw_group){
            .id = SW_TAKE(id),
            .kernel = sw_strdup(node->kernel),
            .arch = sw_strdup(node->arch),
            .kernel_label = sw_kernel_label(node->kernel),
            .version_id = sw_strdup(version_id ? version_id : ""),
            .suffix = sw_group_suffix(node->os.decimal, node->kernel, node->arch),
        };
        sw_os_detect(node, &g->os);
        facts->groups[at] = g;
        facts->n_groups++;
    }
    facts->groups[at]->n_nodes++;
    return facts->groups[at];
}

bool group_leave(struct sw_facts *facts, struct sw_group *group)
{
    if (--group->n_nodes > 0)
        return false;
    size_t at = place_of(facts, group->id);
    memmove(facts->groups + at, facts->groups + at + 1,
            (facts->n_groups - at - 1) * sizeof *facts->groups);
    facts->n_groups--;
    group_free(group);
    return true;
}

const struct sw_group *sw_facts_find_group(const struct sw_facts *facts, const char *id)
{
    size_t at = place_of(facts, id);
    return at < facts->n_groups && sw_streq(facts->groups[at]->id, id) ? facts->groups[at] : NULL;
}

/* The kernel alone finds the group, unless another one runs the same. */
struct json_object *sw_facts_selector(const struct sw_facts *facts, const struct sw_group *group)
{
    struct json_object *selector = json_object_new_object();
    sw_json_set_str(selector, group->kernel_label, SW_KERNEL_LABEL, NULL);
    if (!names_arch(group->kernel, group->arch))
        sw_json_set_str(selector, group->arch, "kubernetes.io/arch", NULL);
    for (size_t i = 0; i < facts->n_groups; i++) {
        const struct sw_group *o = facts->groups[i];
        if (*group->version_id && sw_streq(o->kernel, group->kernel) &&
            !sw_streq(o->os.major_minor, group->os.major_minor))
            sw_json_set_str(selector, group->version_id, OS_VERSION_LABEL, NULL);
    }
    return selector;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct sw_group *const *)a)->id,
                  (*(const struct sw_group *const *)b)->id);
}

void sw_facts_groups(const struct sw_facts *facts, bool (*takes)(const char *node, void *arg),
                     void *arg, struct sw_groups *out)
{
    *out = (struct sw_groups){ .items = sw_alloc(facts->n_groups * sizeof *out->items) };
    for (size_t i = 0; i < facts->n && out->n < facts->n_groups; i++) {
        const struct member *m = &facts->nodes[i];
        size_t k = 0;
        while (k < out->n && out->items[k] != m->group)
            k++;
        if (k == out->n && (!takes || takes(m->name, arg)))
            out->items[out->n++] = m->group;
    }
    qsort(out->items, out->n, sizeof *out->items, by_id);
}

void sw_groups_done(struct sw_groups *groups)
{
    free(groups->items);
    *groups = (struct sw_groups){ 0 };
}
