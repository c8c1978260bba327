/* What the webhook answers; src/serve does the rest. */
#include <stdlib.h>

#include "slicing/webhook/metrics.h"
#include "slicing/webhook/webhook.h"

enum { LARGE_BYTES = 64 * 1024 };

/* A review that is read in steps. */
struct large {
    struct sw_webhook_server *server;
    struct sw_serve_reply *reply;
    struct sw_webhook_reading *reading;
    double took_s;
};

struct sw_webhook_server {
    struct sw_loop *loop;
    struct sw_webhook_policy policy;
    struct sw_webhook_reader *reader;
    struct sw_webhook_metrics metrics;
    struct sw_serve *serve;
    struct sw_metrics_flags metrics_flags;
    struct sw_metrics_server *metrics_server;
};

static void answer(struct sw_webhook_server *s, struct sw_serve_reply *reply, int rc,
                   struct sw_webhook_answer *a, struct sw_err *err)
{
    if (rc < 0) {
        s->metrics.bad_requests++;
        (void)sw_err_wrap(err, SW_INVALID, "bad request");
        sw_serve_text(reply, 400, sw_err_text(err));
        return;
    }
    s->metrics.outcomes[a->outcome]++;
    sw_serve_json(reply, a->text, a->len_bytes);
    if (a->outcome == SW_WEBHOOK_MUTATED)
        sw_log(SW_LOG_INFO, "pod mutated", "pod", a->pod, NULL);
    else if (a->outcome == SW_WEBHOOK_DENIED)
        sw_log(SW_LOG_INFO, "pod denied", "pod", a->pod, "reason", a->reason, NULL);
    sw_webhook_answer_done(a);
}

/* ---- large reviews -----------------------------------------------------------------------------
 */

/* It was answered, or the client is gone. */
static void drop(void *arg)
{
    struct large *l = arg;
    sw_webhook_reading_free(l->reading);
    free(l);
}

static bool step(void *arg)
{
    struct large *l = arg;
    struct sw_webhook_server *s = l->server;
    struct sw_webhook_answer a = { 0 };
    SW_ERR(err);
    const double begin = sw_monotonic_s();
    const int rc = sw_webhook_reading_step(l->reading, &a, &err);
    l->took_s += sw_monotonic_s() - begin;
    if (rc == SW_PENDING)
        return true;
    if (rc == 0)
        sw_webhook_metrics_observe(&s->metrics, l->took_s);
    answer(s, l->reply, rc, &a, &err);
    return false;
}

static void serve_large(struct sw_webhook_server *s, const struct sw_serve_request *r,
                        struct sw_serve_reply *reply)
{
    struct large *l = sw_zalloc(1, sizeof *l);
    *l = (struct large){ .server = s,
                         .reply = reply,
                         .reading = sw_webhook_reading_new(s->reader, r->body, r->body_len) };
    sw_serve_work(reply, step, drop, l);
}

static void serve_mutate(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_webhook_server *s = arg;
    struct sw_webhook_answer a = { 0 };
    SW_ERR(err);
    if (r->not_json) {
        s->metrics.bad_requests++;
        sw_serve_text(reply, 415, "expected Content-Type: application/json\n");
        return;
    }
    if (r->body_len > LARGE_BYTES) {
        serve_large(s, r, reply);
        return;
    }
    const double begin = sw_monotonic_s();
    const int rc = sw_webhook_read(s->reader, r->body, r->body_len, &a, &err);
    if (rc == 0)
        sw_webhook_metrics_observe(&s->metrics, sw_monotonic_s() - begin);
    answer(s, reply, rc, &a, &err);
}

static void serve_readyz(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                         void *arg)
{
    const struct sw_webhook_server *s = arg;
    sw_serve_ready(reply, sw_serve_trouble(s->serve));
}

static void serve_metrics(struct sw_serve_reply *reply, void *arg)
{
    struct sw_webhook_server *s = arg;
    struct sw_serve_counts counts;
    sw_serve_count(s->serve, &counts);
    size_t len;
    SW_AUTO_CHARS *text = sw_webhook_metrics_text(&s->metrics, &counts, &len);
    sw_serve_answer(reply, 200, SW_METRICS_CONTENT_TYPE, text, len);
}

static const struct sw_serve_route routes[] = {
    { "POST", "/mutate-pod", serve_mutate },
    { "GET", "/healthz", sw_serve_healthz },
    { "GET", "/readyz", serve_readyz },
};

static const struct sw_metrics_page pages[] = { { "/metrics", serve_metrics } };

static void on_stopped(void *arg)
{
    const struct sw_webhook_server *s = arg;
    sw_loop_stop(s->loop);
}

int sw_webhook_server_open(struct sw_loop *loop, const struct sw_webhook_server_opts *opts,
                           struct sw_webhook_server **out, struct sw_err *err)
{
    struct sw_webhook_server *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->policy = opts->policy;
    s->reader = sw_webhook_reader_new(&s->policy);
    struct sw_serve_opts serve = opts->serve;
    serve.routes = routes;
    serve.n_routes = SW_COUNT(routes);
    serve.arg = s;
    serve.on_stopped = on_stopped;
    s->metrics_flags = opts->metrics;
    int rc = sw_serve_open(loop, &serve, &s->serve, err);
    if (rc == 0)
        rc = sw_metrics_server_open(loop,
                                    &(struct sw_metrics_server_opts){
                                        .flags = &s->metrics_flags,
                                        .pages = pages,
                                        .n_pages = SW_COUNT(pages),
                                        .arg = s,
                                        .kubeconfig = opts->kubeconfig,
                                        .program = "slipway-webhook",
                                    },
                                    &s->metrics_server, err);
    if (rc < 0) {
        sw_webhook_server_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

struct sw_serve *sw_webhook_server_http(struct sw_webhook_server *server)
{
    return server->serve;
}

void sw_webhook_server_close(struct sw_webhook_server *server)
{
    if (!server)
        return;
    sw_metrics_server_close(server->metrics_server);
    sw_serve_close(server->serve);
    sw_webhook_reader_free(server->reader);
    free(server);
}
