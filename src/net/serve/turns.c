/* Whose turn it is: an address gets a share of the server's time, however many connections it has.
 */
#include "net/serve/connection.h"

enum { TURN_US = 500 };
/* What an address that asks for little may save up: some fifty handshakes. */
static const double saved_s = 0.1;

void sw_serve_wait_turn(struct sw_serve_reply *p)
{
    struct sw_serve *s = p->server;
    struct sw_serve_peer *peer = p->peer;
    if (p->before_later)
        return;
    if (!peer->later) {
        peer->later_end = &peer->later;
        if (peer->used_s < s->least_used_s - saved_s)
            peer->used_s = s->least_used_s - saved_s;
    }
    p->n_woken = 0;
    p->next_later = NULL;
    p->before_later = peer->later_end;
    *peer->later_end = p;
    peer->later_end = &p->next_later;
    sw_timer_set(s->turn, 0);
}

void sw_serve_leave_turns(struct sw_serve_reply *p)
{
    if (!p->before_later)
        return;
    *p->before_later = p->next_later;
    if (p->next_later)
        p->next_later->before_later = p->before_later;
    else
        p->peer->later_end = p->before_later;
    p->before_later = NULL;
}

static struct sw_serve_peer *next_peer(const struct sw_serve *s)
{
    struct sw_serve_peer *least = NULL;
    for (struct sw_serve_peer *p = s->peers; p; p = p->next)
        if (p->later && (!least || p->used_s < least->used_s))
            least = p;
    return least;
}

static size_t count_waiting(const struct sw_serve *s)
{
    size_t n = 0;
    for (const struct sw_serve_peer *peer = s->peers; peer; peer = peer->next)
        for (const struct sw_serve_reply *p = peer->later; p; p = p->next_later)
            n++;
    return n;
}

/* @return the time after it */
static double take(struct sw_serve_reply *p, double now, void (*go_on)(struct sw_serve_reply *p))
{
    struct sw_serve *s = p->server;
    struct sw_serve_peer *peer = p->peer;
    const bool timeless = sw_loop_is_virtual(s->loop);
    peer->n_conns++; /* it stays, even if this was its last connection */
    go_on(p);
    const double then = timeless ? now : sw_monotonic_s();
    peer->used_s += timeless ? 1 : then - now;
    sw_serve_leave(s, peer);
    return then;
}

void sw_serve_take_turn(struct sw_serve_reply *p, void (*go_on)(struct sw_serve_reply *p))
{
    struct sw_serve *s = p->server;
    if (sw_loop_is_virtual(s->loop)) {
        go_on(p);
        return;
    }
    const double now = sw_monotonic_s(), most = TURN_US / 1e6;
    s->calm_s += (now - s->calm_at_s) / 2;
    s->calm_s = s->calm_s < most ? s->calm_s : most;
    s->calm_at_s = now;
    if (s->calm_s <= 0 || next_peer(s)) {
        sw_serve_wait_turn(p);
        return;
    }
    s->calm_s -= take(p, now, go_on) - now;
}

void sw_serve_take_turns(struct sw_serve *s, void (*go_on)(struct sw_serve_reply *p))
{
    /* beside a virtual clock no time passes: one turn each, in an order that is always the same */
    const bool timeless = sw_loop_is_virtual(s->loop);
    size_t left = timeless ? count_waiting(s) : SIZE_MAX;
    const double begin = timeless ? 0 : sw_monotonic_s();
    double now = begin;
    for (struct sw_serve_peer *peer;
         left > 0 && now - begin < TURN_US / 1e6 && (peer = next_peer(s)); left--) {
        struct sw_serve_reply *p = peer->later;
        if (peer->used_s > s->least_used_s)
            s->least_used_s = peer->used_s;
        sw_serve_leave_turns(p);
        now = take(p, now, go_on);
    }
    if (next_peer(s))
        sw_timer_set(s->turn, 0);
}
