#pragma once
/* write: the way of a change through the API server, in stages that can be taken one at a time:
 * prepare (decode, default, keep what the caller may not change), admit, validate, finish (managed
 * fields, number, store). The calls of store.h take them in one go; between admit and validate is
 * where admission webhooks belong, which take time. */
#include "emulator/store/store_internal.h"

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
    json_object *doc;         /* what it shall become; owned */
    json_object *patch;       /* a server-side apply: the configuration; borrowed */
};
void sw_write_done(struct sw_write *w);

/** Set up a change of @kind; @opts may be NULL. */
void sw_write_init(struct sw_write *w, struct sw_store *store, const struct sw_emu_kind *kind,
                   const char *ns, const struct sw_store_opts *opts, struct sw_status *status);
/** Look up @name for an UPDATE or DELETE. @return 0 | SW_NOTFOUND */
int sw_write_find(struct sw_write *w, const char *name);
/** Takes @doc. */
int sw_write_prepare(struct sw_write *w, json_object *doc);
int sw_write_finish(struct sw_write *w, json_object **out);
/** The last step of an update alone: no checks; an unchanged document changes nothing, one that is
 * deleted and held by nothing goes. */
int sw_write_store_update(struct sw_write *w, json_object **out);
/** What a webhook made of it (taken) becomes w->doc, decoded and defaulted again. */
int sw_write_redecode(struct sw_write *w, json_object *doc);
/** All stages. Takes @doc. */
int sw_write_run(struct sw_write *w, json_object *doc, json_object **out);

/** sw_store_create() and sw_store_update(), which take @doc instead of copying it. */
int sw_write_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
int sw_write_update(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);

const char *sw_write_manager(const struct sw_write *w);
bool sw_write_is(const struct sw_write *w, const char *group, const char *kind);

/* ---- metadata (meta.c) --------------------------------------------------------------------------
 */

int sw_meta_create(struct sw_write *w);
int sw_meta_update(struct sw_write *w);
/** @doc as a new map with apiVersion and kind first (what is in the store has it so). Takes @doc.
 */
json_object *sw_meta_order_root(json_object *doc, const char *api_version, const char *kind);
/** A copy that may be changed, but for managedFields, which it shares (they are never changed, only
 * replaced, and are a large part of most documents). */
json_object *sw_meta_copy(json_object *doc);
/** @doc without managedFields, sharing all the rest. */
json_object *sw_meta_without_managed(json_object *doc);
bool sw_meta_is_deleted(json_object *doc);
bool sw_meta_has_finalizer(json_object *doc, const char *finalizer);
void sw_meta_add_finalizer(json_object *doc, const char *finalizer);
void sw_meta_drop_finalizer(json_object *doc, const char *finalizer);

/* ---- stages that know kinds ---------------------------------------------------------------------
 */

/** defaults.c: what an API server fills in. */
void sw_defaults(struct sw_write *w);
/** admission.c: the compiled-in admission controllers; mutating ones, then the others. */
int sw_admit_mutate(struct sw_write *w);
int sw_admit_validate(struct sw_write *w);
/** validate.c: the rules of the built-in kinds. */
int sw_validate(struct sw_write *w);
/** field_reset.c: what create and update reset or keep, by kind. */
int sw_strategy_create(struct sw_write *w);
int sw_strategy_update(struct sw_write *w);
/** Count a changed spec in metadata.generation, after defaults and admission. */
void sw_strategy_generation(struct sw_write *w);
/** managed_fields.c: metadata.managedFields after a create or update that is no apply. */
void sw_managed_update(struct sw_write *w);
/** apply.c: merge w->patch into the object. @return 0 | SW_CONFLICT | SW_INVALID */
int sw_apply_merge(struct sw_write *w, json_object **out);
