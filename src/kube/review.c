#include "kube/review.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"

static void add(struct json_object *map, const char *key, struct json_object *value)
{
    json_object_object_add_ex(map, key, value,
                              JSON_C_OBJECT_ADD_CONSTANT_KEY | JSON_C_OBJECT_ADD_KEY_IS_NEW);
}

/* ---- AdmissionReview ---------------------------------------------------------------------------
 */

int sw_kube_review_check(struct json_object *review, struct sw_err *err)
{
    const char *version = sw_json_str(review, "", "apiVersion", NULL);
    if (strcmp(sw_json_str(review, "", "kind", NULL), "AdmissionReview") != 0)
        return sw_err_set(err, SW_INVALID, "kind: expected AdmissionReview, found '%.80s'",
                          sw_json_str(review, "", "kind", NULL));
    if (strcmp(version, "admission.k8s.io/v1") != 0 &&
        strcmp(version, "admission.k8s.io/v1beta1") != 0)
        return sw_err_set(err, SW_INVALID,
                          "apiVersion: expected admission.k8s.io/v1 or v1beta1, found '%.80s'",
                          version);
    if (!*sw_json_str(review, "", "request", "uid", NULL))
        return sw_err_set(err, SW_INVALID, "request.uid is missing");
    return 0;
}

struct json_object *sw_kube_review_answer(struct json_object *review, int code, const char *message,
                                          struct json_object **response_out)
{
    struct json_object *doc = json_object_new_object(), *response = json_object_new_object();
    add(response, "uid", json_object_get(sw_json_find(review, "request", "uid", NULL)));
    add(response, "allowed", json_object_new_boolean(code == 0));
    if (code < 0) {
        struct json_object *status = json_object_new_object();
        add(status, "status", json_object_new_string("Failure"));
        add(status, "message", json_object_new_string(message));
        add(status, "reason",
            json_object_new_string(code == SW_INVALID ? "BadRequest" : "Forbidden"));
        add(status, "code", json_object_new_int(code == SW_INVALID ? 400 : 403));
        add(response, "status", status);
    }
    add(doc, "kind", json_object_new_string("AdmissionReview"));
    add(doc, "apiVersion", json_object_new_string(sw_json_str(review, "", "apiVersion", NULL)));
    add(doc, "response", response);
    if (response_out)
        *response_out = response;
    return doc;
}

/* ---- SubjectAccessReview -----------------------------------------------------------------------
 */

static const struct sw_kind access_review = { .group = "authorization.k8s.io",
                                              .version = "v1",
                                              .api_version = "authorization.k8s.io/v1",
                                              .kind = "SubjectAccessReview",
                                              .plural = "subjectaccessreviews" },
                            self_review = { .group = "authorization.k8s.io",
                                            .version = "v1",
                                            .api_version = "authorization.k8s.io/v1",
                                            .kind = "SelfSubjectAccessReview",
                                            .plural = "selfsubjectaccessreviews" };

struct sw_kube_request *sw_kube_access_review(struct sw_kube *k, struct json_object *user,
                                              struct json_object *what,
                                              const struct sw_request_opts *opts,
                                              sw_kube_answer_fn *cb, void *arg)
{
    static const char *const fields[] = { "uid", "groups", "extra" };
    SW_AUTO_JSON *body = json_object_new_object();
    struct json_object *spec = sw_json_copy(what);
    const struct sw_kind *kind = user ? &access_review : &self_review;
    sw_json_set_str(body, kind->api_version, "apiVersion", NULL);
    sw_json_set_str(body, kind->kind, "kind", NULL);
    if (user)
        sw_json_set_str(spec, sw_json_str(user, "", "username", NULL), "user", NULL);
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        if (sw_json_get(user, fields[i]))
            sw_json_set(spec, sw_json_copy(sw_json_get(user, fields[i])), fields[i], NULL);
    sw_json_set(body, spec, "spec", NULL);
    return sw_kube_create(k, kind, NULL, NULL, body, opts, cb, arg);
}

bool sw_kube_access_is_allowed(struct json_object *review)
{
    struct json_object *status = sw_json_get(review, "status");
    return sw_json_bool(status, false, "allowed", NULL) &&
           !sw_json_bool(status, false, "denied", NULL);
}
