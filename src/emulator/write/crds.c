#include "emulator/write/crds.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

struct sw_crds {
    struct sw_store *store;
    const struct sw_emu_kind *kind;
    struct sw_subscription *sub;
    struct sw_subscription *instances; /* to see the last of a dying CRD's go */
};

static struct sw_emu_kind *declared(struct sw_crds *crds, json_object *crd)
{
    return sw_kinds_add(sw_store_kinds(crds->store), sw_json_str(crd, "", "spec", "group", NULL),
                        sw_json_str(crd, "", "spec", "names", "plural", NULL));
}

static char *join(json_object *list)
{
    char *text = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *before = text;
        text = sw_printf("%s%s%s", before ? before : "", before ? "," : "",
                         json_object_get_string(sw_json_at(list, i)));
    }
    return text;
}

static void set_names(struct sw_emu_kind *kind, json_object *names)
{
    SW_AUTO_CHARS *shorts = join(sw_json_get(names, "shortNames"));
    SW_AUTO_CHARS *categories = join(sw_json_get(names, "categories"));
    sw_kind_rename(kind,
                   &(struct sw_kind_names){ .kind = sw_json_str(names, "", "kind", NULL),
                                            .list_kind = sw_json_str(names, "", "listKind", NULL),
                                            .singular = sw_json_str(names, "", "singular", NULL),
                                            .short_names = shorts,
                                            .categories = categories });
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
    struct sw_emu_kind *kind = declared(crds, crd);
    bool was_served = kind->served;
    set_names(kind, sw_json_find(crd, "spec", "names", NULL));
    set_versions(kind, sw_json_find(crd, "spec", "versions", NULL));
    if (!was_served && kind->served)
        kind->since = sw_store_version(crds->store);
    kind->namespaced = strcmp(sw_json_str(crd, "", "spec", "scope", NULL), "Namespaced") == 0;
    sw_crd_set(kind, crd);
}

static void withdraw(struct sw_crds *crds, json_object *crd)
{
    declared(crds, crd)->served = false;
}

/* ---- conditions ---------------------------------------------------------------------------------
 */

static void set_condition(struct sw_crds *crds, json_object *crd, const char *type,
                          const char *value, const char *reason, const char *message)
{
    char now[21];
    json_object *list = sw_json_need_list(crd, "status", "conditions", NULL);
    json_object *condition = sw_json_find_by(list, "type", type);
    if (!condition) {
        condition = json_object_new_object();
        json_object_array_add(list, condition);
    }
    if (strcmp(sw_json_str(condition, "", "status", NULL), value) != 0)
        sw_json_set_str(condition, sw_store_time(crds->store, now), "lastTransitionTime", NULL);
    sw_json_set_str(condition, message, "message", NULL);
    sw_json_set_str(condition, reason, "reason", NULL);
    sw_json_set_str(condition, value, "status", NULL);
    sw_json_set_str(condition, type, "type", NULL);
}

/* Another kind of the group that has one of the names already, NULL: none. *@reason says which. */
static const char *taken_name(struct sw_crds *crds, json_object *crd, const char **reason)
{
    const struct sw_emu_kind *own = declared(crds, crd), *other;
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
    json_object *names = sw_json_find(crd, "spec", "names", NULL);
    if (taken) {
        SW_AUTO_CHARS *message = sw_printf("\"%s\" is already in use", taken);
        set_condition(crds, crd, "NamesAccepted", "False", reason, message);
        set_condition(crds, crd, "Established", "False", "NotAccepted",
                      "not all names are accepted");
        return 0;
    }
    set_condition(crds, crd, "NamesAccepted", "True", "NoConflicts", "no conflicts found");
    set_condition(crds, crd, "Established", "True", "InitialNamesAccepted",
                  "the initial names have been accepted");
    sw_json_set(crd, json_object_get(names), "status", "acceptedNames", NULL);
    json_object *stored = sw_json_need_list(crd, "status", "storedVersions", NULL);
    json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        json_object *version = sw_json_at(versions, i), *name = sw_json_get(version, "name");
        bool there = false;
        for (size_t k = 0; k < sw_json_len(stored); k++)
            there = there || sw_json_equal(sw_json_at(stored, k), name);
        if (sw_json_bool(version, false, "storage", NULL) && !there)
            json_object_array_add(stored, json_object_get(name));
    }
    return 0;
}

/* ---- the end of a CRD ---------------------------------------------------------------------------
 */

static int drop_finalizer(json_object *crd, void *arg SW_UNUSED)
{
    sw_meta_drop_finalizer(crd, "customresourcecleanup.apiextensions.k8s.io");
    return 0;
}

static void finish_if_empty(struct sw_crds *crds, json_object *crd)
{
    if (sw_store_count(crds->store, declared(crds, crd), NULL) == 0)
        (void)sw_store_modify(crds->store, crds->kind, NULL, sw_obj_name(crd), NULL, drop_finalizer,
                              NULL, NULL);
}

static void delete_instances(struct sw_crds *crds, json_object *crd)
{
    const struct sw_emu_kind *kind = declared(crds, crd);
    SW_STORE_LIST(list);
    sw_store_list(crds->store, kind, NULL, &list);
    for (size_t i = 0; i < list.n; i++)
        if (!sw_doc_is_deleted(list.items[i]))
            (void)sw_store_delete(crds->store, kind, sw_obj_namespace(list.items[i]),
                                  sw_obj_name(list.items[i]), NULL, NULL, NULL);
    finish_if_empty(crds, crd);
}

static void on_crd(const struct sw_store_event *event, void *arg)
{
    struct sw_crds *crds = arg;
    static const struct sw_store_opts status = { .subresource = "status",
                                                 .manager = "kube-apiserver" };
    json_object *crd = sw_store_get(crds->store, crds->kind, NULL, sw_obj_name(event->object));
    if (event->type == SW_STORE_DELETED && !crd)
        withdraw(crds, event->object);
    if (!crd)
        return;
    if (sw_doc_is_deleted(crd)) {
        delete_instances(crds, crd);
        return;
    }
    const char *reason;
    if (!taken_name(crds, crd, &reason)) /* before it says so, or the first request is too early */
        serve(crds, crd);
    (void)sw_store_modify(crds->store, crds->kind, NULL, sw_obj_name(crd), &status, accept_names,
                          crds, NULL);
}

/* The last object of a kind whose CRD is dying. */
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
