#include "emulator/controllers/core.h"

#include <stdlib.h>

int64_t sw_ctl_now(const struct sw_ctl *ctl)
{
    return sw_loop_now_ms(ctl->loop);
}

/* xorshift64*: small, seeded, good enough for delays and names. */
uint32_t sw_ctl_random(struct sw_ctl *ctl, uint32_t below)
{
    ctl->rng ^= ctl->rng >> 12;
    ctl->rng ^= ctl->rng << 25;
    ctl->rng ^= ctl->rng >> 27;
    return (uint32_t)((ctl->rng * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

/* A binary heap, the next alarm at heap[1], over one timer of the loop. */
struct sw_ctl_alarms {
    struct sw_alarm **heap;
    size_t n, cap;
    uint64_t seq;
    struct sw_timer *timer;
};

static bool is_before(const struct sw_alarm *a, const struct sw_alarm *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->seq < b->seq;
}

static void place(struct sw_ctl_alarms *all, struct sw_alarm *alarm, size_t slot)
{
    all->heap[slot] = alarm;
    alarm->slot = slot;
}

static void sift_up(struct sw_ctl_alarms *all, struct sw_alarm *alarm, size_t slot)
{
    for (; slot > 1 && is_before(alarm, all->heap[slot / 2]); slot /= 2)
        place(all, all->heap[slot / 2], slot);
    place(all, alarm, slot);
}

static void sift_down(struct sw_ctl_alarms *all, struct sw_alarm *alarm, size_t slot)
{
    for (size_t child; (child = slot * 2) <= all->n; slot = child) {
        if (child < all->n && is_before(all->heap[child + 1], all->heap[child]))
            child++;
        if (!is_before(all->heap[child], alarm))
            break;
        place(all, all->heap[child], slot);
    }
    place(all, alarm, slot);
}

static void arm(struct sw_ctl *ctl)
{
    struct sw_ctl_alarms *all = ctl->alarms;
    if (!all->n) {
        sw_timer_stop(all->timer);
        return;
    }
    int64_t in_ms = all->heap[1]->due_ms - sw_ctl_now(ctl);
    sw_timer_set(all->timer, in_ms > 0 ? in_ms : 0);
}

static void drop(struct sw_ctl_alarms *all, struct sw_alarm *alarm)
{
    size_t slot = alarm->slot;
    struct sw_alarm *last = all->heap[all->n--];
    alarm->slot = 0;
    if (last == alarm)
        return;
    if (slot > 1 && is_before(last, all->heap[slot / 2]))
        sift_up(all, last, slot);
    else
        sift_down(all, last, slot);
}

/* An alarm that is set while others fire waits for the next turn of the loop, even if it is due. */
static void on_timer(void *arg)
{
    struct sw_ctl *ctl = arg;
    struct sw_ctl_alarms *all = ctl->alarms;
    int64_t now = sw_ctl_now(ctl);
    uint64_t limit = all->seq;
    while (all->n && all->heap[1]->due_ms <= now && all->heap[1]->seq <= limit) {
        struct sw_alarm *alarm = all->heap[1];
        drop(all, alarm);
        alarm->fire(ctl, alarm);
    }
    arm(ctl);
}

void sw_alarm_set(struct sw_ctl *ctl, struct sw_alarm *alarm, int64_t in_ms)
{
    struct sw_ctl_alarms *all = ctl->alarms;
    if (alarm->slot)
        drop(all, alarm);
    alarm->due_ms = sw_ctl_now(ctl) + in_ms;
    alarm->seq = ++all->seq;
    if (all->n + 2 > all->cap) {
        all->cap = all->cap ? all->cap * 2 : 64;
        all->heap = sw_realloc(all->heap, all->cap, sizeof *all->heap);
    }
    sift_up(all, alarm, ++all->n);
    if (alarm->slot == 1)
        arm(ctl);
}

void sw_alarm_stop(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    if (!alarm->slot)
        return;
    drop(ctl->alarms, alarm);
    arm(ctl);
}

int64_t sw_ctl_jitter(struct sw_ctl *ctl, int delay_ms)
{
    int64_t most = (int64_t)delay_ms * ctl->delays.jitter_percent / 100;
    return delay_ms + (most > 0 ? sw_ctl_random(ctl, (uint32_t)most + 1) : 0);
}

void sw_ctl_alarms_open(struct sw_ctl *ctl)
{
    ctl->alarms = sw_zalloc(1, sizeof *ctl->alarms);
    ctl->alarms->timer = sw_timer_new(ctl->loop, on_timer, ctl);
}

void sw_ctl_alarms_close(struct sw_ctl *ctl)
{
    if (!ctl->alarms)
        return;
    sw_timer_free(ctl->alarms->timer);
    free(ctl->alarms->heap);
    free(SW_TAKE(ctl->alarms));
}
