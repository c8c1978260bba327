/* create, update, patch, delete. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/webhook.h"
#include "emulator/api/convert.h"
#include "emulator/api/verbs.h"
#include "emulator/formats/protobuf.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

/* ---- the body -----------------------------------------------------------------------------------
 */

static bool is_type(const char *type, const char *wanted)
{
    size_t len = strlen(wanted);
    return strncasecmp(type, wanted, len) == 0 &&
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

static int parse_protobuf(struct sw_req *req, json_object **out, struct sw_status *status)
{
    SW_ERR(err);
    int rc = sw_protobuf_read(req->body, req->body_len, out, &err);
    if (rc == SW_NOTFOUND) /* a custom resource, which has no form as protobuf */
        return sw_status_set(status, 415, "UnsupportedMediaType", "%s", sw_err_text(&err));
    return rc < 0 ? sw_status_bad_request(status, "%s", sw_err_text(&err)) : 0;
}

int sw_rest_body(struct sw_req *req, json_object **out, struct sw_status *status)
{
    const char *type = req->info.content_type ? req->info.content_type : "application/json";
    if (is_type(type, "application/yaml"))
        return parse_yaml(req, out, status);
    if (is_type(type, "application/json"))
        return parse_json(req, out, status);
    if (is_type(type, "application/vnd.kubernetes.protobuf"))
        return parse_protobuf(req, out, status);
    return unknown_type("application/json, application/yaml, application/vnd.kubernetes.protobuf",
                        status);
}

/* ---- options ------------------------------------------------------------------------------------
 */

/* Who writes: what the query says, else the beginning of the User-Agent ("kubectl/v1.32 ..."). */
static char *manager_of(struct sw_req *req)
{
    const char *given = sw_req_param(req, "fieldManager"), *agent = req->info.user_agent;
    if (given && given[0])
        return sw_strdup(given);
    return agent && agent[0] ? sw_strndup(agent, strcspn(agent, "/")) : sw_strdup("unknown");
}

static int check_choice(struct sw_req *req, const char *name, const char *const *choices,
                        const char *what, struct sw_status *status)
{
    const char *value = sw_req_param(req, name);
    for (size_t i = 0; value && value[0] && choices[i]; i++)
        if (strcmp(value, choices[i]) == 0)
            return 0;
    if (!value || !value[0])
        return 0;
    int rc = sw_status_set(status, 422, "Invalid",
                           "%s.meta.k8s.io \"\" is invalid: %s: Unsupported value: \"%s\": "
                           "supported values: \"%s\"",
                           what, name, value, choices[0]);
    return rc;
}

int sw_rest_write_opts(struct sw_req *req, struct sw_store_opts *opts, struct sw_status *status)
{
    static const char *const all[] = { "All", NULL };
    static const char *const validations[] = { "Ignore", "Warn", "Strict", NULL };
    int rc = check_choice(req, "dryRun", all, "WriteOptions", status);
    if (rc == 0)
        rc = check_choice(req, "fieldValidation", validations, "WriteOptions", status);
    if (rc < 0)
        return rc;
    const char *validation = sw_req_param(req, "fieldValidation");
    free(req->manager); /* of an earlier try */
    req->manager = manager_of(req);
    *opts = (struct sw_store_opts){
        .subresource = req->subresource,
        .manager = req->manager,
        .version = req->version,
        .dry_run = sw_req_flag(req, "dryRun"),
        .force = sw_req_flag(req, "force"),
        .field_validation = validation && validation[0]        ? validation
                            : sw_store_minor(req->store) >= 25 ? "Warn"
                                                               : "Ignore",
    };
    return 0;
}

/* As for sw_rest_write_opts(), by a verb that can be tried again when webhooks have answered. */
static int opts_with_session(struct sw_req *req, struct sw_store_opts *opts,
                             struct sw_status *status)
{
    int rc = sw_rest_write_opts(req, opts, status);
    if (rc == 0 && !req->session && sw_webhooks_exist(req->store))
        req->session = sw_session_new(req->store, sw_rest_again, req);
    opts->session = req->session;
    return rc;
}

/* ---- create and update --------------------------------------------------------------------------
 */

/* What the body says of itself must be what the path says. An empty kind is what the path says. */
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
        return; /* a webhook is being asked */
    req->warnings = SW_TAKE(status->warnings);
    if (rc < 0)
        sw_rest_send_status(req, status);
    else
        sw_rest_send_object(req, code, out);
}

void sw_rest_create(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *doc = NULL, *out = NULL;
    struct sw_store_opts opts;
    int rc = opts_with_session(req, &opts, &status);
    if (rc == 0)
        rc = sw_rest_body(req, &doc, &status);
    if (rc == 0)
        rc = check_type(req, doc, &status);
    if (rc == 0) {
        doc = sw_rest_from_version(req->kind, req->version, doc);
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
    int rc = opts_with_session(req, &opts, &status);
    if (rc == 0)
        rc = sw_rest_body(req, &doc, &status);
    if (rc == 0)
        rc = check_type(req, doc, &status);
    if (rc == 0 && strcmp(sw_obj_name(doc), req->name) != 0)
        rc = sw_status_bad_request(&status,
                                   "the name of the object (%s) does not match the name "
                                   "on the URL (%s)",
                                   sw_obj_name(doc), req->name);
    if (rc == 0) {
        doc = sw_rest_from_version(req->kind, req->version, doc);
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

/* An apply says who applies, and names what it applies to. */
static int check_apply(struct sw_req *req, json_object *patch, struct sw_status *status)
{
    const char *manager = sw_req_param(req, "fieldManager");
    if (!manager || !manager[0])
        return sw_status_set(status, 422, "Invalid",
                             "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required "
                             "value: is required for apply patch");
    if (!sw_obj_kind(patch)[0] || !sw_obj_api_version(patch)[0])
        return sw_status_bad_request(status, "invalid object type: apiVersion and kind must be "
                                             "set in an apply patch");
    int rc = check_type(req, patch, status);
    const char *name = sw_obj_name(patch);
    if (rc == 0 && name[0] && strcmp(name, req->name) != 0)
        rc = sw_status_bad_request(status,
                                   "the name of the object (%s) does not match the name "
                                   "on the URL (%s)",
                                   name, req->name);
    return rc;
}

static int read_patch(struct sw_req *req, enum sw_patch_type type, json_object **patch,
                      struct sw_status *status)
{
    int rc = type == SW_PATCH_APPLY ? parse_yaml(req, patch, status)
                                    : parse_json(req, patch, status);
    if (rc < 0 || type != SW_PATCH_APPLY)
        return rc;
    if (!json_object_is_type(*patch, json_type_object))
        return sw_status_bad_request(status, "the applied configuration must be an object");
    rc = check_apply(req, *patch, status);
    if (rc < 0)
        return rc;
    *patch = sw_rest_from_version(req->kind, req->version, *patch);
    if (!sw_obj_name(*patch)[0]) {
        json_object *named = sw_json_copy(*patch);
        sw_json_set_str(named, req->name, "metadata", "name", NULL);
        json_object_put(*patch);
        *patch = named;
    }
    return 0;
}

void sw_rest_patch(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *patch = NULL, *out = NULL;
    struct sw_store_opts opts;
    enum sw_patch_type type = SW_PATCH_MERGE;
    int rc = opts_with_session(req, &opts, &status);
    if (rc == 0)
        rc = patch_type(req, &type, &status);
    if (rc == 0)
        rc = read_patch(req, type, &patch, &status);
    bool was = sw_store_object(req->store, req->kind, req->ns, req->name) != NULL;
    if (rc == 0) {
        sw_session_begin(req->session);
        rc = sw_store_patch(req->store, req->kind, req->ns, req->name, type, patch, &opts, &out,
                            &status);
        sw_session_end(req->session);
    }
    answer(req, rc, was ? 200 : 201, out, &status);
}

/* ---- delete -------------------------------------------------------------------------------------
 */

/* DeleteOptions come in the body or in the query. */
static int delete_opts(struct sw_req *req, json_object **body, struct sw_store_opts *opts,
                       struct sw_status *status)
{
    int rc = sw_rest_write_opts(req, opts, status);
    if (rc == 0 && req->body_len > 0)
        rc = sw_rest_body(req, body, status);
    if (rc < 0)
        return rc;
    json_object *grace = sw_json_get(*body, "gracePeriodSeconds");
    const char *query_grace = sw_req_param(req, "gracePeriodSeconds");
    const char *query_policy = sw_req_param(req, "propagationPolicy");
    opts->propagation = sw_json_str(*body, query_policy, "propagationPolicy", NULL);
    json_object *orphan = sw_json_get(*body, "orphanDependents");
    if (orphan && !opts->propagation)
        opts->propagation = json_object_get_boolean(orphan) ? "Orphan" : "Background";
    opts->if_uid = sw_json_str(*body, NULL, "preconditions", "uid", NULL);
    opts->if_version = sw_json_str(*body, NULL, "preconditions", "resourceVersion", NULL);
    opts->grace_set = grace || query_grace;
    opts->grace_period_s = grace ? json_object_get_int(grace)
                                 : (query_grace ? (int)strtol(query_grace, NULL, 10) : 0);
    opts->dry_run = opts->dry_run || sw_json_len(sw_json_get(*body, "dryRun")) > 0;
    opts->subresource = NULL;
    return 0;
}

/* Kinds whose deletion answers with the object instead of a Status. */
static bool returns_object(const struct sw_emu_kind *kind)
{
    static const char *const kinds[] = { "Pod",
                                         "Service",
                                         "ServiceAccount",
                                         "PersistentVolume",
                                         "PersistentVolumeClaim",
                                         "PodTemplate",
                                         "ResourceQuota" };
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        if (kind->builtin && !kind->group[0] && strcmp(kind->kind, kinds[i]) == 0)
            return true;
    return false;
}

static void answer_deleted(struct sw_req *req, json_object *doc)
{
    SW_STATUS(done);
    if (sw_store_object(req->store, req->kind, req->ns, req->name) || returns_object(req->kind)) {
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
    int rc = delete_opts(req, &body, &opts, &status);
    if (rc == 0 && !req->session && sw_webhooks_exist(req->store))
        req->session = sw_session_new(req->store, sw_rest_again, req);
    opts.session = req->session;
    if (rc == 0) {
        sw_session_begin(req->session);
        rc = sw_store_delete(req->store, req->kind, req->ns, req->name, &opts, &out, &status);
        sw_session_end(req->session);
    }
    if (rc == SW_PENDING)
        return;
    req->warnings = SW_TAKE(status.warnings);
    if (rc < 0)
        sw_rest_send_status(req, &status);
    else
        answer_deleted(req, out);
}

void sw_rest_delete_collection(struct sw_req *req)
{
    SW_STATUS(status);
    SW_AUTO_JSON *body = NULL;
    SW_STORE_LIST(list);
    struct sw_filter filter = { 0 };
    struct sw_store_opts opts;
    int rc = delete_opts(req, &body, &opts, &status);
    if (rc == 0)
        rc = sw_rest_filter(req, &filter, &status);
    if (rc == 0)
        sw_store_list(req->store, req->kind, req->ns, &list);
    json_object *items = json_object_new_array();
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
        json_object_put(items);
        sw_rest_send_status(req, &status);
        return;
    }
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    json_object *out = json_object_new_object();
    sw_json_set_str(out, req->kind->list_kind, "kind", NULL);
    sw_json_set_str(out, api_version, "apiVersion", NULL);
    sw_json_set(out, json_object_new_object(), "metadata", NULL);
    sw_json_set(out, items, "items", NULL);
    sw_rest_send_doc(req, 200, out);
}
