#include "data/cel/marks.h"

#include "data/cel/cel.h"

static char quantity_mark, semver_mark, open_mark;

static json_object *marked(json_object *value, char *mark)
{
    json_object_set_userdata(value, mark, NULL);
    return value;
}

json_object *sw_cel_quantity(const char *text)
{
    return marked(json_object_new_string(text), &quantity_mark);
}

json_object *sw_cel_semver(const char *text)
{
    return marked(json_object_new_string(text), &semver_mark);
}

json_object *sw_cel_open_map(void)
{
    return marked(json_object_new_object(), &open_mark);
}

enum sw_cel_mark sw_cel_mark(json_object *value)
{
    const void *mark = value ? json_object_get_userdata(value) : NULL;
    return mark == &quantity_mark ? SW_CEL_QUANTITY
           : mark == &semver_mark ? SW_CEL_SEMVER
           : mark == &open_mark   ? SW_CEL_OPEN_MAP
                                  : SW_CEL_PLAIN;
}
