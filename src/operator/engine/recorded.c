/* Reading what an earlier run wrote into the resource's status: its states, when they began and
 * were ready, and every object that it had applied or was about to apply. */
#include <stdlib.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/time.h"
#include "operator/engine/internal.h"

static int64_t read_time(struct json_object *doc, const char *field)
{
    int64_t ms = 0;
    return sw_time_parse(sw_json_str(doc, "", field, NULL), &ms, NULL) < 0 ? 0 : ms;
}

static uint64_t read_hex(struct json_object *doc, const char *field)
{
    return strtoull(sw_json_str(doc, "0", field, NULL), NULL, 16);
}

static void read_state(struct sw_engine *e, struct json_object *doc)
{
    const char *name = sw_json_str(doc, "", "name", NULL);
    if (!*name)
        return;
    struct state *s = state_need(e, name);
    const char *label = sw_json_str(doc, "", "label", NULL);
    if (*label && !s->label)
        s->label = sw_strdup(label);
    const char *ready_label = sw_json_str(doc, "", "readyLabel", NULL);
    if (!s->ready_label && sw_starts_with(ready_label, SW_READY_LABEL))
        s->ready_label = sw_strdup(ready_label);
    if (!s->title)
        s->title = sw_strdup(name);
    s->started_ms = read_time(doc, "startedAt");
    s->ready_ms = read_time(doc, "readyAt");
    s->since_ms = read_time(doc, "since");
    s->shut_ms = read_time(doc, "shutAt");
    s->awaited_ms = read_time(doc, "awaitedSince");
    s->n_redone = (unsigned)sw_json_int(doc, 0, "retries", NULL);
    struct json_object *failures = sw_json_get(doc, "failures");
    s->n_failures = (unsigned)sw_json_int(failures, 0, "count", NULL);
    s->first_failure_ms = read_time(failures, "first");
    s->last_failure_ms = read_time(failures, "last");
    s->begun = read_hex(doc, "revision");
    if (!s->release) /* of what is there, also while a recipe at fault is not walked */
        s->release = sw_json_copy(sw_json_get(doc, "release"));
    sw_text_set(&s->observes, sw_json_str(doc, NULL, "observes", NULL));
    check_read(s, sw_json_get(doc, "check"));
    sw_text_set(&s->shown, sw_json_str(doc, "", "phase", NULL));
    sw_text_set(&s->reported, s->shown);
}

static void read_needs(struct sw_engine *e, struct json_object *doc)
{
    struct state *s = state_find(e, sw_json_str(doc, "", "name", NULL));
    struct json_object *list = sw_json_find(doc, "needs", NULL);
    if (!s || s->needs)
        return;
    s->needs = sw_zalloc(sw_json_len(list), sizeof(struct state *));
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = json_object_get_string(sw_json_at(list, i));
        size_t k = 0;
        while (e->states[k] != s && !sw_streq(e->states[k]->name, name))
            k++;
        if (e->states[k] != s) /* it stands before @s, so there is no circle */
            s->needs[s->n_needs++] = e->states[k];
    }
}

/* NULL: it is known, or none. */
static struct object *read_object(struct sw_engine *e, struct json_object *doc, const char *state)
{
    struct sw_key key = {
        .api_version = sw_json_str(doc, "", "apiVersion", NULL),
        .kind = sw_json_str(doc, "", "kind", NULL),
        .ns = sw_json_str(doc, NULL, "namespace", NULL),
        .name = sw_json_str(doc, "", "name", NULL),
    };
    if (!*key.api_version || !*key.kind || !*key.name || object_find(e, &key))
        return NULL;
    struct object *o = object_need(e, &key, state_need(e, state));
    const char *uid = sw_json_str(doc, "", "uid", NULL);
    sw_text_set(&o->shared, sw_json_str(doc, NULL, "release", NULL));
    o->recorded = true;
    o->listed_in = 1;
    o->our_uid = *uid ? sw_strdup(uid) : NULL;
    o->fingerprint = read_hex(doc, "seen");
    o->fingerprint_of = o->fingerprint ? read_hex(doc, "hash") : 0;
    o->done_hash = sw_json_bool(doc, false, "done", NULL) ? read_hex(doc, "hash") : 0;
    o->done_recorded = o->done_hash;
    o->done_in = o->done_recorded;
    if (*sw_json_str(doc, "", "failed", NULL)) {
        object_fail(o, sw_json_str(doc, "", "failed", NULL), read_hex(doc, "failedHash"));
        o->failed_in = 1;
        o->failed_recorded = true;
    }
    o->adopted = sw_json_bool(doc, false, "adopted", NULL);
    o->keep = sw_json_bool(doc, false, "keep", NULL);
    object_watch(e, o);
    return o;
}

/* The state that what is inherited with the state @name is in until it is rendered: one of the
 * recipe, since what is in others goes. */
static const char *heir_state(const struct sw_engine *e, const char *name)
{
    const struct state *any = NULL;
    for (size_t i = 0; i < e->n_states; i++) {
        const struct state *s = e->states[i];
        if (!s->listed || s->hidden)
            continue;
        any = any ? any : s;
        if (sw_streq(s->name, name))
            return name;
    }
    return any ? any->name : name;
}

/* An object that was another's is observed until its state is rendered again. */
static void forget_observed(struct sw_engine *e, struct json_object *doc)
{
    const struct sw_key key = {
        .api_version = sw_json_str(doc, "", "apiVersion", NULL),
        .kind = sw_json_str(doc, "", "kind", NULL),
        .ns = sw_json_str(doc, NULL, "namespace", NULL),
        .name = sw_json_str(doc, "", "name", NULL),
    };
    struct object *o = object_find(e, &key);
    if (o && o->gate && o->gate->observe)
        object_forget(e, o);
}

void record_inherit(struct sw_engine *e, struct json_object *inventory, bool again)
{
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *doc = sw_json_at(inventory, i);
        if (again)
            forget_observed(e, doc);
        const char *state = heir_state(e, sw_json_str(doc, "", "state", NULL));
        struct object *o = read_object(e, doc, state);
        if (!o)
            continue;
        o->recorded = false;       /* the status does not list it yet */
        free(SW_TAKE(o->our_uid)); /* whose it is the object itself says: others write the list */
        o->listed_in = o->failed_in = o->done_in = 0;
        o->failed_recorded = o->done_recorded = false;
        state_sort(o->state);
    }
}

void record_read(struct sw_engine *e, struct json_object *status)
{
    struct json_object *states = sw_json_find(status, "states", NULL);
    struct json_object *inventory = sw_json_find(status, "inventory", NULL);
    for (size_t i = 0; i < sw_json_len(states); i++)
        read_state(e, sw_json_at(states, i));
    for (size_t i = 0; i < sw_json_len(states); i++)
        read_needs(e, sw_json_at(states, i));
    for (size_t i = 0; i < sw_json_len(inventory); i++)
        (void)read_object(e, sw_json_at(inventory, i),
                          sw_json_str(sw_json_at(inventory, i), "", "state", NULL));
    for (size_t i = 0; i < e->n_states; i++)
        state_sort(e->states[i]);
    lost_read(e, sw_json_find(status, "lostNodes", NULL));
    e->upgrade = sw_json_copy(sw_json_get(status, "upgrade"));
    if (status) {
        e->written = sw_json_copy(status);
        e->conditions = json_object_get(sw_json_find(e->written, "conditions", NULL));
        struct json_object *ready = sw_json_find_by(e->conditions, "type", "Ready");
        e->was_ready = sw_streq(sw_json_str(ready, "", "status", NULL), "True");
        e->reported_phase = e->was_ready ? SW_PHASE_READY : SW_PHASE_PROGRESSING;
    }
}
