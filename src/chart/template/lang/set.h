#pragma once
/* Inside the template module: a set's parts. */
#include "chart/template/lang/ast.h"
#include "chart/template/lang/template.h"

const struct func_index *sw_template_set_funcs(const struct sw_template_set *set);
