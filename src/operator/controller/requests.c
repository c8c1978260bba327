/* The engine's wishes as requests, and their answers as its events. */
#include "operator/controller/apply/apply.h"
#include "operator/controller/private.h"
#include "operator/manifests/ownership.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 2 };

static char *copy_of(const char *s)
{
    return s ? sw_strdup(s) : NULL;
}

/* Tell the engine the answer, after the op that waited for it is gone. */
void op_answer(struct op *op, enum sw_event_kind kind, int code, const char *message,
               struct json_object *object, const char *text)
{
    struct resource *r = op->r;
    struct op copy = *op;
    SW_AUTO_CHARS *copied = message ? sw_strdup(message) : NULL;
    /* the key outlives the op for the step */
    op->key = (struct sw_key){ 0 };
    op->release = NULL;
    op_free(op);
    if (kind == SW_EV_LABELED)
        capabilities_node_patched(r, copy.key.name, code);
    resource_step(r, &(struct sw_event){ .kind = kind,
                                         .serial = copy.serial,
                                         .key = copy.key,
                                         .node = copy.node,
                                         .code = code,
                                         .message = copied,
                                         .object = object,
                                         .text = text });
    sw_key_done(&copy.key);
}

static const char *answer_message(const struct sw_kube_answer *a)
{
    return a->code < 0 ? sw_err_text(a->err) : NULL;
}

/* ---- apply -------------------------------------------------------------------------------------
 */

static void tell_dropped(struct op *op)
{
    SW_AUTO_CHARS *message = sw_printf("%s %s: this API server does not know %s: applied without",
                                       op->key.kind, op->key.name, op->dropped);
    sw_log(SW_LOG_WARN, "fields left out", "resource", op->r->name, "kind", op->key.kind, "name",
           op->key.name, "fields", op->dropped, NULL);
    event_record(op->r, &(struct sw_action){ .reason = "FieldsDropped",
                                             .message = message,
                                             .warning = true,
                                             .at_ms = sw_loop_now_ms(op->r->c->loop) });
    free(SW_TAKE(op->dropped));
}

/* Without what the server does not know, or written as it wants it. @return false: that is not what
 * it refused */
static bool apply_without(struct op *op, const struct sw_kube_answer *a)
{
    if (a->code != SW_INVALID)
        return false;
    struct json_object *less = sw_json_copy(op->doc);
    if (!unknown_fields_drop(less, sw_err_text(a->err), &op->dropped) &&
        !quantity_write_out(less, sw_err_text(a->err))) {
        json_object_put(less);
        return false;
    }
    json_object_put(op->doc);
    op->doc = less;
    op_with_kind(op);
    return true;
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (apply_without(op, a))
        return;
    if (a->code == 0 && op->dropped && !op->dry_run)
        tell_dropped(op);
    if (a->code == 0 && a->object)
        (void)sw_json_del(a->object, "metadata", "managedFields", NULL);
    if (a->http_status == 201 && !op->dry_run && sw_streq(op->key.kind, "Namespace"))
        informer_namespace_is_new(op->r->c->informer, op->key.name);
    op_answer(op, SW_EV_APPLIED, a->code, answer_message(a), a->object, NULL);
}

static void begin_apply(struct op *op, const struct sw_kind *kind)
{
    SW_AUTO_CHARS *account = resource_account(op->r);
    const char *ns = kind->namespaced ? op->key.ns : NULL;
    op->req = sw_kube_apply(
        op->r->c->kube, kind, ns, op->key.name, op->doc,
        &(struct sw_request_opts){
            .force = op->force, .dry_run = op->dry_run, .retries = RETRIES, .as_user = account },
        on_applied, op);
}

static void apply_failed(struct op *op, int code, const char *message)
{
    op_answer(op, SW_EV_APPLIED, code, message, NULL, NULL);
}

void request_apply(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->doc = json_object_get(a->doc);
    op->force = a->force;
    op->dry_run = a->dry_run;
    op->apply = begin_apply;
    op->begin = a->inherit ? inherit_begin : begin_apply;
    op->failed = apply_failed;
    op_with_kind(op);
}

/* ---- delete ------------------------------------------------------------------------------------
 */

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    op_answer(op, SW_EV_DELETED, a->code, answer_message(a), a->object, NULL);
}

static void begin_delete(struct op *op, const struct sw_kind *kind)
{
    SW_AUTO_CHARS *account = resource_account(op->r);
    const char *ns = kind->namespaced ? op->key.ns : NULL;
    op->req = sw_kube_delete(op->r->c->kube, kind, ns, op->key.name,
                             &(struct sw_request_opts){ .uid = op->uid,
                                                        .propagation = op->propagation,
                                                        .retries = RETRIES,
                                                        .as_user = account },
                             on_deleted, op);
}

static void delete_failed(struct op *op, int code, const char *message)
{
    op_answer(op, SW_EV_DELETED, code, message, NULL, NULL);
}

void request_delete(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->uid = copy_of(a->uid);
    op->propagation = copy_of(a->propagation);
    op->begin = begin_delete;
    op->failed = delete_failed;
    op_with_kind(op);
}

/* ---- orphan: slipway's marks are removed, the object stays
 * -------------------------------------------
 */

static void release_answered(struct op *op, int code, const char *message)
{
    if (code == SW_CONFLICT || code == SW_UNAVAILABLE)
        op_again(op);
    else
        op_answer(op, SW_EV_RELEASED, code, message, NULL, NULL);
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
    struct json_object *body = sw_ownership_release(a->object, op->r->uid);
    if (!body || !kind) {
        json_object_put(body);
        release_answered(op, kind ? 0 : SW_UNAVAILABLE, NULL);
        return;
    }
    op->req = sw_kube_patch(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL,
                            op->key.name, SW_PATCH_MERGE, body,
                            &(struct sw_request_opts){ .retries = RETRIES }, on_released, op);
    json_object_put(body);
}

static void begin_release(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL, op->key.name,
                          &(struct sw_request_opts){ .retries = RETRIES }, on_release_read, op);
}

void request_release(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->uid = copy_of(a->uid);
    op->begin = begin_release;
    op->failed = release_answered;
    op_with_kind(op);
}

/* ---- labels of a node --------------------------------------------------------------------------
 */

/* @return whether the roster has it now */
static bool put_node(struct sw_controller *c, uint32_t node, struct json_object *doc)
{
    const char *version = sw_json_str(doc, "0", "metadata", "resourceVersion", NULL);
    bool changed = sw_node_set_put_labels(
        c->nodes, node, sw_json_find(doc, "metadata", "labels", NULL), strtoull(version, NULL, 10));
    if (changed)
        sw_node_set_put_taints(
            c->nodes, node, sw_json_find(doc, "spec", "taints", NULL),
            sw_json_str(doc, "", "metadata", "annotations", SW_TAINTS_ANNOTATION, NULL));
    return changed;
}

/* It was changed by somebody else meanwhile: what is it now? */
static void on_reread(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct sw_controller *c = op->r->c;
    uint32_t node = op->node;
    op->req = NULL;
    bool changed = a->code == 0 && a->object && put_node(c, node, a->object);
    op_answer(op, SW_EV_LABELED, a->code < 0 ? a->code : SW_CONFLICT, answer_message(a), NULL,
              NULL);
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
                              &(struct sw_request_opts){ .retries = RETRIES }, on_reread, op);
        return;
    }
    bool changed = a->code == 0 && a->object && put_node(c, node, a->object);
    op_answer(op, SW_EV_LABELED, a->code, answer_message(a), NULL, NULL);
    if (changed) /* others' labels, too: the watch will bring nothing that is new then */
        cluster_node_changed(c, node);
}

static void begin_label(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, op->key.name, SW_PATCH_MERGE, op->doc,
                            &(struct sw_request_opts){ .retries = RETRIES }, on_labeled, op);
    json_object_put(SW_TAKE(op->doc)); /* the request has its text: thousands may wait in line */
}

/* The whole patch. A list of taints is only good for the node as it was read. */
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

static void label_failed(struct op *op, int code, const char *message)
{
    op_answer(op, SW_EV_LABELED, code, message, NULL, NULL);
}

void request_label(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &(struct sw_key){ "v1", "Node", NULL, a->key.name }, a->serial);
    op->node = a->node;
    op->doc = node_patch(a);
    capabilities_node_patch(r, a->key.name, op->doc);
    op->begin = begin_label;
    op->failed = label_failed;
    op_with_kind(op);
}

/* ---- status ------------------------------------------------------------------------------------
 */

static void on_status_written(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct resource *r = op->r;
    op->req = NULL;
    if (a->code == 0) {
        json_object_put(r->status);
        r->status = json_object_get(op->doc);
    } else {
        /* the one thing that the status cannot say */
        sw_log(SW_LOG_WARN, "status not written", "resource", r->name, "why", answer_message(a),
               NULL);
    }
    op_answer(op, SW_EV_STATUS_WRITTEN, a->code, answer_message(a), NULL, NULL);
}

/* What others may have added to the status stays: only what differs is sent. */
static void begin_status(struct op *op, const struct sw_kind *kind)
{
    struct resource *r = op->r;
    struct json_object *body = json_object_new_object(), *empty = json_object_new_object();
    (void)json_object_object_add(body, "status",
                                 sw_merge_create(r->status ? r->status : empty, op->doc));
    op->req = sw_kube_patch(
        r->c->kube, kind, NULL, r->name, SW_PATCH_MERGE, body,
        &(struct sw_request_opts){ .subresource = "status", .retries = RETRIES }, on_status_written,
        op);
    json_object_put(body);
    json_object_put(empty);
}

static void status_failed(struct op *op, int code, const char *message)
{
    op_answer(op, SW_EV_STATUS_WRITTEN, code, message, NULL, NULL);
}

static const struct sw_key *own_key(struct resource *r, struct sw_key *key)
{
    *key = (struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, r->name };
    return key;
}

void request_status(struct resource *r, const struct sw_action *a)
{
    struct sw_key key;
    struct op *op = op_new(r, own_key(r, &key), a->serial);
    op->doc = json_object_get(a->doc);
    op->begin = begin_status;
    op->failed = status_failed;
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
    op_answer(op, SW_EV_LOGS, a->code, answer_message(a), NULL, tail);
}

void request_logs(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->n_bytes = a->n_bytes;
    /* the server counts lines, not bytes from the end: a few lines hold the bytes asked for */
    op->req = sw_kube_logs(r->c->kube, op->key.ns, op->key.name,
                           &(struct sw_request_opts){
                               .container = a->container, .tail_lines = 20, .retries = RETRIES },
                           on_logs, op);
}

/* ---- finalizer ---------------------------------------------------------------------------------
 */

static void finalizer_answered(struct op *op, int code, const char *message)
{
    struct resource *r = op->r;
    SW_AUTO_CHARS *copy = message ? sw_strdup(message) : NULL;
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
        op_free(op); /* somebody else has done it meanwhile */
        return;
    }
    struct json_object *body = json_object_new_object(), *list = json_object_new_array(),
                       *now = sw_json_find(r->doc, "metadata", "finalizers", NULL);
    for (size_t i = 0; i < sw_json_len(now); i++) {
        const char *name = json_object_get_string(sw_json_at(now, i));
        bool ours = sw_streq(name, SW_FINALIZER) || sw_streq(name, SW_OLD_FINALIZER);
        if (!ours)
            (void)json_object_array_add(list, json_object_new_string(name ? name : ""));
    }
    if (op->force)
        (void)json_object_array_add(list, json_object_new_string(SW_FINALIZER));
    sw_json_set(body, list, "metadata", "finalizers", NULL);
    sw_json_set_str(body, sw_json_str(r->doc, "", "metadata", "resourceVersion", NULL), "metadata",
                    "resourceVersion", NULL);
    op->req = sw_kube_patch(r->c->kube, kind, NULL, r->name, SW_PATCH_MERGE, body,
                            &(struct sw_request_opts){ .retries = 8 }, on_finalizer, op);
    json_object_put(body);
}

void request_finalizer(struct resource *r, bool add)
{
    struct sw_key key;
    struct op *op = op_new(r, own_key(r, &key), 0);
    op->force = add;
    op->begin = begin_finalizer;
    op->failed = finalizer_answered;
    op_with_kind(op);
}
