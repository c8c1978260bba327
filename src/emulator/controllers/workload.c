#include "emulator/controllers/workload.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

json_object *sw_workload_pod(json_object *owner, const char *name)
{
    json_object *template = sw_json_find(owner, "spec", "template", NULL);
    json_object *meta = json_object_new_object(), *from = sw_json_get(template, "metadata");
    static const char *const kept[] = { "labels", "annotations", "finalizers" };
    bool prefix = sw_ends_with(name, "-");
    sw_json_set_str(meta, name, prefix ? "generateName" : "name", NULL);
    sw_json_set_str(meta, sw_obj_namespace(owner), "namespace", NULL);
    for (size_t i = 0; i < SW_COUNT(kept); i++)
        if (sw_json_get(from, kept[i]))
            json_object_object_add(meta, kept[i], sw_json_copy(sw_json_get(from, kept[i])));
    json_object_object_add(meta, "ownerReferences", sw_doc_list(sw_doc_owner_ref(owner), NULL));
    return sw_doc_new("apiVersion", sw_str("v1"), "kind", sw_str("Pod"), "metadata", meta, "spec",
                      sw_json_copy(sw_json_get(template, "spec")), NULL);
}

json_object *sw_workload_labels(json_object *pod)
{
    return sw_json_need_map(pod, "metadata", "labels", NULL);
}

bool sw_pod_is_active(const struct sw_pod *pod)
{
    return !sw_pod_is_over(pod) && !sw_doc_is_deleted(pod->doc);
}

bool sw_pod_has_label(const struct sw_pod *pod, const char *key, const char *value)
{
    return sw_streq(sw_obj_label(pod->doc, key), value);
}

void sw_workload_count(struct sw_ctl *ctl, json_object *owner, const char *label, const char *value,
                       struct sw_workload_count *out)
{
    int64_t min_s = sw_json_int(owner, 0, "spec", "minReadySeconds", NULL);
    *out = (struct sw_workload_count){ .wait_ms = -1 };
    for (struct sw_pod *p = sw_ctl_owned_pods(ctl, sw_obj_uid(owner)); p; p = p->owner_next) {
        if (!sw_pod_is_active(p))
            continue;
        int64_t wait_ms;
        bool ready = sw_pod_is_ready(p), available = sw_pod_is_available(ctl, p, min_s, &wait_ms);
        bool updated = !label || sw_pod_has_label(p, label, value);
        out->active++;
        out->ready += ready;
        out->available += available;
        out->updated += updated;
        out->updated_ready += updated && ready;
        out->wait_ms = sw_ctl_sooner(out->wait_ms, wait_ms);
    }
}

/* The order in which pods are deleted. */
static int by_cost(const void *a, const void *b)
{
    const struct sw_pod *p = *(struct sw_pod *const *)a, *q = *(struct sw_pod *const *)b;
    if (!p->node != !q->node)
        return !p->node ? -1 : 1;
    if (sw_pod_is_ready(p) != sw_pod_is_ready(q))
        return sw_pod_is_ready(p) ? 1 : -1;
    int by_age = strcmp(sw_json_str(q->doc, "", "metadata", "creationTimestamp", NULL),
                        sw_json_str(p->doc, "", "metadata", "creationTimestamp", NULL));
    return by_age ? by_age : strcmp(sw_pod_name(p), sw_pod_name(q));
}

size_t sw_workload_pods(struct sw_ctl *ctl, json_object *owner, struct sw_pod ***out)
{
    struct sw_pod **list = NULL;
    size_t n = 0, cap = 0;
    for (struct sw_pod *p = sw_ctl_owned_pods(ctl, sw_obj_uid(owner)); p; p = p->owner_next) {
        if (!sw_pod_is_active(p))
            continue;
        SW_GROW(list, n, cap);
        list[n++] = p;
    }
    if (n > 1)
        qsort(list, n, sizeof *list, by_cost);
    *out = list;
    return n;
}

void sw_doom(struct sw_doomed *d, const struct sw_pod *pod)
{
    SW_GROW(d->docs, d->n, d->cap);
    d->docs[d->n++] = json_object_get(pod->doc);
}

void sw_doomed_delete(struct sw_ctl *ctl, struct sw_doomed *d, bool now)
{
    for (size_t i = 0; i < d->n; i++) {
        (void)sw_ctl_delete(ctl, ctl->kinds.pod, d->docs[i], now); /* gone already: fine */
        json_object_put(d->docs[i]);
    }
    free(d->docs);
    *d = (struct sw_doomed){ 0 };
}

/* ---- revisions ----------------------------------------------------------------------------------
 */

int sw_workload_revision(struct sw_ctl *ctl, json_object *owner, const char *hash)
{
    SW_AUTO_CHARS *name = sw_printf("%s-%s", sw_obj_name(owner), hash);
    if (sw_store_get(ctl->store, ctl->kinds.revision, sw_obj_namespace(owner), name))
        return 0;
    SW_STORE_LIST(list);
    int64_t last = 0;
    sw_store_list(ctl->store, ctl->kinds.revision, sw_obj_namespace(owner), &list);
    for (size_t i = 0; i < list.n; i++) {
        json_object *ref = sw_doc_controller(list.items[i]);
        int64_t n = sw_json_int(list.items[i], 0, "revision", NULL);
        if (sw_streq(sw_json_str(ref, "", "uid", NULL), sw_obj_uid(owner)) && n > last)
            last = n;
    }
    json_object *template = sw_json_find(owner, "spec", "template", NULL);
    json_object *labels = sw_json_copy(sw_json_find(template, "metadata", "labels", NULL));
    labels = labels ? labels : json_object_new_object();
    sw_json_set_str(labels, hash, "controller-revision-hash", NULL);
    json_object *copy = sw_json_copy(template);
    sw_json_set_str(copy, "replace", "$patch", NULL);
    json_object *doc = sw_doc_new(
        "apiVersion", sw_str("apps/v1"), "kind", sw_str("ControllerRevision"), "metadata",
        sw_doc_new("name", sw_str(name), "namespace", sw_str(sw_obj_namespace(owner)), "labels",
                   labels, "ownerReferences", sw_doc_list(sw_doc_owner_ref(owner), NULL), NULL),
        "data", sw_doc_new("spec", sw_doc_new("template", copy, NULL), NULL), "revision",
        sw_int(last + 1), NULL);
    return sw_ctl_create(ctl, ctl->kinds.revision, doc, owner);
}

/* ---- status -------------------------------------------------------------------------------------
 */

json_object *sw_workload_status(json_object *doc, ...)
{
    json_object *old = sw_json_get(doc, "status");
    json_object *status = old ? sw_json_copy(old) : json_object_new_object();
    va_list ap;
    va_start(ap, doc);
    for (const char *key; (key = va_arg(ap, const char *));)
        json_object_object_add(status, key, sw_int(va_arg(ap, int64_t)));
    va_end(ap);
    json_object_object_add(status, "observedGeneration",
                           sw_int(sw_json_int(doc, 0, "metadata", "generation", NULL)));
    return status;
}

void sw_status_omit_zeros(json_object *status, ...)
{
    va_list ap;
    va_start(ap, status);
    for (const char *key; (key = va_arg(ap, const char *));)
        if (!sw_json_int(status, 0, key, NULL))
            json_object_object_del(status, key);
    va_end(ap);
}
