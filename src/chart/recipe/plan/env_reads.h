#pragma once
/* env_reads: what templates read of what holds now; see struct sw_env_reads in recipe.h. */
#include <stdbool.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"
#include "chart/template/value/value.h"

struct sw_env_reads {
    struct sw_arena *arena;
    struct sw_reads facts; /* keys of .Values of any chart */
    struct sw_reads apis;  /* .Capabilities.APIVersions */
    bool looked_up;
};

/** The fact @key was read by slipway itself. @reads may be NULL. */
void sw_env_reads_fact(struct sw_env_reads *reads, const char *key);
