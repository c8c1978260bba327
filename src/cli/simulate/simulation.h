#pragma once
/* simulation: a walk of a recipe with cluster and controller in this process on one virtual clock,
 * with faults by a plan and a controller that is killed after its n-th API request and restarted.
 * The cluster at the end must be the same as after an undisturbed walk. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

struct json_object;
struct sw_walk;

/** One simulation. Its document is {"recipe", "platform", "nodes", "seed", "kills": [n...], "plan":
 * {...}}; all but the recipe are optional. */
struct sw_simulation {
    const char *recipe; /* folder or archive */
    bool kubernetes;    /* platform: kubernetes; else OpenShift */
    int n_nodes;        /* 0: the emulator's default */
    uint64_t seed;      /* of names, uids and jitter; 0: 1 */
    const uint64_t *kills;
    size_t n_kills;           /* ascending numbers of requests, over all lives of the controller */
    struct json_object *plan; /* of faults (docs/faults.md), or NULL */
    const char *plan_name;    /* for messages */
    /** Called for each Event and kill, with a line of text. @at_ms since the start. May be NULL. */
    void (*say)(int64_t at_ms, const char *line, void *arg);
    /** Called where a walk may branch: with 0 before the controller's first life, then after each
     * of its requests with their number. It may call sw_simulation_fork() any number of times, and
     * returns NULL; in a child it returns the simulation that goes on there, which must stay
     * valid and may differ in kills and plan only; after a request its first kill is due. May be
     * NULL. */
    const struct sw_simulation *(*branch)(struct sw_walk *walk, uint64_t n_requests, void *arg);
    void *arg;
};

/** The result of a simulation; sw_simulation_end_done(). */
struct sw_simulation_end {
    bool ready;                   /* within an hour of virtual time after the last fault */
    char *message;                /* if not: the state that it was in */
    struct json_object *snapshot; /* of the cluster (snapshot.h) */
    uint64_t n_requests;          /* of the controller, without those for its Lease */
    uint64_t n_faults;
    int n_lives;
    int64_t took_ms; /* virtual time until Ready */
};

/** Run a simulation. @return 0, even if it does not end Ready | SW_INVALID, SW_NOTFOUND...: it
 * could not begin */
int sw_simulation_run(const struct sw_simulation *simulation, struct sw_simulation_end *end,
                      struct sw_err *err) SW_CHECKED;
/** Fork the process; only in sw_simulation.branch. @return as fork() */
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
