#pragma once
/* sources: the sources of charts that have no folder of their own. Each fetches @ask from @f's
 * cache or the network into @got, puts the source in front of its messages, and returns as
 * sw_fetcher_get() does. */
#include "chart/recipe/recipe.h"

struct sw_fetcher;

/** http://, https://: a Helm repository (index.yaml), or one packaged chart. */
int fetch_repository(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err);
/** oci://: a chart in a registry. */
int fetch_oci(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err);
/** Any source: the chart in sw_fetch_opts.charts_dir, or its stand-in. @return SW_NOTFOUND, without
 * a message: there is none */
int fetch_at_hand(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                  struct sw_err *err);
/** A chart in the place of the one that could not be fetched: @why is the error when it is
 * rendered. */
int fetch_missing(const struct sw_recipe_ask *ask, const char *why, struct sw_recipe_got *got,
                  struct sw_err *err);
/** cm://: a ConfigMap, by sw_fetch_opts.config_map. */
int fetch_config_map(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err);
