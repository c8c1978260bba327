/* Reading a catalogue. */
#include "chart/aicr/catalog.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/documents.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

static int compare_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct sw_aicr_file *)item)->name);
}

const struct sw_aicr_file *sw_aicr_find(const struct sw_aicr_files *files, const char *name)
{
    return files->n ? bsearch(name, files->items, files->n, sizeof *files->items, compare_name)
                    : NULL;
}

int sw_aicr_file(const struct sw_aicr_catalog *catalog, const char *path,
                 const struct sw_aicr_file **out, struct sw_err *err)
{
    *out = sw_aicr_find(&catalog->files, path);
    return *out ? 0
                : sw_err_set(err, SW_NOTFOUND, "%s: '%s' is no file of the catalogue",
                             catalog->origin, path);
}

/* ---- the documents -----------------------------------------------------------------------------
 */

static int read_overlay(const char *file, struct json_object *doc, struct sw_err *err)
{
    static const char *const top[] = { "kind", "apiVersion", "metadata", "spec", NULL };
    static const char *const spec[] = { "base",          "criteria",   "mixins",  "constraints",
                                        "componentRefs", "validation", "profile", NULL };
    struct json_object *s = sw_json_get(doc, "spec");
    int rc = sw_aicr_known(file, "the document", doc, top, err);
    if (rc == 0 && s)
        rc = sw_aicr_known(file, "spec", s, spec, err);
    if (rc == 0)
        rc = sw_aicr_check_criteria(file, "spec.criteria", sw_json_get(s, "criteria"), err);
    return rc < 0 ? rc : sw_aicr_check_spec(file, s, err);
}

static int read_mixin(const char *file, struct json_object *doc, struct sw_err *err)
{
    static const char *const spec[] = { "constraints", "componentRefs", NULL };
    struct json_object *s = sw_json_get(doc, "spec");
    const int rc = sw_aicr_known(file, "spec", s, spec, err);
    return rc < 0 ? rc : sw_aicr_check_spec(file, s, err);
}

typedef int check_document(const char *file, struct json_object *doc, struct sw_err *err);

static int read_one(const struct sw_aicr_file *file, const char *kind, check_document *check,
                    struct json_object *to, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_aicr_document(file->name, file->bytes, file->len, kind, &doc, err);
    if (rc == 0)
        rc = check(file->name, doc, err);
    const char *name = sw_json_str(doc, "", "metadata", "name", NULL);
    if (rc == 0 && !*name)
        rc = sw_err_set(err, SW_INVALID, "%s: metadata.name is missing", file->name);
    if (rc == 0 && sw_json_get(to, name))
        rc = sw_err_set(err, SW_INVALID, "%s: there is another '%s'", file->name, name);
    if (rc == 0)
        (void)json_object_object_add(to, name, SW_TAKE(doc));
    return rc;
}

static bool is_yaml(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return *name != '.' && (sw_ends_with(name, ".yaml") || sw_ends_with(name, ".yml"));
}

/* All documents of @kind below the folder @path of the catalogue, which ends with '/'. */
static int read_folder(const struct sw_aicr_files *files, const char *path, const char *kind,
                       check_document *check, struct json_object *to, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < files->n; i++)
        if (sw_starts_with(files->items[i].name, path) && is_yaml(files->items[i].name))
            rc = read_one(&files->items[i], kind, check, to, err);
    return rc;
}

static int read_registry(struct sw_aicr_catalog *c, struct sw_err *err)
{
    static const char file[] = "registry.yaml";
    SW_AUTO_JSON *doc = NULL;
    const struct sw_aicr_file *registry = NULL;
    int rc = sw_aicr_file(c, file, &registry, err);
    if (rc == 0)
        rc = sw_aicr_document(file, registry->bytes, registry->len, "ComponentRegistry", &doc, err);
    struct json_object *list = sw_json_get(doc, "components");
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        const char *name = sw_json_str(item, "", "name", NULL);
        if (!*name || sw_json_get(c->registry, name))
            rc = sw_err_set(err, SW_INVALID, "%s: components[%zu]: %s", file, i,
                            *name ? "its name is there twice" : "it has no name");
        else
            (void)json_object_object_add(c->registry, name, json_object_get(item));
    }
    return rc;
}

int sw_aicr_catalog_open(const char *origin, const struct sw_aicr_files *files,
                         struct sw_aicr_catalog **out, struct sw_err *err)
{
    SW_AUTO(sw_aicr_catalog) *c = sw_zalloc(1, sizeof *c);
    c->origin = sw_strdup(origin);
    c->files = *files;
    c->registry = json_object_new_object();
    c->overlays = json_object_new_object();
    c->mixins = json_object_new_object();
    int rc = read_registry(c, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s is no catalogue", origin);
    rc = read_folder(files, "overlays/", "RecipeMetadata", read_overlay, c->overlays, err);
    if (rc == 0)
        rc = read_folder(files, "mixins/", "RecipeMixin", read_mixin, c->mixins, err);
    if (rc == 0 && !sw_json_get(c->overlays, "base"))
        rc = sw_err_set(err, SW_INVALID, "overlays: there is none called 'base'");
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", origin);
    c->names = sw_json_sorted_keys(c->overlays);
    *out = SW_TAKE(c);
    return 0;
}

void sw_aicr_catalog_free(struct sw_aicr_catalog *catalog)
{
    if (!catalog)
        return;
    (void)json_object_put(catalog->registry);
    (void)json_object_put(catalog->overlays);
    (void)json_object_put(catalog->mixins);
    (void)json_object_put(catalog->names);
    free(catalog->origin);
    free(catalog);
}

struct json_object *sw_aicr_component(const struct sw_aicr_catalog *catalog, const char *name)
{
    return sw_json_get(catalog->registry, name);
}

struct json_object *sw_aicr_overlays(const struct sw_aicr_catalog *catalog)
{
    return catalog->names;
}

struct json_object *sw_aicr_overlay_criteria(const struct sw_aicr_catalog *catalog,
                                             const char *overlay)
{
    return sw_json_find(catalog->overlays, overlay, "spec", "criteria", NULL);
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* Merge the values of the file @path into @to. */
static int merge_file(const struct sw_aicr_catalog *c, const char *path, bool must_exist,
                      struct json_object *to, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_aicr_file *file = NULL;
    const struct sw_yaml_opts opts = { .file = path };
    SW_ERR(why);
    int rc = sw_aicr_file(c, path, &file, &why);
    if (rc == SW_NOTFOUND && !must_exist)
        return 0;
    if (rc == 0)
        rc = sw_yaml_parse(file->bytes, file->len, &opts, &doc, &why);
    if (rc < 0)
        return sw_err_set(err, rc, "%s", sw_err_text(&why));
    sw_aicr_merge(to, doc);
    return 0;
}

/* Set @value at "a.b.c". */
static void set_path(struct json_object *doc, const char *path, struct json_object *value)
{
    SW_AUTO_CHARS *copy = sw_strdup(path);
    char *rest = copy, *key = strsep(&rest, ".");
    for (; rest; key = strsep(&rest, "."))
        doc = sw_json_need_map(doc, key, NULL);
    (void)json_object_object_add(doc, key, value);
}

/* "KEY=VALUE,...": a map. */
static int read_selector(const char *text, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *map = json_object_new_object();
    SW_AUTO_CHARS *copy = sw_strdup(text);
    for (char *rest = copy, *item; (item = strsep(&rest, ","));) {
        char *equals = strchr(item, '=');
        if (!equals || equals == item)
            return sw_err_set(err, SW_INVALID, "'%s' is no KEY=VALUE of a node's labels", item);
        *equals = '\0';
        sw_json_set_str(map, equals + 1, item, NULL);
    }
    *out = SW_TAKE(map);
    return 0;
}

/* "KEY=VALUE:EFFECT" or "KEY:EFFECT", "KEY=VALUE" or "KEY": without an effect, all of them. */
static int read_toleration(char *text, struct json_object *to, struct sw_err *err)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    char *colon = strrchr(text, ':'), *equals = strchr(text, '=');
    bool known = !colon;
    for (size_t i = 0; colon && i < SW_COUNT(effects); i++)
        known = known || sw_streq(colon + 1, effects[i]);
    if (!known || !*text || equals == text || colon == text)
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no KEY=VALUE:EFFECT of a taint (NoSchedule, PreferNoSchedule, "
                          "NoExecute)",
                          text);
    struct json_object *one = json_object_new_object();
    if (colon) {
        *colon = '\0';
        sw_json_set_str(one, colon + 1, "effect", NULL);
    }
    if (equals)
        *equals = '\0';
    sw_json_set_str(one, text, "key", NULL);
    sw_json_set_str(one, equals ? "Equal" : "Exists", "operator", NULL);
    if (equals)
        sw_json_set_str(one, equals + 1, "value", NULL);
    (void)json_object_array_add(to, one);
    return 0;
}

/* NULL: of all taints, AICR's default. */
int sw_aicr_tolerations(const char *text, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *list = json_object_new_array();
    SW_AUTO_CHARS *copy = sw_strdup(text ? text : "");
    if (!text) {
        struct json_object *all = json_object_new_object();
        sw_json_set_str(all, "Exists", "operator", NULL);
        (void)json_object_array_add(list, all);
    }
    for (char *rest = text ? copy : NULL, *item; (item = strsep(&rest, ","));) {
        const int rc = read_toleration(item, list, err);
        if (rc < 0)
            return rc;
    }
    *out = SW_TAKE(list);
    return 0;
}

/* Set a copy of @value at each of @paths. */
static void set_paths(struct json_object *values, struct json_object *paths,
                      struct json_object *value)
{
    for (size_t i = 0; i < sw_json_len(paths); i++)
        set_path(values, sw_json_str(sw_json_at(paths, i), "", NULL), sw_json_copy(value));
}

static int schedule(struct json_object *registered, const char *group, const char *selector,
                    const char *tolerations, struct json_object *values, struct sw_err *err)
{
    struct json_object *paths = sw_json_find(registered, "nodeScheduling", group, NULL);
    SW_AUTO_JSON *map = NULL, *list = NULL;
    int rc = selector ? read_selector(selector, &map, err) : 0;
    if (rc == 0)
        rc = sw_aicr_tolerations(tolerations, &list, err);
    if (rc < 0)
        return rc;
    if (map)
        set_paths(values, sw_json_get(paths, "nodeSelectorPaths"), map);
    set_paths(values, sw_json_get(paths, "tolerationPaths"), list);
    return 0;
}

bool sw_aicr_is_enabled(struct json_object *component)
{
    static const char *const gates[] = { "enabled", "install" };
    for (size_t i = 0; i < SW_COUNT(gates); i++) {
        struct json_object *gate = sw_json_find(component, "overrides", gates[i], NULL);
        if (json_object_is_type(gate, json_type_boolean) && !json_object_get_boolean(gate))
            return false;
    }
    return true;
}

int sw_aicr_values(const struct sw_aicr_catalog *catalog, struct json_object *component,
                   const struct sw_aicr_scheduling *scheduling, struct json_object **out,
                   struct sw_err *err)
{
    static const struct sw_aicr_scheduling defaults;
    const struct sw_aicr_scheduling *to = scheduling ? scheduling : &defaults;
    SW_AUTO_JSON *values = json_object_new_object();
    const char *name = sw_json_str(component, "", "name", NULL);
    const char *file = sw_json_str(component, "", "valuesFile", NULL);
    SW_AUTO_CHARS *own = sw_printf("components/%s/values.yaml", name);
    int rc = *file ? merge_file(catalog, own, false, values, err) : 0;
    if (rc == 0 && *file && !sw_streq(file, own))
        rc = merge_file(catalog, file, true, values, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "component '%s'", name);
    sw_aicr_merge(values, sw_json_get(component, "overrides"));
    struct json_object *registered = sw_aicr_component(catalog, name);
    rc = schedule(registered, "system", to->system_selector, to->system_tolerations, values, err);
    if (rc == 0)
        rc = schedule(registered, "accelerated", to->accelerated_selector,
                      to->accelerated_tolerations, values, err);
    if (rc == 0)
        *out = SW_TAKE(values);
    return rc;
}
