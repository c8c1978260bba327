/* verbs: the method, path, query and body of each call. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/data.h"
#include "kube/internal.h"

/** One verb. */
struct verb {
    const char *name; /* as the server's audit log has it */
    const char *method;
    const char *content_type;
    bool named;      /* acts on one object */
    bool repeatable; /* the request is idempotent */
};

/** The rows of verbs[]; from V_APPLY on they are sent as PATCH. */
enum verb_id { V_GET, V_LIST, V_CREATE, V_UPDATE, V_DELETE, V_APPLY, V_MERGE, V_JSON, V_STRATEGIC };

static const struct verb verbs[] = {
    [V_GET] = { "get", "GET", NULL, true, true },
    [V_LIST] = { "list", "GET", NULL, false, true },
    [V_CREATE] = { "create", "POST", "application/json", false, false },
    [V_UPDATE] = { "update", "PUT", "application/json", true, true },
    [V_DELETE] = { "delete", "DELETE", "application/json", true, true },
    [V_APPLY] = { "apply", "PATCH", "application/apply-patch+yaml", true, true },
    [V_MERGE] = { "patch", "PATCH", "application/merge-patch+json", true, true },
    [V_JSON] = { "patch", "PATCH", "application/json-patch+json", true, false },
    [V_STRATEGIC] = { "patch", "PATCH", "application/strategic-merge-patch+json", true, true },
};

/** The arguments of one call. */
struct call {
    enum verb_id verb;
    const struct sw_kind *kind;
    const char *ns;
    const char *name;
    struct json_object *body;
    const struct sw_request_opts *opts;
};

static const struct sw_request_opts no_opts;

/** The call for messages: "get pods 'ns/name'". */
static char *call_text(const struct call *c)
{
    const char *verb = verbs[c->verb].name;
    SW_AUTO_CHARS *resource = kube_resource_name(c->kind, c->opts->subresource);
    bool in_ns = c->kind->namespaced && c->ns && c->ns[0];
    if (c->name)
        return sw_printf("%s %s '%s%s%s'", verb, resource, in_ns ? c->ns : "", in_ns ? "/" : "",
                         c->name);
    return sw_printf("%s %s%s%s%s", verb, resource, in_ns ? " in namespace '" : "",
                     in_ns ? c->ns : "", in_ns ? "'" : "");
}

/** Refuse what would be another request than the intended one (an empty name: the collection). */
static void check_call(const struct call *c, struct sw_err *err)
{
    if (verbs[c->verb].named && (!c->name || !c->name[0]))
        (void)sw_err_set(err, SW_INVALID, "a name is needed");
    else if (c->kind->namespaced && (!c->ns || !c->ns[0]) && c->verb != V_LIST)
        (void)sw_err_set(err, SW_INVALID, "a namespace is needed");
    else if (!c->kind->plural || !c->kind->plural[0])
        (void)sw_err_set(err, SW_INVALID, "not a kind that can be asked for");
}

static void add_query(char **path, const struct sw_kube *k, const struct call *c)
{
    const struct sw_request_opts *o = c->opts;
    if (c->verb == V_GET)
        return;
    if (c->verb == V_LIST) {
        kube_path_add(path, "labelSelector", o->label_selector);
        kube_path_add(path, "fieldSelector", o->field_selector);
        kube_path_add_int(path, "limit", o->page_size ? o->page_size : PAGE_SIZE);
        return;
    }
    if (c->verb != V_DELETE)
        kube_path_add(path, "fieldManager",
                      o->field_manager ? o->field_manager : k->opts.field_manager);
    kube_path_add(path, "force", c->verb == V_APPLY && o->force ? "true" : NULL);
    kube_path_add(path, "dryRun", o->dry_run ? "All" : NULL);
    kube_path_add(path, "fieldValidation", o->strict_fields ? "Strict" : NULL);
}

static struct json_object *delete_body(const struct sw_request_opts *o)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "DeleteOptions", "kind", NULL);
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    if (o->propagation)
        sw_json_set_str(doc, o->propagation, "propagationPolicy", NULL);
    if (o->uid)
        sw_json_set_str(doc, o->uid, "preconditions", "uid", NULL);
    if (o->resource_version)
        sw_json_set_str(doc, o->resource_version, "preconditions", "resourceVersion", NULL);
    if (o->grace_period_s)
        sw_json_set(doc, json_object_new_int(o->grace_period_s > 0 ? o->grace_period_s : 0),
                    "gracePeriodSeconds", NULL);
    return doc;
}

/* Can a conflict that has no cause of its own be with a writer of the same moment alone? */
static bool is_unconditional(const struct call *c)
{
    static const char *const conditions[] = { "resourceVersion", "uid" };
    if (c->verb == V_DELETE)
        return !c->opts->resource_version;
    if (c->verb != V_MERGE && c->verb != V_STRATEGIC && c->verb != V_APPLY)
        return false;
    for (size_t i = 0; i < SW_COUNT(conditions); i++)
        if (sw_json_find(c->body, "metadata", conditions[i], NULL))
            return false;
    return true;
}

static void common_opts(struct request_spec *s, const struct sw_request_opts *o)
{
    s->retries = o->retries;
    s->ahead = o->ahead;
    s->timeout_ms = o->timeout_ms;
    s->as_user = sw_strdup(o->as_user);
    s->purpose = o->purpose;
    s->max_tree_bytes = o->max_tree_bytes;
}

static struct sw_kube_request *call(struct sw_kube *k, struct call c, sw_kube_answer_fn *cb,
                                    void *arg)
{
    if (!c.opts)
        c.opts = &no_opts;
    SW_ERR(broken);
    check_call(&c, &broken);
    const struct verb *verb = &verbs[c.verb];
    struct request_spec s = { .verb = c.verb == V_APPLY ? "patch" : verb->name,
                              .method = verb->method,
                              .resource = kube_resource_name(c.kind, c.opts->subresource),
                              .what = call_text(&c),
                              .path = kube_path(c.kind, c.ns, c.name, c.opts->subresource),
                              .repeatable = verb->repeatable || c.opts->dry_run,
                              .unconditional = is_unconditional(&c),
                              .form = c.verb == V_LIST ? FORM_LIST : FORM_OBJECT,
                              .fields = c.opts->fields };
    common_opts(&s, c.opts);
    add_query(&s.path, k, &c);
    SW_AUTO_JSON *doc = c.verb == V_DELETE ? delete_body(c.opts) : json_object_get(c.body);
    if (doc) {
        s.body = sw_json_text(doc, SW_JSON_PLAIN, &s.body_len);
        s.content_type = sw_strdup(verb->content_type);
    }
    return kube_request_new(k, &s, &broken, cb, arg);
}

struct sw_kube_request *sw_kube_get(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                    const char *name, const struct sw_request_opts *opts,
                                    sw_kube_answer_fn *cb, void *arg)
{
    return call(k, (struct call){ V_GET, kind, ns, name, NULL, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_list(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                     const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                     void *arg)
{
    return call(k, (struct call){ V_LIST, kind, ns, NULL, NULL, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_create(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg)
{
    return call(k, (struct call){ V_CREATE, kind, ns, name, body, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_update(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg)
{
    return call(k, (struct call){ V_UPDATE, kind, ns, name, body, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_apply(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, struct json_object *body,
                                      const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                      void *arg)
{
    return call(k, (struct call){ V_APPLY, kind, ns, name, body, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_patch(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, enum sw_kube_patch type,
                                      struct json_object *body, const struct sw_request_opts *opts,
                                      sw_kube_answer_fn *cb, void *arg)
{
    static const enum verb_id ids[] = {
        [SW_PATCH_MERGE] = V_MERGE,
        [SW_PATCH_JSON] = V_JSON,
        [SW_PATCH_STRATEGIC] = V_STRATEGIC,
    };
    return call(k, (struct call){ ids[type], kind, ns, name, body, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_delete(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg)
{
    return call(k, (struct call){ V_DELETE, kind, ns, name, NULL, opts }, cb, arg);
}

struct sw_kube_request *sw_kube_logs(struct sw_kube *k, const char *ns, const char *pod,
                                     const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                     void *arg)
{
    enum { LIMIT_BYTES = 1 << 20 };
    const struct sw_request_opts *o = opts ? opts : &no_opts;
    struct sw_request_opts as_log = *o;
    as_log.subresource = "log";
    const struct call c = { V_GET, &sw_kind_pod, ns, pod, NULL, &as_log };
    SW_ERR(broken);
    check_call(&c, &broken);
    int limit_bytes = o->limit_bytes ? o->limit_bytes : LIMIT_BYTES;
    struct request_spec s = { .verb = "get",
                              .method = "GET",
                              .resource = sw_strdup("pods/log"),
                              .what = call_text(&c),
                              .path = kube_path(&sw_kind_pod, ns, pod, "log"),
                              .repeatable = true,
                              .accept = "*/*",
                              .max_bytes = (size_t)limit_bytes + 4096, /* the server limits it */
                              .form = FORM_TEXT,
                              .on_text = o->on_text };
    common_opts(&s, o);
    s.ahead |= o->on_text != NULL; /* not behind what waits for its turn */
    kube_path_add(&s.path, "container", o->container);
    kube_path_add_int(&s.path, "tailLines", o->tail_lines);
    kube_path_add_int(&s.path, "limitBytes", o->on_text ? 0 : limit_bytes);
    kube_path_add(&s.path, "follow", o->on_text ? "true" : NULL);
    kube_path_add(&s.path, "previous", o->previous ? "true" : NULL);
    kube_path_add(&s.path, "timestamps", o->timestamps ? "true" : NULL);
    kube_path_add(&s.path, "sinceTime", o->since_time);
    return kube_request_new(k, &s, &broken, cb, arg);
}

static struct request_spec raw_spec(const char *method, const char *path,
                                    const struct sw_request_opts *o)
{
    static const char *const methods[] = { "get",    "put",  "post",   "patch",
                                           "delete", "head", "options" };
    const char *verb = "other";
    for (size_t i = 0; i < SW_COUNT(methods); i++)
        if (strcasecmp(methods[i], method) == 0)
            verb = methods[i];
    SW_AUTO_CHARS *lower = sw_strdup(method);
    for (char *p = lower; *p; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    struct request_spec s = { .verb = verb,
                              .own_method = sw_strdup(method),
                              .resource = sw_strdup(""),
                              .what = sw_printf("%s %.*s", lower, (int)strcspn(path, "?"), path),
                              .path = sw_strdup(path),
                              .body = sw_strdup(o->body),
                              .body_len = o->body ? strlen(o->body) : 0,
                              .content_type = sw_strdup(o->content_type),
                              .proxied = sw_strdup(o->proxied),
                              .repeatable = strcasecmp(method, "POST") != 0 &&
                                            strcasecmp(method, "PATCH") != 0,
                              .accept = "*/*",
                              .form = FORM_TEXT };
    if (s.body && !s.content_type)
        s.content_type = sw_strdup("application/json");
    common_opts(&s, o);
    return s;
}

struct sw_kube_request *sw_kube_raw(struct sw_kube *k, const char *method, const char *path,
                                    const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                    void *arg)
{
    SW_ERR(broken);
    if (path[0] != '/')
        (void)sw_err_set(&broken, SW_INVALID, "'%s' is no path: it must begin with '/'", path);
    struct request_spec s = raw_spec(method, path, opts ? opts : &no_opts);
    return kube_request_new(k, &s, &broken, cb, arg);
}

struct sw_kube_request *sw_kube_version(struct sw_kube *k, const struct sw_request_opts *opts,
                                        sw_kube_answer_fn *cb, void *arg)
{
    struct request_spec s = raw_spec("GET", "/version", opts ? opts : &no_opts);
    s.form = FORM_OBJECT;
    s.accept = NULL;
    return kube_request_new(k, &s, NULL, cb, arg);
}
