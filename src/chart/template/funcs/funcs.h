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

extern const struct func sw_funcs_helm[];      /* Helm's: templates within templates, conversions */
extern const struct func sw_funcs_strings[];   /* texts */
extern const struct func sw_funcs_case[];      /* upper and lower case */
extern const struct func sw_funcs_lists[];     /* lists */
extern const struct func sw_funcs_dicts[];     /* maps */
extern const struct func sw_funcs_math[];      /* numbers */
extern const struct func sw_funcs_defaults[];  /* default, empty, ternary, ... */
extern const struct func sw_funcs_encoding[];  /* base64, base32, checksums */
extern const struct func sw_funcs_json[];      /* JSON */
extern const struct func sw_funcs_reflect[];   /* types of values */
extern const struct func sw_funcs_dates[];     /* times */
extern const struct func sw_funcs_durations[]; /* durations */
extern const struct func sw_funcs_regex[];     /* regular expressions */
extern const struct func sw_funcs_semver[];    /* semantic versions */
extern const struct func sw_funcs_urls[];      /* URLs */
extern const struct func sw_funcs_paths[];     /* file paths */
extern const struct func sw_funcs_random[];    /* random values */
extern const struct func sw_funcs_crypto[];    /* keys, passwords, encryption */
extern const struct func sw_funcs_certs[];     /* certificates */
extern const struct func sw_funcs_go[];        /* those of Go's text/template */

/* ---- methods ---- */

/** String() and Error(), of values that have a text of their own. */
int sw_method_string(struct call *c);

extern const struct func sw_methods_values[];      /* chartutil.Values */
extern const struct func sw_methods_files[];       /* engine.files */
extern const struct func sw_methods_versions[];    /* chartutil.VersionSet */
extern const struct func sw_methods_duration[];    /* time.Duration */
extern const struct func sw_methods_string_only[]; /* time.Month, time.Weekday */
extern const struct func sw_methods_error[];       /* error */
