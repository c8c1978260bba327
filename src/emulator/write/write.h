#pragma once
/* write: a change of an object as an API server makes it: decode, default, admit (webhooks too),
 * validate, managed fields, store. It calls the stages, which are in schema/, apply/ and
 * admission/, in order. Source: Kubernetes API concepts. Pinned by
 * test/emulator/emulator/api_*_test.c. */
#include "emulator/store/store.h"

/** @opts may be NULL everywhere. @doc is the caller's and is not kept (only copied from). @out: may
 * be NULL; else the stored object, counted, the caller's to put. @status may be NULL.
 * @return 0 | SW_CONFLICT (exists, or changed since) | SW_NOTFOUND | SW_INVALID | SW_FORBIDDEN
 *         (admission) | SW_UNAVAILABLE (try again later) */
int sw_store_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
/** Update the object with a copy that @edit has changed. Where @edit does not return 0, nothing is
 * changed and its result is returned. There is no conflict: nothing happens in between. */
int sw_store_modify(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts,
                    int (*edit)(json_object *doc, void *arg), void *arg, struct sw_status *status);

/** Change the object by a patch. An apply creates an object that does not exist. */
int sw_store_patch(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                   const char *name, enum sw_patch_type type, json_object *patch,
                   const struct sw_store_opts *opts, json_object **out, struct sw_status *status);
/** Remove the object, or set its deletionTimestamp (finalizers, foreground, a pod's grace period).
 * Then it stays until its finalizers are gone; a pod until sw_store_delete() with grace 0. */
int sw_store_delete(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);

/** Remove @finalizer from the object of @doc. */
void sw_store_drop_finalizer(struct sw_store *store, const struct sw_emu_kind *kind,
                             json_object *doc, const char *finalizer);

/** As sw_store_create(), but takes @doc. */
int sw_write_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
/** Replace the object named in @doc, which is taken. A resourceVersion in @doc must be the current
 * one. */
int sw_write_update(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);

/* ---- for delete.c -------------------------------------------------------------------------------
 */

struct sw_write;

/** Whether finalizers keep the object of @w from being removed. */
bool sw_write_is_held(const struct sw_write *w);
/** Remove the object, with w->doc as its last document. @return 0 */
int sw_write_remove(struct sw_write *w, json_object **out);
/** The last step of an update, without checks: store w->doc if it has changed, or remove an object
 * that is deleted and not held. @return 0 */
int sw_write_store_update(struct sw_write *w, json_object **out);
