/* Extended resources that a DeviceClass stands for: the scheduler makes one claim of all that a
 * node has no device plugin for. Source: KEP-5004. */
#include "emulator/controllers/devices_internal.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/store/feature_gates.h"
#include "emulator/store/objects.h"
#include "kube/allocator/allocator.h"

#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

/* ---- which class --------------------------------------------------------------------------------
 */

/* Of two classes with one name of a resource the newer one counts, else the first by name. */
static bool is_before(json_object *a, json_object *b)
{
    const int newer = strcmp(sw_json_str(a, "", "metadata", "creationTimestamp", NULL),
                             sw_json_str(b, "", "metadata", "creationTimestamp", NULL));
    return newer > 0 || (newer == 0 && strcmp(sw_obj_name(a), sw_obj_name(b)) < 0);
}

json_object *sw_devices_class_of(struct sw_ctl *ctl, const char *resource)
{
    json_object *best = NULL;
    if (!ctl->kinds.device_class || !strchr(resource, '/') ||
        !sw_store_gate(ctl->store, SW_EMU_DRA_EXTENDED_RESOURCE))
        return NULL;
    if (sw_starts_with(resource, CLASS_PREFIX))
        return sw_store_get(ctl->store, ctl->kinds.device_class, NULL,
                            resource + strlen(CLASS_PREFIX));
    SW_STORE_LIST(classes);
    sw_store_list(ctl->store, ctl->kinds.device_class, NULL, &classes);
    for (size_t i = 0; i < classes.n; i++) {
        json_object *c = classes.items[i];
        if (sw_streq(sw_json_str(c, "", "spec", "extendedResourceName", NULL), resource) &&
            (!best || is_before(c, best)))
            best = c;
    }
    return best;
}

static int by_name(const void *a, const void *b)
{
    const struct sw_devices_resource *x = a, *y = b;
    return strcmp(x->name, y->name);
}

struct sw_devices_resource *sw_devices_resources(struct sw_ctl *ctl, const struct sw_pod *pod,
                                                 size_t *n)
{
    struct sw_devices_resource *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < pod->requests.n; i++) {
        const struct sw_amount *want = &pod->requests.items[i];
        const char *name = sw_ctl_resource_name(ctl, want->resource);
        json_object *class = want->milli > 0 ? sw_devices_class_of(ctl, name) : NULL;
        if (!class)
            continue;
        SW_GROW(list, *n, cap);
        list[(*n)++] =
            (struct sw_devices_resource){ .name = name, .number = want->resource, .class = class };
    }
    if (*n)
        qsort(list, *n, sizeof *list, by_name);
    return list;
}

/* ---- requests -----------------------------------------------------------------------------------
 */

json_object *sw_devices_extended(const struct sw_pod *pod,
                                 const struct sw_devices_resource *resources, size_t n,
                                 const struct sw_node *node)
{
    struct sw_allocator_resource *lacking = sw_zalloc(n + 1, sizeof *lacking);
    json_object *mappings = NULL;
    size_t n_lacking = 0;
    for (size_t i = 0; i < n; i++)
        if (sw_amount_in(&node->allocatable, resources[i].number) == 0)
            lacking[n_lacking++] = (struct sw_allocator_resource){
                resources[i].name, sw_obj_name(resources[i].class)
            };
    json_object *claim = sw_allocator_extended(pod->doc, lacking, n_lacking, &mappings);
    free(lacking);
    return claim ? sw_doc_new("claim", claim, "mappings", mappings, NULL) : NULL;
}
