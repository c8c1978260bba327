/* Kernel-affine objects select their nodes by the kernel label that Node Feature Discovery sets.
 * Where it does not run, slipway sets the label, to the kernel that the kubelet reports, and takes
 * it off again when the last resource goes. */
#include "operator/controller/core.h"
#include "operator/inventory/inventory.h"

#include <stdlib.h>

/* The label is held so long, so that it can be part of the patch by which the walk labels the same
 * node. */
enum { HOLD_MS = 200 };

/* A label that is part of a patch of the engine's. */
struct riding {
    struct riding *next;
    char *node, *kernel;
};
struct kernels {
    struct riding *riding;
};

static struct riding **find_riding(const struct resource *r, const char *node)
{
    struct riding **at = &((struct kernels *)r->state[CAPABILITY_kernels])->riding;
    while (*at && !sw_streq((*at)->node, node))
        at = &(*at)->next;
    return at;
}

static void riding_free(struct riding **at)
{
    struct riding *gone = *at;
    *at = gone->next;
    free(gone->node);
    free(gone->kernel);
    free(gone);
}

static void on_labelled(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct sw_controller *c = op->r->c;
    uint32_t node = sw_node_set_find(c->nodes, op->key.name);
    op->req = NULL;
    if (a->code == SW_CONFLICT || a->code == SW_UNAVAILABLE) {
        op_again(op);
        return;
    }
    if (a->code < 0) /* the next render tries again */
        sw_log(SW_LOG_WARN, "kernel label not written", "node", op->key.name, "error",
               sw_err_text(a->err), NULL);
    bool changed = a->code == 0 && a->object && node != SW_NO_NODE &&
                   cluster_put_node(c, node, a->object);
    op_free(op);
    if (changed) /* the watch will not report it as a change any more */
        cluster_node_changed(c, node);
}

static void begin(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, op->key.name, SW_PATCH_MERGE, op->doc,
                            REQUEST_OWN(NODES, .retries = 8), on_labelled, op);
}

static void failed(struct op *op, int code, const char *message SW_UNUSED)
{
    if (code == SW_UNAVAILABLE)
        op_again(op);
    else
        op_free(op);
}

static bool is_under_way(const struct resource *r, const char *node)
{
    return op_find(r, begin, NULL, node) || *find_riding(r, node);
}

static void on_held(void *arg)
{
    struct op *op = arg;
    op->is_held = false;
    op_with_kind(op);
}

static void put_label(struct json_object *patch, const char *kernel)
{
    sw_json_set_str(patch, kernel, "metadata", "labels", SW_KERNEL_LABEL, NULL);
}

static void label(struct resource *r, const char *node, const char *kernel)
{
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Node", NULL, node }, 0);
    op->doc = json_object_new_object();
    put_label(op->doc, kernel);
    op->begin = begin;
    op->failed = failed;
    op->is_held = true;
    op->more = sw_strdup(kernel);
    op->release = free;
    op->timer = sw_timer_new(r->c->loop, on_held, op);
    sw_timer_set(op->timer, HOLD_MS);
}

static void add_to_patch(struct resource *r, const char *node, struct json_object *patch)
{
    struct op *op = op_find(r, begin, NULL, node);
    if (!op || !op->is_held)
        return;
    struct riding **end = find_riding(r, node);
    if (!*end) {
        *end = sw_zalloc(1, sizeof **end);
        **end = (struct riding){ .node = sw_strdup(node), .kernel = sw_strdup(op->more) };
    }
    put_label(patch, op->more);
    op_free(op);
}

static void on_patched(struct resource *r, const char *node, int code)
{
    struct riding **at = find_riding(r, node);
    if (!*at)
        return;
    SW_AUTO_CHARS *kernel = sw_strdup((*at)->kernel);
    riding_free(at);
    if (code < 0 && !is_under_way(r, node))
        label(r, node, kernel);
}

static void label_if_due(struct resource *r, const struct sw_group *group, uint32_t node)
{
    const struct sw_node_set *nodes = r->c->nodes;
    const char *name = sw_node_set_name(nodes, node);
    if (name && sw_streq(sw_node_set_group(nodes, node), group->id) &&
        !sw_streq(sw_node_set_label(nodes, node, SW_KERNEL_LABEL), group->kernel_label) &&
        resource_selects(r, name) && !is_under_way(r, name))
        label(r, name, group->kernel_label);
}

static bool is_due(const struct resource *r, const struct sw_group *group)
{
    bool has_affine_states = false;
    for (size_t i = 0; r->plan && !r->leaving && i < r->plan->n_states; i++)
        has_affine_states |= r->plan->states[i].kernel_affine;
    return group && has_affine_states && !sw_label_value_fault(group->kernel_label);
}

static void on_manifest(struct resource *r, const struct render_item *item)
{
    if (!item->kernel_affine || !is_due(r, item->group))
        return;
    for (uint32_t i = 0; i < sw_node_set_end(r->c->nodes); i++)
        label_if_due(r, item->group, i);
}

static void on_node(struct sw_controller *c, uint32_t node, const struct sw_group *group)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (is_due(r, group))
            label_if_due(r, group, node);
}

/* ---- the last resource goes ---------------------------------------------------------------------
 */

/* Does anything remain that may select nodes by the label: another resource, or what it leaves? */
static bool is_needed(const struct resource *r)
{
    if (r->c->only) /* others are not known */
        return true;
    for (const struct resource *other = r->c->resources; other; other = other->next)
        if (other != r && !resource_is_deleting(other))
            return true;
    return resource_is_orphaning(r) || sw_inventory_leaves_daemonset(sw_inventory_of(r->status));
}

static void clear_done(struct op *op)
{
    struct resource *r = op->r;
    op_free(op);
    finalize_done(r, CAPABILITY_kernels);
}

/* What may not be read or written stays, and keeps no resource. */
static void clear_failed(struct op *op, int code, const char *message)
{
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_GONE) {
        op_again(op);
        return;
    }
    sw_log(SW_LOG_WARN, "kernel label not removed", "error", message, NULL);
    clear_done(op);
}

static void clear_next(struct op *op);

static void on_cleared(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        clear_failed(op, a->code, sw_err_text(a->err));
    else
        clear_next(op);
}

/* op->doc: the names of the nodes that are left. */
static void clear_next(struct op *op)
{
    struct resource *r = op->r;
    size_t n = sw_json_len(op->doc);
    if (n == 0) {
        clear_done(op);
        return;
    }
    SW_AUTO_CHARS *node = sw_strdup(json_object_get_string(sw_json_at(op->doc, n - 1)));
    SW_AUTO_JSON *patch = json_object_new_object();
    (void)json_object_array_del_idx(op->doc, n - 1, 1);
    sw_json_set(patch, NULL, "metadata", "labels", SW_KERNEL_LABEL, NULL);
    op->req = sw_kube_patch(r->c->kube, sw_kube_kind_find(r->c->kube, "v1", "Node"), NULL, node,
                            SW_PATCH_MERGE, patch, REQUEST_OWN(NODES, .retries = 8), on_cleared,
                            op);
}

static void on_labelled_nodes(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    for (size_t i = 0; i < sw_json_len(a->items); i++) {
        struct json_object *node = sw_json_at(a->items, i);
        if (sw_node_has_own_kernel(node))
            (void)json_object_array_add(op->doc, json_object_new_string(sw_obj_name(node)));
    }
    if (a->more)
        return;
    op->req = NULL;
    if (a->code < 0)
        clear_failed(op, a->code, sw_err_text(a->err));
    else
        clear_next(op);
}

static void begin_clear(struct op *op, const struct sw_kind *kind)
{
    if (!op->r->c->resources_synced) { /* there may be others */
        op_again(op);
        return;
    }
    if (is_needed(op->r)) {
        clear_done(op);
        return;
    }
    json_object_put(op->doc);
    op->doc = json_object_new_array();
    op->req = sw_kube_list(
        op->r->c->kube, kind, NULL,
        REQUEST_OWN(NODES, .label_selector = SW_KERNEL_LABEL, .fields = sw_node_owner_fields),
        on_labelled_nodes, op);
}

static bool finalize(struct resource *r)
{
    if (is_needed(r))
        return true;
    for (struct op *op; (op = op_find(r, begin, NULL, NULL));)
        op_free(op); /* a label that is to be set */
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Node", NULL, NULL }, 0);
    op->begin = begin_clear;
    op->failed = clear_failed;
    op_with_kind(op);
    return false;
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void resource_close(struct resource *r)
{
    struct kernels *k = r->state[CAPABILITY_kernels];
    while (k->riding)
        riding_free(&k->riding);
}

const struct capability capability_kernels = {
    .name = "kernels",
    .summary = "nodes get the kernel label where Node Feature Discovery does not run, and lose it",
    .resource_size = sizeof(struct kernels),
    .manifest_hooked = on_manifest,
    .node_observed = on_node,
    .node_patch = add_to_patch,
    .node_patched = on_patched,
    .finalize = finalize,
    .resource_close = resource_close,
};
