/* AllocationClaims, as the API server reports them. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

struct claim *cache_find_claim(const struct cache *p, const char *name)
{
    return sw_table_find(p->claims, name);
}

void cache_free_claim(struct claim *c)
{
    free(c->name);
    free(c->uid);
    free(c->resource_version);
    free(c);
}

void cache_drop_claim(struct cache *p, struct claim *c)
{
    struct node *node = c->node;
    struct pod *pod = c->pod;
    const size_t gpu = c->gpu;
    p->n_reserved -= !c->seen;
    (void)lh_table_delete(p->claims, c->name);
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &c->node->claims) = c->next;
    if (c->pod_next)
        c->pod_next->pod_prev = c->pod_prev;
    *(c->pod_prev ? &c->pod_prev->pod_next : &c->pod->claims) = c->pod_next;
    cache_free_claim(c);
    cache_count_use(node, gpu);
    cache_has_grown(p, node);
    cache_maybe_forget_pod(p, pod);
    cache_maybe_forget_node(p, node);
}

struct claim *cache_new_claim(struct cache *p, const char *name, struct node *node, struct pod *pod,
                              int64_t now_ms)
{
    struct claim *c = sw_zalloc(1, sizeof *c);
    c->name = sw_strdup(name);
    c->uid = sw_strdup("");
    c->resource_version = sw_strdup("");
    c->node = node;
    c->pod = pod;
    c->since_ms = now_ms;
    cache_insert(p->claims, c->name, c);
    c->next = node->claims;
    if (c->next)
        c->next->prev = c;
    node->claims = c;
    c->pod_next = pod->claims;
    if (c->pod_next)
        c->pod_next->pod_prev = c;
    pod->claims = c;
    p->n_reserved++;
    return c;
}

void cache_place_claim(struct claim *c, const char *uuid, const struct sw_mig_profile *profile,
                       struct sw_mig_place place)
{
    const size_t before = c->gpu;
    c->gpu = cache_need_gpu(c->node, uuid);
    c->profile = *profile;
    c->place = place;
    c->kind = sw_mig_kind_find(c->node->gpus[c->gpu].geometry, &c->profile);
    if (before < c->node->n_gpus)
        cache_count_use(c->node, before);
    cache_count_use(c->node, c->gpu);
}

static void claim_gone(struct cache *p, const char *name, const char *uid)
{
    struct claim *c = cache_find_claim(p, name);
    if (!c || (uid && *uid && strcmp(c->uid, uid) != 0))
        return; /* of another one that had this name */
    if (c->held) {
        c->uid[0] = '\0'; /* the bind that holds it checks the uid */
        c->watched = c->own = false;
        return;
    }
    cache_drop_claim(p, c);
}

int cache_observe_claim(struct cache *p, const char *name, const char *uid, struct json_object *obj,
                        int64_t now_ms, struct sw_err *err)
{
    if (!obj) {
        claim_gone(p, name, uid);
        return 0;
    }
    struct sw_claim s;
    const int rc = sw_claim_read(obj, &s, err);
    if (rc < 0) {
        claim_gone(p, name, NULL);
        return sw_err_wrap(err, rc, "AllocationClaim '%s'", name);
    }
    struct claim *c = cache_find_claim(p, name);
    if (c && (strcmp(c->node->name, s.node) != 0 || strcmp(c->pod->uid, s.pod_uid) != 0)) {
        if (c->held)
            return 0; /* another claim of that name: the write under way fails with a conflict */
        cache_drop_claim(p, c);
        c = NULL;
    }
    if (!c)
        c = cache_new_claim(p, name, cache_need_node(p, s.node),
                            cache_need_pod(p, s.pod_uid, s.pod_ns, s.pod_name), now_ms);
    p->n_reserved -= !c->seen;
    c->seen = true;
    char label[SW_MIG_NODE_LABEL_LEN];
    c->labelled = sw_streq(sw_obj_label(obj, SW_MIG_NODE_LABEL), sw_mig_node_label(s.node, label));
    c->state = s.state;
    const bool same = sw_streq(c->uid, sw_obj_uid(obj));
    c->watched = c->watched && same;
    c->own = c->own && same;
    sw_text_set(&c->uid, sw_obj_uid(obj));
    sw_text_set(&c->resource_version, sw_json_str(obj, "", "metadata", "resourceVersion", NULL));
    cache_place_claim(c, s.gpu, &s.profile, s.place);
    return 0;
}

bool cache_overlaps(const struct claim *c)
{
    for (const struct claim *o = c->node->claims; o; o = o->next)
        if (o != c && o->gpu == c->gpu && sw_mig_overlap(o->place, c->place))
            return true;
    return false;
}
