#pragma once
/* The definitions of templates: which one a name means, for the templates of a set and for a text
 * that tpl executes. */
#include "chart/template/lang/ast.h"

/** The templates that a name can mean: all of a set, and within tpl those of its text, which come
 * first. A text within a text sees those of both. */
struct scope {
    struct sw_map *names;      /* of the set: see sw_scope_define() */
    const struct tmpl *own;    /* tpl: the templates of its text, else NULL */
    const struct scope *outer; /* tpl: that of the call, else NULL */
};

/** Add a definition to @names, a map made by sw_map_new() that only this and sw_scope_find() use.
 * Memory comes from the map's arena; @tmpl is borrowed for the map's life. */
void sw_scope_define(struct sw_map *names, const struct tmpl *tmpl);

/** The template that @name means in @scope; NULL: none. */
const struct tmpl *sw_scope_find(const struct scope *scope, const struct name *name);
