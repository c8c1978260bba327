/* A recipe of AICR as a chart. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "chart/aicr/bundle.h"
#include "chart/aicr/check.h"
#include "chart/aicr/constraints.h"
#include "chart/aicr/upgrades.h"
#include "chart/aicr/validation.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

/* A recipe that is being written. */
struct writer {
    const struct sw_aicr_opts *opts;
    struct sw_aicr_catalog *catalog; /* NULL: there is none */
    struct sw_aicr_bundle *bundle;   /* NULL: values and manifests are the catalogue's */
    const struct sw_aicr_files *files;
    struct sw_aicr_made *made;
    struct json_object *states;   /* dependencies of Chart.yaml */
    struct json_object *releases; /* slipway.dev/releases */
    struct json_object *values;   /* values.yaml */
    struct json_object *upgrades; /* slipway.dev/upgrades */
    struct json_object *last;     /* by component: a list of the states that others wait for */
    /* of the component's own objects, by kind/name: annotations; borrowed */
    struct json_object *asserts;
};

static void add_bytes(struct writer *w, const char *path, const char *bytes, size_t len)
{
    struct sw_aicr_made *made = w->made;
    SW_GROW(made->files, made->n_files, made->cap);
    made->files[made->n_files++] = (struct sw_aicr_file){ sw_strdup(path), sw_strndup(bytes, len),
                                                          len };
}

static void add_file(struct writer *w, const char *path, const char *text)
{
    add_bytes(w, path, text, strlen(text));
}

static void add_text(struct json_object *list, const char *text)
{
    (void)json_object_array_add(list, json_object_new_string(text));
}

static const char *name_of(struct json_object *component)
{
    return sw_json_str(component, "", "name", NULL);
}

/* @chart: the name of a chart inside the bundle, or NULL. */
static int values_of(const struct writer *w, struct json_object *component, const char *chart,
                     struct json_object **out, struct sw_err *err)
{
    if (w->bundle)
        return sw_aicr_bundle_values(w->bundle, name_of(component), chart, out, err);
    return sw_aicr_values(w->catalog, component, w->opts->scheduling, out, err);
}

/* ---- states ------------------------------------------------------------------------------------
 */

/* A dependency of the recipe that comes behind @after, a list. */
static void add_state(struct writer *w, const char *chart, const char *version,
                      const char *repository, const char *alias, struct json_object *after)
{
    struct json_object *d = json_object_new_object();
    sw_json_set_str(d, chart, "name", NULL);
    sw_json_set_str(d, version, "version", NULL);
    sw_json_set_str(d, repository, "repository", NULL);
    if (!sw_streq(chart, alias))
        sw_json_set_str(d, alias, "alias", NULL);
    if (sw_json_len(after))
        (void)json_object_object_add(d, "depends-on", sw_json_copy(after));
    (void)json_object_array_add(w->states, d);
}

/* The state @alias is a release of its own. */
static void add_release(struct writer *w, const char *alias, const char *ns)
{
    sw_json_set_str(w->releases, alias, alias, "name", NULL);
    /* for devices that no node has */
    sw_json_set_str(w->releases, "true", alias, "annotations", "DaemonSet",
                    "slipway.dev/may-match-no-node", NULL);
    json_object_object_foreach(w->asserts, who, said)
    {
        SW_AUTO_CHARS *text = sw_json_text(sw_json_get(said, "assert"), SW_JSON_PLAIN, NULL);
        const char *timeout = sw_json_str(said, NULL, "timeout", NULL);
        sw_json_set_str(w->releases, text, alias, "annotations", who, "slipway.dev/assert", NULL);
        if (timeout)
            sw_json_set_str(w->releases, timeout, alias, "annotations", who,
                            "slipway.dev/assert-timeout", NULL);
    }
    if (!*ns)
        return;
    sw_json_set_str(w->releases, ns, alias, "namespace", NULL);
    /* AICR labels no namespace, and most components reach the host */
    sw_json_set_str(w->releases, "privileged", alias, "namespaceLabels",
                    "pod-security.kubernetes.io/enforce", NULL);
}

/* ---- node by node ------------------------------------------------------------------------------
 */

/* What works per node: objects of a component's chart, by kind, that wait for nodes; custom
 * resources also where they are among manifests, of whatever component. A node that joins late gets
 * its devices, and then slipway's label of the component. What depends on the component waits for
 * such a custom resource's state, too, beside its check. Sources of the labels:
 * Mellanox/network-operator, pkg/nodeinfo; NVIDIA/skyhook, operator/internal/wrapper/node.go. */
static const struct per_node {
    const char *component, *kind, *annotation, *value;
} per_node[] = {
    /* kubelet's own word of what a node has; the NFD that the chart brings labels the node */
    { "gpu-operator", "ClusterPolicy", "slipway.dev/wait-for-node-resources", "nvidia.com/gpu" },
    { "gpu-operator", "ClusterPolicy", "slipway.dev/wait-for-nodes",
      "feature.node.kubernetes.io/pci-10de.present=true" },
    { "gpu-operator", "ClusterPolicy", "slipway.dev/may-match-no-node", "true" },
    /* what needs the driver of its node: the DRA driver's kubelet plugin, GKE's network plugins */
    { "nvidia-dra-driver-gpu", "DaemonSet", "slipway.dev/state-affinity", "true" },
    { "gke-nccl-tcpxo", "DaemonSet", "slipway.dev/state-affinity", "true" },
    /* the network cards' own driver, where it is deployed */
    { "network-operator", "NicClusterPolicy?spec.ofedDriver", "slipway.dev/wait-for-node-labels",
      "network.nvidia.com/operator.mofed.wait=false" },
    { "network-operator", "NicClusterPolicy?spec.ofedDriver", "slipway.dev/wait-for-nodes",
      "feature.node.kubernetes.io/pci-15b3.present=true" },
    { "network-operator", "NicClusterPolicy?spec.ofedDriver", "slipway.dev/may-match-no-node",
      "true" },
    /* packages on the node's own system */
    { "skyhook-customizations", "Skyhook", "slipway.dev/wait-for-node-labels",
      "skyhook.nvidia.com/status_<name>=complete" },
    { "skyhook-customizations", "Skyhook", "slipway.dev/may-match-no-node", "true" },
};

/* Do the component's @values leave the devices to another plugin, or to none? */
static bool has_no_devices(struct json_object *values)
{
    struct json_object *enabled = sw_json_find(values, "devicePlugin", "enabled", NULL);
    return enabled && !json_object_get_boolean(enabled);
}

/* @manifests: a list of {name, text} */
static bool has_kind(struct json_object *manifests, const char *kind)
{
    SW_AUTO_CHARS *line = sw_printf("\nkind: %.*s\n", (int)strcspn(kind, "?"), kind);
    for (size_t i = 0; i < sw_json_len(manifests); i++)
        if (strstr(sw_json_str(sw_json_at(manifests, i), "", "text", NULL), line))
            return true;
    return false;
}

/* @manifests of which the state @alias is made; NULL: it is the component's chart.
 * @return whether others are to wait for the state, too */
static bool add_per_node(struct writer *w, const char *alias, struct json_object *values,
                         struct json_object *manifests)
{
    bool is_need = false;
    for (size_t i = 0; i < SW_COUNT(per_node) && !has_no_devices(values); i++) {
        const struct per_node *p = &per_node[i];
        const bool is_custom = !sw_streq(p->kind, "DaemonSet");
        if (manifests && is_custom ? !has_kind(manifests, p->kind) : !sw_streq(p->component, alias))
            continue;
        sw_json_set_str(w->releases, p->value, alias, "annotations", p->kind, p->annotation, NULL);
        is_need = is_need || is_custom;
    }
    return is_need;
}

/* ---- charts of the recipe itself ---------------------------------------------------------------
 */

/* A chart of the recipe itself, without templates yet. */
static void add_local_chart(struct writer *w, const char *name, const char *description)
{
    SW_AUTO_CHARS *path = sw_printf("charts/%s/Chart.yaml", name);
    SW_AUTO_CHARS *text = sw_printf("apiVersion: v2\nname: %s\ndescription: %s\ntype: application\n"
                                    "version: 0.1.0\nannotations:\n  slipway.dev/wait: all\n",
                                    name, description);
    add_file(w, path, text);
}

/* @after is a list of @name alone from now on. */
static void then(struct json_object **after, const char *name)
{
    (void)json_object_put(*after);
    *after = json_object_new_array();
    add_text(*after, name);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The manifests @files of a component, of which the chart @name is made: a list of {name, text},
 * the caller's. A catalogue's are templates; a bundle's may be rendered. */
static int manifests_of(const struct writer *w, struct json_object *component, const char *name,
                        struct json_object *files, bool *is_template, struct json_object **out,
                        struct sw_err *err)
{
    if (w->bundle)
        return sw_aicr_bundle_manifests(w->bundle, name_of(component), name, files, is_template,
                                        out, err);
    SW_AUTO_JSON *list = json_object_new_array();
    *is_template = true;
    for (size_t i = 0; i < sw_json_len(files); i++) {
        const char *file = sw_json_str(sw_json_at(files, i), "", NULL);
        const struct sw_aicr_file *found;
        const int rc = sw_aicr_file(w->catalog, file, &found, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "component '%s'", name_of(component));
        struct json_object *one = json_object_new_object();
        sw_json_set_str(one, base_name(file), "name", NULL);
        sw_json_set_str(one, found->bytes, "text", NULL);
        (void)json_object_array_add(list, one);
    }
    *out = SW_TAKE(list);
    return 0;
}

/* The templates of a chart of manifests: those that are rendered are printed as they stand. */
static void add_manifests(struct writer *w, const char *chart, struct json_object *list,
                          bool is_template)
{
    static const char as_they_stand[] =
        "{{- range $path, $_ := .Files.Glob \"manifests/*\" }}\n---\n"
        "{{ $.Files.Get $path }}\n{{- end }}\n";
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *file = sw_json_at(list, i);
        SW_AUTO_CHARS *to = sw_printf("charts/%s/%s/%s", chart,
                                      is_template ? "templates" : "manifests",
                                      sw_json_str(file, "", "name", NULL));
        add_file(w, to, sw_json_str(file, "", "text", NULL));
    }
    SW_AUTO_CHARS *all = sw_printf("charts/%s/templates/manifests.yaml", chart);
    if (!is_template)
        add_file(w, all, as_they_stand);
}

/* A state of manifests behind @*after, which is it alone from now on; without one there is none.
 * Their templates read .Values.<component>. @waits_for gets its name where others are to wait for
 * it, too. */
static int add_manifest_state(struct writer *w, struct json_object *component, const char *name,
                              struct json_object *files, struct json_object *values,
                              struct json_object **after, struct json_object *waits_for,
                              struct sw_err *err)
{
    SW_AUTO_CHARS *what = sw_printf("The manifests of %s", name_of(component));
    SW_AUTO_JSON *list = NULL;
    bool is_template;
    const int rc = manifests_of(w, component, name, files, &is_template, &list, err);
    if (rc < 0 || !sw_json_len(list))
        return rc;
    add_local_chart(w, name, what);
    add_state(w, name, "0.1.0", "", name, *after);
    add_release(w, name, sw_json_str(component, "", "namespace", NULL));
    sw_json_set(w->values, json_object_get(values), name, name_of(component), NULL);
    add_manifests(w, name, list, is_template);
    if (add_per_node(w, name, values, list))
        add_text(waits_for, name);
    then(after, name);
    return 0;
}

/* ---- health checks -----------------------------------------------------------------------------
 */

/* The statements of the component's health check: its own, or the one that the registry names.
 * @*out is the caller's, NULL: there is none. */
static int read_check(const struct writer *w, struct json_object *component,
                      struct json_object **out, struct sw_err *err)
{
    const char *text = sw_json_str(component, "", "healthCheckAsserts", NULL);
    const char *file = w->catalog ? sw_json_str(sw_aicr_component(w->catalog, name_of(component)),
                                                "", "healthCheck", "assertFile", NULL)
                                  : "";
    const struct sw_aicr_file *found = NULL;
    int rc = 0;
    if (!*text && *file && !sw_json_bool(component, false, "healthCheckSkip", NULL))
        rc = sw_aicr_file(w->catalog, file, &found, err);
    if (rc == 0 && (found || *text))
        rc = sw_aicr_check_read(found ? file : "healthCheckAsserts", found ? found->bytes : text,
                                found ? found->len : strlen(text), out, err);
    return rc < 0 ? sw_err_wrap(err, rc, "component '%s'", name_of(component)) : 0;
}

/* Of two durations, each of which may be NULL. */
static const char *longer(const char *a, const char *b)
{
    int64_t a_ms = 0, b_ms = 0;
    SW_ERR(none);
    if (!a || !b)
        return a ? a : b;
    return sw_span_parse(a, &a_ms, &none) == 0 && sw_span_parse(b, &b_ms, &none) == 0 && b_ms > a_ms
               ? b
               : a;
}

/* What is asserted of objects that the component may have itself: an object belongs to the state
 * that renders it, and is observed by no other. By kind/name; the caller's. */
static struct json_object *asserts_of(struct json_object *statements)
{
    struct json_object *asserts = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(statements); i++) {
        struct json_object *s = sw_json_at(statements, i), *resource = sw_json_get(s, "resource");
        SW_AUTO_CHARS *who = sw_printf("%s/%s", sw_obj_kind(resource), sw_obj_name(resource));
        if (!*sw_obj_name(resource))
            continue;
        sw_aicr_merge(sw_json_need_map(asserts, who, "assert", NULL), sw_json_get(s, "assert"));
        const char *timeout = longer(sw_json_str(s, NULL, "timeout", NULL),
                                     sw_json_str(asserts, NULL, who, "timeout", NULL));
        if (timeout)
            sw_json_set(sw_json_get(asserts, who), json_object_new_string(timeout), "timeout",
                        NULL);
    }
    return asserts;
}

/* A template that prints @text. The caller's. */
static char *as_template(const char *text)
{
    char *all = sw_strdup("");
    for (const char *brace; (brace = strstr(text, "{{")); text = brace + 2)
        sw_append(&all, "%.*s{{\"{{\"}}", (int)(brace - text), text);
    sw_append(&all, "%s", text);
    return all;
}

/* Of a component that is manifests alone: do they have an object of that name? A catalogue may have
 * other manifests for some clusters than its check speaks of. */
static bool may_be_there(const struct writer *w, struct json_object *component,
                         struct json_object *resource)
{
    SW_AUTO_CHARS *folder = sw_printf("charts/%s/", name_of(component));
    SW_AUTO_CHARS *name = sw_printf("name: %s\n",
                                    sw_json_str(resource, "", "metadata", "name", NULL));
    if (*sw_json_str(component, "", "source", NULL))
        return true;
    for (size_t i = 0; i < w->made->n_files; i++) {
        const struct sw_aicr_file *file = &w->made->files[i];
        if (sw_starts_with(file->name, folder) && !sw_ends_with(file->name, "/Chart.yaml") &&
            strstr(file->bytes, name))
            return true;
    }
    return false;
}

/* A state that observes what the health check speaks of. @return whether there is one */
static bool add_check(struct writer *w, struct json_object *component,
                      struct json_object *statements, struct json_object *after)
{
    const char *name = name_of(component), *ns = sw_json_str(component, "", "namespace", NULL);
    SW_AUTO_CHARS *chart = sw_printf("%s-check", name);
    SW_AUTO_CHARS *what = sw_printf("The health check of %s", name);
    bool any = false;
    for (size_t i = 0; i < sw_json_len(statements); i++) {
        struct json_object *s = sw_json_at(statements, i), *resource = sw_json_get(s, "resource");
        const bool is_one = *sw_obj_name(resource);
        SW_AUTO_CHARS *note = sw_printf(
            "%s: its health check asks for %s %s, which its manifests do not have: left out", name,
            sw_obj_kind(resource), sw_obj_name(resource));
        if (is_one && !may_be_there(w, component, resource)) {
            add_text(w->made->notes, note);
            continue;
        }
        SW_AUTO_JSON *manifest = sw_aicr_check_manifest(s, ns);
        SW_AUTO_CHARS *yaml = sw_yaml_text(manifest, NULL), *text = as_template(yaml);
        SW_AUTO_CHARS *path = sw_printf("charts/%s/templates/%s.yaml", chart,
                                        sw_json_str(s, "", "name", NULL));
        add_file(w, path, text);
        any = true;
    }
    if (!any)
        return false;
    add_local_chart(w, chart, what);
    add_state(w, chart, "0.1.0", "", chart, after);
    return true;
}

/* ---- components --------------------------------------------------------------------------------
 */

/* What a component waits for: the last states of those that it depends on; of one without a state,
 * what that waits for. Those that are not installed count as there. The caller's. */
static struct json_object *needs_of(const struct writer *w, struct json_object *component)
{
    struct json_object *after = json_object_new_array(),
                       *refs = sw_json_get(component, "dependencyRefs");
    for (size_t i = 0; i < sw_json_len(refs); i++) {
        struct json_object *last = sw_json_get(w->last, sw_json_str(sw_json_at(refs, i), "", NULL));
        for (size_t j = 0; j < sw_json_len(last); j++) {
            const char *state = sw_json_str(sw_json_at(last, j), "", NULL);
            if (!sw_json_has_text(after, state))
                add_text(after, state);
        }
    }
    return after;
}

static int check_component(struct json_object *component, struct sw_err *err)
{
    const char *name = name_of(component);
    if (strcasecmp(sw_json_str(component, "Helm", "type", NULL), "Helm") != 0)
        return sw_err_set(err, SW_INVALID,
                          "component '%s': type: '%s' has no counterpart here: only Helm has", name,
                          sw_json_str(component, "", "type", NULL));
    if (sw_json_len(sw_json_get(component, "patches")))
        return sw_err_set(err, SW_INVALID, "component '%s': patches have no counterpart here",
                          name);
    const bool has_chart = *sw_json_str(component, "", "chart", NULL) ||
                           *sw_json_str(component, "", "source", NULL);
    if (has_chart && !(*sw_json_str(component, "", "source", NULL)))
        return sw_err_set(err, SW_INVALID, "component '%s': source: no repository is named", name);
    if (has_chart && !(*sw_json_str(component, "", "version", NULL)))
        return sw_err_set(err, SW_INVALID, "component '%s': version: none is pinned", name);
    if (!has_chart && !sw_json_len(sw_json_get(component, "manifestFiles")))
        return sw_err_set(err, SW_INVALID, "component '%s' has neither a chart nor manifests",
                          name);
    return 0;
}

/* The files of a chart that is inside the bundle, below charts/ of the recipe. */
static void add_inside(struct writer *w, const char *inside)
{
    for (size_t i = 0; *inside && i < w->files->n; i++) {
        const struct sw_aicr_file *file = &w->files->items[i];
        if (!sw_starts_with(file->name, inside))
            continue;
        SW_AUTO_CHARS *path = sw_printf("charts/%s", file->name + strlen(inside));
        add_bytes(w, path, file->bytes, file->len);
    }
}

/* The chart of a component, of which the recipe or the bundle says where it is. */
static int chart_of(const struct writer *w, struct json_object *component,
                    struct sw_aicr_chart *out, struct sw_err *err)
{
    if (w->bundle)
        return sw_aicr_bundle_chart(w->bundle, component, out, err);
    *out = (struct sw_aicr_chart){
        sw_strdup(sw_json_str(component, name_of(component), "chart", NULL)),
        sw_strdup(sw_json_str(component, "", "version", NULL)),
        sw_strdup(sw_json_str(component, "", "source", NULL)),
        sw_strdup(""),
    };
    return 0;
}

static int add_states(struct writer *w, struct json_object *component,
                      const struct sw_aicr_chart *chart, struct json_object *check,
                      struct sw_err *err)
{
    const char *name = name_of(component);
    const bool has_chart = *sw_json_str(component, "", "source", NULL);
    SW_AUTO_CHARS *pre = sw_printf("%s-pre", name), *check_name = sw_printf("%s-check", name);
    SW_AUTO_CHARS *post = has_chart ? sw_printf("%s-post", name) : sw_strdup(name);
    SW_AUTO_JSON *values = NULL, *after = needs_of(w, component),
                 *by_node = json_object_new_array(); /* states */
    int rc = values_of(w, component, *chart->inside ? chart->name : NULL, &values, err);
    if (rc == 0)
        rc = add_manifest_state(w, component, pre, sw_json_get(component, "preManifestFiles"),
                                values, &after, by_node, err);
    if (rc == 0 && has_chart) {
        add_state(w, chart->name, chart->version, chart->repository, name, after);
        add_release(w, name, sw_json_str(component, "", "namespace", NULL));
        add_inside(w, chart->inside);
        (void)json_object_object_add(w->values, name, json_object_get(values));
        if (add_per_node(w, name, values, NULL))
            add_text(by_node, name);
        then(&after, name);
    }
    if (rc == 0)
        rc = add_manifest_state(w, component, post, sw_json_get(component, "manifestFiles"), values,
                                &after, by_node, err);
    if (rc == 0 && add_check(w, component, check, after))
        then(&after, check_name);
    for (size_t i = 0; i < sw_json_len(by_node); i++) {
        const char *state = sw_json_str(sw_json_at(by_node, i), "", NULL);
        if (!sw_json_has_text(after, state))
            add_text(after, state);
    }
    (void)json_object_object_add(w->last, name, json_object_get(after));
    return rc;
}

static int add_component(struct writer *w, struct json_object *component, struct sw_err *err)
{
    SW_AUTO_JSON *check = NULL, *asserts = NULL;
    struct sw_aicr_chart chart = { 0 };
    int rc = check_component(component, err);
    if (rc == 0)
        rc = read_check(w, component, &check, err);
    w->asserts = asserts = asserts_of(check);
    if (rc == 0)
        rc = chart_of(w, component, &chart, err);
    if (rc == 0)
        rc = add_states(w, component, &chart, check, err);
    sw_aicr_chart_done(&chart);
    struct json_object *record = NULL;
    if (rc == 0 && w->catalog)
        rc = sw_aicr_upgrades_of(w->catalog, name_of(component), &record, err);
    if (record)
        (void)json_object_object_add(w->upgrades, name_of(component), record);
    return rc;
}

/* ---- the recipe --------------------------------------------------------------------------------
 */

static char *describe(struct json_object *result)
{
    char *text = sw_strdup("");
    struct json_object *criteria = sw_json_get(result, "criteria");
    static const char *const keys[] = { "service", "accelerator", "os", "intent", "platform" };
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const char *value = sw_json_str(criteria, "any", keys[i], NULL);
        if (!sw_streq(value, "any"))
            sw_append(&text, "%s%s %s", *text ? ", " : "", keys[i], value);
    }
    char *all = sw_printf("NVIDIA's AICR recipe for %s", *text ? text : "any cluster");
    free(text);
    return all;
}

/* Chart.yaml, with its fields in the order in which they were set. */
static char *chart_text(struct json_object *chart)
{
    const struct sw_yaml_writer_opts opts = { .pretty = true };
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(&opts);
    if (sw_json_walk(chart, NULL, sw_yaml_writer_sink(w), NULL) < 0)
        return sw_strdup(""); /* it has no limit to reach */
    return sw_yaml_writer_take(w, NULL);
}

/* Nodes with GPUs are the recipe's though they have a taint for them: its pods tolerate it. */
static void add_tolerations(const struct writer *w, struct json_object *chart)
{
    const struct sw_aicr_scheduling *to = w->opts->scheduling;
    SW_AUTO_JSON *list = NULL;
    SW_ERR(checked); /* when the values were made */
    if (!to || !to->accelerated_tolerations ||
        sw_aicr_tolerations(to->accelerated_tolerations, &list, &checked) < 0) {
        list = json_object_new_array();
        (void)json_object_array_add(list, json_object_new_object());
        sw_json_set_str(sw_json_at(list, 0), "nvidia.com/gpu", "key", NULL);
        sw_json_set_str(sw_json_at(list, 0), "Exists", "operator", NULL);
    }
    SW_AUTO_CHARS *text = sw_yaml_text(list, NULL);
    sw_json_set_str(chart, text, "annotations", "slipway.dev/tolerations", NULL);
}

/* Those of the recipe, as they stand. What the API server's version must be is the chart's
 * kubeVersion, too. */
static void add_constraints(struct writer *w, struct json_object *chart)
{
    struct json_object *list = sw_json_get(w->made->result, "constraints");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        const char *value = sw_json_str(sw_json_at(list, i), "", "value", NULL);
        SW_AUTO_CHARS *any_build = sw_printf("%s-0", value); /* v1.32.4-eks-1 and the like */
        if (sw_streq(name, "K8s.server.version"))
            sw_json_set_str(chart, any_build, "kubeVersion", NULL);
    }
    SW_AUTO_CHARS *text = sw_yaml_text(list, NULL);
    if (sw_json_len(list))
        sw_json_set_str(chart, text, "annotations", SW_ANN_CONSTRAINTS, NULL);
}

/* What the validation asks of the versions of components ("Deployment.gpu-operator.version") is
 * known before anything is installed. */
static int check_versions(const struct writer *w, struct sw_err *err)
{
    static const char before[] = "Deployment.", behind[] = ".version";
    struct json_object *list = sw_json_find(w->made->result, "validation", "deployment",
                                            "constraints", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        const char *value = sw_json_str(sw_json_at(list, i), "", "value", NULL);
        if (!sw_starts_with(name, before) || !sw_ends_with(name, behind) ||
            strlen(name) < sizeof before + sizeof behind - 1)
            continue;
        SW_AUTO_CHARS *who = sw_strndup(name + sizeof before - 1,
                                        strlen(name) - sizeof before - sizeof behind + 2);
        struct json_object *component = sw_json_find_by(
            sw_json_get(w->made->result, "componentRefs"), "name", who);
        const char *version = sw_json_str(component, "", "version", NULL);
        bool met = true;
        int rc = *version ? sw_aicr_is_met(value, version, &met, err) : 0;
        if (rc == 0 && !met)
            rc = sw_err_set(err, SW_INVALID, "%s is asked for, it is %s", value, version);
        if (rc < 0)
            return sw_err_wrap(err, rc, "validation.deployment: %s", name);
    }
    return 0;
}

/* ---- validation --------------------------------------------------------------------------------
 */

/* How many checks of each phase are not run. */
static void note_validation(struct writer *w)
{
    struct json_object *validation = sw_json_get(w->made->result, "validation");
    SW_AUTO_CHARS *phases = sw_strdup("");
    json_object_object_foreach(validation, phase, doc) if (sw_json_len(sw_json_get(doc, "checks")))
        sw_append(&phases, "%s%s (%zu)", *phases ? ", " : "", phase,
                  sw_json_len(sw_json_get(doc, "checks")));
    SW_AUTO_CHARS *note = sw_printf(
        "checks of the validation that are not run, as there is no validators/catalog.yaml: %s",
        phases);
    if (*phases)
        add_text(w->made->notes, note);
}

/* The states that no other waits for. The caller's. */
static struct json_object *leaves_of(const struct writer *w)
{
    struct json_object *leaves = json_object_new_array();
    json_object_object_foreach(w->last, name, last)
    {
        (void)name;
        for (size_t i = 0; i < sw_json_len(last); i++) {
            const char *state = sw_json_str(sw_json_at(last, i), "", NULL);
            bool is_needed = sw_json_has_text(leaves, state);
            for (size_t j = 0; j < sw_json_len(w->states) && !is_needed; j++)
                is_needed = sw_json_has_text(sw_json_get(sw_json_at(w->states, j), "depends-on"),
                                             state);
            if (!is_needed)
                add_text(leaves, state);
        }
    }
    return leaves;
}

/* Helm's condition of the state that was added last; of several paths the first that is there
 * counts. */
static void set_condition(struct writer *w, const char *condition)
{
    sw_json_set_str(sw_json_at(w->states, sw_json_len(w->states) - 1), condition, "condition",
                    NULL);
}

/* A check as a state of its own behind @after. */
static void add_validator(struct writer *w, struct json_object *validator, const char *run,
                          struct json_object *after)
{
    const char *name = sw_json_str(validator, "", "name", NULL);
    SW_AUTO_CHARS *state = sw_printf("validate-%s", name);
    SW_AUTO_CHARS *path = sw_printf("charts/%s/templates/job.yaml", state);
    SW_AUTO_CHARS *condition = sw_printf("validation.%s,validation.enabled",
                                         sw_json_str(validator, "", "phase", NULL));
    SW_AUTO_JSON *job = sw_aicr_validation_job(validator, w->made->result, run);
    SW_AUTO_CHARS *yaml = sw_yaml_text(job, NULL), *text = as_template(yaml);
    SW_AUTO_CHARS *what = sw_printf("The check %s of the validation", name);
    add_local_chart(w, state, what);
    add_file(w, path, text);
    add_state(w, state, "0.1.0", "", state, after);
    set_condition(w, condition);
}

/* The checks of one phase, in the catalogue's order and one after the other, behind @*after, which
 * is all of them from now on. */
static void add_phase(struct writer *w, const char *phase, struct json_object *validators,
                      const char *run, struct json_object **after)
{
    struct json_object *checks = sw_json_find(w->made->result, "validation", phase, "checks", NULL);
    SW_AUTO_JSON *all = json_object_new_array();
    struct json_object *before = *after;
    SW_AUTO_JSON *previous = NULL;
    for (size_t i = 0; i < sw_json_len(checks); i++) {
        const char *name = sw_json_str(sw_json_at(checks, i), "", NULL);
        struct json_object *v = sw_json_find_by(validators, "name", name);
        SW_AUTO_CHARS *note = sw_printf(
            "check '%s' of the validation: validators/catalog.yaml has none of phase %s: left out",
            name, phase);
        if (!v || !sw_streq(sw_json_str(v, "", "phase", NULL), phase))
            add_text(w->made->notes, note);
    }
    for (size_t i = 0; i < sw_json_len(validators); i++) {
        struct json_object *v = sw_json_at(validators, i);
        const char *name = sw_json_str(v, "", "name", NULL);
        SW_AUTO_CHARS *state = sw_printf("validate-%s", name);
        if (!sw_streq(sw_json_str(v, "", "phase", NULL), phase) || !sw_json_has_text(checks, name))
            continue;
        add_validator(w, v, run, previous ? previous : before);
        then(&previous, state);
        add_text(all, state);
    }
    if (sw_json_len(all)) {
        (void)json_object_put(*after);
        *after = SW_TAKE(all);
    }
}

static bool has_checks(struct json_object *result)
{
    size_t n = 0;
    for (size_t i = 0; sw_aicr_phase(i); i++)
        n += sw_json_len(sw_json_find(result, "validation", sw_aicr_phase(i), "checks", NULL));
    return n > 0;
}

/* The checks of the recipe's validation, as last states. */
static int add_validation(struct writer *w, struct sw_err *err)
{
    static const char name[] = "validation", file[] = "validators/catalog.yaml";
    const struct sw_aicr_file *found = NULL;
    SW_AUTO_JSON *validators = NULL, *after = leaves_of(w);
    if (!has_checks(w->made->result))
        return 0;
    if (!w->catalog || sw_aicr_file(w->catalog, file, &found, NULL) < 0) {
        note_validation(w);
        return 0;
    }
    const int rc = sw_aicr_validators_read(file, found->bytes, found->len, &validators, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *result = sw_aicr_result_text(w->made->result);
    const uint64_t digest = sw_fnv64a(result, strlen(result)) ^ sw_fnv64a(found->bytes, found->len);
    SW_AUTO_CHARS *run = sw_printf("%08x", (unsigned)(digest ^ digest >> 32));
    SW_AUTO_CHARS *text = sw_aicr_validation_template(w->made->result, run);
    add_local_chart(w, name, "What the checks of the validation need");
    add_file(w, "charts/validation/templates/validation.yaml", text);
    add_state(w, name, "0.1.0", "", name, after);
    set_condition(w, "validation.enabled");
    sw_json_set(w->values, json_object_new_boolean(true), name, "enabled", NULL);
    then(&after, name);
    add_text(w->made->notes, "the validation's checks run as cluster-admin, in the namespace "
                             "aicr-validation: validation.enabled=false leaves them out");
    for (size_t i = 0; sw_aicr_phase(i); i++)
        add_phase(w, sw_aicr_phase(i), validators, run, &after);
    return 0;
}

static void write_top(struct writer *w, const char *name)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_AUTO_CHARS *what = describe(w->made->result);
    SW_AUTO_CHARS *releases = sw_yaml_text(w->releases, NULL);
    sw_json_set_str(doc, "v2", "apiVersion", NULL);
    sw_json_set_str(doc, name, "name", NULL);
    sw_json_set_str(doc, what, "description", NULL);
    sw_json_set_str(doc, "application", "type", NULL);
    sw_json_set_str(doc, "0.1.0", "version", NULL);
    add_constraints(w, doc);
    sw_json_set_str(doc, releases, "annotations", "slipway.dev/releases", NULL);
    add_tolerations(w, doc);
    SW_AUTO_CHARS *upgrades = sw_yaml_text(w->upgrades, NULL);
    if (json_object_object_length(w->upgrades))
        sw_json_set_str(doc, upgrades, "annotations", SW_ANN_UPGRADES, NULL);
    sw_json_set_str(doc, "all", "annotations", "slipway.dev/wait", NULL);
    (void)json_object_object_add(doc, "dependencies", json_object_get(w->states));
    SW_AUTO_CHARS *chart = chart_text(doc), *values = sw_yaml_text(w->values, NULL),
                  *result = sw_aicr_result_text(w->made->result);
    add_file(w, "Chart.yaml", chart);
    add_file(w, "values.yaml", values);
    add_file(w, "recipe.yaml", result);
}

static int write_all(struct writer *w, struct sw_err *err)
{
    struct json_object *components = sw_json_get(w->made->result, "componentRefs");
    struct json_object *order = sw_json_get(w->made->result, "deploymentOrder");
    for (size_t i = 0; i < sw_json_len(order); i++) {
        const char *name = sw_json_str(sw_json_at(order, i), "", NULL);
        struct json_object *component = sw_json_find_by(components, "name", name);
        SW_AUTO_CHARS *note = sw_printf("%s: it is switched off, and left out", name);
        if (!component)
            return sw_err_set(err, SW_INVALID, "deploymentOrder: there is no component '%s'", name);
        if (!sw_aicr_is_enabled(component)) {
            add_text(w->made->notes, note);
            continue;
        }
        const int rc = add_component(w, component, err);
        if (rc < 0)
            return rc;
    }
    return sw_json_len(w->states)
               ? 0
               : sw_err_set(err, SW_INVALID, "deploymentOrder names no component to be installed");
}

/* ---- sources -----------------------------------------------------------------------------------
 */

bool sw_aicr_is_source(const struct sw_aicr_files *files)
{
    const struct sw_aicr_file *result = sw_aicr_find(files, "recipe.yaml");
    return !sw_aicr_find(files, "Chart.yaml") &&
           ((result && sw_aicr_is_result(result->bytes, result->len)) ||
            (sw_aicr_find(files, "registry.yaml") && sw_aicr_find(files, "overlays/base.yaml")));
}

bool sw_aicr_is_result(const char *text, size_t len)
{
    static const char kind[] = "kind: RecipeResult";
    const char *at = memmem(text, len, kind, sizeof kind - 1);
    return at && (at == text || at[-1] == '\n');
}

/* Is there nothing but the RecipeResult? */
static bool is_alone(const struct sw_aicr_files *files)
{
    return files->n == 1;
}

static int resolve(const char *origin, const struct sw_aicr_catalog *catalog,
                   const struct sw_aicr_opts *opts, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *criteria = NULL;
    if (!opts->criteria)
        return sw_err_set(err, SW_INVALID,
                          "%s is a catalogue: criteria say which recipe of it is meant "
                          "(--criteria service=eks,accelerator=h100,...)",
                          origin);
    const int rc = sw_aicr_criteria(catalog, opts->criteria, &criteria, err);
    return rc < 0 ? rc : sw_aicr_resolve(catalog, criteria, out, err);
}

static int read_from(const char *origin, const struct sw_aicr_files *files,
                     const struct sw_aicr_catalog *catalog, const struct sw_aicr_opts *opts,
                     struct json_object **out, struct sw_err *err)
{
    const struct sw_aicr_file *file = sw_aicr_find(files, "recipe.yaml");
    if (!file)
        return resolve(origin, catalog, opts, out, err);
    SW_AUTO_CHARS *name = is_alone(files) ? sw_strdup(origin) : sw_printf("%s/recipe.yaml", origin);
    if (opts->criteria)
        return sw_err_set(err, SW_INVALID, "%s is for its own criteria: others are for a catalogue",
                          name);
    return sw_aicr_result_read(name, file->bytes, file->len, out, err);
}

/* The catalogue that @files are, or that goes with them; NULL: none. */
static int open_catalog(const char *origin, const struct sw_aicr_files *files,
                        const struct sw_aicr_opts *opts, struct sw_aicr_catalog **out,
                        struct sw_err *err)
{
    if (!sw_aicr_find(files, "recipe.yaml"))
        return sw_aicr_catalog_open(origin, files, out, err);
    return opts->data ? sw_aicr_catalog_open("the catalogue", opts->data, out, err) : 0;
}

int sw_aicr_read(const char *origin, const struct sw_aicr_files *files,
                 const struct sw_aicr_opts *opts, struct json_object **out, struct sw_err *err)
{
    SW_AUTO(sw_aicr_catalog) *catalog = NULL;
    int rc = open_catalog(origin, files, opts, &catalog, err);
    return rc < 0 ? rc : read_from(origin, files, catalog, opts, out, err);
}

/* "h100-eks-ubuntu-training", as AICR calls its overlays; "aicr" where all is open. */
static char *name_by_criteria(struct json_object *result)
{
    static const char *const keys[] = { "accelerator", "service", "os", "intent", "platform" };
    char *name = NULL;
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const char *value = sw_json_str(result, "any", "criteria", keys[i], NULL);
        if (!sw_streq(value, "any"))
            sw_append(&name, "%s%s", name ? "-" : "", value);
    }
    return name ? name : sw_strdup("aicr");
}

void sw_aicr_made_done(struct sw_aicr_made *made)
{
    for (size_t i = 0; i < made->n_files; i++) {
        free((char *)made->files[i].name);
        free((char *)made->files[i].bytes);
    }
    free(made->files);
    (void)json_object_put(made->result);
    (void)json_object_put(made->notes);
    *made = (struct sw_aicr_made){ 0 };
}

/* Where values and manifests are. */
static int open_parts(struct writer *w, const char *origin, struct sw_err *err)
{
    const bool is_bundle = sw_aicr_find(w->files, "recipe.yaml") && !is_alone(w->files);
    int rc = open_catalog(origin, w->files, w->opts, &w->catalog, err);
    if (rc == 0)
        rc = read_from(origin, w->files, w->catalog, w->opts, &w->made->result, err);
    if (rc == 0 && !is_bundle && !w->catalog)
        rc = sw_err_set(err, SW_INVALID,
                        "%s: its values and manifests are in the catalogue, which is to be named "
                        "(--data DIR)",
                        origin);
    return rc == 0 && is_bundle ? sw_aicr_bundle_open(origin, w->files, &w->bundle, err) : rc;
}

int sw_aicr_make(const char *origin, const struct sw_aicr_files *files,
                 const struct sw_aicr_opts *opts, struct sw_aicr_made *made, struct sw_err *err)
{
    struct writer w = { .opts = opts,
                        .files = files,
                        .made = made,
                        .states = json_object_new_array(),
                        .releases = json_object_new_object(),
                        .values = json_object_new_object(),
                        .upgrades = json_object_new_object(),
                        .last = json_object_new_object() };
    made->notes = json_object_new_array();
    int rc = open_parts(&w, origin, err);
    if (rc == 0 && w.bundle && sw_aicr_bundle_is_unchecked(w.bundle))
        add_text(made->notes, "the bundle has no checksums.txt: its files are taken as they are");
    if (rc == 0)
        rc = check_versions(&w, err);
    if (rc == 0)
        rc = write_all(&w, err);
    if (rc == 0)
        rc = add_validation(&w, err);
    if (rc == 0) {
        SW_AUTO_CHARS *name = opts->name ? sw_strdup(opts->name) : name_by_criteria(made->result);
        write_top(&w, name);
    }
    (void)json_object_put(w.states);
    (void)json_object_put(w.releases);
    (void)json_object_put(w.values);
    (void)json_object_put(w.last);
    (void)json_object_put(w.upgrades);
    sw_aicr_catalog_free(w.catalog);
    sw_aicr_bundle_free(w.bundle);
    return rc;
}
