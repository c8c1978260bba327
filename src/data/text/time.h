#pragma once
/* time: timestamps of Kubernetes objects. */
#include <stdint.h>

#include "base/base.h"

/** RFC 3339 ("2026-01-02T03:04:05Z", with a fraction, with an offset) to milliseconds since the
 * epoch. @return 0 | SW_INVALID. The other way: sw_time_rfc3339() in base.h. */
int sw_time_parse(const char *text, int64_t *ms, struct sw_err *err) SW_CHECKED;

/** Parse a duration as Go writes it ("90s", "1h30m", "1.5h", "250ms"), or a plain number of
 * seconds; not negative, at most a year. @return 0 | SW_INVALID: 'x' is not a duration such as ...
 */
int sw_span_parse(const char *text, int64_t *ms, struct sw_err *err) SW_CHECKED;
/** A duration as text: "1h30m", "45s", "250ms". The caller frees it. */
char *sw_span_text(int64_t ms);
