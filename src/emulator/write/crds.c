#include "emulator/write/crds.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

struct sw_crds {
    struct sw_store *store;
    const struct sw_emu_kind *kind;
    struct sw_subscription *sub;
    struct sw_subscription *instances; /* for the last object of a deleted CRD */
};

static struct sw_emu_kind *kind_of(struct sw_crds *crds, json_object *crd)
{
    return sw_kinds_add(sw_store_kinds(crds->store), sw_json_str(crd, "", "spec", "group", NULL),
                        sw_json_str(crd, "", "spec", "names", "plural", NULL));
}

static char *join(json_object *list)
{
    char *text = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&text, "%s%s", i ? "," : "", json_object_get_string(sw_json_at(list, i)));
    return text;
}

static void set_versions(struct sw_emu_kind *kind, json_object *versions)
{
    const char *names[SW_KIND_VERSIONS] = { 0 };
    const char *storage = NULL;
    size_t n = 0;
    kind->has_status = kind->has_scale = false;
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        json_object *version = sw_json_at(versions, i);
        const char *name = sw_json_str(version, "", "name", NULL);
        if (sw_json_bool(version, false, "storage", NULL))
            storage = name;
        if (!sw_json_bool(version, false, "served", NULL))
            continue;
        kind->has_status = kind->has_status ||
                           sw_json_find(version, "subresources", "status", NULL);
        kind->has_scale = kind->has_scale || sw_json_find(version, "subresources", "scale", NULL);
        if (n < SW_KIND_VERSIONS - 1)
            names[n++] = name;
    }
    qsort(names, n, sizeof *names, sw_version_order);
    sw_kind_set_versions(kind, names, n, storage ? storage : "v1");
    kind->served = n > 0;
}

static void serve(struct sw_crds *crds, json_object *crd)
{
    struct sw_emu_kind *kind = kind_of(crds, crd);
    bool was_served = kind->served;
    json_object *names = sw_json_find(crd, "spec", "names", NULL);
    SW_AUTO_CHARS *shorts = join(sw_json_get(names, "shortNames"));
    SW_AUTO_CHARS *categories = join(sw_json_get(names, "categories"));
    sw_kind_rename(kind,
                   &(struct sw_kind_names){ .kind = sw_json_str(names, "", "kind", NULL),
                                            .list_kind = sw_json_str(names, "", "listKind", NULL),
                                            .singular = sw_json_str(names, "", "singular", NULL),
                                            .short_names = shorts,
                                            .categories = categories });
    set_versions(kind, sw_json_find(crd, "spec", "versions", NULL));
    if (!was_served && kind->served)
        kind->since = sw_store_version(crds->store);
    kind->namespaced = strcmp(sw_json_str(crd, "", "spec", "scope", NULL), "Namespaced") == 0;
    sw_crd_set(kind, crd);
}

/* ---- conditions ---------------------------------------------------------------------------------
 */

/* The name that another kind of the group has already, NULL: none. @reason: of the condition. */
static const char *taken_name(struct sw_crds *crds, json_object *crd, const char **reason)
{
    const struct sw_emu_kind *own = kind_of(crds, crd), *other;
    json_object *names = sw_json_find(crd, "spec", "names", NULL);
    const char *kind = sw_json_str(names, "", "kind", NULL);
    const char *singular = sw_json_str(names, "", "singular", NULL);
    for (size_t i = 0; (other = sw_kinds_nth(sw_store_kinds(crds->store), i)); i++) {
        if (other == own || !other->served || strcmp(other->group, own->group) != 0)
            continue;
        *reason = strcmp(other->kind, kind) == 0 ? "KindConflict" : "SingularConflict";
        if (strcmp(other->kind, kind) == 0)
            return kind;
        if (strcmp(other->singular, singular) == 0)
            return singular;
    }
    return NULL;
}

static int accept_names(json_object *crd, void *arg)
{
    struct sw_crds *crds = arg;
    const char *reason, *taken = taken_name(crds, crd, &reason);
    int64_t now_ms = sw_loop_now_ms(sw_store_loop(crds->store));
    json_object *conditions = sw_json_need_list(crd, "status", "conditions", NULL);
    if (taken) {
        SW_AUTO_CHARS *message = sw_printf("\"%s\" is already in use", taken);
        (void)sw_cond_set(conditions, "NamesAccepted", "False", reason, message, now_ms);
        (void)sw_cond_set(conditions, "Established", "False", "NotAccepted",
                          "not all names are accepted", now_ms);
        return 0;
    }
    (void)sw_cond_set(conditions, "NamesAccepted", "True", "NoConflicts", "no conflicts found",
                      now_ms);
    (void)sw_cond_set(conditions, "Established", "True", "InitialNamesAccepted",
                      "the initial names have been accepted", now_ms);
    sw_json_set(crd, json_object_get(sw_json_find(crd, "spec", "names", NULL)), "status",
                "acceptedNames", NULL);
    json_object *stored = sw_json_need_list(crd, "status", "storedVersions", NULL);
    json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        const char *name = sw_json_str(sw_json_at(versions, i), "", "name", NULL);
        if (sw_json_bool(sw_json_at(versions, i), false, "storage", NULL) &&
            !sw_json_has_text(stored, name))
            json_object_array_add(stored, sw_str(name));
    }
    return 0;
}

/* ---- deletion of a CRD --------------------------------------------------------------------------
 */

static void finish_if_empty(struct sw_crds *crds, json_object *crd)
{
    if (sw_store_count(crds->store, kind_of(crds, crd), NULL) == 0)
        sw_store_drop_finalizer(crds->store, crds->kind, crd, SW_CRD_FINALIZER);
}

static void on_crd(const struct sw_store_event *event, void *arg)
{
    struct sw_crds *crds = arg;
    static const struct sw_store_opts status = { .subresource = "status",
                                                 .manager = "kube-apiserver" };
    json_object *crd = sw_store_get(crds->store, crds->kind, NULL, sw_obj_name(event->object));
    if (event->type == SW_STORE_DELETED && !crd)
        kind_of(crds, event->object)->served = false;
    if (!crd)
        return;
    if (sw_doc_is_deleted(crd)) {
        const struct sw_emu_kind *kind = kind_of(crds, crd);
        SW_STORE_LIST(list);
        sw_store_list(crds->store, kind, NULL, &list);
        for (size_t i = 0; i < list.n; i++)
            if (!sw_doc_is_deleted(list.items[i]))
                (void)sw_store_delete(crds->store, kind, sw_obj_namespace(list.items[i]),
                                      sw_obj_name(list.items[i]), NULL, NULL, NULL);
        finish_if_empty(crds, crd);
        return;
    }
    const char *reason;
    if (!taken_name(crds, crd, &reason))
        serve(crds, crd); /* before the conditions say so: clients wait for them */
    (void)sw_store_modify(crds->store, crds->kind, NULL, sw_obj_name(crd), &status, accept_names,
                          crds, NULL);
}

/* The last object of a deleted CRD may be gone. */
static void on_instance(const struct sw_store_event *event, void *arg)
{
    struct sw_crds *crds = arg;
    if (event->type != SW_STORE_DELETED || !event->kind->crd)
        return;
    SW_AUTO_CHARS *name = sw_kind_resource(event->kind);
    json_object *crd = sw_store_get(crds->store, crds->kind, NULL, name);
    if (crd && sw_doc_is_deleted(crd))
        finish_if_empty(crds, crd);
}

struct sw_crds *sw_crds_new(struct sw_store *store)
{
    struct sw_crds *crds = sw_zalloc(1, sizeof *crds);
    crds->store = store;
    crds->kind = sw_store_kind(store, "apiextensions.k8s.io", "CustomResourceDefinition");
    crds->sub = sw_store_subscribe(store, crds->kind, on_crd, crds);
    crds->instances = sw_store_subscribe(store, NULL, on_instance, crds);
    return crds;
}

void sw_crds_free(struct sw_crds *crds)
{
    if (!crds)
        return;
    sw_store_unsubscribe(crds->sub);
    sw_store_unsubscribe(crds->instances);
    struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(crds->store), i)); i++)
        sw_crd_set(kind, NULL);
    free(crds);
}
