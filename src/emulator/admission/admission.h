#pragma once
/* admission: what an API server fills into objects of the built-in kinds, checks, and refuses,
 * apart from webhooks (webhook.h). */
#include "emulator/store/change.h"

/** Fill in the defaults of w->doc (defaults.c). */
void sw_defaults(struct sw_write *w);
/** The mutating admission controllers (admission.c). @return 0, or what one refused it with */
int sw_admit_mutate(struct sw_write *w);
/** The validating ones. @return 0, or what one refused it with */
int sw_admit_validate(struct sw_write *w);
/** The rules of the built-in kinds and the schemas of custom resources (validate.c).
 * @return 0 | SW_INVALID */
int sw_validate(struct sw_write *w);
