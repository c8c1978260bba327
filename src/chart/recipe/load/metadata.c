/* Reads and checks Chart.yaml and its dependencies. */
#include "chart/recipe/load/chart.h"

#include <ctype.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/number.h"
#include "data/text/semver.h"
#include "data/text/unicode.h"
#include "data/yaml/yaml.h"

/* The fields whose type Helm enforces, since it reads them into a struct. */
static const struct {
    const char *name;
    enum json_type type;
} fields[] = {
    { "name", json_type_string },         { "home", json_type_string },
    { "sources", json_type_array },       { "version", json_type_string },
    { "description", json_type_string },  { "keywords", json_type_array },
    { "maintainers", json_type_array },   { "icon", json_type_string },
    { "apiVersion", json_type_string },   { "condition", json_type_string },
    { "tags", json_type_string },         { "appVersion", json_type_string },
    { "deprecated", json_type_boolean },  { "annotations", json_type_object },
    { "kubeVersion", json_type_string },  { "dependencies", json_type_array },
    { "type", json_type_string },
}, dependency_fields[] = {
    { "name", json_type_string },       { "version", json_type_string },
    { "repository", json_type_string }, { "condition", json_type_string },
    { "tags", json_type_array },        { "enabled", json_type_boolean },
    { "import-values", json_type_array }, { "alias", json_type_string },
    { "depends-on", json_type_array },
};

static const char *type_word(enum json_type type)
{
    switch (type) {
    case json_type_array:
        return "a list";
    case json_type_object:
        return "a map";
    case json_type_boolean:
        return "true or false";
    case json_type_null:
        return "null";
    case json_type_string:
        return "a string";
    default:
        return "a number";
    }
}

/* Where Helm's struct has a string, a number or truth value of the file becomes one: `appVersion:
 * 1.16` is "1.16", `1.10` is "1.1". Source: sigs.k8s.io/yaml, which converts by the type of the
 * field. @return NULL where @value is none of them */
static struct json_object *as_string(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
    case json_type_int:
        return json_object_new_string(json_object_get_string(value));
    case json_type_double: {
        char text[SW_FLOAT_LEN];
        (void)sw_float_go(json_object_get_double(value), 'g', 32, text);
        return json_object_new_string(text);
    }
    default:
        return NULL;
    }
}

static int check_field(struct json_object *map, const char *name, enum json_type want,
                       struct sw_err *err)
{
    struct json_object *value = sw_json_get(map, name);
    enum json_type type = json_object_get_type(value);
    if (!value || type == want)
        return 0;
    struct json_object *text = want == json_type_string ? as_string(value) : NULL;
    if (text) {
        (void)json_object_object_add(map, name, text);
        return 0;
    }
    return sw_err_set(err, SW_INVALID, "%s: %s, expected %s", name, type_word(type),
                      type_word(want));
}

static int check_strings(struct json_object *list, const char *name, struct sw_err *err)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *value = sw_json_at(list, i);
        if (json_object_is_type(value, json_type_string))
            continue;
        struct json_object *text = as_string(value);
        if (!text)
            return sw_err_set(err, SW_INVALID, "%s[%zu]: expected a string", name, i);
        (void)json_object_array_put_idx(list, i, text);
    }
    return 0;
}

static int check_annotations(struct json_object *meta, struct sw_err *err)
{
    struct json_object *map = sw_json_get(meta, "annotations");
    SW_AUTO_JSON *texts = json_object_new_object();
    if (!map)
        return 0;
    json_object_object_foreach(map, key, value)
    {
        enum json_type type = json_object_get_type(value);
        struct json_object *text = type == json_type_string ? json_object_get(value)
                                   : value                  ? as_string(value)
                                                            : json_object_new_string("");
        if (!text)
            return sw_err_set(err, SW_INVALID, "annotations.%s: %s, expected a string", key,
                              type_word(type));
        (void)json_object_object_add(texts, key, text);
    }
    (void)json_object_object_add(meta, "annotations", SW_TAKE(texts));
    return 0;
}

/* ---- texts as Helm cleans them ------------------------------------------------------------------
 */

/* A space for each white space, and no character that does not print; NULL: it is so already.
 * Source: Helm 3.21 pkg/chart sanitizeString. */
static struct json_object *cleaned(struct json_object *value)
{
    const char *s = json_object_get_string(value);
    size_t len = (size_t)json_object_get_string_len(value), n = 0, width;
    SW_AUTO_CHARS *out = sw_zalloc(len + 1, 1);
    for (size_t at = 0; at < len; at += width) {
        uint32_t rune;
        width = sw_rune_decode(s + at, len - at, &rune);
        if (sw_rune_is_space(rune)) {
            out[n++] = ' ';
        } else if (sw_rune_is_print(rune)) {
            memcpy(out + n, s + at, width);
            n += width;
        }
    }
    return n == len && memcmp(out, s, len) == 0 ? NULL : json_object_new_string_len(out, (int)n);
}

static void clean(struct json_object *map, const char *const *names)
{
    for (; *names; names++) {
        struct json_object *value = sw_json_get(map, *names);
        struct json_object *text = json_object_is_type(value, json_type_string) ? cleaned(value)
                                                                                : NULL;
        if (text) { /* @value is gone */
            (void)json_object_object_add(map, *names, text);
            continue;
        }
        for (size_t i = 0; i < sw_json_len(value); i++) {
            text = json_object_is_type(sw_json_at(value, i), json_type_string)
                       ? cleaned(sw_json_at(value, i))
                       : NULL;
            if (text)
                (void)json_object_array_put_idx(value, i, text);
        }
    }
}

/* ---- the parts of Chart.yaml --------------------------------------------------------------------
 */

static int read_dependency(struct json_object *doc, struct sw_dependency *dep, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "expected a map");
    int rc = 0;
    for (size_t i = 0; i < SW_COUNT(dependency_fields) && rc == 0; i++)
        rc = check_field(doc, dependency_fields[i].name, dependency_fields[i].type, err);
    static const char *const texts[] = {
        "name", "version", "repository", "condition", "tags", NULL
    };
    clean(doc, texts);
    *dep = (struct sw_dependency){
        .name = sw_json_str(doc, "", "name", NULL),
        .version = sw_json_str(doc, "", "version", NULL),
        .repository = sw_json_str(doc, "", "repository", NULL),
        .alias = sw_json_str(doc, "", "alias", NULL),
        .condition = sw_json_str(doc, "", "condition", NULL),
        .tags = sw_json_get(doc, "tags"),
        .import_values = sw_json_get(doc, "import-values"),
        .depends_on = sw_json_get(doc, "depends-on"),
        .doc = doc,
    };
    if (rc == 0)
        rc = check_strings(dep->tags, "tags", err);
    if (rc == 0)
        rc = check_strings(dep->depends_on, "depends-on", err);
    if (rc == 0 && !*dep->name)
        rc = sw_err_set(err, SW_INVALID, "name: required");
    const char *alias = dep->alias;
    while (isalnum((unsigned char)*alias) || *alias == '_' || *alias == '-')
        alias++;
    if (rc == 0 && *alias)
        rc = sw_err_set(err, SW_INVALID, "alias: '%s' may hold letters, digits, '_' and '-' only",
                        dep->alias);
    return rc;
}

/* The URL of a repository that is named, in its place, as Helm has it in Chart.lock, too. */
static void find_repository(const struct sw_recipe_opts *opts, struct sw_dependency *dep)
{
    const char *name = sw_repository_name(dep->repository);
    const char *url = name && opts->repository_url ? opts->repository_url(opts->get_arg, name)
                                                   : NULL;
    if (!url)
        return;
    sw_json_set_str(dep->doc, url, "repository", NULL);
    dep->repository = sw_json_str(dep->doc, "", "repository", NULL);
}

/* The key of its values. */
static const char *key_of(const struct sw_dependency *dep)
{
    return *dep->alias ? dep->alias : dep->name;
}

static int parse(const struct sw_chart *chart, const struct sw_recipe_file *file,
                 struct json_object **doc, struct sw_err *err)
{
    SW_AUTO_CHARS *name = sw_printf("%s/%s", chart->origin, file->name);
    int rc = sw_yaml_parse(file->bytes, file->len,
                           &(struct sw_yaml_opts){ .file = name, .allow_duplicate = true }, doc,
                           err);
    if (rc < 0)
        return rc;
    if (json_object_is_type(*doc, json_type_object))
        return 0;
    enum json_type type = json_object_get_type(*doc);
    const char *found = *doc ? type_word(type) : "empty";
    (void)json_object_put(SW_TAKE(*doc));
    return sw_err_set(err, SW_INVALID, "%s: %s, expected a map", name, found);
}

static int check_metadata(struct sw_chart *chart, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < SW_COUNT(fields) && rc == 0; i++)
        rc = check_field(chart->meta, fields[i].name, fields[i].type, err);
    if (rc == 0)
        rc = check_annotations(chart->meta, err);
    static const char *const texts[] = { "name",        "description", "home",    "icon",
                                         "condition",   "tags",        "sources", "appVersion",
                                         "kubeVersion", "keywords",    NULL };
    static const char *const maintainer_texts[] = { "name", "email", "url", NULL };
    clean(chart->meta, texts);
    struct json_object *maintainers = sw_json_get(chart->meta, "maintainers");
    for (size_t i = 0; i < sw_json_len(maintainers); i++)
        clean(sw_json_at(maintainers, i), maintainer_texts);
    const char *type = sw_json_str(chart->meta, "", "type", NULL);
    chart->name = sw_json_str(chart->meta, "", "name", NULL);
    chart->version = sw_json_str(chart->meta, "", "version", NULL);
    if (rc == 0 && !*chart->name)
        rc = sw_err_set(err, SW_INVALID, "name: required");
    if (rc == 0 && (strchr(chart->name, '/') || strchr(chart->name, '\\') ||
                    sw_streq(chart->name, ".") || sw_streq(chart->name, "..")))
        rc = sw_err_set(err, SW_INVALID, "name: '%s' is no name", chart->name);
    if (rc == 0 && !*chart->version)
        rc = sw_err_set(err, SW_INVALID, "version: required");
    struct sw_semver version;
    if (rc == 0 && sw_semver_parse(chart->version, strlen(chart->version), &version, NULL) < 0)
        rc = sw_err_set(err, SW_INVALID, "version: '%s' is no semantic version", chart->version);
    if (rc == 0 && *type && !sw_streq(type, "application") && !sw_streq(type, "library"))
        rc = sw_err_set(err, SW_INVALID, "type: '%s' is neither application nor library", type);
    return rc < 0 ? sw_err_wrap(err, rc, "%s/Chart.yaml", chart->origin) : 0;
}

int sw_chart_read_metadata(struct sw_recipe *recipe, struct sw_chart *chart,
                           const struct sw_recipe_file *files, size_t n, struct sw_err *err)
{
    const struct sw_recipe_file *file = sw_files_find(files, n, "Chart.yaml");
    if (!file)
        return sw_err_set(err, SW_INVALID, "%s: not a chart: Chart.yaml is missing", chart->origin);
    int rc = parse(chart, file, &chart->meta, err);
    if (rc < 0)
        return rc;
    rc = check_metadata(chart, err);
    if (rc < 0)
        return rc;
    chart->is_library = sw_streq(sw_json_str(chart->meta, "", "type", NULL), "library");
    if (!*sw_json_str(chart->meta, "", "apiVersion", NULL))
        sw_json_set_str(chart->meta, "v1", "apiVersion", NULL);
    const char *from = "Chart.yaml";
    const struct sw_recipe_file *old = sw_files_find(files, n, "requirements.yaml");
    if (old) { /* apiVersion v1 has its dependencies in a file of their own */
        SW_AUTO_JSON *doc = NULL;
        from = old->name;
        rc = parse(chart, old, &doc, err);
        if (rc < 0)
            return rc;
        rc = check_field(doc, "dependencies", json_type_array, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s/%s", chart->origin, from);
        struct json_object *deps = sw_json_get(doc, "dependencies");
        if (deps)
            (void)json_object_object_add(chart->meta, "dependencies", json_object_get(deps));
    }
    struct json_object *list = sw_json_get(chart->meta, "dependencies");
    chart->n_deps = sw_json_len(list);
    chart->deps = sw_arena_alloc(recipe->arena, (chart->n_deps + 1) * sizeof *chart->deps);
    for (size_t i = 0; i < chart->n_deps; i++) {
        rc = read_dependency(sw_json_at(list, i), &chart->deps[i], err);
        if (rc == 0 && chart == recipe->charts[0])
            find_repository(&recipe->limits, &chart->deps[i]);
        for (size_t k = 0; k < i && rc == 0; k++)
            if (sw_streq(key_of(&chart->deps[k]), key_of(&chart->deps[i])))
                rc = sw_err_set(err, SW_INVALID, "'%s' is there twice, as a name or an alias",
                                key_of(&chart->deps[i]));
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s/%s: dependencies[%zu]", chart->origin, from, i);
    }
    return 0;
}

const char *sw_repository_name(const char *repository)
{
    static const char alias[] = "alias:";
    return *repository == '@'                  ? repository + 1
           : sw_starts_with(repository, alias) ? repository + strlen(alias)
                                               : NULL;
}

const char *sw_chart_annotation(const struct sw_chart *chart, const char *key)
{
    return sw_json_str(chart->meta, NULL, "annotations", key, NULL);
}

bool sw_version_in_range(const char *range, const char *version)
{
    struct sw_semver v;
    SW_AUTO(sw_semver_range) *r = NULL;
    return sw_semver_parse(version, strlen(version), &v, NULL) == 0 &&
           sw_semver_range_parse(range, strlen(range), &r, NULL) == 0 && sw_semver_range_has(r, &v);
}
