#pragma once
/* fetched: the charts that were fetched while a recipe was opened, as packed charts. */
#include <stddef.h>

#include "cli/recipe/source_flags.h"

/** One of them; all is owned. */
struct sw_fetched_chart {
    char *repository, *name;
    char *version; /* NULL: not told */
    char *bytes;   /* as published; what came as files (git, ConfigMaps) is packed */
    size_t len;
    char *provenance; /* its signature, the text of its .prov file, as it was checked; NULL: it was
                         not asked for */
    bool is_stand_in;
};

struct sw_fetched_charts {
    struct sw_fetched_chart *items; /* owned */
    size_t n, cap;
};
void sw_fetched_charts_done(struct sw_fetched_charts *charts);

/** A sw_source_got_fn; its arg is the struct sw_fetched_charts. */
void sw_fetched_charts_add(void *charts, const struct sw_recipe_ask *ask,
                           const struct sw_recipe_got *got);
/** The one of that name and repository, and of @version if that is told; NULL: there is none. */
const struct sw_fetched_chart *sw_fetched_charts_find(const struct sw_fetched_charts *charts,
                                                      const char *repository, const char *name,
                                                      const char *version);
