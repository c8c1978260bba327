#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/apply/apply.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"

/* Kinds whose status a client may give when it creates them. */
static bool keeps_status(const struct sw_write *w)
{
    return sw_write_is(w, "", "Node") || !w->kind->has_status;
}

static void keep_old(struct sw_write *w, const char *key)
{
    json_object *was = sw_json_get(w->old, key);
    if (was)
        json_object_object_add(w->doc, key, json_object_get(was));
    else
        json_object_object_del(w->doc, key);
}

/* How often the template has changed is in an annotation: nobody else's to write. Source: the
 * DaemonSet strategy of kube-apiserver, and its conversion to apps/v1. */
#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void count_template(struct sw_write *w)
{
    const char *was = w->old ? sw_obj_annotation(w->old, TEMPLATE_GENERATION) : NULL;
    int64_t n = was ? strtoll(was, NULL, 10) : 1;
    if (w->old && !sw_json_equal(sw_json_find(w->old, "spec", "template", NULL),
                                 sw_json_find(w->doc, "spec", "template", NULL)))
        n++;
    SW_AUTO_CHARS *text = sw_printf("%lld", (long long)n);
    sw_json_set_str(w->doc, text, "metadata", "annotations", TEMPLATE_GENERATION, NULL);
}

int sw_strategy_create(struct sw_write *w)
{
    if (sw_write_is(w, "apps", "DaemonSet"))
        count_template(w);
    if (!keeps_status(w))
        json_object_object_del(w->doc, "status");
    return 0;
}

static bool is_frame(const char *key)
{
    return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
           strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0;
}

/* Has anything changed that the generation counts: all but metadata and status? */
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

static void bump(struct sw_write *w)
{
    int64_t generation = sw_json_int(w->doc, 0, "metadata", "generation", NULL);
    sw_json_set(w->doc, json_object_new_int64(generation + 1), "metadata", "generation", NULL);
}

/* The old object but for the value at a path of one or two keys. */
static void only(struct sw_write *w, bool metadata, const char *first, const char *second)
{
    json_object *kept = sw_meta_copy(w->old);
    json_object *managed = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *value = second ? sw_json_find(w->doc, first, second, NULL)
                                : sw_json_get(w->doc, first);
    if (value)
        sw_json_set(kept, json_object_get(value), first, second, NULL);
    else
        (void)sw_json_del(kept, first, second, NULL);
    if (metadata)
        json_object_object_add(kept, "metadata", json_object_get(sw_json_get(w->doc, "metadata")));
    else if (managed)
        sw_json_set(kept, json_object_get(managed), "metadata", "managedFields", NULL);
    json_object_put(w->doc);
    w->doc = kept;
}

static const struct {
    const char *name;      /* subresource */
    const char *path[2];   /* what may change */
    bool metadata_builtin; /* labels and annotations too, for built-in kinds */
} subresources[] = {
    { "status", { "status", NULL }, true },
    { "approval", { "status", NULL }, false },
    { "ephemeralcontainers", { "spec", "ephemeralContainers" }, false },
    { "finalize", { "spec", "finalizers" }, true },
};

static void apply_subresource(struct sw_write *w)
{
    for (size_t i = 0; i < SW_COUNT(subresources); i++)
        if (sw_streq(w->subresource, subresources[i].name))
            only(w, subresources[i].metadata_builtin && w->kind->builtin, subresources[i].path[0],
                 subresources[i].path[1]);
}

int sw_strategy_update(struct sw_write *w)
{
    bool scale = sw_streq(w->subresource, "scale"); /* its caller changes nothing else */
    if (w->subresource && !scale && strcmp(w->subresource, "binding") != 0)
        apply_subresource(w);
    else if (w->kind->has_status && (!w->subresource || scale))
        keep_old(w, "status");
    if (sw_write_is(w, "", "Namespace") && !sw_streq(w->subresource, "finalize"))
        keep_old(w, "spec");
    return 0;
}

/* Once all stages that change the document have run. */
void sw_strategy_generation(struct sw_write *w)
{
    if (w->op == SW_OP_UPDATE && sw_write_is(w, "apps", "DaemonSet"))
        count_template(w);
    bool counts = w->op == SW_OP_UPDATE && sw_kind_has_generation(w->kind);
    if (!counts || sw_streq(w->subresource, "status"))
        return;
    bool no_status = !w->kind->has_status && w->kind->crd &&
                     !sw_json_equal(sw_json_get(w->doc, "status"), sw_json_get(w->old, "status"));
    if (no_status || spec_changed(w->doc, w->old))
        bump(w);
}
