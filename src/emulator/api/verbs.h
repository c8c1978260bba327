#pragma once
/* verbs: the functions that answer requests, shared by the rest_*.c files. */
#include "emulator/api/answer.h"

/** Answer a GET of one object. */
void sw_rest_get(struct sw_req *req);
/** Answer a list, or a page of it, as of now or of an earlier resourceVersion. */
void sw_rest_list(struct sw_req *req);
/** Begin to stream changes. */
void sw_rest_watch(struct sw_req *req);
/** Free the watch, when the request ends. */
void sw_rest_watch_done(struct sw_req *req);
/** Answer a POST. */
void sw_rest_create(struct sw_req *req);
/** Answer a PUT. */
void sw_rest_update(struct sw_req *req);
/** Answer a PATCH, in any of the four formats. */
void sw_rest_patch(struct sw_req *req);
/** Answer a DELETE of one object. */
void sw_rest_delete(struct sw_req *req);
/** Answer a DELETE of all objects that the selectors select. */
void sw_rest_delete_collection(struct sw_req *req);
/** Answer a request (struct sw_req) again after a webhook that its write waited for. */
void sw_rest_again(void *req);
/** Answer subresources that are not fields of the object (log, scale, eviction, binding, token...).
 * @return false: it is none of them */
bool sw_rest_subresource(struct sw_req *req);
/** Answer .../log of a pod; with `follow` until the container has ended. */
void sw_rest_log(struct sw_req *req, struct sw_object *pod);
/** Follow it no further, when the request ends. */
void sw_rest_log_done(struct sw_req *req);
/** Forward .../proxy of pods and services; the answer comes later. */
void sw_rest_proxy(struct sw_req *req);
/** Cancel the forwarded request, when the request ends. */
void sw_rest_proxy_done(struct sw_req *req);
/** Add the warning that the request's version of its kind is deprecated, if it is. */
void sw_rest_warn_deprecated(struct sw_req *req);
/** Answer kinds that are never stored (TokenReview...). */
void sw_rest_virtual(struct sw_req *req);
/** Read the body as JSON, YAML or protobuf. @return 0 | SW_INVALID (@status is filled) */
int sw_rest_body(struct sw_req *req, json_object **out, struct sw_status *status);
/** Read the options of a write from the query. @return 0 | SW_INVALID (@status is filled) */
int sw_rest_write_opts(struct sw_req *req, struct sw_store_opts *opts, struct sw_status *status);
/** Add DeleteOptions (NULL: none) to the options of a write; borrowed by @opts. */
void sw_rest_delete_opts(json_object *options, struct sw_store_opts *opts);

/** Label and field selector of a list or watch. */
struct sw_filter {
    struct sw_selector *labels, *fields; /* NULL: all */
};
/** Read the selectors of the query. @out is freed with sw_filter_done().
 * @return 0 | SW_INVALID (@status is filled) */
int sw_rest_filter(struct sw_req *req, struct sw_filter *out, struct sw_status *status);
/** Free what it holds; harmless on a zeroed one. */
void sw_filter_done(struct sw_filter *filter);
/** Whether @doc, as it is stored, matches both. */
bool sw_filter_matches(const struct sw_filter *filter, json_object *doc);
