#include "cli/cluster/turn.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "kube/lease.h"

#define NAMESPACE "default"

enum {
    LEASE_MS = 6000,
    RENEW_MS = 4000,
    RETRY_MS = 2000,                    /* it is renewed as often */
    ALIVE_MS = LEASE_MS + 2 * RETRY_MS, /* by then another one has renewed it, or it is ours */
    DELETE_MS = 2000,
};

struct sw_turn {
    struct sw_turn_opts opts;
    char *name, *identity;
    char *other; /* who holds it; NULL: nobody else, as far as is known */
    struct sw_lease *lease;
    struct sw_timer *timer;
    bool begun;
    bool is_held; /* by this process, at some time */
};

static void begin(struct sw_turn *t)
{
    sw_timer_stop(t->timer);
    if (!t->begun)
        t->opts.go(t->opts.arg);
    t->begun = true;
}

static void tell_taken(struct sw_turn *t)
{
    SW_AUTO_CHARS *why = sw_printf("%s is walked by another slipway (%s); --alongside walks it "
                                   "all the same",
                                   t->opts.resource, t->other);
    t->opts.taken(why, t->opts.arg);
}

static void on_timer(void *arg)
{
    struct sw_turn *t = arg;
    if (!t->begun && t->other)
        tell_taken(t);
    else
        begin(t);
}

static void on_started(void *arg)
{
    struct sw_turn *t = arg;
    t->is_held = true;
    sw_text_set(&t->other, NULL);
    begin(t);
}

static void on_new_leader(const char *identity, void *arg)
{
    struct sw_turn *t = arg;
    if (!*identity || sw_streq(identity, t->identity))
        return;
    sw_text_set(&t->other, identity);
    if (t->begun)
        tell_taken(t); /* it took over what this process could not renew */
    else
        (void)fprintf(stderr,
                      "slipway %s: %s is walked by another slipway (%s): looking whether it still "
                      "is\n",
                      t->opts.conn->command, t->opts.resource, identity);
}

/* The other one is alive. */
static void on_renewed(void *arg)
{
    struct sw_turn *t = arg;
    if (!t->begun && t->other)
        sw_timer_set(t->timer, 0); /* not inside the lease's own work */
}

/* Without the right, or without a server, nothing is known: the walk says what is wrong. */
static void on_trouble(const char *why, void *arg)
{
    struct sw_turn *t = arg;
    if (why && !t->begun && !t->other)
        sw_timer_set(t->timer, 0); /* not inside the lease's own work */
}

struct sw_turn *sw_turn_open(const struct sw_turn_opts *opts)
{
    struct sw_turn *t = sw_zalloc(1, sizeof *t);
    SW_AUTO_CHARS *host = sw_lease_identity("slipway");
    SW_ERR(err);
    t->opts = *opts;
    t->name = sw_printf("slipway-run.%s", opts->resource);
    t->identity = sw_printf("%s, process %d", host, (int)getpid());
    t->timer = sw_timer_new(opts->conn->loop, on_timer, t);
    int rc = sw_lease_open(opts->conn->loop, opts->conn->config,
                           &(struct sw_lease_opts){ .ns = NAMESPACE,
                                                    .name = t->name,
                                                    .identity = t->identity,
                                                    .lease_ms = LEASE_MS,
                                                    .renew_ms = RENEW_MS,
                                                    .retry_ms = RETRY_MS,
                                                    .on_started = on_started,
                                                    .on_new_leader = on_new_leader,
                                                    .on_renewed = on_renewed,
                                                    .on_trouble = on_trouble,
                                                    .arg = t },
                           &t->lease, &err);
    sw_timer_set(t->timer, rc < 0 ? 0 : ALIVE_MS);
    return t;
}

const char *sw_turn_other(const struct sw_turn *t)
{
    return t && !t->begun ? t->other : NULL;
}

static void delete_lease(struct sw_turn *t)
{
    struct sw_connection *conn = t->opts.conn;
    const struct sw_kind *kind;
    SW_ERR(err); /* it runs out by itself */
    conn->signal = 0;
    conn->until_ms = sw_loop_now_ms(conn->loop) + DELETE_MS;
    if (sw_cluster_kind(conn, "coordination.k8s.io/v1", "Lease", &kind, &err) == 0)
        (void)!sw_cluster_delete(conn, kind, NAMESPACE, t->name, NULL, &err);
}

void sw_turn_close(struct sw_turn *t)
{
    if (!t)
        return;
    bool is_ours = t->is_held && !t->other;
    sw_lease_close(SW_TAKE(t->lease));
    if (is_ours && !t->opts.conn->is_down && !sw_connection_is_silent(t->opts.conn))
        delete_lease(t);
    sw_timer_free(t->timer);
    free(t->name);
    free(t->identity);
    free(t->other);
    free(t);
}
