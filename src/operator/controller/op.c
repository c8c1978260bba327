/* The life of a request for a resource. */
#include "operator/controller/private.h"

#include <stdlib.h>

enum { AGAIN_MS = 1000 };

struct op *op_new(struct resource *r, const struct sw_key *key, uint64_t serial)
{
    struct op *op = sw_zalloc(1, sizeof *op);
    *op = (struct op){ .r = r, .next = r->own->ops, .prev = &r->own->ops, .serial = serial };
    if (key)
        op->key = sw_key_copy(key);
    if (r->own->ops)
        r->own->ops->prev = &op->next;
    r->own->ops = op;
    return op;
}

void op_free(struct op *op)
{
    *op->prev = op->next;
    if (op->next)
        op->next->prev = op->prev;
    sw_kube_cancel(op->req);
    sw_timer_free(op->timer);
    sw_key_done(&op->key);
    json_object_put(op->doc);
    free(op->uid);
    free(op->dropped);
    free(op->propagation);
    free(op->shared);
    if (op->release)
        op->release(op->more);
    free(op);
}

struct op *op_find(const struct resource *r, void (*begin)(struct op *, const struct sw_kind *),
                   const char *ns, const char *name)
{
    for (struct op *op = r->own->ops; op; op = op->next)
        if (op->begin == begin && (!name || sw_streq(op->key.name, name)) &&
            (!ns || sw_streq(op->key.ns, ns)))
            return op;
    return NULL;
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (code < 0)
        op->failed(op, code, sw_err_text(err));
    else
        op->begin(op, kind);
}

static void on_again(void *arg)
{
    op_with_kind(arg);
}

void op_again(struct op *op)
{
    sw_timer_free(op->timer);
    op->timer = sw_timer_new(op->r->c->loop, on_again, op);
    sw_timer_set(op->timer, AGAIN_MS);
}

void op_with_kind(struct op *op)
{
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, op->key.api_version,
                                                   op->key.kind);
    if (kind)
        op->begin(op, kind);
    else
        op->req = sw_kube_kind(op->r->c->kube, op->key.api_version, op->key.kind, on_kind, op);
}
