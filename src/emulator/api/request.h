#pragma once
/* request: an HTTP request, split into group, version, resource, names and parameters. */
#include "emulator/authorization/authorization.h"
#include "emulator/emulator.h"
#include "emulator/store/objects.h"
#include "net/serve/serve.h"

/** The representations of objects in answers. */
enum sw_form { SW_FORM_JSON, SW_FORM_YAML, SW_FORM_TABLE, SW_FORM_PARTIAL };

/** A parameter of the query. */
struct sw_param {
    char *name, *value; /* decoded */
};

/** One request, copied from the connection. It is freed when its answer is complete, so nothing may
 * use it after the answer, or when the client has disconnected. */
struct sw_req {
    const char *address; /* of the server: "127.0.0.1:80"; borrowed */
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg); /* or NULL */
    void *on_answer_arg;
    struct sw_store *store;
    struct sw_serve_reply *reply;
    char *method, *target, *query; /* as sent; target: path and query; query: within it, or "" */
    char *accept, *user_agent, *as_user, *content_type; /* headers; NULL: missing */
    char *proxied;                                      /* X-Slipway-Authorization, the same */
    char *authorization;                                /* the header of that name; NULL: missing */
    json_object *as_groups;                             /* Impersonate-Group; NULL: none */
    bool rbac;               /* roles say who may do what; else everybody may do everything */
    const char *admin_token; /* or NULL: who has no token is the administrator */
    struct sw_user user;     /* who sends it; zero with neither of the two */
    char *body;              /* NUL-terminated */
    size_t body_len;
    bool is_trusted;                /* it comes from this machine */
    const struct sw_emu_kind *kind; /* NULL: no resource */
    char *group, *version, *resource, *ns, *name, *subresource;
    char *path; /* decoded */
    struct sw_param *params;
    size_t n_params, cap_params;
    enum sw_form form;
    struct sw_emu_request info;
    struct sw_emu_fault fault;
    struct sw_timer *timer;     /* a delay, or the end of a watch or a log */
    struct sw_watch *watch;     /* rest_watch.c */
    struct sw_log_follow *log;  /* rest_log.c */
    char *warnings;             /* to send, one a line */
    char *manager;              /* the field manager */
    json_object *review_user;   /* who sends it, as admission sees it; NULL before a write */
    struct sw_session *session; /* of calls of webhooks; NULL: none */
    char *proxy_path;           /* of .../proxy/PATH, as sent; NULL: no proxy request */
    struct sw_proxy *proxy;     /* rest_proxy.c */
};
/** A query parameter, decoded; NULL: missing. */
const char *sw_req_param(const struct sw_req *req, const char *name);
/** Whether the parameter is given, and neither "false" nor "0". */
bool sw_req_flag(const struct sw_req *req, const char *name);
/** Whether reading its body would take more than 16 MiB, or, as YAML, tens of milliseconds. */
bool sw_req_is_costly(const struct sw_req *req);

/** Split a request. Never fails: `resource` is NULL where the path names none. */
struct sw_req *sw_req_new(const struct sw_serve_request *request, struct sw_serve_reply *reply);
/** Free the request, but not what a watch, a log that is followed or a proxy request holds: see
 * verbs.h. */
void sw_req_free(struct sw_req *req);
/** Choose the representation. @return false: none that the client accepts is available (406) */
bool sw_req_negotiate(struct sw_req *req);
