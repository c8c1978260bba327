/* discovery_aggregated: all groups, versions and kinds in one document (apidiscovery.k8s.io).
 * Source: Kubernetes "Aggregated Discovery". Pinned by test/emulator/emulator/api_discovery_test.c.
 */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/discovery.h"
#include "emulator/store/document.h"

static json_object *kind_of(json_object *resource, const char *group, const char *version)
{
    return sw_doc_new("group", sw_str(sw_json_str(resource, group, "group", NULL)), "version",
                      sw_str(sw_json_str(resource, version, "version", NULL)), "kind",
                      sw_str(sw_json_str(resource, "", "kind", NULL)), NULL);
}

/* A counted field; NULL: missing. */
static json_object *field(json_object *resource, const char *name)
{
    return json_object_get(sw_json_get(resource, name));
}

/* In the flat list, subresources follow their resource; here they are a list in it. */
static json_object *version_doc(struct sw_store *store, const char *group, const char *version)
{
    json_object *list = json_object_new_array(), *last = NULL;
    SW_AUTO_JSON *flat = sw_discovery_resources(store, group, version, NULL);
    for (size_t i = 0; i < sw_json_len(flat); i++) {
        json_object *resource = sw_json_at(flat, i);
        const char *slash = strchr(sw_json_str(resource, "", "name", NULL), '/');
        bool namespaced = sw_json_bool(resource, false, "namespaced", NULL);
        if (slash && last) {
            json_object_array_add(sw_json_need_list(last, "subresources", NULL),
                                  sw_doc_new("subresource", sw_str(slash + 1), "responseKind",
                                             kind_of(resource, group, version), "verbs",
                                             field(resource, "verbs"), NULL));
            continue;
        }
        last = sw_doc_new(
            "resource", field(resource, "name"), "responseKind", kind_of(resource, group, version),
            "scope", sw_str(namespaced ? "Namespaced" : "Cluster"), "singularResource",
            field(resource, "singularName"), "verbs", field(resource, "verbs"), "shortNames",
            field(resource, "shortNames"), "categories", field(resource, "categories"), NULL);
        json_object_array_add(list, last);
    }
    return sw_doc_new("version", sw_str(version), "resources", list, "freshness", sw_str("Current"),
                      NULL);
}

/* The first version that the client accepts, in its order, and the release has. NULL: none. */
static const char *choose(const struct sw_req *req)
{
    const char *accept = req->accept;
    for (; accept && *accept; accept += *accept == ',') {
        size_t len = strcspn(accept, ",");
        SW_AUTO_CHARS *one = sw_strndup(accept, len);
        accept += len;
        if (!strstr(one, "as=APIGroupDiscoveryList"))
            continue;
        if (strstr(one, "v=v2beta1") ? sw_store_minor(req->store) >= 27
                                     : sw_store_minor(req->store) >= 30)
            return strstr(one, "v=v2beta1") ? "v2beta1" : "v2";
    }
    return NULL;
}

bool sw_discovery_aggregated(struct sw_req *req, bool core)
{
    const char *version = choose(req);
    if (!version)
        return false;
    json_object *items = json_object_new_array();
    const struct sw_emu_kind *kind;
    SW_AUTO_CHARS *api_version = sw_printf("apidiscovery.k8s.io/%s", version);
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        if (!kind->group[0] != core || !sw_discovery_is_first(req->store, i))
            continue;
        json_object *versions = json_object_new_array();
        struct sw_api_group g = sw_discovery_group(req->store, kind->group);
        for (size_t v = 0; v < g.n; v++)
            json_object_array_add(versions, version_doc(req->store, g.name, g.versions[v]));
        json_object *meta = sw_doc_new("name", core ? NULL : sw_str(g.name), NULL);
        json_object_array_add(items, sw_doc_new("metadata", meta, "versions", versions, NULL));
    }
    SW_AUTO_JSON *doc = sw_doc_new("kind", sw_str("APIGroupDiscoveryList"), "apiVersion",
                                   sw_str(api_version), "metadata", json_object_new_object(),
                                   "items", items, NULL);
    SW_AUTO_CHARS *type = sw_printf(
        "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", version);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    sw_rest_send(req, 200, type, text, len);
    return true;
}
