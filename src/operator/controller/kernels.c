/* Kernel-affine objects find their nodes by the label that Node Feature Discovery puts on them.
 * Where nobody discovers features, the label is put there from what the kubelet says: it is the
 * same word. */
#include "operator/controller/internal.h"

#include <stdlib.h>

/* A walk is about to label the same node: the kernel's label goes with that when it comes soon, as
 * one write. No pod waits longer than that for it. */
enum { HOLD_MS = 200 };

static void on_labelled(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct sw_controller *c = op->r->c;
    uint32_t node = sw_node_set_find(c->roster, op->key.name);
    bool changed = false;
    op->req = NULL;
    if (a->code == SW_CONFLICT || a->code == SW_UNAVAILABLE) {
        op_again(op);
        return;
    }
    if (a->code < 0) /* the DaemonSet says that it matches no node; the next render tries again */
        sw_log(SW_LOG_WARN, "kernel label not written", "node", op->key.name, "error",
               sw_err_text(a->err), NULL);
    if (a->code == 0 && a->object && node != SW_NO_NODE) {
        const char *version = sw_json_str(a->object, "0", "metadata", "resourceVersion", NULL);
        changed = sw_node_set_put_labels(c->roster, node,
                                         sw_json_find(a->object, "metadata", "labels", NULL),
                                         strtoull(version, NULL, 10));
    }
    op_free(op);
    if (changed) /* the watch will bring nothing that is new then */
        cluster_node_changed(c, node);
}

static void begin(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, op->key.name, SW_PATCH_MERGE, op->doc,
                            &(struct sw_request_opts){ .retries = 8 }, on_labelled, op);
}

static void failed(struct op *op, int code, const char *words SW_UNUSED)
{
    if (code == SW_UNAVAILABLE)
        op_again(op);
    else
        op_free(op);
}

static bool is_under_way(const struct resource *r, const char *node)
{
    for (const struct op *op = r->ops; op; op = op->next)
        if ((op->begin == begin || op->kernel) && sw_streq(op->key.name, node))
            return true;
    return false;
}

static void on_held(void *arg)
{
    struct op *op = arg;
    op->is_held = false;
    op_with_kind(op);
}

void kernels_put(struct json_object *patch, const char *kernel)
{
    sw_json_set_str(patch, kernel, "metadata", "labels", SW_KERNEL_LABEL, NULL);
}

static void label(struct resource *r, const char *node, const char *kernel)
{
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Node", NULL, node }, 0);
    op->doc = json_object_new_object();
    kernels_put(op->doc, kernel);
    op->begin = begin;
    op->failed = failed;
    op->is_held = true;
    op->kernel = sw_strdup(kernel);
    op->timer = sw_timer_new(r->c->loop, on_held, op);
    sw_timer_set(op->timer, HOLD_MS);
}

char *kernels_take(struct resource *r, const char *node)
{
    for (struct op *op = r->ops; op; op = op->next)
        if (op->is_held && op->begin == begin && sw_streq(op->key.name, node)) {
            char *kernel = SW_TAKE(op->kernel);
            op_free(op);
            return kernel;
        }
    return NULL;
}

void kernels_give_back(struct resource *r, const char *node, const char *kernel)
{
    if (kernel && !is_under_way(r, node))
        label(r, node, kernel);
}

static bool has_affine_states(const struct resource *r)
{
    size_t n = r->plan ? sw_plan_n_states(r->plan) : 0;
    for (size_t i = 0; i < n; i++)
        if (sw_plan_state(r->plan, i)->kernel_affine)
            return true;
    return false;
}

static void label_if_due(struct resource *r, const struct sw_group *group, uint32_t node)
{
    const struct sw_node_set *roster = r->c->roster;
    const char *name = sw_node_set_name(roster, node);
    if (name && sw_streq(sw_node_set_group(roster, node), group->id) &&
        !sw_streq(sw_node_set_label(roster, node, SW_KERNEL_LABEL), group->kernel) &&
        cluster_selects(r->c, r, name) && !is_under_way(r, name))
        label(r, name, group->kernel);
}

static bool is_due(const struct resource *r, const struct sw_group *group)
{
    return group && has_affine_states(r) && !sw_label_value_fault(group->kernel);
}

void kernels_label(struct resource *r, const struct sw_group *group)
{
    for (uint32_t i = 0; is_due(r, group) && i < sw_node_set_end(r->c->roster); i++)
        label_if_due(r, group, i);
}

void kernels_label_node(struct resource *r, const struct sw_group *group, uint32_t node)
{
    if (is_due(r, group))
        label_if_due(r, group, node);
}
