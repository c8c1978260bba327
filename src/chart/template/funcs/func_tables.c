#include "chart/template/funcs/func_tables.h"

const struct func_table sw_func_tables[] = {
    { "helm", sw_funcs_helm },           { "strings", sw_funcs_strings },
    { "case", sw_funcs_case },           { "lists", sw_funcs_lists },
    { "dicts", sw_funcs_dicts },         { "math", sw_funcs_math },
    { "defaults", sw_funcs_defaults },   { "json", sw_funcs_json },
    { "encoding", sw_funcs_encoding },   { "reflection", sw_funcs_reflect },
    { "paths", sw_funcs_paths },         { "semver", sw_funcs_semver },
    { "regex", sw_funcs_regex },         { "dates", sw_funcs_dates },
    { "durations", sw_funcs_durations }, { "urls", sw_funcs_urls },
    { "random", sw_funcs_random },       { "crypto", sw_funcs_crypto },
    { "certificates", sw_funcs_certs },  { "go", sw_funcs_go },
};
const size_t sw_func_tables_n = SW_COUNT(sw_func_tables);
