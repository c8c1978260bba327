#pragma once
/* time: timestamps of Kubernetes objects. */
#include <stdint.h>

#include "base/base.h"

/** RFC 3339 ("2026-01-02T03:04:05Z", with a fraction, with an offset) to milliseconds since the
 * epoch. @return 0 | SW_INVALID. The other way: sw_time_rfc3339() in base.h. */
int sw_time_parse(const char *text, int64_t *ms, struct sw_err *err) SW_CHECKED;
