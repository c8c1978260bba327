#pragma once
/* strvals: the grammar of --set. */
#include "base/base.h"
#include "chart/recipe/recipe.h"
#include "chart/template/value/value.h"

/** Set the values of @text ("a.b[0].c=1,d={x,y}") in @map. '\' escapes the next character. On
 * failure the values before the mistake have been set.
 * @return 0 | SW_INVALID | what reading a --set-file's file returned
 * Source: Helm's pkg/strvals, 3.7.1 and, for --set-json, 3.10. Pinned by
 * test/unit/chart/recipe_strvals_test.c. */
int sw_strvals_parse(struct sw_map *map, enum sw_values_syntax syntax, const char *text,
                     struct sw_err *err) SW_CHECKED;
