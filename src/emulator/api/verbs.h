#pragma once
/* verbs: what answers a request, shared by the rest_*.c files. */
#include "emulator/api/answer.h"

/* Verbs (rest_*.c) */
void sw_rest_get(struct sw_req *req);
void sw_rest_list(struct sw_req *req);
void sw_rest_watch(struct sw_req *req);
void sw_rest_watch_done(struct sw_req *req); /* from the request's end */
void sw_rest_create(struct sw_req *req);
void sw_rest_update(struct sw_req *req);
void sw_rest_patch(struct sw_req *req);
void sw_rest_delete(struct sw_req *req);
void sw_rest_delete_collection(struct sw_req *req);
/** Answer it once more: a struct sw_req whose write waited for a webhook. */
void sw_rest_again(void *req);
/** Subresources that are no part of the object (log, scale, eviction, binding, token...).
 * @return false: not one of them */
bool sw_rest_subresource(struct sw_req *req);
/** .../proxy of pods and services; it answers later. */
void sw_rest_proxy(struct sw_req *req);
void sw_rest_proxy_done(struct sw_req *req); /* from the request's end */
/** Kinds that are questions (TokenReview...). */
void sw_rest_virtual(struct sw_req *req);
/** Read the body as JSON or YAML. @return 0 | SW_INVALID (@status is filled) */
int sw_rest_body(struct sw_req *req, json_object **out, struct sw_status *status);
/** Write options from the query. */
int sw_rest_write_opts(struct sw_req *req, struct sw_store_opts *opts, struct sw_status *status);

/** Label and field selector of a list or watch. */
struct sw_filter {
    struct sw_selector *labels, *fields; /* NULL: all */
};
int sw_rest_filter(struct sw_req *req, struct sw_filter *out, struct sw_status *status);
void sw_filter_done(struct sw_filter *filter);
bool sw_filter_matches(const struct sw_filter *filter, json_object *doc);
