#pragma once
/* The tables of template functions, one an area. */
#include "chart/template/lang/function.h"

extern const struct func sw_funcs_helm[];
extern const struct func sw_funcs_strings[];
extern const struct func sw_funcs_case[];
extern const struct func sw_funcs_lists[];
extern const struct func sw_funcs_dicts[];
extern const struct func sw_funcs_math[];
extern const struct func sw_funcs_defaults[];
extern const struct func sw_funcs_encoding[];
extern const struct func sw_funcs_json[];
extern const struct func sw_funcs_reflect[];
extern const struct func sw_funcs_dates[];
extern const struct func sw_funcs_durations[];
extern const struct func sw_funcs_regex[];
extern const struct func sw_funcs_semver[];
extern const struct func sw_funcs_urls[];
extern const struct func sw_funcs_paths[];
extern const struct func sw_funcs_random[];
extern const struct func sw_funcs_crypto[];
extern const struct func sw_funcs_certs[];
extern const struct func sw_funcs_go[];
