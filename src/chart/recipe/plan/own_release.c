#include "chart/recipe/plan/own_release.h"

#include <string.h>

#include "chart/recipe/plan/execute.h"
#include "chart/recipe/plan/plan.h"
#include "chart/recipe/plan/shared_objects.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/selector/selector.h"
#include "data/yaml/yaml.h"

static const char annotation[] = SW_ANN_RELEASES;

enum { MAX_NAME = 53 }; /* Helm's limit of a release's name */

const struct sw_plan_release *sw_plan_release_of(const struct sw_plan_chart *chart)
{
    for (; chart; chart = chart->parent)
        if (chart->release)
            return chart->release;
    return NULL;
}

/* ---- one entry ----------------------------------------------------------------------------------
 */

/* @text, a template of the values of @chart, rendered; the caller's. */
static int render_text(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                       const struct sw_render_env *env, const char *text, char **out,
                       struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    struct sw_template_out rendered = { 0 };
    SW_AUTO_CHARS *name = sw_printf("%s/Chart.yaml", chart->path);
    struct sw_map *root = sw_map_new(arena);
    sw_map_set_cstr(root, "Values", sw_plan_chart_values(plan, chart, arena, env->facts));
    int rc = sw_template_add(set, name, text, strlen(text), err);
    if (rc == 0)
        rc = sw_template_exec(set, name, sw_value_map(root), arena, NULL, &rendered, err);
    if (rc == 0)
        *out = sw_strndup(rendered.text, rendered.len);
    sw_template_out_done(&rendered);
    return rc;
}

int sw_plan_annotation_text(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                            const struct sw_render_env *env, const char *key, char **out,
                            struct sw_err *err)
{
    const char *text = sw_chart_annotation(chart->loaded, key);
    if (text && strstr(text, "{{"))
        return render_text(plan, chart, env, text, out, err);
    *out = text ? sw_strdup(text) : NULL;
    return 0;
}

/* Why an entry is no label or annotation; NULL: it may be one. */
static const char *entry_fault(const char *key, struct json_object *value)
{
    const char *fault = sw_label_key_fault(key);
    return fault || json_object_is_type(value, json_type_string) ? fault : "expected a string";
}

static int check_labels(struct json_object *labels, struct sw_err *err)
{
    if (labels && !json_object_is_type(labels, json_type_object))
        return sw_err_set(err, SW_INVALID, "namespaceLabels: expected a map");
    if (!labels)
        return 0;
    json_object_object_foreach(labels, key, value)
    {
        const char *fault = entry_fault(key, value);
        if (!fault)
            fault = sw_label_value_fault(json_object_get_string(value));
        if (fault)
            return sw_err_set(err, SW_INVALID, "namespaceLabels: '%s': %s", key, fault);
    }
    return 0;
}

/* The annotations of one kind of objects: checked, and added to @release, which has room. */
static int read_annotations(struct sw_plan *plan, struct sw_plan_annotation *all, size_t *n,
                            const char *who, struct json_object *annotations, struct sw_err *err)
{
    const size_t end = strcspn(who, "?"), len = strcspn(who, "/?");
    const char *kind = sw_arena_strndup(plan->arena, who, len), *name = NULL, *field = NULL;
    if (who[len] == '/')
        name = sw_arena_strndup(plan->arena, who + len + 1, end - len - 1);
    if (who[end])
        field = sw_arena_strdup(plan->arena, who + end + 1);
    if (!*kind || (name && !*name) || (field && !*field))
        return sw_err_set(err, SW_INVALID,
                          "'%s': expected a kind, or kind/name, or one of them with ?field", who);
    if (!json_object_is_type(annotations, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected a map", who);
    json_object_object_foreach(annotations, key, value)
    {
        const char *fault = entry_fault(key, value);
        if (fault)
            return sw_err_set(err, SW_INVALID, "%s: '%s': %s", who, key, fault);
        all[(*n)++] = (struct sw_plan_annotation){
            kind, name, field, sw_arena_strdup(plan->arena, key),
            sw_arena_strdup(plan->arena, json_object_get_string(value))
        };
    }
    return 0;
}

static int find_annotations(struct sw_plan *plan, struct sw_plan_release *release,
                            struct json_object *map, struct sw_err *err)
{
    size_t room = 0, n = 0;
    if (!map)
        return 0;
    if (!json_object_is_type(map, json_type_object))
        return sw_err_set(err, SW_INVALID, "annotations: expected a map");
    json_object_object_foreach(map, k, v)
    {
        (void)k;
        if (json_object_is_type(v, json_type_object))
            room += (size_t)json_object_object_length(v);
    }
    struct sw_plan_annotation *all = sw_arena_alloc(plan->arena, (room + 1) * sizeof *all);
    int rc = 0;
    json_object_object_foreach(map, who, annotations)
    {
        if (rc == 0)
            rc = read_annotations(plan, all, &n, who, annotations, err);
    }
    release->annotations = all;
    release->n_annotations = n;
    return rc < 0 ? sw_err_wrap(err, rc, "annotations") : 0;
}

/* @field: "spec.driver" */
static bool has_field(struct json_object *object, const char *field)
{
    while (object && *field) {
        const size_t len = strcspn(field, ".");
        SW_AUTO_CHARS *key = sw_strndup(field, len);
        object = sw_json_get(object, key);
        field += len + (field[len] != '\0');
    }
    return object;
}

bool sw_plan_annotate(const struct sw_plan_release *release, struct json_object *object)
{
    bool any = false;
    for (size_t i = 0; release && i < release->n_annotations; i++) {
        const struct sw_plan_annotation *a = &release->annotations[i];
        if (!sw_streq(a->kind, sw_obj_kind(object)) ||
            (a->name && !sw_streq(a->name, sw_obj_name(object))) ||
            (a->field && !has_field(object, a->field)))
            continue;
        sw_json_set_str(object, a->value, "metadata", "annotations", a->key, NULL);
        any = true;
    }
    return any;
}

/* Only known keys; name, namespace, if and shared are texts. */
static int check_fields(struct json_object *entry, struct sw_err *err)
{
    static const char *const known[] = { "name", "namespace", "if", "shared" };
    if (!json_object_is_type(entry, json_type_object))
        return sw_err_set(err, SW_INVALID, "expected a map");
    json_object_object_foreach(entry, key, value)
    {
        bool is_text = false;
        for (size_t i = 0; i < SW_COUNT(known); i++)
            is_text |= sw_streq(key, known[i]);
        if (!is_text && !sw_streq(key, "namespaceLabels") && !sw_streq(key, "annotations"))
            return sw_err_set(err, SW_INVALID, "'%s' is not known", key);
        if (is_text && !json_object_is_type(value, json_type_string))
            return sw_err_set(err, SW_INVALID, "%s: expected a string", key);
    }
    return check_labels(sw_json_get(entry, "namespaceLabels"), err);
}

/* Is it the release of the whole recipe? */
static bool is_recipes(const struct sw_plan *plan, const struct sw_render_env *env,
                       const struct sw_release_of_state *of)
{
    const char *own = env->namespace ? env->namespace : "default",
               *name = env->release ? env->release : plan->recipe->root->name;
    return sw_streq(of->name, name) && (!of->namespace || sw_streq(of->namespace, own));
}

/* The version of the subchart @sub that @above pins; it need not have been fetched. */
static const char *version_of(const struct sw_plan_chart *above, const struct sw_plan_chart *sub)
{
    const char *version = "";
    for (size_t i = 0; i < above->n_deps; i++)
        if (sw_streq(above->deps[i].name, sub->name) && above->deps[i].dep)
            version = above->deps[i].dep->version;
    if (!*version && sub->loaded && sub->loaded->version) /* in charts/, not named */
        version = sub->loaded->version;
    return version + (version[0] == 'v' && version[1] >= '0' && version[1] <= '9');
}

/* What resources share has a namespace of its own, which is said, unless the entry forbids it. */
static int set_shared(struct sw_plan *plan, struct sw_plan_release *release,
                      struct json_object *entry, struct sw_err *err)
{
    const char *shared = sw_json_str(entry, "true", "shared", NULL);
    if (!sw_streq(shared, "true") && !sw_streq(shared, "false"))
        return sw_err_set(err, SW_INVALID, "shared: '%s' is neither true nor false", shared);
    if (release->of.namespace && !release->is_recipes && sw_streq(shared, "true"))
        release->of.shared = sw_arena_printf(plan->arena, "%s/%s", release->of.namespace,
                                             release->of.name);
    return 0;
}

static int read_entry(struct sw_plan *plan, const struct sw_plan_chart *above,
                      const struct sw_render_env *env, struct sw_plan_chart *sub,
                      struct json_object *entry, struct sw_err *err)
{
    int rc = check_fields(entry, err);
    if (rc < 0)
        return rc;
    const char *name = sw_json_str(entry, sub->name, "name", NULL),
               *namespace = sw_json_str(entry, NULL, "namespace", NULL),
               *only_if = sw_json_str(entry, NULL, "if", NULL);
    const char *fault = strlen(name) > MAX_NAME ? "a release's name has 53 characters at most"
                                                : sw_dns_subdomain_fault(name);
    if (fault)
        return sw_err_set(err, SW_INVALID, "name: '%s': %s", name, fault);
    fault = namespace ? sw_dns_label_fault(namespace) : NULL;
    if (fault)
        return sw_err_set(err, SW_INVALID, "namespace: '%s': %s", namespace, fault);
    struct json_object *labels = sw_json_get(entry, "namespaceLabels");
    struct sw_plan_release *release = sw_arena_alloc(plan->arena, sizeof *release);
    *release = (struct sw_plan_release){
        .of = { .name = sw_arena_strdup(plan->arena, name),
                .namespace = namespace ? sw_arena_strdup(plan->arena, namespace) : NULL,
                .chart = sub->path,
                .version = sw_arena_strdup(plan->arena, version_of(above, sub)) },
        .labels = labels ? sw_arena_strdup(plan->arena, json_object_to_json_string(labels)) : NULL,
        .only_if = only_if ? sw_arena_strdup(plan->arena, only_if) : NULL,
        .above = above,
        .number = plan->n_releases++,
    };
    release->is_recipes = is_recipes(plan, env, &release->of);
    sub->release = release;
    rc = set_shared(plan, release, entry, err);
    return rc < 0 ? rc : find_annotations(plan, release, sw_json_get(entry, "annotations"), err);
}

/* Helm tells releases apart by name and namespace. */
static int check_unique(const struct sw_plan_chart *chart, const struct sw_render_env *env,
                        const struct sw_plan_release *release, struct sw_err *err)
{
    const char *own = env->namespace ? env->namespace : "default",
               *ns = release->of.namespace ? release->of.namespace : own;
    const struct sw_plan_release *other = chart->release;
    const char *other_ns = other && other->of.namespace ? other->of.namespace : own;
    if (other && other != release && sw_streq(other->of.name, release->of.name) &&
        sw_streq(other_ns, ns))
        return sw_err_set(err, SW_INVALID, "chart '%s' has release '%s' of namespace '%s' already",
                          chart->path, release->of.name, ns);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < chart->n_subcharts; i++)
        rc = check_unique(chart->subcharts[i], env, release, err);
    return rc;
}

/* ---- the annotations ----------------------------------------------------------------------------
 */

/* An enabled subchart by alias or name; NULL: there is none. */
static struct sw_plan_chart *find_subchart(const struct sw_plan_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->n_subcharts; i++)
        if (sw_streq(chart->subcharts[i]->name, name))
            return chart->subcharts[i];
    return NULL;
}

static bool is_dependency(const struct sw_plan_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->loaded->n_deps; i++) {
        const struct sw_dependency *dep = &chart->loaded->deps[i];
        if (sw_streq(*dep->alias ? dep->alias : dep->name, name))
            return true;
    }
    return false;
}

static int read_map(struct sw_plan *plan, const struct sw_plan_chart *chart,
                    const struct sw_render_env *env, const char *text, struct sw_err *err)
{
    SW_AUTO_JSON *map = NULL;
    int rc = sw_yaml_parse(text, strlen(text), &(struct sw_yaml_opts){ .file = annotation }, &map,
                           err);
    if (rc < 0)
        return rc;
    if (!json_object_is_type(map, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected a map of subcharts", annotation);
    json_object_object_foreach(map, name, entry)
    {
        struct sw_plan_chart *sub = find_subchart(chart, name);
        if (!sub && !is_dependency(chart, name))
            return sw_err_set(err, SW_INVALID, "%s: there is no subchart '%s'", annotation, name);
        rc = sub ? read_entry(plan, chart, env, sub, entry, err) : 0; /* else it is disabled */
        if (rc == 0 && sub)
            rc = check_unique(plan->root, env, sub->release, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s: %s", annotation, name);
    }
    return 0;
}

static int read_chart(struct sw_plan *plan, struct sw_plan_chart *chart,
                      const struct sw_render_env *env, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    int rc = sw_plan_annotation_text(plan, chart, env, annotation, &text, err);
    if (text && rc == 0)
        rc = read_map(plan, chart, env, text, err);
    if (rc == 0)
        rc = sw_plan_shared_objects_read(plan, chart, env, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s/Chart.yaml", chart->loaded->origin);
    for (size_t i = 0; rc == 0 && i < chart->n_subcharts; i++)
        rc = read_chart(plan, chart->subcharts[i], env, err);
    return rc;
}

int sw_plan_find_releases(struct sw_plan *plan, const struct sw_render_env *env, struct sw_err *err)
{
    return read_chart(plan, plan->root, env, err);
}
