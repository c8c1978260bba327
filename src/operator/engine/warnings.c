/* Warning Events of what says nothing itself, or not all: a pod whose containers are being created
 * or whose image cannot be pulled, a DaemonSet, StatefulSet or Job whose pods are refused, a claim
 * that is not bound. The newest is asked for, and shown with the reason. */
#include <stdlib.h>
#include <string.h>

#include "data/text/cut.h"
#include "operator/engine/internal.h"
#include "operator/engine/readiness/pod.h"
#include "operator/engine/readiness/pod_maker.h"

enum { FIRST_MS = 2000, LAST_MS = 600000, MAX_LINE = 300 };

static bool says_nothing(const struct sw_readiness *readiness)
{
    static const char *const reasons[] = { "ContainerCreating", "PodInitializing", "Pending",
                                           "ErrImagePull", "ImagePullBackOff" };
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        if (sw_streq(readiness->reason, reasons[i]))
            return true;
    return false;
}

/* Whose Events say why @o is not ready. @return false: it says so itself */
static bool find_silent(const struct object *o, const char **kind, const char **name)
{
    const struct sw_readiness *readiness = &o->judged;
    *kind = "Pod";
    *name = o->key.name;
    if (!o->text || !o->present || o->failed_why ||
        (o->readiness.kind == SW_READINESS_READY && !object_lacks_nodes(o)))
        return false;
    if (sw_streq(o->key.kind, "Pod") || workers_worst(o, name, &readiness))
        return says_nothing(readiness);
    const struct sw_pod_maker *maker = sw_pod_maker_find(o->key.kind);
    *kind = o->key.kind;
    if (sw_streq(o->key.kind, "PersistentVolumeClaim"))
        return o->readiness.kind == SW_READINESS_WAITING;
    return maker && maker->is_silent && o->readiness.kind == SW_READINESS_WAITING;
}

static bool is_same(const struct object *o, const char *kind, const char *name)
{
    return sw_streq(o->warnings.kind, kind) && sw_streq(o->warnings.name, name);
}

void warnings_done(struct object *o)
{
    free(SW_TAKE(o->warnings.kind));
    free(SW_TAKE(o->warnings.name));
    free(SW_TAKE(o->warnings.line));
    free(SW_TAKE(o->warnings.secret));
    o->warnings.serial = 0;
    o->warnings.next_ms = 0;
}

void warnings_ask(struct sw_engine *e, struct object *o)
{
    const char *kind, *name;
    if (!find_silent(o, &kind, &name)) {
        if (o->warnings.kind)
            warnings_done(o);
        return;
    }
    if (!is_same(o, kind, name)) {
        warnings_done(o);
        o->warnings.kind = sw_strdup(kind);
        o->warnings.name = sw_strdup(name);
        o->warnings.after_ms = FIRST_MS; /* most go on by themselves */
        o->warnings.next_ms = e->now_ms + o->warnings.after_ms;
    }
    if (o->warnings.serial)
        return;
    if (o->warnings.next_ms > e->now_ms) {
        act_wake(e, o->warnings.next_ms);
        return;
    }
    o->warnings.after_ms = o->warnings.after_ms * 2 < LAST_MS ? o->warnings.after_ms * 2 : LAST_MS;
    o->warnings.next_ms = e->now_ms + o->warnings.after_ms;
    struct sw_action *a = act_add(e, SW_ACT_WARNINGS);
    a->serial = o->warnings.serial = act_serial(e);
    a->key = (struct sw_key){ "v1", sw_arena_strdup(e->arena, kind), workers_namespace(o),
                              sw_arena_strdup(e->arena, name) };
}

/* What @text says about a pull secret, where another line follows. Heap; NULL: it says no such
 * thing. */
static char *secret_line(const char *text)
{
    static const char start[] = "Unable to retrieve some image pull secrets (";
    if (!sw_starts_with(text, start) || !strchr(text, '\n'))
        return NULL;
    SW_AUTO_CHARS *said = sw_strndup(text, strcspn(text, "\n"));
    return sw_text_last_line(said, MAX_LINE);
}

bool warnings_take(struct object *o, const struct sw_event *event)
{
    if (!o->warnings.serial || o->warnings.serial != event->serial)
        return false;
    o->warnings.serial = 0;
    if (event->code || !event->text)
        return false; /* who may not read Events gets the reason without them */
    SW_AUTO_CHARS *secret = secret_line(event->text);
    const char *text = secret ? strchr(event->text, '\n') + 1 : event->text;
    SW_AUTO_CHARS *line = sw_text_last_line(pod_failure_cause(text), MAX_LINE);
    bool changed = !sw_streq(o->warnings.line, line) || !sw_streq(o->warnings.secret, secret);
    sw_text_set(&o->warnings.line, line);
    sw_text_set(&o->warnings.secret, secret);
    return changed;
}

const char *warnings_line(const struct object *o, const char **secret)
{
    const char *kind, *name;
    const bool is_known = find_silent(o, &kind, &name) && is_same(o, kind, name);
    *secret = is_known ? o->warnings.secret : NULL;
    return is_known ? o->warnings.line : NULL;
}
