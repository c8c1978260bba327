#include "operator/controller/controller.h"

#include "operator/controller/private.h"
#include "operator/fetching/fetching.h"
#include "operator/registries/registries.h"

#include <stdlib.h>
#include <string.h>

static void open_registries(struct sw_controller *c, const struct sw_controller_opts *opts)
{
    if (!opts->registries)
        return;
    struct sw_registries_opts registries = *opts->registries;
    if (opts->helper)
        registries.fetches = c->fetches;
    c->registries = sw_registries_new(c->loop, c->kube, &registries);
}

struct sw_controller *sw_controller_open(struct sw_loop *loop, struct sw_kube *kube,
                                         const struct sw_controller_opts *opts)
{
    static const struct sw_node_policy careful, any = { .control_plane = true,
                                                        .force = true,
                                                        .at_work = 100,
                                                        .percent = true,
                                                        .tainted = 100,
                                                        .tainted_percent = true };
    struct sw_controller *c = sw_zalloc(1, sizeof *c);
    *c = (struct sw_controller){
        .loop = loop,
        .kube = kube,
        .opts = *opts,
        .only = sw_strdup(opts->only),
        .gone = sw_json_copy(opts->gone),
        .ns = sw_strdup(opts->ns ? opts->ns : sw_kube_ns(kube)),
        .nodes = sw_node_set_new(),
        .facts = sw_facts_new(),
        .informer = informer_new(loop, kube),
        .own = sw_zalloc(1, sizeof *c->own),
    };
    if (!c->opts.node_policy)
        c->opts.node_policy = opts->one_shot ? &any : &careful;
    c->opts.engine.node_policy = c->opts.node_policy;
    c->opts.engine.no_grace_labels = c->opts.keep_selectors;
    c->own->trouble = 1; /* nothing was reported yet */
    c->own->words = template_texts();
    struct sw_renderers_opts renderers = opts->renderers;
    renderers.words = c->own->words;
    c->renderers = sw_renderers_new(loop, &renderers);
    c->fetches = sw_fetch_queue_new(loop, kube, c->renderers, opts->helper, opts->allowed_sources,
                                    opts->stand_ins);
    c->sources = sources_new(loop, kube, c->renderers, c->fetches, c->ns, opts);
    sw_recording_observe(opts->recording, c->nodes);
    open_registries(c, opts);
    capabilities_open(c);
    cluster_open(c);
    return c;
}

/* End everything that writes to the cluster. */
static void stop(struct sw_controller *c)
{
    resource_free_all(c);
    EACH_CAPABILITY(stop, c);
}

void sw_controller_pause(struct sw_controller *c)
{
    c->own->paused = true;
    cluster_close_resources(c);
    stop(c);
}

void sw_controller_resume(struct sw_controller *c)
{
    c->own->paused = false;
    cluster_kinds_changed(c); /* opens the watches */
}

bool sw_controller_is_paused(const struct sw_controller *c)
{
    return c->own->paused;
}

void sw_controller_close(struct sw_controller *c)
{
    if (!c)
        return;
    cluster_close(c);
    stop(c);
    capabilities_close(c);
    sw_registries_free(c->registries);
    sources_free(c->sources);
    sw_fetch_queue_free(c->fetches);
    sw_renderers_free(c->renderers);
    free(c->own->words);
    documents_forget(c);
    fact_watches_close(c);
    informer_free(c->informer);
    sw_facts_free(c->facts);
    sw_node_set_free(c->nodes);
    free(c->only);
    json_object_put(c->gone);
    free(c->ns);
    free(c->own);
    free(c);
}

const char *sw_controller_unready(const struct sw_controller *c)
{
    if (!c->own->nodes_synced || !c->resources_synced)
        return "not ready: the cluster has not been read yet";
    if (!c->own->node_watch || !sw_kube_watch_is_established(c->own->node_watch))
        return "not ready: the nodes cannot be watched";
    if (!c->own->resource_watch || !sw_kube_watch_is_established(c->own->resource_watch))
        return "not ready: the resources cannot be watched";
    return NULL;
}

struct json_object *sw_controller_status(struct sw_controller *c, const char *resource)
{
    struct resource *r = resource_find(c, resource);
    return r && r->started ? sw_engine_status(r->engine, sw_loop_now_ms(c->loop)) : NULL;
}

enum sw_phase sw_controller_phase(struct sw_controller *c, const char *resource)
{
    struct resource *r = resource_find(c, resource);
    if (!r || !r->started)
        return SW_PHASE_PROGRESSING;
    enum sw_phase phase = sw_engine_phase(r->engine);
    if (phase != SW_PHASE_READY)
        return phase;
    /* after a restart the phase is the one that was written before; the condition is of now */
    SW_AUTO_JSON *status = sw_engine_status(r->engine, sw_loop_now_ms(c->loop));
    struct json_object *ready = sw_json_find_by(sw_json_get(status, "conditions"), "type", "Ready");
    bool is_ready = sw_streq(sw_json_str(ready, "", "status", NULL), "True");
    return is_ready ? phase : SW_PHASE_PROGRESSING;
}

int sw_controller_fault(struct sw_controller *c, const char *resource, const char **message)
{
    struct resource *r = resource_find(c, resource);
    *message = r ? r->fault_message : NULL;
    return r ? r->fault : 0;
}

void sw_controller_leave(struct sw_controller *c, const char *resource)
{
    struct resource *r = resource_find(c, resource);
    if (r && r->engine)
        resource_step(r, &(struct sw_event){ .kind = SW_EV_LEAVING });
}

bool sw_controller_is_idle(struct sw_controller *c, const char *resource)
{
    struct resource *r = resource_find(c, resource);
    if (!r)
        return true;
    for (const struct op *op = r->own->ops; op; op = op->next)
        if (!op->is_held)
            return false;
    return !r->own->queue && !r->own->renders && !r->own->plan_work && !capabilities_are_busy(r);
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

/* The labels of the plan's states that @node has. */
static struct json_object *own_labels(struct resource *r, uint32_t node)
{
    struct json_object *labels = json_object_new_object();
    size_t n = r->plan ? r->plan->n_states : 0;
    for (size_t i = 0; i < n; i++) {
        const char *label = r->plan->states[i].label;
        SW_AUTO_CHARS *key = NULL;
        SW_ERR(err);
        if (!label || sw_recipe_label(r->name, label, &key, &err) < 0)
            continue;
        const char *value = sw_node_set_label(r->c->nodes, node, key);
        if (value)
            (void)json_object_object_add(labels, key, json_object_new_string(value));
    }
    return labels;
}

static int by_name(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    return strcmp(sw_json_str(x, "", "name", NULL), sw_json_str(y, "", "name", NULL));
}

struct json_object *sw_controller_nodes(struct sw_controller *c, const char *resource)
{
    struct resource *r = resource_find(c, resource);
    struct json_object *nodes = json_object_new_array();
    for (uint32_t i = 0; r && i < sw_node_set_end(c->nodes); i++) {
        const char *name = sw_node_set_name(c->nodes, i);
        if (!name)
            continue;
        struct json_object *node = json_object_new_object();
        sw_json_set_str(node, name, "name", NULL);
        (void)json_object_object_add(node, "labels", own_labels(r, i));
        (void)json_object_array_add(nodes, node);
    }
    json_object_array_sort(nodes, by_name);
    return nodes;
}
