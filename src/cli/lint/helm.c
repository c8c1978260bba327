/* lint: what `helm lint` says of a chart, with its severity, besides what the rest of lint says. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/files.h"
#include "chart/recipe/package/pack.h"
#include "chart/template/go/strconv.h"
#include "cli/lint/lint.h"
#include "data/data.h"
#include "operator/manifests/hooks.h"

/* ---- Chart.yaml ---------------------------------------------------------------------------------
 */

/* A chart, and where what is wrong with it goes. */
struct head {
    const struct sw_recipe_chart *chart;
    struct json_object *doc; /* Chart.yaml as it is written, without requirements.yaml */
    struct sw_problems *problems;
};

static void __attribute__((format(printf, 3, 4)))
wrong(const struct head *h, const char *field, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_AUTO_CHARS *path = sw_printf("%s/Chart.yaml", h->chart->origin);
    sw_problems_add(h->problems, true, path, sw_yaml_line(h->chart->text, h->chart->len, 1, field),
                    "%s", text);
}

static void check_text(const struct head *h, const char *field)
{
    struct json_object *v = sw_json_get(h->doc, field);
    const char *type = json_object_is_type(v, json_type_int)       ? "float64"
                       : json_object_is_type(v, json_type_double)  ? "float64"
                       : json_object_is_type(v, json_type_boolean) ? "bool"
                                                                   : NULL;
    if (type)
        wrong(h, field, "%s should be of type string but it's of type %s", field, type);
}

/* As browsers are given one: a scheme, and a host behind it. */
static bool is_url(const char *text)
{
    size_t n = strcspn(text, ":/?#");
    return n > 0 && sw_starts_with(text + n, "://") && text[n + 3] && !strpbrk(text, " \t\n");
}

static bool is_email(const char *text)
{
    const char *at = strchr(text, '@');
    return at && at > text && strchr(at, '.') && !strchr(at + 1, '@') && !strpbrk(text, " \t\n<>");
}

static void check_maintainers(const struct head *h)
{
    struct json_object *list = sw_json_get(h->doc, "maintainers");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *one = sw_json_at(list, i);
        SW_AUTO_CHARS *field = sw_printf("maintainers[%zu]", i);
        const char *name = sw_json_str(one, "", "name", NULL),
                   *email = sw_json_str(one, "", "email", NULL);
        if (!one)
            wrong(h, field, "a maintainer entry is empty");
        else if (!*name)
            wrong(h, field, "each maintainer requires a name");
        else if (*email && !is_email(email))
            wrong(h, field, "invalid email '%s' for maintainer '%s'", email, name);
    }
}

static void check_urls(const struct head *h)
{
    struct json_object *list = sw_json_get(h->doc, "sources");
    const char *icon = sw_json_str(h->doc, "", "icon", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *field = sw_printf("sources[%zu]", i);
        const char *url = json_object_get_string(sw_json_at(list, i));
        if (!url || !is_url(url))
            wrong(h, field, "invalid source URL '%s'", url ? url : "");
    }
    if (*icon && !is_url(icon))
        wrong(h, "icon", "invalid icon URL '%s'", icon);
}

/* What apiVersion v2 has brought is none of v1. */
static void check_version_of_fields(const struct head *h)
{
    const char *version = sw_json_str(h->doc, "", "apiVersion", NULL);
    if (sw_streq(version, "v2") || !*version)
        return;
    if (*sw_json_str(h->doc, "", "type", NULL))
        wrong(h, "type",
              "chart type is not valid in apiVersion '%s'. It is valid in apiVersion 'v2'",
              version);
    if (sw_json_len(sw_json_get(h->doc, "dependencies")))
        wrong(
            h, "dependencies",
            "dependencies are not valid in the Chart file with apiVersion '%s'. They are valid in "
            "apiVersion 'v2'",
            version);
}

static void check_chart(const struct sw_recipe *recipe, struct sw_problems *problems)
{
    const struct sw_recipe_chart chart = sw_recipe_chart(recipe, 0);
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(ignored); /* it was read before */
    if (sw_yaml_parse(chart.text, chart.len, &(struct sw_yaml_opts){ .allow_duplicate = true },
                      &doc, &ignored) < 0)
        return;
    const struct head h = { &chart, doc, problems };
    check_text(&h, "version");
    check_text(&h, "appVersion");
    check_maintainers(&h);
    check_urls(&h);
    check_version_of_fields(&h);
}

/* ---- templates as they are written --------------------------------------------------------------
 */

static int line_at(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* Where a template has the hook of Helm 2 that made definitions; NULL: nowhere. */
static const char *find_crd_install(const char *text)
{
    for (const char *at = text; (at = strstr(at, "helm.sh/hook")); at++) {
        const char *value = at + strlen("helm.sh/hook");
        value += *value == '"';
        if (*value == ':' && value[1 + strspn(value + 1, " \t")] &&
            sw_starts_with(value + 1 + strspn(value + 1, " \t"), "crd-install"))
            return at;
    }
    return NULL;
}

static void check_source(const char *chart, const struct sw_recipe_file *f,
                         struct sw_problems *problems)
{
    SW_AUTO_CHARS *text = sw_strndup(f->bytes, f->len), *path = sw_printf("%s/%s", chart, f->name);
    const char *time = strstr(text, ".Release.Time"), *hook = find_crd_install(text);
    if (time)
        sw_problems_add(problems, true, path, line_at(text, time),
                        ".Release.Time has been removed in v3, please replace with the `now` "
                        "function in your templates");
    if (hook)
        sw_problems_add(problems, false, path, line_at(text, hook),
                        "manifest is a crd-install hook. This hook is no longer supported in v3 "
                        "and all CRDs should also exist the crds/ directory at the top level of "
                        "the chart");
}

static void check_sources(const struct sw_recipe *recipe, struct sw_problems *problems)
{
    struct sw_files files = sw_files_init(NULL);
    SW_ERR(ignored); /* what cannot be read is told by the rest of lint */
    if (sw_recipe_list_files(recipe, &files, &ignored) == 0)
        for (size_t i = 0; i < files.n; i++)
            if (sw_starts_with(files.items[i].name, "templates/"))
                check_source(sw_recipe_name(recipe), &files.items[i], problems);
    sw_files_done(&files);
}

/* ---- APIs that go -------------------------------------------------------------------------------
 */

/* Of Kubernetes 1.x: deprecated since, not served from on (0: it stays), and what to use.
 * Source: the lifecycle marks of k8s.io/api 0.36. */
static const struct {
    const char *api_version, *kind;
    int since, until;
    const char *instead;
} deprecated[] = {
    /* clang-format off */
    { "admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", 35, 38, NULL },
    { "admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding", 35, 38, NULL },
    { "admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy", 29, 32, NULL },
    { "admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding", 29, 32, NULL },
    { "admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration" },
    { "admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", 31, 34, NULL },
    { "admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding", 31, 34, NULL },
    { "admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration" },
    { "apps/v1beta1", "ControllerRevision", 8, 16, "apps/v1 ControllerRevision" },
    { "apps/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment" },
    { "apps/v1beta1", "DeploymentRollback", 8, 16, "apps/v1 DeploymentRollback" },
    { "apps/v1beta1", "Scale", 8, 16, "autoscaling/v1 Scale" },
    { "apps/v1beta1", "StatefulSet", 8, 16, "apps/v1 StatefulSet" },
    { "apps/v1beta2", "ControllerRevision", 9, 16, "apps/v1 ControllerRevision" },
    { "apps/v1beta2", "DaemonSet", 9, 16, "apps/v1 DaemonSet" },
    { "apps/v1beta2", "Deployment", 9, 16, "apps/v1 Deployment" },
    { "apps/v1beta2", "ReplicaSet", 9, 16, "apps/v1 ReplicaSet" },
    { "apps/v1beta2", "Scale", 9, 16, "autoscaling/v1 Scale" },
    { "apps/v1beta2", "StatefulSet", 9, 16, "apps/v1 StatefulSet" },
    { "authentication.k8s.io/v1alpha1", "SelfSubjectReview", 29, 32, NULL },
    { "authentication.k8s.io/v1beta1", "SelfSubjectReview", 30, 33, NULL },
    { "authentication.k8s.io/v1beta1", "TokenReview", 19, 22, "authentication.k8s.io/v1 TokenReview" },
    { "authorization.k8s.io/v1beta1", "LocalSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 LocalSubjectAccessReview" },
    { "authorization.k8s.io/v1beta1", "SelfSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectAccessReview" },
    { "authorization.k8s.io/v1beta1", "SelfSubjectRulesReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectRulesReview" },
    { "authorization.k8s.io/v1beta1", "SubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SubjectAccessReview" },
    { "batch/v1beta1", "CronJob", 21, 25, "batch/v1 CronJob" },
    { "certificates.k8s.io/v1alpha1", "ClusterTrustBundle", 34, 37, NULL },
    { "certificates.k8s.io/v1beta1", "CertificateSigningRequest", 19, 22, "certificates.k8s.io/v1 CertificateSigningRequest" },
    { "coordination.k8s.io/v1alpha2", "LeaseCandidate", 35, 38, NULL },
    { "coordination.k8s.io/v1beta1", "Lease", 19, 22, "coordination.k8s.io/v1 Lease" },
    { "coordination.k8s.io/v1beta1", "LeaseCandidate", 36, 39, NULL },
    { "discovery.k8s.io/v1beta1", "EndpointSlice", 21, 25, "discovery.k8s.io/v1 EndpointSlice" },
    { "events.k8s.io/v1beta1", "Event", 22, 25, NULL },
    { "extensions/v1beta1", "DaemonSet", 8, 16, "apps/v1 DaemonSet" },
    { "extensions/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment" },
    { "extensions/v1beta1", "DeploymentRollback", 8, 16, NULL },
    { "extensions/v1beta1", "Ingress", 14, 22, "networking.k8s.io/v1 Ingress" },
    { "extensions/v1beta1", "NetworkPolicy", 9, 16, "networking.k8s.io/v1 NetworkPolicy" },
    { "extensions/v1beta1", "ReplicaSet", 8, 16, "apps/v1 ReplicaSet" },
    { "extensions/v1beta1", "Scale", 2, 16, NULL },
    { "flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema" },
    { "flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration" },
    { "flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema" },
    { "flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration" },
    { "flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", 29, 32, "flowcontrol.apiserver.k8s.io/v1 FlowSchema" },
    { "flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration", 29, 32, "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration" },
    { "networking.k8s.io/v1beta1", "IPAddress", 34, 37, NULL },
    { "networking.k8s.io/v1beta1", "Ingress", 19, 22, "networking.k8s.io/v1 Ingress" },
    { "networking.k8s.io/v1beta1", "IngressClass", 19, 22, "networking.k8s.io/v1 IngressClassList" },
    { "networking.k8s.io/v1beta1", "ServiceCIDR", 34, 37, NULL },
    { "node.k8s.io/v1beta1", "RuntimeClass", 22, 25, NULL },
    { "policy/v1beta1", "Eviction", 22, 25, NULL },
    { "policy/v1beta1", "PodDisruptionBudget", 21, 25, "policy/v1 PodDisruptionBudget" },
    { "rbac.authorization.k8s.io/v1beta1", "ClusterRole", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRole" },
    { "rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRoleBinding" },
    { "rbac.authorization.k8s.io/v1beta1", "Role", 17, 22, "rbac.authorization.k8s.io/v1 Role" },
    { "rbac.authorization.k8s.io/v1beta1", "RoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 RoleBinding" },
    { "resource.k8s.io/v1alpha3", "DeviceTaintRule", 36, 39, NULL },
    { "resource.k8s.io/v1beta1", "DeviceClass", 35, 38, NULL },
    { "resource.k8s.io/v1beta1", "ResourceClaim", 35, 38, NULL },
    { "resource.k8s.io/v1beta1", "ResourceClaimTemplate", 35, 38, NULL },
    { "resource.k8s.io/v1beta1", "ResourceSlice", 35, 38, NULL },
    { "resource.k8s.io/v1beta2", "DeviceClass", 36, 39, NULL },
    { "resource.k8s.io/v1beta2", "ResourceClaim", 36, 39, NULL },
    { "resource.k8s.io/v1beta2", "ResourceClaimTemplate", 36, 39, NULL },
    { "resource.k8s.io/v1beta2", "ResourceSlice", 36, 39, NULL },
    { "scheduling.k8s.io/v1beta1", "PriorityClass", 14, 22, "scheduling.k8s.io/v1 PriorityClass" },
    { "storage.k8s.io/v1alpha1", "CSIStorageCapacity", 21, 24, "storage.k8s.io/v1beta1 CSIStorageCapacity" },
    { "storage.k8s.io/v1alpha1", "VolumeAttachment", 21, 24, "storage.k8s.io/v1 VolumeAttachment" },
    { "storage.k8s.io/v1alpha1", "VolumeAttributesClass", 32, 35, "storage.k8s.io/v1 VolumeAttributesClass" },
    { "storage.k8s.io/v1beta1", "CSIDriver", 19, 22, "storage.k8s.io/v1 CSIDriver" },
    { "storage.k8s.io/v1beta1", "CSINode", 17, 22, "storage.k8s.io/v1 CSINode" },
    { "storage.k8s.io/v1beta1", "CSIStorageCapacity", 24, 27, "storage.k8s.io/v1 CSIStorageCapacity" },
    { "storage.k8s.io/v1beta1", "StorageClass", 19, 22, "storage.k8s.io/v1 StorageClass" },
    { "storage.k8s.io/v1beta1", "VolumeAttachment", 19, 22, "storage.k8s.io/v1 VolumeAttachment" },
    { "storage.k8s.io/v1beta1", "VolumeAttributesClass", 34, 37, "storage.k8s.io/v1 VolumeAttributesClass" },
    { "v1", "ComponentStatus", 19, 0, NULL },
    { "v1", "Endpoints", 33, 0, "discovery.k8s.io/v1 EndpointSlice" },
    /* clang-format on */
};

static void check_deprecated(const struct sw_manifest *m, int minor, struct sw_problems *problems)
{
    for (size_t i = 0; i < SW_COUNT(deprecated); i++) {
        if (minor < deprecated[i].since || !sw_streq(deprecated[i].kind, sw_obj_kind(m->doc)) ||
            !sw_streq(deprecated[i].api_version, sw_obj_api_version(m->doc)))
            continue;
        SW_AUTO_CHARS *text = sw_printf("%s %s is deprecated in v1.%d+", deprecated[i].api_version,
                                        deprecated[i].kind, deprecated[i].since);
        if (deprecated[i].until)
            sw_append(&text, ", unavailable in v1.%d+", deprecated[i].until);
        if (deprecated[i].instead)
            sw_append(&text, "; use %s", deprecated[i].instead);
        sw_problems_add(problems, false, m->path, m->line, "%s", text);
    }
}

/* ---- manifests ----------------------------------------------------------------------------------
 */

/* Names of these may hold what a path may; a request for a certificate has no rule. */
static bool has_path_name(const char *kind)
{
    static const char *const kinds[] = { "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding",
                                         "CertificateSigningRequest" };
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        if (sw_streq(kinds[i], kind))
            return true;
    return false;
}

static void check_name(const struct sw_manifest *m, struct sw_problems *problems)
{
    const char *kind = sw_obj_kind(m->doc), *name = sw_obj_name(m->doc);
    if (!*name)
        return; /* a generated name, or told otherwise */
    bool is_label = sw_streq(kind, "Service") || sw_streq(kind, "Namespace");
    const char *fault = has_path_name(kind) ? (strpbrk(name, "/%") ? "holds '/' or '%'" : NULL)
                        : is_label          ? sw_dns_label_fault(name)
                                            : sw_dns_subdomain_fault(name);
    if (fault)
        sw_problems_add(
            problems, false, m->path, m->line,
            "object name does not conform to Kubernetes naming requirements: \"%s\": %s", name,
            fault);
}

static void check_selector(const struct sw_manifest *m, struct sw_problems *problems)
{
    static const char *const kinds[] = { "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet" };
    struct json_object *selector = sw_json_find(m->doc, "spec", "selector", NULL);
    if (sw_obj_annotation(m->doc, SW_OBSERVE))
        return; /* it is not applied */
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        if (sw_streq(kinds[i], sw_obj_kind(m->doc)) && !sw_json_get(selector, "matchLabels") &&
            !sw_json_get(selector, "matchExpressions"))
            sw_problems_add(
                problems, true, m->path, m->line,
                "a %s must contain matchLabels or matchExpressions, and \"%s\" does not", kinds[i],
                sw_obj_name(m->doc));
}

/* The first line that is not blank begins at its line's start. */
static void check_indent(const struct sw_rendered_file *f, struct sw_problems *problems)
{
    int line = 1;
    const char *end = f->text + f->len;
    for (const char *at = f->text; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t blank = strspn(at, " \t\r");
        if (at + blank < stop) {
            SW_AUTO_CHARS *shown = sw_quote_dup(at, (size_t)(stop - at));
            if (*at == ' ' || *at == '\t')
                sw_problems_add(problems, false, f->path, line,
                                "document starts with an illegal indent: %s, which may cause "
                                "parsing problems",
                                shown);
            return;
        }
        at = stop + 1;
    }
}

static void check_extension(const char *path, struct sw_problems *problems)
{
    static const char *const known[] = { ".yaml", ".yml", ".tpl", ".txt" };
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; i < SW_COUNT(known); i++)
        if (dot && sw_streq(dot, known[i]))
            return;
    sw_problems_add(
        problems, true, path, 0,
        "file extension '%s' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt",
        dot ? dot : "");
}

void sw_lint_helm(const struct sw_recipe *recipe, const struct sw_rendered *rendered,
                  const char *kube_version, struct sw_problems *problems)
{
    const char *dot = strchr(kube_version, '.');
    int minor = dot ? (int)strtol(dot + 1, NULL, 10) : 0;
    check_chart(recipe, problems);
    check_sources(recipe, problems);
    for (size_t i = 0; rendered && i < sw_rendered_n_files(rendered); i++) {
        const struct sw_rendered_file *f = sw_rendered_file(rendered, i);
        bool is_template = strstr(f->path, "/templates/") != NULL;
        if (is_template)
            check_extension(f->path, problems);
        if (is_template && sw_ends_with(f->path, ".yaml"))
            check_indent(f, problems);
    }
    for (size_t i = 0; rendered && i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
        check_deprecated(m, minor, problems);
        check_name(m, problems);
        check_selector(m, problems);
    }
}
