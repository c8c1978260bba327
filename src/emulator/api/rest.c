#include "emulator/api/rest.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/api/authorize.h"
#include "emulator/api/discovery.h"
#include "emulator/api/fork.h"
#include "emulator/api/verbs.h"
#include "emulator/store/status.h"

enum {
    MAX_HEAD = 64 * 1024, /* bytes; a body: 3 MiB, as kube-apiserver has it */
    /* of clients from elsewhere, where it listens there: on loopback they are the user's own */
    MAX_CONNS = 896,
    MAX_BODIES = 2 << 20, /* a larger one is taken where it is alone */
};

struct sw_rest {
    struct sw_rest_config config;
    struct sw_serve *serve;
    char *host;    /* that it listens on */
    char *address; /* with the port */
    uint64_t n_requests;
};

uint64_t sw_rest_n_requests(const struct sw_rest *rest)
{
    return rest->n_requests;
}

void sw_rest_drop(struct sw_rest *rest)
{
    sw_serve_drop(rest->serve);
}

void sw_rest_accept(struct sw_rest *rest)
{
    sw_serve_accept(rest->serve);
}

static void note_address(struct sw_rest *rest)
{
    free(rest->address);
    rest->address = sw_printf(strchr(rest->host, ':') ? "[%s]:%d" : "%s:%d", rest->host,
                              sw_serve_port(rest->serve));
}

void sw_rest_after_fork(struct sw_rest *rest)
{
    sw_fork_sockets(sw_serve_socket(rest->serve));
    note_address(rest);
}

const char *sw_rest_address(const struct sw_rest *rest)
{
    return rest->address;
}

/* ---- resources ----------------------------------------------------------------------------------
 */

static void not_found(struct sw_req *req)
{
    static const char text[] = "404 page not found\n";
    if (req->group && req->version)
        sw_rest_send_error(req, 404, "NotFound",
                           "the server could not find the requested resource");
    else
        sw_rest_send(req, 404, "text/plain; charset=utf-8", text, sizeof text - 1);
}

static void method_not_allowed(struct sw_req *req)
{
    sw_rest_send_error(req, 405, "MethodNotAllowed",
                       "the server does not allow this method on the requested resource");
}

static const struct {
    const char *verb;
    void (*answer)(struct sw_req *req);
} verbs[] = {
    { "get", sw_rest_get },       { "list", sw_rest_list },
    { "watch", sw_rest_watch },   { "create", sw_rest_create },
    { "update", sw_rest_update }, { "patch", sw_rest_patch },
    { "delete", sw_rest_delete }, { "deletecollection", sw_rest_delete_collection },
};

static void answer_resource(struct sw_req *req)
{
    const char *verb = req->info.verb;
    bool namespaced = req->kind->namespaced, create = strcmp(verb, "create") == 0;
    if ((req->ns && !namespaced) || (namespaced && req->name && !req->ns)) {
        not_found(req);
        return;
    }
    if (sw_kind_is_virtual(req->kind)) {
        if (create)
            sw_rest_virtual(req);
        else
            method_not_allowed(req);
        return;
    }
    if (req->subresource && sw_rest_subresource(req))
        return;
    bool fits = true; /* the path has the name and the namespace that the verb needs */
    if (create)
        fits = (!req->name || req->subresource) && (!namespaced || req->ns);
    else if (strcmp(verb, "update") == 0 || strcmp(verb, "patch") == 0)
        fits = req->name != NULL;
    for (size_t i = 0; fits && i < SW_COUNT(verbs); i++) {
        if (strcmp(verbs[i].verb, verb) != 0)
            continue;
        verbs[i].answer(req);
        return;
    }
    method_not_allowed(req);
}

void sw_rest_again(void *req)
{
    answer_resource(req);
}

/* Whether the kind has the subresource of the request, if that has one. */
static bool has_subresource(const struct sw_emu_kind *kind, const char *sub)
{
    return !sub || (kind->has_status && strcmp(sub, "status") == 0) ||
           (kind->has_scale && strcmp(sub, "scale") == 0) ||
           (kind->builtin && sw_names_contain(kind->builtin->subresources, sub));
}

static void answer(struct sw_req *req)
{
    /* The answer to a proxy request is in the form that the proxied server chooses. */
    if (!sw_req_negotiate(req) && req->resource && !req->proxy_path) {
        sw_rest_send_error(req, 406, "NotAcceptable",
                           "only the following media types are accepted: application/json, "
                           "application/yaml");
        return;
    }
    if (!req->is_trusted && sw_req_is_costly(req)) {
        sw_rest_send_error(req, 413, "RequestEntityTooLarge",
                           "the body takes more than 16 MiB when it is read (or is YAML of more "
                           "than 256 KiB), which is for clients on this machine alone");
        return;
    }
    if ((req->rbac || req->admin_token) && !sw_rest_authorize(req))
        return;
    if (req->resource)
        req->kind = sw_store_find_resource(req->store, req->group, req->version, req->resource);
    if (req->kind && has_subresource(req->kind, req->subresource)) {
        sw_rest_warn_deprecated(req);
        answer_resource(req);
    } else if (req->resource || !sw_rest_nonresource(req))
        not_found(req);
}

/* ---- faults -------------------------------------------------------------------------------------
 */

static const struct {
    int code;
    const char *reason, *message;
} faults[] = {
    { 401, "Unauthorized", "Unauthorized" },
    { 403, "Forbidden", "forbidden by a fault" },
    { 404, "NotFound", "the server could not find the requested resource" },
    { 409, "Conflict",
      "Operation cannot be fulfilled: the object has been modified; please apply your changes to "
      "the latest version and try again" },
    { 410, "Expired", "The provided continue parameter or resourceVersion is too old" },
    { 429, "TooManyRequests",
      "the server has received too many requests and has asked us to try again later" },
    { 500, "InternalError", "Internal error occurred: injected fault" },
    { 503, "ServiceUnavailable", "the server is currently unable to handle the request" },
    { 504, "Timeout", "the server was unable to return a response in the time allotted" },
};

static void answer_fault(struct sw_req *req)
{
    SW_STATUS(status);
    (void)sw_status_set(&status, req->fault.code, "", "injected fault");
    for (size_t i = 0; i < SW_COUNT(faults); i++)
        if (faults[i].code == req->fault.code)
            (void)sw_status_set(&status, faults[i].code, faults[i].reason, "%s", faults[i].message);
    if (req->fault.retry_after_s) {
        status.details = json_object_new_object();
        sw_json_set(status.details, json_object_new_int(req->fault.retry_after_s),
                    "retryAfterSeconds", NULL);
    }
    req->form = SW_FORM_JSON;
    sw_rest_send_status(req, &status);
}

static void proceed(void *arg)
{
    struct sw_req *req = arg;
    switch (req->fault.type) {
    case SW_FAULT_ERROR:
        answer_fault(req);
        break;
    case SW_FAULT_RESET:
        sw_rest_note_answer(req, 0);
        sw_serve_abort(req->reply, true);
        break;
    case SW_FAULT_HANG:
        sw_rest_note_answer(req, 0);
        break; /* the client closes the connection */
    default:
        answer(req);
    }
}

static void on_over(void *arg)
{
    struct sw_req *req = arg;
    sw_rest_watch_done(req);
    sw_rest_log_done(req);
    sw_rest_proxy_done(req);
    sw_req_free(req);
}

static void on_request(const struct sw_serve_request *request, struct sw_serve_reply *reply,
                       void *arg)
{
    struct sw_rest *rest = arg;
    struct sw_req *req = sw_req_new(request, reply);
    req->is_trusted = sw_serve_is_trusted(reply);
    req->address = rest->address;
    req->on_answer = rest->config.on_answer;
    req->on_answer_arg = rest->config.arg;
    req->store = rest->config.store;
    req->rbac = rest->config.rbac;
    req->admin_token = rest->config.admin_token;
    req->info.n = ++rest->n_requests;
    sw_serve_on_close(reply, on_over, req);
    if (rest->config.on_request)
        rest->config.on_request(&req->info, &req->fault, rest->config.arg);
    if (req->fault.delay_ms <= 0) {
        proceed(req);
        return;
    }
    req->timer = sw_timer_new(rest->config.loop, proceed, req);
    sw_timer_set(req->timer, req->fault.delay_ms);
}

int sw_rest_open(const struct sw_rest_config *config, struct sw_rest **out, struct sw_err *err)
{
    static const struct sw_serve_route all[] = { { NULL, NULL, on_request } };
    struct sw_rest *rest = sw_zalloc(1, sizeof *rest);
    rest->config = *config;
    int port;
    int rc = sw_serve_parse_address(config->listen ? config->listen : "127.0.0.1:0", &rest->host,
                                    &port, err);
    if (rc == 0 && !rest->host)
        rest->host = sw_strdup("0.0.0.0");
    /* No deadlines: on a virtual clock, days can pass between two turns of the loop. */
    if (rc == 0)
        rc = sw_serve_open(
            config->loop,
            &(struct sw_serve_opts){ .routes = all,
                                     .n_routes = SW_COUNT(all),
                                     .arg = rest,
                                     .address = rest->host,
                                     .port = port,
                                     .tls = config->cert_pem ? &sw_serve_openssl : NULL,
                                     .cert_pem = config->cert_pem,
                                     .key_pem = config->key_pem,
                                     .no_deadlines = true,
                                     .max_head_bytes = MAX_HEAD,
                                     .max_bodies_bytes = MAX_BODIES,
                                     .max_conns = MAX_CONNS,
                                     .trusted_peers = "127.0.0.1,::1" },
            &rest->serve, err);
    if (rc < 0) {
        sw_rest_close(rest);
        return rc;
    }
    note_address(rest);
    *out = rest;
    return 0;
}

void sw_rest_close(struct sw_rest *rest)
{
    if (!rest)
        return;
    sw_serve_close(rest->serve);
    free(rest->host);
    free(rest->address);
    free(rest);
}
