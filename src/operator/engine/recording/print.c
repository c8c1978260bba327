/* Events and actions as lines of JSON: for logs, and for records that can be replayed. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "operator/engine/engine.h"

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
    [SW_EV_LOGS] = "logs",
    [SW_EV_NODE] = "node",
    [SW_EV_FACTS] = "facts",
    [SW_EV_UPGRADE] = "upgrade",
    [SW_EV_TIMER] = "timer",
};

static const char *const action_names[SW_ACT_COUNT] = {
    [SW_ACT_RENDER] = "render",   [SW_ACT_WATCH] = "watch",         [SW_ACT_UNWATCH] = "unwatch",
    [SW_ACT_APPLY] = "apply",     [SW_ACT_DELETE] = "delete",       [SW_ACT_LABEL] = "label",
    [SW_ACT_STATUS] = "status",   [SW_ACT_EVENT] = "event",         [SW_ACT_TIMER] = "timer",
    [SW_ACT_LOGS] = "logs",       [SW_ACT_FINALIZED] = "finalized", [SW_ACT_RELEASE] = "release",
    [SW_ACT_EMPTIED] = "emptied",
};

const char *sw_event_kind_name(enum sw_event_kind kind)
{
    return (unsigned)kind < SW_EV_COUNT ? event_names[kind] : "?";
}

const char *sw_action_kind_name(enum sw_action_kind kind)
{
    return (unsigned)kind < SW_ACT_COUNT ? action_names[kind] : "?";
}

static void put_text(struct json_object *to, const char *key, const char *text)
{
    if (text)
        json_object_object_add(to, key, json_object_new_string(text));
}

static void put_int(struct json_object *to, const char *key, int64_t n)
{
    if (n)
        json_object_object_add(to, key, json_object_new_int64(n));
}

static void put_key(struct json_object *to, const struct sw_key *key)
{
    put_text(to, "apiVersion", key->api_version);
    put_text(to, "kind", key->kind);
    put_text(to, "namespace", key->ns && *key->ns ? key->ns : NULL);
    put_text(to, "name", key->name);
}

static void put_doc(struct json_object *to, const char *key, struct json_object *doc, bool brief)
{
    if (doc && !brief)
        json_object_object_add(to, key, json_object_get(doc));
}

static struct json_object *state_json(const struct sw_state_spec *s)
{
    struct json_object *out = json_object_new_object();
    struct json_object *needs = json_object_new_array();
    put_text(out, "name", s->name);
    put_text(out, "label", s->label);
    put_text(out, "title", s->title);
    for (size_t i = 0; i < s->n_needs; i++)
        json_object_array_add(needs, json_object_new_int64((int64_t)s->needs[i]));
    json_object_object_add(out, "needs", needs);
    put_int(out, "kernelAffine", s->kernel_affine);
    put_int(out, "hidden", s->hidden);
    put_int(out, "timeout", s->timeout_ms);
    return out;
}

static struct json_object *spec_json(const struct sw_spec *spec, bool brief)
{
    struct json_object *out = json_object_new_object(), *states = json_object_new_array();
    put_text(out, "name", spec->name);
    put_text(out, "uid", spec->uid);
    put_int(out, "generation", spec->generation);
    put_int(out, "management", spec->management);
    put_int(out, "deleting", spec->deleting);
    put_int(out, "orphan", spec->orphan);
    put_int(out, "hold", spec->hold);
    put_text(out, "holdWords", spec->hold_words);
    put_int(out, "holdFailed", spec->hold_failed);
    put_int(out, "timeout", spec->timeout_ms);
    put_doc(out, "nodeSelector", spec->node_selector, false);
    put_doc(out, "taints", spec->taints, false);
    put_doc(out, "tolerations", spec->tolerations, false);
    put_text(out, "revision", spec->revision);
    put_int(out, "code", spec->code);
    put_text(out, "message", spec->message);
    put_text(out, "reason", spec->reason);
    put_text(out, "blocked", spec->blocked);
    put_text(out, "overlap", spec->overlap);
    put_doc(out, "status", spec->status, brief);
    for (size_t i = 0; i < spec->n_states; i++)
        json_object_array_add(states, state_json(&spec->states[i]));
    json_object_object_add(out, "states", states);
    return out;
}

static void put_objects(struct json_object *to, const struct sw_event *event, bool brief)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < event->n_objects; i++) {
        struct json_object *item = json_object_new_object();
        put_doc(item, "doc", event->objects[i].doc, brief);
        put_int(item, "awaited", event->objects[i].awaited);
        put_int(item, "stage", event->objects[i].stage);
        json_object_array_add(list, item);
    }
    json_object_object_add(to, "objects", list);
}

static char *line(struct json_object *doc)
{
    char *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    (void)json_object_put(doc);
    return text;
}

char *sw_event_json(const struct sw_event *event, bool brief)
{
    struct json_object *out = json_object_new_object();
    put_text(out, "event", sw_event_kind_name(event->kind));
    put_int(out, "now", event->now_ms);
    put_int(out, "serial", (int64_t)event->serial);
    put_text(out, "state", event->state);
    put_text(out, "variant", event->variant);
    put_key(out, &event->key);
    put_int(out, "watch", (int64_t)event->watch);
    if (event->kind == SW_EV_NODE || event->kind == SW_EV_LABELED)
        json_object_object_add(out, "node", json_object_new_int64(event->node));
    put_int(out, "code", event->code);
    put_text(out, "message", event->message);
    put_text(out, "text", brief ? NULL : event->text);
    if (event->spec)
        json_object_object_add(out, "spec", spec_json(event->spec, brief));
    if (event->kind == SW_EV_RENDERED)
        put_objects(out, event, brief);
    if (event->kind == SW_EV_OBSERVED)
        json_object_object_add(out, "there", json_object_new_boolean(event->object != NULL));
    put_doc(out, "object", event->object, brief);
    return line(out);
}

static const char *use_name(enum sw_watch_use use)
{
    static const char *const names[] = {
        [SW_USE_WHOLE] = "whole", [SW_USE_STATUS] = "status", [SW_USE_WORKERS] = "workers"
    };
    return names[use];
}

char *sw_action_json(const struct sw_action *action, bool brief)
{
    struct json_object *out = json_object_new_object();
    put_text(out, "action", sw_action_kind_name(action->kind));
    put_int(out, "serial", (int64_t)action->serial);
    put_text(out, "state", action->state);
    put_text(out, "variant", action->variant);
    put_key(out, &action->key);
    put_int(out, "watch", (int64_t)action->watch);
    if (action->kind == SW_ACT_WATCH)
        put_text(out, "use", use_name(action->use));
    put_text(out, "selector", action->selector);
    put_text(out, "uid", action->uid);
    put_text(out, "propagation", action->propagation);
    put_int(out, "force", action->force);
    put_int(out, "dryRun", action->dry_run);
    put_int(out, "inherit", action->inherit);
    if (action->kind == SW_ACT_LABEL)
        json_object_object_add(out, "node", json_object_new_int64(action->node));
    put_doc(out, "taints", action->taints, false);
    put_text(out, "record", action->record);
    put_int(out, "warning", action->warning);
    put_text(out, "reason", action->reason);
    put_text(out, "message", action->message);
    put_int(out, "at", action->at_ms);
    put_int(out, "bytes", (int64_t)action->n_bytes);
    put_text(out, "container", action->container);
    put_doc(out, "doc", action->doc, brief && action->kind != SW_ACT_LABEL);
    return line(out);
}
