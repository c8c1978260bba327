/* Nothing is offered before something else is ready: any object, any condition. */
#include "slicing/deviceplugin/gate.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

enum { ASK_AGAIN_MS = 5000, MAX_CONDITIONS = 8 };

struct dp_gate {
    struct sw_device_plugin *p;
    char *api_version, *kind, *name; /* "*": one of them is enough */
    struct json_object *met;         /* the objects that meet a condition, by namespace and name */
    struct sw_condition *conditions[MAX_CONDITIONS]; /* one is enough */
    size_t n_conditions;
    struct sw_kube_request *request;
    struct sw_kube_watch *watch;
    struct sw_timer *again;
    char *text;
    bool seen, ready;
};

/* @name: of the object that it is about; NULL: the gate's. */
static void say(struct dp_gate *g, const char *name, const char *state)
{
    SW_AUTO_CHARS *text = sw_printf("%s %s (%s) %s", g->kind, sw_text_or(name, g->name),
                                    g->api_version, state);
    if (!sw_streq(text, g->text))
        sw_log(SW_LOG_INFO, "gate", "state", text, NULL);
    free(g->text);
    g->text = SW_TAKE(text);
}

const char *dp_gate_text(const struct dp_gate *g)
{
    return g && g->text ? g->text : "the gate has not been looked at yet";
}

static void turn(struct dp_gate *g, const char *name, const char *state)
{
    struct sw_device_plugin *p = g->p;
    bool ready = json_object_object_length(g->met) > 0;
    say(g, name, state);
    if (g->seen && g->ready == ready)
        return;
    g->seen = true;
    g->ready = ready;
    p->shut_again = !ready && p->open && !p->opts.keep_when_shut;
    p->open |= ready;
    p->changed(p);
}

static void note(struct dp_gate *g, const struct sw_watch_event *e, bool is_met)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", e->ns, e->name);
    if (is_met)
        sw_json_set(g->met, json_object_new_boolean(true), key, NULL);
    else
        json_object_object_del(g->met, key);
}

static void on_object(const struct sw_watch_event *e, void *arg)
{
    struct dp_gate *g = arg;
    bool ready = false;
    switch (e->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        for (size_t i = 0; i < g->n_conditions; i++)
            ready |= sw_condition_holds(g->conditions[i], e->object);
        note(g, e, ready);
        turn(g, e->name, ready ? "is ready" : "is not ready");
        break;
    case SW_WATCH_DELETED:
        note(g, e, false);
        turn(g, e->name, "was deleted");
        break;
    case SW_WATCH_SYNCED:
        if (sw_kube_watch_n_objects(g->watch) == 0)
            turn(g, NULL, "does not exist");
        break;
    case SW_WATCH_ERROR:
        say(g, NULL, sw_err_text(e->err));
        break;
    }
}

static void on_again(void *arg);

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct dp_gate *g = arg;
    g->request = NULL;
    if (code < 0) {
        say(g, NULL, sw_err_text(err));
        sw_timer_set(g->again, ASK_AGAIN_MS); /* its CRD may come later */
        return;
    }
    g->watch = sw_kube_watch_open(
        g->p->kube, kind,
        &(struct sw_watch_opts){ .ns = kind->namespaced ? g->p->opts.gate_ns : NULL,
                                 .name = sw_streq(g->name, "*") ? NULL : g->name },
        on_object, g);
}

static void on_again(void *arg)
{
    struct dp_gate *g = arg;
    g->request = sw_kube_kind(g->p->kube, g->api_version, g->kind, on_kind, g);
}

/* @object: "nvidia.com/v1/ClusterPolicy/name", "v1/ConfigMap/name"; name "*" */
static int parse(struct dp_gate *g, const char *object, const char *conditions, struct sw_err *err)
{
    const char *name = strrchr(object, '/'), *kind = name;
    while (kind && kind > object && kind[-1] != '/')
        kind--;
    if (!name || !name[1] || kind == object || kind == name)
        return sw_err_set(err, SW_INVALID, "gate: '%s' is not apiVersion/Kind/name", object);
    g->name = sw_strdup(name + 1);
    g->kind = sw_strndup(kind, (size_t)(name - kind));
    g->api_version = sw_strndup(object, (size_t)(kind - object - 1));
    for (const char *at = conditions; at;) {
        const char *end = strstr(at, " || ");
        SW_AUTO_CHARS *one = sw_strndup(at, end ? (size_t)(end - at) : strlen(at));
        if (g->n_conditions == MAX_CONDITIONS)
            return sw_err_set(err, SW_INVALID, "gate: more than %d conditions", MAX_CONDITIONS);
        const int rc = sw_condition_compile(one, &g->conditions[g->n_conditions], err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "gate");
        g->n_conditions++;
        at = end ? end + 4 : NULL;
    }
    return 0;
}

int dp_gate_new(struct sw_device_plugin *p, struct dp_gate **out, struct sw_err *err)
{
    if (!p->opts.gate || !*p->opts.gate) {
        p->open = true;
        return 0;
    }
    struct dp_gate *g = sw_zalloc(1, sizeof *g);
    g->p = p;
    g->met = json_object_new_object();
    g->again = sw_timer_new(p->loop, on_again, g);
    const int rc = parse(g, p->opts.gate, p->opts.gate_condition, err);
    if (rc < 0) {
        dp_gate_free(g);
        return rc;
    }
    sw_timer_set(g->again, 0);
    *out = g;
    return 0;
}

void dp_gate_free(struct dp_gate *g)
{
    if (!g)
        return;
    sw_kube_cancel(g->request);
    sw_kube_watch_close(g->watch);
    sw_timer_free(g->again);
    for (size_t i = 0; i < g->n_conditions; i++)
        sw_condition_free(g->conditions[i]);
    free(g->api_version);
    free(g->kind);
    free(g->name);
    free(g->text);
    json_object_put(g->met);
    free(g);
}
