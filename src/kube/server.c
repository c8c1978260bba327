/* server: whether the server answers, and the pauses between tries. */
#include "base/loop.h"
#include "kube/internal.h"

enum { DOWN_AFTER = 2 }; /* transfers without an answer */

double kube_random(struct sw_kube *k)
{
    /* splitmix64 (Steele, Lea, Flood 2014): any seed is a good one */
    uint64_t z = (k->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(1ULL << 53);
}

int64_t kube_backoff_ms(struct sw_kube *k, int n, int64_t first_ms, int64_t cap_ms)
{
    int64_t ms = first_ms;
    while (--n > 0 && ms < cap_ms)
        ms *= 2;
    if (ms > cap_ms)
        ms = cap_ms;
    return ms / 2 + (int64_t)(kube_random(k) * (double)ms / 2);
}

/** Record whether the server answers. @code: 0: it does, else why it does not */
static void set_down(struct sw_kube *k, int code, const char *why)
{
    const bool down = code != 0;
    if (k->down == down)
        return;
    k->down = down;
    if (!down) {
        k->back_ms = sw_loop_now_ms(k->loop);
        k->on_up(k);
    }
    if (k->opts.on_server)
        k->opts.on_server(code, why, k->opts.arg);
}

void kube_note_server(struct sw_kube *k, const struct sw_http_result *result)
{
    k->answered |= result->http_status != 0;
    if (result->http_status)
        k->heard_ms = sw_loop_now_ms(k->loop);
    const bool is_awaited = k->is_awaited && result->http_status && !k->down;
    k->is_awaited = k->is_awaited && !result->http_status;
    if (is_awaited && k->opts.on_server)
        k->opts.on_server(0, "", k->opts.arg);
    if (result->http_status && result->code == 0) {
        k->n_silent = 0;
        set_down(k, 0, "");
    } else if (!result->http_status && result->code < 0) {
        /* a connection that is reset may affect one request only; one refused affects all */
        if (result->unsent || ++k->n_silent >= DOWN_AFTER)
            set_down(k, result->code, sw_err_text(result->err));
    }
}

bool sw_kube_has_answered(const struct sw_kube *k)
{
    return k->answered;
}

void sw_kube_await_answer(struct sw_kube *k)
{
    k->is_awaited = true;
}

int64_t sw_kube_silent_ms(const struct sw_kube *k)
{
    const int64_t now_ms = sw_loop_now_ms(k->loop);
    int64_t since_ms = now_ms;
    const struct sw_kube_request *r;
    LIST_FOREACH(r, &k->requests, in_all)
    {
        if (r->state == RQ_RUNNING && !r->told && !r->body && !r->stream && r->sent_ms < since_ms)
            since_ms = r->sent_ms;
    }
    return now_ms - (k->heard_ms > since_ms ? k->heard_ms : since_ms);
}

bool sw_kube_is_up(const struct sw_kube *k)
{
    return !k->down;
}

void kube_note_resumed(struct sw_kube *k)
{
    const bool was_broken = k->broken;
    k->broken = false;
    if (was_broken && k->on_resumed)
        k->on_resumed(k->resumed_arg);
}

void sw_kube_on_resumed(struct sw_kube *k, void (*fn)(void *arg), void *arg)
{
    k->on_resumed = fn;
    k->resumed_arg = arg;
}
