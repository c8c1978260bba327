/* Any bytes as each of the extender's questions, and as what is watched: refused, or answered with
 * JSON; and what is taken of a GPU stays what the claims say. */
#include <json-c/linkhash.h>
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/extender.h"

static struct json_object *parse(const char *text, size_t len)
{
    struct json_object *doc = NULL;
    return sw_json_parse(text, len, NULL, &doc, NULL) == 0 ? doc : NULL;
}

static struct cache *make_picture(void)
{
    struct cache *p = cache_new(SW_MIG_PACKED, false);
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    static const char gpus[] = "[{\"gpuUuid\":\"g0\"},{\"gpuUuid\":\"g1\"}]";
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "nvidia-mig", "spec", "acceleratorType", NULL);
    sw_json_set(doc, sw_mig_geometry_to_json(g), "status", "nodeResources", "migPlacement", NULL);
    sw_json_set(doc, parse(gpus, sizeof gpus - 1), "status", "nodeResources", "nodeGpus", NULL);
    cache_observe_node(p, "a", true, false);
    if (cache_observe_accelerator(p, "a", doc, NULL) < 0)
        abort();
    return p;
}

static void ask(struct extender *x, const char *text, size_t len)
{
    typedef int fn(struct extender *, const char *, size_t, int64_t, struct printbuf *,
                   struct extender_outcome *, struct sw_err *);
    static fn *const fns[] = { extender_filter, extender_prioritize, extender_preempt };
    for (size_t i = 0; i < SW_COUNT(fns); i++) {
        struct printbuf *out = printbuf_new();
        struct extender_outcome outcome = { 0 };
        SW_ERR(err);
        if (fns[i](x, text, len, 1, out, &outcome, &err) == 0) {
            SW_AUTO_JSON *doc = parse(out->buf, (size_t)out->bpos);
            if (!doc)
                abort();
        } else if (!sw_err_text(&err)[0] || out->bpos) {
            abort();
        }
        printbuf_free(out);
    }
    struct extender_bind bind = { 0 };
    if (extender_read_bind(x, text, len, &bind, NULL) == 0)
        extender_bind_done(&bind);
}

static void check(const struct cache *p)
{
    for (struct lh_entry *e = lh_table_head(p->nodes); e; e = e->next) {
        const struct node *n = lh_entry_v(e);
        for (const struct claim *c = n->claims; c; c = c->next) {
            const unsigned bitset = ((1u << c->place.size) - 1) << c->place.start;
            if (c->gpu >= n->n_gpus || (n->gpus[c->gpu].use.slices & bitset) != bitset)
                abort();
        }
    }
}

/* The same document as everything that is watched, told twice and taken away again. */
static void watch(struct cache *p, const char *text, size_t len)
{
    SW_AUTO_JSON *doc = parse(text, len);
    if (!json_object_is_type(doc, json_type_object))
        return;
    for (int i = 0; i < 2; i++) {
        (void)cache_observe_claim(p, "c", "u", doc, 1, NULL);
        check(p);
        (void)cache_observe_accelerator(p, "a", doc, NULL);
        check(p);
        if (*sw_obj_uid(doc)) {
            struct pod *pod = cache_observe_pod(p, doc, true, 1);
            if (cache_reserve(p, pod, "a", 1, NULL) == 0 && pod->pod_request.n && !pod->claims)
                abort();
            check(p);
        }
    }
    (void)cache_observe_claim(p, "c", "", NULL, 1, NULL);
    cache_pod_gone(p, sw_obj_uid(doc));
    (void)cache_observe_accelerator(p, "a", NULL, NULL);
    cache_observe_node(p, "a", false, false);
    check(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cache *p = make_picture();
    struct extender *x = extender_new(p, true, 0);
    ask(x, (const char *)data, size);
    watch(p, (const char *)data, size);
    extender_free(x);
    cache_free(p);
    return 0;
}
