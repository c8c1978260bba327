#pragma once
/* review: questions between an API server and a program: AdmissionReviews that it is sent, and
 * SubjectAccessReviews that it sends. What is allowed is the caller's to say. */
#include <stdbool.h>

#include "base/base.h"
#include "kube/kube.h"

struct json_object;

/** Is @review an AdmissionReview (v1 or v1beta1) that can be answered?
 * @return 0 | SW_INVALID: it has no request with a uid
 * Source: Kubernetes "Dynamic Admission Control". */
int sw_kube_review_check(struct json_object *review, struct sw_err *err) SW_CHECKED;
/** The answer to @review, which sw_kube_review_check() accepts, of its version: allowed with @code
 * 0, else refused with @message (SW_INVALID: 400, another: 403). The caller's. *@response, if not
 * NULL: its response, borrowed. */
struct json_object *sw_kube_review_answer(struct json_object *review, int code, const char *message,
                                          struct json_object **response);

/** A SubjectAccessReview: may @user, {username, uid, groups, extra} as TokenReviews and
 * AdmissionReviews have it, do @what ({"resourceAttributes": {...}} or {"nonResourceAttributes":
 * {...}})? Both are borrowed; the rest as of sw_kube_create(). NULL: who asks, by a
 * SelfSubjectAccessReview. */
struct sw_kube_request *sw_kube_access_review(struct sw_kube *k, struct json_object *user,
                                              struct json_object *what,
                                              const struct sw_request_opts *opts,
                                              sw_kube_answer_fn *cb, void *arg);
/** Does the answered review allow it? */
bool sw_kube_access_is_allowed(struct json_object *review);
