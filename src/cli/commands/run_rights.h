#pragma once
/* run_rights: `slipway run --emulate --authorization rbac`: the embedded cluster has the accounts,
 * roles and bindings that slipway ships, and those that `slipway rbac RECIPE` prints, and no others
 * for the operator. Pinned by test/emulator/cli/emulated_rights_test.sh. */
#include "cli/recipe/recipe_flags.h"

struct sw_emulator;

/** The operator's account, as it is shipped. */
#define SW_OPERATOR_ACCOUNT "slipway"
/** Its namespace. */
#define SW_OPERATOR_ACCOUNT_NS "slipway"

/** Create them in the cluster. @flags: how @recipe is opened, with the name and the namespace that
 * the resource has. @return 0 | as opening and rendering the recipe */
int sw_run_grant(struct sw_emulator *emulator, const char *recipe, struct sw_recipe_flags *flags,
                 struct sw_err *err) SW_CHECKED;
