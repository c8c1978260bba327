#pragma once
/* apply: which fields a create or an update resets or keeps, server-side apply, and
 * metadata.managedFields. */
#include "emulator/store/change.h"

/** Reset the fields that a client may not set on creation, by kind (field_reset.c). */
void sw_strategy_create(struct sw_write *w);
/** Restore the fields that an update may not change, by kind and subresource. */
void sw_strategy_update(struct sw_write *w);
/** Count a changed spec in metadata.generation, after defaults and admission. */
void sw_strategy_generation(struct sw_write *w);
/** Remove managedFields that cannot be read from a document (w->doc) that a client or a webhook
 * sent. An update keeps the stored ones then, as kube-apiserver does. */
void sw_managed_check(struct sw_write *w);
/** metadata.managedFields after a create or update that is no apply (managed_fields.c). */
void sw_managed_update(struct sw_write *w);
/** Merge the configuration that a MutatingAdmissionPolicy has made into w->doc, which stays as it
 * is.
 * @config: gets apiVersion and kind. @out: the caller's, and shares nothing with w->doc.
 * @return 0 | SW_INVALID "invalid ApplyConfiguration: may not mutate atomic arrays, ..." */
int sw_apply_configuration(struct sw_write *w, json_object *config, json_object **out,
                           struct sw_err *err) SW_CHECKED;
/** Merge w->patch into the object; @out is the caller's. @return 0 | SW_CONFLICT | SW_INVALID */
int sw_apply_merge(struct sw_write *w, json_object **out);
