#pragma once
/* lease: leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's: both can
 * compete for one Lease. It uses a client of its own, so that no load of the caller's can starve
 * its renewals. A leader that cannot renew stops leading before others may begin, and then competes
 * again; nothing here ever ends the process. */
#include <stdbool.h>
#include <stdint.h>

struct sw_err;
struct sw_kube_config;
struct sw_lease;
struct sw_loop;

/** How to compete for a Lease. Zero selects the default of each optional field. */
struct sw_lease_opts {
    const char *ns;       /* of the Lease; must be set */
    const char *name;     /* of the Lease; must be set */
    const char *identity; /* unique, and best the same after a restart; must be set */
    int lease_ms;         /* how long others wait for a holder that does not renew; 0: 15000 */
    int renew_ms;         /* a holder that could not renew for so long stops; 0: 10000 */
    int retry_ms;         /* between tries; 0: 2000 */
    uint64_t seed;        /* of the jitter; 0: from the system */
    const char *user_agent;
    void (*on_started)(void *arg); /* this process leads from now on */
    /** This process does not lead any more; it must not write after this returns. @why is a
     * message.
     */
    void (*on_stopped)(const char *why, void *arg);
    void (*on_new_leader)(const char *identity, void *arg); /* may be ourselves */
    void (*on_renewed)(void *arg); /* the other one who holds it is alive; each time */
    /** The Lease cannot be read or written (@why), or it can be again (NULL); only on a change. */
    void (*on_trouble)(const char *why, void *arg);
    void *arg;
};

/** An identity that is the same after a restart of the pod: $POD_NAME, else the host's name, else
 * @otherwise. The caller's. */
char *sw_lease_identity(const char *otherwise);

/** Compete from now on. Callbacks run on the loop, never before this returned; any may be NULL.
 * @return 0 | SW_INVALID (an option, @config)
 * Source: client-go tools/leaderelection (times are measured on the local clock; the holder's are
 * not trusted). Pinned by test/unit/kube/kube_lease_test.c. */
int sw_lease_open(struct sw_loop *loop, const struct sw_kube_config *config,
                  const struct sw_lease_opts *opts, struct sw_lease **out, struct sw_err *err);

/** Whether this process is the leader now. */
bool sw_lease_is_leader(const struct sw_lease *lease);
/** The identity of the last known holder, "" if there is none. Borrowed until the next turn of the
 * loop. */
const char *sw_lease_holder(const struct sw_lease *lease);

/** Stop leading (on_stopped is called now) and release the Lease in the cluster, so that another
 * candidate can lead at once. @done is called when the server has answered, or after 2 s; never
 * before this function has returned. Close the lease then. */
void sw_lease_release(struct sw_lease *lease, void (*done)(void *arg), void *arg);

/** Stop competing at once without releasing the Lease in the cluster; no callback runs any more,
 * also not on_stopped. May be called from a callback. NULL is accepted. */
void sw_lease_close(struct sw_lease *lease);
