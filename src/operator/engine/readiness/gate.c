#include "operator/engine/readiness/gate.h"

#include <stdlib.h>
#include <string.h>

#include "data/jmespath/jmespath.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/jsonpath/jsonpath.h"
#include "data/selector/selector.h"
#include "data/text/cut.h"
#include "data/text/time.h"
#include "data/yaml/yaml.h"
#include "operator/engine/readiness/log_pattern.h"
#include "operator/engine/readiness/pod.h"

/* ---- reading annotations -----------------------------------------------------------------------
 */

static bool is_true(struct json_object *manifest, const char *key)
{
    return sw_streq(sw_obj_annotation(manifest, key), "true");
}

static int read_conditions(struct json_object *manifest, const char *key, struct sw_conditions *out,
                           struct sw_err *err)
{
    const char *text = sw_obj_annotation(manifest, key);
    SW_AUTO_JSON *list = NULL;
    int rc = sw_json_parse(text, strlen(text), NULL, &list, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "annotation %s", key);
    if (!json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "annotation %s: not a JSON array of conditions", key);
    out->items = sw_zalloc(sw_json_len(list), sizeof *out->items);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        if (!json_object_is_type(item, json_type_string))
            return sw_err_set(err, SW_INVALID, "annotation %s[%zu]: not a text", key, i);
        rc = sw_condition_compile(json_object_get_string(item), &out->items[out->n], err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "annotation %s[%zu]", key, i);
        out->n++;
    }
    return 0;
}

/* "any" and "none" of SW_ANN_OBSERVE; what is neither speaks of one object. */
static enum sw_gate_of read_of(struct json_object *manifest)
{
    const char *text = sw_obj_annotation(manifest, SW_ANN_OBSERVE);
    return sw_streq(text, "any")    ? SW_GATE_OF_ANY
           : sw_streq(text, "none") ? SW_GATE_OF_NONE
                                    : SW_GATE_OF_ONE;
}

/* Labels that an assertion asks for with plain values: the API server selects by them. Owned; NULL:
 * none. */
static char *selector_text(struct json_object *tree)
{
    struct json_object *labels = sw_json_find(tree, "metadata", "labels", NULL);
    SW_AUTO_JSON *plain = json_object_new_object();
    struct sw_selector selector = { 0 };
    char *text = NULL;
    if (!json_object_is_type(labels, json_type_object))
        return NULL;
    json_object_object_foreach(labels, key, value)
    {
        const bool is_text = json_object_is_type(value, json_type_string);
        if (is_text && !strchr(key, '(') && *json_object_get_string(value) != '(')
            (void)json_object_object_add(plain, key, json_object_get(value));
    }
    if (sw_json_len(plain) && sw_selector_from_map(plain, &selector, NULL) == 0)
        text = sw_selector_text(&selector);
    sw_selector_done(&selector);
    return text;
}

/* "label a is b, spec.n is 3": @tree, below the path @at, for people. */
static void say_asserted(struct json_object *tree, const char *at, char **text)
{
    if (!json_object_is_type(tree, json_type_object) || !json_object_object_length(tree)) {
        static const struct {
            const char *path, *title;
        } maps[] = { { "metadata.labels.", "label " }, { "metadata.annotations.", "annotation " } };
        const char *title = "";
        for (size_t i = 0; i < SW_COUNT(maps); i++)
            if (sw_starts_with(at, maps[i].path)) {
                title = maps[i].title;
                at += strlen(maps[i].path);
            }
        const bool is_text = json_object_is_type(tree, json_type_string);
        SW_AUTO_CHARS *value = is_text ? sw_strdup(json_object_get_string(tree))
                                       : sw_json_text(tree, SW_JSON_PLAIN, NULL);
        sw_append(text, "%s%s%s is %s", **text ? ", " : "", title, at, *value ? value : "empty");
        return;
    }
    json_object_object_foreach(tree, key, value)
    {
        SW_AUTO_CHARS *path = sw_printf("%s%s%s", at, *at ? "." : "", key);
        say_asserted(value, path, text);
    }
}

static int read_assertion(struct json_object *manifest, struct sw_gate *gate, struct sw_err *err)
{
    enum { SHOWN_BYTES = 160, MESSAGE_BYTES = 300 };
    const char *text = sw_obj_annotation(manifest, SW_ANN_ASSERT);
    const struct sw_yaml_opts opts = { .file = "annotation " SW_ANN_ASSERT };
    SW_AUTO_JSON *tree = NULL;
    gate->of = read_of(manifest);
    if (!text)
        return gate->of == SW_GATE_OF_ONE
                   ? 0
                   : sw_err_set(err, SW_INVALID,
                                "annotation " SW_ANN_OBSERVE ": '%s' needs " SW_ANN_ASSERT,
                                sw_obj_annotation(manifest, SW_ANN_OBSERVE));
    int rc = sw_yaml_parse(text, strlen(text), &opts, &tree, err);
    if (rc == 0 && !json_object_is_type(tree, json_type_object))
        return sw_err_set(err, SW_INVALID, "annotation " SW_ANN_ASSERT ": not a map");
    if (rc == 0 && sw_assertion_compile(tree, &gate->assertion, err) < 0)
        rc = sw_err_wrap(err, SW_INVALID, "annotation " SW_ANN_ASSERT);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *said = sw_strdup("");
    say_asserted(tree, "", &said);
    gate->asserted = sw_text_cut(said, SHOWN_BYTES);
    const char *message = sw_obj_annotation(manifest, SW_ANN_ASSERT_MESSAGE);
    gate->assert_message = message ? sw_text_cut(message, MESSAGE_BYTES) : NULL;
    gate->selector = gate->of == SW_GATE_OF_ONE ? NULL : selector_text(tree);
    gate->hides = sw_streq(sw_obj_kind(manifest), "Secret");
    return 0;
}

/* The annotations whose values may be wrong. */
static int read_checked(struct json_object *manifest, struct sw_gate *gate, struct sw_err *err)
{
    const char *timeout = sw_obj_annotation(manifest, SW_ANN_TIMEOUT);
    const char *assert = sw_obj_annotation(manifest, SW_ANN_ASSERT_TIMEOUT);
    const char *pattern = sw_obj_annotation(manifest, SW_ANN_WAIT_FOR_LOGS);
    const char *retries = sw_obj_annotation(manifest, SW_ANN_RETRIES);
    int rc = 0;
    /* HIP-0025: one without the other is not used (lint says so) */
    gate->custom = sw_obj_annotation(manifest, SW_ANN_READY_IF) &&
                   sw_obj_annotation(manifest, SW_ANN_FAILED_IF);
    if (gate->custom)
        rc = read_conditions(manifest, SW_ANN_READY_IF, &gate->success, err);
    if (rc == 0 && gate->custom)
        rc = read_conditions(manifest, SW_ANN_FAILED_IF, &gate->failure, err);
    if (rc == 0)
        rc = read_assertion(manifest, gate, err);
    if (rc < 0)
        return rc;
    if (pattern && pattern_compile(pattern, &gate->log_regex, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "annotation " SW_ANN_WAIT_FOR_LOGS);
    gate->log_pattern = sw_strdup(pattern);
    if (timeout && sw_span_parse(timeout, &gate->timeout_ms, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "annotation " SW_ANN_TIMEOUT);
    if (assert && sw_span_parse(assert, &gate->assert_ms, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "annotation " SW_ANN_ASSERT_TIMEOUT);
    size_t len = retries ? strlen(retries) : 1;
    if (len < 1 || len > 6 || (retries && strspn(retries, "0123456789") != len))
        return sw_err_set(err, SW_INVALID,
                          "annotation " SW_ANN_RETRIES ": '%s' is no number such as 3", retries);
    gate->n_retries = retries ? strtol(retries, NULL, 10) : -1;
    return 0;
}

/* @label: "<name>" in it is the object's name. Heap. */
static char *with_name(const char *label, size_t len, struct json_object *manifest)
{
    static const char placeholder[] = "<name>";
    const char *at = memmem(label, len, placeholder, sizeof placeholder - 1);
    if (!at)
        return sw_strndup(label, len);
    const size_t before = (size_t)(at - label), behind = before + sizeof placeholder - 1;
    return sw_printf("%.*s%s%.*s", (int)before, label, sw_obj_name(manifest), (int)(len - behind),
                     label + behind);
}

/* The names in an annotation. */
static void read_names(struct json_object *manifest, const char *annotation, char ***names,
                       size_t *n)
{
    size_t cap = 0;
    for (const char *at = sw_obj_annotation(manifest, annotation); at && *at;) {
        size_t len = strcspn(at, ", ");
        if (len) {
            SW_GROW(*names, *n, cap);
            (*names)[(*n)++] = with_name(at, len, manifest);
        }
        at += len + (at[len] != '\0');
    }
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* Labels with their values; not matchLabels and the like. */
static bool is_node_selector(struct json_object *selector)
{
    if (!json_object_is_type(selector, json_type_object))
        return false;
    bool all = true;
    json_object_object_foreach(selector, key, value)
    {
        (void)key;
        all = all && json_object_is_type(value, json_type_string);
    }
    return all;
}

/* "a=b,c=d" as labels with their values; owned. A key alone has the value "". */
static struct json_object *labels_of(const char *text)
{
    struct json_object *labels = json_object_new_object();
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ", "), key = strcspn(at, "=, ");
        SW_AUTO_CHARS *name = sw_strndup(at, key);
        SW_AUTO_CHARS *value = key < len ? sw_strndup(at + key + 1, len - key - 1) : sw_strdup("");
        if (len)
            sw_json_set_str(labels, value, name, NULL);
        at += len + (at[len] != '\0');
    }
    return labels;
}

/* The nodes on which an operator works for its custom resource: what the annotation says, else
 * spec.nodeSelector, what Skyhook calls spec.nodeSelectors (its matchLabels), or what AMD's
 * DeviceConfig and the Module of Kernel Module Management call spec.selector, which selects pods in
 * kinds of Kubernetes' own. Owned; NULL: it does not say. */
static struct json_object *selector_of(struct json_object *manifest)
{
    const char *nodes = sw_obj_annotation(manifest, SW_ANN_NODES);
    if (nodes)
        return labels_of(nodes);
    struct json_object *selector = sw_json_find(manifest, "spec", "nodeSelector", NULL);
    if (!selector)
        selector = sw_json_find(manifest, "spec", "nodeSelectors", "matchLabels", NULL);
    if (!selector && strchr(sw_obj_api_version(manifest), '.'))
        selector = sw_json_find(manifest, "spec", "selector", NULL);
    return is_node_selector(selector) ? sw_json_copy(selector) : NULL;
}

bool sw_gate_is_by_node(const struct sw_gate *gate)
{
    return gate->n_node_labels || gate->n_node_resources;
}

enum { NOTE_BYTES = 300 };

int sw_gate_new(struct json_object *manifest, bool wait_all, struct sw_gate **out,
                struct sw_err *err)
{
    SW_AUTO(sw_gate) *gate = sw_zalloc(1, sizeof *gate);
    const char *kind = sw_obj_kind(manifest);
    int rc = read_checked(manifest, gate, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s %s", kind, sw_obj_name(manifest));
    read_names(manifest, SW_ANN_NODE_LABELS, &gate->node_labels, &gate->n_node_labels);
    read_names(manifest, SW_ANN_NODE_RESOURCES, &gate->node_resources, &gate->n_node_resources);
    if (sw_gate_is_by_node(gate))
        gate->node_selector = selector_of(manifest);
    gate->may_match_no_node = sw_streq(sw_obj_annotation(manifest, SW_ANN_NO_NODE), "true");
    const char *note = sw_obj_annotation(manifest, SW_ANN_NOTE);
    gate->note = note && *note ? sw_text_cut(note, NOTE_BYTES) : NULL;
    const char *observes = sw_obj_annotation(manifest, SW_ANN_OBSERVES);
    gate->observes = observes && *observes ? sw_text_cut(observes, NOTE_BYTES) : NULL;
    const char *check = sw_streq(kind, "Job") ? sw_obj_annotation(manifest, SW_ANN_CHECK) : NULL;
    gate->check = check && *check ? sw_text_cut(check, NOTE_BYTES) : NULL;
    const char *vendor = sw_obj_annotation(manifest, SW_ANN_VENDOR);
    gate->vendor = vendor && *vendor ? sw_strdup(vendor) : NULL;
    gate->driver_container = sw_streq(sw_obj_annotation(manifest, SW_ANN_STATE),
                                      "driver-container");
    gate->by_node = sw_streq(kind, "DaemonSet") &&
                    sw_streq(sw_obj_annotation(manifest, SW_ANN_UPGRADE), "by-node");
    gate->observe = gate->of != SW_GATE_OF_ONE || is_true(manifest, SW_ANN_OBSERVE);
    gate->hold = is_true(manifest, SW_ANN_HOLD);
    gate->dry_run = is_true(manifest, SW_ANN_DRY_RUN);
    gate->adopt = is_true(manifest, SW_ANN_ADOPT);
    bool pod = sw_streq(kind, "Pod");
    gate->runs_to_completion = sw_streq(kind, "Job") || (pod && pod_runs_to_completion(manifest));
    gate->replace = is_true(manifest, SW_ANN_REPLACE) || gate->runs_to_completion || pod;
    gate->awaited = wait_all || gate->observe || gate->hold || gate->dry_run || gate->custom ||
                    gate->assertion || gate->check || gate->log_pattern ||
                    sw_gate_is_by_node(gate) || is_true(manifest, SW_ANN_WAIT) ||
                    sw_obj_annotation(manifest, SW_ANN_HOOK) || sw_streq(kind, "Namespace") ||
                    sw_streq(kind, "CustomResourceDefinition");
    *out = SW_TAKE(gate);
    return 0;
}

static void conditions_done(struct sw_conditions *c)
{
    for (size_t i = 0; i < c->n; i++)
        sw_condition_free(c->items[i]);
    free(c->items);
}

void sw_gate_free(struct sw_gate *gate)
{
    if (!gate)
        return;
    conditions_done(&gate->success);
    conditions_done(&gate->failure);
    free_names(gate->node_labels, gate->n_node_labels);
    free_names(gate->node_resources, gate->n_node_resources);
    (void)json_object_put(gate->node_selector);
    sw_assertion_free(gate->assertion);
    free(gate->asserted);
    free(gate->assert_message);
    free(gate->note);
    free(gate->observes);
    free(gate->check);
    free(gate->selector);
    if (gate->log_pattern)
        regfree(&gate->log_regex);
    free(gate->log_pattern);
    free(gate->vendor);
    free(gate);
}

/* ---- readiness ---------------------------------------------------------------------------------
 */

static const struct sw_condition *first_true(const struct sw_conditions *c,
                                             struct json_object *status)
{
    for (size_t i = 0; i < c->n; i++)
        if (sw_condition_holds(c->items[i], status))
            return c->items[i];
    return NULL;
}

bool sw_gate_holds(const struct sw_gate *gate, struct json_object *live, char **why)
{
    return sw_assertion_holds(gate->assertion, live, gate->hides, why);
}

/* By conditions of its own, else by its kind. */
static void judge(const struct sw_gate *gate, struct json_object *live, struct sw_readiness *out)
{
    if (!gate->custom || !live || sw_json_find(live, "metadata", "deletionTimestamp", NULL)) {
        sw_kstatus(live, out);
        return;
    }
    /* failure goes before success; any one of several conditions is enough */
    struct json_object *status = sw_json_find(live, "status", NULL);
    const struct sw_condition *failure = first_true(&gate->failure, status);
    if (failure)
        sw_readiness_set(out, SW_READINESS_FAILED, "ReadinessFailure", "%s holds",
                         sw_condition_text(failure));
    else if (first_true(&gate->success, status))
        sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
    else
        sw_readiness_set(out, SW_READINESS_WAITING, "NotYet", "%s does not hold yet",
                         gate->success.n ? sw_condition_text(gate->success.items[0])
                                         : SW_ANN_READY_IF " is empty: it");
}

void sw_gate_judge(const struct sw_gate *gate, struct json_object *live, struct sw_readiness *out)
{
    SW_AUTO_CHARS *why = NULL;
    judge(gate, live, out);
    if (gate->check && out->kind == SW_READINESS_FAILED &&
        sw_streq(out->reason, "PodFailurePolicy") &&
        strstr(out->message, " failed with exit code 2 matching ")) {
        sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
        out->skipped = true;
    }
    if (out->kind == SW_READINESS_READY && gate->assertion && !sw_gate_holds(gate, live, &why))
        sw_readiness_set(out, SW_READINESS_WAITING, "NotAsserted", "is not as asserted: %s%s%s",
                         why, gate->assert_message ? "; " : "",
                         gate->assert_message ? gate->assert_message : "");
}
