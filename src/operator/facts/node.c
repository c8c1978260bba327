/* Reading a Node: its labels are one block, its taints another. */
#include "operator/facts/internal.h"

#include "base/base.h"
#include "data/json/path.h"
#include "data/text/quantity.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

const char *const sw_node_fields[] = {
    "metadata.labels",
    "metadata.annotations.slipway\\.dev/taints",
    "spec.podCIDR",
    "spec.podCIDRs",
    "spec.taints",
    "spec.unschedulable",
    "status.allocatable",
    "status.conditions[*].type",
    "status.conditions[*].status",
    "status.nodeInfo.kernelVersion",
    "status.nodeInfo.osImage",
    "status.nodeInfo.architecture",
    "status.nodeInfo.bootID",
    NULL,
};

static const char *text(struct json_object *object, const char *key)
{
    struct json_object *value = sw_json_get(object, key);
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys and values, one after the other, in one block behind the array of pointers. */
static void parse_labels(struct sw_node *node, struct json_object *labels)
{
    size_t n = 0, len = 0;
    if (!json_object_is_type(labels, json_type_object))
        return;
    json_object_object_foreach(labels, k, v)
    {
        n++;
        len += strlen(k) + 1 + strlen(json_object_get_string(v) ? json_object_get_string(v) : "") +
               1;
    }
    node->labels = sw_alloc(n * 2 * sizeof *node->labels + len);
    char *at = (char *)(node->labels + 2 * n);
    const char **pair = node->labels;
    json_object_object_foreach(labels, key, value)
    {
        const char *s = json_object_get_string(value);
        pair[0] = at;
        at = stpcpy(at, key) + 1;
        pair[1] = at;
        at = stpcpy(at, s ? s : "") + 1;
        pair += 2;
    }
    node->n_labels = n;
    qsort(node->labels, n, 2 * sizeof *node->labels, by_key);
}

static void parse_taints(struct sw_node *node, struct json_object *taints)
{
    size_t n = json_object_is_type(taints, json_type_array) ? sw_json_len(taints) : 0, len = 0;
    static const char *const fields[] = { "key", "value", "effect", "timeAdded" };
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < SW_COUNT(fields); f++)
            len += strlen(text(sw_json_at(taints, i), fields[f])) + 1;
    node->taints = sw_alloc(n * sizeof *node->taints + len);
    node->n_taints = n;
    char *at = (char *)(node->taints + n);
    for (size_t i = 0; i < n; i++) {
        const char *copy[SW_COUNT(fields)];
        for (size_t f = 0; f < SW_COUNT(fields); f++) {
            copy[f] = at;
            at = stpcpy(at, text(sw_json_at(taints, i), fields[f])) + 1;
        }
        node->taints[i] = (struct sw_taint){ copy[0], copy[1], copy[2], copy[3] };
    }
}

/* Extended resources have names with a domain; the others are those of every node. */
static char *resources_of(struct json_object *allocatable)
{
    const char **names = sw_zalloc(sw_json_len(allocatable) + 1, sizeof *names);
    size_t n = 0;
    if (json_object_is_type(allocatable, json_type_object)) {
        json_object_object_foreach(allocatable, name, amount)
        {
            struct sw_quantity q;
            SW_ERR(err); /* what is no quantity is none */
            if (strchr(name, '/') && sw_quantity_from_json(amount, &q, &err) == 0 &&
                sw_quantity_milli(&q) > 0)
                names[n++] = name;
            sw_err_done(&err);
        }
    }
    if (n > 1)
        qsort(names, n, sizeof *names, by_key);
    char *out = sw_strdup("");
    for (size_t i = 0; i < n; i++)
        sw_append(&out, "%s%s", i ? " " : "", names[i]);
    free(names);
    return out;
}

#define RELEASE "feature.node.kubernetes.io/system-os_release."

void sw_os_detect(const struct sw_node *node, struct sw_os *out)
{
    struct os_release release = { .id = sw_node_label(node, RELEASE "ID"),
                                  .version_id = sw_node_label(node, RELEASE "VERSION_ID"),
                                  .ostree_version = sw_node_label(node, RELEASE "OSTREE_VERSION"),
                                  .rhel_version = sw_node_label(node, RELEASE "RHEL_VERSION") };
    os_detect(&release, node->os_image, out);
}

struct sw_node *sw_node_parse(struct json_object *object)
{
    struct json_object *meta = sw_json_get(object, "metadata"), *spec = sw_json_get(object, "spec"),
                       *status = sw_json_get(object, "status"),
                       *info = sw_json_get(status, "nodeInfo");
    if (!*text(meta, "name"))
        return NULL;
    struct sw_node *node = sw_zalloc(1, sizeof *node);
    node->name = sw_strdup(text(meta, "name"));
    parse_labels(node, sw_json_get(meta, "labels"));
    parse_taints(node, sw_json_get(spec, "taints"));
    node->taint_record = sw_strdup(text(sw_json_get(meta, "annotations"), SW_TAINTS_ANNOTATION));
    const char *kernel = text(info, "kernelVersion"), *label = sw_node_label(node, SW_KERNEL_LABEL);
    node->kernel = sw_strdup(*kernel || !label ? kernel : label);
    node->arch = sw_strdup(text(info, "architecture"));
    node->os_image = sw_strdup(text(info, "osImage"));
    node->resources = resources_of(sw_json_get(status, "allocatable"));
    node->boot_id = sw_strdup(text(info, "bootID"));
    node->unschedulable = json_object_get_boolean(sw_json_get(spec, "unschedulable"));
    node->ready = sw_streq(
        text(sw_json_find_by(sw_json_get(status, "conditions"), "type", "Ready"), "status"),
        "True");
    sw_os_detect(node, &node->os);
    return node;
}

void sw_node_free(struct sw_node *node)
{
    if (!node)
        return;
    free(node->name);
    free(node->kernel);
    free(node->arch);
    free(node->os_image);
    free(node->boot_id);
    free(node->taint_record);
    free(node->resources);
    free(node->labels);
    free(node->taints);
    sw_os_done(&node->os);
    free(node);
}

const char *sw_node_label(const struct sw_node *node, const char *key)
{
    const char **found = node->n_labels ? bsearch(&key, node->labels, node->n_labels,
                                                  2 * sizeof *node->labels, by_key)
                                        : NULL;
    return found ? found[1] : NULL;
}

/* ---- whose the kernel's label is ----------------------------------------------------------------
 */

const char *const sw_node_owner_fields[] = { "metadata.labels", "metadata.managedFields", NULL };

bool sw_node_has_own_kernel(struct json_object *node)
{
    static const char prefix[] = "feature.node.kubernetes.io/";
    struct json_object *labels = sw_json_find(node, "metadata", "labels", NULL),
                       *managers = sw_json_find(node, "metadata", "managedFields", NULL);
    size_t n_features = 0;
    bool own = false;
    if (!labels)
        return false;
    json_object_object_foreach(labels, key, value)
    {
        (void)value;
        n_features += sw_starts_with(key, prefix);
    }
    for (size_t i = 0; i < sw_json_len(managers); i++) {
        struct json_object *entry = sw_json_at(managers, i);
        own |= sw_streq(sw_json_str(entry, "", "manager", NULL), "slipway") &&
               sw_json_find(entry, "fieldsV1", "f:metadata", "f:labels", "f:" SW_KERNEL_LABEL,
                            NULL);
    }
    return own && n_features == 1;
}
