#include "cli/recipe/changes.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "chart/recipe/load/pins.h"
#include "cli/recipe/images.h"
#include "data/data.h"
#include "data/json/redact.h"
#include "data/yaml/yaml.h"
#include "operator/release/record.h"

/* What is compared: maps of key to text. */
enum section {
    CHART,
    FILES,
    VALUES,
    UNKNOWN,
    DEFINITIONS,
    FIELDS,
    IMAGES,
    RIGHTS,
    OBJECTS,
    CONTENT,
    N_SECTIONS
};
static const struct {
    const char *name, *title;
} sections[N_SECTIONS] = {
    [CHART] = { "chart", "chart" },
    [FILES] = { "files", "files of the recipe (their digests)" },
    [VALUES] = { "values", "values" },
    [UNKNOWN] = { "unknown", "values that are set, and that the chart has no longer" },
    [DEFINITIONS] = { "definitions", "definitions" },
    [FIELDS] = { "fields", "fields of definitions" },
    [IMAGES] = { "images", "images" },
    [RIGHTS] = { "rights", "rights" },
    [OBJECTS] = { "objects", "objects" },
    [CONTENT] = { "content", "content of objects" },
};

struct side {
    struct json_object *maps[N_SECTIONS];
};

static void side_done(struct side *s)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        (void)json_object_put(s->maps[i]);
}

static void put(struct side *s, enum section section, const char *key, const char *text)
{
    (void)json_object_object_add(s->maps[section], key, json_object_new_string(text));
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* Add the leaves of @value, which is at @path. */
static void add_leaves(struct json_object *to, const char *path, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_object) || json_object_object_length(value) == 0) {
        SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_PLAIN, NULL);
        (void)json_object_object_add(to, path, json_object_new_string(text));
        return;
    }
    json_object_object_foreach(value, key, member)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s%s%s", path, *path ? "." : "", key);
        add_leaves(to, inner, member);
    }
}

/* The values.yaml of a chart of the recipe, the caller's; NULL: it has none. */
static struct json_object *defaults_of(const struct sw_recipe *recipe, size_t chart)
{
    const struct sw_recipe_file *file = sw_recipe_chart_file(recipe, chart, "values.yaml");
    struct json_object *doc = NULL;
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    SW_ERR(err); /* it was loaded, so it can be read */
    if (file && sw_yaml_parse(file->bytes, file->len, &opts, &doc, &err) < 0)
        sw_err_done(&err);
    return doc;
}

/* What @set sets at @path that @defaults has, too. */
static void add_known(struct side *s, const char *path, struct json_object *set,
                      struct json_object *defaults)
{
    bool is_map = json_object_is_type(set, json_type_object) &&
                  json_object_is_type(defaults, json_type_object) &&
                  json_object_object_length(defaults) > 0;
    if (!is_map) {
        put(s, UNKNOWN, path, "");
        return;
    }
    json_object_object_foreach(set, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
        struct json_object *found;
        if (json_object_object_get_ex(defaults, key, &found))
            add_known(s, inner, value, found);
    }
}

static void add_values(struct side *s, const struct sw_changes_of *of)
{
    SW_AUTO_CHARS *path = sw_printf("%s/charts/%s", sw_recipe_name(of->recipe->recipe),
                                    of->pin->key);
    SW_AUTO_JSON *values = sw_plan_values_of(of->recipe->plan, path);
    SW_AUTO_JSON *own = defaults_of(of->recipe->recipe, 0);
    SW_AUTO_JSON *chart = defaults_of(of->recipe->recipe, of->pin->chart);
    if (!values) /* it is switched off: what it would begin with */
        values = json_object_get(chart);
    if (json_object_is_type(values, json_type_object)) {
        json_object_object_del(values, "global");
        add_leaves(s->maps[VALUES], "", values);
    }
    if (sw_json_get(own, of->pin->key))
        add_known(s, of->pin->key, sw_json_get(own, of->pin->key), chart);
}

/* ---- definitions -------------------------------------------------------------------------------
 */

/* Add the types of the fields of @schema, which is at @path. */
static void add_fields(struct json_object *to, const char *path, struct json_object *schema)
{
    const char *type = sw_json_str(schema, "", "type", NULL);
    struct json_object *properties = sw_json_get(schema, "properties"),
                       *items = sw_json_get(schema, "items"),
                       *additional = sw_json_get(schema, "additionalProperties");
    (void)json_object_object_add(to, path, json_object_new_string(*type ? type : "any"));
    if (json_object_is_type(properties, json_type_object)) {
        json_object_object_foreach(properties, key, property)
        {
            SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
            add_fields(to, inner, property);
        }
    }
    SW_AUTO_CHARS *element = sw_printf("%s[]", path), *member = sw_printf("%s.*", path);
    if (json_object_is_type(items, json_type_object))
        add_fields(to, element, items);
    if (json_object_is_type(additional, json_type_object))
        add_fields(to, member, additional);
}

static void add_definition(struct side *s, struct json_object *crd)
{
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        struct json_object *v = sw_json_at(versions, i);
        SW_AUTO_CHARS *key = sw_printf("%s %s", sw_obj_name(crd), sw_json_str(v, "", "name", NULL)),
                      *is = sw_printf("%sserved%s",
                                      sw_json_bool(v, false, "served", NULL) ? "" : "not ",
                                      sw_json_bool(v, false, "storage", NULL) ? ", stored" : "");
        put(s, DEFINITIONS, key, is);
        add_fields(s->maps[FIELDS], key, sw_json_find(v, "schema", "openAPIV3Schema", NULL));
    }
}

/* ---- rights ------------------------------------------------------------------------------------
 */

static char *list_text(struct json_object *list)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&text, "%s%s", i ? ", " : "", json_object_get_string(sw_json_at(list, i)));
    return text;
}

/* A role may have several rules for one thing. */
static void add_verbs(struct side *s, const char *key, struct json_object *verbs)
{
    const char *had = sw_json_str(s->maps[RIGHTS], "", key, NULL);
    SW_AUTO_CHARS *more = list_text(verbs),
                  *text = sw_printf("%s%s%s", had, *had ? ", " : "", more);
    put(s, RIGHTS, key, text);
}

static void add_rule(struct side *s, const char *role, struct json_object *rule)
{
    struct json_object *groups = sw_json_get(rule, "apiGroups"),
                       *resources = sw_json_get(rule, "resources"),
                       *urls = sw_json_get(rule, "nonResourceURLs"),
                       *verbs = sw_json_get(rule, "verbs");
    SW_AUTO_CHARS *names = list_text(sw_json_get(rule, "resourceNames"));
    for (size_t g = 0; g < sw_json_len(groups); g++)
        for (size_t r = 0; r < sw_json_len(resources); r++) {
            const char *group = json_object_get_string(sw_json_at(groups, g));
            SW_AUTO_CHARS *key = sw_printf("%s: %s%s%s%s%s%s", role,
                                           json_object_get_string(sw_json_at(resources, r)),
                                           group && *group ? "." : "", group ? group : "",
                                           *names ? " (" : "", names, *names ? ")" : "");
            add_verbs(s, key, verbs);
        }
    for (size_t u = 0; u < sw_json_len(urls); u++) {
        SW_AUTO_CHARS *key = sw_printf("%s: %s", role, json_object_get_string(sw_json_at(urls, u)));
        add_verbs(s, key, verbs);
    }
}

static void add_binding(struct side *s, const char *binding, struct json_object *doc)
{
    struct json_object *subjects = sw_json_get(doc, "subjects");
    SW_AUTO_CHARS *text = sw_printf("%s %s to", sw_json_str(doc, "", "roleRef", "kind", NULL),
                                    sw_json_str(doc, "", "roleRef", "name", NULL));
    for (size_t i = 0; i < sw_json_len(subjects); i++) {
        struct json_object *who = sw_json_at(subjects, i);
        sw_append(&text, "%s %s %s", i ? "," : "", sw_json_str(who, "", "kind", NULL),
                  sw_json_str(who, "", "name", NULL));
    }
    put(s, RIGHTS, binding, text);
}

static void add_rights(struct side *s, const char *object, struct json_object *doc)
{
    struct json_object *rules = sw_json_get(doc, "rules");
    if (sw_ends_with(sw_obj_kind(doc), "RoleBinding"))
        add_binding(s, object, doc);
    else if (sw_ends_with(sw_obj_kind(doc), "Role"))
        for (size_t i = 0; i < sw_json_len(rules); i++)
            add_rule(s, object, sw_json_at(rules, i));
}

/* ---- both sides --------------------------------------------------------------------------------
 */

static void add_object(struct side *s, const struct sw_manifest *m)
{
    const char *own = sw_obj_namespace(m->doc);
    const char *namespace = *own ? own : m->namespace ? m->namespace : "";
    SW_AUTO_CHARS *key = sw_printf("%s %s%s%s", sw_obj_kind(m->doc), namespace,
                                   *namespace ? "/" : "", sw_obj_name(m->doc));
    put(s, OBJECTS, key, m->hook_events ? "hook" : "");
    if (sw_starts_with(sw_obj_api_version(m->doc), "rbac.authorization.k8s.io/"))
        add_rights(s, key, m->doc);
    if (sw_streq(sw_obj_kind(m->doc), "CustomResourceDefinition"))
        add_definition(s, m->doc);
}

static void side_init(struct side *s)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        s->maps[i] = json_object_new_object();
}

static int fill(struct side *s, const struct sw_changes_of *of, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_AUTO_JSON *images = json_object_new_object();
    side_init(s);
    if (!of->recipe)
        return 0;
    int rc = sw_recipe_render(of->recipe->plan, &of->recipe->env, SW_ALL_STATES, &rendered, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
        add_object(s, m);
        sw_images_find(m->doc, images, images);
    }
    json_object_object_foreach(images, image, entry)
    {
        (void)entry;
        put(s, IMAGES, image, "");
    }
    add_values(s, of);
    return rc;
}

/* ---- releases ----------------------------------------------------------------------------------
 */

/* The value as a digest: short, since people compare it by eye. */
static void put_digest(struct side *s, const char *key, struct json_object *value)
{
    char hex[SW_SHA256_HEX];
    sw_json_sha256(value, hex);
    hex[8] = '\0';
    put(s, FILES, key, hex);
}

static void add_files(struct side *s, struct json_object *chart)
{
    static const char *const lists[] = { "templates", "files" };
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        struct json_object *list = sw_json_get(chart, lists[i]);
        for (size_t k = 0; k < sw_json_len(list); k++) {
            struct json_object *file = sw_json_at(list, k);
            put_digest(s, sw_json_str(file, "", "name", NULL), sw_json_get(file, "data"));
        }
    }
    put_digest(s, "values.yaml", sw_json_get(chart, "values"));
}

/* An object of a release's manifest: what it is, and its leaves. Secrets have digests for values.
 */
static void add_content(struct side *s, const char *ns, struct json_object *doc, const char *salt)
{
    const char *own = sw_obj_namespace(doc);
    SW_AUTO_CHARS *key = sw_printf("%s %s/%s", sw_obj_kind(doc), *own ? own : ns, sw_obj_name(doc));
    sw_redact_salted(doc, salt);
    put(s, OBJECTS, key, "");
    SW_AUTO_JSON *leaves = json_object_new_object();
    add_leaves(leaves, "", doc);
    json_object_object_foreach(leaves, path, text)
    {
        SW_AUTO_CHARS *at = sw_printf("%s %s", key, path);
        (void)json_object_object_add(s->maps[CONTENT], at, json_object_get(text));
    }
}

static void fill_release(struct side *s, struct json_object *release, const char *salt)
{
    const char *ns = sw_json_str(release, "", "namespace", NULL),
               *text = sw_json_str(release, "", "manifest", NULL);
    struct json_object *chart = sw_json_get(release, "chart");
    SW_AUTO_JSON *config = sw_json_copy(sw_json_get(release, "config"));
    const char *origin = sw_json_str(chart, "", "metadata", "annotations", SW_RELEASE_ORIGIN, NULL);
    SW_AUTO_JSON *of = NULL;
    struct sw_yaml_docs docs = { 0 };
    SW_ERR(err); /* a record that Helm wrote has no origin; of a manifest that is no YAML nothing is
                    known */
    side_init(s);
    if (sw_json_parse(origin, strlen(origin), NULL, &of, &err) < 0)
        sw_err_done(&err);
    put(s, CHART, "name", sw_json_str(chart, "", "metadata", "name", NULL));
    put(s, CHART, "version", sw_json_str(chart, "", "metadata", "version", NULL));
    if (of)
        put(s, CHART, "url", sw_json_str(of, "", "chart", "repository", "url", NULL));
    add_files(s, chart);
    sw_redact_salted(config, salt);
    if (json_object_is_type(config, json_type_object) && json_object_object_length(config) > 0)
        add_leaves(s->maps[VALUES], "", config);
    if (sw_yaml_parse_all(text, strlen(text), &(struct sw_yaml_opts){ .allow_duplicate = true },
                          &docs, &err) < 0)
        return;
    for (size_t i = 0; i < docs.n_docs; i++)
        if (json_object_is_type(docs.docs[i].object, json_type_object))
            add_content(s, ns, docs.docs[i].object, salt);
    sw_yaml_docs_done(&docs);
}

/* The content of objects is of interest where both sides have the object. */
static void keep_common_content(struct side *s, const struct side *other)
{
    SW_AUTO_JSON *kept = json_object_new_object();
    json_object_object_foreach(s->maps[CONTENT], key, text)
    {
        const char *name = strchr(key, ' ') + 1;
        SW_AUTO_CHARS *object = sw_strndup(key, (size_t)(name - key) + strcspn(name, " "));
        if (sw_json_get(other->maps[OBJECTS], object))
            (void)json_object_object_add(kept, key, json_object_get(text));
    }
    (void)json_object_put(s->maps[CONTENT]);
    s->maps[CONTENT] = SW_TAKE(kept);
}

/* ---- comparison --------------------------------------------------------------------------------
 */

/* Fields are of interest where both sides have the version. */
static void keep_common_fields(struct side *s, const struct side *other)
{
    SW_AUTO_JSON *kept = json_object_new_object();
    json_object_object_foreach(s->maps[FIELDS], key, type)
    {
        const char *blank = strchr(key, ' ');
        SW_AUTO_CHARS *version = sw_strndup(key, (size_t)(blank - key) + 1 +
                                                     strcspn(blank + 1, ".[")); /* "name v1" */
        if (sw_json_get(other->maps[DEFINITIONS], version))
            (void)json_object_object_add(kept, key, json_object_get(type));
    }
    (void)json_object_put(s->maps[FIELDS]);
    s->maps[FIELDS] = SW_TAKE(kept);
}

static void compare(struct json_object *before, struct json_object *after, bool only_removed,
                    struct json_object *out)
{
    json_object_object_foreach(before, old_key, old)
    {
        struct json_object *new = sw_json_get(after, old_key);
        if (!new)
            sw_json_set(out, json_object_get(old), "removed", old_key, NULL);
        else if (!sw_json_equal(old, new)) {
            struct json_object *list = sw_json_need_list(out, "changed", old_key, NULL);
            (void)json_object_array_add(list, json_object_get(old));
            (void)json_object_array_add(list, json_object_get(new));
        }
    }
    if (only_removed)
        return;
    json_object_object_foreach(after, key, value) if (!sw_json_get(before, key))
        sw_json_set(out, json_object_get(value), "added", key, NULL);
}

/* What differs between both, the caller's. */
static struct json_object *compare_sides(const struct side *old, const struct side *new)
{
    struct json_object *out = json_object_new_object();
    for (size_t i = 0; i < N_SECTIONS; i++) {
        SW_AUTO_JSON *section = json_object_new_object();
        compare(old->maps[i], new->maps[i], i == UNKNOWN, section);
        if (json_object_object_length(section) > 0)
            (void)json_object_object_add(out, sections[i].name, SW_TAKE(section));
    }
    return out;
}

struct json_object *sw_changes_of_releases(struct json_object *before, struct json_object *after)
{
    struct side old = { 0 }, new = { 0 };
    char salt[SW_RECORD_SALT_HEX];
    sw_record_salt(salt);
    fill_release(&old, before, salt);
    fill_release(&new, after, salt);
    keep_common_content(&old, &new);
    keep_common_content(&new, &old);
    struct json_object *out = compare_sides(&old, &new);
    side_done(&old);
    side_done(&new);
    return out;
}

int sw_changes(const struct sw_changes_of *before, const struct sw_changes_of *after,
               struct json_object **out, struct sw_err *err)
{
    struct side old = { 0 }, new = { 0 };
    int rc = fill(&old, before, err);
    if (rc == 0)
        rc = fill(&new, after, err);
    if (rc == 0) {
        keep_common_fields(&old, &new);
        keep_common_fields(&new, &old);
        *out = compare_sides(&old, &new);
    }
    side_done(&old);
    side_done(&new);
    return rc;
}

/* ---- for people --------------------------------------------------------------------------------
 */

static void print_line(bool in_colour, char sign, const char *key, const char *before,
                       const char *after)
{
    const char *colour = !in_colour    ? ""
                         : sign == '+' ? "\033[32m"
                         : sign == '-' ? "\033[31m"
                                       : "\033[33m";
    (void)printf("%s  %c %s%s%s%s%s%s\n", colour, sign, key, *before || *after ? ": " : "", before,
                 *before && *after ? " -> " : "", after, in_colour ? "\033[0m" : "");
}

/* @map: key to text, or to a list of the text before and after; may be NULL. */
static void print_map(struct json_object *map, char sign, bool in_colour)
{
    if (!map)
        return;
    json_object_object_foreach(map, key, value)
    {
        bool is_pair = json_object_is_type(value, json_type_array);
        print_line(in_colour, sign, key,
                   json_object_get_string(is_pair ? sw_json_at(value, 0) : value),
                   is_pair ? json_object_get_string(sw_json_at(value, 1)) : "");
    }
}

void sw_changes_print(struct json_object *changes, bool in_colour)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        struct json_object *section = sw_json_get(changes, sections[i].name);
        if (section)
            (void)printf("%s\n", sections[i].title);
        print_map(sw_json_get(section, "removed"), '-', in_colour);
        print_map(sw_json_get(section, "added"), '+', in_colour);
        print_map(sw_json_get(section, "changed"), '~', in_colour);
    }
}
