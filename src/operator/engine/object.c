/* One object: what a state says it should be, and what follows from that and from what the cluster
 * has (observed.c). */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

/* ---- faults ------------------------------------------------------------------------------------
 */

void fault_set(struct fault *fault, int code, const char *message)
{
    char *copy = sw_strdup(message && *message ? message : sw_code_name(code));
    fault_done(fault);
    *fault = (struct fault){ code, copy };
}

void fault_done(struct fault *fault)
{
    free(fault->message);
    *fault = (struct fault){ 0 };
}

bool fault_lasts(const struct fault *fault)
{
    return fault->code == SW_INVALID || fault->code == SW_FORBIDDEN;
}

/* ---- the registry ------------------------------------------------------------------------------
 */

static size_t group_len(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    return slash ? (size_t)(slash - api_version) : 0;
}

static const char *ns_of(const struct sw_key *key)
{
    return key->ns ? key->ns : "";
}

static unsigned long key_hash(const void *k)
{
    const struct sw_key *key = k;
    uint64_t h = sw_fnv64a(key->api_version, group_len(key->api_version));
    h = h * 31 + sw_fnv64a(key->kind, strlen(key->kind));
    h = h * 31 + sw_fnv64a(ns_of(key), strlen(ns_of(key)));
    return (unsigned long)(h * 31 + sw_fnv64a(key->name, strlen(key->name)));
}

static int key_equal(const void *a, const void *b)
{
    const struct sw_key *x = a, *y = b;
    size_t len = group_len(x->api_version);
    return sw_streq(x->name, y->name) && sw_streq(x->kind, y->kind) &&
           sw_streq(ns_of(x), ns_of(y)) && len == group_len(y->api_version) &&
           !strncmp(x->api_version, y->api_version, len);
}

static struct lh_table *registry(struct sw_engine *e)
{
    if (!e->objects)
        e->objects = lh_table_new(32, NULL, key_hash, key_equal);
    if (!e->objects)
        abort();
    return e->objects;
}

struct object *object_find(struct sw_engine *e, const struct sw_key *key)
{
    void *found = NULL;
    if (!key->api_version || !key->kind || !key->name)
        return NULL;
    (void)lh_table_lookup_ex(registry(e), key, &found);
    return found;
}

static void key_copy(struct sw_key *to, const struct sw_key *from)
{
    to->api_version = sw_strdup(from->api_version);
    to->kind = sw_strdup(from->kind);
    to->ns = from->ns && *from->ns ? sw_strdup(from->ns) : NULL;
    to->name = sw_strdup(from->name);
}

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (sw_streq(kind, *kinds))
            return true;
    return false;
}

static enum rank rank_of(const struct sw_key *key, bool dry_run)
{
    static const char *const last[] = { "ValidatingWebhookConfiguration",
                                        "MutatingWebhookConfiguration",
                                        "ValidatingAdmissionPolicyBinding", "APIService", NULL };
    static const char *const workloads[] = { "Pod",        "ReplicationController",
                                             "ReplicaSet", "Deployment",
                                             "DaemonSet",  "StatefulSet",
                                             "Job",        "CronJob",
                                             NULL };
    size_t len = group_len(key->api_version);
    bool builtin = !memchr(key->api_version, '.', len) ||
                   (len > 7 && !strncmp(key->api_version + len - 7, ".k8s.io", 7));
    if (dry_run || is_one_of(key->kind, last))
        return RANK_LAST;
    if (sw_streq(key->kind, "Namespace") && len == 0)
        return RANK_NAMESPACE;
    if (sw_streq(key->kind, "CustomResourceDefinition"))
        return RANK_CRD;
    if (!builtin)
        return RANK_OTHER;
    return is_one_of(key->kind, workloads) ? RANK_WORKLOAD : RANK_CONFIG;
}

struct object *object_need(struct sw_engine *e, const struct sw_key *key, struct state *s)
{
    struct object *o = object_find(e, key);
    if (o)
        return o;
    o = sw_zalloc(1, sizeof *o);
    key_copy(&o->key, key);
    o->state = s;
    o->template = -1;
    o->rank = rank_of(key, false);
    sw_readiness_set(&o->judged, SW_READINESS_WAITING, "Unknown", "has not been looked at yet");
    if (lh_table_insert(registry(e), &o->key, o))
        abort();
    SW_GROW(s->objects, s->n_objects, s->cap_objects);
    s->objects[s->n_objects++] = o;
    return o;
}

static void rendered_done(struct object *o)
{
    free(o->text);
    o->text = NULL;
    sw_gate_free(o->gate);
    o->gate = NULL;
    (void)json_object_put(o->placement);
    o->placement = NULL;
    free(SW_TAKE(o->stay_key));
    (void)json_object_put(SW_TAKE(o->staying));
    o->hash = 0;
    o->awaited = false;
}

void object_fail(struct object *o, const char *why, uint64_t hash)
{
    char *copy = why ? sw_strdup(why) : NULL;
    free(o->failed_why);
    o->failed_why = copy;
    o->failed_hash = why ? hash : 0;
    o->failed_in = 0;
    o->failed_recorded = false;
}

static void object_free(struct object *o)
{
    rendered_done(o);
    free(o->failed_why);
    workers_free(o->workers);
    object_drop_live(o);
    free(o->variants);
    free(o->uid);
    free(o->our_uid);
    free(o->foreign);
    free(o->missing);
    free(o->unserved_why);
    container_logs_done(o);
    sw_readiness_done(&o->judged);
    sw_readiness_done(&o->readiness);
    fault_done(&o->fault);
    fault_done(&o->unseen);
    free((char *)o->key.api_version);
    free((char *)o->key.kind);
    free((char *)o->key.ns);
    free((char *)o->key.name);
    free(o);
}

void object_forget(struct sw_engine *e, struct object *o)
{
    struct state *s = o->state;
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i] == o) {
            memmove(&s->objects[i], &s->objects[i + 1],
                    (s->n_objects - i - 1) * sizeof *s->objects);
            s->n_objects--;
            break;
        }
    act_unwatch(e, o->watch);
    act_unwatch(e, o->workers_watch);
    (void)lh_table_delete(registry(e), &o->key); /* it is in there since it was made */
    object_free(o);
    e->status_dirty = true;
}

void objects_free(struct sw_engine *e)
{
    if (!e->objects)
        return;
    struct lh_entry *entry, *next;
    lh_foreach_safe(e->objects, entry, next) object_free((struct object *)lh_entry_v(entry));
    lh_table_free(e->objects);
}

/* ---- as rendered -------------------------------------------------------------------------------
 */

static struct json_object *placement_of(struct json_object *doc)
{
    static const char *const fields[] = { "nodeSelector", "affinity", "tolerations" };
    struct json_object *spec = sw_json_find(doc, "spec", "template", "spec", NULL);
    if (!spec)
        return NULL;
    struct json_object *out = json_object_new_object();
    for (size_t i = 0; i < SW_COUNT(fields); i++) {
        struct json_object *value = sw_json_get(spec, fields[i]);
        if (value)
            json_object_object_add(out, fields[i], sw_json_copy(value));
    }
    return out;
}

/* Somebody else's object is looked at anew: its gate may be another. */
static void look_again(struct sw_engine *e, struct object *o)
{
    act_unwatch(e, o->watch);
    o->watch = 0;
    o->looked = false;
}

static void take_workers(struct sw_engine *e, struct object *o, struct workers *fresh)
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

int object_render(struct sw_engine *e, struct object *o, const struct sw_rendered_object *r,
                  struct sw_err *err)
{
    uint64_t before = o->hash;
    struct sw_gate *gate = NULL;
    int rc = sw_gate_new(r->doc, r->awaited, &gate, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *stay_before = SW_TAKE(o->stay_key);
    rendered_done(o);
    o->gate = gate;
    o->text = sw_json_text(r->doc, SW_JSON_SORTED, &o->len);
    o->hash = sw_fnv64a(o->text, o->len);
    free(o->missing);
    o->missing = r->missing ? sw_strdup(r->missing) : NULL;
    o->awaited = gate->awaited || o->missing;
    o->stage = r->stage;
    o->once = r->once;
    o->drop_ready = r->drop_ready;
    o->drop_failed = r->drop_failed;
    if (o->once && o->done_hash)
        o->done_hash = o->hash;
    if (o->failed_why && (o->failed_hash != o->hash || !o->drop_failed))
        object_fail(o, NULL, 0);
    o->rank = rank_of(&o->key, gate->dry_run);
    o->placement = placement_of(r->doc);
    o->stay_key = sw_grace_period_remove(o->placement);
    o->staying = o->stay_key ? placement_of(r->doc) : NULL;
    if (o->stay_key && !sw_streq(o->stay_key, stay_before))
        label_all_changed(e);
    o->keep = sw_streq(sw_obj_annotation(r->doc, "helm.sh/resource-policy"), "keep");
    o->must_replace = false;
    fault_done(&o->fault);
    bool watched = o->awaited || gate->by_node || (gate->driver_container && gate->vendor);
    take_workers(e, o, watched ? workers_new(r->doc) : NULL);
    e->has_builds = e->has_builds || build_may_sleep(o);
    o->asleep = o->asleep && build_may_sleep(o);
    if (o->live)
        object_assess(e, o);
    else if (o->present && o->hash != before && !object_is_written(o))
        look_again(e, o);
    object_watch(e, o);
    object_judge(o);
    return 0;
}

void object_unrender(struct sw_engine *e, struct object *o)
{
    if (o->gate && o->gate->dry_run)
        o->looked = true; /* it never was there */
    rendered_done(o);
    free(SW_TAKE(o->missing));
    o->asleep = false;
    fault_done(&o->fault);
    take_workers(e, o, NULL);
}

void object_watch(struct sw_engine *e, struct object *o)
{
    if (!o->watch && !(o->gate && o->gate->dry_run))
        o->watch = act_watch(e, &o->key, NULL,
                             o->gate && o->gate->observe ? SW_USE_STATUS : SW_USE_WHOLE);
    struct sw_key key;
    const char *selector;
    if (!o->workers || o->workers_watch || !workers_key(o, &key, &selector))
        return;
    o->workers_watch = act_watch(e, &key, selector, SW_USE_WORKERS);
    if (e->preparing)
        workers_take_strays(e, o);
    else
        act_watch_again(e, o->workers_watch);
}

/* ---- what follows from it ----------------------------------------------------------------------
 */

/* What runs already has its image, whatever a registry says now. */
bool object_lacks_image(const struct object *o)
{
    return o->missing && !(o->present && o->ours && o->live_hash == o->hash);
}

bool object_is_written(const struct object *o)
{
    return o->text && !o->gate->observe && !o->borrowed && !o->asleep && !object_lacks_image(o);
}

bool object_is_brought_ready_by_others(const struct object *o)
{
    return !object_is_written(o) || o->gate->hold;
}

/* It is there with the content that was applied, and nobody has touched that since. */
static bool is_in_place(const struct object *o)
{
    return o->present && o->ours && !o->dying && o->live_hash == o->hash &&
           o->fingerprint_of == o->hash && o->live_fingerprint == o->fingerprint;
}

/* It ran to its end: it need not be there any more. What is there with another content has run
 * since, and undone it. */
static bool has_run(const struct object *o)
{
    bool since = o->present && o->ours && o->live_hash && o->live_hash != o->hash && !o->once;
    return o->done_hash == o->hash && !since;
}

bool object_is_applied(const struct object *o)
{
    if (!object_is_written(o))
        return true;
    if (o->gate->dry_run)
        return o->done_hash == o->hash;
    if (o->redo)
        return false;
    if (o->failed_why)
        return true;
    return (has_run(o) && !o->dying) || is_in_place(o);
}

bool object_is_ready(const struct object *o)
{
    return object_is_applied(o) && (!o->awaited || o->readiness.kind == SW_READINESS_READY);
}

bool object_is_known(struct sw_engine *e, const struct object *o)
{
    if (o->gate && o->gate->dry_run)
        return true;
    return o->looked && workers_are_known(e, o);
}

bool object_is_removable(const struct object *o)
{
    bool ours = o->ours && !o->adopted && !o->keep;
    return o->present && ours && !(o->gate && (o->gate->observe || o->gate->dry_run));
}

static void readiness_copy(struct sw_readiness *to, const struct sw_readiness *from)
{
    if (from->kind == SW_READINESS_READY)
        sw_readiness_set(to, SW_READINESS_READY, NULL, " ");
    else
        sw_readiness_set(to, from->kind, from->reason, "%s", from->message);
}

void object_judge(struct object *o)
{
    bool written = object_is_written(o);
    if (o->asleep)
        sw_readiness_set(&o->readiness, SW_READINESS_READY, NULL, " ");
    else if (o->failed_why)
        sw_readiness_set(&o->readiness, SW_READINESS_FAILED, "HookFailed", "%s", o->failed_why);
    else if (object_lacks_image(o))
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "ImageMissing",
                         "waits for an image: %s", o->missing);
    else if (o->unserved)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "NotServed", "%s",
                         o->unserved_why ? o->unserved_why : "its kind is not served");
    else if (written && has_run(o))
        sw_readiness_set(&o->readiness, SW_READINESS_READY, NULL, " ");
    else if (written && o->gate->dry_run)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "NotAccepted",
                         "is not accepted yet%s%s", o->fault.code ? ": " : "",
                         o->fault.code ? o->fault.message : "");
    else if (written && o->present && !o->dying && o->live_hash != o->hash)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "Outdated", "is not as rendered yet");
    else
        readiness_copy(&o->readiness, &o->judged);
    if (o->workers && !object_lacks_image(o))
        workers_judge(o);
    bool ends = written && (o->gate->runs_to_completion || o->drop_ready);
    bool ended = ends && is_in_place(o);
    if (ended && o->readiness.kind == SW_READINESS_READY)
        o->done_hash = o->hash;
}

/* Every term of a required node affinity asks for the label: to have it is needed. */
static bool affinity_asks(struct json_object *placement, const char *label)
{
    struct json_object *terms = sw_json_find(placement, "affinity", "nodeAffinity",
                                             "requiredDuringSchedulingIgnoredDuringExecution",
                                             "nodeSelectorTerms", NULL);
    for (size_t i = 0; i < sw_json_len(terms); i++) {
        struct json_object *list = sw_json_get(sw_json_at(terms, i), "matchExpressions");
        struct json_object *asks = sw_json_find_by(list, "key", label);
        const char *op = sw_json_str(asks, "", "operator", NULL);
        if (!sw_streq(op, "In") && !sw_streq(op, "Exists"))
            return false;
    }
    return sw_json_len(terms) > 0;
}

bool object_is_bound_to(const struct object *o, const char *label)
{
    return sw_json_get(sw_json_get(o->placement, "nodeSelector"), label) ||
           affinity_asks(o->placement, label);
}

const char *object_words(struct sw_engine *e, const struct object *o)
{
    return sw_arena_printf(e->arena, "%s %s%s%s", o->key.kind, o->key.ns ? o->key.ns : "",
                           o->key.ns ? "/" : "", o->key.name);
}

const char *object_why(struct sw_engine *e, const struct object *o, const char **reason)
{
    *reason = o->readiness.reason;
    const char *pod = workers_why(e, o, reason);
    const char *line = container_logs_line(o);
    return sw_arena_printf(e->arena, "%s %s%s%s%s%s", object_words(e, o), o->readiness.message,
                           pod ? "; " : "", pod ? pod : "", line ? "; the end of its log: " : "",
                           line ? line : "");
}
