#pragma once
/* change: one change on its way through the API server (struct sw_write): decode, default, admit,
 * validate, store. The stages are functions of the folders above, each of which takes it; write/
 * calls them in order. */
#include "emulator/store/document.h"
#include "emulator/store/objects.h"

/** The operation, as admission calls it. */
enum sw_write_op { SW_OP_CREATE, SW_OP_UPDATE, SW_OP_DELETE };

/** One change under way. */
struct sw_write {
    struct sw_store *store;
    const struct sw_emu_kind *kind; /* the one that is stored */
    const struct sw_store_opts *opts;
    struct sw_status *status;
    enum sw_write_op op;
    const char *subresource;  /* NULL: the object itself */
    const char *ns, *name;    /* "": none; borrowed from doc, or from the caller */
    struct sw_object *object; /* UPDATE, DELETE */
    json_object *old;         /* its document, borrowed */
    json_object *doc;         /* the new document; owned */
    json_object *patch;       /* a server-side apply: the configuration; borrowed */
    /** Replace doc by the document that a webhook returned (taken), decoded and defaulted again.
     * NULL: DELETE. */
    int (*redecode)(struct sw_write *w, json_object *doc);
};
/** Free what it owns. */
void sw_write_done(struct sw_write *w);

/** Set up a change of @kind; @opts may be NULL. */
void sw_write_init(struct sw_write *w, struct sw_store *store, const struct sw_emu_kind *kind,
                   const char *ns, const struct sw_store_opts *opts, struct sw_status *status);
/** Look up @name for an UPDATE or DELETE. @return 0 | SW_NOTFOUND */
int sw_write_find(struct sw_write *w, const char *name);
/** The field manager that writes. */
const char *sw_write_manager(const struct sw_write *w);
/** Whether it is an object of this group and kind. */
bool sw_write_is(const struct sw_write *w, const char *group, const char *kind);

/* ---- metadata (meta.c) --------------------------------------------------------------------------
 */

/** Fill in the metadata of a new object. @return 0 | SW_INVALID (no name, another namespace) */
int sw_meta_create(struct sw_write *w);
/** Keep the metadata that a client may not change. @return 0 | SW_CONFLICT | SW_INVALID */
int sw_meta_update(struct sw_write *w);
/** @doc as a new map with apiVersion and kind first, as the store keeps it. Takes @doc. */
json_object *sw_meta_order_root(json_object *doc, const char *api_version, const char *kind);
/** A copy that may be changed. It shares managedFields, which are a large part of most documents:
 * they are never changed, only replaced. */
json_object *sw_meta_copy(json_object *doc);
/** @doc without managedFields, sharing all the rest. */
json_object *sw_meta_without_managed(json_object *doc);
/** Whether @finalizer is among metadata.finalizers. */
bool sw_meta_has_finalizer(json_object *doc, const char *finalizer);
/** Add @finalizer, unless it is there. */
void sw_meta_add_finalizer(json_object *doc, const char *finalizer);
/** Remove @finalizer, if it is there. */
void sw_meta_drop_finalizer(json_object *doc, const char *finalizer);
