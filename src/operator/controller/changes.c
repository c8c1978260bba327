/* Changes that concern every resource. */
#include "operator/controller/private.h"

#include <stdlib.h>

enum { SETTLE_MS = 20, RECHECK_MS = 10 };

/* Changes come together (ten CRDs of an operator, a rack of nodes) and are handled together. */
void facts_changed(struct sw_controller *c)
{
    if (!sw_timer_is_set(c->own->facts_timer))
        sw_timer_set(c->own->facts_timer, SETTLE_MS);
}

void recheck_soon(struct sw_controller *c)
{
    if (c->own->recheck_timer && !sw_timer_is_set(c->own->recheck_timer))
        sw_timer_set(c->own->recheck_timer, RECHECK_MS);
}

void recheck_in(struct sw_controller *c, int64_t in_ms)
{
    sw_timer_set(c->own->recheck_timer, in_ms);
}

void plan_resume(struct resource *r)
{
    r->own->driver->resume(r);
}

void plan_resume_all(struct sw_controller *c)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        plan_resume(r);
    }
}

bool cluster_put_node(struct sw_controller *c, uint32_t node, struct json_object *doc)
{
    const char *version = sw_json_str(doc, "0", "metadata", "resourceVersion", NULL);
    bool changed = sw_node_set_put_labels(
        c->nodes, node, sw_json_find(doc, "metadata", "labels", NULL), strtoull(version, NULL, 10));
    if (changed)
        sw_node_set_put_taints(
            c->nodes, node, sw_json_find(doc, "spec", "taints", NULL),
            sw_json_str(doc, "", "metadata", "annotations", SW_TAINTS_ANNOTATION, NULL));
    return changed;
}

bool watch_is_final(const struct sw_watch_event *w)
{
    return w->type == SW_WATCH_SYNCED ||
           (w->type == SW_WATCH_ERROR && w->code != SW_UNAVAILABLE && w->code != SW_GONE);
}

void cluster_node_changed(struct sw_controller *c, uint32_t node)
{
    recheck_soon(c); /* a node selector may match now, or no longer */
    EACH_CAPABILITY(node_changed, c, node);
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        if (r->started && sw_engine_concerns_node(r->engine, node))
            resource_step(r, &(struct sw_event){ .kind = SW_EV_NODE, .node = node });
    }
}

void controller_trouble(struct sw_controller *c, int code, const char *why)
{
    if (c->own->trouble == code || code == SW_UNAVAILABLE)
        return; /* kube reports that the server is down */
    c->own->trouble = code;
    if (c->opts.on_trouble)
        c->opts.on_trouble(code, why, c->opts.arg);
}
