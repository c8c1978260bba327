/* Actions of the engine as requests, and their answers as its events. */
#include "data/text/time.h"
#include "operator/controller/apply/apply.h"
#include "operator/controller/private.h"
#include "operator/manifests/ownership.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 2 };

void op_answer(struct op *op, int code, const char *message, struct json_object *object,
               const char *text)
{
    struct resource *r = op->r;
    struct sw_key key = op->key;
    SW_AUTO_CHARS *copy = sw_strdup(message);
    struct sw_event event = { .kind = op->answer,
                              .serial = op->serial,
                              .key = key,
                              .node = op->node,
                              .code = code,
                              .message = copy,
                              .object = object,
                              .text = text };
    op->key = (struct sw_key){ 0 }; /* its strings are needed for the step */
    op_free(op);
    if (event.kind == SW_EV_LABELED)
        EACH_CAPABILITY(node_patched, r, key.name, code);
    resource_step(r, &event);
    sw_key_done(&key);
}

void op_failed(struct op *op, int code, const char *message)
{
    op_answer(op, code, message, NULL, NULL);
}

/* The op of an action whose answer is the event @answer. */
static struct op *action_op(struct resource *r, const struct sw_action *a,
                            enum sw_event_kind answer)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->answer = answer;
    op->failed = op_failed;
    return op;
}

struct op *op_new_own(struct resource *r, uint64_t serial)
{
    return op_new(r, &(struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, r->name },
                  serial);
}

static const char *answer_message(const struct sw_kube_answer *a)
{
    return a->code < 0 ? sw_err_text(a->err) : NULL;
}

/* What the server warns of (a deprecated version, a policy that is only warned of): an Event, once
 * for as long as the resource is known. */
static void report_warnings(const struct op *op, struct json_object *warnings)
{
    enum { MAX_WARNED = 64 };
    struct resource *r = op->r;
    if (!r->own->warned)
        r->own->warned = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(warnings); i++) {
        SW_AUTO_CHARS *message = sw_printf("%s %s: the API server warns: %s", op->key.kind,
                                           op->key.name,
                                           json_object_get_string(sw_json_at(warnings, i)));
        if (sw_json_get(r->own->warned, message) ||
            json_object_object_length(r->own->warned) >= MAX_WARNED)
            continue;
        (void)json_object_object_add(r->own->warned, message, json_object_new_boolean(true));
        event_record(r, &(struct sw_action){ .reason = "APIWarning",
                                             .message = message,
                                             .warning = true,
                                             .at_ms = sw_loop_now_ms(r->c->loop) });
    }
}

/* op_answer() of a request that was made as the resource's account. */
void op_answer_of(struct op *op, const struct sw_kube_answer *a)
{
    SW_AUTO_CHARS *message = a->code < 0 ? account_message(op->r, a->code, sw_err_text(a->err))
                                         : NULL;
    op_answer(op, a->code, message, a->object, NULL);
}

/* The namespace for a request about an object of @kind; NULL: none. */
static const char *namespace_of(const struct op *op, const struct sw_kind *kind)
{
    return kind->namespaced ? op->key.ns : NULL;
}

/* ---- apply -------------------------------------------------------------------------------------
 */

/* Apply again, without what an older server refused. @return false: it was refused for something
 * else */
static bool apply_without(struct op *op, const struct sw_kube_answer *a)
{
    if (a->code != SW_INVALID)
        return false;
    SW_AUTO_JSON *less = sw_json_copy(op->doc);
    if (!unknown_fields_drop(less, sw_err_text(a->err), &op->dropped) &&
        !quantity_write_out(less, sw_err_text(a->err)))
        return false;
    json_object_put(op->doc);
    op->doc = SW_TAKE(less);
    op_with_kind(op);
    return true;
}

static void report_dropped(struct op *op)
{
    SW_AUTO_CHARS *message = sw_printf("%s %s: this API server does not know %s: applied without",
                                       op->key.kind, op->key.name, op->dropped);
    sw_log(SW_LOG_WARN, "fields left out", "resource", op->r->name, "kind", op->key.kind, "name",
           op->key.name, "fields", op->dropped, NULL);
    event_record(op->r, &(struct sw_action){ .reason = "FieldsDropped",
                                             .message = message,
                                             .warning = true,
                                             .at_ms = sw_loop_now_ms(op->r->c->loop) });
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (apply_without(op, a))
        return;
    if (a->code == 0 && op->dropped && !op->dry_run)
        report_dropped(op);
    if (a->code == 0 && !op->dry_run)
        report_warnings(op, a->warnings);
    if (a->code == 0 && a->object)
        (void)sw_json_del(a->object, "metadata", "managedFields", NULL);
    if (a->code == 0 && a->object && sw_streq(op->key.kind, "CustomResourceDefinition"))
        kinds_crd_changed(op->r->c, a->object, false); /* before a state is rendered for it */
    if (a->http_status == 201 && !op->dry_run && sw_streq(op->key.kind, "Namespace"))
        informer_namespace_is_new(op->r->c->informer, op->key.name);
    op_answer_of(op, a);
}

static void begin_apply(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_apply(
        op->r->c->kube, kind, namespace_of(op, kind), op->key.name, op->doc,
        REQUEST_AS(op->r, .force = op->force, .dry_run = op->dry_run, .retries = RETRIES),
        on_applied, op);
}

void request_apply(struct resource *r, const struct sw_action *a)
{
    struct op *op = action_op(r, a, SW_EV_APPLIED);
    op->doc = json_object_get(a->doc);
    op->force = a->force;
    op->dry_run = a->dry_run;
    op->apply = begin_apply;
    op->begin = a->inherit ? inherit_begin : begin_apply;
    op_with_kind(op);
}

/* ---- release: slipway's marks are removed, the object stays ------------------------------------
 */

static void release_answered(struct op *op, int code, const char *message)
{
    if (code == SW_CONFLICT || code == SW_UNAVAILABLE)
        op_again(op);
    else
        op_answer(op, code, message, NULL, NULL);
}

static void on_released(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    release_answered(op, a->code, answer_message(a));
}

static void on_release_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    bool other = a->code == 0 && op->uid && !sw_streq(op->uid, sw_obj_uid(a->object));
    if (a->code < 0 || other) {
        release_answered(op, a->code < 0 ? a->code : SW_NOTFOUND, answer_message(a));
        return;
    }
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, op->key.api_version,
                                                   op->key.kind);
    SW_AUTO_JSON *body = op->doc
                             ? sw_ownership_hand_over(a->object, op->r->uid, op->r->name, op->doc)
                             : sw_ownership_release(a->object, op->r->uid);
    if (body && kind)
        op->req = sw_kube_patch(op->r->c->kube, kind, namespace_of(op, kind), op->key.name,
                                SW_PATCH_MERGE, body, REQUEST_AS(op->r, .retries = RETRIES),
                                on_released, op);
    else
        release_answered(op, kind ? 0 : SW_UNAVAILABLE, NULL);
}

static void begin_release(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, namespace_of(op, kind), op->key.name,
                          REQUEST_AS(op->r, .retries = RETRIES), on_release_read, op);
}

void request_release(struct resource *r, const struct sw_action *a)
{
    struct op *op = action_op(r, a, SW_EV_RELEASED);
    op->uid = sw_strdup(a->uid);
    op->doc = json_object_get(a->heir);
    op->begin = begin_release;
    op->failed = release_answered;
    op_with_kind(op);
}

/* ---- delete ------------------------------------------------------------------------------------
 */

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    op_answer_of(op, a);
}

static void begin_delete(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_delete(
        op->r->c->kube, kind, namespace_of(op, kind), op->key.name,
        REQUEST_AS(op->r, .uid = op->uid, .propagation = op->propagation, .retries = RETRIES),
        on_deleted, op);
}

/* An object that is not deleted, since @heir needs it, becomes its. */
static void become_handover(struct op *op, struct json_object *heir)
{
    SW_AUTO_CHARS *text = sw_printf("%s %s stays: resource %s needs it, and has it now",
                                    op->key.kind, op->key.name, sw_obj_name(heir));
    event_record(op->r, &(struct sw_action){ .reason = "HandedOver", .message = text });
    op->doc = json_object_new_object();
    sw_json_set_str(op->doc, sw_obj_name(heir), "name", NULL);
    sw_json_set_str(op->doc, sw_obj_uid(heir), "uid", NULL);
    op->answer = SW_EV_RELEASED;
    op->begin = begin_release;
    op->failed = release_answered;
}

static void on_others(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct json_object *heir = NULL;
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, op->key.api_version,
                                                   op->key.kind);
    for (size_t i = 0; a->code == 0 && !heir && i < sw_json_len(a->items); i++) {
        struct json_object *other = sw_json_at(a->items, i);
        if (is_needed_by(op->r, &op->key, other, sw_json_get(other, "status")))
            heir = other;
    }
    if (!heir && a->code == 0 && a->more)
        return;
    if (heir) {
        become_handover(op, heir);
        sw_kube_cancel(op->req);
    }
    op->req = NULL;
    if ((a->code < 0 && a->code != SW_FORBIDDEN) || !kind)
        op_answer_of(op, a); /* the engine tries again */
    else if (heir)
        begin_release(op, kind);
    else
        begin_delete(op, kind);
}

/* Of a controller that knows its own resource alone: whoever else there is is asked for. */
static void begin_delete_unneeded(struct op *op, const struct sw_kind *kind)
{
    struct sw_kube *kube = op->r->c->kube;
    const struct sw_kind *resources = sw_kube_kind_find(kube, SW_GROUP_VERSION, "SpecialResource");
    if (resources)
        op->req = sw_kube_list(kube, resources, NULL, REQUEST_OWN(OBJECTS, .retries = RETRIES),
                               on_others, op);
    else
        begin_delete(op, kind);
}

void request_delete(struct resource *r, const struct sw_action *a)
{
    struct op *op = action_op(r, a, SW_EV_DELETED);
    op->uid = sw_strdup(a->uid);
    op->propagation = sw_strdup(a->propagation);
    op->shared = sw_strdup(a->shared);
    op->begin = op->shared ? definition_begin_delete : begin_delete;
    struct json_object *heir = op->shared ? NULL : find_needing(r, &a->key);
    if (heir)
        become_handover(op, heir);
    else if (!op->shared && r->c->only && may_be_needed(&a->key))
        op->begin = begin_delete_unneeded;
    op_with_kind(op);
}

/* ---- labels of a node --------------------------------------------------------------------------
 */

/* After a conflict: the engine compares with the labels of now. */
static void on_reread(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct sw_controller *c = op->r->c;
    uint32_t node = op->node;
    op->req = NULL;
    bool changed = a->code == 0 && a->object && cluster_put_node(c, node, a->object);
    op_answer(op, a->code < 0 ? a->code : SW_CONFLICT, answer_message(a), NULL, NULL);
    if (changed)
        cluster_node_changed(c, node);
}

static void on_labeled(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct sw_controller *c = op->r->c;
    uint32_t node = op->node;
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, "v1", "Node");
    op->req = NULL;
    if (a->code == SW_CONFLICT && kind) {
        op->req = sw_kube_get(c->kube, kind, NULL, op->key.name,
                              REQUEST_OWN(NODES, .retries = RETRIES), on_reread, op);
        return;
    }
    bool changed = a->code == 0 && a->object && cluster_put_node(c, node, a->object);
    op_answer(op, a->code, answer_message(a), NULL, NULL);
    if (changed) /* labels of others, too, which the watch will not report as new any more */
        cluster_node_changed(c, node);
}

static void begin_label(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, op->key.name, SW_PATCH_MERGE, op->doc,
                            REQUEST_OWN(NODES, .retries = RETRIES), on_labeled, op);
    json_object_put(SW_TAKE(op->doc)); /* the request has its text: thousands may be queued */
}

/* The merge patch of labels and taints. A list of taints replaces all, so it is good only for the
 * version of the node that was read. */
static struct json_object *node_patch(const struct sw_action *a)
{
    struct json_object *body = json_object_new_object();
    if (sw_json_len(a->doc))
        sw_json_set(body, json_object_get(a->doc), "metadata", "labels", NULL);
    if (!a->retaint)
        return body;
    SW_AUTO_CHARS *version = sw_printf("%" PRIu64, a->version);
    if (a->version)
        sw_json_set_str(body, version, "metadata", "resourceVersion", NULL);
    sw_json_set(body, a->record ? json_object_new_string(a->record) : NULL, "metadata",
                "annotations", SW_TAINTS_ANNOTATION, NULL);
    sw_json_set(body, sw_json_len(a->taints) ? json_object_get(a->taints) : NULL, "spec", "taints",
                NULL);
    return body;
}

void request_label(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Node", NULL, a->key.name }, a->serial);
    op->answer = SW_EV_LABELED;
    op->failed = op_failed;
    op->node = a->node;
    op->doc = node_patch(a);
    EACH_CAPABILITY(node_patch, r, a->key.name, op->doc);
    op->begin = begin_label;
    op_with_kind(op);
}

/* ---- logs --------------------------------------------------------------------------------------
 */

static void on_logs(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    const char *text = a->text ? a->text : "";
    size_t skip = a->len_bytes > op->n_bytes ? a->len_bytes - op->n_bytes : 0;
    SW_AUTO_CHARS *tail = a->code == 0 ? sw_strndup(text + skip, a->len_bytes - skip) : NULL;
    op_answer(op, a->code, answer_message(a), NULL, tail);
}

void request_logs(struct resource *r, const struct sw_action *a)
{
    struct op *op = action_op(r, a, SW_EV_LOGS);
    op->n_bytes = a->n_bytes;
    /* the server counts lines, not bytes from the end: a few lines hold the bytes asked for */
    op->req = sw_kube_logs(
        r->c->kube, op->key.ns, op->key.name,
        REQUEST_AS(r, .container = a->container, .tail_lines = 20, .retries = RETRIES), on_logs,
        op);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* Does it only name the state of a container, "Error: ImagePullBackOff"? */
static bool says_state_only(struct json_object *event)
{
    const char *message = sw_json_str(event, "", "message", NULL);
    return sw_starts_with(message, "Error: ") && !strchr(message + strlen("Error: "), ' ');
}

/* Warnings that stop nothing, and are repeated: kubelet's about resolv.conf. */
static bool is_harmless(struct json_object *event)
{
    static const char *const reasons[] = { "MissingClusterDNS", "DNSConfigForming",
                                           "CheckLimitsForResolvConf" };
    const char *reason = sw_json_str(event, "", "reason", NULL);
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        if (sw_streq(reason, reasons[i]))
            return true;
    return false;
}

/* Of a pod's pull secret that is not there: kubelet goes on without it. */
static bool is_of_secret(struct json_object *event)
{
    return sw_streq(sw_json_str(event, "", "reason", NULL), "FailedToRetrieveImagePullSecret");
}

/* Keep the newest of its sort in @newest, {"secret", "other"}. */
static void keep_newest(struct json_object *newest, struct json_object *event)
{
    const char *sort = is_of_secret(event) ? "secret" : "other";
    struct json_object *before = sw_json_get(newest, sort);
    if (says_state_only(event) || is_harmless(event) ||
        (before && strcmp(sw_kube_event_time(event), sw_kube_event_time(before)) < 0))
        return;
    sw_json_set(newest, sw_json_copy(event), sort, NULL);
}

/* What the newest says. Of one try to pull an image both, that about the pull secret in a line
 * before: it may be why, and the image's own error is what stops the pod. Heap; NULL: there is
 * none. */
static char *newest_text(struct json_object *newest)
{
    enum { ONE_TRY_MS = 60000 };
    struct json_object *secret = sw_json_get(newest, "secret"),
                       *other = sw_json_get(newest, "other");
    SW_ERR(ignored);
    int64_t secret_ms, other_ms;
    const char *text = sw_json_str(other, NULL, "message", NULL),
               *before = sw_json_str(secret, NULL, "message", NULL);
    if (!text || !before)
        return sw_strdup(text ? text : before);
    if (sw_time_parse(sw_kube_event_time(secret), &secret_ms, &ignored) == 0 &&
        sw_time_parse(sw_kube_event_time(other), &other_ms, &ignored) == 0 &&
        llabs((long long)(secret_ms - other_ms)) <= ONE_TRY_MS)
        return sw_printf("%s\n%s", before, text);
    return sw_strdup(strcmp(sw_kube_event_time(other), sw_kube_event_time(secret)) >= 0 ? text
                                                                                        : before);
}

static void on_warnings(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    if (!op->doc)
        op->doc = json_object_new_object();
    for (size_t i = 0; a->code == 0 && i < sw_json_len(a->items); i++)
        keep_newest(op->doc, sw_json_at(a->items, i));
    if (a->more)
        return;
    op->req = NULL;
    SW_AUTO_CHARS *text = newest_text(op->doc);
    op_answer(op, a->code, answer_message(a), NULL, text);
}

void request_warnings(struct resource *r, const struct sw_action *a)
{
    struct op *op = action_op(r, a, SW_EV_WARNINGS);
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Event");
    SW_AUTO_CHARS *selector = sw_printf(
        "type=Warning,involvedObject.kind=%s,involvedObject.name=%s", op->key.kind, op->key.name);
    if (kind)
        op->req = sw_kube_list(r->c->kube, kind, op->key.ns,
                               REQUEST_AS(r, .field_selector = selector, .retries = RETRIES),
                               on_warnings, op);
    else
        op_answer(op, SW_NOTFOUND, "the server has no Events", NULL, NULL);
}

/* ---- finalizer ---------------------------------------------------------------------------------
 */

static void finalizer_answered(struct op *op, int code, const char *message)
{
    struct resource *r = op->r;
    SW_AUTO_CHARS *copy = sw_strdup(message);
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT) {
        op_again(op);
        return;
    }
    op_free(op);
    if (code < 0 && code != SW_NOTFOUND)
        r->own->driver->refuse(r, code, copy);
}

static void on_finalizer(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    finalizer_answered(op, a->code, answer_message(a));
}

static void begin_finalizer(struct op *op, const struct sw_kind *kind)
{
    struct resource *r = op->r;
    if (resource_is_held(r) == op->force) {
        op_free(op); /* done meanwhile */
        return;
    }
    SW_AUTO_JSON *body = json_object_new_object();
    struct json_object *list = json_object_new_array(),
                       *now = sw_json_find(r->doc, "metadata", "finalizers", NULL);
    for (size_t i = 0; i < sw_json_len(now); i++) {
        const char *name = json_object_get_string(sw_json_at(now, i));
        if (!sw_streq(name, SW_FINALIZER) && !sw_streq(name, SW_OLD_FINALIZER))
            (void)json_object_array_add(list, json_object_new_string(name ? name : ""));
    }
    if (op->force)
        (void)json_object_array_add(list, json_object_new_string(SW_FINALIZER));
    sw_json_set(body, list, "metadata", "finalizers", NULL);
    sw_json_set_str(body, sw_json_str(r->doc, "", "metadata", "resourceVersion", NULL), "metadata",
                    "resourceVersion", NULL);
    op->req = sw_kube_patch(r->c->kube, kind, NULL, r->name, SW_PATCH_MERGE, body,
                            REQUEST_OWN(KINDS, .retries = 8), on_finalizer, op);
}

void request_finalizer(struct resource *r, bool add)
{
    struct op *op = op_new_own(r, 0);
    op->force = add;
    op->begin = begin_finalizer;
    op->failed = finalizer_answered;
    op_with_kind(op);
}
