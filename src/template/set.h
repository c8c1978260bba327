#pragma once
/* Inside the template module: a set's parts. */
#include "template/ast.h"
#include "template/template.h"

const struct func_index *sw_template_set_funcs(const struct sw_template_set *set);
