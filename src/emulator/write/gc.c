#include "emulator/write/gc.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/store/change.h"
#include "emulator/write/write.h"

struct sw_gc {
    struct sw_store *store;
    struct sw_subscription *sub;
};

/* ---- owners -------------------------------------------------------------------------------------
 */

static void delete_dependent(struct sw_gc *gc, json_object *doc, const char *policy)
{
    const struct sw_emu_kind *kind = sw_store_kind_of(gc->store, doc);
    struct sw_store_opts opts = { .propagation = policy, .if_uid = sw_obj_uid(doc) };
    if (kind)
        (void)sw_store_delete(gc->store, kind, sw_obj_namespace(doc), sw_obj_name(doc), &opts, NULL,
                              NULL);
}

/* Delete an object when none of its owners exists. An object of an owner's name with another uid
 * is not the owner. */
static void collect_if_ownerless(struct sw_gc *gc, json_object *doc)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    size_t n = sw_json_len(refs);
    for (size_t i = 0; i < n; i++)
        if (sw_store_find_uid(gc->store, sw_json_str(sw_json_at(refs, i), "", "uid", NULL), NULL))
            return;
    if (n > 0 && !sw_doc_is_deleted(doc))
        delete_dependent(gc, doc, "Background");
}

/* ---- dependents of a deleted object -------------------------------------------------------------
 */

static int drop_owner(json_object *doc, void *uid)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = sw_json_len(refs); i-- > 0;)
        if (strcmp(sw_json_str(sw_json_at(refs, i), "", "uid", NULL), uid) == 0)
            (void)json_object_array_del_idx(refs, i, 1);
    if (sw_json_len(refs) == 0)
        (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    return 0;
}

/* Remove the references to @doc from its dependents, then its finalizer. */
static void orphan_dependents(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    SW_STORE_LIST(list);
    sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
    for (size_t i = 0; i < list.n; i++) {
        const struct sw_emu_kind *own = sw_store_kind_of(gc->store, list.items[i]);
        if (own)
            (void)sw_store_modify(gc->store, own, sw_obj_namespace(list.items[i]),
                                  sw_obj_name(list.items[i]), NULL, drop_owner,
                                  (void *)sw_obj_uid(doc), NULL);
    }
    sw_store_drop_finalizer(gc->store, kind, doc, SW_GC_ORPHAN);
}

/* Delete the dependents of @doc, then @doc itself when none is left that blocks its deletion. */
static void delete_foreground(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    SW_STORE_LIST(list);
    sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
    for (size_t i = 0; i < list.n; i++)
        if (!sw_doc_is_deleted(list.items[i]))
            delete_dependent(gc, list.items[i], "Foreground");
    sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
    for (size_t i = 0; i < list.n; i++) {
        json_object *refs = sw_json_find(list.items[i], "metadata", "ownerReferences", NULL);
        json_object *ref = sw_json_find_by(refs, "uid", sw_obj_uid(doc));
        if (sw_json_bool(ref, false, "blockOwnerDeletion", NULL))
            return;
    }
    sw_store_drop_finalizer(gc->store, kind, doc, SW_GC_FOREGROUND);
}

static void check_deleted(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    if (sw_meta_has_finalizer(doc, SW_GC_ORPHAN))
        orphan_dependents(gc, kind, doc);
    else if (sw_meta_has_finalizer(doc, SW_GC_FOREGROUND))
        delete_foreground(gc, kind, doc);
}

/* ---- namespaces ---------------------------------------------------------------------------------
 */

/* Create the object @name of a namespace, with an empty @data_key if that is not NULL. */
static void create_missing(struct sw_gc *gc, const char *kind_name, const char *ns,
                           const char *name, const char *data_key)
{
    const struct sw_emu_kind *kind = sw_store_kind(gc->store, "", kind_name);
    if (sw_store_get(gc->store, kind, ns, name))
        return;
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (data_key)
        sw_json_set_str(doc, "", "data", data_key, NULL);
    (void)sw_write_create(gc->store, kind, ns, doc, NULL, NULL, NULL);
}

/* What is left in a namespace that is being deleted: how many of which, maps. */
struct leftovers {
    json_object *resources, *finalizers;
};

static void note_left(const struct leftovers *left, const struct sw_emu_kind *kind,
                      const struct sw_store_list *list)
{
    SW_AUTO_CHARS *resource = sw_printf("%s.%s", kind->plural, kind->group);
    if (list->n > 0)
        sw_json_set(left->resources, json_object_new_int64((int64_t)list->n), resource, NULL);
    for (size_t i = 0; i < list->n; i++) {
        json_object *finalizers = sw_json_find(list->items[i], "metadata", "finalizers", NULL);
        for (size_t k = 0; k < sw_json_len(finalizers); k++) {
            const char *name = json_object_get_string(sw_json_at(finalizers, k));
            const int64_t n = sw_json_int(left->finalizers, 0, name, NULL);
            sw_json_set(left->finalizers, json_object_new_int64(n + 1), name, NULL);
        }
    }
}

/* Delete the objects of a namespace, and note into @left what does not go at once. */
static void delete_contents(struct sw_gc *gc, const char *ns, const struct leftovers *left)
{
    const struct sw_emu_kind *kind;
    for (size_t k = 0; (kind = sw_kinds_nth(sw_store_kinds(gc->store), k)); k++) {
        if (!kind->served || !kind->namespaced || kind->stored_as ||
            sw_store_count(gc->store, kind, ns) == 0)
            continue;
        SW_STORE_LIST(list);
        sw_store_list(gc->store, kind, ns, &list);
        for (size_t i = 0; i < list.n; i++)
            if (!sw_doc_is_deleted(list.items[i]))
                delete_dependent(gc, list.items[i], "Background");
        sw_store_list(gc->store, kind, ns, &list);
        note_left(left, kind, &list);
    }
}

/* "START: configmaps. has 1 resource instances, ..."; the caller's. */
static char *say_left(const char *start, const char *verb, json_object *counts)
{
    SW_AUTO_JSON *names = sw_json_sorted_keys(counts);
    char *text = sw_printf("%s: ", start);
    for (size_t i = 0; i < sw_json_len(names); i++) {
        const char *name = json_object_get_string(sw_json_at(names, i));
        sw_append(&text, "%s%s %s %lld resource instances", i ? ", " : "", name, verb,
                  (long long)sw_json_int(counts, 0, name, NULL));
    }
    return text;
}

struct condition_change {
    const struct leftovers *left;
    int64_t now_ms;
};

/* Source: pkg/controller/namespace/deletion/status_condition_utils.go. */
static int set_conditions(json_object *doc, void *arg)
{
    static const struct {
        const char *type, *reason, *message;
    } fine[] = {
        { "NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
          "All resources successfully discovered" },
        { "NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
          "All legacy kube types successfully parsed" },
        { "NamespaceDeletionContentFailure", "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization" },
        { "NamespaceContentRemaining", "ContentRemoved", "All content successfully removed" },
        { "NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
          "All content-preserving finalizers finished" },
    };
    const struct condition_change *change = arg;
    const struct leftovers *left = change->left;
    json_object *conditions = sw_json_need_list(doc, "status", "conditions", NULL);
    bool changed = false;
    for (size_t i = 0; i < SW_COUNT(fine); i++) {
        const bool contents = sw_streq(fine[i].reason, "ContentRemoved");
        const bool finalizers = sw_streq(fine[i].reason, "ContentHasNoFinalizers");
        SW_AUTO_CHARS *text = NULL;
        const char *reason = NULL;
        if (contents && sw_json_len(left->resources)) {
            reason = "SomeResourcesRemain";
            text = say_left("Some resources are remaining", "has", left->resources);
        } else if (finalizers && sw_json_len(left->finalizers)) {
            reason = "SomeFinalizersRemain";
            text = say_left("Some content in the namespace has finalizers remaining", "in",
                            left->finalizers);
        }
        changed |= sw_cond_set(conditions, fine[i].type, text ? "True" : "False",
                               text ? reason : fine[i].reason, text ? text : fine[i].message,
                               change->now_ms);
    }
    return changed ? 0 : SW_PENDING;
}

/* One that goes at once needs to say nothing. */
static void tell_left(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *ns,
                      const struct leftovers *left)
{
    static const struct sw_store_opts status = { .subresource = "status" };
    struct condition_change change = { left, sw_loop_now_ms(sw_store_loop(gc->store)) };
    if (sw_json_len(left->resources) || sw_json_find(ns, "metadata", "finalizers", NULL) ||
        sw_json_find(ns, "status", "conditions", NULL))
        (void)sw_store_modify(gc->store, kind, NULL, sw_obj_name(ns), &status, set_conditions,
                              &change, NULL);
}

static int drop_namespace_finalizer(json_object *doc, void *arg SW_UNUSED)
{
    return sw_json_del(doc, "spec", "finalizers", NULL) ? 0 : SW_PENDING;
}

static void check_namespace(struct sw_gc *gc, const char *name)
{
    static const struct sw_store_opts finalize = { .subresource = "finalize" };
    const struct sw_emu_kind *kind = sw_store_kind(gc->store, "", "Namespace");
    json_object *ns = sw_store_get(gc->store, kind, NULL, name);
    if (ns && !sw_doc_is_deleted(ns)) {
        create_missing(gc, "ServiceAccount", name, "default", NULL);
        create_missing(gc, "ConfigMap", name, "kube-root-ca.crt", "ca.crt");
        return;
    }
    SW_AUTO_JSON *resources = json_object_new_object(), *finalizers = json_object_new_object();
    const struct leftovers left = { resources, finalizers };
    if (!ns)
        return;
    SW_AUTO_JSON *held = json_object_get(ns); /* contents that go have it looked at again */
    delete_contents(gc, name, &left);
    tell_left(gc, kind, held, &left);
    if (!sw_json_len(resources))
        (void)sw_store_modify(gc->store, kind, NULL, name, &finalize, drop_namespace_finalizer,
                              NULL, NULL);
}

/* ---- events -------------------------------------------------------------------------------------
 */

static void on_gone(struct sw_gc *gc, json_object *gone)
{
    SW_STORE_LIST(list);
    sw_store_dependents(gc->store, sw_obj_uid(gone), &list);
    for (size_t i = 0; i < list.n; i++)
        collect_if_ownerless(gc, list.items[i]);
    json_object *refs = sw_json_find(gone, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(refs); i++) {
        const struct sw_emu_kind *kind = NULL;
        const char *uid = sw_json_str(sw_json_at(refs, i), "", "uid", NULL);
        json_object *owner = sw_store_find_uid(gc->store, uid, &kind);
        if (owner && sw_doc_is_deleted(owner))
            check_deleted(gc, kind, owner);
    }
    if (sw_obj_namespace(gone)[0])
        check_namespace(gc, sw_obj_namespace(gone));
}

static void on_event(const struct sw_store_event *event, void *arg)
{
    struct sw_gc *gc = arg;
    if (event->type == SW_STORE_DELETED) {
        on_gone(gc, event->object);
        return;
    }
    json_object *doc = sw_store_find_uid(gc->store, sw_obj_uid(event->object), NULL);
    if (!doc)
        return;
    if (sw_doc_is_deleted(doc))
        check_deleted(gc, event->kind, doc);
    else
        collect_if_ownerless(gc, doc);
    if (event->kind->builtin && strcmp(event->kind->plural, "namespaces") == 0)
        check_namespace(gc, sw_obj_name(doc));
}

struct sw_gc *sw_gc_new(struct sw_store *store)
{
    struct sw_gc *gc = sw_zalloc(1, sizeof *gc);
    gc->store = store;
    gc->sub = sw_store_subscribe(store, NULL, on_event, gc);
    return gc;
}

void sw_gc_free(struct sw_gc *gc)
{
    if (!gc)
        return;
    sw_store_unsubscribe(gc->sub);
    free(gc);
}
