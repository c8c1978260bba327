/* One object as its state renders it: taking the content, and watching what is needed to know
 * whether the cluster has it. */
#include <stdlib.h>

#include <json-c/json.h>

#include "base/kept.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

void object_take_workers(struct sw_engine *e, struct object *o, struct workers *fresh)
{
    if (workers_same(o->workers, fresh)) {
        if (fresh != o->workers)
            workers_free(fresh);
        return;
    }
    act_unwatch(e, o->workers_watch);
    o->workers_watch = 0;
    workers_free(o->workers);
    o->workers = fresh;
}

void object_take_content(struct sw_engine *e, struct object *o, struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, &len);
    if (o->text && sw_kept_equal(o->text, text, len))
        return;
    SW_AUTO_CHARS *label_before = SW_TAKE(o->grace_label);
    sw_kept_free(o->text);
    o->text = sw_kept_new(text, len);
    o->hash = sw_fnv64a(text, len);
    struct json_object *pod_spec = sw_streq(o->key.kind, "Pod")
                                       ? sw_json_get(doc, "spec")
                                       : sw_json_find(doc, "spec", "template", "spec", NULL);
    sw_placement_free(o->placement);
    sw_placement_free(o->grace_placement);
    o->placement = sw_placement_new(pod_spec);
    o->grace_label = sw_placement_remove_grace(o->placement);
    o->grace_placement = o->grace_label ? sw_placement_new(pod_spec) : NULL;
    if (!sw_streq(o->grace_label, label_before))
        nodes_mark_all(e);
}

int object_render(struct sw_engine *e, struct object *o, const struct sw_rendered_object *r,
                  struct json_object *doc, struct sw_err *err)
{
    uint64_t before = o->hash;
    struct sw_gate *gate = NULL;
    int rc = sw_gate_new(doc, r->awaited, &gate, err);
    if (rc < 0)
        return rc;
    const bool is_one = o->gate && o->gate->of == SW_GATE_OF_ONE && gate->of == SW_GATE_OF_ONE,
               flips = is_one && o->gate->observe != gate->observe;
    SW_AUTO_CHARS *label_before = sw_strdup(o->grace_label);
    object_drop_content(o);
    o->gate = gate;
    o->grace_label = SW_TAKE(label_before);
    object_take_content(e, o, doc);
    o->adapts = sw_streq(o->key.kind, "DaemonSet") || sw_streq(o->key.kind, "Job");
    sw_text_set(&o->missing, r->missing);
    sw_text_set(&o->shared, r->shared);
    o->awaited = gate->awaited || o->missing;
    o->stage = o->first = r->stage;
    o->once = r->once;
    o->drop_before = r->drop_before;
    o->drop_ready = r->drop_ready;
    o->drop_failed = r->drop_failed;
    o->tells_log = r->tells_log || gate->check;
    o->again = r->again;
    if (o->once && o->done_hash)
        o->done_hash = object_run_hash(o, o->done_hash & 1);
    uint64_t second = object_run_hash(o, true);
    object_set_run(o, o->again && (o->done_hash == second || o->fingerprint_of == second ||
                                   o->live_hash == second));
    if (o->failed_why && (o->failed_hash != o->hash || !o->drop_failed))
        object_fail(o, NULL, 0);
    o->rank = object_rank(&o->key, gate->dry_run);
    o->keep = sw_streq(sw_obj_annotation(doc, "helm.sh/resource-policy"), "keep");
    o->must_replace = false;
    fault_done(&o->fault);
    if (o->hash != before && (o->members || gate->of != SW_GATE_OF_ONE))
        members_watch(e, o);
    bool watched = o->awaited || gate->by_node || (gate->driver_container && gate->vendor);
    struct workers *fresh = watched && !o->members ? workers_new(doc) : NULL;
    if (fresh || !workers_inform(o->workers)) /* those go when it is ready */
        object_take_workers(e, o, fresh);
    e->has_builds = e->has_builds || object_is_build(o);
    o->deferred = o->deferred && object_is_build(o);
    if (o->watch && flips) { /* other fields count now */
        act_unwatch(e, o->watch);
        object_drop_live(o);
        o->watch = 0;
        o->observed = o->unread = false;
    } else if (o->live) {
        object_assess(e, o);
    } else if (o->present && (o->unread || (o->hash != before && !object_is_written(o)))) {
        act_unwatch(e, o->watch); /* it is read again: its gate may be another */
        o->unread = false;
        o->watch = 0;
        o->observed = false;
    }
    object_watch(e, o);
    object_judge(o);
    return 0;
}

void object_unrender(struct sw_engine *e, struct object *o)
{
    const bool never_was = (o->gate && o->gate->dry_run) || o->members;
    object_drop_content(o);
    members_watch(e, o);
    o->observed = o->observed || never_was;
    free(SW_TAKE(o->missing));
    o->deferred = false;
    fault_done(&o->fault);
    object_take_workers(e, o, NULL);
}

void object_watch(struct sw_engine *e, struct object *o)
{
    if (!o->watch && !(o->gate && o->gate->dry_run))
        o->watch = act_watch(e, &o->key, NULL,
                             o->gate && o->gate->observe ? SW_USE_STATUS : SW_USE_WHOLE);
    struct sw_key key;
    const char *selector;
    if (!o->workers || o->workers_watch)
        return;
    workers_key(o, &key, &selector);
    o->workers_watch = act_watch(e, &key, selector, SW_USE_WORKERS);
    if (e->preparing)
        workers_take_early(e, o);
    else
        act_watch_again(e, o->workers_watch);
}
