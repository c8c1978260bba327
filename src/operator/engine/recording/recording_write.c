#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "data/json/redact.h"
#include "operator/engine/engine.h"
#include "operator/engine/recording/recording.h"

#define ANN_HASH "specialresource.openshift.io/hash"

enum { USUAL_BYTES = 64 << 20 };

struct sw_recording {
    void (*write)(const char *line, size_t len, void *arg);
    void *arg;
    char *salt;
    size_t left; /* bytes */
    bool full;
    uint64_t n_engines;
    /* hashes of what was rendered, as they are and as they are after redaction: hex to hex */
    struct json_object *hashes;
};

static void write_line(struct sw_recording *t, struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    if (t->full)
        return;
    if (len + 1 > t->left) {
        static const char last[] = "{\"full\":true}\n";
        t->full = true;
        t->write(last, sizeof last - 1, t->arg);
        return;
    }
    t->left -= len + 1;
    SW_AUTO_CHARS *line = sw_printf("%s\n", text);
    t->write(line, len + 1, t->arg);
}

struct sw_recording *sw_recording_new(const struct sw_recording_opts *opts)
{
    struct sw_recording *t = sw_zalloc(1, sizeof *t);
    struct json_object *doc = json_object_new_object();
    const struct sw_engine_opts *e = opts->engine;
    *t = (struct sw_recording){ .write = opts->write,
                                .arg = opts->arg,
                                .salt = sw_strdup(opts->salt),
                                .left = opts->max_bytes ? opts->max_bytes : USUAL_BYTES,
                                .hashes = json_object_new_object() };
    sw_json_set(doc, json_object_new_int(1), "slipwayTape", NULL);
    sw_json_set_str(doc, opts->version, "version", NULL);
    sw_json_set(doc, json_object_new_int64(e->grace_ms), "engine", "graceMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->retry_min_ms), "engine", "retryMinMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->retry_max_ms), "engine", "retryMaxMs", NULL);
    sw_json_set(doc, json_object_new_int64(e->status_gap_ms), "engine", "statusGapMs", NULL);
    write_line(t, doc);
    return t;
}

void sw_recording_free(struct sw_recording *tape)
{
    if (!tape)
        return;
    free(tape->salt);
    json_object_put(tape->hashes);
    free(tape);
}

/* ---- redaction ----------------------------------------------------------------------------------
 */

static char *hash_of(struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, &len);
    return sw_printf("%016" PRIx64, sw_fnv64a(text, len));
}

static void change_hash(const struct sw_recording *t, struct json_object *doc, const char *first,
                        const char *second, const char *third)
{
    const char *keys[] = { first, second, third };
    size_t n = second ? 3 : 1;
    struct json_object *now = sw_json_find_at(doc, keys, n);
    struct json_object *other = json_object_is_type(now, json_type_string)
                                    ? sw_json_get(t->hashes, json_object_get_string(now))
                                    : NULL;
    if (other)
        sw_json_set_at(doc, json_object_get(other), keys, n);
}

/* A copy that may be written down; NULL of NULL. */
static struct json_object *redacted(const struct sw_recording *t, struct json_object *doc)
{
    if (!doc)
        return NULL;
    struct json_object *copy = sw_json_copy(doc);
    sw_redact_salted(copy, t->salt);
    change_hash(t, copy, "metadata", "annotations", ANN_HASH);
    return copy;
}

/* What is rendered is known by its content's hash, and the tape has another content. */
static struct json_object *redacted_manifest(const struct sw_recording *t, struct json_object *doc)
{
    struct json_object *copy = redacted(t, doc), *read = NULL;
    SW_ERR(err);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(copy, SW_JSON_PLAIN, &len);
    if (sw_json_parse(text, len, NULL, &read, &err) < 0) /* it was written by sw_json_text() */
        return copy;
    SW_AUTO_CHARS *before = hash_of(doc);
    SW_AUTO_CHARS *after = hash_of(read); /* as it will be read */
    json_object_put(read);
    if (!sw_streq(before, after))
        json_object_object_add(t->hashes, before, json_object_new_string(after));
    return copy;
}

static struct json_object *redacted_status(const struct sw_recording *t, struct json_object *status)
{
    struct json_object *copy = sw_json_copy(status), *inventory = sw_json_get(copy, "inventory");
    for (size_t i = 0; i < sw_json_len(inventory); i++)
        change_hash(t, sw_json_at(inventory, i), "hash", NULL, NULL);
    return copy;
}

/* ---- events -------------------------------------------------------------------------------------
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

/* @doc is taken. */
static void put_doc(struct json_object *to, const char *key, struct json_object *doc)
{
    if (doc)
        json_object_object_add(to, key, doc);
}

static struct json_object *state_doc(const struct sw_state_spec *s)
{
    struct json_object *out = json_object_new_object(), *needs = json_object_new_array();
    put_text(out, "name", s->name);
    put_text(out, "label", s->label);
    put_text(out, "title", s->title);
    for (size_t i = 0; i < s->n_needs; i++)
        (void)json_object_array_add(needs, json_object_new_int64((int64_t)s->needs[i]));
    put_doc(out, "needs", needs);
    put_number(out, "kernelAffine", s->kernel_affine);
    put_number(out, "hidden", s->hidden);
    put_number(out, "timeout", s->timeout_ms);
    return out;
}

static struct json_object *spec_doc(const struct sw_recording *t, const struct sw_spec *spec)
{
    struct json_object *out = json_object_new_object(), *states = json_object_new_array();
    put_text(out, "name", spec->name);
    put_text(out, "uid", spec->uid);
    put_number(out, "generation", spec->generation);
    put_number(out, "management", spec->management);
    put_number(out, "deleting", spec->deleting);
    put_number(out, "orphan", spec->orphan);
    put_number(out, "hold", spec->hold);
    put_text(out, "holdWords", spec->hold_words);
    put_number(out, "holdFailed", spec->hold_failed);
    put_number(out, "timeout", spec->timeout_ms);
    put_doc(out, "nodeSelector", json_object_get(spec->node_selector));
    put_doc(out, "taints", json_object_get(spec->taints));
    put_doc(out, "tolerations", json_object_get(spec->tolerations));
    put_text(out, "revision", spec->revision);
    put_number(out, "code", spec->code);
    put_text(out, "message", spec->message);
    put_text(out, "reason", spec->reason);
    put_text(out, "overlap", spec->overlap);
    put_text(out, "overlapWith", spec->overlap_with);
    put_number(out, "overlapIsBad", spec->overlap_is_bad);
    put_text(out, "blocked", spec->blocked);
    put_doc(out, "status", redacted_status(t, spec->status));
    for (size_t i = 0; i < spec->n_states; i++)
        (void)json_object_array_add(states, state_doc(&spec->states[i]));
    put_doc(out, "states", states);
    return out;
}

static struct json_object *rendered_doc(const struct sw_recording *t,
                                        const struct sw_rendered_object *object)
{
    struct json_object *out = json_object_new_object();
    put_doc(out, "doc", redacted_manifest(t, object->doc));
    put_number(out, "awaited", object->awaited);
    put_number(out, "stage", object->stage);
    put_number(out, "once", object->once);
    put_number(out, "dropReady", object->drop_ready);
    put_number(out, "dropFailed", object->drop_failed);
    put_text(out, "missing", object->missing);
    return out;
}

static struct json_object *event_doc(const struct sw_recording *t, const struct sw_event *e)
{
    struct json_object *out = json_object_new_object(), *objects = NULL;
    put_text(out, "kind", sw_event_kind_name(e->kind));
    put_number(out, "now", e->now_ms);
    put_number(out, "serial", (int64_t)e->serial);
    put_text(out, "state", e->state);
    put_text(out, "variant", e->variant);
    put_text(out, "apiVersion", e->key.api_version);
    put_text(out, "objectKind", e->key.kind);
    put_text(out, "namespace", e->key.ns);
    put_text(out, "name", e->key.name);
    put_number(out, "watch", (int64_t)e->watch);
    put_number(out, "node", e->node);
    put_number(out, "code", e->code);
    put_text(out, "message", e->message);
    SW_AUTO_CHARS *text = e->text ? sw_strdup(e->text) : NULL;
    if (text)
        sw_redact_text(text);
    put_text(out, "text", text);
    for (size_t i = 0; i < e->n_objects; i++) {
        objects = objects ? objects : json_object_new_array();
        (void)json_object_array_add(objects, rendered_doc(t, &e->objects[i]));
    }
    put_doc(out, "objects", objects);
    if (e->spec)
        put_doc(out, "spec", spec_doc(t, e->spec));
    put_doc(out, "object", redacted(t, e->object));
    return out;
}

uint64_t sw_recording_begin(struct sw_recording *tape, const char *resource)
{
    if (!tape)
        return 0;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "begin", json_object_new_int64((int64_t)tape->n_engines));
    put_text(doc, "resource", resource);
    write_line(tape, doc);
    return tape->n_engines++;
}

void sw_recording_end(struct sw_recording *tape, uint64_t engine)
{
    if (!tape)
        return;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "end", json_object_new_int64((int64_t)engine));
    write_line(tape, doc);
}

void sw_recording_step(struct sw_recording *tape, uint64_t engine, const struct sw_event *event,
                       const struct sw_actions *actions)
{
    if (!tape || tape->full)
        return;
    struct json_object *doc = json_object_new_object(), *list = json_object_new_array();
    put_doc(doc, "step", json_object_new_int64((int64_t)engine));
    put_doc(doc, "event", event_doc(tape, event));
    for (size_t i = 0; i < actions->n; i++) {
        SW_AUTO_CHARS *text = sw_action_json(&actions->items[i], true);
        (void)json_object_array_add(list, json_object_new_string(text));
    }
    put_doc(doc, "actions", list);
    write_line(tape, doc);
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static struct json_object *taint_doc(const struct sw_node_set_taint *t)
{
    struct json_object *doc = json_object_new_object();
    put_text(doc, "key", t->key);
    put_text(doc, "value", t->value);
    put_text(doc, "effect", t->effect);
    put_text(doc, "timeAdded", t->added);
    return doc;
}

void sw_recording_put(struct sw_recording *tape, const struct sw_node_set_facts *facts)
{
    if (!tape)
        return;
    struct json_object *doc = json_object_new_object(), *node = json_object_new_object(),
                       *labels = json_object_new_object(), *taints = json_object_new_array();
    put_text(node, "name", facts->name);
    put_text(node, "group", facts->group);
    for (size_t i = 0; i < facts->n_labels; i++)
        put_text(labels, facts->labels[2 * i], facts->labels[2 * i + 1]);
    for (size_t i = 0; i < facts->n_taints; i++)
        (void)json_object_array_add(taints, taint_doc(&facts->taints[i]));
    put_doc(node, "labels", labels);
    put_doc(node, "taints", taints);
    put_text(node, "record", facts->taint_record);
    put_number(node, "ready", facts->ready);
    put_number(node, "cordoned", facts->unschedulable);
    put_text(node, "boot", facts->boot_id);
    put_number(node, "version", (int64_t)facts->version);
    put_doc(doc, "put", node);
    write_line(tape, doc);
}

void sw_recording_put_labels(struct sw_recording *tape, uint32_t node, struct json_object *labels,
                             uint64_t version)
{
    if (!tape)
        return;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "node", json_object_new_int64(node));
    put_doc(doc, "labels", labels ? json_object_get(labels) : json_object_new_object());
    put_number(doc, "version", (int64_t)version);
    write_line(tape, doc);
}

void sw_recording_put_taints(struct sw_recording *tape, uint32_t node, struct json_object *taints,
                             const char *record)
{
    if (!tape)
        return;
    struct json_object *doc = json_object_new_object();
    put_doc(doc, "node", json_object_new_int64(node));
    put_doc(doc, "taints", taints ? json_object_get(taints) : json_object_new_array());
    put_text(doc, "record", record);
    write_line(tape, doc);
}

void sw_recording_remove(struct sw_recording *tape, const char *node)
{
    if (!tape)
        return;
    struct json_object *doc = json_object_new_object();
    put_text(doc, "remove", node);
    write_line(tape, doc);
}
