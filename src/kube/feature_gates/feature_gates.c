#include "kube/feature_gates/feature_gates.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "data/data.h"
#include "kube/kube.h"

#define DRIVER "api-check.slipway.dev"
#define NAME "api-check." DRIVER

const char *const sw_feature_gate_names[SW_N_FEATURE_GATES] = {
    [SW_GATE_PARTITIONABLE_DEVICES] = "DRAPartitionableDevices",
    [SW_GATE_EXTENDED_RESOURCE] = "DRAExtendedResource",
};

struct sw_gates_question {
    struct sw_kube *kube;
    char *node, *as_user;
    const char *purpose;
    sw_gates_fn *cb;
    void *arg;
    struct sw_kube_request *request;
    struct sw_gates_answer answer;
    char *why; /* of the answer */
};

void sw_gates_cancel(struct sw_gates_question *question)
{
    if (!question)
        return;
    sw_kube_cancel(question->request);
    free(question->node);
    free(question->as_user);
    free(question->why);
    free(question);
}

static void end(struct sw_gates_question *q, int code, const struct sw_err *err)
{
    q->request = NULL;
    q->answer.why = q->why;
    q->cb(code, &q->answer, err, q->arg);
    sw_gates_cancel(q);
}

static void settle(struct sw_gates_question *q, enum sw_feature_gate gate, enum sw_gate_state state,
                   const char *why)
{
    q->answer.gates[gate] = state;
    if (state != SW_GATE_ON && !q->why)
        q->why = sw_strdup(why);
}

/* What the dry run says of @gate. @kept: the server has kept the field. @return whether it says
 * anything; else the question is over */
static bool judge(struct sw_gates_question *q, enum sw_feature_gate gate,
                  const struct sw_kube_answer *answer, bool kept, const char *missing)
{
    q->request = NULL;
    if (answer->code == SW_UNAVAILABLE) {
        end(q, SW_UNAVAILABLE, answer->err);
        return false;
    }
    if (answer->code == SW_INVALID || answer->code == 0)
        settle(q, gate, kept ? SW_GATE_ON : SW_GATE_OFF,
               answer->code < 0 ? sw_err_text(answer->err) : missing);
    else
        settle(q, gate, SW_GATE_UNKNOWN, sw_err_text(answer->err));
    return true;
}

enum { RETRIES = 3 };

/* Create @doc by a dry run. */
static void try(struct sw_gates_question *q, const struct sw_kind *kind, struct json_object *doc,
                sw_kube_answer_fn *cb)
{
    const struct sw_request_opts opts = {
        .dry_run = true, .retries = RETRIES, .as_user = q->as_user, .purpose = q->purpose
    };
    q->request = sw_kube_create(q->kube, kind, NULL, NULL, doc, &opts, cb, q);
}

static void on_class(const struct sw_kube_answer *answer, void *arg)
{
    struct sw_gates_question *q = arg;
    bool kept = answer->code == 0 &&
                sw_json_find(answer->object, "spec", "extendedResourceName", NULL);
    if (judge(q, SW_GATE_EXTENDED_RESOURCE, answer, kept,
              "DeviceClasses have no extendedResourceName (feature gate DRAExtendedResource)"))
        end(q, 0, NULL);
}

static struct json_object *new_object(const char *kind)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "resource.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, NAME, "metadata", "name", NULL);
    return doc;
}

static void on_class_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sw_gates_question *q = arg;
    q->request = NULL;
    if (code < 0) {
        end(q, SW_UNAVAILABLE, err);
        return;
    }
    SW_AUTO_JSON *doc = new_object("DeviceClass");
    sw_json_set_str(doc, DRIVER "/any", "spec", "extendedResourceName", NULL);
    try(q, kind, doc, on_class);
}

static void on_slice(const struct sw_kube_answer *answer, void *arg)
{
    struct sw_gates_question *q = arg;
    struct json_object *devices = sw_json_find(answer->object, "spec", "devices", NULL);
    bool kept = answer->code == 0 && sw_json_get(sw_json_at(devices, 0), "consumesCounters");
    if (judge(q, SW_GATE_PARTITIONABLE_DEVICES, answer, kept,
              "devices of ResourceSlices take no counters (feature gate DRAPartitionableDevices)"))
        q->request = sw_kube_kind(q->kube, "resource.k8s.io/v1", "DeviceClass", on_class_kind, q);
}

/* A device that takes a counter of a set in another slice. */
static struct json_object *new_slice(const char *node)
{
    struct json_object *doc = new_object("ResourceSlice"), *device = json_object_new_object(),
                       *taken = json_object_new_object();
    sw_json_set_str(doc, DRIVER, "spec", "driver", NULL);
    if (node)
        sw_json_set_str(doc, node, "spec", "nodeName", NULL);
    else
        sw_json_set(doc, json_object_new_boolean(true), "spec", "allNodes", NULL);
    sw_json_set_str(doc, NAME, "spec", "pool", "name", NULL);
    sw_json_set(doc, json_object_new_int(1), "spec", "pool", "generation", NULL);
    sw_json_set(doc, json_object_new_int(2), "spec", "pool", "resourceSliceCount", NULL);
    sw_json_set_str(device, "gpu-0", "name", NULL);
    sw_json_set_str(taken, "gpu-0", "counterSet", NULL);
    sw_json_set_str(taken, "1", "counters", "memory-0", "value", NULL);
    json_object_array_add(sw_json_need_list(device, "consumesCounters", NULL), taken);
    json_object_array_add(sw_json_need_list(doc, "spec", "devices", NULL), device);
    return doc;
}

static void on_slice_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sw_gates_question *q = arg;
    q->request = NULL;
    if (code == SW_NOTFOUND) {
        for (size_t i = 0; i < SW_N_FEATURE_GATES; i++)
            settle(q, i, SW_GATE_OFF, "resource.k8s.io/v1 is not served");
        end(q, 0, NULL);
        return;
    }
    if (code < 0) {
        end(q, SW_UNAVAILABLE, err);
        return;
    }
    SW_AUTO_JSON *doc = new_slice(q->node);
    try(q, kind, doc, on_slice);
}

struct sw_gates_question *sw_gates_ask(struct sw_kube *kube, const struct sw_gates_ask *ask,
                                       sw_gates_fn *cb, void *arg)
{
    struct sw_gates_question *q = sw_zalloc(1, sizeof *q);
    q->kube = kube;
    q->node = ask->node ? sw_strdup(ask->node) : NULL;
    q->as_user = ask->as_user ? sw_strdup(ask->as_user) : NULL;
    q->purpose = ask->purpose;
    q->cb = cb;
    q->arg = arg;
    q->request = sw_kube_kind(kube, "resource.k8s.io/v1", "ResourceSlice", on_slice_kind, q);
    return q;
}
