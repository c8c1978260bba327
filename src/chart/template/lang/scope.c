#include "chart/template/lang/scope.h"

#include <string.h>

/* Each name keeps all its definitions, in the order of parsing: a text given to tpl does not use
 * those of the file that calls it. */

struct definition {
    const struct tmpl *tmpl;
    struct definition *next; /* parsed later */
};

struct definitions { /* a value of the map of names, in as.s */
    struct definition *first, *last;
    const struct tmpl *winner;
};

static struct definitions *find_definitions(struct sw_map *names, const struct name *name)
{
    struct sw_value *v = sw_map_find_hashed(names, name->s, name->len, name->hash);
    return v ? (struct definitions *)v->as.s : NULL;
}

/* A later template replaces an earlier one of its name, unless the later one is empty. */
static const struct tmpl *prevail(const struct tmpl *old, const struct tmpl *new)
{
    return old && new->empty ? old : new;
}

void sw_scope_define(struct sw_map *names, const struct tmpl *tmpl)
{
    struct definitions *defs = find_definitions(names, &tmpl->name);
    struct sw_arena *arena = sw_map_arena(names);
    if (!defs) {
        defs = sw_arena_alloc(arena, sizeof *defs);
        sw_map_set_borrowed(names, tmpl->name.s, tmpl->name.len,
                            (struct sw_value){ .as.s = (const char *)defs });
    }
    struct definition *d = sw_arena_alloc(arena, sizeof *d);
    d->tmpl = tmpl;
    if (defs->last)
        defs->last->next = d;
    else
        defs->first = d;
    defs->last = d;
    defs->winner = prevail(defs->winner, tmpl);
}

static const struct tmpl *find_own(const struct tmpl *own, const struct name *name)
{
    while (own && !sw_name_equal(&own->name, name))
        own = own->next;
    return own;
}

const struct tmpl *sw_scope_find(const struct scope *scope, const struct name *name)
{
    const struct definitions *defs = find_definitions(scope->names, name);
    if (!scope->replaced)
        return defs ? defs->winner : NULL;
    const struct tmpl *found = find_own(scope->own, name);
    for (const struct definition *d = defs ? defs->first : NULL; d; d = d->next) {
        const char *file = d->tmpl->source->name;
        struct name file_name = sw_name(file, strlen(file));
        if (!sw_name_equal(&file_name, scope->replaced) && !find_own(scope->own, &file_name))
            found = prevail(found, d->tmpl);
    }
    return found;
}
