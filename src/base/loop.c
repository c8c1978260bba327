#include "base/loop.h"

#include "base/base.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>

struct sw_loop {
    struct event_base *base;
    bool virtual_clock;
    bool stopped;
    int64_t virtual_ms;
    int64_t wall_ms;        /* how far the wall clock was set from what it says */
    int64_t began_ms;       /* real clock: the wall's time when the steady one stood at 0 */
    struct sw_timer *first; /* virtual clock only: running timers, the next one first */
};

struct sw_timer {
    struct sw_loop *loop;
    void (*cb)(void *arg);
    void *arg;
    struct event *ev; /* real clock */
    bool set;         /* virtual clock */
    int64_t due_ms;
    struct sw_timer *next;
};

/* Loopback sockets of this process are readable immediately after a write; a few empty polls in a
 * row mean that all work is done and only timers are left. */
enum { QUIET_POLLS = 3 };

struct sw_loop *sw_loop_new(const struct sw_loop_opts *opts)
{
    struct sw_loop *loop = sw_zalloc(1, sizeof *loop);
    loop->base = event_base_new();
    if (!loop->base)
        abort(); /* no epoll, no program */
    loop->began_ms = sw_now_ms() - sw_monotonic_ms();
    if (opts && opts->virtual_clock) {
        loop->virtual_clock = true;
        loop->virtual_ms = opts->start_ms ? opts->start_ms : sw_now_ms();
    }
    return loop;
}

void sw_loop_free(struct sw_loop *loop)
{
    if (!loop)
        return;
    event_base_free(loop->base);
    free(loop);
}

struct event_base *sw_loop_base(struct sw_loop *loop)
{
    return loop->base;
}

int64_t sw_loop_now_ms(struct sw_loop *loop)
{
    return loop->virtual_clock ? loop->virtual_ms : loop->began_ms + sw_monotonic_ms();
}

bool sw_loop_is_virtual(const struct sw_loop *loop)
{
    return loop->virtual_clock;
}

int64_t sw_loop_wall_ms(struct sw_loop *loop)
{
    return (loop->virtual_clock ? loop->virtual_ms : sw_now_ms()) + loop->wall_ms;
}

void sw_loop_set_wall(struct sw_loop *loop, int64_t by_ms)
{
    loop->wall_ms += by_ms;
}

static void fire_due(struct sw_loop *loop)
{
    while (loop->first && loop->first->due_ms <= loop->virtual_ms && !loop->stopped) {
        struct sw_timer *t = loop->first;
        loop->first = t->next;
        t->set = false;
        t->cb(t->arg);
    }
}

/* One poll that does not wait. @return whether any callback ran. */
static bool poll_once(struct sw_loop *loop)
{
    int before = event_base_get_num_events(loop->base, EVENT_BASE_COUNT_ACTIVE);
    if (event_base_loop(loop->base, EVLOOP_NONBLOCK | EVLOOP_ONCE) < 0)
        return false;
    return before > 0 ||
           event_base_get_max_events(loop->base, EVENT_BASE_COUNT_ACTIVE, 1 /* clear */) > 0;
}

static void virtual_step(struct sw_loop *loop, int64_t max_wait_ms)
{
    fire_due(loop);
    for (int quiet = 0; quiet < QUIET_POLLS && !loop->stopped; quiet++)
        if (poll_once(loop))
            return;
    if (loop->stopped)
        return;
    int64_t wait_ms = max_wait_ms;
    if (loop->first && loop->first->due_ms - loop->virtual_ms < wait_ms)
        wait_ms = loop->first->due_ms - loop->virtual_ms;
    if (wait_ms == INT64_MAX)
        return; /* the last timer is gone */
    loop->virtual_ms += wait_ms;
    fire_due(loop);
}

static void on_wait_over(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg SW_UNUSED)
{
}

void sw_loop_step(struct sw_loop *loop, int64_t max_wait_ms)
{
    loop->stopped = false;
    if (loop->virtual_clock) {
        virtual_step(loop, max_wait_ms);
        return;
    }
    struct timeval tv = { .tv_sec = max_wait_ms / 1000, .tv_usec = max_wait_ms % 1000 * 1000 };
    struct event *limit = evtimer_new(loop->base, on_wait_over, NULL);
    (void)evtimer_add(limit, &tv);
    (void)event_base_loop(loop->base, EVLOOP_ONCE);
    event_free(limit);
}

void sw_loop_run(struct sw_loop *loop)
{
    loop->stopped = false;
    if (!loop->virtual_clock) {
        (void)event_base_dispatch(loop->base);
        return;
    }
    while (!loop->stopped &&
           (loop->first || event_base_get_num_events(loop->base, EVENT_BASE_COUNT_ADDED) > 0)) {
        if (loop->first)
            virtual_step(loop, INT64_MAX);
        else
            (void)event_base_loop(loop->base, EVLOOP_ONCE); /* only the outside can go on */
    }
}

struct signal_handler {
    void (*call)(void *arg);
    void *arg;
};

static void on_signal(evutil_socket_t signo SW_UNUSED, short what SW_UNUSED, void *arg)
{
    const struct signal_handler *handler = arg;
    handler->call(handler->arg);
}

static void stop_loop(void *arg)
{
    sw_loop_stop(arg);
}

void sw_loop_run_until_signal(struct sw_loop *loop, void (*call)(void *arg), void *arg)
{
    static const int signals[] = { SIGTERM, SIGINT };
    struct signal_handler handler = { call, arg };
    struct event *events[SW_COUNT(signals)];
    if (!call)
        handler = (struct signal_handler){ stop_loop, loop };
    for (size_t i = 0; i < SW_COUNT(signals); i++) {
        events[i] = evsignal_new(loop->base, signals[i], on_signal, &handler);
        (void)event_add(events[i], NULL);
    }
    sw_loop_run(loop);
    for (size_t i = 0; i < SW_COUNT(signals); i++)
        event_free(events[i]);
}

void sw_loop_stop(struct sw_loop *loop)
{
    loop->stopped = true;
    (void)event_base_loopbreak(loop->base);
}

void sw_loop_after_fork(struct sw_loop *loop)
{
    if (event_reinit(loop->base) < 0)
        abort(); /* as without epoll at all */
}

static void on_real_timer(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    struct sw_timer *t = arg;
    t->cb(t->arg); /* may free t */
}

struct sw_timer *sw_timer_new(struct sw_loop *loop, void (*cb)(void *arg), void *arg)
{
    struct sw_timer *t = sw_zalloc(1, sizeof *t);
    *t = (struct sw_timer){ .loop = loop, .cb = cb, .arg = arg };
    if (!loop->virtual_clock)
        t->ev = evtimer_new(loop->base, on_real_timer, t);
    return t;
}

static void unlink_virtual(struct sw_timer *t)
{
    struct sw_timer **at = &t->loop->first;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    t->set = false;
}

void sw_timer_set(struct sw_timer *t, int64_t in_ms)
{
    if (in_ms < 0)
        in_ms = 0;
    if (!t->loop->virtual_clock) {
        struct timeval tv = { .tv_sec = in_ms / 1000, .tv_usec = in_ms % 1000 * 1000 };
        (void)evtimer_add(t->ev, &tv);
        return;
    }
    unlink_virtual(t);
    t->due_ms = t->loop->virtual_ms + in_ms;
    t->set = true;
    struct sw_timer **at = &t->loop->first;
    while (*at && (*at)->due_ms <= t->due_ms)
        at = &(*at)->next;
    t->next = *at;
    *at = t;
}

void sw_timer_stop(struct sw_timer *t)
{
    if (t->ev)
        (void)evtimer_del(t->ev);
    else
        unlink_virtual(t);
}

bool sw_timer_is_set(const struct sw_timer *t)
{
    return t->ev ? evtimer_pending(t->ev, NULL) != 0 : t->set;
}

void sw_timer_free(struct sw_timer *t)
{
    if (!t)
        return;
    sw_timer_stop(t);
    if (t->ev)
        event_free(t->ev);
    free(t);
}
