#include "emulator/write/gc.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/change.h"
#include "emulator/write/write.h"

#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

struct sw_gc {
    struct sw_store *store;
    struct sw_subscription *sub;
};

static const struct sw_store_opts as_gc = { .manager = "kube-controller-manager" };

/* ---- owners -------------------------------------------------------------------------------------
 */

/* Does the owner that @ref names exist? One of that name and another uid is another object. */
static json_object *find_owner(struct sw_gc *gc, json_object *ref)
{
    return sw_store_find_uid(gc->store, sw_json_str(ref, "", "uid", NULL), NULL);
}

static bool blocks(json_object *doc, const char *owner_uid)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    json_object *ref = sw_json_find_by(refs, "uid", owner_uid);
    return sw_json_bool(ref, false, "blockOwnerDeletion", NULL);
}

static void delete_dependent(struct sw_gc *gc, json_object *doc, const char *policy)
{
    const struct sw_emu_kind *kind = sw_store_kind_of(gc->store, doc);
    struct sw_store_opts opts = as_gc;
    opts.propagation = policy;
    opts.if_uid = sw_obj_uid(doc);
    if (kind)
        (void)sw_store_delete(gc->store, kind, sw_obj_namespace(doc), sw_obj_name(doc), &opts, NULL,
                              NULL);
}

/* An object goes when none of the owners that it names is there any more. */
static void collect_if_ownerless(struct sw_gc *gc, json_object *doc)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    size_t n = sw_json_len(refs);
    for (size_t i = 0; i < n; i++)
        if (find_owner(gc, sw_json_at(refs, i)))
            return;
    if (n > 0 && !sw_doc_is_deleted(doc))
        delete_dependent(gc, doc, "Background");
}

/* ---- dependents of one that is deleted ----------------------------------------------------------
 */

static int drop_finalizer(json_object *doc, void *finalizer)
{
    sw_meta_drop_finalizer(doc, finalizer);
    return 0;
}

static void remove_finalizer(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc,
                             const char *finalizer)
{
    (void)sw_store_modify(gc->store, kind, sw_obj_namespace(doc), sw_obj_name(doc), &as_gc,
                          drop_finalizer, (void *)finalizer, NULL);
}

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

static void orphan_dependents(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    SW_STORE_LIST(list);
    sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
    for (size_t i = 0; i < list.n; i++) {
        const struct sw_emu_kind *own = sw_store_kind_of(gc->store, list.items[i]);
        if (own)
            (void)sw_store_modify(gc->store, own, sw_obj_namespace(list.items[i]),
                                  sw_obj_name(list.items[i]), &as_gc, drop_owner,
                                  (void *)sw_obj_uid(doc), NULL);
    }
    remove_finalizer(gc, kind, doc, ORPHAN);
}

/* Its dependents go first; it follows when none is left that holds it up. */
static void foreground(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    SW_STORE_LIST(list);
    bool held = false;
    sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
    for (size_t i = 0; i < list.n; i++) {
        held = held || blocks(list.items[i], sw_obj_uid(doc));
        if (!sw_doc_is_deleted(list.items[i]))
            delete_dependent(gc, list.items[i], "Foreground");
    }
    if (held) { /* some may be gone by now */
        sw_store_dependents(gc->store, sw_obj_uid(doc), &list);
        held = false;
        for (size_t i = 0; i < list.n; i++)
            held = held || blocks(list.items[i], sw_obj_uid(doc));
    }
    if (!held)
        remove_finalizer(gc, kind, doc, FOREGROUND);
}

static void check_deleted(struct sw_gc *gc, const struct sw_emu_kind *kind, json_object *doc)
{
    if (sw_meta_has_finalizer(doc, ORPHAN))
        orphan_dependents(gc, kind, doc);
    else if (sw_meta_has_finalizer(doc, FOREGROUND))
        foreground(gc, kind, doc);
}

/* The owners that wait for the object that has gone. */
static void check_owners(struct sw_gc *gc, json_object *gone)
{
    json_object *refs = sw_json_find(gone, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(refs); i++) {
        const struct sw_emu_kind *kind = NULL;
        const char *uid = sw_json_str(sw_json_at(refs, i), "", "uid", NULL);
        json_object *owner = sw_store_find_uid(gc->store, uid, &kind);
        if (owner && sw_doc_is_deleted(owner))
            check_deleted(gc, kind, owner);
    }
}

static void collect_dependents(struct sw_gc *gc, json_object *gone)
{
    SW_STORE_LIST(list);
    sw_store_dependents(gc->store, sw_obj_uid(gone), &list);
    for (size_t i = 0; i < list.n; i++)
        collect_if_ownerless(gc, list.items[i]);
}

/* ---- namespaces ---------------------------------------------------------------------------------
 */

static const struct sw_emu_kind *namespaces(struct sw_gc *gc)
{
    return sw_store_kind(gc->store, "", "Namespace");
}

static void create_account(struct sw_gc *gc, const char *ns)
{
    const struct sw_emu_kind *kind = sw_store_kind(gc->store, "", "ServiceAccount");
    if (sw_store_get(gc->store, kind, ns, "default"))
        return;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "default", "metadata", "name", NULL);
    (void)sw_store_create(gc->store, kind, ns, doc, &as_gc, NULL, NULL);
}

static void create_root_ca(struct sw_gc *gc, const char *ns)
{
    const struct sw_emu_kind *kind = sw_store_kind(gc->store, "", "ConfigMap");
    if (sw_store_minor(gc->store) < 20 || sw_store_get(gc->store, kind, ns, "kube-root-ca.crt"))
        return;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "kube-root-ca.crt", "metadata", "name", NULL);
    sw_json_set_str(doc, "", "data", "ca.crt", NULL);
    (void)sw_store_create(gc->store, kind, ns, doc, &as_gc, NULL, NULL);
}

/* Delete what is in it. @return whether anything is left. */
static bool empty(struct sw_gc *gc, const char *ns)
{
    const struct sw_emu_kind *kind;
    bool left = false;
    for (size_t k = 0; (kind = sw_kinds_nth(sw_store_kinds(gc->store), k)); k++) {
        if (!kind->served || !kind->namespaced || kind->stored_as ||
            sw_store_count(gc->store, kind, ns) == 0)
            continue;
        SW_STORE_LIST(list);
        sw_store_list(gc->store, kind, ns, &list);
        for (size_t i = 0; i < list.n; i++)
            if (!sw_doc_is_deleted(list.items[i]))
                delete_dependent(gc, list.items[i], "Background");
        left = left || sw_store_count(gc->store, kind, ns) > 0;
    }
    return left;
}

static int drop_namespace_finalizer(json_object *doc, void *arg SW_UNUSED)
{
    return sw_json_del(doc, "spec", "finalizers", NULL) ? 0 : SW_PENDING;
}

static void end_namespace(struct sw_gc *gc, const char *name)
{
    static const struct sw_store_opts finalize = { .subresource = "finalize",
                                                   .manager = "kube-controller-manager" };
    json_object *ns = sw_store_get(gc->store, namespaces(gc), NULL, name);
    if (ns && sw_doc_is_deleted(ns) && !empty(gc, name))
        (void)sw_store_modify(gc->store, namespaces(gc), NULL, name, &finalize,
                              drop_namespace_finalizer, NULL, NULL);
}

static void check_namespace(struct sw_gc *gc, const char *name)
{
    json_object *ns = sw_store_get(gc->store, namespaces(gc), NULL, name);
    if (!ns)
        return;
    if (sw_doc_is_deleted(ns)) {
        end_namespace(gc, name);
        return;
    }
    create_account(gc, name);
    create_root_ca(gc, name);
}

/* ---- all ----------------------------------------------------------------------------------------
 */

static bool is_namespace(const struct sw_store_event *event)
{
    return event->kind->builtin && strcmp(event->kind->plural, "namespaces") == 0;
}

static void on_gone(struct sw_gc *gc, const struct sw_store_event *event)
{
    const char *ns = sw_obj_namespace(event->object);
    collect_dependents(gc, event->object);
    check_owners(gc, event->object);
    json_object *owner = ns[0] ? sw_store_get(gc->store, namespaces(gc), NULL, ns) : NULL;
    if (owner && sw_doc_is_deleted(owner))
        end_namespace(gc, ns);
    else if (owner) /* the account may be what is missing now */
        check_namespace(gc, ns);
}

static void on_event(const struct sw_store_event *event, void *arg)
{
    struct sw_gc *gc = arg;
    if (event->type == SW_STORE_DELETED) {
        on_gone(gc, event);
        return;
    }
    json_object *doc = sw_store_find_uid(gc->store, sw_obj_uid(event->object), NULL);
    if (!doc)
        return;
    if (sw_doc_is_deleted(doc))
        check_deleted(gc, event->kind, doc);
    else
        collect_if_ownerless(gc, doc);
    if (is_namespace(event))
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
