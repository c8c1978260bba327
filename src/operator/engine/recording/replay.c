#include "operator/engine/recording/replay.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "operator/engine/recording/recording.h"

enum { MAX_ENGINES = 10000, MAX_STATES = 4096 };

#define LATEST_MS (INT64_C(1) << 50)

struct replayed_engine {
    struct sw_engine *engine;
    char *resource;
    bool started; /* has got its first SW_EV_SPEC */
};

struct replay {
    const char *name; /* of the recording's file, for messages */
    int line;
    struct sw_engine_opts opts;
    struct sw_node_set *nodes;
    struct replayed_engine *engines;
    size_t n_engines, cap_engines;
    void (*each)(const struct sw_replay_step *step, void *arg);
    void *arg;
    struct sw_replay_result *result;
};

#define bad(p, err, ...) bad(p, err, __VA_ARGS__)

static int __attribute__((format(printf, 3, 4)))
bad(const struct replay *p, struct sw_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *message = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_err_set(err, SW_INVALID, "%s:%d: %s", p->name, p->line, message);
}

/* NULL: it is missing, or no text. */
static const char *text_at(struct json_object *doc, const char *key)
{
    struct json_object *value = sw_json_get(doc, key);
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static int64_t number_at(struct json_object *doc, const char *key)
{
    return sw_json_int(doc, 0, key, NULL);
}

/* Milliseconds, bounded so that a sum of them cannot overflow. */
static int64_t time_at(struct json_object *doc, const char *key)
{
    int64_t ms = number_at(doc, key);
    return ms < 0 ? 0 : ms < LATEST_MS ? ms : LATEST_MS;
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static void replay_put(struct replay *p, struct json_object *node)
{
    struct json_object *labels = sw_json_get(node, "labels"), *taints = sw_json_get(node, "taints");
    size_t n_labels = json_object_is_type(labels, json_type_object) ? sw_json_len(labels) : 0;
    const char **pairs = sw_zalloc(2 * n_labels + 1, sizeof *pairs);
    struct sw_taint *list = sw_zalloc(sw_json_len(taints) + 1, sizeof *list);
    size_t n = 0;
    if (n_labels) {
        json_object_object_foreach(labels, key, value)
        {
            pairs[n++] = key;
            pairs[n++] = value ? json_object_get_string(value) : "";
        }
    }
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        struct json_object *t = sw_json_at(taints, i);
        list[i] = (struct sw_taint){ text_at(t, "key"), text_at(t, "value"), text_at(t, "effect"),
                                     text_at(t, "timeAdded") };
    }
    (void)sw_node_set_put(p->nodes,
                          &(struct sw_node_set_facts){
                              .name = text_at(node, "name"),
                              .group = text_at(node, "group"),
                              .labels = pairs,
                              .n_labels = n / 2,
                              .taints = list,
                              .n_taints = sw_json_len(taints),
                              .taint_record = text_at(node, "record"),
                              .resources = text_at(node, "resources"),
                              .ready = number_at(node, "ready") != 0,
                              .unschedulable = number_at(node, "cordoned") != 0,
                              .boot_id = text_at(node, "boot"),
                              .version = (uint64_t)number_at(node, "version"),
                          },
                          NULL);
    free(pairs);
    free(list);
}

/* ---- events -------------------------------------------------------------------------------------
 */

/* What an event borrows while it is replayed. */
struct borrowed {
    struct sw_spec spec;
    struct sw_state_spec *states;
    size_t **needs;
    size_t n_states;
    struct sw_rendered_object *objects;
};

/* @marks: 1 is on the way from the first state, 2 is known to lead to no circle */
static bool has_circle(const struct borrowed *b, size_t state, unsigned char *marks, int depth)
{
    if (marks[state] == 2)
        return false;
    if (marks[state] == 1 || depth > MAX_STATES)
        return true;
    marks[state] = 1;
    for (size_t i = 0; i < b->states[state].n_needs; i++)
        if (has_circle(b, b->states[state].needs[i], marks, depth + 1))
            return true;
    marks[state] = 2;
    return false;
}

static int check_states(const struct replay *p, const struct borrowed *b, struct sw_err *err)
{
    unsigned char *marks = sw_zalloc(b->n_states + 1, 1);
    bool circle = false;
    for (size_t i = 0; i < b->n_states && !circle; i++)
        circle = has_circle(b, i, marks, 0);
    free(marks);
    if (circle)
        return bad(p, err, "spec.states: they need each other in a circle");
    SW_AUTO_JSON *names = json_object_new_object();
    for (size_t i = 0; i < b->n_states; i++) {
        if (sw_json_get(names, b->states[i].name))
            return bad(p, err, "spec.states: '%s' is there twice", b->states[i].name);
        json_object_object_add(names, b->states[i].name, json_object_new_boolean(true));
    }
    return 0;
}

static int read_state(const struct replay *p, struct json_object *doc, struct borrowed *b, size_t i,
                      struct sw_err *err)
{
    struct json_object *needs = sw_json_get(doc, "needs");
    struct sw_state_spec *s = &b->states[i];
    *s = (struct sw_state_spec){ .name = text_at(doc, "name"),
                                 .label = text_at(doc, "label"),
                                 .ready_label = text_at(doc, "readyLabel"),
                                 .title = text_at(doc, "title"),
                                 .release = sw_json_get(doc, "release"),
                                 .shared = text_at(doc, "shared"),
                                 .shared_owner = text_at(doc, "sharedOwner"),
                                 .n_needs = sw_json_len(needs),
                                 .kernel_affine = number_at(doc, "kernelAffine") != 0,
                                 .looks_up = number_at(doc, "looksUp") != 0,
                                 .hidden = number_at(doc, "hidden") != 0,
                                 .timeout_ms = time_at(doc, "timeout") };
    if (!s->name)
        return bad(p, err, "spec.states[%zu].name: it is missing", i);
    s->needs = b->needs[i] = sw_zalloc(s->n_needs + 1, sizeof **b->needs);
    for (size_t k = 0; k < s->n_needs; k++) {
        int64_t need = json_object_get_int64(sw_json_at(needs, k));
        if (need < 0 || need >= (int64_t)b->n_states)
            return bad(p, err, "spec.states[%zu].needs[%zu]: there is no such state", i, k);
        b->needs[i][k] = (size_t)need;
    }
    return 0;
}

static int read_spec(const struct replay *p, struct json_object *doc, struct borrowed *b,
                     struct sw_err *err)
{
    struct json_object *states = sw_json_get(doc, "states");
    if (sw_json_len(states) > MAX_STATES)
        return bad(p, err, "spec.states: more than %d", MAX_STATES);
    b->n_states = sw_json_len(states);
    b->states = sw_zalloc(b->n_states + 1, sizeof *b->states);
    b->needs = sw_zalloc(b->n_states + 1, sizeof *b->needs);
    int64_t management = number_at(doc, "management"), hold = number_at(doc, "hold");
    b->spec = (struct sw_spec){
        .name = text_at(doc, "name"),
        .uid = text_at(doc, "uid"),
        .predecessor = text_at(doc, "predecessor"),
        .generation = number_at(doc, "generation"),
        .management = (enum sw_management)management,
        .deleting = number_at(doc, "deleting") != 0,
        .orphan = number_at(doc, "orphan") != 0,
        .hold = (enum sw_hold)hold,
        .hold_message = text_at(doc, "holdWords"),
        .hold_failed = number_at(doc, "holdFailed") != 0,
        .timeout_ms = time_at(doc, "timeout"),
        .node_selector = sw_json_get(doc, "nodeSelector"),
        .taints = sw_json_get(doc, "taints"),
        .tolerations = sw_json_get(doc, "tolerations"),
        .heirs = sw_json_get(doc, "heirs"),
        .former = sw_json_get(doc, "former"),
        .inherited = sw_json_get(doc, "inherited"),
        .states = b->states,
        .n_states = b->n_states,
        .revision = text_at(doc, "revision"),
        .code = (int)number_at(doc, "code"),
        .message = text_at(doc, "message"),
        .reason = text_at(doc, "reason"),
        .overlap = text_at(doc, "overlap"),
        .overlap_with = text_at(doc, "overlapWith"),
        .overlap_is_bad = number_at(doc, "overlapIsBad") != 0,
        .records = text_at(doc, "records"),
        .records_reason = text_at(doc, "recordsReason"),
        .blocked = text_at(doc, "blocked"),
        .status = sw_json_get(doc, "status"),
    };
    if (!b->spec.name || !b->spec.uid)
        return bad(p, err, "spec: name or uid is missing");
    if (management < SW_MANAGED || management > SW_REMOVED)
        return bad(p, err, "spec.management: there is no such number");
    if (hold < SW_HOLD_NONE || hold >= SW_HOLD_COUNT)
        return bad(p, err, "spec.hold: there is no such number");
    for (size_t i = 0; i < b->n_states; i++) {
        int rc = read_state(p, sw_json_at(states, i), b, i, err);
        if (rc < 0)
            return rc;
    }
    return check_states(p, b, err);
}

static int read_objects(const struct replay *p, struct json_object *list, struct borrowed *b,
                        struct sw_event *e, struct sw_err *err)
{
    b->objects = sw_zalloc(sw_json_len(list) + 1, sizeof *b->objects);
    e->objects = b->objects;
    e->n_objects = sw_json_len(list);
    for (size_t i = 0; i < e->n_objects; i++) {
        struct json_object *item = sw_json_at(list, i), *doc = sw_json_get(item, "doc");
        if (!json_object_is_type(doc, json_type_object) || !*sw_obj_kind(doc) ||
            !*sw_obj_api_version(doc) || !*sw_obj_name(doc))
            return bad(p, err, "event.objects[%zu].doc: it is no object", i);
        b->objects[i] =
            (struct sw_rendered_object){ .doc = doc,
                                         .awaited = number_at(item, "awaited") != 0,
                                         .stage = (int)number_at(item, "stage"),
                                         .again = (int)number_at(item, "again"),
                                         .once = number_at(item, "once") != 0,
                                         .drop_ready = number_at(item, "dropReady") != 0,
                                         .drop_failed = number_at(item, "dropFailed") != 0,
                                         .drop_before = number_at(item, "dropBefore") != 0,
                                         .tells_log = number_at(item, "tellsLog") != 0,
                                         .missing = text_at(item, "missing"),
                                         .shared = text_at(item, "shared") };
    }
    return 0;
}

static int read_event(const struct replay *p, struct json_object *doc, struct borrowed *b,
                      struct sw_event *e, struct sw_err *err)
{
    const char *kind_name = text_at(doc, "kind");
    int64_t node = number_at(doc, "node");
    enum sw_event_kind kind = 0;
    while (kind < SW_EV_COUNT && !sw_streq(sw_event_kind_name(kind), kind_name))
        kind++;
    if (kind == SW_EV_COUNT)
        return bad(p, err, "event.kind: there is no such event");
    *e = (struct sw_event){
        .kind = kind,
        .now_ms = time_at(doc, "now"),
        .serial = (uint64_t)number_at(doc, "serial"),
        .state = text_at(doc, "state"),
        .variant = text_at(doc, "variant"),
        .key = { text_at(doc, "apiVersion"), text_at(doc, "objectKind"), text_at(doc, "namespace"),
                 text_at(doc, "name") },
        .object = sw_json_get(doc, "object"),
        .watch = (uint64_t)number_at(doc, "watch"),
        .node = (uint32_t)node,
        .code = (int)number_at(doc, "code"),
        .message = text_at(doc, "message"),
        .text = text_at(doc, "text"),
    };
    bool of_node = kind == SW_EV_NODE || kind == SW_EV_LABELED;
    bool of_object = kind == SW_EV_OBSERVED || kind == SW_EV_APPLIED || kind == SW_EV_DELETED ||
                     kind == SW_EV_RELEASED || kind == SW_EV_LOGS || kind == SW_EV_WARNINGS;
    if (of_node && (node < 0 || node >= (int64_t)sw_node_set_end(p->nodes)))
        return bad(p, err, "event.node: there is none of that number");
    /* a failed watch by selector has no name */
    bool unnamed = kind == SW_EV_OBSERVED && e->code && !e->object;
    if (of_object && (!e->key.api_version || !e->key.kind || (!e->key.name && !unnamed)))
        return bad(p, err, "event: apiVersion, kind or name is missing");
    if ((kind == SW_EV_RENDERED || kind == SW_EV_RENDER_FAILED) && !e->state)
        return bad(p, err, "event.state: it is missing");
    if (kind == SW_EV_RENDERED)
        return read_objects(p, sw_json_get(doc, "objects"), b, e, err);
    if (kind != SW_EV_SPEC)
        return 0;
    e->spec = &b->spec;
    return read_spec(p, sw_json_get(doc, "spec"), b, err);
}

/* ---- steps --------------------------------------------------------------------------------------
 */

static void compare(struct replay *p, const struct replayed_engine *engine,
                    const struct sw_event *e, const struct sw_actions *actions,
                    struct json_object *recorded)
{
    struct sw_replay_result *result = p->result;
    char **texts = sw_zalloc(actions->n + 1, sizeof *texts);
    size_t differs = SIZE_MAX;
    for (size_t i = 0; i < actions->n; i++) {
        texts[i] = sw_action_json(&actions->items[i], true);
        const char *text = json_object_get_string(sw_json_at(recorded, i));
        if (differs == SIZE_MAX && !sw_streq(texts[i], text))
            differs = i;
    }
    if (differs == SIZE_MAX && sw_json_len(recorded) > actions->n)
        differs = actions->n;
    result->n_steps++;
    result->n_actions += actions->n;
    result->n_different += differs != SIZE_MAX;
    if (differs != SIZE_MAX && !result->first_different)
        result->first_different = p->line;
    result->began_ms = result->n_steps == 1 ? e->now_ms : result->began_ms;
    result->ended_ms = e->now_ms;
    if (p->each)
        p->each(&(struct sw_replay_step){ .line = p->line,
                                          .now_ms = e->now_ms,
                                          .resource = engine->resource,
                                          .event = sw_event_kind_name(e->kind),
                                          .engine = engine->engine,
                                          .n_actions = actions->n,
                                          .actions = (const char *const *)texts,
                                          .differs = differs,
                                          .recorded = json_object_get_string(
                                              sw_json_at(recorded, differs)) },
                p->arg);
    for (size_t i = 0; i < actions->n; i++)
        free(texts[i]);
    free(texts);
}

static struct replayed_engine *find_engine(struct replay *p, int64_t number)
{
    if (number < 0 || number >= (int64_t)p->n_engines || !p->engines[number].engine)
        return NULL;
    return &p->engines[number];
}

static int replay_step(struct replay *p, struct json_object *doc, struct sw_err *err)
{
    struct replayed_engine *engine = find_engine(p, number_at(doc, "step"));
    struct borrowed b = { 0 };
    struct sw_event e;
    if (!engine)
        return bad(p, err, "step: there is no such engine");
    int rc = read_event(p, sw_json_get(doc, "event"), &b, &e, err);
    if (rc == 0 && !engine->started && e.kind != SW_EV_SPEC)
        rc = bad(p, err, "event.kind: an engine is told its resource first");
    if (rc == 0) {
        engine->started = true;
        compare(p, engine, &e, sw_engine_step(engine->engine, &e), sw_json_get(doc, "actions"));
    }
    for (size_t i = 0; i < b.n_states; i++)
        free(b.needs[i]);
    free(b.needs);
    free(b.states);
    free(b.objects);
    return rc;
}

static int replay_line(struct replay *p, struct json_object *doc, struct sw_err *err)
{
    struct json_object *put = sw_json_get(doc, "put");
    const char *removed = text_at(doc, "remove"), *resource = text_at(doc, "resource");
    if (sw_json_get(doc, "step"))
        return replay_step(p, doc, err);
    if (sw_json_get(doc, "node")) {
        int64_t node = number_at(doc, "node");
        if (node < 0 || node >= (int64_t)sw_node_set_end(p->nodes))
            return bad(p, err, "node: there is none of that number");
        if (sw_json_get(doc, "labels"))
            (void)sw_node_set_put_labels(p->nodes, (uint32_t)node, sw_json_get(doc, "labels"),
                                         (uint64_t)number_at(doc, "version"));
        else
            sw_node_set_put_taints(p->nodes, (uint32_t)node, sw_json_get(doc, "taints"),
                                   text_at(doc, "record"));
    } else if (sw_json_get(doc, "begin")) {
        if (number_at(doc, "begin") != (int64_t)p->n_engines || p->n_engines >= MAX_ENGINES)
            return bad(p, err, "begin: expected %zu", p->n_engines);
        SW_GROW(p->engines, p->n_engines, p->cap_engines);
        p->engines[p->n_engines++] = (struct replayed_engine){ sw_engine_new(p->nodes, &p->opts),
                                                               sw_strdup(resource ? resource : ""),
                                                               false };
    } else if (put && text_at(put, "name")) {
        replay_put(p, put);
    } else if (removed) {
        (void)sw_node_set_remove(p->nodes, removed);
    } else if (sw_json_get(doc, "end")) {
        struct replayed_engine *engine = find_engine(p, number_at(doc, "end"));
        if (engine)
            sw_engine_free(SW_TAKE(engine->engine));
    } else if (sw_json_get(doc, "full")) {
        p->result->full = true;
    } else {
        return bad(p, err, "it is nothing that a recording holds");
    }
    return 0;
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

static int replay_text(struct replay *p, const char *text, size_t len, struct sw_err *err)
{
    int rc = 0;
    while (rc == 0 && len) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline ? (size_t)(newline - text) : len;
        SW_AUTO_JSON *doc = NULL;
        SW_ERR(why);
        p->line++;
        if (sw_json_parse(text, n, NULL, &doc, &why) < 0)
            /* the last line of a process that was killed may be half of one */
            return newline ? bad(p, err, "%s", sw_err_text(&why)) : 0;
        if (!json_object_is_type(doc, json_type_object))
            return bad(p, err, "expected an object");
        if (p->line == 1) {
            struct json_object *e = sw_json_get(doc, "engine");
            if (number_at(doc, "slipwayTape") != 1)
                return bad(p, err, "it is no recording, or of another version of slipway");
            p->opts = (struct sw_engine_opts){ .grace_ms = time_at(e, "graceMs"),
                                               .retry_min_ms = time_at(e, "retryMinMs"),
                                               .retry_max_ms = time_at(e, "retryMaxMs"),
                                               .status_gap_ms = time_at(e, "statusGapMs"),
                                               .no_grace_labels = sw_json_bool(
                                                   e, false, "noGraceLabels", NULL) };
        } else {
            rc = replay_line(p, doc, err);
        }
        text += n + (newline != NULL);
        len -= n + (newline != NULL);
    }
    return rc;
}

bool sw_recording_is(const char *text, size_t len)
{
    static const char first[] = "{\"slipwayTape\":";
    return len >= sizeof first - 1 && memcmp(text, first, sizeof first - 1) == 0;
}

int sw_replay(const char *text, size_t len, const char *name,
              void (*each)(const struct sw_replay_step *step, void *arg), void *arg,
              struct sw_replay_result *result, struct sw_err *err)
{
    struct replay p = {
        .name = name, .nodes = sw_node_set_new(), .each = each, .arg = arg, .result = result
    };
    *result = (struct sw_replay_result){ 0 };
    int rc = replay_text(&p, text, len, err);
    for (size_t i = 0; i < p.n_engines; i++) {
        sw_engine_free(p.engines[i].engine);
        free(p.engines[i].resource);
    }
    free(p.engines);
    sw_node_set_free(p.nodes);
    return rc;
}
