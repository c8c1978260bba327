#include "emulator/api/authorize.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "data/cel/cel.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/reviews.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

/* @return false: a token that is nobody's */
static bool authenticate(struct sw_req *req)
{
    static const char bearer[] = "Bearer ";
    SW_AUTO_CHARS *name = NULL, *node = NULL;
    const char *header = req->authorization ? req->authorization : "";
    bool has_token = strncasecmp(header, bearer, strlen(bearer)) == 0;
    if (!has_token && req->admin_token) {
        sw_user_init(&req->user, "system:anonymous",
                     sw_doc_list(sw_str("system:unauthenticated"), NULL));
        return true;
    }
    if (!has_token || sw_streq(header + strlen(bearer), req->admin_token)) {
        sw_user_init(&req->user, SW_ADMIN, sw_doc_list(sw_str("system:masters"), NULL));
        return true;
    }
    if (!sw_reviews_account(req->store, header + strlen(bearer), &name, &node))
        return false;
    sw_user_init(&req->user, name, NULL);
    req->user.node = SW_TAKE(node);
    return true;
}

/* ---- impersonation -----------------------------------------------------------------------------
 */

static int check_impersonated(struct sw_req *req, const char *resource, const char *ns,
                              const char *name, struct sw_status *status)
{
    if (!req->rbac)
        return 0;
    return sw_rbac_check(req->store, &req->user,
                         &(struct sw_attributes){
                             .verb = "impersonate", .resource = resource, .ns = ns, .name = name },
                         status);
}

static int impersonate(struct sw_req *req, struct sw_status *status)
{
    static const char account[] = "system:serviceaccount:";
    const char *colon = sw_starts_with(req->as_user, account)
                            ? strchr(req->as_user + strlen(account), ':')
                            : NULL;
    int rc;
    if (colon) {
        const char *from = req->as_user + strlen(account);
        SW_AUTO_CHARS *ns = sw_strndup(from, (size_t)(colon - from));
        rc = check_impersonated(req, "serviceaccounts", ns, colon + 1, status);
    } else {
        rc = check_impersonated(req, "users", NULL, req->as_user, status);
    }
    for (size_t i = 0; rc == 0 && i < sw_json_len(req->as_groups); i++)
        rc = check_impersonated(req, "groups", NULL,
                                json_object_get_string(sw_json_at(req->as_groups, i)), status);
    if (rc < 0)
        return rc;
    sw_user_done(&req->user);
    sw_user_init(&req->user, req->as_user, SW_TAKE(req->as_groups));
    return 0;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

/* The name of a list or watch of one object, by its field selector; the caller's. NULL: of more. */
static char *selected_name(const struct sw_req *req)
{
    static const char key[] = "metadata.name=";
    const char *fields = sw_req_param(req, "fieldSelector");
    const char *at = fields && !req->name ? strstr(fields, key) : NULL;
    if (!at || (at != fields && at[-1] != ','))
        return NULL;
    at += strlen(key) + (at[strlen(key)] == '=');
    return sw_strndup(at, strcspn(at, ","));
}

static int check_request(struct sw_req *req, struct sw_status *status)
{
    SW_AUTO_CHARS *selected = selected_name(req);
    SW_AUTO_CHARS *verb = sw_strdup(req->info.verb);
    for (char *c = verb; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const bool is_namespace = sw_streq(req->resource, "namespaces") && !*req->info.group;
    return sw_rbac_check(req->store, &req->user,
                         &(struct sw_attributes){ .verb = verb,
                                                  .group = req->info.group,
                                                  .resource = req->resource,
                                                  .subresource = req->subresource,
                                                  .name = selected ? selected : req->name,
                                                  .ns = is_namespace ? req->name : req->ns,
                                                  .path = req->resource ? NULL : req->path,
                                                  .fields = sw_req_param(req, "fieldSelector") },
                         status);
}

bool sw_rest_authorize(struct sw_req *req)
{
    SW_STATUS(status);
    if (!authenticate(req)) {
        sw_rest_send_error(req, 401, "Unauthorized", "Unauthorized");
        return false;
    }
    int rc = req->as_user ? impersonate(req, &status) : 0;
    if (rc == 0 && req->rbac)
        rc = check_request(req, &status);
    if (rc < 0)
        sw_rest_send_status(req, &status);
    return rc == 0;
}

int sw_rest_may_create(struct sw_req *req, struct sw_status *status)
{
    return sw_rbac_check(req->store, &req->user,
                         &(struct sw_attributes){ .verb = "create",
                                                  .group = req->info.group,
                                                  .resource = req->resource,
                                                  .ns = req->ns,
                                                  .name = req->name },
                         status);
}

static bool status_differs(json_object *doc, json_object *old, const char *key)
{
    return !sw_json_equal(sw_json_find(doc, "status", key, NULL),
                          sw_json_find(old, "status", key, NULL));
}

/* Who has a claim is for schedulers to say: from 1.36 on the right to write its status is not
 * enough. Source: k8s.io/kubernetes pkg/registry/resource, AuthorizedForBinding(). */
static void check_binding(struct sw_req *req, const struct sw_emu_kind *kind, json_object *doc,
                          json_object *old, struct sw_field_errors *errors)
{
    SW_STATUS(inner);
    const char *verb = req->info.verb;
    if (!status_differs(doc, old, "allocation") && !status_differs(doc, old, "reservedFor"))
        return;
    if (sw_rbac_check(req->store, &req->user,
                      &(struct sw_attributes){ .verb = verb,
                                               .group = kind->group,
                                               .resource = kind->plural,
                                               .subresource = "binding" },
                      &inner) < 0)
        sw_field_error(errors, SW_FIELD_FORBIDDEN, "status.allocation", NULL,
                       "changing status.allocation or status.reservedFor requires "
                       "resource=\"resourceclaims/binding\", verb=\"%s\" permission: %s",
                       verb, inner.message);
}

/* ---- status.devices ----------------------------------------------------------------------------
 * Source: k8s.io/kubernetes pkg/registry/resource, AuthorizedForDeviceStatus().
 */

static json_object *find_device(json_object *list, json_object *device)
{
    static const char *const keys[] = { "driver", "pool", "device", "shareID" };
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t same = 0;
        for (size_t k = 0; k < SW_COUNT(keys); k++)
            same += sw_streq(sw_json_str(sw_json_at(list, i), "", keys[k], NULL),
                             sw_json_str(device, "", keys[k], NULL));
        if (same == SW_COUNT(keys))
            return sw_json_at(list, i);
    }
    return NULL;
}

/* Add to @drivers those whose devices in @list differ from what @other has. */
static void add_drivers(json_object *list, json_object *other, json_object *drivers)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *device = sw_json_at(list, i);
        if (!sw_json_equal(find_device(other, device), device))
            json_object_object_add(drivers, sw_json_str(device, "", "driver", NULL), NULL);
    }
}

/* The node that an allocation is for, where it names one alone; else "". */
static const char *node_of(json_object *doc)
{
    json_object *terms = sw_json_find(doc, "status", "allocation", "nodeSelector",
                                      "nodeSelectorTerms", NULL);
    json_object *fields = sw_json_get(sw_json_at(terms, 0), "matchFields");
    json_object *field = sw_json_at(fields, 0), *values = sw_json_get(field, "values");
    if (sw_json_len(terms) != 1 || sw_json_len(fields) != 1 || sw_json_len(values) != 1 ||
        sw_json_len(sw_json_get(sw_json_at(terms, 0), "matchExpressions")) ||
        !sw_streq(sw_json_str(field, "", "key", NULL), "metadata.name") ||
        !sw_streq(sw_json_str(field, "", "operator", NULL), "In"))
        return "";
    return sw_text_or(json_object_get_string(sw_json_at(values, 0)), "");
}

static void check_driver(struct sw_req *req, const struct sw_emu_kind *kind, const char *ns,
                         const char *driver, bool is_there, struct sw_field_errors *errors)
{
    static const char *const prefixes[] = { "associated-node:", "arbitrary-node:" };
    SW_AUTO_CHARS *why = NULL;
    SW_AUTO_CHARS *verbs = sw_strdup("");
    for (size_t i = is_there ? 0 : 1; i < SW_COUNT(prefixes); i++) {
        SW_STATUS(inner);
        SW_AUTO_CHARS *verb = sw_printf("%s%s", prefixes[i], req->info.verb);
        if (sw_rbac_check(req->store, &req->user,
                          &(struct sw_attributes){ .verb = verb,
                                                   .group = kind->group,
                                                   .resource = kind->plural,
                                                   .subresource = "driver",
                                                   .ns = ns,
                                                   .name = driver },
                          &inner) == 0)
            return;
        sw_append(&verbs, "%s%s", *verbs ? " " : "", verb);
        if (!why)
            why = sw_strdup(inner.message);
    }
    sw_field_error(errors, SW_FIELD_FORBIDDEN, "status.devices", NULL,
                   "changing status.devices requires resource=\"resourceclaims/driver\", "
                   "verb=\"[%s]\" permission: %s",
                   verbs, why);
}

/* What became of a driver's devices is for the driver to say, on its own node or on any. */
static void check_devices(struct sw_req *req, const struct sw_emu_kind *kind, const char *ns,
                          json_object *doc, json_object *old, struct sw_field_errors *errors)
{
    json_object *now = sw_json_find(doc, "status", "devices", NULL);
    json_object *before = sw_json_find(old, "status", "devices", NULL);
    const char *node = node_of(doc);
    const bool is_there = *node && sw_streq(req->user.node, node);
    SW_AUTO_JSON *drivers = json_object_new_object();
    if (!sw_json_find(doc, "status", "allocation", NULL))
        return; /* devices go with it */
    add_drivers(now, before, drivers);
    add_drivers(before, now, drivers);
    json_object_object_foreach(drivers, driver, unused)
    {
        (void)unused;
        check_driver(req, kind, ns, driver, is_there, errors);
    }
}

static int check_claim(struct sw_req *req, const struct sw_emu_kind *kind, const char *ns,
                       json_object *doc, json_object *old, struct sw_status *status)
{
    SW_FIELD_ERRORS(errors);
    if (sw_store_minor(req->store) < 36 || !sw_streq(req->subresource, "status"))
        return 0;
    check_binding(req, kind, doc, old, &errors);
    check_devices(req, kind, ns, doc, old, &errors);
    return errors.n ? sw_status_invalid(status, kind, sw_obj_name(doc), &errors) : 0;
}

int sw_rest_guard(const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                  json_object *old, struct sw_status *status, void *arg)
{
    struct sw_req *req = arg;
    if (sw_streq(kind->kind, "ResourceClaim") && sw_streq(kind->group, "resource.k8s.io"))
        return check_claim(req, kind, ns, doc, old, status);
    return sw_rbac_escalates(req->store, &req->user, kind, ns, doc, old, status);
}

/* ---- admission ----------------------------------------------------------------------------------
 */

json_object *sw_rest_review_user(const struct sw_req *req)
{
    if (req->user.name)
        return sw_doc_new("username", sw_str(req->user.name), "groups",
                          json_object_get(req->user.groups), NULL);
    return sw_doc_new("username", sw_str("admin"), "groups",
                      sw_doc_list(sw_str("system:masters"), sw_str("system:authenticated"), NULL),
                      NULL);
}

bool sw_rest_allows(const struct sw_cel_question *question, char **reason, void *arg)
{
    const struct sw_req *req = arg;
    struct sw_user other = { 0 };
    const struct sw_attributes what = { .verb = question->verb,
                                        .group = question->group,
                                        .resource = question->resource,
                                        .subresource = question->subresource,
                                        .name = question->name,
                                        .ns = question->ns,
                                        .path = question->path };
    if (question->user)
        sw_user_init(&other, question->user, NULL);
    const bool allowed = sw_rbac_allows(req->store, question->user ? &other : &req->user, &what,
                                        reason);
    sw_user_done(&other);
    return allowed;
}
