/* create, update, patch, delete. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/webhook.h"
#include "emulator/api/authorize.h"
#include "emulator/api/convert.h"
#include "emulator/api/verbs.h"
#include "emulator/formats/protobuf.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

/* ---- the body -----------------------------------------------------------------------------------
 */

static bool is_type(const char *type, const char *expected)
{
    size_t len = strlen(expected);
    return strncasecmp(type, expected, len) == 0 &&
           (type[len] == '\0' || type[len] == ';' || type[len] == ' ');
}

static int unknown_type(const char *accepted, struct sw_status *status)
{
    return sw_status_set(status, 415, "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types "
                         "include: %s",
                         accepted);
}

static int parse_yaml(struct sw_req *req, json_object **out, struct sw_status *status)
{
    SW_ERR(err);
    struct sw_yaml_opts opts = { .max_depth = 256 };
    if (sw_yaml_parse(req->body, req->body_len, &opts, out, &err) < 0)
        return sw_status_bad_request(status, "error decoding YAML: %s", sw_err_text(&err));
    return 0;
}

static int parse_json(struct sw_req *req, json_object **out, struct sw_status *status)
{
    SW_ERR(err);
    struct sw_json_opts opts = { .max_depth = 256 };
    if (sw_json_parse(req->body, req->body_len, &opts, out, &err) < 0)
        return sw_status_bad_request(status,
                                     "the object provided is unrecognized (must be of type %s): "
                                     "%s",
                                     req->kind ? req->kind->kind : "object", sw_err_text(&err));
    return 0;
}

int sw_rest_body(struct sw_req *req, json_object **out, struct sw_status *status)
{
    const char *type = req->info.content_type ? req->info.content_type : "application/json";
    if (is_type(type, "application/yaml"))
        return parse_yaml(req, out, status);
    if (is_type(type, "application/json"))
        return parse_json(req, out, status);
    if (!is_type(type, "application/vnd.kubernetes.protobuf"))
        return unknown_type("application/json, application/yaml, "
                            "application/vnd.kubernetes.protobuf",
                            status);
    SW_ERR(err);
    int rc = sw_protobuf_read(req->body, req->body_len, out, &err);
    if (rc == SW_NOTFOUND) /* custom resources have no protobuf format */
        return sw_status_set(status, 415, "UnsupportedMediaType", "%s", sw_err_text(&err));
    return rc < 0 ? sw_status_bad_request(status, "%s", sw_err_text(&err)) : 0;
}

/* ---- options ------------------------------------------------------------------------------------
 */

/* Whether a parameter has one of its values, @choices ("Ignore,Warn,Strict"), or none. */
static int check_choice(struct sw_req *req, const char *name, const char *choices,
                        struct sw_status *status)
{
    const char *value = sw_req_param(req, name);
    if (!value || !value[0] || sw_names_contain(choices, value))
        return 0;
    return sw_status_set(status, 422, "Invalid",
                         "WriteOptions.meta.k8s.io \"\" is invalid: %s: Unsupported value: \"%s\": "
                         "supported values: \"%.*s\"",
                         name, value, (int)strcspn(choices, ","), choices);
}

int sw_rest_write_opts(struct sw_req *req, struct sw_store_opts *opts, struct sw_status *status)
{
    int rc = check_choice(req, "dryRun", "All", status);
    if (rc == 0)
        rc = check_choice(req, "fieldValidation", "Ignore,Warn,Strict", status);
    if (rc < 0)
        return rc;
    const char *validation = sw_req_param(req, "fieldValidation");
    const char *manager = sw_req_param(req, "fieldManager");
    if (!manager || !manager[0])
        manager = req->user_agent && req->user_agent[0] ? req->user_agent : "unknown";
    bool is_agent = manager == req->user_agent; /* "kubectl/v1.32 ...": its first part */
    free(req->manager);                         /* where sw_rest_again() answers */
    req->manager = sw_strndup(manager, is_agent ? strcspn(manager, "/") : strlen(manager));
    json_object_put(req->review_user);
    req->review_user = sw_rest_review_user(req);
    *opts = (struct sw_store_opts){
        .subresource = req->subresource,
        .manager = req->manager,
        .version = req->version,
        .dry_run = sw_req_flag(req, "dryRun"),
        .force = sw_req_flag(req, "force"),
        .field_validation = validation && validation[0]        ? validation
                            : sw_store_minor(req->store) >= 25 ? "Warn"
                                                               : "Ignore",
        .guard = req->rbac ? sw_rest_guard : NULL,
        .guard_arg = req,
        .user = req->review_user,
        .allows = req->rbac ? sw_rest_allows : NULL,
    };
    return 0;
}

/* Call webhooks without blocking: sw_rest_again() answers the request when they have answered. */
static void use_session(struct sw_req *req, struct sw_store_opts *opts)
{
    if (!req->session && sw_webhooks_exist(req->store))
        req->session = sw_session_new(req->store, sw_rest_again, req);
    opts->session = req->session;
}

/* ---- create and update --------------------------------------------------------------------------
 */

/* apiVersion and kind of the body must be those of the path, or empty. */
static int check_type(struct sw_req *req, json_object *doc, struct sw_status *status)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_status_bad_request(status,
                                     "the object provided is unrecognized (must be of "
                                     "type %s): couldn't get version/kind; json parse "
                                     "error",
                                     req->kind->kind);
    const char *kind = sw_obj_kind(doc), *given = sw_obj_api_version(doc);
    SW_AUTO_CHARS *expected = sw_kind_api_version(req->kind, req->version);
    if (kind[0] && strcmp(kind, req->kind->kind) != 0)
        return sw_status_bad_request(status,
                                     "%s in version \"%s\" cannot be handled as a %s: "
                                     "converting (%s).%s to (%s).%s: unknown conversion",
                                     kind, req->version, req->kind->kind, given, kind, expected,
                                     req->kind->kind);
    if (given[0] && strcmp(given, expected) != 0)
        return sw_status_bad_request(status,
                                     "the API version in the data (%s) does not match the "
                                     "expected API version (%s)",
                                     given, expected);
    return 0;
}

static void answer(struct sw_req *req, int rc, int code, json_object *out, struct sw_status *status)
{
    if (rc == SW_PENDING)
        return; /* a webhook has not answered yet */
    sw_rest_add_warnings(req, SW_TAKE(status->warnings));
    if (rc < 0)
        sw_rest_send_status(req, status);
    else
        sw_rest_send_object(req, code, out);
}

/* Read options and object of a create or update. The object is in the stored version. */
static int read_object(struct sw_req *req, struct sw_store_opts *opts, json_object **doc,
                       struct sw_status *status)
{
    int rc = sw_rest_write_opts(req, opts, status);
    if (rc == 0)
        rc = sw_rest_body(req, doc, status);
    if (rc == 0)
        rc = check_type(req, *doc, status);
    if (rc < 0)
        return rc;
    use_session(req, opts);
    *doc = sw_rest_from_version(req->kind, req->version, *doc);
    return 0;
}

void sw_rest_create(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *doc = NULL, *out = NULL;
    struct sw_store_opts opts;
    int rc = read_object(req, &opts, &doc, &status);
    if (rc == 0) {
        sw_session_begin(req->session);
        rc = sw_write_create(req->store, req->kind, req->ns, SW_TAKE(doc), &opts, &out, &status);
        sw_session_end(req->session);
    }
    answer(req, rc, 201, out, &status);
}

void sw_rest_update(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *doc = NULL, *out = NULL;
    struct sw_store_opts opts;
    int rc = read_object(req, &opts, &doc, &status);
    if (rc == 0 && strcmp(sw_obj_name(doc), req->name) != 0)
        rc = sw_status_bad_request(&status,
                                   "the name of the object (%s) does not match the name "
                                   "on the URL (%s)",
                                   sw_obj_name(doc), req->name);
    if (rc == 0) {
        sw_session_begin(req->session);
        rc = sw_write_update(req->store, req->kind, req->ns, SW_TAKE(doc), &opts, &out, &status);
        sw_session_end(req->session);
    }
    answer(req, rc, 200, out, &status);
}

/* ---- patch --------------------------------------------------------------------------------------
 */

static const struct {
    const char *media;
    enum sw_patch_type type;
} patch_types[] = {
    { "application/json-patch+json", SW_PATCH_JSON },
    { "application/merge-patch+json", SW_PATCH_MERGE },
    { "application/strategic-merge-patch+json", SW_PATCH_STRATEGIC },
    { "application/apply-patch+yaml", SW_PATCH_APPLY },
};

static int patch_type(struct sw_req *req, enum sw_patch_type *type, struct sw_status *status)
{
    const char *media = req->info.content_type ? req->info.content_type : "";
    for (size_t i = 0; i < SW_COUNT(patch_types); i++) {
        if (!is_type(media, patch_types[i].media))
            continue;
        if (patch_types[i].type == SW_PATCH_STRATEGIC && req->kind->crd)
            break;
        *type = patch_types[i].type;
        return 0;
    }
    return unknown_type(req->kind->crd ? "application/json-patch+json, "
                                         "application/merge-patch+json, "
                                         "application/apply-patch+yaml"
                                       : "application/json-patch+json, "
                                         "application/merge-patch+json, "
                                         "application/strategic-merge-patch+json, "
                                         "application/apply-patch+yaml",
                        status);
}

static int read_patch(struct sw_req *req, enum sw_patch_type type, json_object **patch,
                      struct sw_status *status)
{
    if (type != SW_PATCH_APPLY)
        return parse_json(req, patch, status);
    int rc = parse_yaml(req, patch, status);
    if (rc < 0)
        return rc;
    if (!json_object_is_type(*patch, json_type_object))
        return sw_status_bad_request(status, "the applied configuration must be an object");
    const char *manager = sw_req_param(req, "fieldManager");
    if (!manager || !manager[0])
        return sw_status_set(status, 422, "Invalid",
                             "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required "
                             "value: is required for apply patch");
    if (!sw_obj_kind(*patch)[0] || !sw_obj_api_version(*patch)[0])
        return sw_status_bad_request(status, "invalid object type: apiVersion and kind must be "
                                             "set in an apply patch");
    rc = check_type(req, *patch, status);
    if (rc < 0)
        return rc;
    const char *name = sw_obj_name(*patch);
    if (name[0] && strcmp(name, req->name) != 0)
        return sw_status_bad_request(status,
                                     "the name of the object (%s) does not match the name "
                                     "on the URL (%s)",
                                     name, req->name);
    *patch = sw_rest_from_version(req->kind, req->version, *patch);
    if (!sw_obj_name(*patch)[0]) {
        json_object *named = sw_json_copy(*patch);
        sw_json_set_str(named, req->name, "metadata", "name", NULL);
        json_object_put(*patch);
        *patch = named;
    }
    return 0;
}

static json_object *to_version(json_object *doc, void *arg)
{
    const struct sw_req *req = arg;
    return sw_rest_to_version(req->kind, req->version, doc);
}

static json_object *from_version(json_object *doc, void *arg)
{
    const struct sw_req *req = arg;
    return sw_rest_from_version(req->kind, req->version, doc);
}

void sw_rest_patch(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *patch = NULL, *out = NULL;
    struct sw_store_opts opts;
    enum sw_patch_type type = SW_PATCH_MERGE;
    int rc = sw_rest_write_opts(req, &opts, &status);
    if (rc == 0)
        rc = patch_type(req, &type, &status);
    if (rc == 0)
        rc = read_patch(req, type, &patch, &status);
    bool existed = sw_store_object(req->store, req->kind, req->ns, req->name) != NULL;
    if (rc == 0 && !existed && type == SW_PATCH_APPLY && req->rbac)
        rc = sw_rest_may_create(req, &status);
    if (rc == 0) {
        use_session(req, &opts);
        if (sw_rest_is_converted(req->kind, req->version)) {
            opts.to = to_version;
            opts.from = from_version;
            opts.version_arg = req;
        }
        sw_session_begin(req->session);
        rc = sw_store_patch(req->store, req->kind, req->ns, req->name, type, patch, &opts, &out,
                            &status);
        sw_session_end(req->session);
    }
    answer(req, rc, existed ? 200 : 201, out, &status);
}

/* ---- delete -------------------------------------------------------------------------------------
 */

void sw_rest_delete_opts(json_object *options, struct sw_store_opts *opts)
{
    json_object *grace = sw_json_get(options, "gracePeriodSeconds");
    opts->grace_set = grace != NULL;
    opts->grace_period_s = json_object_get_int(grace);
    opts->dry_run = opts->dry_run || sw_json_len(sw_json_get(options, "dryRun")) > 0;
    opts->if_uid = sw_json_str(options, NULL, "preconditions", "uid", NULL);
    opts->if_version = sw_json_str(options, NULL, "preconditions", "resourceVersion", NULL);
    opts->subresource = NULL;
}

/* Read DeleteOptions from the body or the query. */
static int read_delete_opts(struct sw_req *req, json_object **body, struct sw_store_opts *opts,
                            struct sw_status *status)
{
    int rc = sw_rest_write_opts(req, opts, status);
    if (rc == 0 && req->body_len > 0)
        rc = sw_rest_body(req, body, status);
    if (rc < 0)
        return rc;
    sw_rest_delete_opts(*body, opts);
    const char *query_grace = sw_req_param(req, "gracePeriodSeconds");
    const char *query_policy = sw_req_param(req, "propagationPolicy");
    opts->propagation = sw_json_str(*body, query_policy, "propagationPolicy", NULL);
    json_object *orphan = sw_json_get(*body, "orphanDependents");
    if (orphan && !opts->propagation)
        opts->propagation = json_object_get_boolean(orphan) ? "Orphan" : "Background";
    if (query_grace && !opts->grace_set) {
        opts->grace_set = true;
        opts->grace_period_s = (int)strtol(query_grace, NULL, 10);
    }
    return 0;
}

/* Answer with the object if it still exists or its kind is one of a few, else with a Status. */
static void answer_deleted(struct sw_req *req, json_object *doc)
{
    static const char kinds[] = "Pod,Service,ServiceAccount,PersistentVolume,"
                                "PersistentVolumeClaim,PodTemplate,ResourceQuota";
    SW_STATUS(done);
    bool returned = req->kind->builtin && !req->kind->group[0] &&
                    sw_names_contain(kinds, req->kind->kind);
    if (returned || sw_store_object(req->store, req->kind, req->ns, req->name)) {
        sw_rest_send_object(req, 200, doc);
        return;
    }
    done.code = 200;
    sw_status_about(&done, req->kind, req->name);
    sw_json_set_str(done.details, sw_obj_uid(doc), "uid", NULL);
    sw_rest_send_status(req, &done);
}

void sw_rest_delete(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL, *out = NULL;
    struct sw_store_opts opts;
    int rc = read_delete_opts(req, &body, &opts, &status);
    if (rc == 0) {
        use_session(req, &opts);
        sw_session_begin(req->session);
        rc = sw_store_delete(req->store, req->kind, req->ns, req->name, &opts, &out, &status);
        sw_session_end(req->session);
    }
    if (rc < 0) {
        answer(req, rc, 0, NULL, &status);
        return;
    }
    sw_rest_add_warnings(req, SW_TAKE(status.warnings));
    answer_deleted(req, out);
}

void sw_rest_delete_collection(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    SW_STORE_LIST(list);
    struct sw_filter filter = { 0 };
    struct sw_store_opts opts;
    int rc = read_delete_opts(req, &body, &opts, &status);
    if (rc == 0)
        rc = sw_rest_filter(req, &filter, &status);
    if (rc == 0)
        sw_store_list(req->store, req->kind, req->ns, &list);
    SW_AUTO_JSON *items = json_object_new_array();
    for (size_t i = 0; i < list.n && rc == 0; i++) {
        json_object *doc = list.items[i];
        if (!sw_filter_matches(&filter, doc))
            continue;
        rc = sw_store_delete(req->store, req->kind, sw_obj_namespace(doc), sw_obj_name(doc), &opts,
                             NULL, &status);
        rc = rc == SW_NOTFOUND ? 0 : rc;
        json_object_array_add(items,
                              sw_rest_to_version(req->kind, req->version, json_object_get(doc)));
    }
    sw_filter_done(&filter);
    if (rc < 0) {
        sw_rest_send_status(req, &status);
        return;
    }
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    sw_rest_send_doc(req, 200,
                     sw_doc_new("kind", sw_str(req->kind->list_kind), "apiVersion",
                                sw_str(api_version), "metadata", json_object_new_object(), "items",
                                SW_TAKE(items), NULL));
}
