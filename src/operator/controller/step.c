/* A step of the engine: the driver starts its actions, and after them the renders. */
#include "operator/controller/private.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the queue of renders -----------------------------------------------------------------------
 */

void render_queue_add(struct resource *r, const struct sw_action *a)
{
    struct render_request *request = sw_zalloc(1, sizeof *request);
    *request = (struct render_request){ .state = sw_strdup(a->state),
                                        .variant = sw_strdup(a->variant),
                                        .serial = a->serial,
                                        .early = a->early };
    *r->own->queue_end = request;
    r->own->queue_end = &request->next;
}

static struct render_request *queue_take(struct resource *r)
{
    struct render_request *first = r->own->queue;
    r->own->queue = first->next;
    if (!r->own->queue)
        r->own->queue_end = &r->own->queue;
    return first;
}

static void render_request_free(struct render_request *request)
{
    free(request->state);
    free(request->variant);
    free(request);
}

void render_queue_free(struct resource *r)
{
    while (r->own->queue)
        render_request_free(queue_take(r));
}

bool resource_is_rendering(const struct resource *r)
{
    return r->own->renders || r->own->queue;
}

/* ---- steps --------------------------------------------------------------------------------------
 */

void resource_step(struct resource *r, struct sw_event *event)
{
    assert(!r->own->stepping);
    event->now_ms = sw_loop_now_ms(r->c->loop);
    r->own->stepping = true;
    const struct sw_actions *actions = sw_engine_step(r->engine, event);
    sw_recording_step(r->c->opts.recording, r->own->recording, event, actions);
    for (size_t i = 0; i < actions->n; i++)
        r->own->driver->perform(r, &actions->items[i]);
    r->own->stepping = false;
    bool drains = !r->own->draining; /* else the loop of an outer call goes on with the queue */
    while (drains && r->own->queue) {
        r->own->draining = true;
        struct render_request *request = queue_take(r);
        r->own->driver->render(r, request);
        render_request_free(request);
        r->own->draining = false;
    }
    EACH_CAPABILITY(stepped, r);
    resource_report(r);
}

void resource_report(struct resource *r)
{
    if (r->c->opts.on_change)
        r->c->opts.on_change(r->name, r->c->opts.arg);
}

void resource_render_again(struct resource *r)
{
    resource_step(r, &(struct sw_event){ .kind = SW_EV_FACTS });
}

void resources_render_again(struct sw_controller *c)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        bool looks_up = false;
        next = r->next;
        for (size_t i = 0; r->plan && i < r->plan->n_states; i++)
            looks_up = looks_up || state_has_lookups(r, i);
        if (looks_up && r->started && !r->leaving)
            resource_render_again(r);
    }
}
