#pragma once
/* selector_build: functions that build selectors, for the parsers of texts and documents. Internal
 * to data. */
#include <stddef.h>

#include "data/selector/selector.h"

/** Free the strings of @r. */
void sw_requirement_done(struct sw_requirement *r);
/** Append a copy of @text to the values of @r. */
void sw_requirement_add_value(struct sw_requirement *r, const char *text, size_t len);
/** Check key, values and operator by Kubernetes' rules for labels. @return 0 | SW_INVALID */
int sw_requirement_check(const struct sw_requirement *r, struct sw_err *err);
/** Move @r to the end of the requirements of @s; @r is empty then. */
void sw_selector_take(struct sw_selector *s, struct sw_requirement *r);
