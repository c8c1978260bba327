/* The third version, as JSON: for each group version its kinds, with the schemas of custom ones. */
#include "emulator/api/openapi.h"
#include "emulator/api/answer.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/status.h"

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
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, kind->group, "group", NULL);
    sw_json_set_str(doc, kind->kind, "kind", NULL);
    sw_json_set_str(doc, version, "version", NULL);
    return doc;
}

static char *schema_name(const struct sw_emu_kind *kind, const char *version)
{
    return sw_printf("%s.%s.%s", kind->group[0] ? kind->group : "io.k8s.api.core", version,
                     kind->kind);
}

static json_object *plain_schema(const char *type, const char *description)
{
    json_object *schema = json_object_new_object();
    sw_json_set_str(schema, type, "type", NULL);
    sw_json_set_str(schema, description, "description", NULL);
    return schema;
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
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, name, "name", NULL);
    sw_json_set_str(doc, "query", "in", NULL);
    sw_json_set_str(doc, "string", "schema", "type", NULL);
    return doc;
}

/* What a client reads in the description of PATCH: its parameters, and the types of patches. The
 * built-in kinds' strategic merge is left out: clients know their merge keys themselves. */
static json_object *patch_operation(const struct sw_req *req, const struct sw_emu_kind *kind,
                                    const char *version)
{
    json_object *op = json_object_new_object();
    json_object *parameters = sw_json_need_list(op, "parameters", NULL);
    json_object_array_add(parameters, parameter("dryRun"));
    json_object_array_add(parameters, parameter("fieldManager"));
    if (sw_store_minor(req->store) >= 25)
        json_object_array_add(parameters, parameter("fieldValidation"));
    sw_json_set(op, json_object_new_object(), "requestBody", "content",
                "application/merge-patch+json", NULL);
    sw_json_set(op, json_object_new_object(), "requestBody", "content",
                "application/apply-patch+yaml", NULL);
    sw_json_set_str(op, "patch", "x-kubernetes-action", NULL);
    sw_json_set(op, gvk(kind, version), "x-kubernetes-group-version-kind", NULL);
    return op;
}

static void describe(const struct sw_req *req, const struct sw_emu_kind *kind, const char *version,
                     json_object *doc)
{
    SW_AUTO_CHARS *path = sw_openapi_path(kind, version);
    SW_AUTO_CHARS *name = schema_name(kind, version);
    sw_json_set(doc, patch_operation(req, kind, version), "paths", path, "patch", NULL);
    sw_json_set(doc, schema_of(kind, version), "components", "schemas", name, NULL);
}

static bool send_group_version(struct sw_req *req, const char *wanted)
{
    json_object *doc = json_object_new_object();
    const struct sw_emu_kind *kind;
    bool any = false;
    sw_json_set_str(doc, "3.0.0", "openapi", NULL);
    sw_json_set_str(doc, "Kubernetes", "info", "title", NULL);
    sw_json_set_str(doc, req->kube_version, "info", "version", NULL);
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++) {
        for (size_t v = 0; kind->served && kind->versions[v]; v++) {
            SW_AUTO_CHARS *path = group_path(kind->group, kind->versions[v]);
            if (strcmp(path, wanted) != 0)
                continue;
            describe(req, kind, kind->versions[v], doc);
            any = true;
        }
    }
    if (any)
        sw_rest_send_doc(req, 200, doc);
    else
        json_object_put(doc);
    return any;
}

void sw_openapi_v3(struct sw_req *req)
{
    const char *path = req->path + strlen("/openapi/v3");
    if (sw_store_minor(req->store) < 24) /* alpha before */
        path = NULL;
    else if (path[0] == '\0' || path[1] == '\0') {
        send_index(req);
        return;
    }
    if (path && send_group_version(req, path + 1))
        return;
    SW_STATUS(status);
    (void)sw_status_set(&status, 404, "NotFound",
                        "the server could not find the requested resource");
    sw_rest_send_status(req, &status);
}
