/* What is served: /api, /apis, their group versions, /version, /healthz, /openapi. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/discovery.h"
#include "emulator/api/openapi.h"

/* ---- group versions -----------------------------------------------------------------------------
 */

static bool has_version(const struct sw_api_group *g, const char *version)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->versions[i], version) == 0)
            return true;
    return false;
}

struct sw_api_group sw_discovery_group(struct sw_store *store, const char *name)
{
    struct sw_api_group g = { .name = name };
    const struct sw_emu_kind *kind;
    for (size_t k = 0; (kind = sw_kinds_nth(sw_store_kinds(store), k)); k++) {
        if (!kind->served || strcmp(kind->group, name) != 0)
            continue;
        for (size_t v = 0; kind->versions[v] && g.n < SW_COUNT(g.versions); v++)
            if (!has_version(&g, kind->versions[v]))
                g.versions[g.n++] = kind->versions[v];
    }
    qsort(g.versions, g.n, sizeof *g.versions, sw_version_order);
    return g;
}

bool sw_discovery_is_first(struct sw_store *store, size_t at)
{
    const struct sw_emu_kind *kind = sw_kinds_nth(sw_store_kinds(store), at), *other;
    for (size_t i = 0; i < at; i++) {
        other = sw_kinds_nth(sw_store_kinds(store), i);
        if (other->served && strcmp(other->group, kind->group) == 0)
            return false;
    }
    return kind->served;
}

static json_object *version_doc(const struct sw_api_group *g, size_t i)
{
    json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *both = sw_printf("%s/%s", g->name, g->versions[i]);
    sw_json_set_str(doc, both, "groupVersion", NULL);
    sw_json_set_str(doc, g->versions[i], "version", NULL);
    return doc;
}

static json_object *group_doc(const struct sw_api_group *g)
{
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, g->name, "name", NULL);
    json_object *versions = sw_json_need_list(doc, "versions", NULL);
    for (size_t i = 0; i < g->n; i++)
        json_object_array_add(versions, version_doc(g, i));
    sw_json_set(doc, version_doc(g, 0), "preferredVersion", NULL);
    return doc;
}

static json_object *typed(json_object *doc, const char *kind, const char *api_version)
{
    json_object *out = json_object_new_object();
    sw_json_set_str(out, kind, "kind", NULL);
    sw_json_set_str(out, api_version, "apiVersion", NULL);
    json_object_object_foreach(doc, key, value)
    {
        json_object_object_add(out, key, json_object_get(value));
    }
    json_object_put(doc);
    return out;
}

static void send_groups(struct sw_req *req)
{
    if (sw_discovery_aggregated(req, false))
        return;
    json_object *doc = json_object_new_object();
    json_object *groups = sw_json_need_list(doc, "groups", NULL);
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        if (!kind->group[0] || !sw_discovery_is_first(req->store, i))
            continue;
        struct sw_api_group g = sw_discovery_group(req->store, kind->group);
        json_object_array_add(groups, group_doc(&g));
    }
    sw_rest_send_doc(req, 200, typed(doc, "APIGroupList", "v1"));
}

static void send_core_versions(struct sw_req *req)
{
    if (sw_discovery_aggregated(req, true))
        return;
    json_object *doc = json_object_new_object(), *cidr = json_object_new_object();
    json_object_array_add(sw_json_need_list(doc, "versions", NULL), json_object_new_string("v1"));
    sw_json_set_str(cidr, "0.0.0.0/0", "clientCIDR", NULL);
    sw_json_set_str(cidr, req->address, "serverAddress", NULL);
    json_object_array_add(sw_json_need_list(doc, "serverAddressByClientCIDRs", NULL), cidr);
    sw_rest_send_doc(req, 200, typed(doc, "APIVersions", "v1"));
}

static bool send_group(struct sw_req *req)
{
    struct sw_api_group g = sw_discovery_group(req->store, req->group);
    if (g.n == 0)
        return false;
    sw_rest_send_doc(req, 200, typed(group_doc(&g), "APIGroup", "v1"));
    return true;
}

/* ---- resources ----------------------------------------------------------------------------------
 */

static json_object *list_of(const char *list)
{
    json_object *out = json_object_new_array();
    while (list && *list) {
        size_t len = strcspn(list, ",");
        json_object_array_add(out, json_object_new_string_len(list, (int)len));
        list += len + (list[len] == ',');
    }
    return out;
}

/* Subresources whose own kind is not the resource's. */
static const struct {
    const char *name, *group, *version, *kind, *verbs;
} subresources[] = {
    { "scale", "autoscaling", "v1", "Scale", "get,patch,update" },
    { "eviction", "policy", "v1", "Eviction", "create" },
    { "binding", NULL, NULL, "Binding", "create" },
    { "token", "authentication.k8s.io", "v1", "TokenRequest", "create" },
    { "log", NULL, NULL, NULL, "get" },
    { "exec", NULL, NULL, "PodExecOptions", "create,get" },
    { "attach", NULL, NULL, "PodAttachOptions", "create,get" },
    { "portforward", NULL, NULL, "PodPortForwardOptions", "create,get" },
    { "proxy", NULL, NULL, NULL, "create,delete,get,patch,update" },
    { "finalize", NULL, NULL, NULL, "update" },
};

static json_object *resource_doc(const struct sw_emu_kind *kind, const char *sub, size_t len)
{
    json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *name = sub ? sw_printf("%s/%.*s", kind->plural, (int)len, sub)
                              : sw_strdup(kind->plural);
    const char *own_kind = kind->kind, *verbs = "get,patch,update";
    sw_json_set_str(doc, name, "name", NULL);
    sw_json_set_str(doc, sub ? "" : kind->singular, "singularName", NULL);
    sw_json_set(doc, json_object_new_boolean(kind->namespaced), "namespaced", NULL);
    if (!sub)
        verbs = kind->verbs ? kind->verbs
                            : "create,delete,deletecollection,get,list,patch,update,watch";
    for (size_t i = 0; sub && i < SW_COUNT(subresources); i++) {
        if (strlen(subresources[i].name) != len || strncmp(subresources[i].name, sub, len) != 0)
            continue;
        verbs = subresources[i].verbs;
        own_kind = subresources[i].kind ? subresources[i].kind : own_kind;
        if (subresources[i].group) {
            sw_json_set_str(doc, subresources[i].group, "group", NULL);
            sw_json_set_str(doc, subresources[i].version, "version", NULL);
        }
    }
    sw_json_set_str(doc, own_kind, "kind", NULL);
    sw_json_set(doc, list_of(verbs), "verbs", NULL);
    if (!sub && kind->short_names)
        sw_json_set(doc, list_of(kind->short_names), "shortNames", NULL);
    if (!sub && kind->categories)
        sw_json_set(doc, list_of(kind->categories), "categories", NULL);
    return doc;
}

static void fix_eviction_version(struct sw_store *store, json_object *doc)
{
    if (sw_store_minor(store) < 22 && strcmp(sw_json_str(doc, "", "kind", NULL), "Eviction") == 0)
        sw_json_set_str(doc, "v1beta1", "version", NULL);
}

static void add_resources(struct sw_store *store, const struct sw_emu_kind *kind, json_object *list)
{
    const struct sw_builtin *row = kind->builtin;
    json_object_array_add(list, resource_doc(kind, NULL, 0));
    for (const char *sub = row ? row->subresources : NULL; sub && *sub; sub += *sub == ',') {
        size_t len = strcspn(sub, ",");
        json_object *doc = resource_doc(kind, sub, len);
        fix_eviction_version(store, doc);
        json_object_array_add(list, doc);
        sub += len;
    }
    if (kind->has_scale)
        json_object_array_add(list, resource_doc(kind, "scale", 5));
    if (kind->has_status)
        json_object_array_add(list, resource_doc(kind, "status", 6));
}

json_object *sw_discovery_resources(struct sw_store *store, const char *group, const char *version,
                                    const struct sw_emu_kind *but)
{
    json_object *list = json_object_new_array();
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(store), i)); i++)
        if (kind->served && kind != but && strcmp(kind->group, group) == 0 &&
            sw_kind_serves(kind, version))
            add_resources(store, kind, list);
    return list;
}

/* What came last to a group by a definition. */
static const struct sw_emu_kind *newest_kind(struct sw_store *store, const char *group)
{
    const struct sw_emu_kind *kind, *newest = NULL;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(store), i)); i++)
        if (kind->served && kind->crd && strcmp(kind->group, group) == 0)
            newest = kind;
    return newest;
}

static bool send_resources(struct sw_req *req)
{
    json_object *doc = json_object_new_object();
    bool stale = req->fault.type == SW_FAULT_STALE;
    json_object *list = sw_discovery_resources(req->store, req->group, req->version,
                                               stale ? newest_kind(req->store, req->group) : NULL);
    SW_AUTO_CHARS *version = req->group[0] ? sw_printf("%s/%s", req->group, req->version)
                                           : sw_strdup(req->version);
    bool any = json_object_array_length(list) > 0;
    sw_json_set_str(doc, version, "groupVersion", NULL);
    sw_json_set(doc, list, "resources", NULL);
    if (any)
        sw_rest_send_doc(req, 200, typed(doc, "APIResourceList", "v1"));
    else
        json_object_put(doc);
    return any;
}

/* ---- the rest -----------------------------------------------------------------------------------
 */

static void send_version(struct sw_req *req)
{
    json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *git = sw_printf("v%s.0", req->kube_version);
    SW_AUTO_CHARS *minor = sw_printf("%d", sw_store_minor(req->store));
    sw_json_set_str(doc, "1", "major", NULL);
    sw_json_set_str(doc, minor, "minor", NULL);
    sw_json_set_str(doc, git, "gitVersion", NULL);
    sw_json_set_str(doc, "0000000000000000000000000000000000000000", "gitCommit", NULL);
    sw_json_set_str(doc, "clean", "gitTreeState", NULL);
    sw_json_set_str(doc, "2024-01-01T00:00:00Z", "buildDate", NULL);
    sw_json_set_str(doc, "go1.21.0", "goVersion", NULL);
    sw_json_set_str(doc, "gc", "compiler", NULL);
    sw_json_set_str(doc, "linux/amd64", "platform", NULL);
    sw_rest_send_doc(req, 200, doc);
}

static void send_ok(struct sw_req *req)
{
    sw_rest_send(req, 200, "text/plain; charset=utf-8", "ok", 2);
}

static void send_root(struct sw_req *req)
{
    static const char *const paths[] = { "/api",     "/api/v1",     "/apis",
                                         "/healthz", "/livez",      "/readyz",
                                         "/version", "/openapi/v2", "/openapi/v3" };
    json_object *doc = json_object_new_object();
    json_object *list = sw_json_need_list(doc, "paths", NULL);
    for (size_t i = 0; i < SW_COUNT(paths); i++)
        json_object_array_add(list, json_object_new_string(paths[i]));
    sw_rest_send_doc(req, 200, doc);
}

static const struct {
    const char *path;
    bool below; /* paths that begin so, too */
    void (*answer)(struct sw_req *req);
} paths[] = {
    { "/", false, send_root },
    { "/version", false, send_version },
    { "/healthz", true, send_ok },
    { "/livez", true, send_ok },
    { "/readyz", true, send_ok },
    { "/api", false, send_core_versions },
    { "/apis", false, send_groups },
    { "/openapi/v2", false, sw_openapi_v2 },
    { "/openapi/v3", true, sw_openapi_v3 },
};

/* "/apis/" is "/apis". */
static bool is_path(const char *path, const char *wanted, bool below)
{
    size_t len = strlen(wanted);
    if (strncmp(path, wanted, len) != 0)
        return false;
    return path[len] == '\0' || (len > 1 && path[len] == '/' && (below || path[len + 1] == '\0'));
}

bool sw_rest_nonresource(struct sw_req *req)
{
    if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0)
        return false;
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        if (!is_path(req->path, paths[i].path, paths[i].below))
            continue;
        paths[i].answer(req);
        return true;
    }
    if (req->group && req->version)
        return send_resources(req);
    return req->group && req->group[0] && send_group(req);
}
