#include "template/func_tables.h"

const struct func_table sw_func_tables[] = {
    { "helm", sw_funcs_helm },
    { "go", sw_funcs_go },
};
const size_t sw_func_tables_n = SW_COUNT(sw_func_tables);
