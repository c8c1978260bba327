#pragma once
/* loop: the process's one event loop with its clock. Everything that waits for time takes its
 * timers and its "now" from here, so that a test can run controller and emulator on a clock that
 * jumps: with a virtual clock, time stands still while there is work and leaps to the next timer
 * when there is none. Sockets go to libevent directly, on sw_loop_base(). */
#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct sw_loop;
struct sw_timer;

/** How to create a loop; zero: the real clock. */
struct sw_loop_opts {
    bool virtual_clock;
    int64_t start_ms; /* where a virtual clock begins; 0: now */
};

/** @opts may be NULL: the real clock. Never fails. */
struct sw_loop *sw_loop_new(const struct sw_loop_opts *opts);
/** All timers, sockets and servers on it must be gone before. NULL is accepted. */
void sw_loop_free(struct sw_loop *loop);

/** Borrowed: for libevent's sockets, signals and HTTP servers. Not for its timers. */
struct event_base *sw_loop_base(struct sw_loop *loop);

/** Milliseconds since the epoch on this loop's clock, for timeouts and deadlines: it starts at the
 * wall clock's time and is steady, also when the wall clock is set (and through a suspend). */
int64_t sw_loop_now_ms(struct sw_loop *loop);
/** Has it a virtual clock, which stands still but for timers? */
bool sw_loop_is_virtual(const struct sw_loop *loop);
/** The wall clock in milliseconds since the epoch, for timestamps that are written to the cluster
 * or printed: it can jump in both directions. */
int64_t sw_loop_wall_ms(struct sw_loop *loop);
/** Simulate a change of the wall clock by @by_ms (negative: back) for this loop. */
void sw_loop_set_wall(struct sw_loop *loop, int64_t by_ms);

/** Run callbacks until sw_loop_stop(), or until nothing is left that could ever call one. */
void sw_loop_run(struct sw_loop *loop);
/** sw_loop_run(), during which SIGTERM and SIGINT cause @call(@arg); NULL: sw_loop_stop(). */
void sw_loop_run_until_signal(struct sw_loop *loop, void (*call)(void *arg), void *arg);
/** Run what is ready now, waiting for at most @max_wait_ms for something to become so. */
void sw_loop_step(struct sw_loop *loop, int64_t max_wait_ms);
/** Let sw_loop_run() return after the current callback. */
void sw_loop_stop(struct sw_loop *loop);
/** Call it in a child of fork(): before that, parent and child share the loop's epoll instance and
 * receive each other's events. */
void sw_loop_after_fork(struct sw_loop *loop);

/** A timer that is not running. @cb is called once for each sw_timer_set(), on the loop's thread.
 */
struct sw_timer *sw_timer_new(struct sw_loop *loop, void (*cb)(void *arg), void *arg);
/** Run @in_ms from now (0: in the next turn), instead of whatever was set before. */
void sw_timer_set(struct sw_timer *timer, int64_t in_ms);
/** Cancel the call that was set; the timer can be set again. */
void sw_timer_stop(struct sw_timer *timer);
/** Whether the timer is running. */
bool sw_timer_is_set(const struct sw_timer *timer);
/** Stops it too; may be called from its own callback. NULL is accepted. */
void sw_timer_free(struct sw_timer *timer);
