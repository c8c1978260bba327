#pragma once
/* apply: which fields a create or an update resets or keeps, server-side apply, and
 * metadata.managedFields. */
#include "emulator/store/change.h"

/** What a create resets, by kind: status, generation (field_reset.c). @return 0 | SW_INVALID */
int sw_strategy_create(struct sw_write *w);
/** What an update keeps, by kind and subresource. @return 0 | SW_INVALID */
int sw_strategy_update(struct sw_write *w);
/** Count a changed spec in metadata.generation, after defaults and admission. */
void sw_strategy_generation(struct sw_write *w);
/** metadata.managedFields after a create or update that is no apply (managed_fields.c). */
void sw_managed_update(struct sw_write *w);
/** Merge w->patch into the object; @out is the caller's. @return 0 | SW_CONFLICT | SW_INVALID */
int sw_apply_merge(struct sw_write *w, json_object **out);
