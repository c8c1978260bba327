#include "chart/template/lang/scope.h"

#include <string.h>

/* A later template replaces an earlier one of its name, unless the later one is empty. */
static const struct tmpl *prevail(const struct tmpl *old, const struct tmpl *new)
{
    return old && new->empty ? old : new;
}

static const struct tmpl *find_in_set(struct sw_map *names, const struct name *name)
{
    struct sw_value *v = sw_map_find_hashed(names, name->s, name->len, name->hash);
    return v ? (const struct tmpl *)v->as.s : NULL;
}

void sw_scope_define(struct sw_map *names, const struct tmpl *tmpl)
{
    const struct tmpl *winner = prevail(find_in_set(names, &tmpl->name), tmpl);
    sw_map_set_borrowed(names, tmpl->name.s, tmpl->name.len,
                        (struct sw_value){ .as.s = (const char *)winner });
}

const struct tmpl *sw_scope_find(const struct scope *scope, const struct name *name)
{
    const struct tmpl *empty = NULL, *found;
    struct sw_map *names = scope->names;
    for (; scope; scope = scope->outer) {
        const struct tmpl *own = scope->own;
        while (own && !sw_name_equal(&own->name, name))
            own = own->next;
        if (own && !own->empty)
            return own;
        empty = own ? own : empty;
    }
    found = find_in_set(names, name);
    return found ? found : empty;
}
