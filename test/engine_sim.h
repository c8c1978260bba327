#pragma once
/* A cluster in memory for tests of the engine: it carries the engine's actions out, lives its own
 * life (pods start, objects become ready), and feeds the answers and observations back in any
 * order. Everything random comes from one seed. */
#include "operator/engine/engine.h"
#include "operator/engine/recording/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/selector/selector.h"

#define SIM_NS "ns"
#define SIM_UID "uid-of-the-resource"
#define SIM_LABEL "specialresource.openshift.io/state-r-"

/* ---- what is walked ----------------------------------------------------------------------------
 */

/* An object of a state, in few words. */
#define SIM_RESOURCES "sim/resources" /* a label of a node: its extended resources */

struct sim_object {
    const char *kind; /* ConfigMap, Deployment, DaemonSet, Job, Pod, ... */
    const char *name; /* "%s" in it: the variant */
    bool awaited;
    const char *needs_label; /* DaemonSet: its pods run only on nodes with this label */
    const char *on_label;    /* another kind: it is for nodes with this label, "yes" */
    const char *annotations; /* further ones, JSON with ' for " */
    int content;             /* another number, another content */
    int stage, again;        /* see sw_rendered_object */
    bool drop_ready, drop_before;
    const char *missing; /* variants whose image is not there, as far as the registry says */
    const char *shared;  /* the shared release that it is of */
};

struct sim_state {
    const char *name;
    size_t needs[4];
    size_t n_needs;
    bool affine, hidden, looks_up;
    struct sim_object objects[6];
    size_t n_objects;
};

struct sim_recipe {
    struct sim_state states[8];
    size_t n_states;
};

/* ---- the cluster -------------------------------------------------------------------------------
 */

struct sim_watch {
    uint64_t id;
    char *api_version, *kind, *ns, *name, *selector;
};

struct sim_pending {
    struct sw_event event;
    struct json_object *object;
    struct sw_rendered_object *objects;
};

struct sim {
    struct sw_arena *arena;
    struct sw_node_set *node_set;
    struct sw_engine *engine;
    struct sw_engine_opts opts;
    int64_t now_ms, timer_ms;
    uint64_t random;
    struct sim_recipe recipe;
    const char *revision;
    int64_t generation;
    bool deleting, orphan;
    enum sw_hold hold;
    int64_t timeout_ms;
    enum sw_management management;
    const char *node_selector; /* JSON with ' */
    const char *boot_id;       /* of the nodes that are put from here on; NULL: not told */
    const char *own_taints, *tolerations, *overlap;
    const char *inherited; /* JSON with ' */
    size_t n_more;         /* ConfigMaps that each state renders beside its own objects */

    struct json_object *store;  /* "apiVersion|kind|ns|name" -> document */
    struct json_object *nodes;  /* name -> labels */
    struct json_object *taints; /* name -> {taints, record} */
    struct json_object *status; /* of the resource, as last written */
    uint64_t version;
    struct sim_watch *watches;
    size_t n_watches, cap_watches;
    struct sim_pending *queue;
    size_t n_queue, cap_queue;

    /* what happens by chance, in percent */
    int fail, lose, repeat, shuffle;
    bool frozen; /* the cluster's own life stands still */

    /* what happened */
    size_t n_applies, n_deletes, n_labels, n_statuses, n_renders, n_useless;
    bool finalized;
    FILE *trace;
    void (*check)(struct sim *sim, const struct sw_action *action);
    int (*refuse)(struct sim *sim, const struct sw_action *action); /* a code to answer with */
    void *arg;
    char *log; /* "apply ConfigMap ns/a; label n0 +s1; ..." */
};

static inline uint64_t sim_random(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return sim->random;
}

static inline bool sim_chance(struct sim *sim, int percent)
{
    return (int)(sim_random(sim) % 100) < percent;
}

static inline struct json_object *sim_json(const char *text)
{
    SW_AUTO_CHARS *json = sw_strdup(text);
    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(json, strlen(json), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static inline void sim_log(struct sim *sim, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static inline void sim_log(struct sim *sim, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    char *longer = sw_printf("%s%s%s", sim->log ? sim->log : "", sim->log ? "; " : "", text);
    free(sim->log);
    sim->log = longer;
}

static inline void sim_clear_log(struct sim *sim)
{
    free(sim->log);
    sim->log = sw_strdup("");
    free(sim->log);
    sim->log = NULL;
}

/* ---- the queue of what the engine will be told -------------------------------------------------
 */

static inline struct sim_pending *sim_push(struct sim *sim, enum sw_event_kind kind)
{
    SW_GROW(sim->queue, sim->n_queue, sim->cap_queue);
    struct sim_pending *p = &sim->queue[sim->n_queue++];
    *p = (struct sim_pending){ .event = { .kind = kind, .node = SW_NO_NODE } };
    return p;
}

static inline const char *sim_keep(struct sim *sim, const char *text)
{
    return text ? sw_arena_strdup(sim->arena, text) : NULL;
}

static inline struct sw_key sim_key(struct sim *sim, const struct sw_key *key)
{
    return (struct sw_key){ sim_keep(sim, key->api_version), sim_keep(sim, key->kind),
                            sim_keep(sim, key->ns), sim_keep(sim, key->name) };
}

/* @watch: the number of the watch that shows it. */
static inline void sim_observe(struct sim *sim, uint64_t watch, const struct sw_key *key,
                               struct json_object *doc)
{
    struct sim_pending *p = sim_push(sim, SW_EV_OBSERVED);
    p->event.watch = watch;
    p->event.key = sim_key(sim, key);
    p->object = sw_json_copy(doc);
    p->event.object = p->object;
}

/* ---- the store ---------------------------------------------------------------------------------
 */

static inline const char *sim_id(struct sim *sim, const struct sw_key *key)
{
    return sw_arena_printf(sim->arena, "%s|%s|%s|%s", key->api_version, key->kind,
                           key->ns ? key->ns : "", key->name);
}

static inline struct sw_key sim_key_of(struct json_object *doc)
{
    return (struct sw_key){ sw_obj_api_version(doc), sw_obj_kind(doc), sw_obj_namespace(doc),
                            sw_obj_name(doc) };
}

static inline struct json_object *sim_get(struct sim *sim, const struct sw_key *key)
{
    return sw_json_get(sim->store, sim_id(sim, key));
}

static inline bool sim_matches(const struct sim_watch *w, const struct sw_key *key,
                               struct json_object *doc)
{
    if (strcmp(w->api_version, key->api_version) != 0 || strcmp(w->kind, key->kind) != 0 ||
        strcmp(w->ns ? w->ns : "", key->ns ? key->ns : "") != 0)
        return false;
    if (w->name)
        return strcmp(w->name, key->name) == 0;
    if (!w->selector)
        return true;
    struct sw_selector selector = { 0 };
    assert_int_equal(sw_selector_parse(w->selector, &selector, NULL), 0);
    bool matches = sw_selector_matches_object(&selector, doc);
    sw_selector_done(&selector);
    return matches;
}

/* Tell all who watch; @gone: @doc is what it was at last. */
static inline void sim_tell(struct sim *sim, struct json_object *doc, bool gone)
{
    struct sw_key key = sim_key_of(doc);
    for (size_t i = 0; i < sim->n_watches; i++)
        if (sim_matches(&sim->watches[i], &key, doc)) {
            if (sim_chance(sim, sim->lose))
                continue;
            sim_observe(sim, sim->watches[i].id, &key, gone ? NULL : doc);
            if (sim_chance(sim, sim->repeat))
                sim_observe(sim, sim->watches[i].id, &key, gone ? NULL : doc);
        }
}

static inline void sim_touch(struct sim *sim, struct json_object *doc)
{
    SW_AUTO_CHARS *version = sw_printf("%llu", (unsigned long long)++sim->version);
    sw_json_set_str(doc, version, "metadata", "resourceVersion", NULL);
    sim_tell(sim, doc, false);
}

/* Put @doc (taken) into the store as a server does: uid, version, generation; status survives.
 * @return whether anything was different. */
static inline bool sim_put(struct sim *sim, struct json_object *doc)
{
    struct sw_key key = sim_key_of(doc);
    struct json_object *old = sim_get(sim, &key);
    int64_t generation = sw_json_int(old, 0, "metadata", "generation", NULL);
    bool same_spec = old && sw_json_equal(sw_json_get(old, "spec"), sw_json_get(doc, "spec")) &&
                     sw_json_equal(sw_json_get(old, "data"), sw_json_get(doc, "data"));
    bool same_notes = old && sw_json_equal(sw_json_find(old, "metadata", "annotations", NULL),
                                           sw_json_find(doc, "metadata", "annotations", NULL));
    if (old && same_spec && same_notes) {
        json_object_put(doc);
        return false;
    }
    SW_AUTO_CHARS *uid = sw_printf("uid-%llu", (unsigned long long)++sim->version);
    sw_json_set_str(doc, old ? sw_obj_uid(old) : uid, "metadata", "uid", NULL);
    sw_json_set(doc, json_object_new_int64(same_spec ? generation : generation + 1), "metadata",
                "generation", NULL);
    if (old && sw_json_get(old, "status"))
        sw_json_set(doc, json_object_get(sw_json_get(old, "status")), "status", NULL);
    json_object_object_add(sim->store, sim_id(sim, &key), doc);
    sim_touch(sim, doc);
    return true;
}

static inline void sim_remove(struct sim *sim, struct json_object *doc)
{
    json_object_get(doc);
    struct sw_key key = sim_key_of(doc);
    json_object_object_del(sim->store, sim_id(sim, &key));
    sim->version++;
    sim_tell(sim, doc, true);
    if (strcmp(key.kind, "DaemonSet") == 0) { /* its pods go with it */
        struct json_object *all = sw_json_copy(sim->store);
        json_object_object_foreach(all, id, pod)
        {
            (void)id;
            if (strcmp(sw_obj_kind(pod), "Pod") == 0 &&
                sw_streq(sw_obj_label(pod, "app"), key.name)) {
                struct sw_key pod_key = sim_key_of(pod);
                sim_remove(sim, sim_get(sim, &pod_key));
            }
        }
        json_object_put(all);
    }
    json_object_put(doc);
}

static inline struct json_object *sim_find(struct sim *sim, const char *kind, const char *name)
{
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        if (strcmp(sw_obj_kind(doc), kind) == 0 && strcmp(sw_obj_name(doc), name) == 0)
            return doc;
    }
    return NULL;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static inline uint32_t sim_put_node(struct sim *sim, const char *name, const char *group,
                                    bool ready)
{
    struct json_object *labels = sw_json_get(sim->nodes, name);
    const char *pairs[64];
    size_t n = 0;
    json_object_object_foreach(labels, key, value)
    {
        pairs[2 * n] = key;
        pairs[2 * n + 1] = json_object_get_string(value);
        n++;
    }
    struct json_object *list = sw_json_find(sim->taints, name, "taints", NULL);
    struct sw_taint taints[8];
    size_t n_taints = 0;
    for (; n_taints < sw_json_len(list); n_taints++) {
        struct json_object *t = sw_json_at(list, n_taints);
        taints[n_taints] = (struct sw_taint){ sw_json_str(t, "", "key", NULL),
                                              sw_json_str(t, "", "value", NULL),
                                              sw_json_str(t, "", "effect", NULL),
                                              sw_json_str(t, "", "timeAdded", NULL) };
    }
    return sw_node_set_put(sim->node_set,
                           &(struct sw_node_set_facts){
                               .name = name,
                               .taints = taints,
                               .n_taints = n_taints,
                               .taint_record = sw_json_str(sim->taints, "", name, "record", NULL),
                               .resources = sw_json_str(labels, "", SIM_RESOURCES, NULL),
                               .group = group,
                               .labels = pairs,
                               .n_labels = n,
                               .ready = ready,
                               .boot_id = sim->boot_id,
                               .version = ++sim->version },
                           NULL);
}

/* The group of a node is its label "kernel". */
static inline void sim_node(struct sim *sim, const char *name, const char *labels)
{
    json_object_object_add(sim->nodes, name, sim_json(labels));
    const char *kernel = sw_json_str(sim->nodes, "", name, "kernel", NULL);
    uint32_t node = sim_put_node(sim, name, kernel, true);
    if (sim->engine)
        sim_push(sim, SW_EV_NODE)->event.node = node;
}

/* Somebody (not slipway) sets the node's taints: JSON with ' of the whole list. */
static inline void sim_taint(struct sim *sim, const char *name, const char *taints)
{
    sw_json_set(sim->taints, sim_json(taints), name, "taints", NULL);
    const char *kernel = sw_json_str(sim->nodes, "", name, "kernel", NULL);
    uint32_t node = sim_put_node(sim, name, kernel, true);
    if (sim->engine)
        sim_push(sim, SW_EV_NODE)->event.node = node;
}

static inline void sim_step(struct sim *sim, const struct sw_event *event);

/* The engine hears of it at once, as from the controller: its number may be another node's next. */
static inline void sim_node_gone(struct sim *sim, const char *name)
{
    struct json_object *all = sw_json_copy(sim->store);
    json_object_object_foreach(all, id, pod)
    {
        (void)id;
        struct sw_key key = sim_key_of(pod);
        if (sw_streq(sw_json_str(pod, "", "spec", "nodeName", NULL), name))
            sim_remove(sim, sim_get(sim, &key));
    }
    json_object_put(all);
    json_object_object_del(sim->nodes, name);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_NODE,
                                      .node = sw_node_set_remove(sim->node_set, name) });
}

static inline const char *sim_label(struct sim *sim, const char *node, const char *state)
{
    SW_AUTO_CHARS *key = sw_printf(SIM_LABEL "%s", state);
    return sw_json_str(sim->nodes, NULL, node, key, NULL);
}

/* ---- rendering ---------------------------------------------------------------------------------
 */

static inline const char *sim_api_version(const char *kind)
{
    static const char *const kinds[][2] = {
        { "Deployment", "apps/v1" },
        { "DaemonSet", "apps/v1" },
        { "ReplicaSet", "apps/v1" },
        { "Job", "batch/v1" },
        { "BuildConfig", "build.openshift.io/v1" },
        { "Build", "build.openshift.io/v1" },
        { "ClusterPolicy", "nvidia.com/v1" },
        { "Issuer", "cert-manager.io/v1" },
        { "ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1" },
    };
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        if (strcmp(kinds[i][0], kind) == 0)
            return kinds[i][1];
    return "v1";
}

static inline struct json_object *sim_manifest(const struct sim_object *o, const char *variant)
{
    char name[64];
    snprintf(name, sizeof name, o->name, variant ? variant : "");
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, sim_api_version(o->kind), "apiVersion", NULL);
    sw_json_set_str(doc, o->kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (strcmp(o->kind, "Namespace") != 0)
        sw_json_set_str(doc, SIM_NS, "metadata", "namespace", NULL);
    if (o->annotations)
        sw_json_set(doc, sim_json(o->annotations), "metadata", "annotations", NULL);
    if (o->awaited)
        sw_json_set_str(doc, "true", "metadata", "annotations", SW_ANN_WAIT, NULL);
    if (!o->annotations || !strstr(o->annotations, "observe"))
        sw_json_set(doc,
                    sim_json("[{'uid':'" SIM_UID "','kind':'SpecialResource','name':'r',"
                             "'controller':true}]"),
                    "metadata", "ownerReferences", NULL);
    sw_json_set(doc, json_object_new_int(o->content), "spec", "content", NULL);
    const bool has_pods = o->annotations && strstr(o->annotations, "sim/pods");
    if (strcmp(o->kind, "DaemonSet") == 0 || strcmp(o->kind, "ReplicaSet") == 0 || has_pods) {
        sw_json_set_str(doc, name, "spec", "selector", "matchLabels", "app", NULL);
        sw_json_set_str(doc, name, "spec", "template", "metadata", "labels", "app", NULL);
    }
    if (strcmp(o->kind, "DaemonSet") == 0) {
        sw_json_set(doc, sim_json("{}"), "spec", "template", "spec", "nodeSelector", NULL);
        if (variant)
            sw_json_set_str(doc, variant, "spec", "template", "spec", "nodeSelector", "kernel",
                            NULL);
        if (o->needs_label)
            sw_json_set_str(doc, "Ready", "spec", "template", "spec", "nodeSelector",
                            o->needs_label, NULL);
    }
    if (strcmp(o->kind, "Pod") == 0)
        sw_json_set_str(doc, "Never", "spec", "restartPolicy", NULL);
    if (o->on_label)
        sw_json_set_str(doc, "yes", "spec", "nodeSelector", o->on_label, NULL);
    return doc;
}

static inline const struct sim_state *sim_state(struct sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->recipe.n_states; i++)
        if (strcmp(sim->recipe.states[i].name, name) == 0)
            return &sim->recipe.states[i];
    return NULL;
}

static inline bool sim_misses(const struct sim_object *o, const char *variant)
{
    return o->missing && variant && strstr(o->missing, variant);
}

static inline void sim_render(struct sim *sim, const struct sw_action *a)
{
    const struct sim_state *s = sim_state(sim, a->state);
    assert_non_null(s);
    sim->n_renders++;
    struct sim_pending *p = sim_push(sim, SW_EV_RENDERED);
    p->event.state = sim_keep(sim, a->state);
    p->event.variant = sim_keep(sim, a->variant);
    p->event.serial = a->serial;
    int code = sim->refuse ? sim->refuse(sim, a) : 0;
    if (code || sim_chance(sim, sim->fail)) {
        p->event.kind = SW_EV_RENDER_FAILED;
        p->event.code = code ? code : SW_UNAVAILABLE;
        p->event.message = "templates/x.yaml:1: no";
        return;
    }
    p->objects = sw_zalloc(s->n_objects + sim->n_more + 1, sizeof *p->objects);
    p->event.n_objects = s->n_objects + sim->n_more;
    for (size_t i = 0; i < sim->n_more; i++) {
        SW_AUTO_CHARS *name = sw_printf("more-%zu", i);
        p->objects[s->n_objects + i] = (struct sw_rendered_object){
            .doc = sim_manifest(&(struct sim_object){ .kind = "ConfigMap", .name = name }, NULL),
        };
    }
    for (size_t i = 0; i < s->n_objects; i++)
        p->objects[i] = (struct sw_rendered_object){
            .doc = sim_manifest(&s->objects[i], a->variant),
            .stage = s->objects[i].stage,
            .again = s->objects[i].again,
            .drop_ready = s->objects[i].drop_ready,
            .drop_before = s->objects[i].drop_before,
            .missing = sim_misses(&s->objects[i], a->variant) ? "no such image" : NULL,
            .shared = s->objects[i].shared,
        };
}

/* ---- carrying actions out ----------------------------------------------------------------------
 */

static inline void sim_watch(struct sim *sim, const struct sw_action *a)
{
    SW_GROW(sim->watches, sim->n_watches, sim->cap_watches);
    struct sim_watch *w = &sim->watches[sim->n_watches++];
    *w = (struct sim_watch){ a->watch,
                             sw_strdup(a->key.api_version),
                             sw_strdup(a->key.kind),
                             a->key.ns ? sw_strdup(a->key.ns) : NULL,
                             a->key.name ? sw_strdup(a->key.name) : NULL,
                             a->selector ? sw_strdup(a->selector) : NULL };
    if (w->name) {
        sim_observe(sim, w->id, &a->key, sim_get(sim, &a->key));
        return;
    }
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        struct sw_key key = sim_key_of(doc);
        if (sim_matches(w, &key, doc))
            sim_observe(sim, w->id, &key, doc);
    }
    sim_push(sim, SW_EV_SYNCED)->event.watch = a->watch;
}

static inline void sim_watch_done(struct sim_watch *w)
{
    free(w->api_version);
    free(w->kind);
    free(w->ns);
    free(w->name);
    free(w->selector);
}

static inline void sim_unwatch(struct sim *sim, uint64_t id)
{
    for (size_t i = 0; i < sim->n_watches; i++)
        if (sim->watches[i].id == id) {
            sim_watch_done(&sim->watches[i]);
            sim->watches[i] = sim->watches[--sim->n_watches];
            return;
        }
    fail_msg("unwatch of %llu, which is not watched", (unsigned long long)id);
}

static inline struct sim_pending *sim_answer(struct sim *sim, const struct sw_action *a,
                                             enum sw_event_kind kind)
{
    int code = sim->refuse ? sim->refuse(sim, a) : 0;
    struct sim_pending *p = sim_push(sim, kind);
    p->event.serial = a->serial;
    p->event.key = sim_key(sim, &a->key);
    p->event.node = a->node;
    p->event.code = code ? code : sim_chance(sim, sim->fail) ? SW_UNAVAILABLE : 0;
    p->event.message = p->event.code ? "the server says no" : NULL;
    return p;
}

static inline void sim_apply(struct sim *sim, const struct sw_action *a)
{
    sim->n_applies++;
    sim_log(sim, "%s %s %s", a->dry_run ? "try" : "apply", a->key.kind, a->key.name);
    /* A request that fails may have had its effect all the same. */
    size_t at = sim->n_queue;
    struct sim_pending *p = sim_answer(sim, a, SW_EV_APPLIED);
    bool done = p->event.code == 0 || (p->event.code == SW_UNAVAILABLE && sim_chance(sim, 50));
    if (done && !a->dry_run && !sim_put(sim, sw_json_copy(a->doc)))
        sim->n_useless++;
    p = &sim->queue[at]; /* telling others may have moved it */
    if (p->event.code == 0)
        p->object = a->dry_run ? sw_json_copy(a->doc) : sw_json_copy(sim_get(sim, &a->key));
    p->event.object = p->object;
}

static inline void sim_delete(struct sim *sim, const struct sw_action *a)
{
    sim->n_deletes++;
    sim_log(sim, "delete %s %s", a->key.kind, a->key.name);
    size_t at = sim->n_queue;
    (void)sim_answer(sim, a, SW_EV_DELETED);
    struct json_object *doc = sim_get(sim, &a->key);
    if (sim->queue[at].event.code != 0)
        return;
    if (!doc)
        sim->queue[at].event.code = SW_NOTFOUND;
    else if (a->uid && !sw_streq(a->uid, sw_obj_uid(doc)))
        sim->queue[at].event.code = SW_CONFLICT;
    else
        sim_remove(sim, doc);
}

static inline void sim_release(struct sim *sim, const struct sw_action *a)
{
    sim_log(sim, "release %s %s", a->key.kind, a->key.name);
    size_t at = sim->n_queue;
    (void)sim_answer(sim, a, SW_EV_RELEASED);
    struct json_object *doc = sim_get(sim, &a->key);
    if (sim->queue[at].event.code != 0)
        return;
    if (!doc || (a->uid && !sw_streq(a->uid, sw_obj_uid(doc)))) {
        sim->queue[at].event.code = SW_NOTFOUND;
        return;
    }
    (void)sw_json_del(doc, "metadata", "annotations", "slipway.dev/resource", NULL);
    (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    sim_touch(sim, doc);
}

static inline void sim_label_node(struct sim *sim, const struct sw_action *a)
{
    sim->n_labels++;
    struct sim_pending *p = sim_answer(sim, a, SW_EV_LABELED);
    struct json_object *labels = sw_json_get(sim->nodes, a->key.name);
    if (!labels) {
        p->event.code = SW_NOTFOUND;
        return;
    }
    if (p->event.code)
        return;
    json_object_object_foreach(a->doc, key, value)
    {
        sim_log(sim, "label %s %c%s", a->key.name, value ? '+' : '-',
                sw_starts_with(key, SIM_LABEL) ? key + strlen(SIM_LABEL) : key);
        if (sw_streq(value ? json_object_get_string(value) : NULL,
                     sw_json_str(labels, NULL, key, NULL)))
            fail_msg("a label is patched to what it is: %s on %s", key, a->key.name);
        if (value)
            json_object_object_add(labels, key, json_object_get(value));
        else
            json_object_object_del(labels, key);
    }
    if (a->retaint) {
        sim_log(sim, "taint %s %s", a->key.name, a->record ? a->record : "-");
        sw_json_set(sim->taints, json_object_get(a->taints), a->key.name, "taints", NULL);
        sw_json_set_str(sim->taints, a->record ? a->record : "", a->key.name, "record", NULL);
    }
    (void)sw_node_set_put_labels(sim->node_set, a->node, labels, ++sim->version);
    sw_node_set_put_taints(sim->node_set, a->node,
                           sw_json_find(sim->taints, a->key.name, "taints", NULL),
                           sw_json_str(sim->taints, "", a->key.name, "record", NULL));
    sim_push(sim, SW_EV_NODE)->event.node = a->node;
}

static inline void sim_status(struct sim *sim, const struct sw_action *a)
{
    sim->n_statuses++;
    size_t at = sim->n_queue;
    (void)sim_answer(sim, a, SW_EV_STATUS_WRITTEN);
    if (sim->queue[at].event.code)
        return;
    if (sim->trace)
        fprintf(sim->trace, "--- status %s\n", json_object_to_json_string(a->doc));
    json_object_put(sim->status);
    sim->status = sw_json_copy(a->doc);
}

static inline void sim_perform(struct sim *sim, const struct sw_action *a)
{
    if (sim->trace) {
        SW_AUTO_CHARS *line = sw_action_json(a, true);
        fprintf(sim->trace, "    %s\n", line);
    }
    if (sim->check)
        sim->check(sim, a);
    switch (a->kind) {
    case SW_ACT_RENDER:
        sim_render(sim, a);
        break;
    case SW_ACT_WATCH:
        sim_watch(sim, a);
        break;
    case SW_ACT_UNWATCH:
        sim_unwatch(sim, a->watch);
        break;
    case SW_ACT_APPLY:
        sim_apply(sim, a);
        break;
    case SW_ACT_DELETE:
        sim_delete(sim, a);
        break;
    case SW_ACT_RELEASE:
        sim_release(sim, a);
        break;
    case SW_ACT_LABEL:
        sim_label_node(sim, a);
        break;
    case SW_ACT_STATUS:
        sim_status(sim, a);
        break;
    case SW_ACT_TIMER:
        sim->timer_ms = a->at_ms;
        break;
    case SW_ACT_EVENT:
        sim_log(sim, "event %s", a->reason);
        break;
    case SW_ACT_LOGS:
        sim_answer(sim, a, SW_EV_LOGS)->event.text = "all is well\n";
        break;
    case SW_ACT_WARNINGS:
        sim_answer(sim, a, SW_EV_WARNINGS)->event.text = "something is missing\n";
        break;
    case SW_ACT_EMPTIED:
        sim_log(sim, "emptied");
        break;
    case SW_ACT_FINALIZED:
        assert_false(sim->finalized);
        sim->finalized = true;
        sim_log(sim, "finalized");
        break;
    case SW_ACT_COUNT:
        fail();
    }
}

static inline void sim_step(struct sim *sim, const struct sw_event *event)
{
    struct sw_event e = *event;
    e.now_ms = sim->now_ms;
    if (e.kind == SW_EV_NODE && !sw_engine_concerns_node(sim->engine, e.node))
        return; /* as the controller does */
    if (sim->trace) {
        const struct sw_key *k = &e.key;
        fprintf(sim->trace, "%s %s %s %s/%s %d\n", sw_event_kind_name(e.kind),
                e.state ? e.state : "", k->kind ? k->kind : "", k->ns ? k->ns : "",
                k->name ? k->name : "", e.code);
    }
    const struct sw_actions *actions = sw_engine_step(sim->engine, &e);
    for (size_t i = 0; i < actions->n; i++)
        sim_perform(sim, &actions->items[i]);
}

static inline void sim_pending_done(struct sim_pending *p)
{
    json_object_put(p->object);
    for (size_t i = 0; p->objects && i < p->event.n_objects; i++)
        json_object_put(p->objects[i].doc);
    free(p->objects);
}

/* Of one object is told in order: the first in line that speaks of the same as that at @at. */
static inline size_t sim_first_of(const struct sim *sim, size_t at)
{
    const struct sw_event *e = &sim->queue[at].event;
    if (e->kind == SW_EV_SYNCED)
        return 0; /* all there is has been told before */
    for (size_t i = 0; e->kind == SW_EV_OBSERVED && i < at; i++) {
        const struct sw_event *other = &sim->queue[i].event;
        if (other->kind == SW_EV_OBSERVED && sw_streq(other->key.kind, e->key.kind) &&
            sw_streq(other->key.name, e->key.name))
            return i;
    }
    return at;
}

/* Give one event of the queue to the engine: the first, or any. */
static inline bool sim_deliver(struct sim *sim)
{
    if (sim->n_queue == 0)
        return false;
    size_t at = sim_chance(sim, sim->shuffle) ? sim_random(sim) % sim->n_queue : 0;
    at = sim_first_of(sim, at);
    struct sim_pending p = sim->queue[at];
    memmove(&sim->queue[at], &sim->queue[at + 1], (sim->n_queue - at - 1) * sizeof p);
    sim->n_queue--;
    p.event.object = p.object;
    p.event.objects = p.objects;
    sim_step(sim, &p.event);
    sim_pending_done(&p);
    return true;
}

/* ---- the cluster's own life --------------------------------------------------------------------
 */

static inline bool sim_set_status(struct sim *sim, struct json_object *doc,
                                  struct json_object *status)
{
    if (sw_json_equal(sw_json_get(doc, "status"), status)) {
        json_object_put(status);
        return false;
    }
    sw_json_set(doc, status, "status", NULL);
    sim_touch(sim, doc);
    return true;
}

/* "sim/image": "build-%s": the image is there once that BuildConfig's first build is complete. */
static inline bool sim_has_image(struct sim *sim, struct json_object *pod)
{
    const char *build = sw_obj_annotation(pod, "sim/image");
    if (!build)
        return true;
    SW_AUTO_CHARS *name = sw_printf("%s-1", build);
    struct sw_key key = { "build.openshift.io/v1", "Build", SIM_NS, name };
    return sw_streq(sw_json_str(sim_get(sim, &key), "", "status", "phase", NULL), "Complete");
}

static inline bool sim_live_pod(struct sim *sim, struct json_object *pod)
{
    if (!sim_has_image(sim, pod))
        return sim_set_status(
            sim, pod,
            sim_json("{'phase':'Pending','containerStatuses':[{'name':'c','state':{'waiting':"
                     "{'reason':'ErrImagePull'}}}]}"));
    if (!sw_json_find(pod, "spec", "nodeName", NULL)) /* a plain pod, which ends */
        return sim_set_status(sim, pod, sim_json("{'phase':'Succeeded'}"));
    return sim_set_status(sim, pod,
                          sim_json("{'phase':'Running','conditions':[{'type':'Ready','status':"
                                   "'True'}]}"));
}

static inline bool sim_live_daemon_set(struct sim *sim, struct json_object *ds)
{
    bool busy = false;
    int64_t wanted = 0, ready = 0, have = 0;
    const char *app = sw_obj_name(ds);
    struct json_object *spec = sw_json_find(ds, "spec", "template", "spec", NULL);
    json_object_object_foreach(sim->nodes, node, labels)
    {
        (void)labels;
        SW_AUTO_CHARS *name = sw_printf("%s-%s", app, node);
        struct sw_key key = { "v1", "Pod", SIM_NS, name };
        struct json_object *pod = sim_get(sim, &key);
        bool fits = sw_node_affinity_takes_pod(sim->node_set, sw_node_set_find(sim->node_set, node),
                                               spec);
        if (!fits && pod) {
            sim_remove(sim, pod);
            return true;
        }
        if (fits && pod && !sw_streq(sw_obj_label(pod, "uid-of"), sw_obj_uid(ds))) {
            sim_remove(sim, pod);
            return true;
        }
        if (fits && !pod) {
            pod = json_object_new_object();
            sw_json_set_str(pod, "v1", "apiVersion", NULL);
            sw_json_set_str(pod, "Pod", "kind", NULL);
            sw_json_set_str(pod, name, "metadata", "name", NULL);
            sw_json_set_str(pod, SIM_NS, "metadata", "namespace", NULL);
            sw_json_set_str(pod, app, "metadata", "labels", "app", NULL);
            sw_json_set_str(pod, sw_obj_uid(ds), "metadata", "labels", "uid-of", NULL);
            struct json_object *owners = sim_json("[{'kind':'DaemonSet','controller':true}]");
            sw_json_set_str(sw_json_at(owners, 0), app, "name", NULL);
            sw_json_set_str(sw_json_at(owners, 0), sw_obj_uid(ds), "uid", NULL);
            sw_json_set(pod, owners, "metadata", "ownerReferences", NULL);
            sw_json_set_str(pod, node, "spec", "nodeName", NULL);
            if (sw_obj_annotation(ds, "sim/image") && strchr(app, '-')) {
                SW_AUTO_CHARS *image = sw_printf("%s%s", sw_obj_annotation(ds, "sim/image"),
                                                 strchr(app, '-'));
                sw_json_set_str(pod, image, "metadata", "annotations", "sim/image", NULL);
            }
            sim_put(sim, pod);
            return true;
        }
        wanted += fits;
        have += fits && pod;
        ready += fits && pod && sw_obj_condition(pod, "Ready") &&
                 sw_streq(sw_json_str(sw_obj_condition(pod, "Ready"), "", "status", NULL), "True");
    }
    SW_AUTO_CHARS *status = sw_printf(
        "{'observedGeneration':%lld,'desiredNumberScheduled':%lld,'currentNumberScheduled':%lld,"
        "'updatedNumberScheduled':%lld,'numberReady':%lld,'numberAvailable':%lld}",
        (long long)sw_json_int(ds, 0, "metadata", "generation", NULL), (long long)wanted,
        (long long)have, (long long)have, (long long)ready, (long long)ready);
    return sim_set_status(sim, ds, sim_json(status)) || busy;
}

static inline bool sim_live_deployment(struct sim *sim, struct json_object *doc)
{
    SW_AUTO_CHARS *status = sw_printf(
        "{'observedGeneration':%lld,'replicas':1,'updatedReplicas':1,"
        "'readyReplicas':1,'availableReplicas':1}",
        (long long)sw_json_int(doc, 0, "metadata", "generation", NULL));
    return sim_set_status(sim, doc, sim_json(status));
}

static inline bool sim_live_build_config(struct sim *sim, struct json_object *doc)
{
    SW_AUTO_CHARS *name = sw_printf("%s-1", sw_obj_name(doc));
    struct sw_key key = { "build.openshift.io/v1", "Build", SIM_NS, name };
    struct json_object *build = sim_get(sim, &key);
    if (build) {
        SW_AUTO_CHARS *status = sw_printf("{'phase':'Complete','config':{'name':'%s'}}",
                                          sw_obj_name(doc));
        return sim_set_status(sim, build, sim_json(status));
    }
    build = json_object_new_object();
    sw_json_set_str(build, key.api_version, "apiVersion", NULL);
    sw_json_set_str(build, key.kind, "kind", NULL);
    sw_json_set_str(build, SIM_NS, "metadata", "namespace", NULL);
    sw_json_set_str(build, name, "metadata", "name", NULL);
    sw_json_set_str(build, "Running", "status", "phase", NULL);
    sw_json_set_str(build, sw_obj_name(doc), "status", "config", "name", NULL);
    return sim_put(sim, build);
}

static inline bool sim_live_object(struct sim *sim, struct json_object *doc)
{
    const char *kind = sw_obj_kind(doc);
    if (sw_obj_annotation(doc, "sim/stuck"))
        return false;
    if (strcmp(kind, "Pod") == 0)
        return sim_live_pod(sim, doc);
    if (strcmp(kind, "DaemonSet") == 0)
        return sim_live_daemon_set(sim, doc);
    if (strcmp(kind, "Deployment") == 0)
        return sim_live_deployment(sim, doc);
    if (strcmp(kind, "BuildConfig") == 0)
        return sim_live_build_config(sim, doc);
    if (strcmp(kind, "Job") == 0)
        return sim_set_status(sim, doc,
                              sim_json("{'conditions':[{'type':'Complete','status':'True'}]}"));
    return false;
}

/* Let one object do what it does. @return false: all have come to rest. */
static inline bool sim_live(struct sim *sim)
{
    size_t n = (size_t)json_object_object_length(sim->store), i = 0;
    size_t from = n ? sim_random(sim) % n : 0;
    struct json_object **all = sw_zalloc(n + 1, sizeof(struct json_object *));
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        all[i++] = json_object_get(doc);
    }
    bool moved = false;
    for (i = 0; i < n && !moved; i++)
        moved = sim_live_object(sim, all[(from + i) % n]);
    for (i = 0; i < n; i++)
        json_object_put(all[i]);
    free(all);
    return moved;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* Every watch lists again: what was lost is told after all. */
static inline void sim_resync(struct sim *sim)
{
    for (size_t i = 0; i < sim->n_watches; i++) {
        struct sim_watch *w = &sim->watches[i];
        struct sw_key named = { w->api_version, w->kind, w->ns, w->name };
        if (w->name) {
            sim_observe(sim, w->id, &named, sim_get(sim, &named));
            continue;
        }
        json_object_object_foreach(sim->store, id, doc)
        {
            (void)id;
            struct sw_key key = sim_key_of(doc);
            if (sim_matches(w, &key, doc))
                sim_observe(sim, w->id, &key, doc);
        }
    }
}

static inline void sim_spec(struct sim *sim)
{
    struct sw_state_spec states[8];
    for (size_t i = 0; i < sim->recipe.n_states; i++) {
        const struct sim_state *s = &sim->recipe.states[i];
        states[i] = (struct sw_state_spec){ .name = s->name,
                                            .label = s->hidden ? NULL : s->name,
                                            .needs = s->needs,
                                            .n_needs = s->n_needs,
                                            .kernel_affine = s->affine,
                                            .looks_up = s->looks_up,
                                            .hidden = s->hidden };
    }
    struct json_object *selector = sim->node_selector ? sim_json(sim->node_selector) : NULL;
    struct json_object *taints = sim->own_taints ? sim_json(sim->own_taints) : NULL;
    struct json_object *tolerations = sim->tolerations ? sim_json(sim->tolerations) : NULL;
    struct json_object *inherited = sim->inherited ? sim_json(sim->inherited) : NULL;
    struct sw_spec spec = { .name = "r",
                            .uid = SIM_UID,
                            .generation = sim->generation,
                            .management = sim->management,
                            .deleting = sim->deleting,
                            .orphan = sim->orphan,
                            .hold = sim->hold,
                            .hold_message = sim->hold ? "hook x" : NULL,
                            .hold_failed = sim->hold == SW_HOLD_ALL,
                            .timeout_ms = sim->timeout_ms,
                            .node_selector = selector,
                            .taints = taints,
                            .tolerations = tolerations,
                            .overlap = sim->overlap,
                            .overlap_with = sim->overlap,
                            .states = states,
                            .n_states = sim->recipe.n_states,
                            .revision = sim->revision,
                            .inherited = inherited,
                            .status = sim->status };
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_SPEC, .spec = &spec });
    json_object_put(inherited);
    json_object_put(selector);
    json_object_put(taints);
    json_object_put(tolerations);
}

static inline void sim_clear_queue(struct sim *sim)
{
    for (size_t i = 0; i < sim->n_queue; i++)
        sim_pending_done(&sim->queue[i]);
    sim->n_queue = 0;
}

/* The process is killed, and started again. */
static inline void sim_restart(struct sim *sim)
{
    if (sim->trace)
        fprintf(sim->trace, "--- restart\n");
    sw_engine_free(sim->engine);
    sim_clear_queue(sim);
    for (size_t i = 0; i < sim->n_watches; i++)
        sim_watch_done(&sim->watches[i]);
    sim->n_watches = 0;
    sim->timer_ms = 0;
    sim->engine = sw_engine_new(sim->node_set, &sim->opts);
    sim_spec(sim);
}

static inline struct sim *sim_new(const struct sim_recipe *recipe, uint64_t seed)
{
    struct sim *sim = sw_zalloc(1, sizeof *sim);
    sim->arena = sw_arena_new();
    sim->node_set = sw_node_set_new();
    sim->now_ms = 1700000000000;
    sim->random = seed * 2654435761u + 88172645463325252u;
    sim->recipe = *recipe;
    sim->revision = "1";
    sim->generation = 1;
    sim->store = json_object_new_object();
    sim->nodes = json_object_new_object();
    sim->taints = json_object_new_object();
    if (getenv("SIM_TRACE"))
        sim->trace = stderr;
    return sim;
}

static inline void sim_start(struct sim *sim)
{
    sim->engine = sw_engine_new(sim->node_set, &sim->opts);
    sim_spec(sim);
}

static inline void sim_free(struct sim *sim)
{
    sw_engine_free(sim->engine);
    sim_clear_queue(sim);
    for (size_t i = 0; i < sim->n_watches; i++)
        sim_watch_done(&sim->watches[i]);
    free(sim->watches);
    free(sim->queue);
    sw_node_set_free(sim->node_set);
    json_object_put(sim->store);
    json_object_put(sim->nodes);
    json_object_put(sim->taints);
    json_object_put(sim->status);
    sw_arena_free(sim->arena);
    free(sim->log);
    free(sim);
}

/* One thing happens. @return false: nothing is left that could, but for time passing. */
static inline bool sim_turn(struct sim *sim)
{
    bool live = !sim->frozen && sim_chance(sim, 50);
    if (live && sim_live(sim))
        return true;
    if (sim_deliver(sim))
        return true;
    return !sim->frozen && sim_live(sim);
}

/* Go on until nothing happens any more, timers within @horizon_ms included. */
static inline void sim_run(struct sim *sim, int64_t horizon_ms)
{
    int64_t until = sim->now_ms + horizon_ms;
    for (size_t n = 0; n < 200000; n++) {
        if (sim_turn(sim))
            continue;
        if (!sim->timer_ms || sim->timer_ms > until) {
            sim->now_ms = until;
            return;
        }
        sim->now_ms = sim->timer_ms > sim->now_ms ? sim->timer_ms : sim->now_ms;
        sim->timer_ms = 0;
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_TIMER });
    }
    fail_msg("it does not come to rest");
}

static inline const char *sim_phase(struct sim *sim, const char *state)
{
    struct json_object *doc = sw_engine_status(sim->engine, sim->now_ms);
    struct json_object *s = sw_json_find_by(sw_json_get(doc, "states"), "name", state);
    const char *phase = sim_keep(sim, sw_json_str(s, "none", "phase", NULL));
    json_object_put(doc);
    return phase;
}

static inline const char *sim_message(struct sim *sim, const char *state)
{
    struct json_object *doc = sw_engine_status(sim->engine, sim->now_ms);
    struct json_object *s = sw_json_find_by(sw_json_get(doc, "states"), "name", state);
    const char *message = sim_keep(sim, sw_json_str(s, "", "message", NULL));
    json_object_put(doc);
    return message;
}
