#pragma once
/* Template sets made with the functions that templates can call. */
#include "chart/template/template.h"

struct func_index;

/** As sw_template_set_new(), with these functions. @funcs is borrowed for the set's life. */
struct sw_template_set *sw_template_set_with(const struct func_index *funcs);
