/* The logs of pods whose object is ready when they match a pattern. */
#include <stdlib.h>

#include <json-c/linkhash.h>

#include "operator/engine/workers.h"

enum { LOG_BYTES = 4096 };

void workers_ask_logs(struct sw_engine *e, struct object *o)
{
    struct lh_entry *at = NULL;
    if (!o->workers || o->workers->inform || !o->gate || !o->gate->log_pattern)
        return;
    for (struct worker *worker; (worker = workers_next(o->workers, &at));) {
        if (!worker->ready || worker->logged || worker->log_serial)
            continue;
        if (worker->log_due_ms > e->now_ms) {
            act_wake(e, worker->log_due_ms);
            continue;
        }
        struct sw_action *a = act_add(e, SW_ACT_LOGS);
        a->serial = worker->log_serial = act_serial(e);
        a->key = (struct sw_key){ "v1", "Pod", o->key.ns, sw_arena_strdup(e->arena, worker->name) };
        a->n_bytes = LOG_BYTES;
    }
}

bool workers_take_logs(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    struct worker *worker = o->workers && event->key.name
                                ? workers_find(o->workers, event->key.name)
                                : NULL;
    if (!worker || worker->log_serial != event->serial)
        return false;
    worker->log_serial = 0;
    worker->logged = event->code == 0 && event->text && o->gate && o->gate->log_pattern &&
                     regexec(&o->gate->log_regex, event->text, 0, NULL, 0) == 0;
    worker->log_due_ms = e->now_ms + act_backoff(e, worker->n_log_tries++, false);
    if (worker->logged) {
        worker->n_log_tries = 0;
        nodes_mark(e, worker->node);
    }
    return true;
}
