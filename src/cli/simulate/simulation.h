#pragma once
/* simulation: a whole walk of a recipe, with cluster and controller in this process on one virtual
 * clock, and failures on purpose: faults by a plan, and a controller that is killed after its n-th
 * API request and started again. The cluster at the end is compared with that of an undisturbed
 * walk: both must be the same. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

struct json_object;
struct sw_walk;

/** One simulation, as it stands in a file: {"recipe", "platform", "nodes", "seed", "kills": [n...],
 * "plan": {...}}; all but the recipe may be left out. */
struct sw_simulation {
    const char *recipe; /* folder or archive */
    bool kubernetes;    /* platform: kubernetes; else OpenShift */
    int n_nodes;        /* 0: the usual five */
    uint64_t seed;      /* of names, uids and jitter; 0: 1 */
    const uint64_t *kills;
    size_t n_kills;           /* ascending, counted over all lives of the controller */
    struct json_object *plan; /* of faults (docs/faults.md), or NULL */
    const char *plan_name;    /* for messages */
    /** Called for each Event and kill, with a line of text. @at_ms since the start. May be NULL. */
    void (*say)(int64_t at_ms, const char *line, void *arg);
    /** Where a walk may branch: called with 0 before the controller's first life, and after each of
     * its requests with their number. It may call sw_simulation_fork(), as often as it likes, and
     * returns NULL; in a child, the simulation that goes on there, which lasts as long. That one
     * has other kills and another plan only; where there was a request, its first kill is due. May
     * be NULL. */
    const struct sw_simulation *(*branch)(struct sw_walk *walk, uint64_t n_requests, void *arg);
    void *arg;
};

/** The result of a simulation; sw_simulation_end_done(). */
struct sw_simulation_end {
    bool ready;                   /* within an hour of its time after the last fault */
    char *message;                /* where it stood, when not */
    struct json_object *snapshot; /* of the cluster (snapshot.h) */
    uint64_t n_requests;          /* of the controller, without those for its Lease */
    uint64_t n_faults;
    int n_lives;
    int64_t took_ms; /* of its time until Ready */
};

/** @return 0 (also when the walk did not end well) | SW_INVALID, SW_NOTFOUND...: it could not begin
 */
int sw_simulation_run(const struct sw_simulation *simulation, struct sw_simulation_end *end,
                      struct sw_err *err) SW_CHECKED;
/** Only in sw_simulation.branch. @return 0 in the child; its pid; -1 and errno: there is none */
pid_t sw_simulation_fork(struct sw_walk *walk) SW_CHECKED;
/** Free what @end holds; it is empty then. */
void sw_simulation_end_done(struct sw_simulation_end *end);

/** Random kills and faults, the same for the same seed. @n_requests: of an undisturbed walk.
 * {"kills", "plan"}; the caller's. */
struct json_object *sw_simulation_random(uint64_t seed, uint64_t n_requests);
/** A simulation from its document, which must outlive it; @kills gets heap that is the caller's.
 * @return 0 | SW_INVALID, naming @name and the field */
int sw_simulation_read(struct json_object *doc, const char *name, struct sw_simulation *out,
                       uint64_t **kills, struct sw_err *err) SW_CHECKED;
