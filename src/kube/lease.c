#include "kube/lease.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/internal.h"
#include "kube/lease_record.h"

enum { LEASE_MS = 15000, RENEW_MS = 10000, RETRY_MS = 2000, RELEASE_MS = 2000 };
static const double candidate_jitter = 1.2; /* candidates wait up to so much longer, to spread */

enum lease_state {
    L_CANDIDATE, /* tries to get it */
    L_LEADING,   /* holds it, until @deadline at the latest */
    L_RELEASING, /* releases it in the cluster */
    L_IDLE,      /* released */
};

/** A candidate for a Lease; see lease.h. */
struct sw_lease {
    struct sw_loop *loop;
    struct sw_kube *k; /* its own, for its own connection */
    struct sw_lease_opts opts;
    char *ns, *name, *identity;
    enum lease_state state;
    bool closed;
    bool troubled;
    bool reread;               /* since the last pause: read again after a conflict */
    struct sw_timer *retry;    /* the next try */
    struct sw_timer *deadline; /* leading: stop then. Releasing: do not wait longer */
    struct sw_kube_request *req;
    struct json_object
        *lease;          /* as last read or written; NULL: it does not exist, or not read yet */
    int64_t observed_ms; /* when its record last changed, on our clock */
    int64_t tried_ms;    /* when the write in flight was started */
    char *holder;        /* as last reported */
    void (*on_released)(void *arg);
    void *released_arg;
};

static const struct sw_kind lease_kind = { .group = "coordination.k8s.io",
                                           .version = "v1",
                                           .api_version = "coordination.k8s.io/v1",
                                           .kind = "Lease",
                                           .plural = "leases",
                                           .namespaced = true };

static void try_now(struct sw_lease *l);
static void read_lease(struct sw_lease *l);

/* ---- the record ---------------------------------------------------------------------------------
 */

/** Keep the Lease as it was read or written at @at_ms. @lease: borrowed; NULL: it does not exist.
 * May call on_new_leader or on_renewed, which may close @l. */
static void note_lease(struct sw_lease *l, struct json_object *lease, int64_t at_ms)
{
    struct lease_record was = lease_record_read(l->lease), is = lease_record_read(lease);
    bool same = l->lease && lease && sw_streq(was.holder, is.holder) &&
                sw_streq(was.renewed, is.renewed) && was.lease_ms == is.lease_ms &&
                was.transitions == is.transitions;
    if (!same) /* else its holder has not renewed it */
        l->observed_ms = at_ms;
    struct json_object *old = l->lease;
    l->lease = json_object_get(lease);
    const bool is_renewed = old && !same && l->opts.on_renewed && !sw_streq(is.holder, l->identity);
    (void)json_object_put(old);
    if (sw_streq(is.holder, l->holder)) {
        if (is_renewed && l->holder[0])
            l->opts.on_renewed(l->opts.arg);
        return;
    }
    sw_text_set(&l->holder, is.holder);
    if (l->holder[0] && l->opts.on_new_leader)
        l->opts.on_new_leader(l->holder, l->opts.arg);
}

static bool held_by_us(const struct sw_lease *l)
{
    return sw_streq(lease_record_read(l->lease).holder, l->identity);
}

/** Whether another candidate holds the Lease and it has not expired. */
static bool held_by_another(const struct sw_lease *l)
{
    struct lease_record r = lease_record_read(l->lease);
    int64_t lease_ms = r.lease_ms > 0 ? r.lease_ms : l->opts.lease_ms;
    return r.holder[0] && !held_by_us(l) && sw_loop_now_ms(l->loop) < l->observed_ms + lease_ms;
}

static void note_trouble(struct sw_lease *l, const struct sw_err *err)
{
    bool troubled = err != NULL;
    if (troubled == l->troubled)
        return;
    l->troubled = troubled;
    if (l->opts.on_trouble)
        l->opts.on_trouble(err ? sw_err_text(err) : NULL, l->opts.arg);
}

/* ---- states -------------------------------------------------------------------------------------
 */

static void stop_leading(struct sw_lease *l, const char *why)
{
    l->state = L_CANDIDATE;
    sw_timer_stop(l->deadline);
    if (l->opts.on_stopped)
        l->opts.on_stopped(why, l->opts.arg);
}

static void try_later(struct sw_lease *l)
{
    int64_t ms = l->opts.retry_ms;
    if (l->state == L_CANDIDATE)
        ms += (int64_t)(kube_random(l->k) * candidate_jitter * (double)ms);
    sw_timer_set(l->retry, ms);
}

/** The Lease was written: this process leads. */
static void on_held(struct sw_lease *l, struct json_object *lease)
{
    bool leads = l->state == L_LEADING;
    note_trouble(l, NULL);
    if (!l->closed)
        note_lease(l, lease, l->tried_ms);
    if (l->closed || l->state == L_RELEASING || l->state == L_IDLE)
        return; /* by on_trouble, on_new_leader or on_renewed */
    /* others wait for lease_ms after they read our write; our time runs since it was sent */
    sw_timer_set(l->deadline, l->tried_ms + l->opts.renew_ms - sw_loop_now_ms(l->loop));
    if (!leads) {
        l->state = L_LEADING;
        if (l->opts.on_started)
            l->opts.on_started(l->opts.arg);
    }
    if (!l->closed && l->state == L_LEADING)
        try_later(l);
}

/* ---- requests -----------------------------------------------------------------------------------
 */

/** A renewal must end before the deadline. */
static struct sw_request_opts request_opts(const struct sw_lease *l)
{
    return (struct sw_request_opts){ .timeout_ms = l->opts.renew_ms / 2 };
}

static void on_failure(struct sw_lease *l, const struct sw_kube_answer *a)
{
    note_trouble(l, a->err);
    if (!l->closed)
        try_later(l);
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct sw_lease *l = arg;
    l->req = NULL;
    bool changed = a->code == SW_CONFLICT || (a->code == SW_NOTFOUND && l->lease);
    if (a->code == 0) {
        on_held(l, a->object);
    } else if (changed && !l->reread) {
        l->reread = true;
        read_lease(l); /* another client changed or deleted it: read it again at once */
    } else {
        on_failure(l, a);
    }
}

static void write_lease(struct sw_lease *l)
{
    struct sw_request_opts o = request_opts(l);
    l->tried_ms = sw_loop_now_ms(l->loop);
    SW_AUTO_JSON *body = lease_record_hold(l->lease, l->ns, l->name, l->identity, l->opts.lease_ms,
                                           sw_loop_wall_ms(l->loop));
    l->req = l->lease ? sw_kube_update(l->k, &lease_kind, l->ns, l->name, body, &o, on_written, l)
                      : sw_kube_create(l->k, &lease_kind, l->ns, NULL, body, &o, on_written, l);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct sw_lease *l = arg;
    l->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND) {
        on_failure(l, a);
        return;
    }
    if (a->code == 0) /* a missing namespace is found out when the Lease is created */
        note_trouble(l, NULL);
    if (!l->closed)
        note_lease(l, a->object, sw_loop_now_ms(l->loop));
    if (l->closed)
        return;
    if (l->state == L_LEADING && l->lease && !held_by_us(l)) {
        SW_AUTO_CHARS *why = sw_printf("'%s' holds the lease", l->holder);
        stop_leading(l, why);
    }
    if (l->closed || l->state == L_RELEASING || l->state == L_IDLE)
        return;
    if (held_by_another(l))
        try_later(l);
    else
        write_lease(l);
}

static void read_lease(struct sw_lease *l)
{
    struct sw_request_opts o = request_opts(l);
    l->req = sw_kube_get(l->k, &lease_kind, l->ns, l->name, &o, on_read, l);
}

/** A leader writes at once: it has the version. A candidate reads first. */
static void try_now(struct sw_lease *l)
{
    if (l->state == L_LEADING && held_by_us(l))
        write_lease(l);
    else
        read_lease(l);
}

static void on_retry(void *arg)
{
    struct sw_lease *l = arg;
    struct sw_http *http = l->k->http;
    sw_http_enter(http);
    l->reread = false;
    if (!l->req)
        try_now(l);
    sw_http_leave(http);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void released(struct sw_lease *l)
{
    l->state = L_IDLE;
    sw_timer_stop(l->deadline);
    sw_kube_cancel(SW_TAKE(l->req));
    if (l->on_released)
        l->on_released(l->released_arg);
}

static void on_released(const struct sw_kube_answer *a SW_UNUSED, void *arg)
{
    struct sw_lease *l = arg;
    l->req = NULL; /* if it was refused: the lease expires by itself */
    released(l);
}

static void on_deadline(void *arg)
{
    struct sw_lease *l = arg;
    struct sw_http *http = l->k->http;
    sw_http_enter(http);
    if (l->state == L_LEADING) {
        sw_kube_cancel(SW_TAKE(l->req));
        stop_leading(l, "the lease could not be renewed in time");
        if (!l->closed && l->state == L_CANDIDATE)
            try_later(l);
    } else if (l->state == L_RELEASING) {
        released(l);
    }
    sw_http_leave(http);
}

void sw_lease_release(struct sw_lease *l, void (*done)(void *arg), void *arg)
{
    struct sw_http *http = l->k->http;
    bool held = l->state == L_LEADING && held_by_us(l);
    sw_http_enter(http);
    sw_kube_cancel(SW_TAKE(l->req));
    sw_timer_stop(l->retry);
    l->on_released = done;
    l->released_arg = arg;
    if (l->state == L_LEADING)
        stop_leading(l, "stopping");
    if (!l->closed) {
        l->state = L_RELEASING;
        sw_timer_set(l->deadline, held ? RELEASE_MS : 0);
        if (held) {
            struct sw_request_opts o = { .timeout_ms = RELEASE_MS };
            SW_AUTO_JSON *body = lease_record_release(l->lease, sw_loop_wall_ms(l->loop));
            l->req = sw_kube_update(l->k, &lease_kind, l->ns, l->name, body, &o, on_released, l);
        }
    }
    sw_http_leave(http);
}

static void lease_free(void *arg)
{
    struct sw_lease *l = arg;
    sw_timer_free(l->retry);
    sw_timer_free(l->deadline);
    (void)json_object_put(l->lease);
    free(l->ns);
    free(l->name);
    free(l->identity);
    free(l->holder);
    free(l);
}

void sw_lease_close(struct sw_lease *l)
{
    if (!l || l->closed)
        return;
    struct sw_kube *k = l->k;
    l->closed = true;
    l->state = L_IDLE;
    sw_timer_stop(l->retry);
    sw_timer_stop(l->deadline);
    l->req = NULL; /* freed with its client */
    sw_http_defer(k->http, lease_free, l);
    sw_kube_free(k);
}

/* ---- the start ----------------------------------------------------------------------------------
 */

char *sw_lease_identity(const char *otherwise)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    return sw_strdup(sw_text_or(getenv("POD_NAME"), sw_text_or(host, otherwise)));
}

int sw_lease_open(struct sw_loop *loop, const struct sw_kube_config *config,
                  const struct sw_lease_opts *opts, struct sw_lease **out, struct sw_err *err)
{
    struct sw_lease_opts o = *opts;
    o.lease_ms = o.lease_ms ? o.lease_ms : LEASE_MS;
    o.renew_ms = o.renew_ms ? o.renew_ms : RENEW_MS;
    o.retry_ms = o.retry_ms ? o.retry_ms : RETRY_MS;
    if (!o.ns || !o.ns[0] || !o.name || !o.name[0] || !o.identity || !o.identity[0])
        return sw_err_set(err, SW_INVALID, "lease: namespace, name and identity are needed");
    /* client-go's rule; otherwise a leader could stop later than another starts */
    if (o.lease_ms <= o.renew_ms || (double)o.renew_ms <= (double)o.retry_ms * candidate_jitter)
        return sw_err_set(err, SW_INVALID,
                          "lease: its duration (%d ms) must be more than the renewal deadline (%d "
                          "ms), and that more than 1.2 times the retry period (%d ms)",
                          o.lease_ms, o.renew_ms, o.retry_ms);
    struct sw_kube *k;
    const struct sw_kube_opts opts_k = { .user_agent = o.user_agent, .seed = o.seed };
    int rc = sw_kube_new(loop, config, &opts_k, &k, err);
    if (rc < 0)
        return rc;
    struct sw_lease *l = sw_zalloc(1, sizeof *l);
    *l = (struct sw_lease){ .loop = loop, .k = k, .opts = o, .state = L_CANDIDATE };
    l->ns = sw_strdup(o.ns);
    l->name = sw_strdup(o.name);
    l->identity = sw_strdup(o.identity);
    l->holder = sw_strdup("");
    l->retry = sw_timer_new(loop, on_retry, l);
    l->deadline = sw_timer_new(loop, on_deadline, l);
    try_now(l);
    *out = l;
    return 0;
}

bool sw_lease_is_leader(const struct sw_lease *l)
{
    return l->state == L_LEADING;
}

const char *sw_lease_holder(const struct sw_lease *l)
{
    return l->holder;
}
