#pragma once
/* git: recipes from git repositories, by libgit2: the tree of one commit. */
#include "chart/recipe/recipe.h"

struct sw_fetcher;

/** git+https://, git+http://, git+ssh://, git+file://; and file://, relative to @ask->base, for
 * another folder of the same commit. @return as sw_fetcher_get() */
int fetch_git(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err);

/** Remove the repositories that were fetched for @f. Twice is harmless. */
void fetch_git_done(struct sw_fetcher *f);
