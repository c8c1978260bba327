#pragma once
/* admission: what an API server fills into objects of the built-in kinds, checks, and refuses,
 * apart from webhooks (webhook.h). */
#include "emulator/store/change.h"

/** Fill in the defaults of w->doc (defaults.c). */
void sw_defaults(struct sw_write *w);
/** Run the mutating admission controllers (admission.c). @return 0, or the code of a refusal */
int sw_admit_mutate(struct sw_write *w);
/** Run the validating admission controllers. @return 0, or the code of a refusal */
int sw_admit_validate(struct sw_write *w);
/** Check w->doc by the rules of its built-in kind, or by its schema (validate.c).
 * @return 0 | SW_INVALID */
int sw_validate(struct sw_write *w);
