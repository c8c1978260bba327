/* The parts of a request's target: group, version, namespace, resource, name, subresource,
 * parameters; and the representation. Source: Kubernetes API concepts, "Resource URIs". */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/json/json.h"
#include "data/text/percent.h"
#include "emulator/admission/webhook.h"
#include "emulator/api/request.h"

/* @plus: '+' is a space. */
static char *decode(const char *text, size_t len, bool plus)
{
    char *out = sw_strndup(text, len);
    for (char *at = out; plus && (at = strchr(at, '+'));)
        *at = ' ';
    (void)sw_percent_decode(out, len, out);
    return out;
}

static void parse_params(struct sw_req *req, const char *query)
{
    while (*query) {
        size_t len = strcspn(query, "&"), name_len = strcspn(query, "=&");
        const char *value = query + name_len + (query[name_len] == '=');
        size_t value_len = len > name_len ? len - name_len - 1 : 0;
        SW_GROW(req->params, req->n_params, req->cap_params);
        req->params[req->n_params++] = (struct sw_param){ decode(query, name_len, true),
                                                          decode(value, value_len, true) };
        query += len + (query[len] == '&');
    }
}

const char *sw_req_param(const struct sw_req *req, const char *name)
{
    for (size_t i = 0; i < req->n_params; i++)
        if (strcmp(req->params[i].name, name) == 0)
            return req->params[i].value;
    return NULL;
}

bool sw_req_flag(const struct sw_req *req, const char *name)
{
    const char *value = sw_req_param(req, name);
    return value && strcmp(value, "false") != 0 && strcmp(value, "0") != 0;
}

/* The next segment of a path, decoded; NULL at its end. */
static char *next_segment(const char **path)
{
    while (**path == '/')
        ++*path;
    size_t len = strcspn(*path, "/");
    if (len == 0)
        return NULL;
    char *segment = decode(*path, len, false);
    *path += len;
    return segment;
}

/* Split the path after the version. */
static void parse_resource(struct sw_req *req, const char *path)
{
    req->resource = next_segment(&path);
    if (!req->resource)
        return;
    if (strcmp(req->resource, "namespaces") != 0) {
        req->name = next_segment(&path);
        req->subresource = req->name ? next_segment(&path) : NULL;
    } else {
        req->ns = next_segment(&path);
        char *next = req->ns ? next_segment(&path) : NULL;
        bool own = !next || strcmp(next, "status") == 0 || strcmp(next, "finalize") == 0;
        if (own) { /* the namespace itself */
            req->name = SW_TAKE(req->ns);
            req->subresource = next;
            return;
        }
        free(req->resource);
        req->resource = next;
        req->name = next_segment(&path);
        req->subresource = req->name ? next_segment(&path) : NULL;
    }
    if (sw_streq(req->subresource, "proxy")) {
        req->proxy_path = sw_strdup(*path ? path + 1 : path);
        return;
    }
    SW_AUTO_CHARS *more = req->subresource ? next_segment(&path) : NULL;
    if (more) { /* no subresource has a path below it */
        sw_text_set(&req->subresource, "?");
    }
}

static void parse_path(struct sw_req *req, const char *path)
{
    req->path = decode(path, strlen(path), false);
    SW_AUTO_CHARS *first = next_segment(&path);
    if (sw_streq(first, "api")) {
        req->group = sw_strdup("");
        req->version = next_segment(&path);
    } else if (sw_streq(first, "apis")) {
        req->group = next_segment(&path);
        req->version = next_segment(&path);
    }
    if (req->version)
        parse_resource(req, path);
}

/* ---- representations ----------------------------------------------------------------------------
 */

/* Read a clause of Accept: "application/json;as=Table;v=v1;g=meta.k8s.io". @return false: not
 * available */
static bool accepts(const char *clause, size_t len, enum sw_form *form)
{
    SW_AUTO_CHARS *text = sw_strndup(clause, len);
    char *semi = strchr(text, ';');
    bool known = true;
    *form = SW_FORM_JSON;
    if (semi && strcasestr(semi, "as=Table"))
        *form = SW_FORM_TABLE;
    else if (semi && strcasestr(semi, "as=PartialObjectMetadata"))
        *form = SW_FORM_PARTIAL;
    else if (semi && (strcasestr(semi, "as=") || strcasestr(semi, "g=apidiscovery")))
        known = false;
    if (semi)
        *semi = '\0';
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    if (strcmp(text, "application/yaml") == 0)
        *form = SW_FORM_YAML;
    else if (strcmp(text, "application/json") != 0 && strcmp(text, "*/*") != 0 &&
             strcmp(text, "application/*") != 0)
        known = false;
    return known;
}

bool sw_req_negotiate(struct sw_req *req)
{
    const char *accept = req->accept;
    bool any = false;
    req->form = SW_FORM_JSON;
    for (; accept && *accept; accept += *accept == ',') {
        accept += strspn(accept, " ");
        size_t len = strcspn(accept, ",");
        if (len && accepts(accept, len, &req->form))
            return true;
        any = any || len;
        accept += len;
    }
    req->form = SW_FORM_JSON;
    return !any;
}

/* ---- the request --------------------------------------------------------------------------------
 */

static const char *verb_of(const struct sw_req *req)
{
    static const struct {
        const char *method, *one, *many;
    } verbs[] = {
        { "GET", "get", "list" },       { "HEAD", "get", "list" },
        { "POST", "create", "create" }, { "PUT", "update", "update" },
        { "PATCH", "patch", "patch" },  { "DELETE", "delete", "deletecollection" },
    };
    if (!req->resource)
        return strcmp(req->method, "GET") == 0 ? "get" : req->method;
    for (size_t i = 0; i < SW_COUNT(verbs); i++) {
        if (strcmp(verbs[i].method, req->method) != 0)
            continue;
        bool list = !req->name && i == 0;
        if (i == 0 && sw_req_flag(req, "watch") && (list || !req->subresource))
            return "watch";
        return req->name ? verbs[i].one : verbs[i].many;
    }
    return req->method;
}

struct sw_req *sw_req_new(const struct sw_serve_request *r, struct sw_serve_reply *reply)
{
    struct sw_req *req = sw_zalloc(1, sizeof *req);
    req->reply = reply;
    req->method = sw_strndup(r->method, r->method_len);
    req->target = sw_strndup(r->path, r->target_len);
    req->query = req->target + r->path_len + (r->target_len > r->path_len);
    req->accept = sw_serve_header(r, "Accept");
    req->user_agent = sw_serve_header(r, "User-Agent");
    req->as_user = sw_serve_header(r, "Impersonate-User");
    req->content_type = sw_serve_header(r, "Content-Type");
    req->proxied = sw_serve_header(r, "X-Slipway-Authorization");
    req->authorization = sw_serve_header(r, "Authorization");
    for (char *group;
         (group = sw_serve_header_nth(r, "Impersonate-Group", sw_json_len(req->as_groups)));
         free(group)) {
        if (!req->as_groups)
            req->as_groups = json_object_new_array();
        json_object_array_add(req->as_groups, json_object_new_string(group));
    }
    req->body = sw_strndup(r->body, r->body_len);
    req->body_len = r->body_len;
    SW_AUTO_CHARS *path = sw_strndup(r->path, r->path_len);
    parse_path(req, path);
    parse_params(req, req->query);
    req->info = (struct sw_emu_request){ .verb = verb_of(req),
                                         .group = req->group ? req->group : "",
                                         .version = req->version,
                                         .resource = req->resource,
                                         .subresource = req->subresource,
                                         .ns = req->ns,
                                         .name = req->name,
                                         .path = req->target,
                                         .user_agent = req->user_agent,
                                         .as_user = req->as_user,
                                         .content_type = req->content_type,
                                         .body = req->body,
                                         .body_len = req->body_len };
    return req;
}

void sw_req_free(struct sw_req *req)
{
    for (size_t i = 0; i < req->n_params; i++) {
        free(req->params[i].name);
        free(req->params[i].value);
    }
    free(req->params);
    free(req->method);
    free(req->target);
    free(req->accept);
    free(req->user_agent);
    free(req->as_user);
    json_object_put(req->review_user);
    free(req->content_type);
    free(req->proxied);
    free(req->authorization);
    (void)json_object_put(req->as_groups);
    sw_user_done(&req->user);
    free(req->body);
    free(req->group);
    free(req->version);
    free(req->resource);
    free(req->ns);
    free(req->name);
    free(req->subresource);
    free(req->path);
    free(req->warnings);
    free(req->manager);
    sw_timer_free(req->timer);
    sw_session_free(req->session);
    free(req->proxy_path);
    free(req);
}
