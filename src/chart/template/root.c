/* The objects of a render: what "." holds. */
#include <string.h>

#include "chart/template/lang/function.h"
#include "chart/template/template.h"
#include "chart/template/value/object.h"

/* ---- .Chart ---- */

static const struct sw_field maintainer_fields[] = {
    { "Name", "name", true, false },
    { "Email", "email", true, false },
    { "URL", "url", true, false },
};

static const struct sw_object_type maintainer_type = {
    .name = "*chart.Maintainer",
    .pointer = true,
    .fields = maintainer_fields,
    .n_fields = SW_COUNT(maintainer_fields),
};

static const struct sw_field dependency_fields[] = {
    { "Name", "name", false, false },
    { "Version", "version", true, false },
    { "Repository", "repository", false, false },
    { "Condition", "condition", true, false },
    { "Tags", "tags", true, false },
    { "Enabled", "enabled", true, false },
    { "ImportValues", "import-values", true, false },
    { "Alias", "alias", true, false },
};

static const struct sw_object_type dependency_type = {
    .name = "*chart.Dependency",
    .pointer = true,
    .fields = dependency_fields,
    .n_fields = SW_COUNT(dependency_fields),
};

static const struct sw_field metadata_fields[] = {
    { "Name", "name", true, false },
    { "Home", "home", true, false },
    { "Sources", "sources", true, false },
    { "Version", "version", true, false },
    { "Description", "description", true, false },
    { "Keywords", "keywords", true, false },
    { "Maintainers", "maintainers", true, false },
    { "Icon", "icon", true, false },
    { "APIVersion", "apiVersion", true, false },
    { "Condition", "condition", true, false },
    { "Tags", "tags", true, false },
    { "AppVersion", "appVersion", true, false },
    { "Deprecated", "deprecated", true, false },
    { "Annotations", "annotations", true, false },
    { "KubeVersion", "kubeVersion", true, false },
    { "Dependencies", "dependencies", true, false },
    { "Type", "type", true, false },
};

static int fn_metadata_validate(struct call *c)
{
    return sw_return(c, sw_value_nil());
}

static const struct func metadata_methods[] = {
    { "Validate", fn_metadata_validate, "", "nil: the chart was checked when it was loaded", 0, 0 },
    { 0 },
};

static const struct sw_object_type metadata_type = {
    .name = "chart.Metadata",
    .fields = metadata_fields,
    .n_fields = SW_COUNT(metadata_fields),
    .methods = metadata_methods,
};

static const struct sw_field chart_fields[] = {
    { "Metadata", NULL, false, true },
    { "IsRoot", "IsRoot", false, false },
};

static const struct sw_object_type chart_type = {
    .name = "struct { chart.Metadata; IsRoot bool }",
    .fields = chart_fields,
    .n_fields = SW_COUNT(chart_fields),
    .methods = metadata_methods,
};

static struct sw_value string_of(struct sw_arena *arena, struct sw_value v)
{
    return v.type == SW_T_STRING ? v : sw_value_cstr(sw_value_print(arena, v));
}

static struct sw_value object_of(struct sw_arena *arena, struct sw_value map,
                                 const struct sw_object_type *type);

/* The list @v as a []string, or with @type as a list of such objects. */
static struct sw_value list_of(struct sw_arena *arena, struct sw_value v,
                               const struct sw_object_type *type)
{
    struct sw_list *list = sw_value_is_list(v) ? sw_list_new(arena, sw_value_len(v)) : NULL;
    for (size_t i = 0; list && i < sw_value_len(v); i++) {
        struct sw_value elem = sw_value_at(v, i);
        sw_list_add(list, type ? object_of(arena, elem, type) : string_of(arena, elem));
    }
    struct sw_value out = sw_value_typed_list(type ? SW_T_POINTERS : SW_T_STRINGS, list);
    out.extra = type == &maintainer_type;
    return out;
}

/* Chart.yaml's value @v for the field, as the type that the Go field has. */
static struct sw_value field_of(struct sw_arena *arena, const struct sw_field *f, struct sw_value v)
{
    if (sw_streq(f->name, "Sources") || sw_streq(f->name, "Keywords"))
        return list_of(arena, v, NULL);
    if (sw_streq(f->name, "Tags") && f >= dependency_fields &&
        f < dependency_fields + SW_COUNT(dependency_fields))
        return list_of(arena, v, NULL);
    if (sw_streq(f->name, "Maintainers"))
        return list_of(arena, v, &maintainer_type);
    if (sw_streq(f->name, "Dependencies"))
        return list_of(arena, v, &dependency_type);
    if (sw_streq(f->name, "Annotations")) {
        bool is_map = sw_value_is_map(v);
        struct sw_map *map = is_map ? sw_map_new(arena) : NULL;
        const struct sw_entry *e = is_map ? sw_map_sorted(v.as.map) : NULL;
        for (size_t i = 0; is_map && i < sw_map_count(v.as.map); i++)
            sw_map_set_borrowed(map, e[i].key, e[i].key_len, string_of(arena, e[i].value));
        return sw_value_typed_map(SW_T_STRING_MAP, map);
    }
    if (sw_streq(f->name, "Deprecated") || sw_streq(f->name, "Enabled"))
        return sw_value_bool(v.type == SW_T_BOOL && v.as.b);
    if (sw_streq(f->name, "ImportValues"))
        return sw_value_is_list(v) ? v : sw_value_list(NULL);
    return sw_value_is_nil(v) ? sw_value_text("", 0) : string_of(arena, v);
}

static struct sw_value object_of(struct sw_arena *arena, struct sw_value map,
                                 const struct sw_object_type *type)
{
    struct sw_object *o = sw_object_new(arena, type);
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct sw_value *v = sw_value_is_map(map)
                                       ? sw_map_find_cstr(map.as.map, type->fields[i].json)
                                       : NULL;
        o->fields[i] = field_of(arena, &type->fields[i], v ? *v : sw_value_nil());
    }
    return sw_value_object(o);
}

/* ---- .Release ---- */

struct sw_value sw_template_release_value(struct sw_arena *arena,
                                          const struct sw_template_release *r)
{
    struct sw_map *map = sw_map_new(arena);
    sw_map_set_cstr(map, "Name", sw_value_str(arena, r->name, strlen(r->name)));
    sw_map_set_cstr(map, "Namespace", sw_value_str(arena, r->namespace, strlen(r->namespace)));
    sw_map_set_cstr(map, "IsUpgrade", sw_value_bool(r->is_upgrade));
    sw_map_set_cstr(map, "IsInstall", sw_value_bool(!r->is_upgrade));
    sw_map_set_cstr(map, "Revision", sw_value_int(r->revision ? r->revision : 1));
    const char *service = r->service ? r->service : "Helm";
    sw_map_set_cstr(map, "Service", sw_value_str(arena, service, strlen(service)));
    return sw_value_map(map);
}

/* ---- .Capabilities ---- */

static const struct sw_field kube_version_fields[] = {
    { "Version", "Version", false, false },
    { "Major", "Major", false, false },
    { "Minor", "Minor", false, false },
};

static void kube_version_string(const struct sw_object *o, struct text *out)
{
    sw_text_put(out, o->fields[0].as.s, o->fields[0].len);
}

static int fn_kube_version(struct call *c)
{
    return sw_return(c, c->self.as.object->fields[0]);
}

static const struct func kube_version_methods[] = {
    { "String", fn_kube_version, "", "the version, such as v1.29.3", 0, 0 },
    { "GitVersion", fn_kube_version, "", "the same", 0, 0 },
    { 0 },
};

static const struct sw_object_type kube_version_type = {
    .name = "chartutil.KubeVersion",
    .fields = kube_version_fields,
    .n_fields = SW_COUNT(kube_version_fields),
    .methods = kube_version_methods,
    .string = kube_version_string,
    .string_of_pointer = true,
};

static const struct sw_field build_info_fields[] = {
    { "Version", "version", true, false },
    { "GitCommit", "git_commit", true, false },
    { "GitTreeState", "git_tree_state", true, false },
    { "GoVersion", "go_version", true, false },
};

static const struct sw_object_type build_info_type = {
    .name = "version.BuildInfo",
    .fields = build_info_fields,
    .n_fields = SW_COUNT(build_info_fields),
};

static const struct sw_field capabilities_fields[] = {
    { "KubeVersion", "KubeVersion", false, false },
    { "APIVersions", "APIVersions", false, false },
    { "HelmVersion", "HelmVersion", false, false },
};

static const struct sw_object_type capabilities_type = {
    .name = "*chartutil.Capabilities",
    .pointer = true,
    .fields = capabilities_fields,
    .n_fields = SW_COUNT(capabilities_fields),
};

static size_t number_len(const char *s)
{
    return strspn(s, "0123456789");
}

struct sw_value sw_template_caps_value(struct sw_arena *arena, const struct sw_template_caps *caps)
{
    struct sw_object *o = sw_object_new(arena, &capabilities_type);
    struct sw_object *build = sw_object_new(arena, &build_info_type);
    const char *helm = caps->helm_version ? caps->helm_version : SW_HELM_VERSION;
    build->fields[0] = sw_value_str(arena, helm, strlen(helm));
    static const char *const of_build[] = { SW_HELM_COMMIT, "clean", SW_HELM_GO };
    for (size_t i = 1; i < build_info_type.n_fields; i++)
        build->fields[i] = sw_value_cstr(caps->helm_version ? "" : of_build[i - 1]);
    const char *version = caps->kube_version ? caps->kube_version : "v1.36.0";
    const char *major = version + (version[0] == 'v'), *minor = major + number_len(major);
    minor += *minor == '.';
    struct sw_object *kube = sw_object_new(arena, &kube_version_type);
    kube->fields[0] = sw_value_cstr(sw_arena_printf(arena, "v%s", major));
    kube->fields[1] = sw_value_str(arena, major, number_len(major));
    kube->fields[2] = sw_value_str(arena, minor, number_len(minor));
    struct sw_list *versions = sw_list_new(arena, 64);
    const char *const *defaults = sw_template_default_api_versions();
    for (size_t i = 0; caps->api_versions ? i < caps->n_api_versions : defaults[i] != NULL; i++) {
        const char *s = caps->api_versions ? caps->api_versions[i] : defaults[i];
        sw_list_add(versions, sw_value_str(arena, s, strlen(s)));
    }
    o->fields[0] = sw_value_object(kube);
    o->fields[1] = sw_value_typed_list(SW_T_VERSIONS, versions);
    o->fields[2] = sw_value_object(build);
    return sw_value_object(o);
}

const char *const *sw_template_default_api_versions(void)
{
    static const char *const versions[] = {
        "v1",
        "admissionregistration.k8s.io/v1",
        "admissionregistration.k8s.io/v1alpha1",
        "admissionregistration.k8s.io/v1beta1",
        "internal.apiserver.k8s.io/v1alpha1",
        "apps/v1",
        "apps/v1beta1",
        "apps/v1beta2",
        "authentication.k8s.io/v1",
        "authentication.k8s.io/v1alpha1",
        "authentication.k8s.io/v1beta1",
        "authorization.k8s.io/v1",
        "authorization.k8s.io/v1beta1",
        "autoscaling/v1",
        "autoscaling/v2",
        "batch/v1",
        "batch/v1beta1",
        "certificates.k8s.io/v1",
        "certificates.k8s.io/v1beta1",
        "certificates.k8s.io/v1alpha1",
        "coordination.k8s.io/v1alpha2",
        "coordination.k8s.io/v1beta1",
        "coordination.k8s.io/v1",
        "discovery.k8s.io/v1",
        "discovery.k8s.io/v1beta1",
        "events.k8s.io/v1",
        "events.k8s.io/v1beta1",
        "extensions/v1beta1",
        "flowcontrol.apiserver.k8s.io/v1",
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "networking.k8s.io/v1",
        "networking.k8s.io/v1beta1",
        "node.k8s.io/v1",
        "node.k8s.io/v1alpha1",
        "node.k8s.io/v1beta1",
        "policy/v1",
        "policy/v1beta1",
        "rbac.authorization.k8s.io/v1",
        "rbac.authorization.k8s.io/v1beta1",
        "rbac.authorization.k8s.io/v1alpha1",
        "resource.k8s.io/v1",
        "resource.k8s.io/v1beta2",
        "resource.k8s.io/v1beta1",
        "resource.k8s.io/v1alpha3",
        "scheduling.k8s.io/v1alpha2",
        "scheduling.k8s.io/v1beta1",
        "scheduling.k8s.io/v1",
        "storage.k8s.io/v1beta1",
        "storage.k8s.io/v1",
        "storage.k8s.io/v1alpha1",
        "storagemigration.k8s.io/v1beta1",
        "apiextensions.k8s.io/v1beta1",
        "apiextensions.k8s.io/v1",
        NULL,
    };
    return versions;
}

/* ---- the root ---- */

static struct sw_value or_empty(struct sw_arena *arena, struct sw_value map)
{
    return sw_value_is_map(map) ? map : sw_value_map(sw_map_new(arena));
}

struct sw_value sw_template_root_value(struct sw_arena *arena, const struct sw_template_root *root)
{
    struct sw_map *map = sw_map_new(arena);
    struct sw_value values = or_empty(arena, root->values);
    if (root->is_root)
        values.type = SW_T_VALUES;
    struct sw_object *chart = sw_object_new(arena, &chart_type);
    chart->fields[0] = object_of(arena, root->chart, &metadata_type);
    chart->fields[1] = sw_value_bool(root->is_root);
    struct sw_map *files = sw_map_new(arena);
    for (size_t i = 0; i < root->n_files; i++) {
        const struct sw_template_file *file = &root->files[i];
        struct sw_value v = { .type = SW_T_BYTES,
                              .len = (uint32_t)file->len,
                              .as.s = file->bytes ? file->bytes : "" };
        sw_map_set_borrowed(files, file->name, strlen(file->name), v);
    }
    sw_map_set_borrowed(map, "Chart", 5, sw_value_object(chart));
    sw_map_set_borrowed(map, "Files", 5, sw_value_typed_map(SW_T_FILES, files));
    sw_map_set_borrowed(map, "Release", 7, or_empty(arena, root->release));
    sw_map_set_borrowed(map, "Capabilities", 12, root->caps);
    sw_map_set_borrowed(map, "Values", 6, values);
    sw_map_set_borrowed(map, "Subcharts", 9, or_empty(arena, root->subcharts));
    return sw_value_typed_map(SW_T_VALUES, map);
}
