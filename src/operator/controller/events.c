/* Kubernetes Events about a resource. The engine sees to it that none repeats the one before. The
 * Event that a state has started is held for a while, and dropped if another Event about that state
 * follows. */
#include "operator/controller/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HOLD_MS = 5000 };
#define STARTED "StateStarted"

/* Of Events about cluster-scoped objects, as in client-go. */
#define EVENT_NAMESPACE "default"

static void on_recorded(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0) /* the loss of an Event is harmless */
        sw_log(SW_LOG_DEBUG, "event not recorded", "resource", op->r->name, "error",
               sw_err_text(a->err), NULL);
    op_free(op);
}

static void begin_event(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_create(op->r->c->kube, kind, EVENT_NAMESPACE, NULL, op->doc,
                             REQUEST_OWN(EVENTS), on_recorded, op);
}

static void event_failed(struct op *op, int code SW_UNUSED, const char *message SW_UNUSED)
{
    op_free(op);
}

static void on_held(void *arg)
{
    struct op *op = arg;
    op->is_held = false;
    op_with_kind(op);
}

/* @message: "state NAME: ...", of a new Event. */
static void drop_held(struct resource *r, const char *message)
{
    for (struct op *op = r->own->ops, *next; op; op = next) {
        next = op->next;
        if (!op->is_held || op->begin != begin_event)
            continue;
        const char *held = sw_json_str(op->doc, "", "message", NULL), *end = strchr(held, ':');
        if (end && strncmp(held, message, (size_t)(end - held) + 1) == 0)
            op_free(op);
    }
}

void event_record(struct resource *r, const struct sw_action *a)
{
    if (a->message)
        drop_held(r, a->message);
    if (a->minor)
        return;
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Event", EVENT_NAMESPACE, NULL }, 0);
    SW_AUTO_CHARS *name = sw_printf("%s.%" PRIx64 "%04x", r->name,
                                    (uint64_t)sw_loop_now_ms(r->c->loop) * 1000000,
                                    (unsigned)(r->c->own->n_events++ & 0xffff));
    op->doc = sw_kube_event_doc(&(struct sw_kube_event){
        .id = name,
        .ns = EVENT_NAMESPACE,
        .of = { SW_GROUP_VERSION, "SpecialResource", .name = r->name, .uid = r->uid },
        .reason = a->reason ? a->reason : "Unknown",
        .message = a->message ? a->message : "",
        .warning = a->warning,
        .component = "slipway",
        .at_ms = sw_loop_wall_ms(r->c->loop),
    });
    op->begin = begin_event;
    op->failed = event_failed;
    if (!sw_streq(a->reason, STARTED)) {
        op_with_kind(op);
        return;
    }
    op->is_held = true;
    op->timer = sw_timer_new(r->c->loop, on_held, op);
    sw_timer_set(op->timer, HOLD_MS);
}

void event_report(struct resource *r, const struct sw_action *a)
{
    struct sw_controller *c = r->c;
    if (c->opts.on_event)
        c->opts.on_event(&(struct sw_controller_event){ .resource = r->name,
                                                        .state = a->state,
                                                        .reason = a->reason,
                                                        .message = a->message,
                                                        .warning = a->warning },
                         c->opts.arg);
    event_record(r, a);
}
