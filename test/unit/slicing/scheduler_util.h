#pragma once
/* A picture told in a few words, and the extender asked in JSON. */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/extender.h"
#include "slicing/scheduler/placement.h"

#include <cmocka.h>

struct scene {
    struct cache *p;
    struct extender *x;
    struct extender_outcome outcome;
    int64_t later_ms; /* than 5000: when it is asked */
};

static SW_UNUSED struct json_object *json(const char *text)
{
    SW_ERR(err);
    struct json_object *doc = NULL;
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", sw_err_text(&err), text);
    return doc;
}

static SW_UNUSED void scene_open(struct scene *s, enum sw_mig_policy policy)
{
    s->p = cache_new(policy, false);
    s->x = extender_new(s->p, true, 0);
}

static SW_UNUSED void scene_close(struct scene *s)
{
    extender_free(s->x);
    cache_free(s->p);
}

/* The NodeAccelerator that a node with such GPUs publishes. */
static SW_UNUSED struct json_object *accelerator(const char *node, const char *model, int n_gpus)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find(model, 0));
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, node, "metadata", "name", NULL);
    sw_json_set_str(doc, "nvidia-mig", "spec", "acceleratorType", NULL);
    sw_json_set(doc, sw_mig_geometry_to_json(g), "status", "nodeResources", "migPlacement", NULL);
    struct json_object *list = sw_json_need_list(doc, "status", "nodeResources", "nodeGpus", NULL);
    for (int i = 0; i < n_gpus; i++) {
        SW_AUTO_CHARS *uuid = sw_printf("GPU-%s-%d", node, i);
        struct json_object *gpu = json_object_new_object();
        sw_json_set_str(gpu, uuid, "gpuUuid", NULL);
        json_object_array_add(list, gpu);
    }
    return doc;
}

static SW_UNUSED void scene_node(struct scene *s, const char *node, const char *model, int n_gpus)
{
    SW_AUTO_JSON *doc = accelerator(node, model, n_gpus);
    cache_observe_node(s->p, node, true, false);
    assert_int_equal(cache_observe_accelerator(s->p, node, doc, NULL), 0);
}

/* @limits: "\"mig.das.com/1g.5gb\": 1" */
static SW_UNUSED char *pod_text(const char *uid, const char *limits, int priority, const char *node)
{
    return sw_printf("{\"metadata\":{\"name\":\"pod-%s\",\"namespace\":\"ns\",\"uid\":\"%s\"},"
                     "\"spec\":{\"priority\":%d%s%s%s,\"containers\":[{\"name\":\"main\","
                     "\"resources\":{\"limits\":{%s}}}]}}",
                     uid, uid, priority, node ? ",\"nodeName\":\"" : "", node ? node : "",
                     node ? "\"" : "", limits);
}

static SW_UNUSED struct pod *scene_pod(struct scene *s, const char *uid, const char *limits,
                                       int priority, const char *node)
{
    SW_AUTO_CHARS *text = pod_text(uid, limits, priority, node);
    SW_AUTO_JSON *doc = json(text);
    return cache_observe_pod(s->p, doc, true, 1000);
}

static SW_UNUSED int scene_claim(struct scene *s, const char *name, const char *pod,
                                 const char *node, int gpu, const char *profile, int start,
                                 int size, const char *state)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"metadata\":{\"name\":\"%s\",\"uid\":\"uid-%s\",\"resourceVersion\":\"7\"},"
        "\"spec\":{\"profile\":\"%s\",\"podRef\":{\"uid\":\"%s\",\"namespace\":\"ns\","
        "\"name\":\"pod-%s\"},\"migPlacement\":{\"start\":%d,\"size\":%d},"
        "\"gpuUUID\":\"GPU-%s-%d\",\"nodename\":\"%s\"}%s%s%s}",
        name, name, profile, pod, pod, start, size, node, gpu, node,
        state ? ",\"status\":{\"state\":\"" : "", state ? state : "", state ? "\"}" : "");
    SW_AUTO_JSON *doc = json(text);
    SW_AUTO_CHARS *uid = sw_printf("uid-%s", name);
    return cache_observe_claim(s->p, name, uid, doc, 1000, NULL);
}

typedef int asked(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                  struct printbuf *out, struct extender_outcome *outcome, struct sw_err *err);

/* The answer, the caller's; NULL: refused. */
static SW_UNUSED struct json_object *scene_ask(struct scene *s, asked *fn, const char *body)
{
    struct printbuf *out = printbuf_new();
    struct json_object *doc = NULL;
    if (fn(s->x, body, strlen(body), 5000 + s->later_ms, out, &s->outcome, NULL) == 0)
        doc = json(out->buf);
    printbuf_free(out);
    return doc;
}

/* @nodes: "\"a\",\"b\"" */
static SW_UNUSED struct json_object *scene_filter(struct scene *s, const char *pod,
                                                  const char *nodes)
{
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNames\":[%s]}", pod, nodes);
    return scene_ask(s, extender_filter, body);
}
