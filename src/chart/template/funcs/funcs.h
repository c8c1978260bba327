#pragma once
/* The functions and methods that templates can call, one table an area. */
#include "chart/template/lang/function.h"

/** The functions of one area. */
struct func_table {
    const char *area;        /* "strings", "lists", ... */
    const struct func *rows; /* ended by a row without a name */
};

/** All areas, ended by one without a name. Where a name stands in two tables the first is meant:
 * Helm's functions come before sprig's, sprig's before Go's. */
extern const struct func_table sw_func_tables[];

/** The functions of all areas, and the methods; lives as long as the process. */
const struct func_index *sw_func_index(void);

/* ---- the tables, each in the file of its name ---- */

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

/* ---- methods (methods.c) ---- */

extern const struct func sw_methods_values[];      /* chartutil.Values */
extern const struct func sw_methods_files[];       /* engine.files */
extern const struct func sw_methods_versions[];    /* chartutil.VersionSet */
extern const struct func sw_methods_duration[];    /* time.Duration */
extern const struct func sw_methods_string_only[]; /* time.Month, time.Weekday */
extern const struct func sw_methods_error[];       /* error */
