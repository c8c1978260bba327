#pragma once
/* request: what a client asks for: an HTTP request, split into group, version, resource, names and
 * parameters. */
#include "emulator/emulator.h"
#include "emulator/store/objects.h"
#include "net/serve/serve.h"

/** Representations. */
enum sw_form { SW_FORM_JSON, SW_FORM_YAML, SW_FORM_TABLE, SW_FORM_PARTIAL };

/** Of the query. */
struct sw_param {
    char *name, *value; /* decoded */
};

/** One request, copied from the connection. Freed when its answer is complete, so that answering is
 * the last thing done with it, or when the client is gone. */
struct sw_req {
    const char *kube_version, *address; /* of the server: "1.29", "127.0.0.1:80"; borrowed */
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg); /* or NULL */
    void *on_answer_arg;
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
/** Is the parameter "true", "1", or there without a value? */
bool sw_req_flag(const struct sw_req *req, const char *name);

/** Split the exchange's request; never fails: what is no resource has no `resource`. */
struct sw_req *sw_req_new(const struct sw_serve_request *request, struct sw_serve_reply *reply);
/** Not what its verb holds: see verbs.h. */
void sw_req_free(struct sw_req *req);
/** Choose the representation. @return false: nothing that is accepted can be given (406) */
bool sw_req_negotiate(struct sw_req *req);
