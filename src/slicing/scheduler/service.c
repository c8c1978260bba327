/* The scheduler's HTTP service, its start and end. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/internal.h"

enum {
    MAX_IN_FLIGHT = 96,
    MAX_BODY_BYTES = 64 * 1024 * 1024,
    /* kube-scheduler decides much faster than an API server writes, and binds all pods at once that
     * it has decided about. With so many binds its next filter request is held back. */
    MAX_BINDS = 64,
};

/* ---- requests ----------------------------------------------------------------------------------
 */

static void refuse(struct sw_scheduler *s, struct sw_serve_reply *reply, const struct sw_err *err)
{
    s->metrics.bad_requests++;
    SW_AUTO_CHARS *text = sw_printf("bad request: %s\n", sw_err_text(err));
    sw_serve_text(reply, 400, text);
}

/* While the cache is not complete an answer would be wrong. @return whether @reply was answered so
 */
static bool not_yet(struct sw_scheduler *s, struct sw_serve_reply *reply)
{
    const char *why = sw_scheduler_trouble(s);
    if (!why)
        return false;
    struct printbuf *out = printbuf_new();
    SW_AUTO_CHARS *text = sw_printf("slipway-scheduler: %s", why);
    extender_put_error(out, text);
    sw_serve_json(reply, out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return true;
}

typedef int ask_fn(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                   struct printbuf *out, struct extender_outcome *outcome, struct sw_err *err);

static bool ask(struct sw_scheduler *s, const struct sw_serve_request *r,
                struct sw_serve_reply *reply, enum metrics_verb verb, ask_fn *fn,
                struct extender_outcome *outcome)
{
    SW_ERR(err);
    const double begin = sw_monotonic_s();
    struct printbuf *out = s->answer;
    printbuf_reset(out);
    const int rc = fn(s->extender, r->body, r->body_len, sw_loop_now_ms(s->loop), out, outcome,
                      &err);
    if (rc < 0)
        refuse(s, reply, &err);
    else
        sw_serve_json(reply, out->buf, (size_t)out->bpos);
    sched_metrics_answered(&s->metrics, verb, sw_monotonic_s() - begin);
    return rc == 0;
}

static void filter(struct sw_scheduler *s, const struct sw_serve_request *r,
                   struct sw_serve_reply *reply)
{
    struct extender_outcome outcome = { 0 };
    if (!ask(s, r, reply, METRICS_FILTER, extender_filter, &outcome) || outcome.n_fit)
        return;
    s->metrics.unschedulable++;
    if (outcome.elsewhere)
        sched_collector_hint(s, outcome.pod, outcome.elsewhere);
    sched_evict_consider(s, &outcome);
    if (!sw_log_enabled(SW_LOG_DEBUG))
        return;
    SW_AUTO_CHARS *pod = sw_printf("%s/%s", outcome.pod->ns, outcome.pod->name);
    SW_AUTO_CHARS *pod_request = pod_request_text(&outcome.pod->pod_request);
    sw_log(SW_LOG_DEBUG, "no node has room", "pod", pod, "wants", pod_request, "first", outcome.why,
           NULL);
}

struct held_filter {
    struct sw_serve_reply *reply;
    char *body;
    size_t len;
    struct held_filter *next;
};

static void on_change(struct sw_scheduler *s)
{
    while (s->held && s->n_binds < MAX_BINDS) {
        struct held_filter *h = s->held;
        const struct sw_serve_request r = { .body = h->body, .body_len = h->len };
        s->held = h->next;
        if (!not_yet(s, h->reply))
            filter(s, &r, h->reply);
        free(h->body);
        free(h);
    }
    sched_collector_check(s);
}

static void on_filter(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_scheduler *s = arg;
    if (not_yet(s, reply))
        return;
    if (s->n_binds < MAX_BINDS && !s->held) {
        filter(s, r, reply);
        return;
    }
    struct held_filter *h = sw_zalloc(1, sizeof *h), **end = &s->held;
    *h = (struct held_filter){ reply, sw_strndup(r->body, r->body_len), r->body_len, NULL };
    while (*end)
        end = &(*end)->next;
    *end = h;
}

static void on_prioritize(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct extender_outcome outcome = { 0 };
    (void)ask(arg, r, reply, METRICS_PRIORITIZE, extender_prioritize, &outcome);
}

static void on_preempt(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_scheduler *s = arg;
    struct extender_outcome outcome = { 0 };
    if (sw_scheduler_trouble(s)) /* the protocol has no error in this answer */
        sw_serve_text(reply, 503, sw_scheduler_trouble(s));
    else if (ask(s, r, reply, METRICS_PREEMPT, extender_preempt, &outcome) && outcome.n_fit)
        sched_evict_cancel(s, outcome.pod);
}

static void on_bind(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_scheduler *s = arg;
    struct extender_bind bind = { 0 };
    SW_ERR(err);
    if (not_yet(s, reply))
        return;
    if (extender_read_bind(s->extender, r->body, r->body_len, &bind, &err) < 0) {
        refuse(s, reply, &err);
        return;
    }
    sched_bind_start(s, &bind, reply);
    extender_bind_done(&bind);
}

static void on_readyz(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                      void *arg)
{
    sw_serve_ready(reply, sw_scheduler_trouble(arg));
}

static void on_metrics(struct sw_serve_reply *reply, void *arg)
{
    SW_AUTO_CHARS *text = sw_scheduler_metrics(arg);
    sw_serve_answer(reply, 200, SW_METRICS_CONTENT_TYPE, text, strlen(text));
}

/* clang-format off */
static const struct sw_serve_route routes[] = {
    { "GET", "/healthz", sw_serve_healthz },
    { "GET", "/livez", sw_serve_healthz },
    { "GET", "/readyz", on_readyz },
    { "POST", "/filter", on_filter },
    { "POST", "/prioritize", on_prioritize },
    { "POST", "/preempt", on_preempt },
    { "POST", "/bind", on_bind },
};
/* clang-format on */
static const struct sw_metrics_page pages[] = { { "/metrics", on_metrics } };
enum { N_PROBES = 3 /* the first routes, which have no secrets */ };

/* ---- open and close
 * ------------------------------------------------------------------------------
 */

const char *sw_scheduler_trouble(const struct sw_scheduler *s)
{
    const char *why = sw_serve_trouble(s->serve);
    return why ? why : sched_informers_trouble(s);
}

static int port_of(const struct sw_serve *serve)
{
    return serve ? sw_serve_port(serve) : 0;
}

int sw_scheduler_port(const struct sw_scheduler *s)
{
    return port_of(s->serve);
}

int sw_scheduler_health_port(const struct sw_scheduler *s)
{
    return port_of(s->health);
}

int sw_scheduler_metrics_port(const struct sw_scheduler *s)
{
    return sw_metrics_server_port(s->metrics_server);
}

static void on_released(void *arg)
{
    struct sw_scheduler *s = arg;
    if (s->opts.on_stopped)
        s->opts.on_stopped(s->opts.arg);
}

static void on_served(void *arg)
{
    struct sw_scheduler *s = arg;
    if (s->lease && sw_lease_is_leader(s->lease))
        sw_lease_release(s->lease, on_released, s);
    else
        on_released(s);
}

void sw_scheduler_stop(struct sw_scheduler *s)
{
    sw_serve_stop(s->serve);
}

static void on_server(int code, const char *why, void *arg SW_UNUSED)
{
    if (!code)
        sw_log(SW_LOG_INFO, "the API server answers again", NULL);
    else
        sw_log(SW_LOG_WARN, "the API server does not answer", "error", why, NULL);
}

static int open_servers(struct sw_scheduler *s, struct sw_err *err)
{
    const struct sw_serve_opts probes = {
        .routes = routes, .n_routes = N_PROBES, .arg = s, .max_body_bytes = 1024, .max_conns = 64
    };
    struct sw_serve_opts extender = s->opts.extender;
    extender.routes = routes;
    extender.n_routes = SW_COUNT(routes);
    extender.arg = s;
    extender.on_stopped = on_served;
    extender.max_body_bytes = MAX_BODY_BYTES;
    int rc = sw_serve_open(s->loop, &extender, &s->serve, err);
    if (rc == 0)
        rc = sw_serve_open_at(s->loop, s->opts.health_address, &probes, &s->health, err);
    if (rc == 0)
        rc = sw_metrics_server_open(
            s->loop,
            &(struct sw_metrics_server_opts){ .flags = &s->opts.metrics,
                                              .pages = pages,
                                              .n_pages = SW_COUNT(pages),
                                              .arg = s,
                                              .kube = s->kube,
                                              .program = "slipway-scheduler" },
            &s->metrics_server, err);
    return rc;
}

int sw_scheduler_open(struct sw_loop *loop, const struct sw_kube_config *config,
                      const struct sw_scheduler_opts *opts, struct sw_scheduler **out,
                      struct sw_err *err)
{
    struct sw_scheduler *s = sw_zalloc(1, sizeof *s);
    s->changed = on_change;
    s->loop = loop;
    s->opts = *opts;
    s->opts.unbound_ms = opts->unbound_ms ? opts->unbound_ms : 30 * 1000;
    s->cache = cache_new(opts->policy, opts->node_label == NULL);
    s->extender = extender_new(s->cache, !opts->no_preemption, opts->nodes_to_score);
    s->answer = printbuf_new();
    int rc = sw_kube_new(loop, config,
                         &(struct sw_kube_opts){ .user_agent = "slipway-scheduler",
                                                 .field_manager = "slipway-scheduler",
                                                 .max_in_flight = MAX_IN_FLIGHT,
                                                 .on_server = on_server },
                         &s->kube, err);
    if (rc == 0)
        rc = open_servers(s, err);
    if (rc == 0)
        sched_informers_open(s);
    if (rc == 0 && !opts->no_eviction && !opts->no_preemption)
        sched_dra_open(s);
    if (rc == 0)
        rc = sched_collector_open(s, config, err);
    if (rc < 0) {
        sw_scheduler_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void sw_scheduler_close(struct sw_scheduler *s)
{
    if (!s)
        return;
    sw_serve_close(s->serve);
    sw_serve_close(s->health);
    sw_metrics_server_close(s->metrics_server);
    sw_lease_close(s->lease);
    sched_informers_close(s);
    sched_evict_close(s);
    sched_dra_close(s);
    sw_kube_free(s->kube); /* no answer comes any more */
    sched_collector_close(s);
    sched_bind_abandon_all(s);
    while (s->held) {
        struct held_filter *h = s->held;
        s->held = h->next;
        sw_serve_text(h->reply, 503, "going down\n");
        free(h->body);
        free(h);
    }
    extender_free(s->extender);
    printbuf_free(s->answer);
    cache_free(s->cache);
    free(s);
}
