#pragma once
/* The table of an object's workers, for the files that read it: workers.c, worker_logs.c,
 * late_workers.c. */
#include "data/selector/selector.h"
#include "operator/engine/internal.h"

struct worker {
    char *name;
    uint32_t node;
    bool ready, terminating;
    uint64_t version;
    uint64_t owner;                /* its owner's uid, hashed; 0: not known */
    int64_t template;              /* generation of its DaemonSet's template; -1: not known */
    int64_t number;                /* of a build */
    char *build_pod;               /* of a build: the name of its pod */
    int64_t n_restarts, counts_ms; /* a pod that runs again counts from then on; 0: it does */
    bool has_ended;                /* a container of it has, and is started again */
    struct sw_readiness readiness;
    int64_t since_ms; /* of the reason of @readiness */
    bool logged;      /* its log matches the pattern */
    uint64_t log_serial;
    unsigned n_log_tries;
    int64_t log_due_ms;
};

struct workers {
    bool builds; /* else pods */
    bool node_by_node;
    bool inform;  /* they say why their object is not ready, and decide nothing */
    bool any_pod; /* all pods of @ns that slipway has not made: an operator's; @inform, too */
    char *ns;     /* where they are; NULL: in the object's namespace */
    struct sw_selector selector;
    char *selector_text;
    struct lh_table *by_name;
    size_t n_restarting;      /* that do not count yet, or are not ready since they have ended */
    struct bitset has, ready; /* nodes with a pod; those whose pods are all ready */
};

/** The one after @*at, or the first; NULL after the last. */
struct worker *workers_next(const struct workers *w, struct lh_entry **at);
/** NULL: there is none of that name. */
struct worker *workers_find(const struct workers *w, const char *name);
