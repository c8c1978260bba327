#pragma once
/* random: what a recipe makes at random and does not keep. */
#include "cli/lint/lint.h"

/** Warn of each object that comes out differently when the recipe is rendered again on a cluster
 * that has what was @rendered with @env: a second walk would change it. As Helm: what `lookup`
 * finds is kept. */
void sw_lint_random(const struct sw_plan *plan, const struct sw_render_env *env,
                    const struct sw_rendered *rendered, struct sw_problems *problems);
