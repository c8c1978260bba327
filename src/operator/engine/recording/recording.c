#include "operator/engine/recording/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "data/json/redact.h"

/* See observed.c. */
#define ANN_HASH "specialresource.openshift.io/hash"

enum { DEFAULT_MAX_BYTES = 64 << 20 };

struct sw_recording {
    void (*write)(const char *line, size_t len, void *arg);
    void *arg;
    char *salt;
    size_t left; /* bytes until max_bytes */
    bool full;   /* nothing is written any more */
    uint64_t n_engines;
    /* a map in hex: the hash of a rendered content -> that of the redacted content */
    struct json_object *hashes;
};

/* ---- documents ---------------------------------------------------------------------------------
 */

static void put_text(struct json_object *to, const char *key, const char *text)
{
    if (text)
        json_object_object_add(to, key, json_object_new_string(text));
}

static void put_number(struct json_object *to, const char *key, int64_t n)
{
    if (n)
        json_object_object_add(to, key, json_object_new_int64(n));
}

/* @doc is taken; NULL: nothing is put. */
static void put_doc(struct json_object *to, const char *key, struct json_object *doc)
{
    if (doc)
        json_object_object_add(to, key, doc);
}

static void put_key(struct json_object *to, const struct sw_key *key, const char *kind_key)
{
    put_text(to, "apiVersion", key->api_version);
    put_text(to, kind_key, key->kind);
    put_text(to, "namespace", key->ns && *key->ns ? key->ns : NULL);
    put_text(to, "name", key->name);
}

/* ---- actions -----------------------------------------------------------------------------------
 */

static const char *const event_names[SW_EV_COUNT] = {
    [SW_EV_SPEC] = "spec",
    [SW_EV_RENDERED] = "rendered",
    [SW_EV_RENDER_FAILED] = "render-failed",
    [SW_EV_OBSERVED] = "observed",
    [SW_EV_SYNCED] = "synced",
    [SW_EV_APPLIED] = "applied",
    [SW_EV_DELETED] = "deleted",
    [SW_EV_RELEASED] = "released",
    [SW_EV_LABELED] = "labeled",
    [SW_EV_STATUS_WRITTEN] = "status-written",
    [SW_EV_STATUS_LOST] = "status-lost",
    [SW_EV_LOGS] = "logs",
    [SW_EV_WARNINGS] = "warnings",
    [SW_EV_NODE] = "node",
    [SW_EV_FACTS] = "facts",
    [SW_EV_UPGRADE] = "upgrade",
    [SW_EV_LEAVING] = "leaving",
    [SW_EV_TIMER] = "timer",
};

static const char *const action_names[SW_ACT_COUNT] = {
    [SW_ACT_RENDER] = "render",   [SW_ACT_WATCH] = "watch",         [SW_ACT_UNWATCH] = "unwatch",
    [SW_ACT_APPLY] = "apply",     [SW_ACT_DELETE] = "delete",       [SW_ACT_LABEL] = "label",
    [SW_ACT_STATUS] = "status",   [SW_ACT_EVENT] = "event",         [SW_ACT_TIMER] = "timer",
    [SW_ACT_LOGS] = "logs",       [SW_ACT_FINALIZED] = "finalized", [SW_ACT_RELEASE] = "release",
    [SW_ACT_EMPTIED] = "emptied", [SW_ACT_WARNINGS] = "warnings",
};

const char *sw_event_kind_name(enum sw_event_kind kind)
{
    return (unsigned)kind < SW_EV_COUNT ? event_names[kind] : "?";
}

const char *sw_action_kind_name(enum sw_action_kind kind)
{
    return (unsigned)kind < SW_ACT_COUNT ? action_names[kind] : "?";
}

char *sw_action_json(const struct sw_action *action, bool brief)
{
    static const char *const use_names[] = { [SW_USE_WHOLE] = "whole",
                                             [SW_USE_STATUS] = "status",
                                             [SW_USE_MEMBERS] = "members",
                                             [SW_USE_WORKERS] = "workers" };
    SW_AUTO_JSON *out = json_object_new_object();
    put_text(out, "action", sw_action_kind_name(action->kind));
    put_number(out, "serial", (int64_t)action->serial);
    put_text(out, "state", action->state);
    put_text(out, "variant", action->variant);
    put_key(out, &action->key, "kind");
    put_number(out, "watch", (int64_t)action->watch);
    if (action->kind == SW_ACT_WATCH)
        put_text(out, "use", use_names[action->use]);
    put_text(out, "selector", action->selector);
    put_text(out, "uid", action->uid);
    put_text(out, "shared", action->shared);
    put_doc(out, "heir", json_object_get(action->heir));
    put_text(out, "propagation", action->propagation);
    put_number(out, "force", action->force);
    put_number(out, "dryRun", action->dry_run);
    put_number(out, "inherit", action->inherit);
    if (action->kind == SW_ACT_LABEL)
        json_object_object_add(out, "node", json_object_new_int64(action->node));
    put_doc(out, "taints", json_object_get(action->taints));
    put_text(out, "record", action->record);
    put_number(out, "warning", action->warning);
    put_text(out, "reason", action->reason);
    put_text(out, "message", action->message);
    put_number(out, "at", action->at_ms);
    put_number(out, "bytes", (int64_t)action->n_bytes);
    put_text(out, "container", action->container);
    if (!brief || action->kind == SW_ACT_LABEL)
        put_doc(out, "doc", json_object_get(action->doc));
    return sw_json_text(out, SW_JSON_PLAIN, NULL);
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* Takes @doc. */
static void write_line(struct sw_recording *recording, struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    if (recording->full)
        return;
    if (len + 1 > recording->left) {
        static const char last[] = "{\"full\":true}\n";
        recording->full = true;
        recording->write(last, sizeof last - 1, recording->arg);
        return;
    }
    recording->left -= len + 1;
    SW_AUTO_CHARS *line = sw_printf("%s\n", text);
    recording->write(line, len + 1, recording->arg);
}

struct sw_recording *sw_recording_new(const struct sw_recording_opts *opts)
{
    struct sw_recording *recording = sw_zalloc(1, sizeof *recording);
    struct json_object *doc = json_object_new_object();
    const struct sw_engine_opts *e = opts->engine;
    *recording = (struct sw_recording){ .write = opts->write,
                                        .arg = opts->arg,
                                        .salt = sw_strdup(opts->salt),
                                        .left = opts->max_bytes ? opts->max_bytes
                                                                : DEFAULT_MAX_BYTES,
                                        .hashes = json_object_new_object() };
    sw_json_set(doc, json_object_new_int(1), "slipwayTape", NULL);
    sw_json_set_str(doc, opts->version, "version", NULL);
    sw_json_set(doc, json_object_new_int64(e->grace_ms), "engine", "graceMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->retry_min_ms), "engine", "retryMinMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->retry_max_ms), "engine", "retryMaxMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->status_gap_ms), "engine", "statusGapMs", NULL);
    if (e->no_grace_labels)
        sw_json_set(doc, json_object_new_boolean(true), "engine", "noGraceLabels", NULL);
    write_line(recording, doc);
    return recording;
}

void sw_recording_free(struct sw_recording *recording)
{
    if (!recording)
        return;
    free(recording->salt);
    json_object_put(recording->hashes);
    free(recording);
}

/* ---- redaction ----------------------------------------------------------------------------------
 */

static char *hash_of(struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, &len);
    return sw_printf("%016" PRIx64, sw_fnv64a(text, len));
}

static void change_hash(const struct sw_recording *recording, struct json_object *doc,
                        const char *first, const char *second, const char *third)
{
    const char *keys[] = { first, second, third };
    size_t n = second ? 3 : 1;
    struct json_object *now = sw_json_find_at(doc, keys, n);
    struct json_object *other = json_object_is_type(now, json_type_string)
                                    ? sw_json_get(recording->hashes, json_object_get_string(now))
                                    : NULL;
    if (other)
        sw_json_set_at(doc, json_object_get(other), keys, n);
}

/* A copy without secrets; NULL of NULL. */
static struct json_object *redacted(const struct sw_recording *recording, struct json_object *doc)
{
    if (!doc)
        return NULL;
    struct json_object *copy = sw_json_copy(doc);
    sw_redact_salted(copy, recording->salt);
    change_hash(recording, copy, "metadata", "annotations", ANN_HASH);
    return copy;
}

/* A copy of a rendered manifest. An engine compares hashes of contents, and replay will compute
 * them of the redacted content: note both. */
static struct json_object *redacted_manifest(const struct sw_recording *recording,
                                             struct json_object *doc)
{
    struct json_object *copy = redacted(recording, doc), *read = NULL;
    SW_ERR(err);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(copy, SW_JSON_PLAIN, &len);
    if (sw_json_parse(text, len, NULL, &read, &err) < 0) /* it was written by sw_json_text() */
        return copy;
    SW_AUTO_CHARS *before = hash_of(doc);
    SW_AUTO_CHARS *after = hash_of(read); /* as it will be read */
    json_object_put(read);
    if (!sw_streq(before, after))
        json_object_object_add(recording->hashes, before, json_object_new_string(after));
    return copy;
}

static struct json_object *spec_doc(const struct sw_recording *recording,
                                    const struct sw_spec *spec)
{
    struct json_object *out = json_object_new_object(), *states = json_object_new_array();
    struct json_object *status = sw_json_copy(spec->status);
    struct json_object *inventory = sw_json_get(status, "inventory");
    for (size_t i = 0; i < sw_json_len(inventory); i++)
        change_hash(recording, sw_json_at(inventory, i), "hash", NULL, NULL);
    put_text(out, "name", spec->name);
    put_text(out, "uid", spec->uid);
    put_text(out, "predecessor", spec->predecessor);
    put_number(out, "generation", spec->generation);
    put_number(out, "management", spec->management);
    put_number(out, "deleting", spec->deleting);
    put_number(out, "orphan", spec->orphan);
    put_number(out, "hold", spec->hold);
    put_text(out, "holdWords", spec->hold_message);
    put_number(out, "holdFailed", spec->hold_failed);
    put_number(out, "timeout", spec->timeout_ms);
    put_doc(out, "nodeSelector", json_object_get(spec->node_selector));
    put_doc(out, "taints", json_object_get(spec->taints));
    put_doc(out, "tolerations", json_object_get(spec->tolerations));
    put_doc(out, "heirs", json_object_get(spec->heirs));
    put_doc(out, "former", json_object_get(spec->former));
    put_doc(out, "inherited", json_object_get(spec->inherited));
    put_text(out, "revision", spec->revision);
    put_number(out, "code", spec->code);
    put_text(out, "message", spec->message);
    put_text(out, "reason", spec->reason);
    put_text(out, "overlap", spec->overlap);
    put_text(out, "overlapWith", spec->overlap_with);
    put_number(out, "overlapIsBad", spec->overlap_is_bad);
    put_text(out, "records", spec->records);
    put_text(out, "recordsReason", spec->records_reason);
    put_text(out, "blocked", spec->blocked);
    put_doc(out, "status", status);
    for (size_t i = 0; i < spec->n_states; i++) {
        const struct sw_state_spec *s = &spec->states[i];
        struct json_object *state = json_object_new_object(), *needs = json_object_new_array();
        put_text(state, "name", s->name);
        put_text(state, "label", s->label);
        put_text(state, "readyLabel", s->ready_label);
        put_text(state, "title", s->title);
        put_doc(state, "release", json_object_get(s->release));
        put_text(state, "shared", s->shared);
        put_text(state, "sharedOwner", s->shared_owner);
        for (size_t k = 0; k < s->n_needs; k++)
            (void)json_object_array_add(needs, json_object_new_int64((int64_t)s->needs[k]));
        put_doc(state, "needs", needs);
        put_number(state, "kernelAffine", s->kernel_affine);
        put_number(state, "looksUp", s->looks_up);
        put_number(state, "hidden", s->hidden);
        put_number(state, "timeout", s->timeout_ms);
        (void)json_object_array_add(states, state);
    }
    put_doc(out, "states", states);
    return out;
}

static struct json_object *event_doc(const struct sw_recording *recording, const struct sw_event *e)
{
    struct json_object *out = json_object_new_object(), *objects = NULL;
    put_text(out, "kind", sw_event_kind_name(e->kind));
    put_number(out, "now", e->now_ms);
    put_number(out, "serial", (int64_t)e->serial);
    put_text(out, "state", e->state);
    put_text(out, "variant", e->variant);
    put_key(out, &e->key, "objectKind");
    put_number(out, "watch", (int64_t)e->watch);
    put_number(out, "node", e->node);
    put_number(out, "code", e->code);
    put_text(out, "message", e->message);
    if (e->text) {
        SW_AUTO_CHARS *text = sw_strdup(e->text);
        sw_redact_text(text);
        put_text(out, "text", text);
    }
    for (size_t i = 0; i < e->n_objects; i++) {
        const struct sw_rendered_object *o = &e->objects[i];
        struct json_object *rendered = json_object_new_object();
        SW_AUTO_JSON *doc = sw_rendered_object_doc(o);
        put_doc(rendered, "doc", redacted_manifest(recording, doc));
        put_number(rendered, "awaited", o->awaited);
        put_number(rendered, "stage", o->stage);
        put_number(rendered, "again", o->again);
        put_number(rendered, "once", o->once);
        put_number(rendered, "dropReady", o->drop_ready);
        put_number(rendered, "dropFailed", o->drop_failed);
        put_number(rendered, "dropBefore", o->drop_before);
        put_number(rendered, "tellsLog", o->tells_log);
        put_text(rendered, "missing", o->missing);
        put_text(rendered, "shared", o->shared);
        objects = objects ? objects : json_object_new_array();
        (void)json_object_array_add(objects, rendered);
    }
    put_doc(out, "objects", objects);
    if (e->spec)
        put_doc(out, "spec", spec_doc(recording, e->spec));
    put_doc(out, "object", redacted(recording, e->object));
    return out;
}

uint64_t sw_recording_begin(struct sw_recording *recording, const char *resource)
{
    if (!recording)
        return 0;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "begin", json_object_new_int64((int64_t)recording->n_engines));
    put_text(doc, "resource", resource);
    write_line(recording, doc);
    return recording->n_engines++;
}

void sw_recording_end(struct sw_recording *recording, uint64_t engine)
{
    if (!recording)
        return;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "end", json_object_new_int64((int64_t)engine));
    write_line(recording, doc);
}

void sw_recording_step(struct sw_recording *recording, uint64_t engine,
                       const struct sw_event *event, const struct sw_actions *actions)
{
    if (!recording || recording->full)
        return;
    struct json_object *doc = json_object_new_object(), *list = json_object_new_array();
    put_doc(doc, "step", json_object_new_int64((int64_t)engine));
    put_doc(doc, "event", event_doc(recording, event));
    for (size_t i = 0; i < actions->n; i++) {
        SW_AUTO_CHARS *text = sw_action_json(&actions->items[i], true);
        (void)json_object_array_add(list, json_object_new_string(text));
    }
    put_doc(doc, "actions", list);
    write_line(recording, doc);
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static void on_put(const struct sw_node_set_facts *facts, void *arg)
{
    struct json_object *doc = json_object_new_object(), *node = json_object_new_object(),
                       *labels = json_object_new_object(), *taints = json_object_new_array();
    put_text(node, "name", facts->name);
    put_text(node, "group", facts->group);
    for (size_t i = 0; i < facts->n_labels; i++)
        put_text(labels, facts->labels[2 * i], facts->labels[2 * i + 1]);
    for (size_t i = 0; i < facts->n_taints; i++) {
        struct json_object *taint = json_object_new_object();
        put_text(taint, "key", facts->taints[i].key);
        put_text(taint, "value", facts->taints[i].value);
        put_text(taint, "effect", facts->taints[i].effect);
        put_text(taint, "timeAdded", facts->taints[i].added);
        (void)json_object_array_add(taints, taint);
    }
    put_doc(node, "labels", labels);
    put_doc(node, "taints", taints);
    put_text(node, "record", facts->taint_record);
    put_text(node, "resources", facts->resources);
    put_number(node, "ready", facts->ready);
    put_number(node, "cordoned", facts->unschedulable);
    put_text(node, "boot", facts->boot_id);
    put_number(node, "version", (int64_t)facts->version);
    put_doc(doc, "put", node);
    write_line(arg, doc);
}

static void on_put_labels(uint32_t node, struct json_object *labels, uint64_t version, void *arg)
{
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "node", json_object_new_int64(node));
    put_doc(doc, "labels", labels ? json_object_get(labels) : json_object_new_object());
    put_number(doc, "version", (int64_t)version);
    write_line(arg, doc);
}

static void on_put_taints(uint32_t node, struct json_object *taints, const char *record, void *arg)
{
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "node", json_object_new_int64(node));
    put_doc(doc, "taints", taints ? json_object_get(taints) : json_object_new_array());
    put_text(doc, "record", record);
    write_line(arg, doc);
}

static void on_remove(const char *name, void *arg)
{
    struct json_object *doc = json_object_new_object();
    put_text(doc, "remove", name);
    write_line(arg, doc);
}

void sw_recording_observe(struct sw_recording *recording, struct sw_node_set *nodes)
{
    if (recording)
        sw_node_set_observe(nodes, &(struct sw_node_set_observer){ .put = on_put,
                                                                   .put_labels = on_put_labels,
                                                                   .put_taints = on_put_taints,
                                                                   .remove = on_remove,
                                                                   .arg = recording });
}
