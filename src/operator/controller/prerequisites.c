/* What has to come before a resource is walked: the rows' prerequisites, and nodes that it selects.
 */
#include "operator/controller/private.h"

static bool is_same(const struct prerequisite *a, const struct prerequisite *b)
{
    return a->code == b->code && sw_streq(a->blocked, b->blocked) &&
           sw_streq(a->message, b->message);
}

/* A resource that selects nodes must have some: without, its walk would wait for nothing. */
static void find_nodes(struct resource *r, struct prerequisite *p)
{
    struct json_object *selector = sw_json_find(r->doc, "spec", "nodeSelector", NULL);
    if (sw_json_len(selector) && !cluster_selects_any(r))
        p->blocked = sw_printf(
            "NoMatchingNodes: no untainted node matches spec.nodeSelector %s [Waiting:"
            " label nodes, or change the selector]",
            json_object_to_json_string_ext(selector, JSON_C_TO_STRING_NOSLASHESCAPE));
}

bool prerequisites_update(struct resource *r)
{
    struct prerequisite now = { 0 };
    capabilities_check(r, &now);
    if (!now.code && !now.blocked)
        find_nodes(r, &now);
    bool changed = !is_same(&now, &r->own->prerequisite);
    prerequisite_done(&r->own->prerequisite);
    r->own->prerequisite = now;
    return changed;
}

bool resource_is_blocked(const struct resource *r)
{
    return r->own->prerequisite.code || r->own->prerequisite.blocked;
}
