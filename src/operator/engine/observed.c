/* One object as the cluster has it: whose it is, which content it was applied with, and whether it
 * still looks as it did then. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

#define ANN_HASH "specialresource.openshift.io/hash"
#define ANN_RESOURCE "slipway.dev/resource"
#define ANN_ADOPTED "slipway.dev/adopted"

/* Whose is it? Ours by owner reference, by slipway's mark, or by what was written down.
 * @return NULL: ours; else why not, heap. */
static char *foreign_why(const struct sw_engine *e, const struct object *o,
                         struct json_object *live)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    struct json_object *controller = NULL;
    for (size_t i = 0; i < sw_json_len(owners); i++) {
        struct json_object *owner = sw_json_at(owners, i);
        if (sw_streq(sw_json_str(owner, "", "uid", NULL), e->uid))
            return NULL;
        if (sw_json_bool(owner, false, "controller", NULL))
            controller = owner;
    }
    if (o->our_uid && sw_streq(o->our_uid, sw_obj_uid(live)))
        return NULL;
    if (controller)
        return sw_printf("belongs to %s %s", sw_json_str(controller, "?", "kind", NULL),
                         sw_json_str(controller, "?", "name", NULL));
    const char *mark = sw_obj_annotation(live, ANN_RESOURCE);
    if (sw_streq(mark, e->name))
        return NULL;
    return mark ? sw_printf("belongs to SpecialResource %s", mark)
                : sw_strdup("exists and is not slipway's");
}

static uint64_t read_hash(struct json_object *live)
{
    const char *text = sw_obj_annotation(live, ANN_HASH);
    return text ? strtoull(text, NULL, 16) : 0;
}

static uint64_t read_version(struct json_object *live)
{
    return strtoull(sw_json_str(live, "0", "metadata", "resourceVersion", NULL), NULL, 10);
}

struct json_object *object_document(struct sw_engine *e, const struct object *o)
{
    struct json_object *doc = NULL;
    int rc = sw_json_parse(o->text, o->len, NULL, &doc, NULL);
    assert(rc == 0); /* it was written by sw_json_text() */
    (void)rc;
    if (o->gate->dry_run)
        return doc;
    char hash[17];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, o->hash);
    sw_json_set_str(doc, hash, "metadata", "annotations", ANN_HASH, NULL);
    sw_json_set_str(doc, e->name, "metadata", "annotations", ANN_RESOURCE, NULL);
    if (o->adopted)
        sw_json_set_str(doc, "true", "metadata", "annotations", ANN_ADOPTED, NULL);
    return doc;
}

static void take_text(char **to, const char *from)
{
    if (sw_streq(*to, from))
        return;
    char *copy = from ? sw_strdup(from) : NULL;
    free(*to);
    *to = copy;
}

void object_drop_live(struct object *o)
{
    (void)json_object_put(o->live);
    o->live = NULL;
}

static void see_nothing(struct object *o)
{
    o->present = o->dying = o->ours = o->borrowed = o->inherited = o->redo = false;
    o->live_hash = o->live_fingerprint = o->version = 0;
    o->n_wanted = 0;
    take_text(&o->uid, NULL);
    take_text(&o->foreign, NULL);
}

static void see_owner(struct sw_engine *e, struct object *o, struct json_object *live)
{
    char *why = foreign_why(e, o, live);
    o->borrowed = why && (o->rank == RANK_NAMESPACE || o->rank == RANK_CRD);
    if (why && o->gate && o->gate->adopt) {
        o->adopted = true;
        o->borrowed = false;
        take_text(&why, NULL);
    }
    if (sw_streq(sw_obj_annotation(live, ANN_ADOPTED), "true"))
        o->adopted = true;
    o->ours = !why;
    o->inherited = o->ours && sw_obj_annotation(live, ANN_HASH) &&
                   !sw_obj_annotation(live, ANN_RESOURCE);
    take_text(&o->foreign, o->borrowed ? NULL : why);
    free(why);
    if (o->ours)
        take_text(&o->our_uid, sw_obj_uid(live));
}

static uint64_t look_of(const struct object *o, struct json_object *live)
{
    SW_AUTO_JSON *ours = NULL;
    int rc = sw_json_parse(o->text, o->len, NULL, &ours, NULL);
    assert(rc == 0); /* it was written by sw_json_text() */
    (void)rc;
    return project(ours, live);
}

void object_set_look(struct object *o, struct json_object *live)
{
    o->fresh = live == NULL;
    o->fingerprint = live ? look_of(o, live) : 0;
    o->fingerprint_of = live ? o->hash : 0;
}

static void see_content(struct object *o, struct json_object *live)
{
    o->live_hash = read_hash(live);
    o->live_fingerprint = 0;
    bool written = object_is_written(o) || (o->asleep && o->text); /* it may be about to wake */
    if (!written || o->live_hash != o->hash)
        return;
    o->live_fingerprint = look_of(o, live);
    if (o->fresh)
        object_set_look(o, live);
}

static void see_live(struct sw_engine *e, struct object *o, struct json_object *live)
{
    see_owner(e, o, live);
    take_text(&o->uid, sw_obj_uid(live));
    o->present = true;
    o->dying = sw_json_find(live, "metadata", "deletionTimestamp", NULL) != NULL;
    o->version = read_version(live);
    see_content(o, live);
    o->n_wanted = sw_json_int(live, 0, "status", "desiredNumberScheduled", NULL);
    const char *template = sw_obj_annotation(live, "deprecated.daemonset.template.generation");
    o->template = template ? strtoll(template, NULL, 10) : -1;
}

/* All of an object that others look at, to tell whether it is different. */
static uint64_t impression(const struct object *o)
{
    const char *text = o->judged.message ? o->judged.message : "";
    uint64_t parts[] = { o->looked,
                         o->unserved,
                         o->present,
                         o->dying,
                         o->ours,
                         o->live_hash,
                         o->live_fingerprint,
                         (uint64_t)o->judged.kind,
                         (uint64_t)o->n_wanted,
                         (uint64_t)o->template,
                         sw_fnv64a(text, strlen(text)),
                         o->uid ? sw_fnv64a(o->uid, strlen(o->uid)) : 0 };
    return sw_fnv64a(parts, sizeof parts);
}

void object_assess(struct sw_engine *e, struct object *o)
{
    if (o->live)
        see_live(e, o, o->live);
    else
        see_nothing(o);
    if (o->gate)
        sw_gate_judge(o->gate, o->live, &o->judged);
    else
        sw_kstatus(o->live, &o->judged);
    object_judge(o);
}

bool object_observe(struct sw_engine *e, struct object *o, struct json_object *live)
{
    uint64_t before = impression(o);
    uint64_t version = live ? read_version(live) : 0;
    if (live && o->present && version && version < o->version && sw_streq(o->uid, sw_obj_uid(live)))
        return false; /* older than what an answer has already told */
    object_drop_live(o);
    o->live = json_object_get(live);
    o->looked = true;
    o->unserved = false;
    fault_done(&o->unseen);
    object_assess(e, o);
    if (o->state->phase == PH_READY)
        object_drop_live(o);
    return impression(o) != before;
}
