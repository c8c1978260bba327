/* Subresources that are not fields of the object: scale, eviction, binding, token; and the
 * kinds that are answered but never stored. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/admission/node_restriction.h"
#include "emulator/admission/pdb.h"
#include "emulator/api/authorize.h"
#include "emulator/api/reviews.h"
#include "emulator/api/verbs.h"
#include "emulator/schema/crd.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

/* ---- scale --------------------------------------------------------------------------------------
 */

/* A path of the scale subresource in a CRD ("specReplicasPath"), without its first dot. */
static const char *scale_path(const struct sw_req *req, const char *name, const char *otherwise)
{
    const char *path = sw_json_str(sw_crd_version(req->kind, req->version), otherwise,
                                   "subresources", "scale", name, NULL);
    return path + (path[0] == '.');
}

static const char *replicas_path(const struct sw_req *req)
{
    return scale_path(req, "specReplicasPath", "spec.replicas");
}

static char *scale_selector(struct sw_req *req, json_object *doc)
{
    struct sw_selector selector = { 0 };
    const char *path = scale_path(req, "labelSelectorPath", req->kind->crd ? "" : "spec.selector");
    json_object *own = path[0] ? sw_doc_at(doc, path) : NULL;
    if (json_object_is_type(own, json_type_string))
        return sw_strdup(json_object_get_string(own));
    if (!own || sw_selector_from_object(own, &selector, NULL) < 0)
        return sw_strdup("");
    char *text = sw_selector_text(&selector);
    sw_selector_done(&selector);
    return text;
}

static json_object *scale_of(struct sw_req *req, json_object *doc)
{
    static const char *const meta[] = { "name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp" };
    const char *status_path = scale_path(req, "statusReplicasPath", "status.replicas");
    int64_t replicas = json_object_get_int64(sw_doc_at(doc, replicas_path(req)));
    int64_t current = json_object_get_int64(sw_doc_at(doc, status_path));
    json_object *scale = sw_doc_new("kind", sw_str("Scale"), "apiVersion", sw_str("autoscaling/v1"),
                                    NULL),
                *value;
    SW_AUTO_CHARS *selector = scale_selector(req, doc);
    for (size_t i = 0; i < SW_COUNT(meta); i++)
        if ((value = sw_json_find(doc, "metadata", meta[i], NULL)))
            sw_json_set(scale, json_object_get(value), "metadata", meta[i], NULL);
    sw_json_set(scale, sw_int(replicas), "spec", "replicas", NULL);
    sw_json_set(scale, sw_int(current), "status", "replicas", NULL);
    if (selector[0])
        sw_json_set_str(scale, selector, "status", "selector", NULL);
    return scale;
}

struct scaling {
    struct sw_req *req;
    int64_t replicas;
    const char *version; /* the caller's resourceVersion, or NULL */
};

static int set_replicas(json_object *doc, void *arg)
{
    struct scaling *s = arg;
    const char *keys[8];
    size_t n = 0;
    SW_AUTO_CHARS *path = sw_strdup(replicas_path(s->req));
    for (char *at = path; at && n < SW_COUNT(keys);) {
        char *dot = strchr(at, '.');
        keys[n++] = at;
        if (dot)
            *dot++ = '\0';
        at = dot;
    }
    sw_json_set_at(doc, sw_int(s->replicas), keys, n);
    if (s->version)
        sw_json_set_str(doc, s->version, "metadata", "resourceVersion", NULL);
    return 0;
}

/* Read the Scale of a PUT, or make it by a PATCH of @now. */
static int read_scale(struct sw_req *req, json_object *now, json_object **scale,
                      struct sw_status *status)
{
    SW_AUTO_JSON *body = NULL;
    SW_ERR(err);
    int rc = 0;
    if (strcmp(req->info.verb, "update") == 0) {
        rc = sw_rest_body(req, scale, status);
    } else if (sw_json_parse(req->body, req->body_len, NULL, &body, &err) < 0) {
        rc = sw_status_bad_request(status, "%s", sw_err_text(&err));
    } else if (json_object_is_type(body, json_type_array)) {
        if (sw_jsonpatch_apply(now, body, scale, &err) < 0)
            rc = sw_status_bad_request(status, "%s", sw_err_text(&err));
    } else {
        *scale = sw_merge_apply(now, body);
    }
    if (rc == 0 &&
        !json_object_is_type(sw_json_find(*scale, "spec", "replicas", NULL), json_type_int))
        rc = sw_status_set(status, 422, "Invalid",
                           "Scale.autoscaling \"%s\" is invalid: "
                           "spec.replicas: Required value",
                           req->name);
    return rc;
}

static void scale(struct sw_req *req, struct sw_object *object)
{
    SW_STATUS(status);
    SW_AUTO_JSON *now = scale_of(req, object->now->doc), *body = NULL;
    struct sw_store_opts opts;
    if (strcmp(req->info.verb, "get") == 0) {
        sw_rest_send_doc(req, 200, SW_TAKE(now));
        return;
    }
    int rc = sw_rest_write_opts(req, &opts, &status);
    if (rc == 0)
        rc = read_scale(req, now, &body, &status);
    if (rc == 0) {
        const char *version = sw_json_str(body, NULL, "metadata", "resourceVersion", NULL);
        struct scaling s = { req, sw_json_int(body, 0, "spec", "replicas", NULL), version };
        rc = sw_store_modify(req->store, req->kind, req->ns, req->name, &opts, set_replicas, &s,
                             &status);
    }
    if (rc < 0)
        sw_rest_send_status(req, &status);
    else
        sw_rest_send_doc(req, 200,
                         scale_of(req, sw_store_get(req->store, req->kind, req->ns, req->name)));
}

/* ---- eviction -----------------------------------------------------------------------------------
 */

static int check_eviction(struct sw_req *req, json_object *body, struct sw_status *status)
{
    const char *version = sw_obj_api_version(body);
    bool v1 = strcmp(version, "policy/v1") == 0, beta = strcmp(version, "policy/v1beta1") == 0;
    /* No release has removed v1beta1 of this subresource. */
    if ((v1 && sw_store_minor(req->store) >= 22) || beta || !version[0])
        return 0;
    return sw_status_bad_request(status,
                                 "Eviction in version \"%s\" cannot be handled as a Eviction: no "
                                 "kind \"Eviction\" is registered for version \"%s\"",
                                 strchr(version, '/') ? strchr(version, '/') + 1 : version,
                                 version);
}

static void evict(struct sw_req *req, struct sw_object *object)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    struct sw_store_opts opts;
    int rc = sw_rest_write_opts(req, &opts, &status);
    if (rc == 0)
        rc = sw_rest_body(req, &body, &status);
    if (rc == 0)
        rc = check_eviction(req, body, &status);
    if (rc == 0 && req->rbac)
        rc = sw_node_may_evict(req->store, opts.user, object->now->doc, &status);
    if (rc == 0)
        rc = sw_pdb_allow(req->store, object->now->doc, &status);
    if (rc == 0) {
        sw_rest_delete_opts(sw_json_get(body, "deleteOptions"), &opts);
        rc = sw_store_delete(req->store, req->kind, req->ns, req->name, &opts, NULL, &status);
    }
    if (rc == 0) {
        sw_status_done(&status);
        status.code = 201;
    }
    sw_rest_send_status(req, &status);
}

/* ---- binding ------------------------------------------------------------------------------------
 */

struct binding {
    const char *node;
    int64_t now_ms;
    struct sw_status *status;
};

static int bind_to(json_object *pod, void *arg)
{
    struct binding *b = arg;
    const char *before = sw_json_str(pod, "", "spec", "nodeName", NULL);
    if (before[0])
        return sw_status_set(b->status, 409, "Conflict",
                             "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is "
                             "already assigned to node \"%s\"",
                             sw_obj_name(pod), sw_obj_name(pod), before);
    sw_json_set_str(pod, b->node, "spec", "nodeName", NULL);
    (void)sw_cond_set(sw_json_need_list(pod, "status", "conditions", NULL), "PodScheduled", "True",
                      NULL, NULL, b->now_ms);
    return 0;
}

static void bind_pod(struct sw_req *req, const char *name, json_object *body)
{
    SW_STATUS(status);
    struct sw_store_opts opts;
    const struct sw_emu_kind *pods = sw_store_kind(req->store, "", "Pod");
    struct binding b = { .node = sw_json_str(body, "", "target", "name", NULL),
                         .now_ms = sw_loop_now_ms(sw_store_loop(req->store)),
                         .status = &status };
    int rc = sw_rest_write_opts(req, &opts, &status);
    opts.subresource = "binding";
    if (rc == 0 && !b.node[0])
        rc = sw_status_bad_request(&status, "target.name: Required value");
    if (rc == 0)
        rc = sw_store_modify(req->store, pods, req->ns, name, &opts, bind_to, &b, &status);
    if (rc == 0) {
        sw_status_done(&status);
        status.code = 201;
    }
    sw_rest_send_status(req, &status);
}

static void binding(struct sw_req *req, struct sw_object *object)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    if (sw_rest_body(req, &body, &status) < 0)
        sw_rest_send_status(req, &status);
    else
        bind_pod(req, object->name, body);
}

/* ---- token --------------------------------------------------------------------------------------
 */

/* The pod that a token is to be bound to, of its boundObjectRef. @return 0 | SW_NOTFOUND */
static int find_bound(struct sw_req *req, const char *ns, json_object *body, json_object **pod,
                      struct sw_status *status)
{
    const struct sw_emu_kind *kind = sw_store_kind(req->store, "", "Pod");
    const char *name = sw_json_str(body, NULL, "spec", "boundObjectRef", "name", NULL);
    if (!name ||
        !sw_streq(sw_json_str(body, "", "spec", "boundObjectRef", "kind", NULL), kind->kind))
        return 0;
    *pod = sw_store_get(req->store, kind, ns, name);
    return *pod ? 0 : sw_status_not_found(status, kind, name);
}

static void token(struct sw_req *req, struct sw_object *object)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    char uid[37], ends[21];
    if (sw_rest_body(req, &body, &status) < 0 || !json_object_is_type(body, json_type_object)) {
        (void)sw_status_bad_request(&status, "the object provided is unrecognized");
        sw_rest_send_status(req, &status);
        return;
    }
    json_object *pod = NULL;
    SW_AUTO_JSON *user = sw_rest_review_user(req);
    if ((req->rbac && sw_node_may_request_token(req->store, user, object->ns, object->name, body,
                                                &status) < 0) ||
        find_bound(req, object->ns, body, &pod, &status) < 0) {
        sw_rest_send_status(req, &status);
        return;
    }
    int64_t seconds = sw_json_int(body, 3600, "spec", "expirationSeconds", NULL);
    int64_t now_ms = sw_loop_now_ms(sw_store_loop(req->store));
    json_object *out = sw_json_copy(body);
    SW_AUTO_CHARS *text = sw_reviews_token(object->ns, object->name, now_ms / 1000 + seconds,
                                           pod ? sw_json_str(pod, "", "metadata", "uid", NULL)
                                               : sw_store_uid(req->store, uid),
                                           pod != NULL);
    sw_json_set_str(out, "authentication.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(out, "TokenRequest", "kind", NULL);
    sw_json_set_str(out, text, "status", "token", NULL);
    sw_json_set_str(out, sw_time_rfc3339(now_ms + seconds * 1000, ends), "status",
                    "expirationTimestamp", NULL);
    sw_rest_send_doc(req, 201, out);
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static void not_implemented(struct sw_req *req, struct sw_object *object SW_UNUSED)
{
    sw_rest_send_error(req, 501, "NotImplemented", "the emulated cluster has no %s",
                       req->subresource);
}

static const struct {
    const char *plural; /* NULL: any */
    const char *name, *verbs;
    void (*answer)(struct sw_req *req, struct sw_object *object);
} rows[] = {
    { NULL, "scale", "get update patch", scale },
    { "pods", "log", "get", sw_rest_log },
    { "pods", "eviction", "create", evict },
    { "pods", "binding", "create", binding },
    { "serviceaccounts", "token", "create", token },
    { "pods", "exec", "get create", not_implemented },
    { "pods", "attach", "get create", not_implemented },
    { "pods", "portforward", "get create", not_implemented },
    { "nodes", "proxy", "get create update patch delete", not_implemented },
};

bool sw_rest_subresource(struct sw_req *req)
{
    if (sw_streq(req->subresource, "proxy") && !sw_streq(req->resource, "nodes")) {
        sw_rest_proxy(req); /* req->name is more than the object's name */
        return true;
    }
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        if (strcmp(rows[i].name, req->subresource) != 0 ||
            (rows[i].plural && strcmp(rows[i].plural, req->resource) != 0) ||
            !strstr(rows[i].verbs, req->info.verb))
            continue;
        struct sw_object *object = sw_rest_find(req, req->name);
        if (object)
            rows[i].answer(req, object);
        return true;
    }
    return false;
}

/* ---- kinds that are never stored ----------------------------------------------------------------
 */

void sw_rest_virtual(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    int rc = sw_rest_body(req, &body, &status);
    if (rc == 0 && !json_object_is_type(body, json_type_object))
        rc = sw_status_bad_request(&status, "the object provided is unrecognized");
    if (rc < 0) {
        sw_rest_send_status(req, &status);
        return;
    }
    if (strcmp(req->kind->kind, "Binding") == 0) {
        bind_pod(req, sw_obj_name(body), body);
        return;
    }
    json_object *out = sw_json_copy(body);
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    sw_json_set_str(out, api_version, "apiVersion", NULL);
    sw_json_set_str(out, req->kind->kind, "kind", NULL);
    sw_reviews_answer(req, out);
    sw_rest_send_doc(req, 201, out);
}
