#include "emulator/apply/field_types.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/status.h"

enum type { TEXT, INT, BOOL, MAP, LIST, TEXTS, TEXT_MAP };

/* Fields by the name of the map that they are in and their own. The first row that fits counts. */
static const struct {
    const char *kind;   /* NULL: any */
    const char *parent; /* NULL: any */
    const char *name;
    enum type type;
    const char *owner, *go; /* the Go struct, and for maps and lists the type in Go; NULL: none */
} rows[] = {
    { NULL, "metadata", "name", TEXT, "ObjectMeta", NULL },
    { NULL, "metadata", "namespace", TEXT, "ObjectMeta", NULL },
    { NULL, "metadata", "labels", TEXT_MAP, "ObjectMeta", NULL },
    { NULL, "metadata", "annotations", TEXT_MAP, "ObjectMeta", NULL },
    { NULL, "metadata", "finalizers", TEXTS, "ObjectMeta", NULL },
    { NULL, "metadata", "ownerReferences", LIST, "ObjectMeta", "[]v1.OwnerReference" },
    { "ConfigMap", NULL, "data", TEXT_MAP, "ConfigMap", NULL },
    { "Secret", NULL, "stringData", TEXT_MAP, "Secret", NULL },
    { "Secret", NULL, "data", TEXT_MAP, "Secret", NULL },
    { NULL, NULL, "matchLabels", TEXT_MAP, "LabelSelector", NULL },
    { "Service", "spec", "selector", TEXT_MAP, "ServiceSpec", NULL },
    { "ResourceSlice", "spec", "nodeSelector", MAP, "ResourceSliceSpec", "v1.NodeSelector" },
    { NULL, "spec", "nodeSelector", TEXT_MAP, "PodSpec", NULL },
    { NULL, "spec", "containers", LIST, "PodSpec", "[]v1.Container" },
    { NULL, "spec", "initContainers", LIST, "PodSpec", "[]v1.Container" },
    { NULL, "spec", "volumes", LIST, "PodSpec", "[]v1.Volume" },
    { NULL, "spec", "tolerations", LIST, "PodSpec", "[]v1.Toleration" },
    { NULL, "spec", "serviceAccountName", TEXT, "PodSpec", NULL },
    { NULL, "spec", "priorityClassName", TEXT, "PodSpec", NULL },
    { NULL, "spec", "runtimeClassName", TEXT, "PodSpec", NULL },
    { NULL, "spec", "nodeName", TEXT, "PodSpec", NULL },
    { NULL, "spec", "hostNetwork", BOOL, "PodSpec", NULL },
    { NULL, "spec", "hostPID", BOOL, "PodSpec", NULL },
    { NULL, "spec", "unschedulable", BOOL, "NodeSpec", NULL },
    { NULL, "containers", "name", TEXT, "Container", NULL },
    { NULL, "containers", "image", TEXT, "Container", NULL },
    { NULL, "containers", "command", TEXTS, "Container", NULL },
    { NULL, "containers", "args", TEXTS, "Container", NULL },
    { NULL, "containers", "env", LIST, "Container", "[]v1.EnvVar" },
    { NULL, "containers", "ports", LIST, "Container", "[]v1.ContainerPort" },
    { NULL, "containers", "volumeMounts", LIST, "Container", "[]v1.VolumeMount" },
    { NULL, "containers", "resources", MAP, "Container", "v1.ResourceRequirements" },
    { NULL, "env", "name", TEXT, "EnvVar", NULL },
    { NULL, "env", "value", TEXT, "EnvVar", NULL },
    { NULL, "ports", "containerPort", INT, "ContainerPort", NULL },
    { "Service", "ports", "port", INT, "ServicePort", NULL },
    { NULL, "securityContext", "privileged", BOOL, "SecurityContext", NULL },
    { NULL, "securityContext", "runAsUser", INT, "SecurityContext", NULL },
    { "Deployment", "spec", "replicas", INT, "DeploymentSpec", NULL },
    { "ReplicaSet", "spec", "replicas", INT, "ReplicaSetSpec", NULL },
    { "StatefulSet", "spec", "replicas", INT, "StatefulSetSpec", NULL },
    { "Job", "spec", "backoffLimit", INT, "JobSpec", NULL },
    { "Job", "spec", "completions", INT, "JobSpec", NULL },
    { "Job", "spec", "parallelism", INT, "JobSpec", NULL },
};

struct check {
    const struct sw_emu_kind *kind;
    const char *version;
    struct sw_status *status;
};

static const char *go_name(json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
        return "bool";
    case json_type_int:
    case json_type_double:
        return "number";
    case json_type_string:
        return "string";
    case json_type_array:
        return "array";
    default:
        return "object";
    }
}

static int refuse(const struct check *c, size_t row, const char *path, json_object *found,
                  const char *type)
{
    return sw_status_bad_request(c->status,
                                 "%s in version \"%s\" cannot be handled as a %s: json: cannot "
                                 "unmarshal %s into Go struct field %s.%s of type %s",
                                 c->kind->kind, c->version, c->kind->kind, go_name(found),
                                 rows[row].owner, path, type);
}

static int check_field(const struct check *c, const char *parent, const char *name,
                       json_object *value, const char *path)
{
    static const struct {
        json_type json;
        const char *go;
    } types[] = {
        [TEXT] = { json_type_string, "string" },
        [INT] = { json_type_int, "int32" },
        [BOOL] = { json_type_boolean, "bool" },
        [MAP] = { json_type_object, NULL },
        [LIST] = { json_type_array, NULL },
        [TEXTS] = { json_type_array, "[]string" },
        [TEXT_MAP] = { json_type_object, "map[string]string" },
    };
    size_t row = 0;
    while (row < SW_COUNT(rows) && (strcmp(rows[row].name, name) != 0 ||
                                    (rows[row].parent && !sw_streq(rows[row].parent, parent)) ||
                                    (rows[row].kind && strcmp(rows[row].kind, c->kind->kind) != 0)))
        row++;
    if (row == SW_COUNT(rows))
        return 0;
    enum type type = rows[row].type;
    if (!json_object_is_type(value, types[type].json))
        return refuse(c, row, path, value, types[type].go ? types[type].go : rows[row].go);
    for (size_t i = 0; type == TEXTS && i < sw_json_len(value); i++)
        if (!json_object_is_type(sw_json_at(value, i), json_type_string))
            return refuse(c, row, path, sw_json_at(value, i), "string");
    if (type != TEXT_MAP)
        return 0;
    json_object_object_foreach(value, key, each)
    {
        if (each && !json_object_is_type(each, json_type_string))
            return refuse(c, row, path, each, "string");
        (void)key;
    }
    return 0;
}

static int walk(const struct check *c, json_object *value, const char *parent, const char *path)
{
    int rc = 0;
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < sw_json_len(value) && rc == 0; i++)
            rc = walk(c, sw_json_at(value, i), parent, path);
        return rc;
    }
    if (!json_object_is_type(value, json_type_object))
        return 0;
    json_object_object_foreach(value, key, child)
    {
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, path[0] ? "." : "", key);
        /* the properties of a CRD's schema have any name */
        if (!child || strcmp(key, "managedFields") == 0 || strcmp(key, "openAPIV3Schema") == 0)
            continue;
        rc = check_field(c, parent, key, child, at);
        if (rc == 0)
            rc = walk(c, child, key, at);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_typed_check(const struct sw_emu_kind *kind, const char *version, json_object *doc,
                   struct sw_status *status)
{
    struct check c = { kind, version ? version : kind->storage_version, status };
    if (kind->builtin)
        return walk(&c, doc, "", "");
    json_object *meta = sw_json_get(doc, "metadata");
    if (meta && !json_object_is_type(meta, json_type_object))
        return sw_status_bad_request(status,
                                     "%s in version \"%s\" cannot be handled as a %s: "
                                     "json: cannot unmarshal %s into Go struct field "
                                     "%s.metadata of type v1.ObjectMeta",
                                     kind->kind, c.version, kind->kind, go_name(meta), kind->kind);
    return walk(&c, meta, "metadata", "metadata");
}
