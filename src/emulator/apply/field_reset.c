#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/apply/apply.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"

static void keep_old(struct sw_write *w, const char *key)
{
    json_object *was = sw_json_get(w->old, key);
    if (was)
        json_object_object_add(w->doc, key, json_object_get(was));
    else
        json_object_object_del(w->doc, key);
}

/* The annotation that counts the changes of a DaemonSet's template; clients cannot set it. Source:
 * the DaemonSet strategy of kube-apiserver, and its conversion to apps/v1. */
#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void set_template_generation(struct sw_write *w)
{
    const char *was = w->old ? sw_obj_annotation(w->old, TEMPLATE_GENERATION) : NULL;
    int64_t n = was ? strtoll(was, NULL, 10) : 1;
    if (w->old && !sw_json_equal(sw_json_find(w->old, "spec", "template", NULL),
                                 sw_json_find(w->doc, "spec", "template", NULL)))
        n++;
    SW_AUTO_CHARS *text = sw_printf("%lld", (long long)n);
    sw_json_set_str(w->doc, text, "metadata", "annotations", TEMPLATE_GENERATION, NULL);
}

void sw_strategy_create(struct sw_write *w)
{
    if (sw_write_is(w, "apps", "DaemonSet"))
        set_template_generation(w);
    if (w->kind->has_status && !sw_write_is(w, "", "Node"))
        json_object_object_del(w->doc, "status");
}

static bool is_frame(const char *key)
{
    return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
           strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0;
}

/* Whether anything but metadata and status has changed. */
static bool spec_changed(json_object *a, json_object *b)
{
    json_object_object_foreach(a, key, value)
    {
        if (!is_frame(key) && !sw_json_equal(value, sw_json_get(b, key)))
            return true;
    }
    json_object_object_foreach(b, other, was)
    {
        if (!is_frame(other) && was && !sw_json_get(a, other))
            return true;
    }
    return false;
}

static const struct subresource {
    const char *name;
    const char *first, *second; /* the path that it may change; the second key may be NULL */
    bool metadata_builtin;      /* labels and annotations too, for built-in kinds */
} subresources[] = {
    { "status", "status", NULL, true },
    { "approval", "status", NULL, false },
    { "ephemeralcontainers", "spec", "ephemeralContainers", false },
    { "finalize", "spec", "finalizers", true },
};

/* Replace w->doc by the old object with the changes that the subresource may make. */
static void update_subresource(struct sw_write *w, const struct subresource *row)
{
    const char *first = row->first, *second = row->second;
    json_object *kept = sw_meta_copy(w->old);
    json_object *managed = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *value = second ? sw_json_find(w->doc, first, second, NULL)
                                : sw_json_get(w->doc, first);
    if (value)
        sw_json_set(kept, json_object_get(value), first, second, NULL);
    else
        (void)sw_json_del(kept, first, second, NULL);
    if (row->metadata_builtin && w->kind->builtin)
        json_object_object_add(kept, "metadata", json_object_get(sw_json_get(w->doc, "metadata")));
    else if (managed)
        sw_json_set(kept, json_object_get(managed), "metadata", "managedFields", NULL);
    json_object_put(w->doc);
    w->doc = kept;
}

void sw_strategy_update(struct sw_write *w)
{
    for (size_t i = 0; w->subresource && i < SW_COUNT(subresources); i++)
        if (strcmp(w->subresource, subresources[i].name) == 0)
            update_subresource(w, &subresources[i]);
    if (w->kind->has_status && (!w->subresource || strcmp(w->subresource, "scale") == 0))
        keep_old(w, "status");
    if (sw_write_is(w, "", "Namespace") && !sw_streq(w->subresource, "finalize"))
        keep_old(w, "spec");
}

void sw_strategy_generation(struct sw_write *w)
{
    if (w->op != SW_OP_UPDATE)
        return;
    if (sw_write_is(w, "apps", "DaemonSet"))
        set_template_generation(w);
    if (!sw_kind_has_generation(w->kind) || sw_streq(w->subresource, "status"))
        return;
    bool no_status = !w->kind->has_status && w->kind->crd &&
                     !sw_json_equal(sw_json_get(w->doc, "status"), sw_json_get(w->old, "status"));
    if (no_status || spec_changed(w->doc, w->old)) {
        int64_t generation = sw_json_int(w->doc, 0, "metadata", "generation", NULL);
        sw_json_set(w->doc, json_object_new_int64(generation + 1), "metadata", "generation", NULL);
    }
}
