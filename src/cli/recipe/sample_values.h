#pragma once
/* sample_values: what templates that ask for the resource see of it without a cluster. SRO's charts
 * have no values for what the operator says. */
#include "chart/recipe/recipe.h"

struct json_object;

/** Where the templates of @recipe, at @path, ask for .Values.specialresource, .groupName or
 * .specialResourceModule, and neither the chart nor @values have it, @*values get
 * spec.set of the chart's own resource below them, and @*facts, the caller's, are those of a
 * cluster with one node and of that resource, or of one with nothing of its own; else they stay as
 * they are. @name, @ns: of the resource; NULL: its own, else the chart's name.
 * @return 0 | as sw_resource_base() | as sw_values_add_json()
 * Pinned by test/golden/cli/lint_test.sh and test/emulator/deploy/rbac_test.sh. */
int sw_sample_values(const struct sw_recipe *recipe, const char *path, const char *name,
                     const char *ns, struct sw_values **values, struct json_object **facts,
                     struct sw_err *err) SW_CHECKED;

/** The SpecialResource of its own that the chart of @recipe, at @path, has, as sw_resource_base();
 * its spec.set comes below *@values.
 * @return 0, with *@resource the caller's, or NULL: there is none | as sw_resource_base() | as
 * sw_values_add_json() */
int sw_own_resource_values(const struct sw_recipe *recipe, const char *path,
                           struct sw_values **values, struct json_object **resource,
                           struct sw_err *err) SW_CHECKED;
