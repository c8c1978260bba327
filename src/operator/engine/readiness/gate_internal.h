#pragma once
/* The inside of a gate, for the engine. */
#include <regex.h>
#include <stdint.h>

#include "operator/engine/readiness/gate.h"

struct sw_condition;

struct conditions {
    struct sw_condition **items;
    size_t n;
};

struct sw_gate {
    struct conditions success, failure; /* used only where the manifest has both */
    bool custom;
    bool awaited;
    bool observe, hold, dry_run, adopt, replace;
    bool runs_to_completion; /* a Job, or a Pod that is meant to end */
    char *vendor;            /* of a driver container, or NULL */
    bool driver_container;   /* it runs the vendor's driver */
    bool by_node;            /* see SW_ANN_UPGRADE */
    int64_t timeout_ms;      /* 0: none */
    int64_t n_retries;       /* of what has run to its end and failed; -1: any number */
    char **node_labels;      /* that each node must carry */
    size_t n_node_labels;
    char *log_pattern; /* what the end of each pod's log must match, or NULL */
    regex_t log_regex;
};
