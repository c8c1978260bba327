/* Defragmentation: pods that opt in are moved for one that waits. Nothing can move a pod that runs:
 * it is evicted by the Eviction API, and the one that its controller makes in its place finds its
 * devices where they are free, while what the waiting pod needs is kept for that one (dra_room.c).
 *
 * Bounded: one waiting pod at a time, a pause after each, longer ones for a pod that it did not
 * help. */
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/dra_evictor.h"

enum {
    AFTER_MS = 30000,
    MOST_DOUBLED = 7, /* 30 s become an hour */
};

int sw_defragment_parse(const char *text, enum sw_defragment *out, struct sw_err *err)
{
    static const char *const names[] = { [SW_DEFRAGMENT_ADVISE] = "advise",
                                         [SW_DEFRAGMENT_MOVE] = "move",
                                         [SW_DEFRAGMENT_OFF] = "off" };
    for (size_t i = 0; i < SW_COUNT(names); i++)
        if (sw_streq(text, names[i])) {
            *out = (enum sw_defragment)i;
            return 0;
        }
    return sw_err_set(err, SW_INVALID, "'%s' is none of off, advise and move", text);
}

int sw_daytime_parse(const char *text, struct sw_daytime *out, struct sw_err *err)
{
    int from_h, from_m, to_h, to_m, end = -1;
    if (sscanf(text, "%2d:%2d-%2d:%2d%n", &from_h, &from_m, &to_h, &to_m, &end) != 4 || end < 0 ||
        text[end] || from_h < 0 || from_h > 23 || from_m < 0 || from_m > 59 || to_h < 0 ||
        to_h > 23 || to_m < 0 || to_m > 59)
        return sw_err_set(err, SW_INVALID, "'%s' is not a time of day such as 22:00-05:30", text);
    *out = (struct sw_daytime){ from_h * 60 + from_m, to_h * 60 + to_m };
    return out->from_min != out->to_min
               ? 0
               : sw_err_set(err, SW_INVALID, "'%s' has no time in it", text);
}

bool sw_daytime_has(const struct sw_daytime *d, int64_t wall_ms)
{
    const int now_min = (int)(wall_ms / 60000 % (24 * 60));
    if (d->from_min <= d->to_min)
        return d->from_min == d->to_min || (now_min >= d->from_min && now_min < d->to_min);
    return now_min >= d->from_min || now_min < d->to_min;
}

/* ---- texts -------------------------------------------------------------------------------------
 */

/* "default/small to gpu-0-mig-1g5gb-1 of node gpu-a, ..."; heap */
static char *moves_text(const struct dra_choice *c)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < c->victims.n; i++) {
        SW_AUTO_CHARS *to = dra_destination_text(c, i);
        sw_append(&text, "%s%s/%s to %s", i ? ", " : "", c->victims.list[i]->ns,
                  c->victims.list[i]->name, to);
    }
    return text;
}

/* ---- what is done ------------------------------------------------------------------------------
 */

/* @return a hash; 0: nobody asks for it */
static uint64_t request_of(const struct dra_pod *p)
{
    const char *text = sw_obj_annotation(p->doc, SW_SCHEDULER_DEFRAGMENT);
    return text && *text ? sw_fnv64a(text, strlen(text)) : 0;
}

bool dra_may_defragment(const struct dra_evictor *e, const struct dra_pod *p)
{
    const struct sw_scheduler_opts *opts = &e->s->opts;
    const bool by_itself = opts->defragment == SW_DEFRAGMENT_MOVE &&
                           sw_daytime_has(&opts->defragment_at, sw_loop_wall_ms(e->s->loop));
    return by_itself || (opts->defragment != SW_DEFRAGMENT_OFF && request_of(p));
}

static void advise(struct dra_evictor *e, const struct dra_pod *p, struct dra_wait *w,
                   const struct dra_choice *c)
{
    SW_AUTO_CHARS *moves = moves_text(c);
    SW_AUTO_CHARS *message = sw_printf("Its devices would fit on node %s if these pods moved: %s",
                                       c->node, moves);
    const uint64_t hash = sw_fnv64a(message, strlen(message));
    const struct evicted pod = { p->pod->uid, p->pod->ns, p->pod->name };
    if (hash == w->advised)
        return;
    w->advised = hash;
    sw_log(SW_LOG_INFO, "pods could move", "for", p->pod->name, "namespace", p->pod->ns, "moves",
           moves, NULL);
    sched_evict_event(e->s, &pod, "DefragmentationAdvised", message, 0);
}

void dra_defragment(struct dra_evictor *e, const struct dra_pod *p, struct dra_wait *w,
                    const char *node, int64_t now_ms)
{
    const int64_t after_ms = e->s->opts.defragment_after_ms ? e->s->opts.defragment_after_ms
                                                            : AFTER_MS;
    const uint64_t request = request_of(p);
    struct dra_choice c;
    if (e->s->opts.defragment == SW_DEFRAGMENT_OFF)
        return;
    if (request && request != w->request) /* a new one: what was in vain may help now */
        w->moves_ms = 0;
    else if (now_ms - w->since_ms < after_ms)
        return;
    if (now_ms < w->moves_ms || (dra_may_defragment(e, p) && now_ms < e->moves_ms))
        return;
    w->request = request;
    w->moves_ms = now_ms + after_ms;
    if (dra_choose(e->view, p, node, DRA_MOVE, &c) != DRA_EVICT) {
        sw_log(SW_LOG_DEBUG, "no pod is moved", "for", p->pod->name, "namespace", p->pod->ns, "why",
               sw_text_or(c.why, "none is in its way"), NULL);
    } else if (!dra_may_defragment(e, p)) {
        advise(e, p, w, &c);
    } else {
        e->moves_ms = now_ms + after_ms;
        w->moves_ms = now_ms +
                      (after_ms << (w->n_moves < MOST_DOUBLED ? w->n_moves : MOST_DOUBLED));
        w->n_moves++;
        dra_make_room(e, p, &c);
    }
    dra_choice_done(&c);
}
