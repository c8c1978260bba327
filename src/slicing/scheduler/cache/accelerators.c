/* Which GPUs a node has: NodeAccelerators. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/claim/claim.h"

/* Most nodes have one of a few models: an equal geometry of another node is shared. */
static int read_geometry(const struct cache *p, struct json_object *placement,
                         struct sw_mig_geometry **out, struct sw_err *err)
{
    const int rc = sw_mig_geometry_from_json(placement, out, err);
    unsigned n_checked = 0;
    for (struct lh_entry *e = lh_table_head(p->nodes); rc == 0 && e && n_checked < 64;
         e = e->next) {
        const struct node *n = lh_entry_v(e);
        struct sw_mig_geometry *g = n->n_gpus ? (struct sw_mig_geometry *)n->gpus[0].geometry
                                              : NULL;
        n_checked += g != NULL;
        if (!g || !sw_mig_geometry_equal(g, *out))
            continue;
        sw_mig_geometry_unref(*out);
        *out = sw_mig_geometry_ref(g);
        break;
    }
    return rc;
}

/* One entry of status.nodeResources.nodeGpus. A GPU of another model than the node's first may say
 * its own migPlacement. */
static int read_gpu(const struct cache *p, struct node *n, struct json_object *doc,
                    struct sw_mig_geometry *common, struct sw_err *err)
{
    const char *uuid = sw_json_str(doc, "", "gpuUuid", NULL);
    struct json_object *own = sw_json_get(doc, "migPlacement");
    struct sw_mig_geometry *g = NULL;
    if (!*uuid)
        return sw_err_set(err, SW_INVALID, "a GPU without gpuUuid");
    if (own) {
        const int rc = read_geometry(p, own, &g, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "GPU %s", uuid);
    } else if (common) {
        g = sw_mig_geometry_ref(common);
    }
    const size_t number = cache_need_gpu(n, uuid);
    struct sw_mig_gpu *gpu = &n->gpus[number];
    sw_mig_geometry_unref((struct sw_mig_geometry *)gpu->geometry);
    gpu->geometry = g;
    gpu->barred = !sw_json_bool(doc, true, "healthy", NULL);
    return 0;
}

static int read_gpus(const struct cache *p, struct node *n, struct json_object *resources,
                     struct sw_err *err)
{
    enum { MAX_GPUS = 64 };
    struct json_object *placement = sw_json_get(resources, "migPlacement");
    struct json_object *list = sw_json_get(resources, "nodeGpus");
    SW_AUTO(sw_mig_geometry) *common = NULL;
    if (sw_json_len(list) > MAX_GPUS)
        return sw_err_set(err, SW_INVALID, "nodeGpus: more than %d", MAX_GPUS);
    int rc = sw_json_len(placement) ? read_geometry(p, placement, &common, err) : 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = read_gpu(p, n, sw_json_at(list, i), common, err);
    return rc;
}

/* GPUs that only claims know have none, and take nothing new. */
static void find_common(struct node *n)
{
    n->common = NULL;
    n->room = 0;
    cache_room_changed(n);
    for (size_t i = 0; i < n->n_gpus; i++) {
        const struct sw_mig_geometry *g = n->gpus[i].geometry;
        if (g && n->common && g != n->common) {
            n->common = NULL;
            return;
        }
        if (g)
            n->common = g;
    }
}

int cache_observe_accelerator(struct cache *p, const char *name, struct json_object *obj,
                              struct sw_err *err)
{
    struct node *n = obj ? cache_need_node(p, name) : cache_find_node(p, name);
    if (!n)
        return 0;
    const struct node before = *n;
    n->gpus = NULL;
    n->uuids = NULL;
    n->n_gpus = 0;
    n->unready = NULL;
    n->is_mig = sw_streq(sw_json_str(obj, "", "spec", "acceleratorType", NULL), "nvidia-mig");
    int rc = 0;
    SW_ERR(why);
    if (n->is_mig)
        rc = read_gpus(p, n, sw_json_find(obj, "status", "nodeResources", NULL), &why);
    if (rc < 0) {
        cache_free_gpus(n);
        n->unready = sw_strdup("its NodeAccelerator cannot be read");
        rc = sw_err_set(err, rc, "NodeAccelerator '%s': %s", name, sw_err_text(&why));
    } else if (n->is_mig) {
        struct json_object *ready = sw_obj_condition(obj, "Ready");
        if (sw_streq(sw_json_str(ready, "True", "status", NULL), "False"))
            n->unready = sw_printf("its GPUs are not ready (%s)",
                                   sw_json_str(ready, "no reason given", "reason", NULL));
        struct json_object *dra = sw_obj_condition(obj, SW_ACCELERATOR_DRA);
        if (!n->unready && sw_streq(sw_json_str(dra, "", "status", NULL), "True"))
            n->unready = sw_strdup("its slices are given out by Dynamic Resource Allocation");
    }
    for (struct claim *c = n->claims; c; c = c->next) /* GPUs have other numbers now */
        c->gpu = cache_need_gpu(n, before.uuids[c->gpu]);
    for (struct claim *c = n->claims; c; c = c->next)
        c->kind = sw_mig_kind_find(n->gpus[c->gpu].geometry, &c->profile);
    for (size_t i = 0; i < n->n_gpus; i++)
        cache_count_use(n, i);
    if (n->nominee)
        cache_nominate(p, n->nominee, NULL, 0, 0); /* its GPUs may have other numbers */
    find_common(n);
    cache_has_grown(p, n);
    struct node old = { .gpus = before.gpus, .uuids = before.uuids, .n_gpus = before.n_gpus };
    cache_free_gpus(&old);
    free(before.unready);
    cache_maybe_forget_node(p, n);
    return rc;
}
