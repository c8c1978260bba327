#include "chart/template/template.h"

#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/set.h"

struct sw_template_set *sw_template_set_new(void)
{
    return sw_template_set_with(sw_func_index());
}
