/* One object as the cluster has it: who owns it, which content it was applied with, and whether it
 * was changed since. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/kept.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/owner.h"

#define ANN_HASH "specialresource.openshift.io/hash"
#define ANN_RESOURCE "slipway.dev/resource"

static uint64_t read_version(struct json_object *live)
{
    return strtoull(sw_json_str(live, "0", "metadata", "resourceVersion", NULL), NULL, 10);
}

/* A manifest; the caller's. */
static struct json_object *parse(const struct sw_kept *text)
{
    struct json_object *doc = NULL;
    int rc = sw_json_parse(sw_kept_bytes(text), sw_kept_len(text), NULL, &doc, NULL);
    assert(rc == 0); /* it was written by sw_json_text() */
    (void)rc;
    sw_kept_rest(text);
    return doc;
}

struct json_object *sw_rendered_object_doc(const struct sw_rendered_object *object)
{
    return object->doc ? json_object_get(object->doc) : parse(object->text);
}

struct json_object *object_document(struct sw_engine *e, const struct object *o)
{
    struct json_object *doc = parse(o->text);
    if (o->gate->dry_run)
        return doc;
    char hash[17];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, o->hash);
    sw_json_set_str(doc, hash, "metadata", "annotations", ANN_HASH, NULL);
    sw_json_set_str(doc, e->name, "metadata", "annotations", ANN_RESOURCE, NULL);
    sw_owner_spare(doc, o->adopted);
    return doc;
}

static uint64_t fingerprint(const struct object *o, struct json_object *live)
{
    SW_AUTO_JSON *ours = parse(o->text);
    return drift_fingerprint(ours, live);
}

void object_set_fingerprint(struct object *o, struct json_object *live)
{
    o->fresh = live == NULL;
    o->fingerprint = live ? fingerprint(o, live) : 0;
    o->fingerprint_of = live ? o->hash : 0;
}

/* A Deployment of SRO's that is what is rendered. It is not written before something changes: a
 * server counts its annotations in its generation, too. What is rendered then goes over it, with
 * the fields that SRO owned. */
static bool is_taken_as_it_is(const struct object *o, struct json_object *live)
{
    bool has_changed = o->fingerprint_of && o->fingerprint_of != o->hash;
    if (!o->inherited || !o->text || has_changed || !sw_streq(o->key.kind, "Deployment"))
        return false;
    SW_AUTO_JSON *doc = parse(o->text);
    return sw_live_says(doc, live);
}

static struct json_object *former_owners(const struct sw_engine *e, const struct object *o)
{
    return o->shared ? sw_json_get(e->former, o->shared) : NULL;
}

static void read_live(struct sw_engine *e, struct object *o, struct json_object *live)
{
    const char *hash = sw_obj_annotation(live, ANN_HASH);
    const char *template = sw_obj_annotation(live, "deprecated.daemonset.template.generation");
    const struct sw_owner owner = { e->name,    e->uid,    e->predecessor,
                                    o->our_uid, o->shared, former_owners(e, o) };
    SW_AUTO_CHARS *why = sw_owner_foreign(&owner, live);
    o->borrowed = why && (o->rank == RANK_NAMESPACE || o->rank == RANK_CRD);
    if (why && o->gate && o->gate->adopt) {
        o->adopted = true;
        o->borrowed = false;
        sw_text_set(&why, NULL);
    }
    if (sw_streq(sw_obj_annotation(live, SW_ANN_ADOPTED), "true"))
        o->adopted = true;
    o->ours = !why;
    o->inherited = o->ours && (hash || sw_owner_is_predecessor(live, e->predecessor)) &&
                   !sw_obj_annotation(live, ANN_RESOURCE);
    sw_text_set(&o->foreign, o->borrowed ? NULL : why);
    sw_text_set(&o->uid, sw_obj_uid(live));
    if (o->ours)
        sw_text_set(&o->our_uid, o->uid);
    o->present = true;
    o->terminating = sw_json_find(live, "metadata", "deletionTimestamp", NULL) != NULL;
    o->version = read_version(live);
    o->live_hash = hash ? strtoull(hash, NULL, 16) : 0;
    if (o->ours && sw_owner_is_former(&owner, live))
        o->live_hash = 0; /* it is to get the mark of who owns it now */
    o->live_fingerprint = 0;
    if (is_taken_as_it_is(o, live)) {
        o->live_hash = o->hash;
        if (!o->fingerprint_of)
            object_set_fingerprint(o, live);
    }
    bool written = object_is_written(o) || (o->deferred && o->text); /* it may become needed */
    if (written && o->live_hash == o->hash) {
        o->live_fingerprint = fingerprint(o, live);
        if (o->fresh)
            object_set_fingerprint(o, live);
    }
    const char *writer = sw_obj_writer(live);
    sw_text_set(&o->writer, o->ours && !object_is_applied(o) && *writer ? writer : NULL);
    o->n_desired = sw_json_int(live, 0, "status", "desiredNumberScheduled", NULL);
    o->template = template ? strtoll(template, NULL, 10) : -1;
}

/* A hash of all that other files read of an object, to know whether it has changed. */
static uint64_t digest(const struct object *o)
{
    const char *text = o->judged.message ? o->judged.message : "";
    uint64_t fields[] = { o->observed,
                          o->unserved,
                          o->present,
                          o->terminating,
                          o->ours,
                          o->live_hash,
                          o->live_fingerprint,
                          (uint64_t)o->judged.kind,
                          (uint64_t)o->n_desired,
                          (uint64_t)o->template,
                          sw_fnv64a(text, strlen(text)),
                          o->uid ? sw_fnv64a(o->uid, strlen(o->uid)) : 0 };
    return sw_fnv64a(fields, sizeof fields);
}

/* Pods are not replaced for the grace period alone: the template that they run with is kept; that
 * of a Job cannot be changed. */
static void keep_template(struct sw_engine *e, struct object *o)
{
    if (!o->adapts)
        return;
    const struct sw_kept *rendered = o->wanted ? o->wanted : o->text;
    SW_AUTO(sw_kept) *wanted = sw_kept_new(sw_kept_bytes(rendered), sw_kept_len(rendered));
    SW_AUTO_JSON *doc = parse(wanted);
    SW_AUTO_JSON *kept = sw_template_keep(doc, o->live, e->nodes);
    object_take_content(e, o, kept ? kept : doc);
    sw_kept_free(o->wanted);
    o->wanted = kept ? SW_TAKE(wanted) : NULL;
}

void object_assess(struct sw_engine *e, struct object *o)
{
    keep_template(e, o);
    if (o->live) {
        read_live(e, o, o->live);
    } else {
        o->present = o->terminating = o->ours = o->borrowed = o->inherited = o->redo = false;
        o->live_hash = o->live_fingerprint = o->version = 0;
        o->n_desired = 0;
        sw_text_set(&o->uid, NULL);
        sw_text_set(&o->foreign, NULL);
    }
    if (o->gate)
        sw_gate_judge(o->gate, o->live, &o->judged);
    else
        sw_kstatus(o->live, &o->judged);
    object_judge(o);
}

bool object_observe(struct sw_engine *e, struct object *o, struct json_object *live)
{
    uint64_t before = digest(o);
    uint64_t version = live ? read_version(live) : 0;
    if (live && o->present && version && version < o->version && sw_streq(o->uid, sw_obj_uid(live)))
        return false; /* older than the answer to an apply */
    bool was_served = o->present && o->judged.kind == SW_READINESS_READY;
    object_drop_live(o);
    o->live = json_object_get(live);
    o->observed = true;
    o->unserved = false;
    fault_done(&o->watch_fault);
    object_assess(e, o);
    bool brings_kinds = o->rank == RANK_CRD || sw_streq(o->key.kind, "APIService");
    if (brings_kinds && !was_served && o->present && o->judged.kind == SW_READINESS_READY)
        e->served = act_serial(e);
    object_spare_live(o);
    return digest(o) != before;
}
