/* Groups of nodes that one set of values fits, and the labels by which a DaemonSet finds them. */
#include "facts/set.h"

#include "base/base.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define OS_VERSION_LABEL "feature.node.kubernetes.io/system-os_release.VERSION_ID"

static int compare(const struct sw_node *a, const struct sw_node *b)
{
    int order = strcmp(a->kernel, b->kernel);
    if (!order)
        order = strcmp(a->os.major_minor, b->os.major_minor);
    return order ? order : strcmp(a->arch, b->arch);
}

static int by_group_then_name(const void *a, const void *b)
{
    const struct sw_node *x = *(struct sw_node *const *)a, *y = *(struct sw_node *const *)b;
    int order = compare(x, y);
    return order ? order : strcmp(x->name, y->name);
}

/* Kernels of Red Hat end in the machine's name, those of Debian in Go's name for it. */
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

static void add_label(struct json_object *selector, const char *key, const char *value)
{
    (void)json_object_object_add(selector, key, json_object_new_string(value));
}

/* The kernel alone finds the group, unless another group runs the same one. */
static void select_group(struct sw_groups *groups, struct sw_group *g)
{
    g->selector = json_object_new_object();
    add_label(g->selector, SW_KERNEL_LABEL, g->kernel);
    if (!names_arch(g->kernel, g->arch))
        add_label(g->selector, "kubernetes.io/arch", g->arch);
    const char *version = sw_node_label(g->nodes[0], OS_VERSION_LABEL);
    for (size_t i = 0; i < groups->n; i++) {
        const struct sw_group *o = &groups->items[i];
        if (version && sw_streq(o->kernel, g->kernel) &&
            !sw_streq(o->os->major_minor, g->os->major_minor))
            add_label(g->selector, OS_VERSION_LABEL, version);
    }
}

/* @nodes is sorted by group; the array becomes the first group's. */
static void cut(const struct sw_node **nodes, size_t n, struct sw_groups *out)
{
    size_t cap = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && compare(nodes[i], nodes[end]) == 0)
            end++;
        SW_GROW(out->items, out->n, cap);
        out->items[out->n++] = (struct sw_group){
            .kernel = nodes[i]->kernel,
            .arch = nodes[i]->arch,
            .os = &nodes[i]->os,
            .nodes = nodes + i,
            .n_nodes = end - i,
            .suffix = sw_group_suffix(nodes[i]->os.decimal, nodes[i]->kernel, nodes[i]->arch),
        };
        i = end;
    }
    for (size_t i = 0; i < out->n; i++)
        select_group(out, &out->items[i]);
}

void sw_facts_groups(const struct sw_facts *facts, struct json_object *selector,
                     struct json_object *tolerations, struct sw_groups *out)
{
    *out = (struct sw_groups){ 0 };
    const struct sw_node **nodes = sw_alloc(facts->n * sizeof(struct sw_node *));
    size_t n = 0;
    for (size_t i = 0; i < facts->n; i++) {
        const struct sw_node *node = facts->nodes[i];
        if (*node->kernel && sw_node_matches(node, selector) &&
            !sw_node_is_tainted(node, tolerations))
            nodes[n++] = node;
    }
    qsort(nodes, n, sizeof(struct sw_node *), by_group_then_name);
    cut(nodes, n, out);
    if (!out->n)
        free(nodes);
}

void sw_groups_done(struct sw_groups *groups)
{
    if (groups->n)
        free(groups->items[0].nodes); /* one array, cut into pieces */
    for (size_t i = 0; i < groups->n; i++) {
        free(groups->items[i].suffix);
        json_object_put(groups->items[i].selector);
    }
    free(groups->items);
    *groups = (struct sw_groups){ 0 };
}
