/* lint: what `helm lint` says of a chart, with its severity, besides what the rest of lint says. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/files.h"
#include "chart/recipe/package/pack.h"
#include "cli/lint/lint.h"
#include "data/data.h"
#include "data/go/strconv.h"
#include "kube/deprecated/deprecated.h"
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

/* The oldest Kubernetes that slipway runs on is 1.20. */
enum { OLDEST_MINOR = 20 };

/* ---- APIs that go -------------------------------------------------------------------------------
 */

static void check_deprecated(const struct sw_manifest *m, int minor, struct sw_problems *problems)
{
    const struct sw_deprecated *d = sw_deprecated_find(sw_obj_api_version(m->doc),
                                                       sw_obj_kind(m->doc));
    if (!d || minor < d->since)
        return;
    SW_AUTO_CHARS *text = sw_printf("%s %s is deprecated in v1.%d+", d->api_version, d->kind,
                                    d->since);
    if (d->until)
        sw_append(&text, ", unavailable in v1.%d+", d->until);
    if (d->instead)
        sw_append(&text, "; use %s", d->instead);
    /* helm warns of it; no cluster takes what even the oldest has not */
    bool is_gone = d->until && d->until <= OLDEST_MINOR;
    sw_problems_add(problems, is_gone, m->path, m->line, "%s", text);
}

/* ---- manifests ----------------------------------------------------------------------------------
 */

/* Names of these may hold what a path may; a request for a certificate has no rule. */
static bool has_path_name(const char *kind)
{
    static const char *const kinds[] = { "Role",
                                         "ClusterRole",
                                         "RoleBinding",
                                         "ClusterRoleBinding",
                                         "CertificateSigningRequest",
                                         "ClusterTrustBundle",
                                         "IPAddress" };
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
    /* helm warns; a server refuses it. Those of others' groups may have rules of their own */
    const char *version = sw_obj_api_version(m->doc), *slash = strchr(version, '/');
    const char *dot = strchr(version, '.');
    const bool is_builtin = !slash || !dot || dot > slash || strstr(version, ".k8s.io/");
    if (fault)
        sw_problems_add(
            problems, is_builtin, m->path, m->line,
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
