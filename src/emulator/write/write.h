#pragma once
/* write: a change of an object as an API server makes it: decode, default, admit (webhooks too),
 * validate, managed fields, store. It brings the stages in order, which are in schema/, apply/ and
 * admission/. Source: Kubernetes API concepts. Pinned by test/emulator/emulator/api_*_test.c. */
#include "emulator/store/store.h"

/** @opts may be NULL everywhere. @doc is the caller's and is not kept (only copied from). @out: may
 * be NULL; else the stored object, counted, the caller's to put. @status may be NULL.
 * @return 0 | SW_CONFLICT (exists, or changed since) | SW_NOTFOUND | SW_INVALID | SW_FORBIDDEN
 *         (admission) | SW_UNAVAILABLE (try again later) */
int sw_store_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
/** Replace the object named in @doc. A resourceVersion in @doc must be the current one. */
int sw_store_update(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
/** Copy, let @edit change the copy (nonzero from it ends without a change and is returned), and
 * update: with nothing else between, it cannot conflict. */
int sw_store_modify(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts,
                    int (*edit)(json_object *doc, void *arg), void *arg, struct sw_status *status);

/** Change the object by a patch. Apply creates what is not there. */
int sw_store_patch(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                   const char *name, enum sw_patch_type type, json_object *patch,
                   const struct sw_store_opts *opts, json_object **out, struct sw_status *status);
/** Marks it (finalizers, foreground, a pod's grace period) or removes it. An object that is only
 * marked stays until its finalizers are gone; a pod until sw_store_delete with grace 0. */
int sw_store_delete(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);

/** sw_store_create() and sw_store_update(), which take @doc instead of copying it. */
int sw_write_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);
/** The same for an update. */
int sw_write_update(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status);

/* ---- inside -------------------------------------------------------------------------------------
 */

struct sw_write;

/** The last step of an update alone: no checks; an unchanged document changes nothing, one that is
 * deleted and held by nothing goes. */
int sw_write_store_update(struct sw_write *w, json_object **out);
