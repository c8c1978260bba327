/* The end of a failed container's log: asked for once for each pod that keeps its object from being
 * ready, and shown with the reason. That of one that runs without getting ready, likewise. That of
 * a hook which has succeeded, where it is to be told: in an Event, once. */
#include <stdlib.h>

#include "data/text/cut.h"
#include "operator/engine/internal.h"
#include "operator/engine/readiness/pod.h"

enum {
    LOG_BYTES = 2048,
    MAX_LINE = 240,
    AGAIN_MS = 5 * 60000,
    AWAIT_MS = 5000,
    MISSING_MS = 1000,
    UNREADY_MS = 8000,
    MAX_AGAIN = 3
};

/* Has @o succeeded, with a log whose end is to be told? */
static bool is_due(const struct object *o)
{
    return o->container_logs.due && o->done_hash == o->hash;
}

static bool find_succeeded(const struct object *o, const char **pod, const char **container)
{
    const struct sw_readiness *readiness = &o->judged;
    *pod = o->key.name;
    const bool is_pod = sw_streq(o->key.kind, "Pod");
    if (!is_pod && !(o->judged.skipped ? workers_worst(o, pod, &readiness)
                                       : workers_succeeded(o, pod, &readiness)))
        return false;
    *container = readiness->container;
    return *container != NULL;
}

/* The container that has ended, in the pod that says most about why @o is not ready, or in the one
 * that has succeeded. @return false: there is none */
static bool find_ended(const struct object *o, const char **pod, const char **container)
{
    const struct sw_readiness *readiness = &o->judged; /* o->readiness names no container */
    if (is_due(o))
        return find_succeeded(o, pod, container);
    *pod = workers_failed_build(o);
    *container = "";
    if (*pod)
        return true;
    *pod = o->key.name;
    const bool is_pod = sw_streq(o->key.kind, "Pod");
    if (!is_pod && !workers_worst(o, pod, &readiness))
        return false;
    *container = is_pod && sw_streq(readiness->reason, SW_POD_NOT_READY) ? NULL
                                                                         : readiness->container;
    return *container != NULL;
}

static bool is_same(const struct object *o, const char *pod, const char *container)
{
    return sw_streq(o->container_logs.pod, pod) &&
           sw_streq(o->container_logs.container, container) &&
           o->container_logs.runs == (workers_runs_unready(o) != 0);
}

void container_logs_ask(struct sw_engine *e, struct object *o)
{
    const char *pod, *container;
    const bool is_well = o->readiness.kind == SW_READINESS_READY && !is_due(o) &&
                         !object_lacks_nodes(o);
    if (!o->text || !o->present || is_well || o->container_logs.serial ||
        !find_ended(o, &pod, &container))
        return;
    const int64_t runs_ms = workers_runs_unready(o);
    if (runs_ms && runs_ms + UNREADY_MS > e->now_ms && !is_due(o)) { /* it may only start */
        act_wake(e, runs_ms + UNREADY_MS);
        return;
    }
    bool same = is_same(o, pod, container);
    bool again = same && o->container_logs.again_ms;
    if (again && o->container_logs.again_ms > e->now_ms) {
        act_wake(e, o->container_logs.again_ms);
        return;
    }
    if (same && !again &&
        (!o->container_logs.changed || o->container_logs.asked_ms + AGAIN_MS > e->now_ms))
        return;
    char *copies[] = { sw_strdup(pod), sw_strdup(container) }; /* may be what they replace */
    if (!same)
        free(SW_TAKE(o->container_logs.line));
    o->container_logs.n_again = again ? o->container_logs.n_again + 1 : 0;
    o->container_logs.again_ms = 0;
    free(o->container_logs.pod);
    free(o->container_logs.container);
    o->container_logs.pod = copies[0];
    o->container_logs.container = copies[1];
    o->container_logs.runs = runs_ms != 0;
    o->container_logs.asked_ms = e->now_ms;
    o->container_logs.changed = false;
    struct sw_action *a = act_add(e, SW_ACT_LOGS);
    a->serial = o->container_logs.serial = act_serial(e);
    a->key = (struct sw_key){ "v1", "Pod", workers_namespace(o), sw_arena_strdup(e->arena, pod) };
    a->container = *container ? sw_arena_strdup(e->arena, container) : NULL;
    a->n_bytes = LOG_BYTES;
}

bool container_logs_may_come(const struct object *o)
{
    const char *pod, *container;
    const bool has_pods = o->workers && sw_streq(o->key.kind, "Job");
    return o->present && !o->failed_why && (has_pods || find_ended(o, &pod, &container));
}

bool container_logs_awaited(struct sw_engine *e, struct object *o)
{
    const char *pod, *container;
    container_logs_ask(e, o);
    bool answered = find_ended(o, &pod, &container) && is_same(o, pod, container) &&
                    !o->container_logs.serial && !o->container_logs.again_ms;
    if (!o->container_logs.until_ms)
        o->container_logs.until_ms = e->now_ms + AWAIT_MS; /* its pods may be seen after it */
    if (answered || e->now_ms >= o->container_logs.until_ms)
        return false;
    act_wake(e, o->container_logs.until_ms);
    return true;
}

/* What kubelet answers, as if it were the log, where the container's file is not there yet. */
static bool is_no_log(const char *text)
{
    return text && (sw_starts_with(text, "failed to try resolving symlinks in path") ||
                    sw_starts_with(text, "unable to retrieve container logs for"));
}

void container_logs_succeeded(struct object *o)
{
    if (!o->tells_log)
        return;
    container_logs_done(o); /* the log of a try before it */
    o->container_logs.due = true;
}

bool container_logs_untold(struct sw_engine *e, struct object *o)
{
    if (!is_due(o))
        return false;
    if (container_logs_awaited(e, o))
        return true;
    o->container_logs.due = false; /* its pod is gone, or was not there in time */
    return false;
}

static void tell(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    const char *why = event->message ? event->message : event->text;
    bool is_read = event->code == 0 && !is_no_log(event->text);
    SW_AUTO_CHARS *line = sw_text_last_line(is_read ? event->text : why, MAX_LINE);
    const bool check = o->gate && o->gate->check;
    act_event(e, false,
              o->judged.skipped ? "CheckSkipped"
              : check           ? "CheckPassed"
                                : "HookSucceeded",
              "%s %s; %s%s%s", object_title(e, o),
              o->judged.skipped ? "does not apply here" : "has succeeded",
              is_read ? "the end of its log" : "its log cannot be read", line ? ": " : "",
              line      ? line
              : is_read ? " is empty"
                        : "");
    o->container_logs.due = false;
}

bool container_logs_take(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    if (!o->container_logs.serial || o->container_logs.serial != event->serial)
        return false;
    o->container_logs.serial = 0;
    bool is_missing = is_no_log(event->text) || event->code == SW_NOTFOUND ||
                      event->code == SW_INVALID || event->code == SW_PENDING;
    if (is_missing && o->container_logs.n_again < MAX_AGAIN) /* it is written in a moment */
        o->container_logs.again_ms = event->now_ms + MISSING_MS;
    else if (is_due(o))
        tell(e, o, event);
    if (event->code || !event->text || is_no_log(event->text))
        return false; /* who may not read logs gets the reason without them */
    free(o->container_logs.line);
    o->container_logs.line = sw_text_failure(event->text, MAX_LINE);
    return true;
}

const char *container_logs_line(const struct object *o)
{
    const char *pod, *container;
    return find_ended(o, &pod, &container) && is_same(o, pod, container) ? o->container_logs.line
                                                                         : NULL;
}

void container_logs_done(struct object *o)
{
    free(SW_TAKE(o->container_logs.pod));
    free(SW_TAKE(o->container_logs.container));
    free(SW_TAKE(o->container_logs.line));
    o->container_logs.serial = 0;
    o->container_logs.again_ms = o->container_logs.until_ms = 0;
}
