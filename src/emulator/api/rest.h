#pragma once
/* rest: the API server's HTTP face. A request is split into what it asks for (struct sw_req), goes
 * through the hooks (counting, faults), and to the function that answers its verb. Every answer is
 * given through sw_rest_*, which know the representations (JSON, YAML, Table, partial metadata). */
#include "emulator/emulator.h"
#include "emulator/store/objects.h"
#include "net/serve/serve.h"

struct sw_rest;

struct sw_rest_config {
    struct sw_loop *loop;
    struct sw_store *store;
    const char *listen;
    const char *kube_version; /* "1.29" */
    void (*on_request)(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg);
    void *arg;
};
int sw_rest_open(const struct sw_rest_config *config, struct sw_rest **out, struct sw_err *err);
void sw_rest_close(struct sw_rest *rest);
/** Reset every connection. Not from a handler of one. */
void sw_rest_drop(struct sw_rest *rest);
/** sw_serve_accept(). */
void sw_rest_accept(struct sw_rest *rest);
/** In a child of fork(), before the loop's own part: no socket is the parent's any more (fork.h),
 * and the address is another. */
void sw_rest_after_fork(struct sw_rest *rest);
/** "127.0.0.1:43210"; heap, the caller's. */
char *sw_rest_address(const struct sw_rest *rest);
uint64_t sw_rest_n_requests(const struct sw_rest *rest);

/* ---- inside -------------------------------------------------------------------------------------
 */

enum sw_form { SW_FORM_JSON, SW_FORM_YAML, SW_FORM_TABLE, SW_FORM_PARTIAL };

struct sw_param {
    char *name, *value; /* decoded */
};

/** One request, copied from the connection. Freed when its answer is complete, so that answering is
 * the last thing done with it, or when the client is gone. */
struct sw_req {
    struct sw_rest *rest;
    struct sw_store *store;
    struct sw_serve_reply *reply;
    char *method, *target, *query; /* as sent; target: path and query; query: within it, or "" */
    char *accept, *user_agent, *as_user, *content_type; /* headers; NULL: not there */
    char *body;                                         /* NUL-terminated */
    size_t body_len;
    const struct sw_emu_kind *kind; /* NULL: no resource */
    char *group, *version, *resource, *ns, *name, *subresource;
    char *path; /* decoded */
    struct sw_param *params;
    size_t n_params, cap_params;
    enum sw_form form;
    struct sw_emu_request info;
    struct sw_emu_fault fault;
    struct sw_timer *timer;     /* a delay, or a watch's end */
    struct sw_watch *watch;     /* rest_watch.c */
    char *warnings;             /* to send, one a line */
    char *manager;              /* who writes */
    struct sw_session *session; /* webhooks that are asked; NULL: none */
    char *behind;               /* of .../proxy/PATH: the path, as sent; NULL: none */
    struct sw_proxy *proxy;     /* rest_proxy.c */
};
/** A query parameter, decoded; NULL: not there. */
const char *sw_req_param(const struct sw_req *req, const char *name);
bool sw_req_flag(const struct sw_req *req, const char *name); /* "true", "1", or present */

/** The server's version, for /version and behaviour by release. */
const char *sw_rest_version(const struct sw_rest *rest);

/** @text of @len bytes, not taken. */
void sw_rest_send(struct sw_req *req, int code, const char *type, const char *text, size_t len);
/** A document, taken. */
void sw_rest_send_doc(struct sw_req *req, int code, json_object *doc);
/** Begin a reply in parts. */
void sw_rest_begin_stream(struct sw_req *req, const char *type);
/** A refusal. */
void sw_rest_send_status(struct sw_req *req, const struct sw_status *status);
/** A stored object in the representation that was asked for. @doc is borrowed. */
void sw_rest_send_object(struct sw_req *req, int code, json_object *doc);

/** The object in the version that was asked for; taken and given. */
json_object *sw_rest_to_version(const struct sw_emu_kind *kind, const char *version,
                                json_object *doc);
/** The other way, for what comes in. */
json_object *sw_rest_from_version(const struct sw_emu_kind *kind, const char *version,
                                  json_object *doc);

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
/** Everything that is no resource: discovery, OpenAPI, /version, /healthz. @return false: no such
 * path */
bool sw_rest_nonresource(struct sw_req *req);

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
