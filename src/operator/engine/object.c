/* One object: the registry by key, and what follows from what is rendered and what the cluster has.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "base/kept.h"
#include "data/json/json.h"
#include "data/json/large.h"
#include "data/json/path.h"
#include "data/text/cut.h"
#include "operator/engine/internal.h"
#include "operator/engine/readiness/pod_maker.h"

/* ---- faults ------------------------------------------------------------------------------------
 */

enum { FAULT_BYTES = 4096 }; /* others wrote it; it ends up in the status */

void fault_set(struct fault *fault, int code, const char *message)
{
    char *copy = sw_text_cut(message && *message ? message : sw_code_name(code), FAULT_BYTES);
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

static unsigned long key_hash(const void *k)
{
    const struct sw_key *key = k;
    uint64_t h = sw_fnv64a(key->api_version, group_len(key->api_version));
    h = h * 31 + sw_fnv64a(key->kind, strlen(key->kind));
    h = h * 31 + (key->ns ? sw_fnv64a(key->ns, strlen(key->ns)) : sw_fnv64a("", 0));
    return (unsigned long)(h * 31 + sw_fnv64a(key->name, strlen(key->name)));
}

static int key_equal(const void *a, const void *b)
{
    const struct sw_key *x = a, *y = b;
    size_t len = group_len(x->api_version);
    return sw_streq(x->name, y->name) && sw_streq(x->kind, y->kind) && sw_ns_equal(x->ns, y->ns) &&
           len == group_len(y->api_version) && !strncmp(x->api_version, y->api_version, len);
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
    bool whole = key->api_version && key->kind && key->name;
    return whole && lh_table_lookup_ex(registry(e), key, &found) ? found : NULL;
}

enum rank object_rank(const struct sw_key *key, bool dry_run)
{
    static const char *const last[] = { "ValidatingWebhookConfiguration",
                                        "MutatingWebhookConfiguration",
                                        "ValidatingAdmissionPolicyBinding", "APIService" };
    size_t len = group_len(key->api_version);
    bool builtin = !memchr(key->api_version, '.', len) ||
                   (len > 7 && !strncmp(key->api_version + len - 7, ".k8s.io", 7));
    bool is_last = dry_run;
    for (size_t i = 0; i < SW_COUNT(last); i++)
        is_last |= sw_streq(key->kind, last[i]);
    if (is_last)
        return RANK_LAST;
    if (sw_streq(key->kind, "Namespace") && len == 0)
        return RANK_NAMESPACE;
    if (sw_streq(key->kind, "CustomResourceDefinition"))
        return RANK_CRD;
    if (!builtin)
        return RANK_OTHER;
    bool workload = sw_pod_maker_find(key->kind) || sw_streq(key->kind, "ReplicationController");
    return workload ? RANK_WORKLOAD : RANK_CONFIG;
}

struct object *object_need(struct sw_engine *e, const struct sw_key *key, struct state *s)
{
    struct object *o = object_find(e, key);
    if (o)
        return o;
    o = sw_zalloc(1, sizeof *o);
    o->key = sw_key_copy(key);
    o->state = s;
    o->template = -1;
    o->rank = object_rank(key, false);
    sw_readiness_set(&o->judged, SW_READINESS_WAITING, "Unknown", "has not been looked at yet");
    if (lh_table_insert(registry(e), &o->key, o))
        abort();
    SW_GROW(s->objects, s->n_objects, s->cap_objects);
    s->objects[s->n_objects++] = o;
    return o;
}

void object_drop_content(struct object *o)
{
    sw_kept_free(SW_TAKE(o->text));
    sw_kept_free(SW_TAKE(o->wanted));
    o->adapts = false;
    sw_gate_free(SW_TAKE(o->gate));
    sw_placement_free(SW_TAKE(o->placement));
    free(SW_TAKE(o->grace_label));
    sw_placement_free(SW_TAKE(o->grace_placement));
    o->hash = 0;
    o->awaited = false;
}

void object_drop_live(struct object *o)
{
    (void)json_object_put(SW_TAKE(o->live));
}

void object_spare_live(struct object *o)
{
    bool is_large = o->live && sw_json_is_large(o->live);
    const bool is_lost = o->gate && o->gate->observe && o->judged.kind != SW_READINESS_READY;
    if (o->adapts || (is_lost && !is_large) || (o->state->phase != PH_READY && !is_large))
        return;
    o->unread = is_large && !o->text;
    object_drop_live(o);
}

void object_fail(struct object *o, const char *why, uint64_t hash)
{
    sw_text_set(&o->failed_why, why);
    o->failed_hash = why ? hash : 0;
    o->failed_in = 0;
    o->failed_recorded = false;
    if (!why)
        container_logs_done(o); /* another run has another log */
    warnings_done(o);
}

static void object_free(struct object *o)
{
    object_drop_content(o);
    free(o->failed_why);
    workers_free(o->workers);
    members_free(o->members);
    object_drop_live(o);
    free(o->variants);
    free(o->uid);
    free(o->shared);
    free(o->our_uid);
    free(o->wanted_by);
    json_object_put(o->added);
    free(o->added_by);
    free(o->foreign);
    free(o->writer);
    free(o->missing);
    free(o->unserved_why);
    container_logs_done(o);
    warnings_done(o);
    sw_readiness_done(&o->judged);
    sw_readiness_done(&o->readiness);
    fault_done(&o->fault);
    fault_done(&o->watch_fault);
    sw_key_done(&o->key);
    free(o);
}

void object_unlist(struct object *o)
{
    struct state *s = o->state;
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i] == o) {
            memmove(&s->objects[i], &s->objects[i + 1],
                    (s->n_objects - i - 1) * sizeof *s->objects);
            s->n_objects--;
            return;
        }
}

void object_forget(struct sw_engine *e, struct object *o)
{
    object_unlist(o);
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

/* ---- what follows from it ----------------------------------------------------------------------
 */

bool object_is_build(const struct object *o)
{
    return o->text && o->gate->vendor && sw_streq(o->key.kind, "BuildConfig");
}

bool object_lacks_image(const struct object *o)
{
    return o->missing && !(o->present && o->ours && o->live_hash == o->hash);
}

bool object_is_written(const struct object *o)
{
    return o->text && !o->gate->observe && !o->borrowed && !o->deferred && !object_lacks_image(o);
}

bool object_is_made_ready_by_others(const struct object *o)
{
    return !object_is_written(o) || o->gate->hold;
}

/* Does it exist with the content that was applied, unchanged since? */
static bool is_in_place(const struct object *o)
{
    return o->present && o->ours && !o->terminating && o->live_hash == o->hash &&
           o->fingerprint_of == o->hash && o->live_fingerprint == o->fingerprint;
}

/* Has it run to completion? It need not exist any more. An object of other content has run since
 * and may have undone its work. */
static bool has_run(const struct object *o)
{
    bool since = o->present && o->ours && o->live_hash && o->live_hash != o->hash && !o->once;
    bool stays = o->second && !o->drop_ready &&
                 !o->gate->runs_to_completion; /* after its last run */
    return o->done_hash == o->hash && !since && !stays;
}

/* The two runs of an object differ in the lowest bit. */
uint64_t object_run_hash(const struct object *o, bool second)
{
    return o->again ? (o->hash & ~UINT64_C(1)) | second : o->hash;
}

bool object_waits_again(const struct object *o)
{
    return o->text && o->again && !o->second && !o->failed_why;
}

void object_set_run(struct object *o, bool second)
{
    o->hash = object_run_hash(o, second);
    o->second = second;
    o->stage = second ? o->again : o->first;
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
    return (has_run(o) && (!o->terminating || o->drop_ready)) || is_in_place(o);
}

bool object_is_ready(const struct object *o)
{
    return object_is_applied(o) && (!o->awaited || o->readiness.kind == SW_READINESS_READY);
}

bool object_lacks_nodes(const struct object *o)
{
    return o->gate && o->state && sw_gate_is_by_node(o->gate) && object_is_ready(o) &&
           o->state->members_known && o->state->lacking.count > 0;
}

bool object_is_known(struct sw_engine *e, const struct object *o)
{
    if (o->gate && o->gate->dry_run)
        return true;
    return o->observed && workers_are_known(e, o);
}

bool object_is_removable(const struct object *o)
{
    bool ours = o->ours && !o->adopted && !o->keep;
    return o->present && ours && !(o->gate && (o->gate->observe || o->gate->dry_run));
}

void object_take_unserved(struct object *o, const char *message)
{
    o->unserved = o->observed = true;
    free(o->unserved_why);
    o->unserved_why = message ? sw_printf("is not served yet: %s", message) : NULL;
}

void object_judge(struct object *o)
{
    bool written = object_is_written(o);
    if (o->deferred)
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
    else if (written && o->present && !o->terminating && o->live_hash != o->hash)
        sw_readiness_set(&o->readiness, SW_READINESS_WAITING, "Outdated", "is not as rendered yet");
    else
        sw_readiness_set(&o->readiness, o->judged.kind, o->judged.reason, "%s",
                         o->judged.message ? o->judged.message : "");
    if (o->workers && !object_lacks_image(o))
        workers_judge(o);
    if (o->readiness.kind != SW_READINESS_FAILED && !o->container_logs.due)
        o->container_logs.until_ms = 0; /* its next failure has a log of its own */
    bool ends = written && (o->gate->runs_to_completion || o->drop_ready || o->again);
    bool over = o->readiness.kind == SW_READINESS_READY || (o->again && !o->awaited);
    if (!ends || !is_in_place(o) || !over)
        return;
    if (o->done_hash == o->hash)
        return;
    container_logs_succeeded(o);
    o->done_hash = o->hash;
    o->done_in = 0;
    o->done_recorded = false;
}

const char *object_title(struct sw_engine *e, const struct object *o)
{
    if (o->members)
        return sw_arena_printf(e->arena, "assertion '%s' about %s %s%s%s:", o->key.name,
                               o->gate->of == SW_GATE_OF_ANY ? "any" : "no", o->key.kind,
                               o->key.ns ? " of " : "", o->key.ns ? o->key.ns : "");
    return sw_arena_printf(e->arena, "%s %s%s%s", o->key.kind, o->key.ns ? o->key.ns : "",
                           o->key.ns ? "/" : "", o->key.name);
}

/* It is missing where another resource has made what it belongs to. NULL: it is not so. */
static const char *owner_message(struct sw_engine *e, const struct object *o)
{
    const struct state *s = o->state;
    bool is_missing = o->observed && !o->present && !o->unserved && !o->members;
    if (!s || !s->shared_owner || !is_missing || !o->gate || !o->gate->observe)
        return NULL;
    return sw_arena_printf(e->arena,
                           "%s: resource %s has %s for all, and has not made this one (yet): use "
                           "the name of its own (kubectl get %s%s%s), or delete that resource",
                           o->readiness.message, s->shared_owner, s->shared, o->key.kind,
                           o->key.ns ? " -n " : "", o->key.ns ? o->key.ns : "");
}

/* Schedulers of 1.34 and newer say only that there are taints: @text with which they are. */
static const char *name_taints(struct sw_engine *e, const struct object *o, const char *text)
{
    static const char unnamed[] = "untolerated taint(s)";
    const char *at = o->placement ? strstr(text, unnamed) : NULL;
    SW_AUTO_CHARS *taints = at ? sw_placement_taints(o->placement, e->nodes) : NULL;
    if (!taints)
        return text;
    at += strlen(unnamed);
    return sw_arena_printf(e->arena, "%.*s %s%s", (int)(at - text), text, taints, at);
}

/* The scheduler says only that nodes do not match: @text of a pod for which there is no node, with
 * the term that none has, as of a DaemonSet. */
static const char *name_term(struct sw_engine *e, const struct object *o, const char *text,
                             const char **reason)
{
    static const char before[] = "cannot be scheduled: ";
    const char *at = o->placement && sw_streq(*reason, "Unschedulable") ? strstr(text, before)
                                                                        : NULL;
    SW_AUTO_CHARS *why = at ? sw_placement_why_unmatched(o->placement, e->nodes) : NULL;
    if (!why)
        return text;
    at += strlen(before);
    *reason = "NoMatchingNodes";
    return sw_arena_printf(e->arena, "%.*s%s: %s", (int)(at - text), text, why, at);
}

const char *object_with_pods(struct sw_engine *e, const struct object *o, const char *text,
                             const char **reason)
{
    const char *pod = workers_message(e, o, reason);
    const char *secret, *line = container_logs_line(o), *warning = warnings_line(o, &secret);
    if (warning && strstr(pod ? pod : text, warning))
        warning = NULL; /* the pod says it, too */
    return sw_arena_printf(e->arena, "%s%s%s%s%s%s%s%s%s", text, pod ? "; " : "", pod ? pod : "",
                           line ? "; the end of its log: " : "", line ? line : "",
                           warning ? ": " : "", warning ? warning : "", secret ? "; " : "",
                           secret ? secret : "");
}

const char *object_detail(struct sw_engine *e, const struct object *o, const char **reason)
{
    *reason = o->readiness.reason;
    const char *by_owner = owner_message(e, o);
    if (by_owner)
        return by_owner;
    if (o->failed_why) /* its pods and their log are in there */
        return o->readiness.message;
    if (o->placement && sw_streq(*reason, "NoMatchingNodes")) {
        SW_AUTO_CHARS *why = sw_placement_why_none(o->placement, e->nodes);
        return sw_arena_printf(e->arena, "%s%s%s", o->readiness.message, why ? ": " : "",
                               why ? why : "");
    }
    const char *text = object_with_pods(e, o, o->readiness.message, reason);
    return name_taints(e, o, name_term(e, o, text, reason));
}

const char *object_message(struct sw_engine *e, const struct object *o, const char **reason)
{
    return sw_arena_printf(e->arena, "%s %s", object_title(e, o), object_detail(e, o, reason));
}
