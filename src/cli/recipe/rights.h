#pragma once
/* rights: the rights that an opened recipe needs (cli/cluster/rbac.h), rendered as the operator
 * renders it. */
#include "cli/cluster/rbac.h"
#include "cli/recipe/recipe_flags.h"

/** The manifests that give @o->account, and the account that the recipe is walked as, the rights
 * that @recipe needs. @o: what follows from the recipe is filled in, and from its own resource
 * where the caller leaves it out; its other members are the caller's. @out: a list, the caller's.
 * @return 0 | what rendering returned */
int sw_recipe_rights(struct sw_rbac_opts *o, struct sw_opened_recipe *recipe,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
