#pragma once
/* What templates can call on the values that have Go methods. */
#include "chart/template/lang/function.h"

extern const struct func sw_methods_values[];      /* chartutil.Values */
extern const struct func sw_methods_files[];       /* engine.files */
extern const struct func sw_methods_versions[];    /* chartutil.VersionSet */
extern const struct func sw_methods_duration[];    /* time.Duration */
extern const struct func sw_methods_string_only[]; /* time.Month, time.Weekday */
extern const struct func sw_methods_error[];
