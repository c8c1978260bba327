#pragma once
/* selector_build: what the selector's readers share. Internal to data. */
#include <stddef.h>

#include "data/selector/selector.h"

void sw_requirement_done(struct sw_requirement *r);
void sw_requirement_add_value(struct sw_requirement *r, const char *text, size_t len);
/** Key, values and operator by Kubernetes' rules for labels. */
int sw_requirement_check(const struct sw_requirement *r, struct sw_err *err);
/** Append @r, leaving it empty. */
void sw_selector_take(struct sw_selector *s, struct sw_requirement *r);
