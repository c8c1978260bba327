/* OpenAPI v3, as JSON: for each group version its kinds, with the schemas of custom resources. */
#include "emulator/api/openapi.h"
#include "emulator/api/answer.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/document.h"

static char *group_path(const char *group, const char *version)
{
    return group[0] ? sw_printf("apis/%s/%s", group, version) : sw_printf("api/%s", version);
}

char *sw_openapi_path(const struct sw_emu_kind *kind, const char *version)
{
    SW_AUTO_CHARS *base = group_path(kind->group, version);
    return sw_printf("/%s/%s%s/{name}", base, kind->namespaced ? "namespaces/{namespace}/" : "",
                     kind->plural);
}

static void send_index(struct sw_req *req)
{
    json_object *doc = json_object_new_object();
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        for (size_t v = 0; kind->served && kind->versions[v]; v++) {
            SW_AUTO_CHARS *path = group_path(kind->group, kind->versions[v]);
            SW_AUTO_CHARS *url = sw_printf("/openapi/v3/%s?hash=%llx", path,
                                           (unsigned long long)sw_store_version(req->store));
            sw_json_set_str(doc, url, "paths", path, "serverRelativeURL", NULL);
        }
    }
    (void)sw_json_need_map(doc, "paths", NULL);
    sw_rest_send_doc(req, 200, doc);
}

static json_object *gvk(const struct sw_emu_kind *kind, const char *version)
{
    return sw_doc_new("group", sw_str(kind->group), "kind", sw_str(kind->kind), "version",
                      sw_str(version), NULL);
}

static json_object *plain_schema(const char *type, const char *description)
{
    return sw_doc_new("type", sw_str(type), "description", sw_str(description), NULL);
}

static json_object *schema_of(const struct sw_emu_kind *kind, const char *version)
{
    json_object *own = sw_crd_schema(kind, version);
    json_object *schema = own ? sw_json_copy(own) : plain_schema("object", "");
    json_object *properties = sw_json_need_map(schema, "properties", NULL);
    json_object_object_add(properties, "apiVersion",
                           plain_schema("string", "The version of the schema of this object."));
    json_object_object_add(properties, "kind",
                           plain_schema("string", "The REST resource this object represents."));
    json_object_object_add(properties, "metadata",
                           plain_schema("object", "Standard object metadata."));
    json_object_array_add(sw_json_need_list(schema, "x-kubernetes-group-version-kind", NULL),
                          gvk(kind, version));
    return schema;
}

static json_object *parameter(const char *name)
{
    return sw_doc_new("name", sw_str(name), "in", sw_str("query"), "schema",
                      sw_doc_new("type", sw_str("string"), NULL), NULL);
}

/* The description of PATCH, of which clients read the parameters and the types of patches. The
 * strategic merge of built-in kinds is left out: clients have their merge keys built in. */
static json_object *patch_operation(const struct sw_req *req, const struct sw_emu_kind *kind,
                                    const char *version)
{
    json_object *parameters = sw_doc_list(parameter("dryRun"), parameter("fieldManager"), NULL);
    if (sw_store_minor(req->store) >= 25)
        json_object_array_add(parameters, parameter("fieldValidation"));
    json_object *content = sw_doc_new("application/merge-patch+json", json_object_new_object(),
                                      "application/apply-patch+yaml", json_object_new_object(),
                                      NULL);
    return sw_doc_new("parameters", parameters, "requestBody", sw_doc_new("content", content, NULL),
                      "x-kubernetes-action", sw_str("patch"), "x-kubernetes-group-version-kind",
                      gvk(kind, version), NULL);
}

json_object *sw_openapi_info(const struct sw_req *req)
{
    SW_AUTO_CHARS *version = sw_printf("1.%d", sw_store_minor(req->store));
    return sw_doc_new("title", sw_str("Kubernetes"), "version", sw_str(version), NULL);
}

static bool send_group_version(struct sw_req *req, const char *expected)
{
    SW_AUTO_JSON *doc = sw_doc_new("openapi", sw_str("3.0.0"), "info", sw_openapi_info(req), NULL);
    const struct sw_emu_kind *kind;
    bool any = false;
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        for (size_t v = 0; kind->served && kind->versions[v]; v++) {
            const char *version = kind->versions[v];
            SW_AUTO_CHARS *group = group_path(kind->group, version);
            if (strcmp(group, expected) != 0)
                continue;
            SW_AUTO_CHARS *path = sw_openapi_path(kind, version);
            SW_AUTO_CHARS *name = sw_printf(
                "%s.%s.%s", kind->group[0] ? kind->group : "io.k8s.api.core", version, kind->kind);
            sw_json_set(doc, patch_operation(req, kind, version), "paths", path, "patch", NULL);
            sw_json_set(doc, schema_of(kind, version), "components", "schemas", name, NULL);
            any = true;
        }
    }
    if (any)
        sw_rest_send_doc(req, 200, SW_TAKE(doc));
    return any;
}

void sw_openapi_v3(struct sw_req *req)
{
    const char *path = req->path + strlen("/openapi/v3");
    bool served = sw_store_minor(req->store) >= 24; /* alpha before */
    if (served && (path[0] == '\0' || path[1] == '\0'))
        send_index(req);
    else if (!served || !send_group_version(req, path + 1))
        sw_rest_send_error(req, 404, "NotFound",
                           "the server could not find the requested resource");
}
