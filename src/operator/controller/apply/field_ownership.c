/* Objects that SRO or DAS wrote, by updates: their fields belong to its field manager, and those
 * that a recipe drops would never be removed. Before such an object is applied for the first time,
 * its fields are handed over to slipway's manager. Source: Kubernetes "Server-Side Apply",
 * transferring ownership; client-go's csaupgrade. */
#include "operator/controller/apply/apply.h"
#include "operator/controller/core.h"
#include "operator/manifests/ownership.h"

enum { MAX_TRIES = 8 };

/* ---- requests ----------------------------------------------------------------------------------
 */

static void on_handed_over(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if ((a->code == SW_CONFLICT || a->code == SW_UNAVAILABLE) && op->n_tries++ < MAX_TRIES) {
        inherit_begin(op, op->more); /* it was changed meanwhile: read it again */
        return;
    }
    if (a->code < 0) /* only fields that a recipe drops later are not removed then */
        sw_log(SW_LOG_WARN, "fields not taken over", "resource", op->r->name, "object",
               op->key.name, "error", sw_err_text(a->err), NULL);
    op->apply(op, op->more);
}

struct json_object *inherit_patch(struct json_object *live)
{
    return sw_ownership_take_fields(live, sw_entry_is_of_predecessor, "slipway");
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct sw_kind *kind = op->more;
    op->req = NULL;
    SW_AUTO_JSON *patch = a->code < 0 ? NULL : inherit_patch(a->object);
    if (!patch) {
        op->apply(op, kind);
        return;
    }
    op->req = sw_kube_patch(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL,
                            op->key.name, SW_PATCH_JSON, patch, REQUEST_AS(op->r), on_handed_over,
                            op);
}

void inherit_begin(struct op *op, const struct sw_kind *kind)
{
    op->more = (void *)kind; /* good as long as the client */
    op->req = sw_kube_get(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL, op->key.name,
                          REQUEST_AS(op->r, .retries = 2), on_read, op);
}
