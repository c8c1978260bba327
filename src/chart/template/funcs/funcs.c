#include "chart/template/funcs/funcs.h"

#include <pthread.h>

const struct func_table sw_func_tables[] = {
    { "helm", sw_funcs_helm },
    { "strings", sw_funcs_strings },
    { "case", sw_funcs_case },
    { "lists", sw_funcs_lists },
    { "dicts", sw_funcs_dicts },
    { "math", sw_funcs_math },
    { "defaults", sw_funcs_defaults },
    { "json", sw_funcs_json },
    { "encoding", sw_funcs_encoding },
    { "reflection", sw_funcs_reflect },
    { "paths", sw_funcs_paths },
    { "semver", sw_funcs_semver },
    { "regex", sw_funcs_regex },
    { "dates", sw_funcs_dates },
    { "durations", sw_funcs_durations },
    { "urls", sw_funcs_urls },
    { "random", sw_funcs_random },
    { "crypto", sw_funcs_crypto },
    { "certificates", sw_funcs_certs },
    { "go", sw_funcs_go },
    { 0 },
};

static struct func_index all; /* made once, then never changed */

static void fill(void)
{
    for (const struct func_table *t = sw_func_tables; t->area; t++)
        sw_func_index_add(&all, t->rows);
    all.methods[SW_T_VALUES] = sw_methods_values;
    all.methods[SW_T_FILES] = sw_methods_files;
    all.methods[SW_T_VERSIONS] = sw_methods_versions;
    all.methods[SW_T_DURATION] = sw_methods_duration;
    all.methods[SW_T_MONTH] = all.methods[SW_T_WEEKDAY] = sw_methods_string_only;
    all.methods[SW_T_ERROR] = sw_methods_error;
}

const struct func_index *sw_func_index(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fill);
    return &all;
}
