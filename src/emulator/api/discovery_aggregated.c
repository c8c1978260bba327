/* discovery_aggregated: all groups, versions and kinds in one document (apidiscovery.k8s.io).
 * Source: Kubernetes "Aggregated Discovery". Pinned by test/emulator/emulator/api_discovery_test.c.
 */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/discovery.h"

static json_object *kind_of(json_object *resource, const char *group, const char *version)
{
    json_object *out = json_object_new_object();
    sw_json_set_str(out, sw_json_str(resource, group, "group", NULL), "group", NULL);
    sw_json_set_str(out, sw_json_str(resource, version, "version", NULL), "version", NULL);
    sw_json_set_str(out, sw_json_str(resource, "", "kind", NULL), "kind", NULL);
    return out;
}

static void copy(json_object *to, const char *as, json_object *from, const char *field)
{
    json_object *value = sw_json_get(from, field);
    if (value)
        json_object_object_add(to, as, json_object_get(value));
}

static json_object *main_resource(json_object *resource, const char *group, const char *version)
{
    json_object *out = json_object_new_object();
    bool namespaced = sw_json_bool(resource, false, "namespaced", NULL);
    copy(out, "resource", resource, "name");
    json_object_object_add(out, "responseKind", kind_of(resource, group, version));
    sw_json_set_str(out, namespaced ? "Namespaced" : "Cluster", "scope", NULL);
    copy(out, "singularResource", resource, "singularName");
    copy(out, "verbs", resource, "verbs");
    copy(out, "shortNames", resource, "shortNames");
    copy(out, "categories", resource, "categories");
    return out;
}

/* A subresource goes to the resource before it. */
static void add_subresource(json_object *to, json_object *resource, const char *name,
                            const char *group, const char *version)
{
    json_object *sub = json_object_new_object();
    sw_json_set_str(sub, name, "subresource", NULL);
    json_object_object_add(sub, "responseKind", kind_of(resource, group, version));
    copy(sub, "verbs", resource, "verbs");
    json_object_array_add(sw_json_need_list(to, "subresources", NULL), sub);
}

static json_object *version_doc(struct sw_store *store, const char *group, const char *version)
{
    json_object *out = json_object_new_object(), *list = json_object_new_array();
    json_object *flat = sw_discovery_resources(store, group, version, NULL), *last = NULL;
    for (size_t i = 0; i < sw_json_len(flat); i++) {
        json_object *resource = sw_json_at(flat, i);
        const char *slash = strchr(sw_json_str(resource, "", "name", NULL), '/');
        if (slash && last) {
            add_subresource(last, resource, slash + 1, group, version);
            continue;
        }
        last = main_resource(resource, group, version);
        json_object_array_add(list, last);
    }
    json_object_put(flat);
    sw_json_set_str(out, version, "version", NULL);
    json_object_object_add(out, "resources", list);
    sw_json_set_str(out, "Current", "freshness", NULL);
    return out;
}

static json_object *group_doc(struct sw_store *store, const char *name)
{
    json_object *out = json_object_new_object(), *versions = json_object_new_array();
    struct sw_api_group g = sw_discovery_group(store, name);
    json_object_object_add(out, "metadata", json_object_new_object());
    if (*name)
        sw_json_set_str(out, name, "metadata", "name", NULL);
    for (size_t i = 0; i < g.n; i++)
        json_object_array_add(versions, version_doc(store, name, g.versions[i]));
    json_object_object_add(out, "versions", versions);
    return out;
}

/* Of what the client takes, in its order, the first that the release has. */
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
    json_object *doc = json_object_new_object(), *items = json_object_new_array();
    const struct sw_emu_kind *kind;
    SW_AUTO_CHARS *api_version = sw_printf("apidiscovery.k8s.io/%s", version);
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++)
        if (!kind->group[0] == core && sw_discovery_is_first(req->store, i))
            json_object_array_add(items, group_doc(req->store, kind->group));
    sw_json_set_str(doc, "APIGroupDiscoveryList", "kind", NULL);
    sw_json_set_str(doc, api_version, "apiVersion", NULL);
    json_object_object_add(doc, "metadata", json_object_new_object());
    json_object_object_add(doc, "items", items);
    SW_AUTO_CHARS *type = sw_printf(
        "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", version);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    sw_rest_send(req, 200, type, text, len);
    return true;
}
