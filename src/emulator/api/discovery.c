/* The paths that are no resources: /api, /apis, their group versions, /version, /healthz, /openapi.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/discovery.h"
#include "emulator/api/openapi.h"
#include "emulator/store/document.h"

/* ---- group versions -----------------------------------------------------------------------------
 */

struct sw_api_group sw_discovery_group(struct sw_store *store, const char *name)
{
    struct sw_api_group g = { .name = name };
    const struct sw_emu_kind *kind;
    for (size_t k = 0; (kind = sw_kinds_nth(sw_store_kinds(store), k)); k++) {
        if (!kind->served || strcmp(kind->group, name) != 0)
            continue;
        for (size_t v = 0; kind->versions[v] && g.n < SW_COUNT(g.versions); v++) {
            size_t i = 0;
            while (i < g.n && strcmp(g.versions[i], kind->versions[v]) != 0)
                i++;
            if (i == g.n)
                g.versions[g.n++] = kind->versions[v];
        }
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
    SW_AUTO_CHARS *both = sw_printf("%s/%s", g->name, g->versions[i]);
    return sw_doc_new("groupVersion", sw_str(both), "version", sw_str(g->versions[i]), NULL);
}

/* An APIGroup; @typed: with kind and apiVersion, which the groups of a list do not have. */
static json_object *group_doc(const struct sw_api_group *g, bool typed)
{
    json_object *versions = json_object_new_array();
    for (size_t i = 0; i < g->n; i++)
        json_object_array_add(versions, version_doc(g, i));
    return sw_doc_new("kind", typed ? sw_str("APIGroup") : NULL, "apiVersion",
                      typed ? sw_str("v1") : NULL, "name", sw_str(g->name), "versions", versions,
                      "preferredVersion", version_doc(g, 0), NULL);
}

static void send_groups(struct sw_req *req)
{
    if (sw_discovery_aggregated(req, false))
        return;
    json_object *groups = json_object_new_array();
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        if (!kind->group[0] || !sw_discovery_is_first(req->store, i))
            continue;
        struct sw_api_group g = sw_discovery_group(req->store, kind->group);
        json_object_array_add(groups, group_doc(&g, false));
    }
    sw_rest_send_doc(req, 200,
                     sw_doc_new("kind", sw_str("APIGroupList"), "apiVersion", sw_str("v1"),
                                "groups", groups, NULL));
}

static void send_core_versions(struct sw_req *req)
{
    if (sw_discovery_aggregated(req, true))
        return;
    json_object *cidr = sw_doc_new("clientCIDR", sw_str("0.0.0.0/0"), "serverAddress",
                                   sw_str(req->address), NULL);
    sw_rest_send_doc(req, 200,
                     sw_doc_new("kind", sw_str("APIVersions"), "apiVersion", sw_str("v1"),
                                "versions", sw_doc_list(sw_str("v1"), NULL),
                                "serverAddressByClientCIDRs", sw_doc_list(cidr, NULL), NULL));
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

/* Subresources whose kind or verbs are not those of their resource. */
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
    SW_AUTO_CHARS *name = sub ? sw_printf("%s/%.*s", kind->plural, (int)len, sub)
                              : sw_strdup(kind->plural);
    const char *group = NULL, *version = NULL;
    const char *own_kind = kind->kind, *verbs = "get,patch,update";
    if (!sub)
        verbs = kind->verbs ? kind->verbs
                            : "create,delete,deletecollection,get,list,patch,update,watch";
    for (size_t i = 0; sub && i < SW_COUNT(subresources); i++) {
        if (strlen(subresources[i].name) != len || strncmp(subresources[i].name, sub, len) != 0)
            continue;
        verbs = subresources[i].verbs;
        own_kind = subresources[i].kind ? subresources[i].kind : own_kind;
        group = subresources[i].group;
        version = subresources[i].version;
    }
    return sw_doc_new("name", sw_str(name), "singularName", sw_str(sub ? "" : kind->singular),
                      "namespaced", sw_bool(kind->namespaced), "group",
                      group ? sw_str(group) : NULL, "version", version ? sw_str(version) : NULL,
                      "kind", sw_str(own_kind), "verbs", list_of(verbs), "shortNames",
                      !sub && kind->short_names ? list_of(kind->short_names) : NULL, "categories",
                      !sub && kind->categories ? list_of(kind->categories) : NULL, NULL);
}

static void add_resources(struct sw_store *store, const struct sw_emu_kind *kind, json_object *list)
{
    const struct sw_builtin *row = kind->builtin;
    json_object_array_add(list, resource_doc(kind, NULL, 0));
    for (const char *sub = row ? row->subresources : NULL; sub && *sub; sub += *sub == ',') {
        size_t len = strcspn(sub, ",");
        json_object *doc = resource_doc(kind, sub, len);
        if (sw_store_minor(store) < 22 &&
            strcmp(sw_json_str(doc, "", "kind", NULL), "Eviction") == 0)
            sw_json_set_str(doc, "v1beta1", "version", NULL);
        json_object_array_add(list, doc);
        sub += len;
    }
    if (kind->has_scale)
        json_object_array_add(list, resource_doc(kind, "scale", 5));
    if (kind->has_status)
        json_object_array_add(list, resource_doc(kind, "status", 6));
}

json_object *sw_discovery_resources(struct sw_store *store, const char *group, const char *version,
                                    const struct sw_emu_kind *omitted)
{
    json_object *list = json_object_new_array();
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(store), i)); i++)
        if (kind->served && kind != omitted && strcmp(kind->group, group) == 0 &&
            sw_kind_serves(kind, version))
            add_resources(store, kind, list);
    return list;
}

static bool send_resources(struct sw_req *req)
{
    const struct sw_emu_kind *kind, *omitted = NULL;
    if (req->fault.type == SW_FAULT_STALE) /* without the kind whose CRD came last */
        for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++)
            if (kind->served && kind->crd && strcmp(kind->group, req->group) == 0)
                omitted = kind;
    json_object *list = sw_discovery_resources(req->store, req->group, req->version, omitted);
    SW_AUTO_CHARS *version = req->group[0] ? sw_printf("%s/%s", req->group, req->version)
                                           : sw_strdup(req->version);
    if (json_object_array_length(list) == 0) {
        json_object_put(list);
        return false;
    }
    sw_rest_send_doc(req, 200,
                     sw_doc_new("kind", sw_str("APIResourceList"), "apiVersion", sw_str("v1"),
                                "groupVersion", sw_str(version), "resources", list, NULL));
    return true;
}

/* ---- paths --------------------------------------------------------------------------------------
 */

static void send_version(struct sw_req *req)
{
    SW_AUTO_CHARS *git = sw_printf("v1.%d.0", sw_store_minor(req->store));
    SW_AUTO_CHARS *minor = sw_printf("%d", sw_store_minor(req->store));
    sw_rest_send_doc(req, 200,
                     sw_doc_new("major", sw_str("1"), "minor", sw_str(minor), "gitVersion",
                                sw_str(git), "gitCommit",
                                sw_str("0000000000000000000000000000000000000000"), "gitTreeState",
                                sw_str("clean"), "buildDate", sw_str("2024-01-01T00:00:00Z"),
                                "goVersion", sw_str("go1.21.0"), "compiler", sw_str("gc"),
                                "platform", sw_str("linux/amd64"), NULL));
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
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < SW_COUNT(paths); i++)
        json_object_array_add(list, sw_str(paths[i]));
    sw_rest_send_doc(req, 200, sw_doc_new("paths", list, NULL));
}

static const struct {
    const char *path;
    bool below; /* and the paths below it */
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

/* Whether @path is @prefix, or (@below) lies below it. "/apis/" is "/apis". */
static bool is_path(const char *path, const char *prefix, bool below)
{
    size_t len = strlen(prefix);
    if (strncmp(path, prefix, len) != 0)
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
    if (!req->group || !req->group[0])
        return false;
    struct sw_api_group g = sw_discovery_group(req->store, req->group);
    if (g.n > 0)
        sw_rest_send_doc(req, 200, group_doc(&g, true));
    return g.n > 0;
}
